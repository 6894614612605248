"""Shapes of a result's subjects at the current frame.

Vertices are read and fitted again only when they have changed. Otherwise the matrices of the whole scene are
read in one call, and the cached fits are moved by them. Per-object settings are read at each update. Subjects
that are loose parts, or several objects merged, are assembled by iterating over all instances, as a job does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.frames import ObjectReader, playhead, visibility_and_selection
from ..blender.instance_table import visible_instances
from ..blender.instances import MESH_LIKE
from ..blender.mesh_data import Geometry, MeshFaces
from ..blender.names import name_of
from ..blender.object_settings import has_own_settings, object_fit_settings
from ..blender.overrides import read_override
from ..blender.parts.bones import ALONG_BONE, LEAST_SCALE
from ..blender.simulation import may_deform
from ..fitting.fit import NO_PARTS, PartVertices, along_world_by_default, scanned_shape
from ..fitting.fit_cache import FitCache
from ..fitting.moved_fits import new_fits
from ..fitting.parts import part_vertices
from ..jobs.result import Result
from ..settings import SHAPES_OF_TRIANGLES, DrawnShape, FitSettings, ShapeName
from ..subjects.geometry import (
    NO_POINTS,
    NO_TRIANGLES,
    SubjectGeometry,
    in_bone_space,
    read_vertices_of_fit,
)
from ..subjects.reader import SubjectReader
from ..subjects.subject import Identity, Subject, with_current_names
from .contact_state import (
    ContactTimes,
    LiveShapes,
    MovedParts,
    OwnedShapes,
    SubjectSnapshot,
    overlapping_subjects,
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
        self._identities = identities
        self.owners: Ints = np.array([identity.owner for identity in identities], dtype=np.int64)
        self._shown_uids = np.array([identity.shown for identity in identities], dtype=np.int64)
        # Instances have no matrix in the list of objects, and what geometry nodes make of hair is a mesh only
        # among the instances.
        self._is_instanced = np.array(
            [bool(subject.key[2]) or subject.kind not in MESH_LIKE for subject in result.subjects], dtype=bool
        )
        self._subjects = result.subjects
        # Parts of one object have the same key.
        numbers: dict[object, int] = {}
        keys = [(subject.key, subject.members) for subject in result.subjects]
        self._objects: Ints = np.array(
            [numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64
        )
        self._sweeps = result.sweeps
        self._is_assembled = np.array(
            [subject.part is not None or bool(subject.members) for subject in result.subjects], dtype=bool
        )
        # Bones whose capsules are along them: those whose vertices are in their space.
        self._bones = [
            index
            for index, subject in enumerate(result.subjects)
            if subject.bone and (result.sweeps.holds(subject) or not subject.key[2])
        ]
        # Assembled subjects, and since the last update those with per-object settings.
        self._is_individual = self._is_assembled.copy()
        # Whole objects that are in the scene themselves.
        self._is_plain = ~(self._is_assembled | self._is_instanced)
        self._settings: list[FitSettings] = [FitSettings()] * count
        self._radii = np.zeros(count)
        self._is_overridden = np.zeros(count, dtype=bool)
        self._indices = np.arange(count)
        self._reader = ObjectReader(self.owners)
        self._times = None if result.report is None else ContactTimes(result.report, count, result.time)
        self._fit = FitSettings()
        # Slots in the list of objects, and presence, when flags were read last.
        self._presence = b""
        self._visible = self._selected = np.zeros(count, dtype=bool)
        # Shapes of parts that have been requested.
        self._with_parts: set[DrawnShape] = set()
        self._matrices: Floats = np.empty((0, 4, 4))
        self._points: dict[int, NDArray[np.float32]] = {}
        # Triangles of individual subjects, and faces of others, for shapes of parts.
        self._triangles: dict[int, NDArray[np.int32]] = {}
        self._faces: dict[int, MeshFaces] = {}
        self._parts: dict[DrawnShape, list[PartVertices]] = {
            name: [NO_PARTS] * count for name in SHAPES_OF_TRIANGLES
        }
        self._fits: dict[DrawnShape, FitCache] = {}
        # Parts of the result, and the settings and vertices with which they are right.
        self._result_parts = LiveParts(result)
        self._fitted_with: FitSettings | None = None
        self._fitted_points: dict[int, NDArray[np.float32]] = {}

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
        overlaps one of another object.

        depsgraph : Evaluated at the current frame.
        fit : Settings of subjects that have none of their own.
        drawn : Shapes to return.
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
        if not keep_flags or presence != self._presence:
            self._visible, self._selected = visibility_and_selection(depsgraph, slots)
            self._update_individual(self._indices)
        elif changed_uids:
            self._update_individual(np.flatnonzero(self._belong_to(changed_uids)))
        self._presence = presence
        present &= self._visible & ~(self._is_instanced | self._is_assembled)
        edited = self._read_vertices(depsgraph, slots, present, matrices, changed_uids)
        moved = edited or not np.array_equal(matrices, self._matrices)
        self._matrices = matrices
        shapes = {name: self._fitted_shapes(name, present, matrices) for name in names}
        times = self._times if use_report else None
        in_contact = None if times is None else times.in_contact_at(playhead(depsgraph.scene))
        if in_contact is None:
            in_contact = overlapping_subjects(shapes[checked], self._objects)
        if self._fitted_with is None:
            self._fitted_with, self._fitted_points = fit, dict(self._points)
        # A scan tests the boxes of parts, whatever their shape is.
        parts = self._moved_parts(fit, present) if "compound" in drawn and checked != "compound" else None
        return LiveShapes(shapes, in_contact, self._selected, self._visible, moved, parts)

    def _moved_parts(self, fit: FitSettings, present: Bools) -> MovedParts | None:
        """Return the convex parts of the result, of subjects that are as they were at the first update."""
        if not self._result_parts.has_parts or fit != self._fitted_with:
            return None
        is_shown = present & ~self._is_individual
        for index in np.flatnonzero(is_shown).tolist():
            points, fitted = self._points.get(index), self._fitted_points.get(index)
            is_shown[index] = points is fitted or (
                points is not None and fitted is not None and np.array_equal(points, fitted)
            )
        return self._result_parts.moved(is_shown, self._matrices)

    def _apply_settings(self, fit: FitSettings, with_parts: Collection[DrawnShape]) -> None:
        """Drop the vertices and fits that do not fit the settings."""
        has_other_parts = (fit.parts, fit.parts_tolerance) != (self._fit.parts, self._fit.parts_tolerance)
        has_other_parts &= "compound" in with_parts
        has_other_parts |= not self._with_parts.issuperset(with_parts)
        if fit.modifiers != self._fit.modifiers or has_other_parts:
            self._points.clear()
            self._faces.clear()
            self._triangles.clear()
        if fit != self._fit:
            self._fits.clear()
            self._settings = [fit] * len(self._indices)
        self._fit = fit
        self._with_parts.update(with_parts)

    def may_deform(self, scene: bpy.types.Scene) -> bool:
        """Return whether vertices of any subject may change from frame to frame, without an edit."""
        if not self._is_plain.all():
            return True
        owners = set(self.owners.tolist())
        modifiers = self._fit.modifiers
        # Per-object settings may use another mesh: evaluated meshes deform at least as often as base meshes.
        return any(
            may_deform(item, "evaluated" if has_own_settings(item) else modifiers)
            for item in scene.objects
            if item.session_uid in owners
        )

    def snapshot(self) -> SubjectSnapshot:
        """Return everything that the last update has read."""
        return SubjectSnapshot(self._matrices, dict(self._points), tuple(self._settings), self._radii.copy())

    def current_names(self, subjects: Sequence[Subject]) -> list[str]:
        """Return the subjects' names; plain objects have their current name, also after renaming."""
        names = {item.session_uid: name_of(item) for item in bpy.data.objects}
        rows = zip(subjects, self.owners.tolist(), self._is_assembled.tolist(), strict=True)
        return [
            subject.name if subject.key[2] or is_assembled else names.get(uid, subject.name)
            for subject, uid, is_assembled in rows
        ]

    def _update_individual(self, indices: Ints) -> None:
        """Determine which of the subjects (m,) have per-object settings now."""
        uids = {item.session_uid for item in bpy.data.objects if has_own_settings(item)}
        for index in indices.tolist():
            # An instance has the settings of the object that it shows.
            is_individual = bool(self._is_assembled[index]) or int(self._shown_uids[index]) in uids
            if is_individual != self._is_individual[index]:
                # Vertices and settings come from another source now.
                self._points.pop(index, None)
                self._settings[index], self._radii[index] = self._fit, 0.0
                self._fits.clear()
                self._is_individual[index] = is_individual
                self._is_overridden[index] = False

    def _belong_to(self, uids: Collection[int]) -> Bools:
        """Return which subjects (n,) come from the objects with these session_uids, or show them."""
        array = np.array(list(uids), dtype=np.int64)
        return np.isin(self.owners, array) | np.isin(self._shown_uids, array)

    def _read_vertices(
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
            is_outdated[list(self._points)] = False
            if changed_uids:
                is_outdated |= self._belong_to(changed_uids)
        refit: list[int] = []
        rows = np.flatnonzero(present & (is_outdated | self._is_individual)).tolist()
        if rows:
            items = list(depsgraph.scene.objects)
            for index in rows:
                item = items[slots[index]]
                if self._is_individual[index]:
                    matrix = matrices[index]
                    source = self._individual_geometry(
                        index, item, depsgraph, matrix, bool(is_outdated[index])
                    )
                    self._apply_geometry(index, source, refit)
                else:
                    self._read_object(index, item.evaluated_get(depsgraph), refit)
        if self._is_instanced.any():
            self._read_instances(depsgraph, present, matrices, is_outdated, refit)
        for index, source in self._assembled_geometries(depsgraph):
            matrices[index] = source.geometry.matrix
            present[index] = True
            self._apply_geometry(index, source, refit)
        # NaN is not within the limit either.
        present &= np.asarray((np.abs(matrices) <= _MAX_COORDINATE).all(axis=(1, 2)))
        matrices[~present] = np.eye(4)
        if refit:
            geometries = [self._geometry(index, matrices) for index in refit]
            for fits in self._fits.values():
                fits.fit(refit, geometries)  # a subject that cannot be fitted is not shown
        return bool(refit)

    def _read_instances(
        self,
        depsgraph: bpy.types.Depsgraph,
        present: Bools,
        matrices: Floats,
        is_outdated: Bools,
        refit: list[int],
    ) -> None:
        """Read the matrices of instances without per-object settings, and vertices that are outdated."""
        for item in visible_instances(depsgraph):
            shown = item.instance.object
            uid = shown.original.session_uid
            index = self._index.get((item.owner.session_uid, uid, item.key[2]), -1)
            if index >= 0 and self._is_instanced[index] and not self._is_individual[index]:
                matrices[index] = np.array(item.instance.matrix_world, dtype=np.float64)
                present[index] = True
                if is_outdated[index]:
                    self._read_object(index, shown, refit)

    def _read_object(self, index: int, evaluated: bpy.types.Object, refit: list[int]) -> None:
        """Read a subject's vertices; if they have changed, append its index to `refit`."""
        points, _ = read_vertices_of_fit(evaluated, self._fit, needs_triangles=False)
        known = self._points.get(index)
        has_other_faces = False
        if self._with_parts:
            faces, before = MeshFaces.of(evaluated, self._fit.modifiers), self._faces.get(index)
            has_other_faces = known is None or before is None or not faces.equals(before)
        if known is not None and not has_other_faces and np.array_equal(known, points):
            return
        self._points[index] = points
        refit.append(index)
        if has_other_faces:
            self._faces[index] = faces
            # Faces of a group are fewer than those of its mesh.
            groups_faces = self._fit.vertex_group is None and may_deform(
                evaluated.original, self._fit.modifiers
            )
            _, triangles = read_vertices_of_fit(evaluated, self._fit, needs_triangles=True)
            matrix = np.array(evaluated.matrix_world, dtype=np.float64)
            source = SubjectGeometry(index, Geometry(points, matrix), self._fit, triangles)
            self._group_parts(index, source, faces.of_triangle if groups_faces else None)

    def _individual_geometry(
        self,
        index: int,
        item: bpy.types.Object,
        depsgraph: bpy.types.Depsgraph,
        matrix: Floats,
        is_outdated: bool,
    ) -> SubjectGeometry:
        """Read a subject with per-object settings that is the whole original object `item`."""
        # Not by `read_mesh_source`, which would read settings twice at each update.
        fit, override = object_fit_settings(item, self._fit), read_override(item)
        before, was_overridden = self._settings[index], self._is_overridden[index]
        self._is_overridden[index] = override is not None
        if override is not None:
            points = NO_POINTS if fit.vertex_group else override.points
            geometry = Geometry(points, matrix, override.radius)
            return SubjectGeometry(index, geometry, fit, NO_TRIANGLES)
        is_same = fit.modifiers == before.modifiers and fit.depth == before.depth
        if is_same and not (is_outdated or was_overridden):
            return SubjectGeometry(index, Geometry(self._points[index], matrix), fit, NO_TRIANGLES)
        points, triangles = read_vertices_of_fit(item.evaluated_get(depsgraph), fit, bool(self._with_parts))
        return SubjectGeometry(index, Geometry(points, matrix), fit, triangles)

    def _assembled_geometries(self, depsgraph: bpy.types.Depsgraph) -> Iterator[tuple[int, SubjectGeometry]]:
        """Yield index and geometry of assembled subjects, and of instances with per-object settings."""
        individual = np.flatnonzero(self._is_individual & ~self._is_plain).tolist()
        if not individual:
            return
        subjects = with_current_names(
            [self._subjects[k] for k in individual], [self._identities[k] for k in individual]
        )
        reader = SubjectReader(subjects, self._fit, range(len(individual)) if self._with_parts else ())
        for source in reader.singles(depsgraph):
            index = individual[source.subject]
            subject = self._subjects[index]
            if self._sweeps.holds(subject):
                source = self._sweeps.swept(source, subject)
            elif _is_in_bone_space(subject, source):
                source = in_bone_space(source)
            yield index, source

    def _apply_geometry(self, index: int, source: SubjectGeometry, refit: list[int]) -> None:
        """Apply the geometry of an individual subject; if it has changed, append its index to `refit`."""
        before, points, radius = self._settings[index], source.geometry.points, source.geometry.radius
        is_same = source.fit is before or source.fit == before
        if not is_same:
            self._settings[index] = source.fit
            if replace(source.fit, padding=before.padding) == before:
                for fits in self._fits.values():
                    fits.set_padding(index, source.fit.padding)
            else:
                self._fits.clear()
        known = self._points.get(index)
        triangles = self._triangles.get(index, NO_TRIANGLES)
        if known is not points and not np.array_equal(source.triangles, triangles):
            # The source or its faces have changed, as when an override is set: it may have as many vertices.
            known = None
            self._triangles[index] = source.triangles
        is_known = known is not None and radius == self._radii[index]
        is_known = is_known and (known is points or np.array_equal(known, points))
        if is_known and is_same:
            return
        self._points[index], self._radii[index] = points, radius
        refit.append(index)
        is_other = known is None or len(known) != len(points) or source.fit.depth != before.depth
        if self._with_parts and is_other:
            self._group_parts(index, source)

    def _group_parts(
        self, index: int, source: SubjectGeometry, faces: NDArray[np.int32] | None = None
    ) -> None:
        """Group the vertices of a subject again, for all shapes of parts; see `part_vertices`.

        Convex parts are those that a job has split: views must not wait for a split.
        """
        for name in self._with_parts:
            self._parts[name][index] = part_vertices(name, source, faces, only_known=True)
            self._fits.pop(name, None)

    def _geometry(self, index: int, matrices: Floats) -> Geometry:
        return Geometry(self._points[index], matrices[index], float(self._radii[index]))

    def _fitted_shapes(self, name: DrawnShape, present: Bools, matrices: Floats) -> OwnedShapes:
        """Return the shapes of one name of those present (n,), fitted and cached when first requested."""
        fits = self._fits.get(name)
        if fits is None:
            parts = self._parts.get(name)
            settings = self._settings
            kind = scanned_shape(name, {fit.axes for fit in settings})
            if kind != name:
                # As in a scan, one box along the axes of its object makes all boxes oriented ones.
                settings = list(map(along_world_by_default, settings))
            fits = new_fits(len(self._indices), kind, settings, parts, np.empty(0, dtype=np.int64))
            known = list(self._points)
            for index in self._bones:
                if settings[index].modifiers == "evaluated":
                    fits.set_axis(index, ALONG_BONE)
            fits.fit(known, [self._geometry(index, matrices) for index in known])
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


def _is_in_bone_space(subject: Subject, source: SubjectGeometry) -> bool:
    """Return whether shapes of a subject are along its bone, as in a scan."""
    is_bone = bool(subject.bone) and not subject.key[2] and source.frame is not None
    return is_bone and source.fit.modifiers == "evaluated" and source.bone_scale >= LEAST_SCALE
