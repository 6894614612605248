"""Reference results in exact rational arithmetic.

The formulas share nothing with the code under test. Where many steps follow, all coordinates are multiplied
by a common number that makes them integers: integers are a hundred times as fast as fractions, and as exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain, combinations, product
from math import lcm
from typing import NamedTuple, TypeVar

Vector = tuple[Fraction, ...]
Whole = tuple[int, ...]
"""A vector of integers: coordinates times the number that `whole` returns."""
_Number = TypeVar("_Number", Fraction, int)
_Corner = TypeVar("_Corner", Vector, Whole)


def vector(values: Iterable[float]) -> Vector:
    """Exact values of floats."""
    return tuple(Fraction(float(value)) for value in values)


def whole(*vectors: Vector) -> tuple[list[Whole], int]:
    """Return vectors times a common positive number, as integers, and this number."""
    unit = lcm(*(x.denominator for x in chain(*vectors)))
    return [tuple(x.numerator * (unit // x.denominator) for x in each) for each in vectors], unit


def subtract(a: tuple[_Number, ...], b: tuple[_Number, ...]) -> tuple[_Number, ...]:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a: tuple[_Number, ...], b: tuple[_Number, ...]) -> _Number:
    (p, q, r), (x, y, z) = a, b
    return p * x + q * y + r * z


def square_root(value: Fraction) -> float:
    """Square root, correctly rounded to float64."""
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


# --- smallest enclosing ball -----------------------------------------------------------------------------


def smallest_ball_squared_radius(points: Iterable[Sequence[float]]) -> Fraction:
    """Squared radius of the smallest enclosing ball.

    By brute force: the smallest circumsphere of 2 to 4 of the points that encloses all of them.
    """
    unique = sorted({vector(point) for point in points})
    if len(unique) == 1:
        return Fraction(0)
    best: Fraction | None = None
    for size in (2, 3, 4):
        for corners in combinations(unique, size):
            offset = _circumcenter([subtract(corner, corners[0]) for corner in corners[1:]])
            if offset is None:
                continue
            squared = dot(offset, offset)
            if best is not None and squared >= best:
                continue
            center = tuple(a + b for a, b in zip(corners[0], offset, strict=True))
            if all(dot(subtract(p, center), subtract(p, center)) <= squared for p in unique):
                best = squared
    assert best is not None
    return best


def _circumcenter(edges: list[Vector]) -> Vector | None:
    """Circumcenter of the simplex {origin, edges} in its own plane; None if its corners are dependent."""
    # The center is a sum of edges with weights w: G w = diag(G) / 2, where G is the matrix of dot products.
    count = len(edges)
    rows = [[dot(a, b) for b in edges] + [dot(a, a) / 2] for a in edges]
    for i in range(count):
        pivot = next((r for r in range(i, count) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(count):
            if r != i:
                rows[r] = [x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)]
    return tuple(
        sum((rows[i][count] * edges[i][axis] for i in range(count)), Fraction(0)) for axis in range(3)
    )


# --- boxes at rest ---------------------------------------------------------------------------------------


def box_squared_gap(a: tuple, b: tuple) -> Fraction:
    """Squared Euclidean gap between two boxes (min, max); 0 if they overlap."""
    gaps = [
        max(
            Fraction(float(a[0][k])) - Fraction(float(b[1][k])),
            Fraction(float(b[0][k])) - Fraction(float(a[1][k])),
        )
        for k in range(3)
    ]
    return sum((max(gap, Fraction(0)) ** 2 for gap in gaps), Fraction(0))


# --- shapes at rest --------------------------------------------------------------------------------------


def cross(a: tuple[_Number, ...], b: tuple[_Number, ...]) -> tuple[_Number, ...]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def squared_length(a: tuple[_Number, ...]) -> _Number:
    return dot(a, a)


def point_along(start: Vector, direction: Vector, t: Fraction) -> Vector:
    return tuple(x + t * y for x, y in zip(start, direction, strict=True))


def point_segment_squared(point: Vector, start: Vector, end: Vector) -> Fraction:
    """Squared distance: to the closer end, or to the foot of the perpendicular if that is inside."""
    vectors, unit = whole(point, start, end)
    return _point_segment_squared(*vectors) / unit**2


def _point_segment_squared(point: Whole, start: Whole, end: Whole) -> Fraction:
    along, offset = subtract(end, start), subtract(point, start)
    length, forward = squared_length(along), dot(offset, along)
    if length and 0 <= forward <= length:
        # Area of the parallelogram of both, divided by its base; squared.
        return Fraction(squared_length(cross(offset, along)), length)
    return Fraction(min(squared_length(offset), squared_length(subtract(point, end))))


def point_triangle_squared(point: Vector, a: Vector, b: Vector, c: Vector) -> Fraction:
    """Squared distance: to the plane if the point is above the face, otherwise to the closest side."""
    vectors, unit = whole(point, a, b, c)
    return _point_triangle_squared(*vectors) / unit**2


def _point_triangle_squared(point: Whole, a: Whole, b: Whole, c: Whole) -> Fraction:
    normal = cross(subtract(b, a), subtract(c, a))
    sides = ((a, b), (b, c), (c, a))
    area = squared_length(normal)
    if area and all(
        dot(cross(normal, subtract(end, start)), subtract(point, start)) >= 0 for start, end in sides
    ):
        return Fraction(dot(subtract(point, a), normal) ** 2, area)
    return min(_point_segment_squared(point, start, end) for start, end in sides)


def side_of_triangle(point: Vector, a: Vector, b: Vector, c: Vector) -> int:
    """Sign of the side: 1 in front (a, b, c counter-clockwise), -1 behind, 0 in the plane."""
    height = dot(subtract(point, a), cross(subtract(b, a), subtract(c, a)))
    return (height > 0) - (height < 0)


def segment_segment_squared(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> Fraction:
    """Squared distance: from an end of one to the other, or between two inner points."""
    vectors, unit = whole(a0, a1, b0, b1)
    return _segment_segment_squared(*vectors) / unit**2


def _segment_segment_squared(a0: Whole, a1: Whole, b0: Whole, b1: Whole) -> Fraction:
    u, v, w = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    # The inner points whose offset is perpendicular to both solve two linear equations (Cramer's rule).
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    if determinant := uu * vv - uv * uv:
        s, t = uw * vv - uv * vw, uw * uv - uu * vw
        if 0 <= s <= determinant and 0 <= t <= determinant:
            # The distance of the lines along their common perpendicular.
            return Fraction(dot(w, cross(u, v)) ** 2, determinant)
    return min(
        _point_segment_squared(a0, b0, b1),
        _point_segment_squared(a1, b0, b1),
        _point_segment_squared(b0, a0, a1),
        _point_segment_squared(b1, a0, a1),
    )


class ExactBox(NamedTuple):
    """A box with axes rounded to float64, so slightly skewed: a center and three half sides as vectors."""

    center: Vector
    half_sides: tuple[Vector, ...]
    axes: tuple[Vector, ...]
    """Directions of the sides; defined for a box of zero extent too."""

    @classmethod
    def of(cls, center: Iterable, half_extents: Iterable, rotation: Iterable) -> ExactBox:
        """Convert the arrays of an oriented box; its axes are the columns of `rotation`."""
        axes = tuple(zip(*map(vector, rotation), strict=True))
        sides = tuple(
            tuple(half * x for x in axis) for half, axis in zip(vector(half_extents), axes, strict=True)
        )
        return cls(vector(center), sides, axes)

    @property
    def corners(self) -> list[Vector]:
        """Eight corners; two whose indices differ in one bit share an edge."""
        corners = [self.center]
        for side in self.half_sides:
            corners = [point_along(c, side, Fraction(s)) for s in (-1, 1) for c in corners]
        return corners

    @property
    def edges(self) -> list[tuple[Vector, Vector]]:
        return _edges(self.corners)

    @property
    def triangles(self) -> list[tuple[Vector, Vector, Vector]]:
        """Two triangles for each face."""
        return _triangles(self.corners)


def _edges(corners: list[_Corner]) -> list[tuple[_Corner, _Corner]]:
    return [(corners[i], corners[i | 1 << k]) for i in range(8) for k in range(3) if not i >> k & 1]


def _triangles(corners: list[_Corner]) -> list[tuple[_Corner, _Corner, _Corner]]:
    c, triangles = corners, []
    for k in range(3):
        i, j = 1 << (k + 1) % 3, 1 << (k + 2) % 3
        for side in (0, 1 << k):
            triangles += [
                (c[side], c[side | i], c[side | j]),
                (c[side | i | j], c[side | i], c[side | j]),
            ]
    return triangles


def point_box_separation(point: Vector, box: ExactBox) -> float:
    """Signed distance to the surface; negative inside."""
    distance = square_root(min(point_triangle_squared(point, *triangle) for triangle in box.triangles))
    return -distance if is_inside(point, box) else distance


def is_inside(point: Vector, box: ExactBox, slack: Fraction = Fraction(0)) -> bool:
    """Return whether a point is inside a box inflated by `slack` half sides; never inside a flat box."""
    (u, v, w, center, corner), _ = whole(*box.half_sides, box.center, point)
    offset = subtract(corner, center)
    volume = abs(dot(u, cross(v, w)))
    limit = volume * (1 + slack)
    return volume > 0 and all(abs(dot(offset, cross(p, q))) <= limit for p, q in ((u, v), (v, w), (w, u)))


def largest_gap_of_boxes(a: ExactBox, b: ExactBox) -> float:
    """Largest signed gap between two boxes over all separating axes; its sign is exact.

    The Minkowski difference of two boxes is a zonotope: two of their axes span each of its faces.
    """
    (from_center, to_center, *half_sides), unit = whole(a.center, b.center, *a.half_sides, *b.half_sides)
    offset, gaps = subtract(to_center, from_center), []
    for u, v in combinations(whole(*a.axes, *b.axes)[0], 2):
        normal = cross(u, v)
        if squared_length(normal):
            gap = abs(dot(offset, normal)) - sum(abs(dot(h, normal)) for h in half_sides)
            gaps.append(Fraction((1 if gap > 0 else -1) * gap * gap, squared_length(normal) * unit**2))
    best = max(gaps)
    return square_root(best) if best > 0 else -square_root(-best)


def separation_of_boxes(a: ExactBox, b: ExactBox) -> float:
    """Signed separation: the distance of disjoint boxes, minus the penetration depth of overlapping ones."""
    gap = largest_gap_of_boxes(a, b)
    return square_root(_disjoint_boxes_squared(a, b)) if gap > 0 else gap


def _disjoint_boxes_squared(a: ExactBox, b: ExactBox) -> Fraction:
    """Squared distance of disjoint boxes: from a corner to a face, or from an edge to an edge."""
    vectors, unit = whole(*a.corners, *b.corners)
    one, other = vectors[:8], vectors[8:]
    corners_and_faces = chain(product(one, _triangles(other)), product(other, _triangles(one)))
    return (
        min(
            min(_point_triangle_squared(corner, *triangle) for corner, triangle in corners_and_faces),
            min(_segment_segment_squared(*e, *f) for e in _edges(one) for f in _edges(other)),
        )
        / unit**2
    )


def affine_image(matrix: Sequence[Sequence[float]], point: Vector) -> Vector:
    """Image of a point under an affine 4x4 matrix."""
    rows = [vector(row) for row in matrix[:3]]
    return tuple(dot(row[:3], point) + row[3] for row in rows)
