"""Meshes that spheres bump into: each is seen from where it rests, however it turns and moves.

What is straight in the world is not straight as seen from something that turns. The ways of the spheres are
looked at as the mesh sees them, sample by sample, and told in world space again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints, transform_points, transform_vectors
from .errors import InvalidShapeError
from .interpolation import Turn
from .motion import AskedBetween, Sample
from .shapes import Sphere, joined
from .triangle_mesh import TriangleMesh

_TURN = 1e-5
"""How far from a turn a place may be: what single precision leaves of one, and no scale."""


@dataclass(frozen=True)
class Obstacle:
    """A subject of a scan that its triangles stand for, `mesh` where it rests. It has no shape in samples."""

    subject: int
    mesh: TriangleMesh


class View(NamedTuple):
    """What obstacle number `number` of a scan sees.

    bounds : () a sphere around its mesh: the last shape of what it sees
    """

    number: int
    obstacle: Obstacle
    bounds: Sphere

    @classmethod
    def of(cls, number: int, obstacle: Obstacle) -> View:
        """The view of an obstacle."""
        box = obstacle.mesh.aabb()
        radius = np.sqrt((box.half_extents**2).sum()) * (1 + 1e-12)
        return cls(number, obstacle, Sphere(box.center, radius))

    def place(self, sample: Sample) -> Floats:
        """(..., 4, 4) where the obstacle is. Raises InvalidShapeError where it is scaled or sheared."""
        if sample.places is None:
            return np.broadcast_to(np.eye(4), (*sample.shapes.shape[:-1], 4, 4))
        place: Floats = np.asarray(sample.places, dtype=np.float64)[..., self.number, :, :]
        turn = place[..., :3, :3]
        gram = turn @ np.swapaxes(turn, -1, -2)
        if not (np.abs(gram - np.eye(3)).max() < _TURN and (np.linalg.det(turn) > 0).all()):
            raise InvalidShapeError(f"obstacle {self.number}: its place is not a turn and a move")
        return place

    def sample(self, sample: Sample, present: Bools | None) -> Sample:
        """The spheres (..., n) of a sample as the obstacle sees them, and the obstacle itself.

        present : of what the result is to tell it, or None
        """
        shapes = sample.shapes
        if not isinstance(shapes, Sphere):
            raise InvalidShapeError(f"only spheres bump into meshes, not {type(shapes).__name__}")
        place = self.place(sample)
        if (place != np.eye(4)).any():
            turn, offset = place[..., None, :3, :3], place[..., None, :3, 3]
            turned = transform_vectors(np.swapaxes(turn, -1, -2), shapes.center - offset)
            shapes = Sphere.trusted(turned, shapes.radius)
        times = shapes.shape[:-1]
        whole = joined(shapes, self.bounds.broadcast_to((*times, 1)), axis=len(times))
        return Sample(whole, present, place[..., None, :, :])


class SeenMotion:
    """A motion between its samples, as an obstacle sees it. Implements `AskedBetween`."""

    def __init__(self, motion: AskedBetween, view: View) -> None:
        self._motion = motion
        self._view = view

    @property
    def refinable(self) -> Bools:
        """(n,) of all subjects."""
        return self._motion.refinable

    def sample_between(self, time: float, subjects: Ints) -> Sample:
        """The parts of `subjects`, one of which is the obstacle, its own last."""
        sample = self._motion.sample_between(time, subjects)
        if not isinstance(sample, Sample):
            sample = Sample(sample)
        present = None if sample.present is None else np.append(sample.present, True)
        return self._view.sample(sample, present)


def in_world(
    start: Floats, end: Floats, time: Floats, point: Floats, normal: Floats
) -> tuple[Floats, Floats]:
    """Points and normals (m, 3) that obstacles see at `time` (m,) in [0, 1], in world space.

    start, end : (4, 4) or (m, 4, 4) places of the obstacles at both ends
    """
    if np.array_equal(start, end):
        if (start == np.eye(4)).all():
            return point, normal
        return transform_points(start, point), transform_vectors(start[..., :3, :3], normal)
    turn = Turn.between(*(np.broadcast_to(m, (len(time), 4, 4))[:, :3, :3] for m in (start, end))).at(time)
    moved = start[..., :3, 3] * (1 - time)[:, None] + end[..., :3, 3] * time[:, None]
    return transform_vectors(turn, point) + moved, transform_vectors(turn, normal)
