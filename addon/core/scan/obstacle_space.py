"""Obstacles: triangle meshes tested against spheres, in the local space of the mesh.

The mesh is at rest in its own space however it moves in the world, so spheres are transformed into that space
sample by sample, and contacts back to world space. Linear motion in the world is not linear relative to a
rotating mesh: the motion counts as linear in the space of the mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..errors import InvalidShapeError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, transform_points, transform_vectors
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Sphere, concatenated
from ..sweep.interpolation import RotationPath
from .motion import Sample, SubframeSampler, as_sample

_ROTATION_TOLERANCE = 1e-5
"""Deviation of a pose from a rotation that single precision explains, and a scale does not."""


@dataclass(frozen=True)
class Obstacle:
    """A subject that is a triangle mesh in its rest pose. It has no shape in samples."""

    subject: int
    mesh: TriangleMesh


class ObstacleSpace(NamedTuple):
    """Local space of one obstacle.

    number : Position among the obstacles of the scan.
    obstacle : Obstacle
    bounds : Sphere, batch (). Sphere around the mesh, which is the last shape of samples in this space.
    """

    number: int
    obstacle: Obstacle
    bounds: Sphere

    @classmethod
    def of_obstacle(cls, number: int, obstacle: Obstacle) -> ObstacleSpace:
        """Make the space of an obstacle."""
        box = obstacle.mesh.aabb()
        radius = np.sqrt((box.half_extents**2).sum()) * (1 + CHAIN_ROUNDING)
        return cls(number, obstacle, Sphere(box.center, radius))

    def pose(self, sample: Sample) -> Floats:
        """Pose (..., 4, 4) of the obstacle. Raises InvalidShapeError where it is scaled or sheared."""
        if sample.poses is None:
            return np.broadcast_to(np.eye(4), (*sample.shapes.shape[:-1], 4, 4))
        if sample.poses.shape[-3] <= self.number:
            raise InvalidShapeError(f"sample, poses: {sample.poses.shape} has none of obstacle {self.number}")
        pose = np.asarray(sample.poses, dtype=np.float64)[..., self.number, :, :]
        rotation = pose[..., :3, :3]
        with np.errstate(over="ignore", invalid="ignore"):
            gram = rotation @ np.swapaxes(rotation, -1, -2)
        if not (np.abs(gram - np.eye(3)).max() < _ROTATION_TOLERANCE and (np.linalg.det(rotation) > 0).all()):
            raise InvalidShapeError(f"obstacle {self.number}: its pose is not a rotation and a translation")
        return pose

    def to_local(self, sample: Sample, present: Bools | None) -> Sample:
        """Transform the spheres (..., n) of a sample, and append the bounds of the obstacle.

        present : presence for the result, or None for all
        """
        shapes = sample.shapes
        if not isinstance(shapes, Sphere):
            raise InvalidShapeError(f"only spheres are tested against meshes, not {type(shapes).__name__}")
        pose = self.pose(sample)
        if (pose != np.eye(4)).any():
            rotation, offset = pose[..., None, :3, :3], pose[..., None, :3, 3]
            rotated = transform_vectors(np.swapaxes(rotation, -1, -2), shapes.center - offset)
            shapes = Sphere.unchecked(rotated, shapes.radius)
        times = shapes.shape[:-1]
        whole = concatenated(shapes, self.bounds.broadcast_to((*times, 1)), axis=len(times))
        return Sample(whole, present, pose[..., None, :, :], sample.moved)


class ObstacleSpaceMotion:
    """Samples between frames in the space of an obstacle. Implements `SubframeSampler`."""

    def __init__(self, motion: SubframeSampler, space: ObstacleSpace) -> None:
        self._motion = motion
        self._space = space

    @property
    def refinable(self) -> Bools:
        """Mask (n,) of subjects that can be sampled between frames."""
        return self._motion.refinable

    def sample_between(self, time: float, subjects: Ints) -> Sample:
        """Return the shapes of `subjects` (s,), one of which is the obstacle, whose bounds come last."""
        sample = as_sample(self._motion.sample_between(time, subjects), f"sample at {time}")
        present = None if sample.present is None else np.append(sample.present, True)
        return self._space.to_local(sample, present)


def rotation_between(start: Floats, end: Floats) -> Floats:
    """Rotation vectors (m, 3) in the world from one pose (m, 4, 4) to another, along the shorter arc."""
    path = RotationPath.between(start[:, :3, :3], end[:, :3, :3])
    return np.asarray(path.axis * path.angle[:, None])


def to_world(
    start: Floats, end: Floats, time: Floats, point: Floats, normal: Floats
) -> tuple[Floats, Floats]:
    """Transform points and normals (m, 3) at `time` (m,) in [0, 1] from obstacle space to world space.

    start, end : (4, 4) or (m, 4, 4) poses of the obstacles at both ends of the interval
    """
    if np.array_equal(start, end):
        if (start == np.eye(4)).all():
            return point, normal
        return transform_points(start, point), transform_vectors(start[..., :3, :3], normal)
    rotations = (np.broadcast_to(pose, (len(time), 4, 4))[:, :3, :3] for pose in (start, end))
    rotation = RotationPath.between(*rotations).at(time)
    moved = start[..., :3, 3] * (1 - time)[:, None] + end[..., :3, 3] * time[:, None]
    return transform_vectors(rotation, point) + moved, transform_vectors(rotation, normal)
