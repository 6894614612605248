"""Reference times of first contact of two triangles in motion, in exact integers.

Corners move in straight lines from time 0 to 1, and their floats count as exact numbers. Triangles that
are disjoint at first touch at a time when a corner is on an edge, two edges cross, or a corner is on a face.
All other extreme points of the set that two triangles share are edges that pierce a face, as they did before.
Triangles may be segments or points, and may become so.

The conditions are signs of polynomials in time. Their roots are isolated by bisection and Descartes' rule of
signs on Bernstein coefficients. Signs at a root are exact: a polynomial is zero there if it shares the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from math import gcd
from typing import NamedTuple

import numpy as np

from tests.core.exact import (
    Vector,
    cross,
    dot,
    point_triangle_squared,
    segment_segment_squared,
    side_of_triangle,
    square_root,
    subtract,
    vector,
    whole,
)

Polynomial = list[int]
"""Coefficients of a polynomial in time, constant first."""
Moving = tuple[Polynomial, ...]
"""A vector whose coordinates are polynomials."""
_DEPTH = 100
"""Times are enclosed in intervals of length 2**-_DEPTH."""


class Enclosed(NamedTuple):
    """An interval of time that includes the exact time."""

    begin: Fraction
    end: Fraction


def first_contact(p: np.ndarray, q: np.ndarray) -> Enclosed | None:
    """Enclose the first time in [0, 1] at which triangles share a point; None for never.

    p, q : (2 times, 3 corners, 3). Corners at time 0 and time 1.
    """
    if squared_distance(p[0], q[0]) == 0:
        return Enclosed(Fraction(0), Fraction(0))
    vectors, _ = whole(*(vector(corner) for ends in (p, q) for corners in ends for corner in corners))
    paths = [
        tuple([x, y - x] for x, y in zip(vectors[k], vectors[k + 3], strict=True)) for k in (0, 1, 2, 6, 7, 8)
    ]
    one, other = paths[:3], paths[3:]
    first: Enclosed | None = None
    for time in _events(one, other):
        if first is None or time.enclosed().begin < first.end:
            enclosed = time.refined(_DEPTH)
            if first is None or enclosed.begin < first.begin:
                first = enclosed
    return first


def squared_distance(a: np.ndarray, b: np.ndarray) -> Fraction:
    """Squared distance of two triangles with corners (3, 3), which may be segments or points."""
    return exact_squared_distance([vector(x) for x in a], [vector(x) for x in b])


def exact_squared_distance(a: list, b: list) -> Fraction:
    """Squared distance of two triangles of exact corners."""
    sides_a, sides_b = ([(x[k - 1], x[k]) for k in range(3)] for x in (a, b))
    if any(_pierces(side, b) for side in sides_a) or any(_pierces(side, a) for side in sides_b):
        return Fraction(0)
    return min(
        *(point_triangle_squared(corner, *b) for corner in a),
        *(point_triangle_squared(corner, *a) for corner in b),
        *(segment_segment_squared(*e, *f) for e, f in product(sides_a, sides_b)),
    )


def corners_at(moving: np.ndarray, time: float | Fraction) -> list[Vector]:
    """Exact corners of a triangle (2 times, 3 corners, 3) at a time in [0, 1]."""
    t = Fraction(time)
    return [
        tuple(Fraction(float(x)) * (1 - t) + Fraction(float(y)) * t for x, y in zip(*ends, strict=True))
        for ends in zip(*moving, strict=True)
    ]


def depth(a: list[Vector], b: list[Vector]) -> float:
    """Depth of two triangles of exact corners: a translation by it separates them. 0 for disjoint ones."""
    corners, unit = whole(*a, *b)
    one, other = corners[:3], corners[3:]
    sides_a, sides_b = ([subtract(x[k], x[k - 1]) for k in range(3)] for x in (one, other))
    normals = [cross(*sides[:2]) for sides in (sides_a, sides_b)]
    axes = [*normals, *(cross(u, v) for u, v in product(sides_a, sides_b))]
    axes += [cross(normal, side) for normal in normals for side in (*sides_a, *sides_b)]
    least: Fraction | None = None
    for axis in axes:
        if squared := dot(axis, axis):
            (low_a, high_a), (low_b, high_b) = (
                (min(along), max(along)) for along in ([dot(axis, x) for x in each] for each in (one, other))
            )
            overlap = max(min(high_a - low_b, high_b - low_a), 0)
            found = Fraction(overlap * overlap, squared * unit**2)
            least = found if least is None else min(least, found)
    # Two segments on one line, or two points: a translation across them separates them.
    return 0.0 if least is None else square_root(least)


def _pierces(side: tuple, face: list) -> bool:
    """Return whether a segment passes through the interior of a face, from one side to the other."""
    start, end = side
    if side_of_triangle(start, *face) * side_of_triangle(end, *face) >= 0:
        return False
    turns = {side_of_triangle(start, end, face[k - 1], face[k]) for k in range(3)}
    return turns in ({1}, {-1})


# --- times at which features touch -----------------------------------------------------------------------


def _events(one: list[Moving], other: list[Moving]) -> Iterator[Root]:
    """Find times at which a corner is on an edge, edges cross, or a corner is on a face."""
    for corners, faces in ((one, other), (other, one)):
        for corner in corners:
            yield from _corner_on_face(corner, faces)
            for k in range(3):
                yield from _corner_on_edge(corner, faces[k - 1], faces[k])
    for i, j in product(range(3), repeat=2):
        yield from _edges_cross(one[i - 1], one[i], other[j - 1], other[j])


def _corner_on_edge(corner: Moving, start: Moving, end: Moving) -> Iterator[Root]:
    to_start, to_end = _minus(start, corner), _minus(end, corner)
    area = [x for x in _cross(to_start, to_end) if any(x)]
    inside = _dot(to_start, to_end)
    # Always on the line: touches the segment first when it is at an end of it.
    for root in roots(area[0] if area else inside):
        if all(root.sign(x) == 0 for x in area[1:]) and root.sign(inside) <= 0:
            yield root


def _edges_cross(a: Moving, b: Moving, c: Moving, d: Moving) -> Iterator[Root]:
    """Find times at which the segments AB and CD cross, but for parallel ones, which touch at an end."""
    u, v, w = _minus(b, a), _minus(d, c), _minus(c, a)
    normal = _cross(u, v)
    # The crossing is at A + s U = C + r V: s = (W x V) . N / N . N, r = (W x U) . N / N . N.
    for root in roots(_dot(normal, w)):
        if all(root.sign(x) == 0 for x in normal):
            continue
        squared = _dot(normal, normal)
        parts = [_dot(_cross(w, each), normal) for each in (v, u)]
        if all(root.sign(part) >= 0 and root.sign(_sum(squared, part, -1)) >= 0 for part in parts):
            yield root


def _corner_on_face(corner: Moving, face: list[Moving]) -> Iterator[Root]:
    """Find times at which a corner is on a face, but for faces without area, which are edges."""
    normal = _cross(_minus(face[1], face[0]), _minus(face[2], face[0]))
    offsets = [_minus(each, corner) for each in face]
    for root in roots(_dot(normal, offsets[0])):
        if any(root.sign(x) for x in normal) and all(
            root.sign(_dot(_cross(offsets[k - 1], offsets[k]), normal)) >= 0 for k in range(3)
        ):
            yield root


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    result = [0] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        if x:
            for j, y in enumerate(q, i):
                result[j] += x * y
    return result


def _sum(p: Polynomial, q: Polynomial, sign: int = 1) -> Polynomial:
    return [x + sign * y for x, y in zip(p, q, strict=True)]


def _minus(a: Moving, b: Moving) -> Moving:
    return tuple(_sum(x, y, -1) for x, y in zip(a, b, strict=True))


def _cross(a: Moving, b: Moving) -> Moving:
    return tuple(_sum(_product(a[k - 2], b[k - 1]), _product(a[k - 1], b[k - 2]), -1) for k in range(3))


def _dot(a: Moving, b: Moving) -> Polynomial:
    x, y, z = (_product(p, q) for p, q in zip(a, b, strict=True))
    return _sum(_sum(x, y), z)


# --- roots of polynomials --------------------------------------------------------------------------------


class Root:
    """The only root of a polynomial in an interval from k / 2**depth to (k + 1) / 2**depth, or at its begin.

    polynomial : Square-free. None if the root is at the begin.
    """

    def __init__(self, k: int, depth: int, polynomial: Polynomial | None) -> None:
        self.k, self.depth, self.polynomial = k, depth, polynomial
        self._sign = 0 if polynomial is None else _sign(_value(polynomial, k, depth))

    def enclosed(self) -> Enclosed:
        unit = 1 << self.depth
        return Enclosed(Fraction(self.k, unit), Fraction(self.k + (self.polynomial is not None), unit))

    def refined(self, depth: int) -> Enclosed:
        while self.polynomial is not None and self.depth < depth:
            self._halve()
        return self.enclosed()

    def _halve(self) -> None:
        assert self.polynomial is not None
        self.k, self.depth = 2 * self.k, self.depth + 1
        middle = _sign(_value(self.polynomial, self.k + 1, self.depth))
        if middle == 0:
            self.polynomial = None
        self.k += middle in (0, self._sign)

    def sign(self, of: Polynomial) -> int:
        """Sign of another polynomial at the root."""
        for attempt in range(10_000):
            if self.polynomial is None:
                return _sign(_value(of, self.k, self.depth))
            signs = {_sign(x) for x in bernstein(of, self.k, self.depth)} - {0}
            if len(signs) < 2:
                # The ends of the interval are not the root, so zeros there do not matter.
                return signs.pop() if signs else 0
            if attempt == 20:
                shared = common_factor(self.polynomial, of)
                if (
                    len(shared) > 1
                    and _value(shared, self.k, self.depth) * _value(shared, self.k + 1, self.depth) < 0
                ):
                    return 0
            self._halve()
        raise AssertionError("the sign of a polynomial at a root of another one is undecided")


def roots(polynomial: Polynomial) -> Iterator[Root]:
    """Isolate the roots in [0, 1], in order; none of a polynomial that is zero throughout."""
    if _variations(bernstein(polynomial, 0, 0)) == 0 and polynomial[0] and sum(polynomial):
        return
    polynomial = _trimmed(polynomial)
    if not polynomial:
        return
    derivative = [k * x for k, x in enumerate(polynomial)][1:]
    shared = common_factor(polynomial, derivative)
    if len(shared) > 1:
        polynomial = _quotient(polynomial, shared)
    intervals = [(0, 0)]
    while intervals:
        k, depth = intervals.pop()
        found = bernstein(polynomial, k, depth)
        if found[0] == 0 and (k % 2 or depth == 0):
            yield Root(k, depth, None)
        variations = _variations(found)
        if variations == 1 and found[0] and found[-1]:
            yield Root(k, depth, polynomial)
        elif variations:
            intervals += [(2 * k + 1, depth + 1), (2 * k, depth + 1)]
    if sum(polynomial) == 0:
        yield Root(1, 0, None)


def bernstein(polynomial: Polynomial, k: int, depth: int) -> list[int]:
    """Bernstein coefficients from k / 2**depth to (k + 1) / 2**depth, times a positive number.

    The polynomial is between the least and the greatest of them there.
    """
    degree = len(polynomial) - 1
    shifted = [x << depth * (degree - j) for j, x in enumerate(polynomial)]
    if k:
        for i in range(degree):
            for j in range(degree - 1, i - 1, -1):
                shifted[j] += k * shifted[j + 1]
    weighted = [x * weight for x, weight in zip(shifted, _WEIGHTS[degree], strict=True)]
    # b[i] is the sum of C(i, j) / C(n, j) times the coefficients: differences, summed again.
    for i in range(1, degree + 1):
        for j in range(degree, i - 1, -1):
            weighted[j] += weighted[j - 1]
    return weighted


_WEIGHTS = [[1], [1, 1], [2, 1, 2], [3, 1, 1, 3], [12, 3, 2, 3, 12]]
"""Common multiples of the binomial coefficients of each degree, divided by them."""


def common_factor(p: Polynomial, q: Polynomial) -> Polynomial:
    """Greatest common divisor of polynomials, as primitive polynomial. One of them is not zero."""
    p, q = _primitive(p), _primitive(q)
    while q:
        p, q = q, _primitive(_remainder(p, q)) if len(p) >= len(q) else p
    return p


def _remainder(p: Polynomial, q: Polynomial) -> Polynomial:
    """Remainder of p divided by q, times a number that keeps it whole."""
    p = list(p)
    while len(p) >= len(q):
        lead, shift = p[-1], len(p) - len(q)
        p = [x * q[-1] for x in p]
        for j, y in enumerate(q, shift):
            p[j] -= lead * y
        p.pop()
    return p


def _quotient(p: Polynomial, q: Polynomial) -> Polynomial:
    """Quotient of p divided by a factor q, as primitive polynomial."""
    rest, parts = [Fraction(x) for x in p], []
    while len(rest) >= len(q):
        part, shift = rest[-1] / q[-1], len(rest) - len(q)
        for j, y in enumerate(q, shift):
            rest[j] -= part * y
        rest.pop()
        parts.append(part)
    assert not any(rest)
    ((result,), _) = whole(tuple(reversed(parts)))
    return _primitive(list(result))


def _primitive(p: Polynomial) -> Polynomial:
    p = _trimmed(p)
    content = gcd(*p)
    return [x // content for x in p]


def _trimmed(p: Polynomial) -> Polynomial:
    end = max((k + 1 for k, x in enumerate(p) if x), default=0)
    return list(p[:end])


def _value(p: Polynomial, k: int, depth: int) -> int:
    """Value at k / 2**depth, times a positive number."""
    result = 0
    for power, x in enumerate(reversed(p)):
        result = result * k + (x << depth * power)
    return result


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)


def _variations(values: list[int]) -> int:
    signs = [x > 0 for x in values if x]
    return sum(x != y for x, y in pairwise(signs))
