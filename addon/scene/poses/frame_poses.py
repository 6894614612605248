"""Poses of subjects at one time, and the geometry of those that deform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ...core.numeric.arrays import Bools, Floats, Ints
from ..blender.instances import InstanceKey
from ..blender.mesh_data import Geometry, vertex_positions
from ..blender.parts.bones import bone_frame
from ..subjects.geometry import moved_to_frame
from .subject_index import ChangedFaces, SubjectIndex


class FramePoses(NamedTuple):
    """Poses of subjects at one time. They are not changed once they have been read.

    Attributes
    ----------
    time : float
        In frames.
    present : (m,) bool
    matrices : (m, 4, 4) float64
        World matrices; arbitrary for subjects that are not present.
    moved : (m,) bool
        Subjects whose matrix, vertices or faces have changed since the frame before; empty where unknown.
    """

    time: float
    present: Bools
    matrices: Floats
    moved: Bools = np.zeros(0, dtype=bool)


class CurrentGeometry(NamedTuple):
    """Geometry of a subject at the current frame, and its faces if they have changed."""

    geometry: Geometry
    faces: ChangedFaces | None


class Reading(NamedTuple):
    """Subjects at one time.

    Attributes
    ----------
    poses : FramePoses
    geometry : dict
        Current geometry of subjects that may deform.
    unknown : list of InstanceKey
        Instances that are no subject, if they may be others than at the time before.
    """

    poses: FramePoses
    geometry: dict[int, CurrentGeometry]
    unknown: list[InstanceKey]


class EvaluatedSubject(NamedTuple):
    """A subject that was evaluated: its evaluated object, and its world matrix (4, 4)."""

    subject: int
    object: bpy.types.Object
    matrix: Floats


def read_vertices(
    index: SubjectIndex,
    subjects: Sequence[int],
    evaluated: bpy.types.Object,
    matrices: Floats,
    current: dict[int, CurrentGeometry],
) -> None:
    """Read the vertices of subjects (m,) that show one mesh and may deform; add them to `current`.

    Those of a bone are in its space, unless its scale is nearly 0: the matrix of the geometry is another one.
    Their faces are read too if they matter and have changed.
    """
    whole = vertex_positions(evaluated, index.modifiers[subjects[0]])
    faces = index.changed_faces(subjects, evaluated, len(whole))
    for subject, matrix in zip(subjects, matrices, strict=True):
        points = whole
        if subject in index.part_rows:
            count, rows = index.part_rows[subject]
            # With another number of vertices the parts are unknown, so each part gets all vertices.
            points = whole[rows] if len(whole) == count else whole
        geometry = Geometry(points, matrix)
        if subject in index.bones:
            frame = bone_frame(evaluated, index.bones[subject])
            geometry = geometry if frame is None else moved_to_frame(geometry, frame)
        current[subject] = CurrentGeometry(geometry, faces.get(subject))


def subjects_by_object(index: SubjectIndex, subjects: Ints) -> dict[int, list[int]]:
    """Map objects by session_uid to those of the subjects (m,) that show their mesh and may deform."""
    members: dict[int, list[int]] = {}
    for subject in subjects[index.may_deform[subjects]].tolist():
        members.setdefault(int(index.uids[subject]), []).append(subject)
    return members


def read_deforming(
    index: SubjectIndex, subjects: Ints, rows: Ints, evaluated: bpy.types.Object, reading: Reading
) -> None:
    """Read the vertices and matrices of those of `subjects` (m,) at `rows` (k,), which show one mesh."""
    shown, matrices = subjects[rows].tolist(), reading.poses.matrices
    read_vertices(index, shown, evaluated, matrices[rows], reading.geometry)
    for row, subject in zip(rows.tolist(), shown, strict=True):
        matrices[row] = reading.geometry[subject].geometry.matrix


def rows_by_object(index: SubjectIndex, subjects: Ints, may_deform: Bools) -> list[Ints]:
    """Group the rows of those of sorted `subjects` (m,) that may deform by the objects that they show."""
    rows = np.flatnonzero(may_deform)
    members = subjects_by_object(index, subjects[rows])
    return [rows[np.searchsorted(subjects[rows], sharing)] for sharing in members.values()]
