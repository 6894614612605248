"""Poses of subjects at one time, and the geometry of those that deform."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats
from ..blender.instances import InstanceKey
from ..blender.mesh_data import Geometry


class FramePoses(NamedTuple):
    """Poses of subjects at one time. They are not changed once they have been read.

    time : In frames.
    present : (m,) bool
    matrices : (m, 4, 4) float64. World matrices; arbitrary for subjects that are not present.
    moved : (m,) bool. Subjects whose matrix, vertices or faces have changed since the frame before; empty
        where unknown.
    """

    time: float
    present: Bools
    matrices: Floats
    moved: Bools = np.zeros(0, dtype=bool)


class ChangedFaces(NamedTuple):
    """Triangles (t, 3) of a subject whose faces have changed, and the face of each (t,) if it is known."""

    triangles: NDArray[np.int32]
    of_triangle: NDArray[np.int32] | None


class CurrentGeometry(NamedTuple):
    """Geometry of a subject at the current frame, and its faces if they have changed."""

    geometry: Geometry
    faces: ChangedFaces | None


class Reading(NamedTuple):
    """Subjects at one time.

    geometry : Current geometry of subjects that may deform.
    unknown : Instances that are no subject, if they may be others than at the time before.
    """

    poses: FramePoses
    geometry: dict[int, CurrentGeometry]
    unknown: list[InstanceKey]


class EvaluatedSubject(NamedTuple):
    """A subject that was evaluated: its evaluated object, and its world matrix (4, 4)."""

    subject: int
    object: bpy.types.Object
    matrix: Floats
