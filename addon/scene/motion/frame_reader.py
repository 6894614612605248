"""Reads subjects frame by frame: how each of them may change is determined once, at the first frame."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.progress import run_to_end
from ..blender.animated import Simulations, may_deform
from ..blender.frames import ObjectReader
from ..blender.instances import (
    InstanceKey,
    InstanceTable,
    VisibleInstance,
    full_name_of,
    instances_at,
    is_made_by_nodes,
    meshes_at,
    read_instance_table,
)
from ..blender.mesh_data import Geometry, MeshFaces, triangle_indices, vertex_positions
from ..blender.object_settings import (
    has_own_settings,
    is_padding_animated,
    object_fit_settings,
    read_overrides,
)
from ..blender.parts.mesh_parts import LEAST_SCALE, bone_frame, part_rows
from ..settings import FitSettings, Modifiers
from ..subjects.reader import SubjectGeometry, SubjectReader, in_bone_space, moved_to_frame
from ..subjects.subject import Subject
from .instance_reader import InstanceReader

_NO_FACES = np.empty(0, dtype=np.int32)


ChangedFaces: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32] | None]
"""Triangles (t, 3) of a subject whose faces have changed, and the face of each (t,) if it is known."""


class Reading(NamedTuple):
    """Subjects (m,) at one time.

    time : In frames.
    present : (m,) bool
    matrices : (m, 4, 4) float64. World matrices; arbitrary for subjects that are not present.
    geometry : Geometry of subjects that may deform.
    faces : Faces of those of them whose faces are others than at the last reading.
    unknown : Instances that are no subject, if they may be others than at the time before.
    """

    time: float
    present: Bools
    matrices: Floats
    geometry: dict[int, Geometry]
    faces: dict[int, ChangedFaces]
    unknown: list[InstanceKey]


class _Nature(NamedTuple):
    """Ways in which subjects may change that instances of a kind are, or are members of.

    owner_uid : session_uid of the owner.
    is_converted : Whether it is a mesh that geometry nodes made of another type.
    modifiers : Mesh to read.
    padding_of : Name of the object if its padding may change.
    """

    owner_uid: int
    is_converted: bool
    may_deform: bool
    modifiers: Modifiers
    padding_of: str | None

    @classmethod
    def of(cls, item: VisibleInstance, settings: FitSettings) -> _Nature:
        """Read the first instance of a kind."""
        evaluated = item.instance.object
        original = evaluated.original
        modifiers, deforms, padding_of = settings.modifiers, may_deform(original, settings.modifiers), None
        if has_own_settings(original) and not is_made_by_nodes(item.key):
            modifiers = object_fit_settings(original, settings).modifiers
            # An override does not deform.
            deforms = may_deform(original, modifiers) and not read_overrides(original)
            padding_of = full_name_of(original) if is_padding_animated(original) else None
        is_converted = evaluated.type != original.type
        return cls(item.owner.session_uid, is_converted, deforms, modifiers, padding_of)


class _CurrentInstances(NamedTuple):
    """All instances at one time.

    subject_of : (n,) int. Subject of each row that is a whole one; -1 for the others.
    assembled : (k,) int. Rows that are members of merged subjects, or split by loose parts.
    unknown : (u,) int. Rows that are no subject, if they may be others than at the time before.
    """

    table: InstanceTable
    subject_of: Ints
    assembled: Ints
    unknown: Ints


class FrameReader(SubjectReader):
    """Reads subjects at their first frame, then their poses in scenes that are evaluated at other times.

    with_triangles : Subjects whose triangles are read.
    uids : (n,) int. session_uid of each subject's object; of the instancing object for instances.
    own_uids : session_uids of the objects that are subjects themselves, or members of one.
    is_walked : (n,) bool. Subjects without a world matrix of their own: instances and merged objects. They
        are read from the dependency graph's instances in each frame.
    may_deform : (n,) bool. Subjects whose vertices may move in local space.
    is_simulated : (n,) bool. Subjects of simulations; none until `find_simulated` is called.
    modifiers : Mesh to read of each subject.
    part_rows : For loose parts that may deform: number of vertices of the whole mesh, and rows of the part.
    bones : Names of the bones, by subject, whose space the vertices of that subject are converted to.
        Vertices of bones of instances, and of base meshes, stay in the space of their object.
    faces : Faces of subjects that may deform and whose triangles were read; of a loose part, of the whole
        mesh. Of merged subjects, their triangles.
    of_triangle : Face of each triangle (t,) at the first frame, of subjects that may deform and whose
        triangles were read.
    animated_paddings : Name of the object whose padding may change, by subject.
    merged : Subjects that are several objects merged.
    needs_walk : Whether instances must be read in each frame.
    unknown_keys : What is visible at the first frame and is no subject.
    instance_counts : Number of instances by the full names of owner and object, at the first frame.
    shared : Geometry at the first frame.
    """

    def __init__(
        self,
        subjects: Sequence[Subject],
        settings: FitSettings,
        with_triangles: Container[int],
        follows_cuts: bool = False,
    ) -> None:
        """Classify all subjects, and read the geometry of those that are present now, each mesh once.

        settings : For subjects that have none of their own.
        follows_cuts : Whether faces count as changed when Blender cuts them into other triangles.
        """
        super().__init__(subjects, settings, with_triangles)
        self._follows_cuts = follows_cuts
        keys = [subject.key for subject in subjects]
        uids = {full_name_of(item): item.session_uid for item in bpy.data.objects}
        self.uids = np.array([uids.get(owner, -1) for owner, _, _ in keys], dtype=np.int64)
        self._shown_uids = np.array([uids.get(shown, -1) for _, shown, _ in keys], dtype=np.int64)
        self.is_walked: Bools = np.array([bool(key[2]) for key in keys], dtype=bool)
        self.own_uids = frozenset(self.uids[~self.is_walked].tolist())
        self.merged = frozenset(index for index, subject in self.assembled.items() if subject.members)
        self.is_walked[list(self.merged)] = True
        self.needs_walk = bool(self.is_walked.any())
        parts = self.assembled.items()
        self.bones = {index: part.bone for index, part in parts if part.bone and not part.key[2]}
        self.may_deform: Bools = np.zeros(len(subjects), dtype=bool)
        self.is_simulated: Bools = np.zeros(len(subjects), dtype=bool)
        self.modifiers: list[Modifiers] = [settings.modifiers] * len(subjects)
        self.part_rows: dict[int, tuple[int, Ints]] = {}
        self.faces: dict[int, MeshFaces] = {}
        self.of_triangle: dict[int, NDArray[np.int32] | None] = {}
        self.animated_paddings: dict[int, str] = {}
        self.instance_counts: dict[tuple[str, str], int] = {}
        self._reader: InstanceReader | None = None
        self._current: _CurrentInstances | None = None
        self._objects = ObjectReader(self.uids)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        table, subject_of, assembled, unknown = self._read_instances(depsgraph)
        self.unknown_keys = {table.key_of(row) for row in unknown.tolist()}
        for kind, count in zip(
            table.kinds, np.bincount(table.kind_of, minlength=len(table.kinds)), strict=True
        ):
            if kind.key[2]:
                names = kind.key[:2]
                self.instance_counts[names] = self.instance_counts.get(names, 0) + int(count)
        rows = np.flatnonzero(subject_of >= 0)
        pairs = list(zip(rows.tolist(), subject_of[rows].tolist(), strict=True))
        for row in assembled.tolist():
            pairs += [(row, index) for index in self.assembled_of.get(table.key_of(row), ())]
        for row, index in pairs:
            nature: _Nature = table.kinds[table.kind_of[row]].details
            if nature.is_converted:
                # Geometry nodes made this mesh, of hair for example: only the dependency graph has it.
                self.is_walked[index] = self.needs_walk = True
            if index in self.merged:
                continue
            self.may_deform[index], self.modifiers[index] = nature.may_deform, nature.modifiers
            if nature.padding_of is not None:
                self.animated_paddings[index] = nature.padding_of
        for _, item in instances_at(depsgraph, table, assembled.tolist()):
            indices = self.assembled_of.get(item.key, [])
            self._read_faces(indices, item.instance.object)
            self._find_part_rows(indices, item.instance.object)
        for shared, item in meshes_at(depsgraph, table, rows[self.may_deform[subject_of[rows]]]):
            self._read_faces(subject_of[shared].tolist(), item.instance.object)
        self.shared = list(self.geometries(depsgraph, table))

    def _read_instances(self, depsgraph: bpy.types.Depsgraph) -> _CurrentInstances:
        """Read all instances, and find the subjects that they are."""
        describe, last = partial(_Nature.of, settings=self._settings), self._current
        if self._reader is None and (self.needs_walk or last is not None):
            self._reader = InstanceReader(describe)
        if self._reader is None:
            # As a rule they are never read again.
            table = run_to_end(read_instance_table(depsgraph, describe))
        else:
            table = self._reader.read(depsgraph)
        if last is not None and table.kind_of is last.table.kind_of:
            self._current = last._replace(table=table, unknown=last.unknown[:0])
            return self._current
        subject_of = self.subjects_of(table)
        assembled = self.assembled_rows(table) if self.assembled else np.empty(0, dtype=np.int64)
        unknown = np.setdiff1d(np.flatnonzero(subject_of < 0), assembled)
        self._current = _CurrentInstances(table, subject_of, assembled, unknown)
        return self._current

    def first_geometries(self) -> dict[int, SubjectGeometry]:
        """Return the geometry of each subject that was present at the first frame."""
        geometries: dict[int, SubjectGeometry] = {}
        for each in self.shared:
            geometries.update(zip(each.subjects.tolist(), each.singles(), strict=True))
        for index in self.merged:
            if index in geometries and index in self.with_triangles:
                self.faces[index] = MeshFaces(geometries[index].triangles, _NO_FACES)
        for index in geometries.keys() & self.bones.keys():
            single = geometries[index]
            if self.may_deform[index] and single.frame is not None and single.bone_scale >= LEAST_SCALE:
                geometries[index] = in_bone_space(single)
        return geometries

    def forget_instances(self) -> None:
        """Free what was read of the instances; they are read again when they are needed."""
        self._reader = self._current = None

    def include(self, late: Sequence[FrameReader]) -> dict[int, SubjectGeometry]:
        """Take over how subjects may change that appear later, and return their geometry at that time."""
        geometries: dict[int, SubjectGeometry] = {}
        place = {subject.key: index for index, subject in enumerate(self.subjects)}
        for other in late:
            of_other = other.first_geometries()
            for old, subject in enumerate(other.subjects):
                index = place[subject.key]
                self.may_deform[index] = other.may_deform[old]
                self.modifiers[index] = other.modifiers[old]
                if old in of_other:
                    geometries[index] = of_other[old]._replace(subjects=np.array([index]))
                if old in other.faces and index in self.with_triangles:
                    self.faces[index], self.of_triangle[index] = other.faces[old], other.of_triangle[old]
                if old in other.animated_paddings:
                    self.animated_paddings[index] = other.animated_paddings[old]
        return geometries

    def _read_faces(self, indices: Sequence[int], evaluated: bpy.types.Object) -> None:
        """Read the faces of those subjects of one mesh that may deform and need triangles."""
        wanted = [index for index in indices if self.may_deform[index] and index in self.with_triangles]
        if wanted:
            faces = MeshFaces.of(evaluated, self.modifiers[wanted[0]], self._follows_cuts)
            self.faces.update(dict.fromkeys(wanted, faces))
            self.of_triangle.update(dict.fromkeys(wanted, faces.of_triangle))

    def _find_part_rows(self, indices: Sequence[int], evaluated: bpy.types.Object) -> None:
        """Find the vertices of those loose parts of an object that may deform."""
        parts = {index: self.subjects[index].part for index in indices if self.may_deform[index]}
        loose = {index: part for index, part in parts.items() if part is not None}
        if loose:
            modifiers = object_fit_settings(evaluated.original, self._settings).modifiers
            bone_weight = self.subjects[next(iter(loose))].bone_weight
            count, rows = part_rows(evaluated, modifiers, bone_weight, max(loose.values()) + 1)
            self.part_rows.update((index, (count, rows[part])) for index, part in loose.items())
            with_faces = self.faces.keys() & loose.keys()
            triangles = triangle_indices(evaluated, modifiers) if with_faces else _NO_FACES
            for index in with_faces:
                whole = triangles, self.faces[index].of_triangle
                self.of_triangle[index] = self._faces_of_part(index, whole, count)[1]

    def changed_faces(
        self, indices: Sequence[int], evaluated: bpy.types.Object, vertex_count: int
    ) -> dict[int, ChangedFaces]:
        """Return the faces of those subjects of one mesh whose faces are others than at the last call."""
        known = [self.faces[index] for index in indices if index in self.faces]
        if not known:
            return {}
        modifiers = self.modifiers[indices[0]]
        now = MeshFaces.of(evaluated, modifiers, self._follows_cuts)
        # As a rule all have the faces of the same time.
        distinct = {id(faces): faces for faces in known}
        replaced = {key for key, faces in distinct.items() if not all(map(np.array_equal, now, faces))}
        changed = [index for index in indices if id(self.faces.get(index)) in replaced]
        if not changed:
            return {}
        triangles = triangle_indices(evaluated, modifiers)
        self.faces.update(dict.fromkeys(changed, now))
        return {
            index: self._faces_of_part(index, (triangles, now.of_triangle), vertex_count) for index in changed
        }

    def _faces_of_part(self, index: int, faces: ChangedFaces, vertex_count: int) -> ChangedFaces:
        """Choose the faces of a part among those of the whole mesh, if its vertices are known."""
        count, rows = self.part_rows.get(index, (-1, np.empty(0, dtype=np.int64)))
        triangles, of_triangle = faces
        if count != vertex_count or of_triangle is None:
            return faces
        is_inside = np.isin(triangles, rows).all(axis=1)
        return np.searchsorted(rows, triangles[is_inside]).astype(np.int32), of_triangle[is_inside]

    def find_simulated(self, simulations: Simulations) -> None:
        """Find the subjects whose motion or shape comes from one of several simulations."""
        uids = list(simulations.uids)
        self.is_simulated = np.isin(self.uids, uids) | np.isin(self._shown_uids, uids)
        names = {full_name_of(item) for item in bpy.data.objects if item.session_uid in simulations.uids}
        for index in self.merged:
            members = self.subjects[index].members
            self.is_simulated[index] = any(names & {owner, shown} for owner, shown, _ in members)

    def read(self, scene: bpy.types.Scene, time: float, subjects: Ints) -> Reading:
        """Read sorted `subjects` (m,) in a scene that is at `time` already."""
        # With few objects, each array call here takes as long as a part of Blender's own work for a frame.
        rows, present, matrices = self._objects.read(scene, subjects)
        if self.needs_walk:
            present &= ~self.is_walked[subjects]
        reading = Reading(time, present, matrices, {}, {}, [])
        if self._objects.has_changed or self.needs_walk:
            self._walk(reading, subjects)
        if self.may_deform[subjects].any():
            items, depsgraph = list(scene.objects), bpy.context.evaluated_depsgraph_get()
            self.read_deforming(
                subjects,
                np.flatnonzero(~self.is_walked[subjects]),
                reading,
                lambda row: items[rows[row]].evaluated_get(depsgraph),
            )
        return reading

    def _walk(self, reading: Reading, subjects: Ints) -> None:
        """Fill in the poses of instances and merged objects, and what else is there.

        Adds the vertices of those that may deform to the geometry.
        """
        depsgraph = bpy.context.evaluated_depsgraph_get()
        present, matrices = reading.present, reading.matrices
        instances = self._read_instances(depsgraph)
        table, subject_of = instances.table, instances.subject_of
        for row in instances.unknown.tolist():
            key = table.key_of(row)
            # A subject that was renamed has not appeared for the first time.
            if key[2] or table.kinds[table.kind_of[row]].details.owner_uid not in self.own_uids:
                reading.unknown.append(key)
        count = len(self.subjects)
        row_of = np.full(count + 1, -1)
        row_of[subjects] = np.arange(len(subjects))
        rows = np.flatnonzero((row_of[subject_of] >= 0) & np.append(self.is_walked, False)[subject_of])
        places = row_of[subject_of[rows]]
        matrices[places] = table.matrices(rows)
        present[places] = True
        for shared, item in meshes_at(depsgraph, table, rows[self.may_deform[subject_of[rows]]]):
            members = subject_of[shared]
            self._read_vertices(members.tolist(), item.instance.object, matrices[row_of[members]], reading)
        if not len(instances.assembled):
            return
        # Merged objects, and loose parts of instances.
        members_of: dict[int, list[Any]] = {}
        for _, item in instances_at(depsgraph, instances.table, instances.assembled.tolist()):
            bent = []
            for subject in self.assembled_of.get(item.key, ()):
                place = row_of[subject]
                if place < 0 or not self.is_walked[subject]:
                    continue
                if subject in self.merged:
                    members_of.setdefault(subject, []).append(self.read_member(item, subject))
                    continue
                matrices[place] = np.array(item.instance.matrix_world, dtype=np.float64)
                present[place] = True
                if self.may_deform[subject]:
                    bent.append(subject)
            if bent:
                self._read_vertices(bent, item.instance.object, matrices[row_of[bent]], reading)
        for subject, vertices in members_of.items():
            source = self.merged_geometry(subject, vertices)
            matrices[row_of[subject]] = source.geometry.matrix
            present[row_of[subject]] = True
            reading.geometry[subject], known = source.geometry, self.faces.get(subject)
            if known is not None and not np.array_equal(known.corners, source.triangles):
                self.faces[subject] = MeshFaces(source.triangles, _NO_FACES)
                reading.faces[subject] = source.triangles, None

    def _read_vertices(
        self, subjects: Sequence[int], evaluated: bpy.types.Object, matrices: Floats, reading: Reading
    ) -> None:
        """Read the vertices of subjects (m,) that show one mesh and may deform, into a reading.

        Those of a bone are in its space, with another matrix, unless its scale is nearly 0. Their faces are
        read too if they matter and have changed.
        """
        whole = vertex_positions(evaluated, self.modifiers[subjects[0]])
        reading.faces.update(self.changed_faces(subjects, evaluated, len(whole)))
        for subject, matrix in zip(subjects, matrices, strict=True):
            points = whole
            if subject in self.part_rows:
                count, rows = self.part_rows[subject]
                # With another number of vertices the parts are unknown, so each part gets all vertices.
                points = whole[rows] if len(whole) == count else whole
            geometry = Geometry(points, matrix)
            if subject in self.bones:
                frame = bone_frame(evaluated, self.bones[subject])
                geometry = geometry if frame is None else moved_to_frame(geometry, frame)
            reading.geometry[subject] = geometry

    def subjects_by_object(self, subjects: Ints) -> dict[int, list[int]]:
        """Map objects by session_uid to those of the subjects (m,) that show their mesh and may deform."""
        members: dict[int, list[int]] = {}
        for subject in subjects[self.may_deform[subjects]].tolist():
            members.setdefault(int(self.uids[subject]), []).append(subject)
        return members

    def read_deforming(
        self, subjects: Ints, rows: Ints, reading: Reading, evaluated_of: Callable[[int], bpy.types.Object]
    ) -> None:
        """Read the vertices, and matrices of bones, of objects that may deform, at rows (k,) of a reading.

        evaluated_of : Returns the evaluated object of a row.
        """
        rows = rows[reading.present[rows] & self.may_deform[subjects[rows]]]
        for sharing in self.subjects_by_object(subjects[rows]).values():
            places = rows[np.searchsorted(subjects[rows], sharing)]
            self._read_vertices(sharing, evaluated_of(int(places[0])), reading.matrices[places], reading)
            reading.matrices[places] = [reading.geometry[subject].matrix for subject in sharing]
