"""Shapes of a result's subjects at the current frame.

Vertices are read and fitted again only when they have changed. Otherwise the matrices of the whole scene are
read in one call, and the cached fits are moved by them. Per-object settings are read at each update. Subjects
that are loose parts, or several objects merged, are assembled by iterating over all instances, as a job does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.animated import may_deform
from ..blender.frames import ObjectReader, playhead
from ..blender.instances import (
    MESH_LIKE,
    is_made_by_nodes,
    name_of,
    visible_instances,
)
from ..blender.mesh_data import Geometry, MeshFaces
from ..blender.object_settings import Override, has_own_settings, object_fit_settings, read_overrides
from ..blender.parts.mesh_parts import ALONG_BONE, LEAST_SCALE
from ..fitting.fit import along_world_by_default, resolve_scanned_shape
from ..fitting.fit_cache import FitCache, new_fits
from ..fitting.fit_columns import Line
from ..fitting.mesh_fits import MeshFits, Obstacles
from ..fitting.parts import NO_PARTS, PartVertices, part_vertices
from ..jobs.result import Result
from ..settings import SHAPES_OF_TRIANGLES, DrawnShape, FitSettings, ShapeName
from ..subjects.reader import NO_POINTS, SubjectGeometry, SubjectReader, in_bone_space, read_vertices_of_fit
from ..subjects.subject import Identity, Subject, with_current_names
from .contact_state import (
    ContactTimes,
    FrameSnapshot,
    LiveReading,
    LiveShapes,
    OverlapTest,
    OwnedShapes,
)
from .live_parts import LiveParts

_MAX_COORDINATE = 1e15
"""Subjects beyond this, or with a matrix that is not finite, are not shown."""


class LiveSubjects:
    """The subjects of one result, read from the scene whenever it changes. Holds no bpy object.

    result : Its n subjects are read from the scene; its report has their contacts.
    identities : session_uids of the subjects' objects, which renaming and undo keep.
    owners : (n,) int. session_uid of the object that each subject comes from: of an instance, the object that
        makes it.
    """

    def __init__(self, result: Result, identities: Sequence[Identity]) -> None:
        count = len(identities)
        self._index = {identity[:3]: index for index, identity in enumerate(identities)}
        self._identities, self._subjects, self._sweeps = identities, result.subjects, result.sweeps
        self.owners: Ints = np.array([identity.owner for identity in identities], dtype=np.int64)
        self._shown_uids = np.array([identity.shown for identity in identities], dtype=np.int64)
        assembled = [subject.part is not None or bool(subject.members) for subject in result.subjects]
        # Whole objects that are read among the instances: those have no matrix in the list of objects, and
        # what geometry nodes make of hair is no mesh there.
        instanced = [bool(subject.key[2]) or subject.kind not in MESH_LIKE for subject in result.subjects]
        # What geometry nodes of an object make has no settings.
        made = [is_made_by_nodes(subject.key) for subject in result.subjects]
        self._is_assembled, is_instanced, is_made = np.array([assembled, instanced, made], dtype=bool)
        self._is_instanced, self._may_have_settings = ~self._is_assembled & np.array([is_instanced, ~is_made])
        # Whole objects with per-object settings at the last update.
        self._has_settings = np.zeros(count, dtype=bool)
        # Parts of one object have the same key.
        numbers: dict[object, int] = {}
        keys = [(subject.key, subject.members) for subject in result.subjects]
        self._objects: Ints = np.array(
            [numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64
        )
        # Bones whose capsules are along them: those whose vertices are in their space.
        self._bones = [
            index
            for index, subject in enumerate(result.subjects)
            if subject.bone and (result.sweeps.holds(subject) or not subject.key[2])
        ]
        self._indices = np.arange(count)
        self._reader = ObjectReader(self.owners)
        self._times = None if result.report is None else ContactTimes(result.report, count, result.time)
        self._fit = FitSettings()
        # Slots in the list of objects, and presence, when flags were read last.
        self._presence = b""
        self._visible = self._selected = np.zeros(count, dtype=bool)
        self._matrices: Floats = np.empty((0, 4, 4))
        self._known: dict[int, LiveReading] = {}
        # Groups of the vertices of subjects for shapes of parts that have been requested, and triangles.
        self._parts: dict[DrawnShape, list[PartVertices]] = {}
        self._triangles: dict[int, NDArray[np.int32]] = {}
        self._fits: dict[DrawnShape, FitCache] = {}
        # The test of overlaps without a report, which goes on where nothing has changed, and what it is of.
        self._tested: object = None
        self._overlaps: OverlapTest | None = None
        # Parts of the result, and the settings and vertices with which they are right.
        self._result_parts = LiveParts(result)
        self._fitted_with: FitSettings | None = None
        self._fitted_readings: dict[int, LiveReading] = {}

    def update(
        self,
        depsgraph: bpy.types.Depsgraph,
        fit: FitSettings,
        drawn: Collection[DrawnShape],
        checked: ShapeName,
        use_report: bool,
        changed_uids: Collection[int] | None = None,
        keep_flags: bool = False,
    ) -> LiveShapes:
        """Read the scene at the frame of an evaluated depsgraph, and fit what has changed.

        A subject is in contact if the result's report has a contact of it at this frame. Without a report,
        without `use_report`, or outside the range of the report, it is in contact if its `checked` shape
        overlaps one of another object; its mesh, if meshes are among what is drawn.

        fit : Settings of subjects that have none of their own.
        checked : Shape that is tested for overlaps. It is returned, too.
        use_report : Whether contacts are those of the report, if the result has one.
        changed_uids : session_uids of objects whose vertices have changed since the last update; None to read
            all objects.
        keep_flags : Whether nothing was selected, hidden or shown since the last update.
        """
        names = list(dict.fromkeys([*drawn, checked]))
        self._apply_settings(fit, SHAPES_OF_TRIANGLES.intersection(names))
        slots, present, matrices = self._reader.read(depsgraph.scene, self._indices)
        presence = slots.tobytes() + present.tobytes()
        has_new_flags = not keep_flags or presence != self._presence
        if has_new_flags:
            self._visible, self._selected = _visibility_and_selection(depsgraph, slots)
        if has_new_flags or changed_uids:
            self._find_settings()
        self._presence = presence
        present &= self._visible & ~(self._is_instanced | self._is_assembled)
        edited = self._read(depsgraph, slots, present, matrices, changed_uids)
        moved = edited or not np.array_equal(matrices, self._matrices)
        self._matrices = matrices
        if self._fitted_with is None:
            self._fitted_with, self._fitted_readings = fit, dict(self._known)
        has_boxes: Bools = present
        parts: tuple[OwnedShapes, ...] = ()
        # A scan tests the boxes of parts, whatever their shape is.
        if "compound" in drawn and checked != "compound" and self._result_parts.has_parts:
            are_parts, parts = self._result_parts.moved(self._have_parts(fit, present), matrices)
            has_boxes = present & ~are_parts
        shapes = {
            name: self._fitted_shapes(name, has_boxes if name == "compound" else present, matrices)
            for name in names
        }
        times = self._times if use_report else None
        in_contact = None if times is None else times.in_contact_at(playhead(depsgraph.scene))
        if in_contact is not None:
            return LiveShapes(shapes, in_contact, self._selected, self._visible, moved, parts=parts)
        tested = (fit, *names), present.tobytes()
        if moved or self._tested != tested or self._overlaps is None:
            self._tested, self._overlaps = (
                tested,
                OverlapTest(shapes.get("mesh", shapes[checked]), self._objects),
            )
        in_contact, is_complete = self._overlaps.go_on(), self._overlaps.is_complete
        return LiveShapes(shapes, in_contact, self._selected, self._visible, moved, is_complete, parts)

    def _have_parts(self, fit: FitSettings, present: Bools) -> Bools:
        """Return which of the subjects that are present (n,) are as they were at the first update."""
        are_same = present & ~(self._is_assembled | self._has_settings) & (fit == self._fitted_with)
        for index in np.flatnonzero(are_same).tolist():
            now, fitted = self._known.get(index), self._fitted_readings.get(index)
            are_both = now is not None and fitted is not None
            are_same[index] = now is fitted or (are_both and now.has_shape_of(fitted))
        return np.asarray(are_same)

    def _apply_settings(self, fit: FitSettings, with_parts: Collection[DrawnShape]) -> None:
        """Drop the vertices and fits that do not fit the settings."""
        of_reading = attrgetter("modifiers", "depth", "parts", "parts_tolerance")
        if of_reading(fit) != of_reading(self._fit) or not self._parts.keys() >= set(with_parts):
            self._known.clear()
            self._parts = {name: [NO_PARTS] * len(self._indices) for name in {*self._parts, *with_parts}}
        if fit != self._fit:
            self._fits.clear()
            special = np.flatnonzero(self._is_assembled | self._has_settings).tolist()
            for index in self._known.keys() - special:
                self._known[index] = self._known[index]._replace(fit=fit)
        self._fit = fit

    def may_deform(self, scene: bpy.types.Scene) -> bool:
        """Return whether vertices of any subject may change from frame to frame, without an edit."""
        if (self._is_assembled | self._is_instanced).any():
            return True
        owners = set(self.owners.tolist())
        modifiers = self._fit.modifiers
        # Per-object settings may use another mesh: evaluated meshes deform at least as often as base meshes.
        items = (item for item in scene.objects if item.session_uid in owners)
        return any(may_deform(each, "evaluated" if has_own_settings(each) else modifiers) for each in items)

    def snapshot(self, frame: float) -> FrameSnapshot:
        """Return everything that the last update has read, which was at a frame."""
        return FrameSnapshot(frame, self._matrices, dict(self._known))

    def current_names(self, subjects: Sequence[Subject]) -> list[str]:
        """Return the subjects' names; plain objects have their current name, also after renaming."""
        names = {item.session_uid: name_of(item) for item in bpy.data.objects}
        rows = zip(subjects, self.owners.tolist(), self._is_assembled.tolist(), strict=True)
        return [
            subject.name if subject.key[2] or is_assembled else names.get(uid, subject.name)
            for subject, uid, is_assembled in rows
        ]

    def _find_settings(self) -> None:
        """Determine which subjects have per-object settings now."""
        # An instance has the settings of the object that it shows.
        uids = [item.session_uid for item in bpy.data.objects if has_own_settings(item)]
        found = self._may_have_settings & np.isin(self._shown_uids, uids)
        for index in np.flatnonzero(found != self._has_settings).tolist():
            # Vertices and settings come from another source now.
            self._known.pop(index, None)
            self._fits.clear()
            self._has_settings[index] = found[index]

    def _read(
        self,
        depsgraph: bpy.types.Depsgraph,
        slots: Ints,
        present: Bools,
        matrices: Floats,
        changed_uids: Collection[int] | None,
    ) -> bool:
        """Read and fit vertices that may have changed; return whether any have.

        Sets `present` (n,) and `matrices` (n, 4, 4) of subjects that are not in the list of objects.
        """
        is_outdated = np.ones(len(self._indices), dtype=bool)
        if changed_uids is not None:
            is_outdated[list(self._known)] = False
            if changed_uids:
                uids = list(changed_uids)
                is_outdated |= np.isin(self.owners, uids) | np.isin(self._shown_uids, uids)
        refit: list[int] = []
        is_read = is_outdated | self._has_settings
        rows = np.flatnonzero(present & is_read).tolist()
        items = list(depsgraph.scene.objects) if rows else []
        for index in rows:
            item = items[slots[index]]
            refit += self._read_whole(index, item, depsgraph, matrices[index], bool(is_outdated[index]))
        for item in visible_instances(depsgraph) if self._is_instanced.any() else ():
            shown = item.instance.object
            index = self._index.get((item.owner.session_uid, shown.original.session_uid, item.key[2]), -1)
            if index >= 0 and self._is_instanced[index]:
                matrices[index] = np.array(item.instance.matrix_world, dtype=np.float64)
                present[index] = True
                if is_read[index]:
                    is_old = bool(is_outdated[index])
                    refit += self._read_whole(index, shown, depsgraph, matrices[index], is_old)
        for source in self._assembled_geometries(depsgraph):
            matrices[source.subject] = source.geometry.matrix
            present[source.subject] = True
            points, _, radius = source.geometry
            now = LiveReading(points, radius, source.fit, (source.triangles,))
            is_changed, is_regrouped = self._keep(source.subject, now)
            if is_regrouped:
                self._group(source, None)
            refit += [source.subject] if is_changed else []
        # NaN is not within the limit either.
        present &= np.asarray((np.abs(matrices) <= _MAX_COORDINATE).all(axis=(1, 2)))
        matrices[~present] = np.eye(4)
        if refit:
            geometries = [self._geometry(index, matrices) for index in refit]
            for fits in self._fits.values():
                fits.fit(refit, geometries)  # a subject that cannot be fitted is not shown
        return bool(refit)

    def _read_whole(
        self,
        index: int,
        item: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        matrix: Floats,
        is_outdated: bool,
    ) -> list[int]:
        """Read a whole object, original or evaluated, and return its index if it has changed."""
        fit, original, before = self._fit, item.original, self._known.get(index)
        overrides: tuple[Override, ...] = ()
        if self._has_settings[index]:
            fit, overrides = object_fit_settings(original, fit), read_overrides(original)
        if overrides:
            points = NO_POINTS if fit.vertex_group else overrides[0].points
            now = LiveReading(points, overrides[0].radius, fit, None)
        elif (
            not is_outdated and before and before.faces is not None and before.fit.modifiers == fit.modifiers
        ):
            now = before._replace(fit=fit)
        else:
            evaluated = _evaluated(item, depsgraph)
            points, _ = read_vertices_of_fit(evaluated, fit, needs_triangles=False)
            faces = MeshFaces.of(evaluated, fit.modifiers) if self._parts else ()
            now = LiveReading(points, 0.0, fit, faces)
        is_changed, is_regrouped = self._keep(index, now)
        if is_regrouped:
            source = SubjectGeometry.of(index, Geometry(now.points, matrix, now.radius), fit)
            of_triangle = None
            if now.faces is not None:
                _, triangles = read_vertices_of_fit(_evaluated(item, depsgraph), fit, needs_triangles=True)
                source = source._replace(triangles=triangles)
                # Faces of a group are fewer than those of its mesh.
                if fit.vertex_group is None and may_deform(original, fit.modifiers):
                    of_triangle = MeshFaces(*now.faces).of_triangle
            self._group(source, of_triangle)
        return [index] if is_changed else []

    def _assembled_geometries(self, depsgraph: bpy.types.Depsgraph) -> Iterator[SubjectGeometry]:
        """Yield the geometry of parts and merged subjects."""
        indices = np.flatnonzero(self._is_assembled).tolist()
        if not indices:
            return
        chosen = ([every[k] for k in indices] for every in (self._subjects, self._identities))
        subjects = with_current_names(*chosen)
        reader = SubjectReader(subjects, self._fit, range(len(indices)) if self._parts else ())
        for source in reader.singles(depsgraph):
            index = indices[source.subject]
            subject = self._subjects[index]
            if self._sweeps.holds(subject):
                source = self._sweeps.swept(source, subject)
            elif (
                subject.bone
                and not subject.key[2]
                and source.frame is not None
                and source.fit.modifiers == "evaluated"
                and source.bone_scale >= LEAST_SCALE
            ):
                # Shapes are along the bone, as in a scan.
                source = in_bone_space(source)
            yield source._replace(subjects=np.array([index]))

    def _keep(self, index: int, now: LiveReading) -> tuple[bool, bool]:
        """Keep what was read of a subject; return whether it has changed, and has to be grouped again."""
        before = self._known.get(index)
        fit_before = self._fit if before is None else before.fit
        if now.fit is not fit_before and now.fit != fit_before:
            if replace(now.fit, padding=fit_before.padding) == fit_before:
                for fits in self._fits.values():
                    fits.padding[index] = now.fit.padding
            else:
                self._fits.clear()
        self._known[index] = now
        has_groups = before is not None and now.has_groups_of(before)
        is_same = has_groups and before is not None and now.has_shape_of(before)
        return not is_same, bool(self._parts) and not has_groups

    def _group(self, source: SubjectGeometry, of_triangle: NDArray[np.int32] | None) -> None:
        """Group the vertices of a subject; `of_triangle` is the face of each triangle if it may deform."""
        self._triangles[source.subject] = source.triangles
        # Convex parts are those that a job has split: views must not wait for a split.
        for name in self._parts:
            self._fits.pop(name, None)
            if name == "mesh":
                continue
            self._parts[name][source.subject] = part_vertices(name, source, of_triangle, only_known=True)

    def _geometry(self, index: int, matrices: Floats) -> Geometry:
        known = self._known[index]
        return Geometry(known.points, matrices[index], known.radius)

    def _fitted_shapes(self, name: DrawnShape, present: Bools, matrices: Floats) -> OwnedShapes:
        """Return the shapes of one name of those present (n,), fitted and cached when first requested."""
        fits = self._fits.get(name)
        if fits is None and name == "mesh":
            fits = self._fits[name] = self._mesh_fits(matrices)
        if fits is None:
            parts = self._parts.get(name)
            known = self._known
            settings = [known[index].fit if index in known else self._fit for index in self._indices.tolist()]
            axes = {fit.axes for fit in settings}
            kind, _ = resolve_scanned_shape(name, axes, settings[0] if settings else self._fit)
            if kind != name:
                # As in a scan, one box along the axes of its object makes all boxes oriented ones.
                settings = list(map(along_world_by_default, settings))
            fits = new_fits(len(self._indices), kind, settings, parts)
            for index in self._bones:
                if settings[index].modifiers == "evaluated":
                    fits.lines[index] = Line(ALONG_BONE)
            fits.fit(list(known), [self._geometry(index, matrices) for index in known])
            self._fits[name] = fits
        present_subjects = np.flatnonzero(present & fits.is_fitted)
        shape, errors = fits.shapes_at(present_subjects, matrices[present_subjects])
        is_present = np.zeros(len(self._indices), dtype=bool)
        is_present[present_subjects] = True
        owners = fits.owners[is_present[fits.owners]]
        if errors:
            is_valid = ~np.isin(owners, list(errors))
            shape, owners = shape[is_valid], owners[is_valid]
        return OwnedShapes(shape, owners)

    def _mesh_fits(self, matrices: Floats) -> MeshFits:
        """Return the meshes of all subjects that have been read; trees are built when they are needed."""
        nothing = np.zeros(len(self._indices), dtype=bool)
        fits = MeshFits([self._fit] * len(self._indices), nothing, Obstacles(nothing))
        for index, known in self._known.items():
            if known.faces is not None:
                fits.set_triangles(index, known.points, self._triangles[index], None)
        fits.fit(list(self._known), [self._geometry(index, matrices) for index in self._known])
        return fits


def _evaluated(item: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bpy.types.Object:
    """Return an evaluated object itself, or that of an original one."""
    return item if item.is_evaluated else item.evaluated_get(depsgraph)


def _visibility_and_selection(depsgraph: bpy.types.Depsgraph, index: Ints) -> tuple[Bools, Bools]:
    """Return which objects at indices (n,) of the scene's are visible, and selected; -1 is neither."""
    layer = depsgraph.view_layer
    items: list[Any] = [*depsgraph.scene.objects, None]
    objects = [items[k] for k in index.tolist()]
    context: Any = bpy.context
    # Without an area, because in a 3D view Blender would report what is visible there, as in a local view.
    with context.temp_override(area=None):
        is_visible = [item is not None and item.visible_get(view_layer=layer) for item in objects]
    is_selected = [item is not None and item.select_get(view_layer=layer) for item in objects]
    return np.array(is_visible, dtype=bool), np.array(is_selected, dtype=bool)
