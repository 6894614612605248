"""Reference results in exact rational arithmetic.

The formulas share nothing with the code under test.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Vector = tuple[Fraction, ...]


def vector(values: Iterable[float]) -> Vector:
    """Exact values of floats."""
    return tuple(Fraction(float(value)) for value in values)


def subtract(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


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


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def squared_length(a: Vector) -> Fraction:
    return dot(a, a)


def point_along(start: Vector, direction: Vector, t: Fraction) -> Vector:
    return tuple(x + t * y for x, y in zip(start, direction, strict=True))


def point_segment_squared(point: Vector, start: Vector, end: Vector) -> Fraction:
    """Squared distance: to the closer end, or to the foot of the perpendicular if that is inside."""
    along = subtract(end, start)
    candidates = [squared_length(subtract(point, start)), squared_length(subtract(point, end))]
    if squared_length(along):
        t = dot(subtract(point, start), along) / squared_length(along)
        if 0 <= t <= 1:
            candidates.append(squared_length(subtract(point, point_along(start, along, t))))
    return min(candidates)


def point_triangle_squared(point: Vector, a: Vector, b: Vector, c: Vector) -> Fraction:
    """Squared distance: to the plane if the point is above the face, otherwise to the closest side."""
    normal = cross(subtract(b, a), subtract(c, a))
    sides = ((a, b), (b, c), (c, a))
    if squared_length(normal) and all(
        dot(cross(normal, subtract(end, start)), subtract(point, start)) >= 0 for start, end in sides
    ):
        return dot(subtract(point, a), normal) ** 2 / squared_length(normal)
    return min(point_segment_squared(point, start, end) for start, end in sides)


def side_of_triangle(point: Vector, a: Vector, b: Vector, c: Vector) -> int:
    """Sign of the side: 1 in front (a, b, c counter-clockwise), -1 behind, 0 in the plane."""
    height = dot(subtract(point, a), cross(subtract(b, a), subtract(c, a)))
    return (height > 0) - (height < 0)


def segment_segment_squared(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> Fraction:
    """Squared distance: from an end of one to the other, or between two inner points."""
    candidates = [
        point_segment_squared(a0, b0, b1),
        point_segment_squared(a1, b0, b1),
        point_segment_squared(b0, a0, a1),
        point_segment_squared(b1, a0, a1),
    ]
    u, v, w = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    # The inner points whose offset is perpendicular to both solve two linear equations (Cramer's rule).
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    if determinant := uu * vv - uv * uv:
        s, t = (uw * vv - uv * vw) / determinant, (uw * uv - uu * vw) / determinant
        if 0 <= s <= 1 and 0 <= t <= 1:
            candidates.append(squared_length(subtract(point_along(b0, v, t), point_along(a0, u, s))))
    return min(candidates)


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
        c = self.corners
        return [(c[i], c[i | 1 << k]) for i in range(8) for k in range(3) if not i >> k & 1]

    @property
    def triangles(self) -> list[tuple[Vector, Vector, Vector]]:
        """Two triangles for each face."""
        c, triangles = self.corners, []
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
    u, v, w = box.half_sides
    offset = subtract(point, box.center)
    volume = abs(dot(u, cross(v, w)))
    return volume > 0 and all(
        abs(dot(offset, cross(p, q))) <= volume * (1 + slack) for p, q in ((u, v), (v, w), (w, u))
    )


def largest_gap_of_boxes(a: ExactBox, b: ExactBox) -> float:
    """Largest signed gap between two boxes over all separating axes; its sign is exact.

    The Minkowski difference of two boxes is a zonotope: two of their axes span each of its faces.
    """
    offset, gaps = subtract(b.center, a.center), []
    for u, v in combinations((*a.axes, *b.axes), 2):
        normal = cross(u, v)
        if squared_length(normal):
            reach = sum(abs(dot(h, normal)) for h in (*a.half_sides, *b.half_sides))
            gap = abs(dot(offset, normal)) - reach
            gaps.append((1 if gap > 0 else -1) * gap * gap / squared_length(normal))
    best = max(gaps)
    return square_root(best) if best > 0 else -square_root(-best)


def separation_of_boxes(a: ExactBox, b: ExactBox) -> float:
    """Signed separation: the distance of disjoint boxes, minus the penetration depth of overlapping ones."""
    gap = largest_gap_of_boxes(a, b)
    return square_root(_disjoint_boxes_squared(a, b)) if gap > 0 else gap


def _disjoint_boxes_squared(a: ExactBox, b: ExactBox) -> Fraction:
    """Squared distance of disjoint boxes: from a corner to a face, or from an edge to an edge."""
    return min(
        min(point_triangle_squared(p, *t) for p in a.corners for t in b.triangles),
        min(point_triangle_squared(p, *t) for p in b.corners for t in a.triangles),
        min(segment_segment_squared(*e, *f) for e in a.edges for f in b.edges),
    )


def affine_image(matrix: Sequence[Sequence[float]], point: Vector) -> Vector:
    """Image of a point under an affine 4x4 matrix."""
    rows = [vector(row) for row in matrix[:3]]
    return tuple(dot(row[:3], point) + row[3] for row in rows)
