"""Index of subjects: how to read each of them in later frames, determined once at the first frame."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Ints
from ..blender.instances import InstanceKey, visible_instances
from ..blender.loose_parts import loose_part_labels, rows_by_label
from ..blender.mesh_data import triangle_indices
from ..blender.mesh_faces import MeshFaces
from ..blender.names import full_name_of
from ..blender.object_settings import has_own_settings, is_padding_animated, object_fit_settings
from ..blender.overrides import read_override
from ..blender.simulation import Simulations, may_deform
from ..settings import FitSettings, Modifiers
from ..subjects.geometry import SubjectAssembler, SubjectGeometry
from ..subjects.subject import Subject


class ChangedFaces(NamedTuple):
    """Triangles (t, 3) of a subject whose faces have changed, and the face of each (t,) if it is known."""

    triangles: NDArray[np.int32]
    of_triangle: NDArray[np.int32] | None


class SubjectIndex:
    """Subjects by instance key, and how each may change from frame to frame.

    Attributes
    ----------
    subjects : sequence of Subject
    indices_of : dict
        Indices of the subjects that an instance is, or is a part or member of.
    uids : (n,) int
        session_uid of each subject's object; of the instancing object for instances.
    is_walked : (n,) bool
        Subjects without a world matrix of their own: instances and merged objects. They are read from the
        dependency graph's instances in each frame.
    may_deform : (n,) bool
        Subjects whose vertices may move in local space.
    modifiers : list of Modifiers
        Mesh to read of each subject.
    part_rows : dict
        For loose parts that may deform: number of vertices of the whole mesh, and rows of the part.
    faces : dict
        Faces of subjects that may deform and whose triangles were read; of a loose part, of the whole mesh.
    merged_triangles : dict
        Triangles (t, 3) of merged subjects, if they were read.
    animated_paddings : dict
        Name of the object whose padding may change, by subject.
    merged : list of int
        Subjects that are several objects merged.
    needs_walk : bool
        Whether instances must be read in each frame.
    visible_keys : set of InstanceKey
        All that is visible at the first frame.
    """

    def __init__(self, subjects: Sequence[Subject], settings: FitSettings) -> None:
        self.subjects = subjects
        self._settings = settings
        self.indices_of: dict[InstanceKey, list[int]] = {}
        for index, subject in enumerate(subjects):
            for key in subject.members or (subject.key,):
                self.indices_of.setdefault(key, []).append(index)
        uids = {full_name_of(item): item.session_uid for item in bpy.data.objects}
        self.uids = np.array([uids.get(subject.key[0], -1) for subject in subjects], dtype=np.int64)
        # For an instance, the object that it shows.
        self._shown_uids = np.array([uids.get(subject.key[1], -1) for subject in subjects], dtype=np.int64)
        walked = [bool(subject.key[2] or subject.members) for subject in subjects]
        self.is_walked: Bools = np.array(walked, dtype=bool)
        self.needs_walk = any(walked)
        self.merged = [index for index, subject in enumerate(subjects) if subject.members]
        self.may_deform: Bools = np.zeros(len(subjects), dtype=bool)
        self.modifiers: list[Modifiers] = [settings.modifiers] * len(subjects)
        self.part_rows: dict[int, tuple[int, Ints]] = {}
        self.faces: dict[int, MeshFaces] = {}
        self.merged_triangles: dict[int, NDArray[np.int32]] = {}
        self.animated_paddings: dict[int, str] = {}
        self.visible_keys: set[InstanceKey] = set()

    def read(
        self, depsgraph: bpy.types.Depsgraph, with_triangles: Container[int]
    ) -> dict[int, SubjectGeometry]:
        """Classify all subjects, and read the geometry of those that are present now."""
        geometries: dict[int, SubjectGeometry] = {}
        assembler = SubjectAssembler(self.subjects, self._settings, with_triangles)
        for item in visible_instances(depsgraph):
            self.visible_keys.add(item.key)
            evaluated = item.instance.object
            indices = self.indices_of.get(item.key, ())
            for index in indices:
                self._classify(index, evaluated)
                if self.may_deform[index] and index in with_triangles:
                    self.faces[index] = MeshFaces.of(evaluated, self.modifiers[index])
            self._find_part_rows(indices, evaluated)
            geometries.update((source.subject, source) for source in assembler.geometries_of(item))
        for source in assembler.merged_geometries():
            geometries[source.subject] = source
            if source.subject in with_triangles:
                self.merged_triangles[source.subject] = source.triangles
        return geometries

    def _classify(self, index: int, evaluated: bpy.types.Object) -> None:
        """Determine how a subject may change that this object is, or is a member of."""
        original = evaluated.original
        if evaluated.type != original.type:
            # Geometry nodes made this mesh, of hair for example: only the dependency graph has it.
            self.is_walked[index] = self.needs_walk = True
        if self.subjects[index].members:
            return
        if not has_own_settings(original):
            self.may_deform[index] = may_deform(original, self._settings.modifiers)
            if self.subjects[index].part is None:
                return
        self.modifiers[index] = object_fit_settings(original, self._settings).modifiers
        # An override does not deform.
        self.may_deform[index] = may_deform(original, self.modifiers[index]) and (
            read_override(original) is None
        )
        if is_padding_animated(original):
            self.animated_paddings[index] = full_name_of(original)

    def _find_part_rows(self, indices: Sequence[int], evaluated: bpy.types.Object) -> None:
        """Find the vertices of those loose parts of an object that may deform."""
        parts = {index: self.subjects[index].part for index in indices if self.may_deform[index]}
        loose = {index: part for index, part in parts.items() if part is not None}
        if loose:
            modifiers = object_fit_settings(evaluated.original, self._settings).modifiers
            labels = loose_part_labels(evaluated, modifiers)
            rows = rows_by_label(labels, max(loose.values()) + 1)
            self.part_rows.update((index, (len(labels), rows[part])) for index, part in loose.items())

    def faces_of_triangles(self, index: int) -> NDArray[np.int32] | None:
        """Face of each of a subject's triangles (t,); None if the subject does not deform."""
        faces = self.faces.get(index)
        if faces is None or index not in self.part_rows:
            return None if faces is None else faces.of_triangle
        return faces.of_triangle[faces.is_of_part(self.part_rows[index][1])]

    def changed_faces(
        self, index: int, evaluated: bpy.types.Object, vertex_count: int
    ) -> ChangedFaces | None:
        """Return the faces of a subject that may deform if they are others than at the last call."""
        known = self.faces.get(index)
        if known is None:
            return None
        now = MeshFaces.of(evaluated, self.modifiers[index])
        if now.equals(known):
            return None
        self.faces[index] = now
        triangles, of_triangle = triangle_indices(evaluated, self.modifiers[index]), now.of_triangle
        count, rows = self.part_rows.get(index, (-1, np.empty(0, dtype=np.int64)))
        if count == vertex_count:
            is_inside = np.isin(triangles, rows).all(axis=1)
            triangles = np.searchsorted(rows, triangles[is_inside]).astype(np.int32)
            of_triangle = of_triangle[is_inside]
        return ChangedFaces(triangles, of_triangle)

    def changed_merged(self, index: int, source: SubjectGeometry) -> ChangedFaces | None:
        """Return the triangles of a merged subject if they are others than at the last call."""
        known = self.merged_triangles.get(index)
        if known is None or np.array_equal(known, source.triangles):
            return None
        self.merged_triangles[index] = source.triangles
        return ChangedFaces(source.triangles, None)

    def is_simulated(self, simulations: Simulations) -> Bools:
        """Subjects (n,) whose motion or shape comes from a simulation."""
        uids = list(simulations.uids)
        result = np.isin(self.uids, uids) | np.isin(self._shown_uids, uids)
        names = {full_name_of(item) for item in bpy.data.objects if item.session_uid in simulations.uids}
        for index in self.merged:
            members = self.subjects[index].members
            result[index] = any(owner in names or shown in names for owner, shown, _ in members)
        return result
