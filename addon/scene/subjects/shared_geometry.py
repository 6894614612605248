"""Geometry of subjects where instances of one mesh share its vertices: each mesh is read once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from ..blender.instance_table import InstanceTable, instances_at
from ..blender.mesh_data import Geometry
from ..settings import FitSettings
from .geometry import SubjectAssembler, SubjectGeometry, read_mesh_source
from .matching import SubjectMatcher
from .subject import Subject


class SharedGeometry(NamedTuple):
    """Geometry of subjects that differ in their matrices alone.

    Attributes
    ----------
    subjects : (m,) int
    points : (n, 3) float32
        Vertices of each, in object space; float64 and in world space for a merged collection.
    radius : float
        Radius, in object space, of balls around the points that bounds enclose as well.
    fit : FitSettings
    triangles : (t, 3) int32
        Rows of its vertices, if triangles were requested.
    matrices : (m, 4, 4) float64
        World matrices.
    frame : (4, 4) float64 or None
        World matrix of the own frame of its only subject, if that is another one: that of a bone.
    """

    subjects: Ints
    points: NDArray[np.float32]
    radius: float
    fit: FitSettings
    triangles: NDArray[np.int32]
    matrices: Floats
    frame: Floats | None = None

    @classmethod
    def of(cls, source: SubjectGeometry) -> SharedGeometry:
        """Geometry of one subject."""
        points, matrix, radius = source.geometry
        subjects = np.array([source.subject])
        return cls(subjects, points, radius, source.fit, source.triangles, matrix[None], source.frame)

    def singles(self) -> Iterator[SubjectGeometry]:
        """Yield the geometry of each subject."""
        for index, matrix in zip(self.subjects.tolist(), self.matrices, strict=True):
            geometry = Geometry(self.points, matrix, self.radius)
            yield SubjectGeometry(index, geometry, self.fit, self.triangles, self.frame)


def read_shared_geometry(
    depsgraph: bpy.types.Depsgraph,
    table: InstanceTable[Any],
    subjects: Sequence[Subject],
    fit: FitSettings,
    triangles: Container[int] = (),
) -> Iterator[SharedGeometry]:
    """Read the geometry of subjects, as `read_subjects` does, each mesh once.

    Parameters
    ----------
    depsgraph : bpy.types.Depsgraph
        As it was when the table was read.
    table : InstanceTable
        All that is visible.
    subjects, fit, triangles
        As of `read_subjects`.

    Yields
    ------
    geometry : SharedGeometry
    """
    matcher = SubjectMatcher(subjects)
    subject_of = matcher.subjects_of(table)
    rows = np.flatnonzero(subject_of >= 0)
    meshes = np.array([kind.mesh for kind in table.kinds], dtype=np.int64)[table.kind_of[rows]]
    order = np.argsort(meshes, kind="stable")
    starts = np.flatnonzero(np.diff(meshes[order], prepend=-1))
    rows_of = {group[0]: group for group in np.split(rows[order], starts[1:])} if len(rows) else {}
    chosen = [subjects[index] for index in matcher.assembled]
    needed = {place for place, index in enumerate(matcher.assembled) if index in triangles}
    assembler = SubjectAssembler(chosen, fit, needed)
    for row, item in instances_at(
        depsgraph, table, sorted({*rows_of, *matcher.assembled_rows(table).tolist()})
    ):
        if row in rows_of:
            of_mesh = rows_of[row]
            same = subject_of[of_mesh]
            has_triangles = any(index in triangles for index in same.tolist()) if triangles else False
            mesh = read_mesh_source(item, fit, has_triangles)
            yield SharedGeometry(same, *mesh, table.matrices(of_mesh))
        for source in assembler.geometries_of(item):
            yield SharedGeometry.of(source._replace(subject=matcher.assembled[source.subject]))
    for source in assembler.merged_geometries():
        yield SharedGeometry.of(source._replace(subject=matcher.assembled[source.subject]))
