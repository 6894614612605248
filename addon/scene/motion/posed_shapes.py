"""Shapes of subjects at their poses, of several frames together, and triangle meshes of obstacles."""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Obstacle, Sample, Triangle, TriangleMesh
from ...core.messages import message, template
from ...core.numeric.arrays import Bools, Floats, Ints, transform_points
from ..blender.mesh_data import Geometry
from ..errors import SceneError, describe_error
from ..fitting.fit_cache import FitCache
from ..fitting.fit_columns import nearest_rotation, uniform_scale_and_residual
from ..subjects.subject import Subject
from .frame_reader import FramePoses
from .known_motion import MAX_COORDINATE
from .scan_records import Skip
from .skin_poses import SkinPoses

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

    indices : (k,) int. Subjects that are obstacles, sorted.
    slots : Position of each in `indices`.
    rest_matrices : (k, 4, 4) float64. World matrices at the first frame.
    """

    def __init__(self, subjects: Sequence[Subject], is_obstacle: Bools, one_sided: bool) -> None:
        """Create obstacles without meshes.

        is_obstacle : (n,) mask of the subjects
        one_sided : whether contacts from behind a face are ignored
        """
        self.indices: Ints = np.flatnonzero(is_obstacle)
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
        if not np.array_equal(points, self._points[slot]):
            raise self._changes(_OTHER_SHAPE, slot, time)
        if not has_same_faces:
            raise self._changes(_OTHER_FACES, slot, time)

    def _changes(self, text: str, slot: int, time: float) -> SceneError:
        """Error of an obstacle that has changed, by one of the templates."""
        return SceneError(message(text, name=self._names[slot], time=time))

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
            raise self._changes(_OTHER_SIZE, int(moved[int(is_scaled.argmax())]), time)
        poses[moved] = motion
        poses[moved, :3, :3] = nearest_rotation(motion[:, :3, :3])
        return poses


_MAX_SHAPES = 1 << 15
"""Shapes that are computed together: more would block the window."""

_MAX_BENT_BOXES = 96
"""Boxes of bent meshes that are computed together in a window: about 40 ms for 20,000 vertices each."""


class PosedShapes:
    """Computes shapes from poses.

    capacity : Number of times whose shapes are computed together, at most.
    skins : Boxes of bent subjects, at their times.
    """

    def __init__(self, fits: FitCache, obstacles: MeshObstacles) -> None:
        """Take the fits of all subjects."""
        self._fits, count = fits, len(fits.is_fitted)
        self.capacity = _MAX_SHAPES // max(len(fits.owners), 1)
        self._obstacles = obstacles
        self._all = np.arange(count)
        self._is_obstacle = np.isin(self._all, obstacles.indices)
        self._reported_absent = np.zeros(count, dtype=bool)
        self.skins: SkinPoses | None = None

    def follow(self, skins: SkinPoses | None, costs: Floats) -> None:
        """Compute boxes of bent subjects from their curves, and fewer shapes together where they take long.

        costs : (N,) float64. See `KnownShapes`.
        """
        self.capacity = min(self.capacity, max(1, int(_MAX_SHAPES / max(costs.sum(), 1.0))))
        if skins is None or not skins.is_skinned.any():
            return
        self.skins = skins
        if not bpy.app.background:
            count = int(skins.is_skinned.sum())
            self.capacity = min(self.capacity, max(1, _MAX_BENT_BOXES // count))

    def sample_all(self, poses: FramePoses) -> tuple[Sample, list[Skip]]:
        """Shapes of all subjects at one time, and the subjects skipped."""
        sample, present, skips = self.place(self._all, poses)
        if not present.all():
            absent = np.flatnonzero(~(present | self._reported_absent)).tolist()
            skips += [Skip(index, poses.time, None) for index in absent]
            self._reported_absent |= ~present
        return sample, skips

    def place(self, subjects: Ints, poses: FramePoses) -> tuple[Sample, Bools, list[Skip]]:
        """Compute the shapes of sorted `subjects` (m,), all obstacles included, at poses of the same (m,).

        Returns the sample, without shapes of obstacles; which subjects are present (m,); and those skipped.
        """
        time, present, matrices, _ = poses
        present, skips = present.copy(), []
        matrices = np.where(present[:, None, None], matrices, np.eye(4))
        # Not a number compares as False.
        is_finite = np.asarray((np.abs(matrices) <= MAX_COORDINATE).all(axis=(1, 2)))
        if not is_finite.all():
            reason = f"its location or scale is not a number up to {MAX_COORDINATE:g}"
            skips += [Skip(index, time, reason) for index in subjects[present & ~is_finite].tolist()]
            present &= is_finite
            matrices = np.where(is_finite[:, None, None], matrices, np.eye(4))
        is_obstacle = self._is_obstacle[subjects]
        has_shape = self._fits.is_fitted[subjects] | is_obstacle
        if not has_shape.all():
            unfitted = subjects[present & ~has_shape].tolist()
            skips += [Skip(index, time, "it could not be fitted") for index in unfitted]
            present &= has_shape
        obstacle_poses = None
        bodies, body_matrices = subjects, matrices
        if is_obstacle.any():
            obstacle_poses = self._obstacles.poses(matrices[is_obstacle], present[is_obstacle], time)
            bodies, body_matrices = subjects[~is_obstacle], matrices[~is_obstacle]
        skins = None if self.skins is None else self.skins.boxes(bodies, np.full(len(bodies), time))
        shapes, errors = self._fits.shapes_at(bodies, body_matrices, skins)
        for index, error in errors.items():
            skips.append(Skip(index, time, describe_error(error)))
            present[np.searchsorted(subjects, index)] = False
        return Sample(shapes, present, obstacle_poses), present, skips
