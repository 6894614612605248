"""The shapes of a result's subjects as they are right now, for showing them.

Vertices are read and fitted when they have changed. Else only the matrices of the whole scene are read, in
one call, and the fits are carried along by them. Settings of objects are read at each look; loose parts and
several as one are walked over.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Bools, Floats, Ints
from .carried_fits import CarriedFits
from .composition import NO_TRIANGLES, Composition, Piece
from .extraction import Geometry, points_of, triangles_of
from .fitting import FitSettings, Groups, ShapeName, scanned_shape
from .identities import Identity, as_called_now
from .live_shapes import LiveShapes, Parts, Seen
from .object_order import ObjectOrder, flags_of
from .overrides import override_of
from .own_settings import fit_of, says_something
from .playhead import playhead
from .result import Result
from .subjects import Subject
from .touching import ContactTimes, touching_now
from .tree_leaves import leaf_groups
from .walk import MESH_LIKE, visible

_FARTHEST = 1e15
"""What is farther away, or no number, is not shown."""

_NO_GROUPS: Groups = (np.empty(0, dtype=np.int64), np.array([0, 0]))


class Live:
    """The subjects of one result, wherever they go. Holds no bpy object.

    owners : (n,) session_uid of the object that each subject is there because of
    """

    def __init__(self, result: Result, who: Sequence[Identity]) -> None:
        count = len(who)
        self._index = {identity[:3]: index for index, identity in enumerate(who)}
        self._who = who
        self.owners: Ints = np.array([identity.owner for identity in who], dtype=np.int64)
        self._shown_uids = np.array([identity.shown for identity in who], dtype=np.int64)
        # Instances have no matrix of their own to read, and what geometry nodes make of hair is no mesh but
        # in the walk over all that is visible.
        self._walked = np.array(
            [bool(subject.key[2]) or subject.kind not in MESH_LIKE for subject in result.subjects], dtype=bool
        )
        self._subjects = result.subjects
        self._composed = np.array(
            [subject.part is not None or bool(subject.members) for subject in result.subjects], dtype=bool
        )
        self._special = (
            self._composed.copy()
        )  # and what says something of its own, once it has been looked at
        self._each: list[FitSettings] = [FitSettings()] * count
        self._radii = np.zeros(count)
        self._overridden: set[int] = set()
        self._direct = ~(self._composed | self._walked)  # objects that are there by themselves, all of them
        self._all = np.arange(count)
        self._order = ObjectOrder(self.owners)
        self._times = None if result.report is None else ContactTimes(result.report, count)
        self._fit = FitSettings()
        self._there = b""  # what was at which place of the scene, and not hidden, when the flags were read
        self._visible = self._selected = np.zeros(count, dtype=bool)
        self._has_trees = False
        self._matrices: Floats = np.empty((0, 4, 4))
        self._points: dict[int, NDArray[np.float32]] = {}
        self._faces: dict[int, int] = {}  # of what is put together or special: how many triangles it had
        self._groups: list[Groups] = [_NO_GROUPS] * count
        self._fits: dict[ShapeName, CarriedFits] = {}

    def look(
        self,
        depsgraph: bpy.types.Depsgraph,
        fit: FitSettings,
        drawn: Collection[ShapeName],
        checked: ShapeName,
        report_counts: bool,
        changed: Collection[int] | None = None,
        same_flags: bool = False,
    ) -> LiveShapes:
        """Where everything is at the frame that `depsgraph` stands at, which is evaluated.

        In contact is what the result's report says of this frame, if `report_counts` and there is one; else
        what overlaps now, by the shape that is `checked`.

        drawn : which shapes are wanted
        changed : session_uids of objects whose vertices have changed since the look before; None where that
            is not known, and all are read
        same_flags : nothing was selected, hidden or shown since the look before
        """
        scene = depsgraph.scene
        judged = report_counts and self._times is not None
        wanted = list(dict.fromkeys([*drawn, *([] if judged else [checked])]))
        if fit.modifiers != self._fit.modifiers or ("spheres" in wanted and not self._has_trees):
            self._points.clear()
        if fit != self._fit:
            self._fits.clear()
            self._each = [fit] * len(self._all)
        self._fit = fit
        self._has_trees |= "spheres" in wanted
        place, present, matrices = self._order.read(scene, self._all)
        there = place.tobytes() + present.tobytes()
        if not same_flags or there != self._there:
            self._visible, self._selected = flags_of(scene, depsgraph.view_layer, place)
            self._ask(self._all)
        elif changed:
            uids = list(changed)
            self._ask(np.flatnonzero(np.isin(self.owners, uids) | np.isin(self._shown_uids, uids)))
        self._there = there
        present &= self._visible & ~(self._walked | self._composed)
        edited = self._read_vertices(depsgraph, place, present, matrices, changed)
        moved = edited or not np.array_equal(matrices, self._matrices)
        self._matrices = matrices
        shapes = {name: self._parts(name, present, matrices) for name in wanted}
        if judged:
            assert self._times is not None, "judged by the report's times"
            in_contact = self._times.touching_at(playhead(scene))
        else:
            in_contact = touching_now(shapes[checked], len(self._all))
        return LiveShapes(shapes, in_contact, self._selected, self._visible, moved)

    def seen(self) -> Seen:
        """What the last look has read."""
        return Seen(self._matrices, dict(self._points), tuple(self._each), self._radii.copy())

    def names(self, subjects: Sequence[Subject]) -> list[str]:
        """What the subjects are called now."""
        now = {item.session_uid: item.name for item in bpy.data.objects}
        called = zip(subjects, self.owners.tolist(), self._composed.tolist(), strict=True)
        return [
            subject.name if subject.key[2] or is_composed else now.get(uid, subject.name)
            for subject, uid, is_composed in called
        ]

    def _ask(self, some: Ints) -> None:
        """Whether some subjects have settings of their own now."""
        own = {item.session_uid for item in bpy.data.objects if says_something(item)}
        for index in some.tolist():
            # An instance goes by what the object says that it shows.
            is_special = bool(self._composed[index]) or int(self._shown_uids[index]) in own
            if is_special != self._special[index]:
                # Its vertices, and how they are fitted, come from elsewhere now.
                self._points.pop(index, None)
                self._each[index], self._radii[index] = self._fit, 0.0
                self._fits.clear()
                self._special[index] = is_special
                self._overridden.discard(index)

    def _read_vertices(
        self,
        depsgraph: bpy.types.Depsgraph,
        place: Ints,
        present: Bools,
        matrices: Floats,
        changed: Collection[int] | None,
    ) -> bool:
        """Read those that may be others than before, and fit them; whether there were any."""
        unknown = np.ones(len(self._all), dtype=bool)
        if changed is not None:
            unknown[list(self._points)] = False
            if changed:
                uids = np.array(list(changed), dtype=np.int64)
                unknown |= np.isin(self.owners, uids) | np.isin(self._shown_uids, uids)
        again: list[int] = []
        rows = np.flatnonzero(present & (unknown | self._special)).tolist()
        if rows:
            items = list(depsgraph.scene.objects)
            for index in rows:
                item = items[place[index]]
                if self._special[index]:
                    piece = self._own(index, item, depsgraph, matrices[index], bool(unknown[index]))
                    self._take_piece(index, piece, again)
                else:
                    self._take(index, item.evaluated_get(depsgraph), again)
        if self._walked.any():
            for item in visible(depsgraph):
                shown = item.instance.object
                uid = shown.original.session_uid
                index = self._index.get((item.owner.session_uid, uid, item.key[2]), -1)
                if index >= 0 and self._walked[index] and not self._special[index]:
                    matrices[index] = np.array(item.instance.matrix_world, dtype=np.float64)
                    present[index] = True
                    if unknown[index]:
                        self._take(index, shown, again)
        for index, piece in self._pieces(depsgraph):
            matrices[index] = piece.geometry.matrix
            present[index] = True
            self._take_piece(index, piece, again)
        present &= np.asarray((np.abs(matrices) <= _FARTHEST).all(axis=(1, 2)))  # which nan is not
        matrices[~present] = np.eye(4)
        if again:
            geometries = [self._geometry(index, matrices) for index in again]
            for fits in self._fits.values():
                fits.fit(again, geometries)  # what cannot be fitted is not shown
        return bool(again)

    def _take(self, index: int, evaluated: bpy.types.Object, again: list[int]) -> None:
        """Read one subject's vertices; where they are others than before, its index goes to `again`."""
        points = points_of(evaluated, self._fit.modifiers)
        known = self._points.get(index)
        if known is not None and np.array_equal(known, points):
            return
        self._points[index] = points
        again.append(index)
        if self._has_trees and (known is None or len(known) != len(points)):
            self._groups[index] = leaf_groups(points, triangles_of(evaluated, self._fit.modifiers))
            self._fits.pop("spheres", None)

    def _own(
        self,
        index: int,
        item: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        matrix: Floats,
        is_unknown: bool,
    ) -> Piece:
        """One subject that has settings of its own, and is the original object `item`."""
        fit, override, before = fit_of(item, self._fit), override_of(item), self._each[index]
        if override is not None:
            self._overridden.add(index)
            return Piece(index, Geometry(override.points, matrix, override.radius), fit, NO_TRIANGLES)
        is_same = fit.modifiers == before.modifiers and fit.depth == before.depth
        if is_same and not is_unknown and index not in self._overridden:
            return Piece(index, Geometry(self._points[index], matrix), fit, NO_TRIANGLES)
        self._overridden.discard(index)
        evaluated = item.evaluated_get(depsgraph)
        triangles = triangles_of(evaluated, fit.modifiers) if self._has_trees else NO_TRIANGLES
        return Piece(index, Geometry(points_of(evaluated, fit.modifiers), matrix), fit, triangles)

    def _pieces(self, depsgraph: bpy.types.Depsgraph) -> Iterator[tuple[int, Piece]]:
        """What is put together, or an instance with settings of its own, by index, as a job would find it."""
        special = np.flatnonzero(self._special & ~self._direct).tolist()
        if not special:
            return
        subjects = as_called_now([self._subjects[k] for k in special], [self._who[k] for k in special])
        composition = Composition(subjects, self._fit, range(len(special)) if self._has_trees else ())
        for item in visible(depsgraph):
            yield from ((special[piece.subject], piece) for piece in composition.of(item))
        yield from ((special[piece.subject], piece) for piece in composition.rest())

    def _take_piece(self, index: int, piece: Piece, again: list[int]) -> None:
        """As `_take`, for what is put together or has settings of its own."""
        before, points, radius = self._each[index], piece.geometry.points, piece.geometry.radius
        is_same = piece.fit is before or piece.fit == before
        if not is_same:
            self._each[index] = piece.fit
            if replace(piece.fit, padding=before.padding) == before:
                for fits in self._fits.values():
                    fits.set_padding(index, piece.fit.padding)
            else:
                self._fits.clear()
        known = self._points.get(index)
        if known is not points and len(piece.triangles) != self._faces.get(index):
            known = None  # as when a box set by hand comes or goes: it may have as many corners
            self._faces[index] = len(piece.triangles)
        is_known = known is not None and radius == self._radii[index]
        is_known = is_known and (known is points or np.array_equal(known, points))
        if is_known and is_same:
            return
        self._points[index], self._radii[index] = points, radius
        again.append(index)
        is_other = known is None or len(known) != len(points) or piece.fit.depth != before.depth
        if self._has_trees and is_other:
            self._groups[index] = leaf_groups(points, piece.triangles, piece.fit.depth)
            self._fits.pop("spheres", None)

    def _geometry(self, index: int, matrices: Floats) -> Geometry:
        return Geometry(self._points[index], matrices[index], float(self._radii[index]))

    def _parts(self, name: ShapeName, present: Bools, matrices: Floats) -> Parts:
        fits = self._fits.get(name)
        if fits is None:
            groups = self._groups if name == "spheres" else None
            kind, each = scanned_shape(name, {own.axes for own in self._each}), self._each
            if kind != name:
                # One box along its object's axes makes oriented boxes of all, as it does in a scan.
                each = [own if own.axes == "object" else replace(own, axes="world") for own in each]
            fits = CarriedFits(len(self._all), kind, each, groups, np.empty(0, dtype=np.int64))
            known = list(self._points)
            fits.fit(known, [self._geometry(index, matrices) for index in known])
            self._fits[name] = fits
        here = np.flatnonzero(present & fits.fitted)
        shape, errors = fits.at(here, matrices[here])
        is_here = np.zeros(len(self._all), dtype=bool)
        is_here[here] = True
        owners = fits.owners[is_here[fits.owners]]
        if errors:
            good = ~np.isin(owners, list(errors))
            shape, owners = shape[good], owners[good]
        return Parts(shape, owners)
