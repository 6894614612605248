"""Answers in exact rational arithmetic, from formulas that share nothing with the code under test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

Vector = tuple[Fraction, ...]


def vector(values: Iterable[float]) -> Vector:
    """The exact values of floats."""
    return tuple(Fraction(float(value)) for value in values)


def minus(a: Vector, b: Vector) -> Vector:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def root(value: Fraction) -> float:
    """The square root, correct to float64."""
    with localcontext() as context:
        context.prec = 60
        return float((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


# --- smallest enclosing ball -----------------------------------------------------------------------------


def smallest_ball_squared_radius(points: Iterable[Sequence[float]]) -> Fraction:
    """Squared radius of the smallest ball: the smallest circumsphere of 2 to 4 points that holds them all."""
    unique = sorted({vector(point) for point in points})
    if len(unique) == 1:
        return Fraction(0)
    best: Fraction | None = None
    for size in (2, 3, 4):
        for corners in combinations(unique, size):
            offset = _circumcenter([minus(corner, corners[0]) for corner in corners[1:]])
            if offset is None:
                continue
            squared = dot(offset, offset)
            if best is not None and squared >= best:
                continue
            center = tuple(a + b for a, b in zip(corners[0], offset, strict=True))
            if all(dot(minus(p, center), minus(p, center)) <= squared for p in unique):
                best = squared
    assert best is not None
    return best


def _circumcenter(edges: list[Vector]) -> Vector | None:
    """Of the simplex {origin, edges}, in its own plane; None when the corners are dependent."""
    # The centre is a sum of edges with weights w: G w = diag(G) / 2, where G holds the dot products.
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
    """Squared Euclidean gap between two boxes (min, max); 0 when they overlap."""
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


def squared(a: Vector) -> Fraction:
    return dot(a, a)


def from_to(start: Vector, direction: Vector, t: Fraction) -> Vector:
    return tuple(x + t * y for x, y in zip(start, direction, strict=True))


def point_segment_squared(point: Vector, start: Vector, end: Vector) -> Fraction:
    """Squared distance: of the ends and the foot of the perpendicular the closest, if that is between."""
    along = minus(end, start)
    candidates = [squared(minus(point, start)), squared(minus(point, end))]
    if squared(along):
        t = dot(minus(point, start), along) / squared(along)
        if 0 <= t <= 1:
            candidates.append(squared(minus(point, from_to(start, along, t))))
    return min(candidates)


def point_triangle_squared(point: Vector, a: Vector, b: Vector, c: Vector) -> Fraction:
    """Squared distance: to the plane if the point is over the face, else to the closest side."""
    normal = cross(minus(b, a), minus(c, a))
    sides = ((a, b), (b, c), (c, a))
    if squared(normal) and all(
        dot(cross(normal, minus(end, start)), minus(point, start)) >= 0 for start, end in sides
    ):
        return dot(minus(point, a), normal) ** 2 / squared(normal)
    return min(point_segment_squared(point, start, end) for start, end in sides)


def side_of_triangle(point: Vector, a: Vector, b: Vector, c: Vector) -> int:
    """1 in front (a, b, c counter-clockwise), -1 behind, 0 in the plane."""
    height = dot(minus(point, a), cross(minus(b, a), minus(c, a)))
    return (height > 0) - (height < 0)


def segment_segment_squared(a0: Vector, a1: Vector, b0: Vector, b1: Vector) -> Fraction:
    """Squared distance: from an end of one to the other, or between two inner points."""
    candidates = [
        point_segment_squared(a0, b0, b1),
        point_segment_squared(a1, b0, b1),
        point_segment_squared(b0, a0, a1),
        point_segment_squared(b1, a0, a1),
    ]
    u, v, w = minus(a1, a0), minus(b1, b0), minus(b0, a0)
    # Inner points whose offset is at right angles to both: two linear equations (Cramer's rule).
    uu, uv, vv, uw, vw = dot(u, u), dot(u, v), dot(v, v), dot(u, w), dot(v, w)
    if determinant := uu * vv - uv * uv:
        s, t = (uw * vv - uv * vw) / determinant, (uw * uv - uu * vw) / determinant
        if 0 <= s <= 1 and 0 <= t <= 1:
            candidates.append(squared(minus(from_to(b0, v, t), from_to(a0, u, s))))
    return min(candidates)


class Solid(NamedTuple):
    """A box that may be a little skewed, as float64 leaves it: a centre and three half sides as vectors."""

    center: Vector
    half_sides: tuple[Vector, ...]
    axes: tuple[Vector, ...]
    """The directions of the sides, which a box without extent has all the same."""

    @classmethod
    def of(cls, center: Iterable, half_extents: Iterable, rotation: Iterable) -> Solid:
        """From the arrays of an oriented box, whose axes are the columns of `rotation`."""
        axes = tuple(zip(*map(vector, rotation), strict=True))
        sides = tuple(
            tuple(half * x for x in axis) for half, axis in zip(vector(half_extents), axes, strict=True)
        )
        return cls(vector(center), sides, axes)

    @property
    def corners(self) -> list[Vector]:
        """Eight of them; those that differ in one bit of their place share an edge."""
        corners = [self.center]
        for side in self.half_sides:
            corners = [from_to(c, side, Fraction(s)) for s in (-1, 1) for c in corners]
        return corners

    @property
    def edges(self) -> list[tuple[Vector, Vector]]:
        c = self.corners
        return [(c[i], c[i | 1 << k]) for i in range(8) for k in range(3) if not i >> k & 1]

    @property
    def triangles(self) -> list[tuple[Vector, Vector, Vector]]:
        """Two for each face."""
        c, found = self.corners, []
        for k in range(3):
            i, j = 1 << (k + 1) % 3, 1 << (k + 2) % 3
            for side in (0, 1 << k):
                found += [(c[side], c[side | i], c[side | j]), (c[side | i | j], c[side | i], c[side | j])]
        return found


def point_solid_separation(point: Vector, solid: Solid) -> float:
    """Signed distance to the surface: negative inside."""
    distance = root(min(point_triangle_squared(point, *triangle) for triangle in solid.triangles))
    return -distance if is_inside(point, solid) else distance


def is_inside(point: Vector, solid: Solid, slack: Fraction = Fraction(0)) -> bool:
    """Between all three pairs of faces, or beyond them by no more than `slack` half sides; not if flat."""
    u, v, w = solid.half_sides
    offset = minus(point, solid.center)
    volume = abs(dot(u, cross(v, w)))
    return volume > 0 and all(
        abs(dot(offset, cross(p, q))) <= volume * (1 + slack) for p, q in ((u, v), (v, w), (w, u))
    )


def best_gap_of_boxes(a: Solid, b: Solid) -> float:
    """The signed gap between two boxes along the direction that shows most of it, by its sign exactly.

    The difference of two boxes is a solid whose faces are spanned by two of their axes each (a zonotope).
    """
    offset, gaps = minus(b.center, a.center), []
    for u, v in combinations((*a.axes, *b.axes), 2):
        normal = cross(u, v)
        if squared(normal):
            reach = sum(abs(dot(h, normal)) for h in (*a.half_sides, *b.half_sides))
            gap = abs(dot(offset, normal)) - reach
            gaps.append((1 if gap > 0 else -1) * gap * gap / squared(normal))
    best = max(gaps)
    return root(best) if best > 0 else -root(-best)


def separation_of_boxes(a: Solid, b: Solid) -> float:
    """The distance of two boxes that are apart; minus the shortest way out of two that overlap."""
    gap = best_gap_of_boxes(a, b)
    return root(_boxes_apart_squared(a, b)) if gap > 0 else gap


def _boxes_apart_squared(a: Solid, b: Solid) -> Fraction:
    """From a corner to a face, or from an edge to an edge."""
    return min(
        min(point_triangle_squared(p, *t) for p in a.corners for t in b.triangles),
        min(point_triangle_squared(p, *t) for p in b.corners for t in a.triangles),
        min(segment_segment_squared(*e, *f) for e in a.edges for f in b.edges),
    )
