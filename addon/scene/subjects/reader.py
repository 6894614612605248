"""Reads the geometry of subjects: instances of one mesh share its vertices, so each mesh is read once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from ..blender.instance_table import InstanceTable, instances_at, read_instance_table, rows_by_mesh
from ..blender.mesh_data import Geometry
from ..progress import run_to_end
from ..settings import FitSettings
from .geometry import SubjectAssembler, SubjectGeometry, read_mesh_source
from .matching import SubjectMatcher
from .subject import Subject


class SharedGeometry(NamedTuple):
    """Geometry of subjects that differ in their matrices alone.

    subjects : (m,) int
    points : (n, 3) float32. Vertices of each, in object space; float64 and in world space for a merged
        collection.
    radius : Radius, in object space, of balls around the points that bounds enclose as well.
    triangles : (t, 3) int32. Rows of its vertices, if triangles were requested.
    matrices : (m, 4, 4) float64. World matrices.
    frame : (4, 4) float64 or None. World matrix of the own frame of its only subject, if that is another one:
        that of a bone.
    bone_scale : As of `SubjectGeometry`.
    """

    subjects: Ints
    points: NDArray[np.float32]
    radius: float
    fit: FitSettings
    triangles: NDArray[np.int32]
    matrices: Floats
    frame: Floats | None = None
    bone_scale: float = 1.0

    @classmethod
    def of(cls, source: SubjectGeometry) -> SharedGeometry:
        """Geometry of one subject."""
        points, matrix, radius = source.geometry
        subjects = np.array([source.subject])
        of_bone = source.frame, source.bone_scale
        return cls(subjects, points, radius, source.fit, source.triangles, matrix[None], *of_bone)

    def singles(self) -> Iterator[SubjectGeometry]:
        """Yield the geometry of each subject."""
        for index, matrix in zip(self.subjects.tolist(), self.matrices, strict=True):
            geometry = Geometry(self.points, matrix, self.radius)
            of_bone = self.frame, self.bone_scale
            yield SubjectGeometry(index, geometry, self.fit, self.triangles, *of_bone)


class SubjectReader:
    """Reads subjects in evaluated scenes, each mesh once, however many instances show it.

    Settings and overrides of objects are read again each time, because they may have changed since the
    subjects were found.

    with_triangles : Indices of the subjects whose triangles are read.
    """

    def __init__(
        self, subjects: Sequence[Subject], settings: FitSettings, with_triangles: Container[int] = ()
    ) -> None:
        """Prepare to read subjects; `settings` are for those that have none of their own."""
        self.subjects, self.with_triangles = subjects, with_triangles
        self._settings = settings
        self._matcher = SubjectMatcher(subjects)

    def geometries(
        self, depsgraph: bpy.types.Depsgraph, table: InstanceTable[Any] | None = None
    ) -> Iterator[SharedGeometry]:
        """Read the geometry of the subjects that exist at the frame of an evaluated dependency graph.

        table : all that is visible in it; read here if it is not known
        """
        if table is None:
            table = run_to_end(read_instance_table(depsgraph, lambda _: None))
        assembled, with_triangles = self._matcher.assembled, self.with_triangles
        subject_of = self._matcher.subjects_of(table)
        sharing = rows_by_mesh(table, np.flatnonzero(subject_of >= 0))
        assembler = SubjectAssembler(assembled, self._settings, with_triangles)
        rows = sorted({*sharing, *self._matcher.assembled_rows(table).tolist()})
        for row, item in instances_at(depsgraph, table, rows):
            if row in sharing:
                same = subject_of[sharing[row]]
                has_triangles = any(index in with_triangles for index in same.tolist() if with_triangles)
                mesh = read_mesh_source(item, self._settings, has_triangles)
                yield SharedGeometry(same, *mesh, table.matrices(sharing[row]))
            yield from map(SharedGeometry.of, assembler.geometries_of(item))
        yield from map(SharedGeometry.of, assembler.merged_geometries())

    def singles(self, depsgraph: bpy.types.Depsgraph) -> Iterator[SubjectGeometry]:
        """Read the geometry of each subject that exists, as `geometries` does."""
        for shared in self.geometries(depsgraph):
            yield from shared.singles()
