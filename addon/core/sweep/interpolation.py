"""Interpolation of shapes between two samples: linear, and along the shorter arc for rotations.

Rotations turn about one axis at a constant rate, as slerp of quaternions does (Shoemake 1985); they are
evaluated by Rodrigues' formula.

Also the results of sweeps: the first impact of two moving shapes, and how certain its time is.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.meshes import Meshes, interpolated_meshes
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import (
    Floats,
    Ints,
    Table,
    as_floats,
    cross,
    dot,
    length,
    normalized,
    perpendicular,
    transform_vectors,
)
from ..numeric.batch import common_batch
from ..numeric.tolerances import SUM_ROUNDING
from ..shapes import Obb, Shape
from ..trees.sphere_tree import SphereTree

_S = TypeVar("_S", bound=Shape | SphereTree | TriangleMesh | Meshes)


def at(start: _S, end: _S, time: ArrayLike) -> _S:
    """Interpolate shapes between two samples.

    Centers, corners, radii, half extents and half lengths change linearly. Oriented boxes rotate about one
    axis at a constant rate along the shorter arc; for half a turn the axis is chosen by a fixed rule. The
    axes of capsules and cylinders turn in the same way. Corners of `Meshes` move in straight lines. A
    `TriangleMesh` is at rest, and returned as it is. Exact up to float64 rounding; equal to the samples at
    times 0 and 1.

    Parameters
    ----------
    start, end : shape, tree or mesh of one kind, batches that broadcast
        The shapes at times 0 and 1.
    time : (...) float
        Times in [0, 1]; broadcast with the batches.

    Returns
    -------
    shape : as `start`, batch (...)

    Raises
    ------
    InvalidShapeError
        For two kinds of shapes, two meshes that differ, and batches that do not broadcast.
    """
    t = time if type(time) is np.ndarray and time.dtype == np.float64 else as_floats(time, "time")
    # Reductions without Python code, because this is called for few times too. NaN fails both.
    low, high = (reduce.reduce(t, axis=None, initial=0.5) for reduce in (np.minimum, np.maximum))
    if not (low >= 0 and high <= 1):
        raise InvalidShapeError("time: must be from 0 to 1")
    if type(start) is not type(end):
        raise InvalidShapeError(f"no motion from {type(start).__name__} to {type(end).__name__}")
    if isinstance(start, TriangleMesh):
        start.require_same(end)  # type: ignore[arg-type]
        return start
    common_batch("shapes and times", start.shape, end.shape, t.shape)
    if isinstance(start, Obb) and isinstance(end, Obb):
        return ObbMotion.between(start, end).at(t)  # type: ignore[return-value]
    if isinstance(start, Meshes):
        return interpolated_meshes(start, end, t)  # type: ignore[return-value, arg-type]
    fields = {}
    for name, tail in start.field_shapes.items():
        part = t.reshape(t.shape + (1,) * len(tail))
        # Exact at 0 and 1.
        fields[name] = getattr(start, name) * (1 - part) + getattr(end, name) * part
    if "axis" in fields:
        fields["axis"] = _axes_at(start.axis, end.axis, t)  # type: ignore[union-attr]
    return start._with_arrays(fields)  # type: ignore[return-value]


def _axes_at(start: Floats, end: Floats, time: Floats) -> Floats:
    """Turn unit vectors (..., 3) at a constant rate from `start` to `end`."""
    about, angle = arc(start, end)
    turned = np.asarray(angle * time)[..., None]
    axes: Floats = start * np.cos(turned) + cross(about, start) * np.sin(turned)
    axes = np.where((time == 1)[..., None], end, axes)
    return np.where((time == 0)[..., None], start, axes)


def rotated_onto(start: Floats, end: Floats) -> Floats:
    """Compute the rotations by the least angle that turn unit vectors to others. Exact up to rounding.

    start, end : (..., 3) float64. Unit vectors.
    Returns rotation : (..., 3, 3) float64. For half a turn, about an axis that is chosen by a fixed rule.
    """
    about, angle = arc(start, end)
    sine, cosine = np.sin(angle)[..., None, None], np.cos(angle)[..., None, None]
    # Columns of the second matrix are the cross products with the axes of coordinates.
    crossed = cross(about[..., None, :], np.eye(3)).swapaxes(-1, -2)
    rotation: Floats = cosine * np.eye(3) + sine * crossed
    return rotation + (1 - cosine) * about[..., :, None] * about[..., None, :]


def arc(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Compute axis and angle of the least rotations that turn unit vectors to others.

    start, end : (..., 3) float64. Unit vectors.
    Returns axis : (..., 3) float64. Unit vectors; for half a turn, perpendicular to `start` by a fixed
        rule.
    Returns angle : (...) float64. Radians in [0, pi].
    """
    normal = cross(start, end)
    sine = length(normal)
    about = np.where((sine > 0)[..., None], normalized(normal), perpendicular(start))
    return about, np.arctan2(sine, dot(start, end))


class RotationPath(Table):
    """Rotations about one axis at a constant rate, beginning at a given rotation.

    axis : (..., 3) float64. Unit vectors in world space; zero where nothing in the batch rotates.
    angle : (...) float64. Radians in [0, pi] over the whole interval.
    constant, sine, cosine : (..., 3, 3) float64. Terms of the rotation at t: constant + sin(angle t) sine +
        cos(angle t) cosine.
    """

    axis: Floats
    angle: Floats
    constant: Floats
    sine: Floats
    cosine: Floats

    @classmethod
    def between(cls, start: Floats, end: Floats) -> RotationPath:
        """Shorter arc from one rotation (..., 3, 3) to another; for half a turn, one axis by a fixed rule."""
        start, end = np.broadcast_arrays(start, end)
        if np.array_equal(start, end):
            still = np.zeros_like(start)
            return cls(still[..., 0], still[..., 0, 0], start, still, still)
        axis, angle = rotation_axis_angle(start, end)
        columns = np.swapaxes(start, -1, -2)
        about = axis[..., None, :]
        constant = about * dot(np.broadcast_to(about, columns.shape), columns)[..., None]
        # Without rotation the constant term is the whole rotation.
        constant = np.where((angle == 0)[..., None, None], columns, constant)
        sine = cross(np.broadcast_to(about, columns.shape), columns)
        terms = (constant, sine, columns - constant)
        return cls(axis, angle, *(np.swapaxes(term, -1, -2) for term in terms))

    def at(self, time: Floats) -> Floats:
        """Rotations (..., 3, 3) at `time` (...), by Rodrigues' formula."""
        angle = np.asarray(self.angle * time)[..., None, None]
        return self.constant + np.sin(angle) * self.sine + np.cos(angle) * self.cosine


class ObbMotion(Table):
    """Oriented boxes (...) in motion from `start` to `end`.

    start, end : Obb, batch (...). The boxes at times 0 and 1.
    rotation_path : RotationPath, batch (...). Their rotations in between.
    """

    start: Obb
    end: Obb
    rotation_path: RotationPath

    @classmethod
    def between(cls, start: Obb, end: Obb) -> ObbMotion:
        """Motion of boxes, as in `at`."""
        return cls(start, end, RotationPath.between(start.rotation, end.rotation))

    def at(self, time: Floats) -> Obb:
        """Boxes at `time` (...) in [0, 1]."""
        start, end, rotation = self.start, self.end, self.rotation_path.at(time)
        # The samples at the ends, because the path reproduces them only up to rounding.
        rotation = np.where((time == 1)[..., None, None], end.rotation, rotation)
        rotation = np.where((time == 0)[..., None, None], start.rotation, rotation)
        begins, ends = (start.center, start.half_extents), (end.center, end.half_extents)
        part = time[..., None]
        center, half = (first * (1 - part) + last * part for first, last in zip(begins, ends, strict=True))
        return Obb.unchecked(center, half, rotation)

    def speed_along(self, direction: Floats, now: Obb) -> Floats:
        """Velocity (...) along `direction` (..., 3) of the farthest corner of `now`, the boxes at a time."""
        local = (direction[..., None] * now.rotation).sum(axis=-2)
        corner = transform_vectors(now.rotation, np.copysign(now.half_extents, local))
        velocity = self.end.center - self.start.center
        velocity = velocity + cross(self.rotation_path.axis * self.rotation_path.angle[..., None], corner)
        growing = dot(np.abs(local), self.end.half_extents - self.start.half_extents)
        return np.asarray(dot(direction, velocity) + growing)


def rotation_angle(start: Obb, end: Obb) -> Floats:
    """Compute the angle between the rotations of boxes.

    start, end : Obb, batch (...). Boxes at both ends of an interval.
    Returns angle : (...) float64. In [0, pi], accurate to about 1e-8 radians.
    """
    cosine = 0.5 * (dot(start.rotation, end.rotation).sum(axis=-1) - 1)
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))


def rotation_axis_angle(start: Floats, end: Floats) -> tuple[Floats, Floats]:
    """Axis and angle of the shorter arc from one rotation to another.

    start, end : (..., 3, 3) float64. Rotation matrices.
    Returns axis : (..., 3) float64. Unit vectors in world space; +X without rotation. Of the two axes of
        half a turn, one by a fixed rule.
    Returns angle : (...) float64. Radians in [0, pi].
    """
    before, after = np.swapaxes(start, -1, -2), np.swapaxes(end, -1, -2)
    # For a rotation by a about w, the cross products of the columns before and after add up to 2 sin(a) w.
    skew = 0.5 * cross(before, after).sum(axis=-2)
    cosine = 0.5 * (dot(before, after).sum(axis=-1) - 1)
    angle = np.arctan2(length(skew), cosine)
    along = skew
    wide = cosine < 0
    if wide.any():
        # Beyond a right angle the axis is more accurate from the symmetric part, (1 - cosine) w w^T.
        rotation = np.einsum("...ij,...kj->...ik", end[wide], start[wide])
        symmetric = 0.5 * (rotation + np.swapaxes(rotation, -1, -2)) - cosine[wide][:, None, None] * np.eye(3)
        diagonal = np.diagonal(symmetric, axis1=-2, axis2=-1)
        column = np.take_along_axis(symmetric, diagonal.argmax(axis=-1)[:, None, None], axis=-1)[..., 0]
        along = skew.copy()
        along[wide] = np.where((dot(column, skew[wide]) < 0)[:, None], -column, column)
    return normalized(along), np.where(angle < SUM_ROUNDING, 0.0, angle)


class ImpactStatus(IntEnum):
    """Certainty of a time of impact.

    Attributes
    ----------
    EXACT
        Exact up to float64 rounding. A miss is EXACT too.
    CONSERVATIVE
        Never late. Early by no more than the time in which a gap of the size of rounding errors closes.
    UNRESOLVED
        The step limit was reached. The shapes are disjoint before the given time and may be in contact from
        it.
    """

    EXACT = 0
    CONSERVATIVE = 1
    UNRESOLVED = 2


class Impact(NamedTuple):
    """First impact of two moving shapes, in the space and unit of the shapes.

    Attributes
    ----------
    time : (...) float64
        Time in [0, 1]; NaN for never.
    point : (..., 3) float64
        Point of contact; NaN for never.
    normal : (..., 3) float64
        Unit vector from the first shape to the second; NaN for never.
    status : (...) int64
        Values of ImpactStatus; EXACT for never.
    """

    time: Floats
    point: Floats
    normal: Floats
    status: Ints
