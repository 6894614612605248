"""Reads the geometry of subjects: whole objects, loose parts, merged collections, and overrides.

Instances of one mesh share its vertices, so each mesh is read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints, concatenated_ranges, transform_points
from ...core.progress import run_to_end
from ..blender.instances import (
    NO_INDEX,
    InstanceKey,
    InstanceTable,
    VisibleInstance,
    instances_at,
    is_made_by_nodes,
    meshes_at,
    read_instance_table,
)
from ..blender.mesh_data import (
    NO_PLACEMENTS,
    Geometry,
    Placement,
    triangle_indices,
    vertex_positions,
    world_matrix,
)
from ..blender.object_settings import Override, has_own_settings, object_fit_settings, read_overrides
from ..blender.parts.known_rows import PartRows
from ..blender.parts.mesh_parts import bone_frames, part_rows
from ..blender.parts.weights import rows_of_group
from ..settings import FitSettings
from .subject import Subject, SubjectList

NO_POINTS = np.empty((0, 3), dtype=np.float32)
NO_TRIANGLES = np.empty((0, 3), dtype=np.int32)

_Vertices: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Vertices (n, 3) and triangles (t, 3)."""


class SubjectGeometry(NamedTuple):
    """Geometry of one or more subjects that differ in their matrices alone, and their fit settings.

    subjects : (m,) int. Indices of the subjects.
    matrices : (m, 4, 4) float64. World matrices. A merged subject is in world space, with an identity matrix.
    points : (n, 3) float32. Vertices of each, in object space; float64 of a merged subject.
    radius : Radius, in object space, of balls around the points that bounds enclose as well.
    triangles : (t, 3) int32. Rows of its vertices, if triangles were requested.
    frame : (4, 4) float64 or None. World matrix of the own frame of the only subject if that is not the
        geometry's: that of a bone.
    bone_scale : Least scale of that bone along any direction, compared with its rest pose.
    placements : Decomposed world matrices (m, ...), which define the subjects' own frames; none before fits.
    """

    subjects: Ints
    matrices: Floats
    points: NDArray[np.float32]
    radius: float
    fit: FitSettings
    triangles: NDArray[np.int32]
    frame: Floats | None = None
    bone_scale: float = 1.0
    placements: Placement = NO_PLACEMENTS

    @classmethod
    def of(
        cls, subject: int, geometry: Geometry, fit: FitSettings, triangles: NDArray[np.int32] = NO_TRIANGLES
    ) -> SubjectGeometry:
        points, matrix, radius = geometry
        return cls(np.array([subject]), matrix[None], points, radius, fit, triangles)

    @property
    def subject(self) -> int:
        return int(self.subjects[0])

    @property
    def geometry(self) -> Geometry:
        return Geometry(self.points, self.matrices[0], self.radius)

    def with_geometry(self, geometry: Geometry) -> SubjectGeometry:
        points, matrix, radius = geometry
        return self._replace(matrices=matrix[None], points=points, radius=radius)

    def taken(self, rows: Ints | slice) -> SubjectGeometry:
        taken = self._replace(subjects=self.subjects[rows], matrices=self.matrices[rows])
        if self.placements is NO_PLACEMENTS:
            return taken
        return taken._replace(placements=Placement(*(values[rows] for values in self.placements)))

    def singles(self) -> Iterator[SubjectGeometry]:
        count = len(self.subjects)
        yield from [self] if count == 1 else (self.taken(slice(row, row + 1)) for row in range(count))


def read_vertices_of_fit(
    shown: bpy.types.Object, fit: FitSettings, needs_triangles: bool
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Vertices (n, 3) and triangles (t, 3) of an evaluated object: all, or those of a vertex group."""
    points = vertex_positions(shown, fit.modifiers)
    triangles = triangle_indices(shown, fit.modifiers) if needs_triangles else NO_TRIANGLES
    if fit.vertex_group is None:
        return points, triangles
    rows = rows_of_group(shown, fit.modifiers, fit.vertex_group)
    return points[rows], _rows_within(rows, triangles) if len(rows) else NO_TRIANGLES


def _faces_of_parts(rows: PartRows, triangles: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Triangles of a mesh whose first vertex is in each of its parts, which may share vertices."""
    counts = np.bincount(triangles[:, 0], minlength=rows.vertices)
    every = np.concatenate(rows.rows)
    sizes, starts = counts[every], (np.cumsum(counts) - counts)[every]
    found = np.argsort(triangles[:, 0], kind="stable")[concatenated_ranges(starts, sizes)]
    part = np.repeat(np.arange(len(rows.rows)), [len(each) for each in rows.rows]).repeat(sizes)
    # By part, then in the order of the mesh.
    found = np.sort(part * len(triangles) + found) % len(triangles)
    ends = np.cumsum(np.bincount(part, minlength=len(rows.rows)))
    return np.split(triangles[found], ends[:-1])


def _rows_within(rows: NDArray[np.int64], triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """Triangles (t, 3) of a mesh within a part of it, as rows of the part, which is at rows (n,).

    Loose parts have all vertices of their triangles. Those of a bone that reach to others are omitted.
    """
    places = np.searchsorted(rows, triangles)
    is_within = (rows[np.minimum(places, max(len(rows) - 1, 0))] == triangles) if len(rows) else triangles < 0
    return places[is_within.all(axis=1)].astype(np.int32)


def in_bone_space(piece: SubjectGeometry) -> SubjectGeometry:
    """Convert the vertices of a bone from the space of their object to that of the bone, its frame.

    The geometry of other subjects is returned as it is.
    """
    if piece.frame is None:
        return piece
    return piece.with_geometry(moved_to_frame(piece.geometry, piece.frame))


def moved_to_frame(geometry: Geometry, frame: Floats) -> Geometry:
    """Convert vertices to a frame, a world matrix (4, 4)."""
    points, matrix, radius = geometry
    local: Any = transform_points(np.linalg.pinv(frame) @ matrix, points.astype(np.float64))
    return Geometry(local, frame, radius)


class SubjectReader:
    """Reads subjects in evaluated scenes, each mesh once, however many instances show it.

    Settings and overrides of objects are read again each time, because they may have changed since the
    subjects were found.

    with_triangles : Indices of the subjects whose triangles are read.
    assembled : Subjects that are loose parts or merged collections, by their indices.
    assembled_of : Indices of those that an instance is a part or member of.
    """

    def __init__(
        self, subjects: Sequence[Subject], settings: FitSettings, with_triangles: Container[int] = ()
    ) -> None:
        """Prepare to read subjects; `settings` are for those that have none of their own."""
        self.subjects, self.with_triangles = subjects, with_triangles
        self._settings = settings
        self.assembled: dict[int, Subject] = {}
        self.assembled_of: dict[InstanceKey, list[int]] = defaultdict(list)
        self._singles: dict[InstanceKey, int] = {}
        every = SubjectList.of(subjects)
        for index, subject in every.singles():
            if subject.part is None and not subject.members:
                self._singles[subject.key] = index
                continue
            self.assembled[index] = subject
            for key in subject.members or (subject.key,):
                self.assembled_of[key].append(index)
        groups, self._subjects = every.instance_groups()
        self._names = {group.template.key[:2]: number for number, group in enumerate(groups)}
        self._group = np.repeat(np.arange(len(groups)), [len(group.indices) for group in groups])
        self._ids = np.concatenate([group.indices for group in groups] or [np.empty((0, 0), dtype=np.int64)])

    def subjects_of(self, table: InstanceTable) -> Ints:
        """Whole subject (n,) of each row of a table; -1 for none.

        Of instances with the same key, each is the last subject with that key if there are more or fewer of
        them than subjects.
        """
        found = np.full(len(table.kind_of), -1, dtype=np.int64)
        group_of_kind = [self._names.get(kind.key[:2], -1) if kind.key[2] else -1 for kind in table.kinds]
        group = np.array([*group_of_kind, -1], dtype=np.int64)[table.kind_of]
        rows = np.flatnonzero(group >= 0)
        if len(rows):
            rows = table.sorted_rows(rows, group[rows])
            ids = table.indices[rows]
            width = max(ids.shape[1], self._ids.shape[1])
            ids, known = (
                np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=NO_INDEX)
                for each in (ids, self._ids)
            )
            if np.array_equal(group[rows], self._group) and np.array_equal(ids, known):
                found[rows] = self._subjects
            else:
                pairs = (self._group, known), (group[rows], ids)
                of_known, wanted = ([row.tobytes() for row in np.column_stack(pair)] for pair in pairs)
                subject_of = dict(zip(of_known, self._subjects.tolist(), strict=True))
                found[rows] = [subject_of.get(key, -1) for key in wanted]
        for row, key in table.rows_with(self._singles).items():
            found[row] = self._singles[key]
        return found

    def assembled_rows(self, table: InstanceTable) -> Ints:
        """Rows (m,) of a table that are members of merged collections, or are split by loose parts."""
        return np.array([*table.rows_with(self.assembled_of)], dtype=np.int64)

    def geometries(
        self, depsgraph: bpy.types.Depsgraph, table: InstanceTable | None = None
    ) -> Iterator[SubjectGeometry]:
        """Read the geometry of the subjects that exist at the frame of an evaluated dependency graph.

        table : all that is visible in it; read here if it is not known
        """
        if table is None:
            table = run_to_end(read_instance_table(depsgraph, lambda _: None))
        subject_of = self.subjects_of(table)
        for rows, item in meshes_at(depsgraph, table, np.flatnonzero(subject_of >= 0)):
            # All vertices of whole objects or instances, or their override.
            subjects, shown = subject_of[rows], item.instance.object
            fit, overrides = self._settings_of(item)
            if overrides:
                points = NO_POINTS if fit.vertex_group else overrides[0].points
                radius, triangles = overrides[0].radius, NO_TRIANGLES
            else:
                wanted = self.with_triangles
                needs_triangles = bool(wanted) and any(index in wanted for index in subjects.tolist())
                radius, (points, triangles) = 0.0, read_vertices_of_fit(shown, fit, needs_triangles)
            yield SubjectGeometry(subjects, table.matrices(rows), points, radius, fit, triangles)
        if not self.assembled:
            return
        members: dict[int, list[_Vertices]] = defaultdict(list)
        for _, item in instances_at(depsgraph, table, self.assembled_rows(table).tolist()):
            indices = self.assembled_of[item.key]
            if self.assembled[indices[0]].members:
                members[indices[-1]].append(self.read_member(item, indices[-1]))
            else:
                yield from self._read_parts(item, indices)
        yield from (self.merged_geometry(index, vertices) for index, vertices in members.items())

    def _settings_of(self, item: VisibleInstance) -> tuple[FitSettings, tuple[Override, ...]]:
        """Return settings and overrides of what an instance shows; what nodes make has none of its own."""
        original = item.instance.object.original
        if is_made_by_nodes(item.key) or not has_own_settings(original):
            return self._settings, ()
        return object_fit_settings(original, self._settings), read_overrides(original)

    def singles(self, depsgraph: bpy.types.Depsgraph) -> Iterator[SubjectGeometry]:
        for shared in self.geometries(depsgraph):
            yield from shared.singles()

    def read_member(self, item: VisibleInstance, merged: int) -> _Vertices:
        """Read the vertices and triangles of a member of a merged subject, in world space."""
        shown, (fit, overrides) = item.instance.object, self._settings_of(item)
        if overrides and fit.vertex_group is None:
            points, triangles = np.concatenate([each.enclosing_points for each in overrides]), NO_TRIANGLES
        else:
            points, triangles = read_vertices_of_fit(shown, fit, merged in self.with_triangles)
        matrix = world_matrix(item)
        if np.linalg.det(matrix[:3, :3]) < 0:
            triangles = triangles[:, [0, 2, 1]]  # a mirrored mesh would face inward
        # In double precision as for other subjects.
        return transform_points(matrix, points), triangles

    def merged_geometry(self, index: int, members: Sequence[_Vertices]) -> SubjectGeometry:
        """Merge the vertices of all members of a subject that exist."""
        starts = np.cumsum([0, *(len(points) for points, _ in members)])
        triangles = [rows + start for (_, rows), start in zip(members, starts, strict=False)]
        geometry = Geometry(np.concatenate([points for points, _ in members]), np.eye(4))
        return SubjectGeometry.of(index, geometry, self._settings, np.concatenate(triangles).astype(np.int32))

    def _read_parts(self, item: VisibleInstance, indices: Sequence[int]) -> Iterator[SubjectGeometry]:
        """Read those loose parts, bones or overrides of an object or instance that are subjects."""
        shown, matrix = item.instance.object, world_matrix(item)
        fit, overrides = self._settings_of(item)
        parts = {index: part for index in indices if (part := self.assembled[index].part) is not None}
        if overrides:
            for index, number in parts.items():
                # Those that were removed since the subjects were found have no points.
                geometry = Geometry(NO_POINTS, matrix)
                if number < len(overrides) and fit.vertex_group is None:
                    geometry = Geometry(overrides[number].points, matrix, overrides[number].radius)
                yield SubjectGeometry.of(index, geometry, fit)
            return
        first = self.assembled[indices[0]]
        # The object may have fewer parts than when the subjects were found; the others are empty then.
        rows = part_rows(shown, fit.modifiers, first.bone_weight, max(parts.values()) + 1)
        points = vertex_positions(shown, fit.modifiers)
        frames = {} if first.bone is None else bone_frames(item)
        faces: Sequence[NDArray[np.int32]] = [NO_TRIANGLES] * len(rows.rows)
        if any(index in self.with_triangles for index in indices):
            faces = _faces_of_parts(rows, triangle_indices(shown, fit.modifiers))
        of_group = None if fit.vertex_group is None else rows_of_group(shown, fit.modifiers, fit.vertex_group)
        for index, number in parts.items():
            of_part = rows.rows[number] if number < len(rows.rows) else np.empty(0, np.int64)
            if of_group is not None:
                of_part = np.intersect1d(of_part, of_group)
            triangles = _rows_within(of_part, faces[number]) if len(of_part) else NO_TRIANGLES
            frame, scale = frames.get(self.assembled[index].bone or "", (None, 1.0))
            whole = SubjectGeometry.of(index, Geometry(points[of_part], matrix), fit, triangles)
            yield whole._replace(frame=frame, bone_scale=scale)
