"""Segments and triangles: what volumes are tested against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats, as_floats, cross, dot, transform_points, unit
from .batch import Batched, broadcast_fields
from .bounding_volumes import Aabb


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
