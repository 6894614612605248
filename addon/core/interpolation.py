"""Shapes between two samples of them: straight lines, and turns at a constant rate."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, cross, dot, length, transform_vectors, unit
from .batch import common_batch
from .errors import InvalidShapeError
from .shapes import Aabb, Obb, Shape
from .sphere_tree import SphereTree
from .triangle_mesh import TriangleMesh

_S = TypeVar("_S", bound=Shape | SphereTree | TriangleMesh)

_STILL = 8 * np.finfo(np.float64).eps
"""A turn by less than this is what rounding makes of none."""


def at(start: _S, end: _S, time: ArrayLike) -> _S:
    """The shapes at `time` (...) in [0, 1] of their motion; exact at both ends.

    Centres, corners, radii and sides change linearly. Oriented boxes turn about one axis at a constant rate,
    the shorter way; of two equal ways, half a turn, a stated one. A mesh is at rest, and itself at any time.
    Exact up to float64 rounding. Raises InvalidShapeError for two kinds, for two meshes that differ, and for
    batches that do not broadcast.
    """
    t = np.asarray(time, dtype=np.float64)
    if type(start) is not type(end):
        raise InvalidShapeError(f"no motion from {type(start).__name__} to {type(end).__name__}")
    if isinstance(start, TriangleMesh):
        start.require_same(end)  # type: ignore[arg-type]
        return start
    common_batch("shapes and times", start.shape, end.shape, t.shape)
    if isinstance(start, Obb) and isinstance(end, Obb):
        return BoxWay.between(start, end).at(t)  # type: ignore[return-value]
    fields = {
        name: _mixed(getattr(start, name), getattr(end, name), t.reshape(t.shape + (1,) * len(tail)))
        for name, tail in start.tails.items()
    }
    if isinstance(start, Aabb):
        fields["max"] = np.maximum(fields["min"], fields["max"])
    return start._alike(fields)  # type: ignore[return-value]


class Turn(NamedTuple):
    """Rotations about one axis at a constant rate, starting from a rotation.

    axis : (..., 3) unit vectors in world coordinates
    angle : (...) radians in [0, pi], turned within the interval
    parts : three (..., 3, 3) arrays; the rotation at t is still + sine(angle t) + cosine(angle t) of them;
        where nothing turns, the first is all of it
    """

    axis: Floats
    angle: Floats
    parts: tuple[Floats, Floats, Floats]

    @classmethod
    def between(cls, start: Floats, end: Floats) -> Turn:
        """The shorter turn from one rotation (..., 3, 3) to another; half a turn goes about a stated axis."""
        start, end = np.broadcast_arrays(start, end)
        axis, angle = axis_and_angle(start, end)
        columns = np.swapaxes(start, -1, -2)
        about = axis[..., None, :]
        still = about * dot(np.broadcast_to(about, columns.shape), columns)[..., None]
        # What does not turn at all is still as a whole.
        still = np.where((angle == 0)[..., None, None], columns, still)
        sideways = cross(np.broadcast_to(about, columns.shape), columns)
        parts = tuple(np.swapaxes(part, -1, -2) for part in (still, sideways, columns - still))
        return cls(axis, angle, parts)  # type: ignore[arg-type]

    def at(self, time: Floats) -> Floats:
        """(..., 3, 3) the rotations at `time` (...): Rodrigues' formula."""
        still, sideways, across = self.parts
        turned = np.asarray(self.angle * time)[..., None, None]
        rotation: Floats = still + np.sin(turned) * sideways + np.cos(turned) * across
        return rotation


class BoxWay(NamedTuple):
    """Oriented boxes (...) on their way from `start` to `end`."""

    start: Obb
    end: Obb
    turn: Turn

    @classmethod
    def between(cls, start: Obb, end: Obb) -> BoxWay:
        """See `at`."""
        return cls(start, end, Turn.between(start.rotation, end.rotation))

    def picked(self, rows: object) -> BoxWay:
        """Some of them."""
        axis, angle, parts = self.turn
        turn = Turn(axis[rows], angle[rows], tuple(part[rows] for part in parts))  # type: ignore[call-overload]
        return BoxWay(self.start[rows], self.end[rows], turn)

    def at(self, time: Floats) -> Obb:
        """The boxes at `time` (...) in [0, 1]."""
        start, end, turned = self.start, self.end, self.turn.at(time)
        # At the ends, what was given rather than what the turn makes of it.
        turned = np.where((time == 1)[..., None, None], end.rotation, turned)
        turned = np.where((time == 0)[..., None, None], start.rotation, turned)
        return Obb.trusted(
            _mixed(start.center, end.center, time[..., None]),
            _mixed(start.half_extents, end.half_extents, time[..., None]),
            turned,
        )

    def speed_along(self, direction: Floats, now: Obb) -> Floats:
        """How fast the farthest corner of `now`, the boxes at a time, goes along `direction` (..., 3)."""
        seen = (direction[..., None] * now.rotation).sum(axis=-2)
        corner = transform_vectors(now.rotation, np.copysign(now.half_extents, seen))
        velocity = self.end.center - self.start.center
        velocity = velocity + cross(self.turn.axis * self.turn.angle[..., None], corner)
        growing = dot(np.abs(seen), self.end.half_extents - self.start.half_extents)
        return np.asarray(dot(direction, velocity) + growing)


def turned_angle(start: Obb, end: Obb) -> Floats:
    """The angle (...) in [0, pi] between the rotations of boxes, to about 1e-8."""
    cosine = 0.5 * (dot(start.rotation, end.rotation).sum(axis=-1) - 1)
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))


def axis_and_angle(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """The shorter turn from one rotation (..., 3, 3) to another: unit axis (..., 3), angle (...) in [0, pi].

    +X where nothing turns; of the two axes of half a turn, a stated one.
    """
    before, after = np.swapaxes(start, -1, -2), np.swapaxes(end, -1, -2)
    # Columns that turned about w by a: the cross products of before and after add up to 2 sin(a) w.
    skew = 0.5 * cross(before, after).sum(axis=-2)
    cosine = 0.5 * (dot(before, after).sum(axis=-1) - 1)
    angle = np.arctan2(length(skew), cosine)
    along = skew
    wide = cosine < 0
    if wide.any():
        # Beyond a right angle the axis shows better in the symmetric part, along it (1 - cosine) w w^T.
        rotation = np.einsum("...ij,...kj->...ik", end[wide], start[wide])
        symmetric = 0.5 * (rotation + np.swapaxes(rotation, -1, -2)) - cosine[wide][:, None, None] * np.eye(3)
        diagonal = np.diagonal(symmetric, axis1=-2, axis2=-1)
        column = np.take_along_axis(symmetric, diagonal.argmax(axis=-1)[:, None, None], axis=-1)[..., 0]
        along = skew.copy()
        along[wide] = np.where((dot(column, skew[wide]) < 0)[:, None], -column, column)
    return unit(along), np.where(angle < _STILL, 0.0, angle)


def _mixed(start: Floats, end: Floats, t: Floats) -> Floats:
    result: Floats = start * (1 - t) + end * t
    return result
