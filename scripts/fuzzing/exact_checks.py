"""Exact checks that shapes enclose points. They share nothing with the program: rational numbers alone."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

Exact = tuple[Fraction, ...]

_ROUNDING = Fraction(1, 2**50)
"""Allowance of a few roundings in float64, relative to the coordinates."""


def exact(values: Iterable[float]) -> Exact:
    """Convert finite numbers to fractions, without rounding."""
    return tuple(Fraction(float(value)) for value in values)


def transformed(points: Iterable[Sequence[float]], matrix: Sequence[Sequence[float]]) -> list[Exact]:
    """Transform points by the upper three rows of a matrix of 4 x 4."""
    rows = [exact(row) for row in matrix[:3]]
    return [tuple(_dot(row[:3], point) + row[3] for row in rows) for point in map(exact, points)]


def box_problem(low: Sequence[float], high: Sequence[float], points: Sequence[Exact]) -> str | None:
    """Return a description of a point that is outside of a box, or None."""
    for axis, (least, most) in enumerate(zip(exact(low), exact(high), strict=True)):
        slack = _slack(points)
        if not all(least - slack <= point[axis] <= most + slack for point in points):
            return f"a point is outside of the box {list(low)} to {list(high)}, along axis {axis}"
    return None


def sphere_problem(center: Sequence[float], radius: float, points: Sequence[Exact]) -> str | None:
    """Return a description of a point that is outside of a sphere, or None."""
    middle, reach = exact(center), Fraction(float(radius)) + _slack(points)
    if all(_squared(_minus(point, middle)) <= reach**2 for point in points):
        return None
    return f"a point is outside of the sphere at {list(center)} with radius {radius!r}"


def oriented_box_problem(
    center: Sequence[float], half: Sequence[float], axes: Sequence[Sequence[float]], points: Sequence[Exact]
) -> str | None:
    """Return a description of a point that is outside of an oriented box, or None. Axes are rows."""
    middle, slack = exact(center), 4 * _slack(points)
    for extent, axis in zip(exact(half), map(exact, axes), strict=True):
        if not all(abs(_dot(_minus(point, middle), axis)) <= extent + slack for point in points):
            return f"a point is outside of the oriented box at {list(center)} with half extents {list(half)}"
    return None


def capsule_problem(
    start: Sequence[float], end: Sequence[float], radius: float, points: Sequence[Exact]
) -> str | None:
    """Return a description of a point that is outside of a capsule, or None."""
    begin, reach = exact(start), Fraction(float(radius)) + _slack(points)
    direction = _minus(exact(end), begin)
    for point in points:
        offset = _minus(point, begin)
        along = _dot(offset, direction) / _squared(direction) if any(direction) else Fraction(0)
        along = min(max(along, Fraction(0)), Fraction(1))
        if _squared(_minus(offset, tuple(along * part for part in direction))) > reach**2:
            return f"a point is outside of the capsule from {list(start)} to {list(end)}"
    return None


def hull_problem(
    vertices: Sequence[Sequence[float]], faces: Sequence[Sequence[int]], points: Sequence[Exact]
) -> str | None:
    """Return a description of a point above a face of a hull, or of a hole, or None."""
    corners = [exact(vertex) for vertex in vertices]
    edges = [(face[k], face[(k + 1) % 3]) for face in faces for k in range(3)]
    if len(set(edges)) < len(edges) or {(b, a) for a, b in edges} != set(edges):
        return "the hull is not closed"
    for a, b, c in ((corners[face[0]], corners[face[1]], corners[face[2]]) for face in faces):
        one, other = _minus(b, a), _minus(c, a)
        normal = tuple(one[k - 2] * other[k - 1] - one[k - 1] * other[k - 2] for k in range(3))
        if any(_dot(_minus(point, a), normal) > 0 for point in points):
            return "a point is above a face of the hull"
    return None


def _slack(points: Sequence[Exact]) -> Fraction:
    largest = max((abs(value) for point in points for value in point), default=Fraction(0))
    return largest * _ROUNDING + Fraction(math.ulp(0.0))


def _minus(a: Exact, b: Exact) -> Exact:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def _dot(a: Exact, b: Exact) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def _squared(a: Exact) -> Fraction:
    return _dot(a, a)
