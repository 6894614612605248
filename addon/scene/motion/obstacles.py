"""Subjects that are tested as triangle meshes: their meshes, and how they move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...core import Obstacle, Triangle, TriangleMesh
from ...core.messages import message, template
from ...core.numeric.arrays import Bools, Floats, transform_points
from ..blender.mesh_data import Geometry
from ..errors import SceneError
from ..fitting.fit_columns import nearest_rotation, uniform_scale_and_residual
from ..subjects.subject import Subject

_OTHER_SHAPE = template(
    "obstacle {name!r}: changes its shape at frame {time:g}; an obstacle must keep its shape, faces and "
    "size: exclude it from the obstacles"
)
_OTHER_SIZE = template(
    "obstacle {name!r}: changes its size at frame {time:g}; an obstacle must keep its shape, faces and "
    "size: exclude it from the obstacles"
)
_OTHER_FACES = template(
    "obstacle {name!r}: changes its faces at frame {time:g}; an obstacle must keep its shape, faces and "
    "size: exclude it from the obstacles"
)

_MAX_RESIDUAL = 1e-4
"""Deviation of an obstacle's motion from a rotation that single precision may cause."""


class MeshObstacles:
    """Obstacles of a scan. They may move and rotate, but not deform or change their scale.

    mask, indices : (n,) bool, (k,) int. Subjects that are obstacles.
    slots : Position of each in `indices`.
    rest_matrices : (k, 4, 4) float64. World matrices at the first frame.
    """

    def __init__(self, subjects: Sequence[Subject], is_obstacle: Bools, one_sided: bool) -> None:
        """Create obstacles without meshes.

        is_obstacle : (n,) mask of the subjects
        one_sided : whether contacts from behind a face are ignored
        """
        self.mask, self.indices = is_obstacle, np.flatnonzero(is_obstacle)
        self.slots: dict[int, int] = {index: slot for slot, index in enumerate(self.indices.tolist())}
        self._names = [subjects[index].name for index in self.indices]
        self._one_sided = one_sided
        self._meshes: dict[int, TriangleMesh] = {}
        self._points: dict[int, NDArray[np.float32]] = {}
        self.rest_matrices = np.tile(np.eye(4), (len(self.indices), 1, 1))

    def set_mesh(self, index: int, geometry: Geometry, triangles: NDArray[np.int32]) -> None:
        """Set the mesh of obstacle `index` in its rest pose.

        index : The subject.
        geometry : At the first frame.
        triangles : (t, 3) int32. Indices of the geometry's vertices.
        Raises SceneError: without triangles.
        """
        slot = self.slots[index]
        corners = transform_points(geometry.matrix, geometry.points)[triangles]
        if not len(corners):
            raise SceneError(message("obstacle {name!r}: has no faces", name=self._names[slot]))
        a, b, c = corners.transpose(1, 0, 2)
        if self._one_sided and np.linalg.det(geometry.matrix[:3, :3]) < 0:
            # A mirrored mesh has its faces inside out.
            b, c = c, b
        self._meshes[slot] = TriangleMesh(Triangle(a, b, c, one_sided=self._one_sided))
        self._points[slot] = geometry.points
        self.rest_matrices[slot] = geometry.matrix

    @property
    def for_scan(self) -> tuple[Obstacle, ...]:
        """Obstacles for a scan. Raises SceneError for an obstacle that has no mesh."""
        for slot, name in enumerate(self._names):
            if slot not in self._meshes:
                raise SceneError(message("obstacle {name!r}: is not there any more", name=name))
        return tuple(Obstacle(index, self._meshes[slot]) for index, slot in self.slots.items())

    def require_unchanged(
        self, index: int, points: NDArray[np.float32], has_same_faces: bool, time: float
    ) -> None:
        """Raise SceneError for an obstacle with other faces, or whose vertices (n, 3) have moved locally."""
        slot = self.slots[index]
        has_same_points = np.array_equal(points, self._points[slot])
        if not (has_same_points and has_same_faces):
            text = _OTHER_FACES if has_same_points else _OTHER_SHAPE
            raise SceneError(message(text, name=self._names[slot], time=time))

    def poses(self, matrices: Floats, present: Bools, time: float) -> Floats | None:
        """Compute the rigid motion of each obstacle from its rest pose.

        matrices : (k, 4, 4) float64. World matrices.
        present : (k,) bool. Obstacles that are not present stay in their rest pose.
        time : In frames, for messages.
        Returns poses : (k, 4, 4) float64 or None. None while no obstacle has moved.
        Raises SceneError: for an obstacle that changes its scale.
        """
        moved = np.flatnonzero(present & (matrices != self.rest_matrices).any(axis=(1, 2)))
        if not len(moved):
            return None
        poses = np.tile(np.eye(4), (len(matrices), 1, 1))
        try:
            motion = matrices[moved] @ np.linalg.inv(self.rest_matrices[moved])
        except np.linalg.LinAlgError:
            motion = np.full((len(moved), 4, 4), np.nan)
        scale, residual = uniform_scale_and_residual(motion[:, :3, :3])
        is_scaled = ~((residual < _MAX_RESIDUAL) & (np.abs(scale - 1) < _MAX_RESIDUAL))
        if is_scaled.any():
            name = self._names[moved[is_scaled.argmax()]]
            raise SceneError(message(_OTHER_SIZE, name=name, time=time))
        poses[moved] = motion
        poses[moved, :3, :3] = nearest_rotation(motion[:, :3, :3])
        return poses
