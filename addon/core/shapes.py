"""Bounding volumes and what they are tested against: frozen, batched over leading axes, float64.

A single shape is a batch of shape (); ``Sphere`` with ``center`` (n, 3) and ``radius`` (n,) is n spheres.
Lengths are in the caller's unit, in one space that the caller keeps track of. The arrays of a shape are
read-only views, so that a shape can be shared without being copied. Matrices are affine, (..., 4, 4), for
column vectors.

What a method is given broadcasts against the shape's batch. What does not, or is not finite, is an
InvalidShapeError or a NonFiniteGeometryError that names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import (
    Bools,
    Floats,
    Ints,
    as_floats,
    cross,
    dot,
    length,
    perpendicular,
    transform_points,
    transform_vectors,
    unit,
)
from .batch import Batched, broadcast_fields, common_batch, first_index
from .errors import InvalidShapeError

_ROTATION_TOLERANCE = 1e-4
"""How far from orthonormal a rotation may be: what single precision and long chains of matrices leave."""
_LOSS = 8 * float(np.finfo(np.float64).eps)
"""What a few products and sums may lose, of the largest of their terms."""


@dataclass(frozen=True, eq=False)
class Sphere(Batched):
    """Spheres: `center` (..., 3) and `radius` (...), radius >= 0.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    center: Floats
    radius: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"center": (3,), "radius": ()}

    def __init__(self, center: ArrayLike, radius: ArrayLike) -> None:
        centers = as_floats(center, "sphere center", (3,))
        radii = as_floats(radius, "sphere radius")
        centers, radii = broadcast_fields("sphere", [(centers, 1), (radii, 0)])
        if (radii < 0).any():
            raise InvalidShapeError(f"sphere radius: element {first_index(radii < 0)} is negative")
        self._freeze((centers, radii))

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the sphere; (..., 3) broadcast against the batch."""
        # Not by squares: a radius that is the distance of a point, rounded, must hold that point.
        return np.asarray(length(self._beside(points, "points", (3,)) - self.center) <= self.radius)

    def padded(self, amount: ArrayLike) -> Sphere:
        """Spheres grown by `amount` (negative shrinks; below zero is an InvalidShapeError)."""
        return Sphere(self.center, self.radius + self._beside(amount, "padding"))

    def merged(self, other: Sphere) -> Sphere:
        """The smallest sphere around two, pair by pair. Conservative: rounded up by a few float64 ulps."""
        common_batch("merged spheres", self.shape, other.shape)
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
        """Spheres that enclose the images of these under affine 4x4 matrices.

        Conservative under any scale and shear: the radius grows by the largest singular value, since the
        longest column understates the stretch of a sheared matrix. Rounding goes outward.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        stretch = _largest_singular_value(m[..., :3, :3])
        center, lost = _moved(m, self.center)
        return Sphere(center, self.radius * stretch + lost)

    def aabb(self) -> Aabb:
        """The boxes around the spheres, rounded outward by an ulp or two."""
        return _box_around(self.center, self.radius[..., None])


@dataclass(frozen=True, eq=False)
class Aabb(Batched):
    """Axis-aligned boxes: `min` and `max` (..., 3), min <= max on every axis.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    min: Floats
    max: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"min": (3,), "max": (3,)}

    def __init__(self, min: ArrayLike, max: ArrayLike) -> None:
        low = as_floats(min, "box min", (3,))
        high = as_floats(max, "box max", (3,))
        low, high = broadcast_fields("box", [(low, 1), (high, 1)])
        if (low > high).any():
            raise InvalidShapeError(f"box: element {first_index((low > high).any(axis=-1))} has min > max")
        self._freeze((low, high))

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

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the box; (..., 3) broadcast against the batch."""
        p = self._beside(points, "points", (3,))
        return np.asarray(((p >= self.min) & (p <= self.max)).all(axis=-1))

    def padded(self, amount: ArrayLike) -> Aabb:
        """Boxes grown by `amount` on every side (shrinking past zero is an InvalidShapeError)."""
        pad = self._beside(amount, "padding")[..., None]
        return Aabb(self.min - pad, self.max + pad)

    def merged(self, other: Aabb) -> Aabb:
        """The smallest box around two, pair by pair. Exact."""
        common_batch("merged boxes", self.shape, other.shape)
        return Aabb.trusted(np.minimum(self.min, other.min), np.maximum(self.max, other.max))

    def transformed(self, matrix: ArrayLike) -> Aabb:
        """Boxes around the images of these under affine 4x4 matrices.

        Tight around the eight moved corners (Arvo's absolute matrix), to rounding, which goes outward.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        center, lost = _moved(m, self.center)
        half = transform_vectors(np.abs(m[..., :3, :3]), self.half_extents)
        return _box_around(center, _with_slack(half, lost))

    def corners(self) -> Floats:
        """(..., 8, 3) the corners; corner i takes max on axis k where bit k of i is set."""
        return np.where(_TAKES_MAX, self.max[..., None, :], self.min[..., None, :])

    def oriented(self) -> Obb:
        """The same boxes as oriented ones, to about a rounding of their sides."""
        # Both faces are reached from the rounded centre, by the arithmetic that asks what a box contains.
        center = self.center
        half = np.maximum(self.max - center, center - self.min)
        return Obb.trusted(center, half, np.broadcast_to(np.eye(3), (*self.shape, 3, 3)))

    def aabb(self) -> Aabb:
        """Themselves: every shape has boxes around it."""
        return self


@dataclass(frozen=True, eq=False)
class Obb(Batched):
    """Oriented boxes: `center` (..., 3), `half_extents` (..., 3) >= 0, `rotation` (..., 3, 3).

    The columns of a rotation are the box's own axes; a point p lies inside where
    abs(rotation^T (p - center)) <= half_extents. A rotation given to single precision is made orthonormal to
    double. Raises InvalidShapeError for negative extents and for matrices that scale, shear or mirror,
    NonFiniteGeometryError for NaN and infinity, naming the element.
    """

    center: Floats
    half_extents: Floats
    rotation: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"center": (3,), "half_extents": (3,), "rotation": (3, 3)}

    def __init__(self, center: ArrayLike, half_extents: ArrayLike, rotation: ArrayLike) -> None:
        centers = as_floats(center, "box center", (3,))
        halves = as_floats(half_extents, "box half extents", (3,))
        turns = _orthonormal(as_floats(rotation, "box rotation", (3, 3)))
        centers, halves, turns = broadcast_fields("oriented box", [(centers, 1), (halves, 1), (turns, 2)])
        if (halves < 0).any():
            raise InvalidShapeError(f"box half extents: element {first_index(halves < 0)} is negative")
        self._freeze((centers, halves, turns))

    def to_local(self, points: Floats) -> Floats:
        """Points (..., 3), broadcast against the batch, as seen from the centre along the box's own axes."""
        return transform_vectors(np.swapaxes(self.rotation, -1, -2), points - self.center)

    def to_world(self, points: Floats) -> Floats:
        """The inverse of `to_local`."""
        result: Floats = self.center + transform_vectors(self.rotation, points)
        return result

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on the box; (..., 3) broadcast against the batch."""
        local = self.to_local(self._beside(points, "points", (3,)))
        return np.asarray((np.abs(local) <= self.half_extents).all(axis=-1))

    def padded(self, amount: ArrayLike) -> Obb:
        """Boxes grown by `amount` on every side (shrinking past zero is an InvalidShapeError)."""
        pad = self._beside(amount, "padding")[..., None]
        return Obb(self.center, self.half_extents + pad, self.rotation)

    def merged(self, other: Obb) -> Obb:
        """Boxes around two, pair by pair, with the axes of the first. Conservative: others may be smaller."""
        batch = common_batch("merged boxes", self.shape, other.shape)
        turned = np.swapaxes(self.rotation, -1, -2)[..., None, :, :]
        corners = transform_vectors(turned, other.corners() - self.center[..., None, :])
        low = np.minimum(-self.half_extents, corners.min(axis=-2))
        high = np.maximum(self.half_extents, corners.max(axis=-2))
        center = self.to_world(low * 0.5 + high * 0.5)
        half = _with_slack(high * 0.5 - low * 0.5, _LOSS * np.abs(center).max(axis=-1))
        return Obb(center, half, np.broadcast_to(self.rotation, (*batch, 3, 3)))

    def transformed(self, matrix: ArrayLike) -> Obb:
        """Boxes around the images of these under affine 4x4 matrices.

        Tight to rounding, which goes outward, where the images are boxes: rigid motion, and scale that is
        uniform or along the box's own axes. Under shear conservative: the longest side keeps its direction.
        """
        m = self._beside(matrix, "matrix", (4, 4))
        edges = np.einsum("...ij,...jk->...ik", m[..., :3, :3], self.rotation)
        sides = edges * self.half_extents[..., None, :]
        turned = _axes_of(edges, length(np.swapaxes(sides, -1, -2)))
        half = np.abs(np.einsum("...ji,...jk->...ik", turned, sides)).sum(axis=-1)
        center, lost = _moved(m, self.center)
        return Obb(center, _with_slack(half, lost), turned)

    def aabb(self) -> Aabb:
        """The boxes around the boxes, rounded outward by a few ulps."""
        return _box_around(
            self.center, _rounded_up(transform_vectors(np.abs(self.rotation), self.half_extents))
        )

    def corners(self) -> Floats:
        """(..., 8, 3) the corners; corner i is on the positive side of axis k where bit k of i is set."""
        local = np.where(_TAKES_MAX, self.half_extents[..., None, :], -self.half_extents[..., None, :])
        corners: Floats = self.center[..., None, :] + transform_vectors(self.rotation[..., None, :, :], local)
        return corners

    def oriented(self) -> Obb:
        """Themselves: every box can be had as an oriented one."""
        return self


@dataclass(frozen=True, eq=False)
class Segment(Batched):
    """Straight lines from `start` to `end`, (..., 3) each; a segment of length zero is a point.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    start: Floats
    end: Floats
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"start": (3,), "end": (3,)}

    def __init__(self, start: ArrayLike, end: ArrayLike) -> None:
        starts, ends = as_floats(start, "segment start", (3,)), as_floats(end, "segment end", (3,))
        self._freeze(tuple(broadcast_fields("segment", [(starts, 1), (ends, 1)])))

    def transformed(self, matrix: ArrayLike) -> Segment:
        """Segments between the images of the ends under affine 4x4 matrices."""
        m = self._beside(matrix, "matrix", (4, 4))
        return Segment(transform_points(m, self.start), transform_points(m, self.end))

    def aabb(self) -> Aabb:
        """The boxes around the segments. Exact."""
        return Aabb.trusted(np.minimum(self.start, self.end), np.maximum(self.start, self.end))


@dataclass(frozen=True, eq=False)
class Triangle(Batched):
    """Triangles with corners `a`, `b`, `c`, (..., 3) each; they may have shrunk to a segment or a point.

    A one-sided triangle is the surface of something solid. Its front is the side from which a, b, c run
    counter-clockwise, and a sphere whose centre is behind it does not collide with it: otherwise a sphere
    that lies on a box near an edge also meets the inside of the next face, and is pushed along the top. A
    triangle without area has no sides and is two-sided.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
    """

    a: Floats
    b: Floats
    c: Floats
    one_sided: bool = False
    tails: ClassVar[dict[str, tuple[int, ...]]] = {"a": (3,), "b": (3,), "c": (3,)}

    def __init__(self, a: ArrayLike, b: ArrayLike, c: ArrayLike, one_sided: bool = False) -> None:
        corners = [
            (as_floats(corner, f"triangle corner {name}", (3,)), 1)
            for name, corner in zip("abc", (a, b, c), strict=True)
        ]
        self._freeze(tuple(broadcast_fields("triangle", corners)))
        object.__setattr__(self, "one_sided", bool(one_sided))

    @property
    def normal(self) -> Floats:
        """(..., 3) unit vectors towards the front; zero where a triangle has no area."""
        # Sides of unit size: the product of two short ones would underflow.
        first, second = self.b - self.a, self.c - self.a
        largest = np.maximum(np.abs(first).max(axis=-1), np.abs(second).max(axis=-1))[..., None]
        largest = np.where(largest > 0, largest, 1.0)
        normal = cross(first / largest, second / largest)
        return np.where(dot(normal, normal)[..., None] > 0, unit(normal), 0.0)

    def transformed(self, matrix: ArrayLike) -> Triangle:
        """Triangles between the images of the corners under affine 4x4 matrices; mirrors keep the front."""
        m = self._beside(matrix, "matrix", (4, 4))
        a, b, c = (transform_points(m, corner) for corner in (self.a, self.b, self.c))
        if self.one_sided:
            # The sign alone: the determinant over- or underflows long before the coordinates do.
            mirrored = np.asarray(np.linalg.slogdet(m[..., :3, :3])[0] < 0)[..., None]
            b, c = np.where(mirrored, c, b), np.where(mirrored, b, c)
        return Triangle(a, b, c, self.one_sided)

    def aabb(self) -> Aabb:
        """The boxes around the triangles. Exact."""
        low, high = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        return Aabb.trusted(np.minimum(low, self.c), np.maximum(high, self.c))

    def _alike(self, arrays: dict[str, Any]) -> Triangle:
        alike = Triangle.trusted(*arrays.values())
        object.__setattr__(alike, "one_sided", self.one_sided)
        return alike


Shape: TypeAlias = Sphere | Aabb | Obb | Segment | Triangle
"""Any single kind of shape."""

Bound: TypeAlias = Sphere | Aabb | Obb
"""The kinds that enclose a volume, and can be padded and merged."""


def joined(*shapes: Shape, axis: int = 0) -> Shape:
    """Batches of one kind, one or more, one after the other along a batch axis >= 0."""
    columns = ([getattr(shape, name) for shape in shapes] for name in shapes[0].tails)
    return type(shapes[0]).trusted(*(np.concatenate(column, axis=axis) for column in columns))


def gathered(parts: Iterable[tuple[Shape, Ints]]) -> Shape:
    """Some of each of several batches (n,) of one kind, as one batch."""
    listed = list(parts)
    kind = listed[0][0]
    columns = ([getattr(shape, name)[rows] for shape, rows in listed] for name in kind.tails)
    return type(kind).trusted(*map(np.concatenate, columns))


def stacked(shapes: Iterable[Shape]) -> Shape:
    """Shapes of one kind and one batch as a batch (n, ...): exactly the same numbers.

    Raises InvalidShapeError when there are none, or of mixed kinds, sides or batches.
    """
    listed = list(shapes)
    kinds = {(type(shape), shape.shape, getattr(shape, "one_sided", None)) for shape in listed}
    if len(kinds) != 1:
        raise InvalidShapeError("only shapes of one kind and one batch, and at least one, make a batch")
    arrays = {name: np.stack([getattr(shape, name) for shape in listed]) for name in listed[0].tails}
    return listed[0]._alike(arrays)


_TAKES_MAX = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool)


def _orthonormal(rotation: Floats) -> Floats:
    """Rotations (..., 3, 3), orthonormal to single precision or better, made so to double precision."""
    identity = np.eye(3)
    gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
    deviation = np.abs(gram - identity).max(axis=(-2, -1))
    skewed = ~(deviation <= _ROTATION_TOLERANCE)
    if skewed.any():
        raise InvalidShapeError(
            f"box rotation: element {first_index(skewed)} is not a rotation, its columns are not of length 1"
            " and at right angles"
        )
    mirrored = dot(cross(rotation[..., 0], rotation[..., 1]), rotation[..., 2]) < 0
    if mirrored.any():
        raise InvalidShapeError(f"box rotation: element {first_index(mirrored)} mirrors")
    # Newton's iteration for the nearest orthogonal matrix: the deviation is squared each time.
    for _ in range(2):
        if not (deviation > 4 * np.finfo(np.float64).eps).any():
            break
        rotation = np.einsum("...ij,...jk->...ik", rotation, 1.5 * identity - 0.5 * gram)
        gram = np.einsum("...ji,...jk->...ik", rotation, rotation)
        deviation = np.abs(gram - identity).max(axis=(-2, -1))
    return rotation


def _axes_of(edges: Floats, importance: Floats) -> Floats:
    """Rotations (..., 3, 3) whose columns follow those of `edges`, the more important ones more closely.

    The direction of the most important column is kept, the next gives up what it has along that one. Columns
    come back in their own places; a flat image gets axes that serve.
    """
    order = np.argsort(-importance, axis=-1, kind="stable")
    first, second, third = np.moveaxis(np.take_along_axis(edges, order[..., None, :], axis=-1), -1, 0)
    x = unit(first)
    in_plane = second - x * dot(x, second)[..., None]
    # What rounding leaves of parallel columns says nothing about a direction.
    flat = length(in_plane) <= 1e-12 * length(second)
    y = np.where(flat[..., None], perpendicular(x), unit(in_plane))
    # Once more, as the first subtraction may have cancelled.
    y = unit(y - x * dot(x, y)[..., None])
    z = cross(x, y)
    z = np.where((dot(z, third) < 0)[..., None], -z, z)
    axes = np.empty(edges.shape)
    np.put_along_axis(axes, np.broadcast_to(order[..., None, :], edges.shape), np.stack([x, y, z], -1), -1)
    # Any three axes make the same box as their opposites: a mirror is undone on the last one.
    mirrored = dot(cross(axes[..., 0], axes[..., 1]), axes[..., 2]) < 0
    axes[..., 2] = np.where(mirrored[..., None], -axes[..., 2], axes[..., 2])
    return axes


def _rounded_up(lengths: Floats) -> Floats:
    """Lengths raised by four ulps, which covers the rounding of one distance and one sum."""
    result: Floats = lengths * (1 + 4 * np.finfo(np.float64).eps)
    return result


def _moved(matrix: Floats, centers: Floats) -> tuple[Floats, Floats]:
    """Centres under affine matrices, and (...) how far rounding may have put them off, at most."""
    terms = transform_points(np.abs(matrix), np.abs(centers))
    return transform_points(matrix, centers), _LOSS * terms.max(axis=-1)


def _with_slack(half: Floats, lost: Floats) -> Floats:
    """Half extents raised by what was lost of the centre, and in sums over the box."""
    result: Floats = half + (lost + _LOSS * half.max(axis=-1))[..., None]
    return result


def _box_around(center: Floats, half: Floats) -> Aabb:
    """The boxes `center` - `half` to `center` + `half`, with what these sums may lose and little more."""
    low, high = center - half, center + half
    # A sum loses up to half an ulp. Sums too small to have ulps are exact.
    ulp = float(np.finfo(np.float64).eps)
    return Aabb.trusted(low - ulp * np.abs(low), high + ulp * np.abs(high))


def _largest_singular_value(linear: Floats) -> Floats:
    """Largest stretch of a 3x3 matrix, rounded up past what the factorisation may lose."""
    singular = np.linalg.svd(linear, compute_uv=False)[..., 0]
    result: Floats = singular * (1 + 16 * np.finfo(np.float64).eps)
    return result
