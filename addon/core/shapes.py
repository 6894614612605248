"""Bounding volumes: frozen, batched over leading axes, float64.

A single shape is a batch of shape (); ``Sphere`` with ``center`` (n, 3) and ``radius`` (n,) is n spheres.
Lengths are in the caller's unit, in one space that the caller keeps track of. The arrays of a shape are
read-only, so that a shape can be shared without being copied.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, as_floats, length, transform_points
from .errors import InvalidShapeError


@dataclass(frozen=True, eq=False)
class Sphere:
    """Spheres: `center` (..., 3) and `radius` (...), radius >= 0.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    center: Floats
    radius: Floats

    def __init__(self, center: ArrayLike, radius: ArrayLike) -> None:
        centers = as_floats(center, "sphere center", (3,))
        radii = as_floats(radius, "sphere radius")
        centers, radii = _broadcast("sphere", centers, radii[..., None])
        radii = radii[..., 0]
        if (radii < 0).any():
            raise InvalidShapeError(f"sphere radius: element {_first(radii < 0)} is negative")
        _freeze(self, center=centers, radius=radii)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch axes."""
        return self.radius.shape

    def __getitem__(self, index: Any) -> Sphere:
        """The spheres at `index` of the batch axes."""
        return _unchecked_sphere(self.center[index], self.radius[index])

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the sphere; (..., 3) broadcast against the batch."""
        # Not by squares: a radius that is the distance of a point, rounded, must hold that point.
        return np.asarray(length(as_floats(points, "points", (3,)) - self.center) <= self.radius)

    def padded(self, amount: ArrayLike) -> Sphere:
        """Spheres grown by `amount` (negative shrinks; below zero is an InvalidShapeError)."""
        return Sphere(self.center, self.radius + as_floats(amount, "padding"))

    def merged(self, other: Sphere) -> Sphere:
        """The smallest sphere around two, pair by pair. Conservative: rounded up by a few float64 ulps."""
        offset = other.center - self.center
        distance = length(offset)
        radius = np.maximum(
            (distance + self.radius + other.radius) / 2, np.maximum(self.radius, other.radius)
        )
        along = np.divide(radius - self.radius, distance, out=np.zeros_like(distance), where=distance > 0)
        along = np.where(distance + self.radius <= other.radius, 1.0, np.minimum(along, 1.0))
        center = self.center + offset * along[..., None]
        # The centre was rounded: make the radius reach both spheres from where it really is.
        reach = np.maximum(
            length(self.center - center) + self.radius, length(other.center - center) + other.radius
        )
        return Sphere(center, _rounded_up(np.where(distance > 0, reach, radius)))

    def transformed(self, matrix: ArrayLike) -> Sphere:
        """Spheres that enclose the images of these under one affine 4x4 matrix.

        Conservative under any scale and shear: the radius grows by the largest singular value, since the
        longest column understates the stretch of a sheared matrix.
        """
        m = as_floats(matrix, "matrix", (4, 4))
        stretch = _largest_singular_value(m[:3, :3])
        return Sphere(transform_points(m, self.center), self.radius * stretch)

    def aabb(self) -> Aabb:
        """The boxes around the spheres."""
        return Aabb(self.center - self.radius[..., None], self.center + self.radius[..., None])


@dataclass(frozen=True, eq=False)
class Aabb:
    """Axis-aligned boxes: `min` and `max` (..., 3), min <= max on every axis.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    min: Floats
    max: Floats

    def __init__(self, min: ArrayLike, max: ArrayLike) -> None:
        low = as_floats(min, "box min", (3,))
        high = as_floats(max, "box max", (3,))
        low, high = _broadcast("box", low, high)
        if (low > high).any():
            raise InvalidShapeError(f"box: element {_first((low > high).any(axis=-1))} has min > max")
        _freeze(self, min=low, max=high)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch axes."""
        return self.min.shape[:-1]

    @property
    def center(self) -> Floats:
        """(..., 3) middle of the boxes, free of overflow."""
        center: Floats = self.min * 0.5 + self.max * 0.5
        return center

    @property
    def half_extents(self) -> Floats:
        """(..., 3) half the size on each axis."""
        half: Floats = self.max * 0.5 - self.min * 0.5
        return half

    def __getitem__(self, index: Any) -> Aabb:
        """The boxes at `index` of the batch axes."""
        return _unchecked_aabb(self.min[index], self.max[index])

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the box; (..., 3) broadcast against the batch."""
        p = as_floats(points, "points", (3,))
        return np.asarray(((p >= self.min) & (p <= self.max)).all(axis=-1))

    def padded(self, amount: ArrayLike) -> Aabb:
        """Boxes grown by `amount` on every side (shrinking past zero is an InvalidShapeError)."""
        pad = as_floats(amount, "padding")[..., None]
        return Aabb(self.min - pad, self.max + pad)

    def merged(self, other: Aabb) -> Aabb:
        """The smallest box around two, pair by pair. Exact."""
        return Aabb(np.minimum(self.min, other.min), np.maximum(self.max, other.max))

    def transformed(self, matrix: ArrayLike) -> Aabb:
        """Boxes around the images of these under one affine 4x4 matrix.

        Tight around the eight moved corners, to float64 rounding (Arvo's absolute matrix).
        """
        m = as_floats(matrix, "matrix", (4, 4))
        center = transform_points(m, self.center)
        linear = np.eye(4)
        linear[:3, :3] = np.abs(m[:3, :3])
        half = transform_points(linear, self.half_extents)
        return Aabb(center - half, center + half)

    def corners(self) -> Floats:
        """(..., 8, 3) the corners; corner i takes max on axis k where bit k of i is set."""
        take_max = (np.arange(8)[:, None] >> np.arange(3)) & 1
        return np.where(take_max == 1, self.max[..., None, :], self.min[..., None, :])


Shape = Sphere | Aabb


def stacked(shapes: Iterable[Shape]) -> Shape:
    """Single shapes of one kind as a batch (n,). Raises InvalidShapeError when empty or of mixed kinds."""
    listed = list(shapes)
    if listed and all(isinstance(shape, Sphere) for shape in listed):
        spheres = [shape for shape in listed if isinstance(shape, Sphere)]
        return Sphere([s.center for s in spheres], [s.radius for s in spheres])
    if listed and all(isinstance(shape, Aabb) for shape in listed):
        boxes = [shape for shape in listed if isinstance(shape, Aabb)]
        return Aabb([b.min for b in boxes], [b.max for b in boxes])
    raise InvalidShapeError("only shapes of one kind, and at least one, make a batch")


def _broadcast(what: str, first: Floats, second: Floats) -> tuple[Floats, Floats]:
    leading = first.shape[:-1], second.shape[:-1]
    try:
        batch = np.broadcast_shapes(*leading)
    except ValueError:
        raise InvalidShapeError(f"{what}: batches {leading[0]} and {leading[1]} do not broadcast") from None
    return (
        np.broadcast_to(first, (*batch, first.shape[-1])),
        np.broadcast_to(second, (*batch, second.shape[-1])),
    )


def _freeze(shape: Shape, **arrays: Floats) -> None:
    """Set the fields of a frozen dataclass to read-only views."""
    for name, array in arrays.items():
        view = array.view()
        view.flags.writeable = False
        object.__setattr__(shape, name, view)


def _unchecked_sphere(center: Floats, radius: Floats) -> Sphere:
    """A sphere from arrays that were validated before: slices need no second look."""
    sphere = object.__new__(Sphere)
    _freeze(sphere, center=np.asarray(center), radius=np.asarray(radius))
    return sphere


def _unchecked_aabb(low: Floats, high: Floats) -> Aabb:
    box = object.__new__(Aabb)
    _freeze(box, min=np.asarray(low), max=np.asarray(high))
    return box


def _first(mask: ArrayLike) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(np.asarray(mask))[0])


def _rounded_up(lengths: Floats) -> Floats:
    """Lengths raised by four ulps, which covers the rounding of one distance and one sum."""
    result: Floats = lengths * (1 + 4 * np.finfo(np.float64).eps)
    return result


def _largest_singular_value(linear: Floats) -> Floats:
    """Largest stretch of a 3x3 matrix, rounded up past what the factorisation may lose."""
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    result: Floats = singular * (1 + 16 * np.finfo(np.float64).eps)
    return result
