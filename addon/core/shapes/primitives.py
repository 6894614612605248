"""Segments and triangles, which volumes are tested against, and the closest points on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..numeric.arguments import as_flag
from ..numeric.arrays import Floats, cross, dot, length, normalized, transform_points, transform_vectors
from ..numeric.batch import Batched
from .boxes import Aabb


@dataclass(frozen=True, eq=False)
class Segment(Batched):
    """Line segments; a segment of length zero is a point.

    Attributes
    ----------
    start, end : (..., 3) float64

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    start: Floats
    end: Floats
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {"start": (3,), "end": (3,)}

    def __init__(self, start: ArrayLike, end: ArrayLike) -> None:
        self._fill("segment", start, end)

    def transformed(self, matrix: ArrayLike) -> Segment:
        """Return the images of the segments under affine maps (..., 4, 4). Exact up to float64 rounding."""
        m = self._broadcastable(matrix, "matrix", (4, 4))
        with np.errstate(over="ignore"):  # the constructor finds infinity
            return Segment(transform_points(m, self.start), transform_points(m, self.end))

    def aabb(self) -> Aabb:
        """Return the boxes around the segments. Exact."""
        return Aabb.unchecked(np.minimum(self.start, self.end), np.maximum(self.start, self.end))


@dataclass(frozen=True, eq=False)
class Triangle(Batched):
    """Triangles; degenerate ones are segments or points.

    A one-sided triangle is part of the surface of a solid. Its front is the side from which a, b, c run
    counter-clockwise. A sphere with its center behind it does not collide with it: otherwise, a sphere that
    rests on a box near an edge also touches the inside of the next face, and is pushed along the top. A
    triangle without area has no sides and is two-sided.

    Attributes
    ----------
    a, b, c : (..., 3) float64
        The corners.
    one_sided : bool
        Of all triangles of the batch.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        With the index of the first bad element.
    """

    a: Floats
    b: Floats
    c: Floats
    one_sided: bool = False
    field_shapes: ClassVar[dict[str, tuple[int, ...]]] = {"a": (3,), "b": (3,), "c": (3,)}

    def __init__(self, a: ArrayLike, b: ArrayLike, c: ArrayLike, one_sided: bool = False) -> None:
        self._fill("triangle corner", a, b, c)
        object.__setattr__(self, "one_sided", as_flag(one_sided, "one_sided"))

    @property
    def normal(self) -> Floats:
        """Unit normals (..., 3) on the front side; zero where a triangle has no area."""
        # Scale the sides to unit size, because the product of two short ones would underflow.
        first, second = self.b - self.a, self.c - self.a
        largest = np.maximum(np.abs(first).max(axis=-1), np.abs(second).max(axis=-1))[..., None]
        largest = np.where(largest > 0, largest, 1.0)
        normal = cross(first / largest, second / largest)
        return np.where(dot(normal, normal)[..., None] > 0, normalized(normal), 0.0)

    def transformed(self, matrix: ArrayLike) -> Triangle:
        """Return the images of the triangles under affine maps (..., 4, 4). Exact up to float64 rounding.

        The front of a one-sided triangle stays its front under a matrix that mirrors.
        """
        m = self._broadcastable(matrix, "matrix", (4, 4))
        a, b, c = (transform_points(m, corner) for corner in (self.a, self.b, self.c))
        if self.one_sided:
            # Take the sign by slogdet, because the determinant over- or underflows long before they do.
            mirrored = np.asarray(np.linalg.slogdet(m[..., :3, :3])[0] < 0)[..., None]
            b, c = np.where(mirrored, c, b), np.where(mirrored, b, c)
        return Triangle(a, b, c, self.one_sided)

    def aabb(self) -> Aabb:
        """Return the boxes around the triangles. Exact."""
        low, high = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        return Aabb.unchecked(np.minimum(low, self.c), np.maximum(high, self.c))


def closest_on_segment(points: Floats, segment: Segment) -> Floats:
    """Return the closest points (..., 3) on segments (...) to points (..., 3), which broadcast.

    Exact up to float64 rounding; both ends are returned exactly.
    """
    along, offset = segment.end - segment.start, points - segment.start
    squared = dot(along, along)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = dot(offset, along) / squared
    # A segment shorter than 1e-160 counts as a point, because its square underflows.
    t = np.where(np.isfinite(t), np.clip(t, 0, 1), 0.0)[..., None]
    # Measure from the nearer end, so that both ends are returned exactly.
    return np.where(t <= 0.5, segment.start + t * along, segment.end - (1 - t) * along)


def closest_on_triangle(points: Floats, triangle: Triangle) -> Floats:
    """Return the closest points (..., 3) on triangles (...) to points (..., 3), which broadcast.

    On the face or on an edge. Exact up to float64 rounding.
    """
    corners = triangle.a, triangle.b, triangle.c
    normal = triangle.normal
    # Twice the signed areas that the point spans with each side, seen along the normal: where none is
    # negative, the point is over the face.
    areas = []
    nearest, distance = triangle.a, np.array(np.inf)
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        areas.append(dot(cross(end - start, points - start), normal))
        on_edge = closest_on_segment(points, Segment.unchecked(start, end))
        to_edge = length(points - on_edge)
        nearest = np.where((to_edge < distance)[..., None], on_edge, nearest)
        distance = np.minimum(to_edge, distance)
    offset = points - nearest
    height = dot(offset, normal)[..., None] * normal
    # A point over a triangle is no farther from its sides than the area over the longest side. Where it seems
    # farther, the normal of a thin triangle is wrong by rounding: use the edge, which is nearly as close.
    box = triangle.aabb()
    reach = length(offset - height) * (box.max - box.min).max(axis=-1)
    over_face = (np.min(areas, axis=0) >= 0) & (reach < sum(areas))
    return np.where(over_face[..., None], points - height, nearest)


def triangle_corners(triangles: Triangle) -> Floats:
    """Return the corners (..., 3, 3) of triangles (...), one in each row. Exact."""
    return np.stack([triangles.a, triangles.b, triangles.c], axis=-2)


def triangles_from_corners(corners: Floats) -> Triangle:
    """Make two-sided triangles (...) from finite corners (..., 3, 3), one in each row. Exact."""
    return Triangle.unchecked(corners[..., 0, :], corners[..., 1, :], corners[..., 2, :])


def parts_of_corners(points: Floats, corners: Floats) -> Floats:
    """Compute parts (m, 3) of corners (m, 3, 3) that add up to points (m, 3) on them, about; none < 0."""
    sides = np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2)
    along = transform_vectors(np.asarray(np.linalg.pinv(sides)), points - corners[:, 0])
    parts = np.maximum(np.concatenate([1 - along.sum(axis=1, keepdims=True), along], axis=1), 0.0)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))
