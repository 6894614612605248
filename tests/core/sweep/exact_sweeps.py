"""Reference times of impact in exact rational arithmetic.

The formulas share nothing with the code under test.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from tests.core.exact import (
    ExactBox,
    Vector,
    cross,
    dot,
    point_along,
    point_triangle_squared,
    subtract,
    vector,
    whole,
)


def first_quadratic_root(b: Fraction, c: Fraction, discriminant: Fraction) -> float:
    """Smaller root of A t^2 + 2 B t + C with C > 0, given B B - A C; correctly rounded to float64."""
    with localcontext() as context:
        context.prec = 80
        b_term, c_term, under = (Decimal(x.numerator) / Decimal(x.denominator) for x in (b, c, discriminant))
        return float(c_term / (under.sqrt() - b_term))


# --- spheres ---------------------------------------------------------------------------------------------


class SphereMotion:
    """Two spheres in linear motion: they overlap where the quadratic f(t) = A t^2 + 2 B t + C is <= 0.

    Each argument is (center, radius); f is the squared distance of the centers less the squared sum of radii.
    """

    def __init__(self, a_start: tuple, a_end: tuple, b_start: tuple, b_end: tuple) -> None:
        p = subtract(vector(b_start[0]), vector(a_start[0]))
        v = subtract(subtract(vector(b_end[0]), vector(a_end[0])), p)
        r = Fraction(float(a_start[1])) + Fraction(float(b_start[1]))
        s = Fraction(float(a_end[1])) + Fraction(float(b_end[1])) - r
        self.A, self.B, self.C = dot(v, v) - s * s, dot(p, v) - r * s, dot(p, p) - r * r
        self.scale = dot(p, p) + dot(v, v) + r * r + s * s

    def f(self, t: Fraction | float) -> Fraction:
        t = Fraction(t)
        return (self.A * t + 2 * self.B) * t + self.C

    @property
    def minimum(self) -> Fraction:
        """Minimum of f in [0, 1]."""
        times = [Fraction(0), Fraction(1)]
        if self.A > 0 and 0 < -self.B < self.A:
            times.append(-self.B / self.A)
        return min(self.f(t) for t in times)

    @property
    def first(self) -> float | None:
        """First time of overlap in [0, 1], correctly rounded to float64; None for never."""
        if self.C <= 0:
            return 0.0
        if self.minimum > 0:
            return None
        return first_quadratic_root(self.B, self.C, self.B * self.B - self.A * self.C)


# --- axis-aligned boxes ----------------------------------------------------------------------------------


class Span(NamedTuple):
    """First and last time of overlap."""

    enter: Fraction
    leave: Fraction


def box_overlap_span(a_start: tuple, a_end: tuple, b_start: tuple, b_end: tuple) -> Span | None:
    """Span in [0, 1] in which two boxes (min, max) with linearly moving faces overlap; None for never."""
    enter, leave = Fraction(0), Fraction(1)
    for one, two in (((a_start, a_end), (b_start, b_end)), ((b_start, b_end), (a_start, a_end))):
        for axis in range(3):
            # The minimum of `one` must not be above the maximum of `two`: low(t) - high(t) <= 0.
            at_start = Fraction(float(one[0][0][axis])) - Fraction(float(two[0][1][axis]))
            at_end = Fraction(float(one[1][0][axis])) - Fraction(float(two[1][1][axis]))
            slope = at_end - at_start
            if slope == 0:
                if at_start > 0:
                    return None
            elif slope < 0:
                enter = max(enter, -at_start / slope)
            else:
                leave = min(leave, -at_start / slope)
    return Span(enter, leave) if enter <= leave else None


# --- gaps and a reach that change linearly ---------------------------------------------------------------


class GapMotion:
    """Gaps g(t) between faces and a reach r(t), all linear: within reach where f(t) <= 0.

    f is the sum of the squares of the positive gaps, less the squared reach. It is one quadratic between the
    times at which a gap changes sign.
    """

    def __init__(self, gaps: Sequence[tuple[Fraction, Fraction]], reach: tuple[Fraction, Fraction]) -> None:
        self.gaps = [(start, end - start) for start, end in gaps]
        self.reach = reach[0], reach[1] - reach[0]
        self.whole, self.unit = whole(*self.gaps, self.reach)
        roots = {-start / slope for start, slope in self.gaps if slope}
        self.times = [Fraction(0), *sorted(t for t in roots if 0 < t < 1), Fraction(1)]
        self.scale = max(abs(x) for x in (*(v for gap in gaps for v in gap), *reach)) ** 2

    @classmethod
    def of_sphere_and_box(cls, a_start: tuple, a_end: tuple, b_start: tuple, b_end: tuple) -> GapMotion:
        """Gaps of a sphere (center, radius) and a box (min, max)."""
        ends = []
        for (center, _), (low, high) in ((a_start, b_start), (a_end, b_end)):
            c, b, t = vector(center), vector(low), vector(high)
            ends.append((*subtract(c, t), *subtract(b, c)))
        radius = vector([a_start[1], a_end[1]])
        return cls(list(zip(*ends, strict=True)), (radius[0], radius[1]))

    @classmethod
    def of_boxes(
        cls, a_start: tuple, a_end: tuple, b_start: tuple, b_end: tuple, clearance: float
    ) -> GapMotion:
        """Gaps of two boxes (min, max)."""
        ends = []
        for a, b in ((a_start, b_start), (a_end, b_end)):
            ends.append((*subtract(vector(a[0]), vector(b[1])), *subtract(vector(b[0]), vector(a[1]))))
        return cls(list(zip(*ends, strict=True)), (Fraction(clearance), Fraction(clearance)))

    def f(self, t: Fraction | float) -> Fraction:
        n, d = t.as_integer_ratio()
        *gaps, reach = (start * d + slope * n for start, slope in self.whole)
        return Fraction(sum(max(gap, 0) ** 2 for gap in gaps) - reach**2, (self.unit * d) ** 2)

    def _pieces(self) -> list[tuple[Fraction, Fraction, Fraction, Fraction]]:
        """Pieces of f: start, end, and the coefficients A and B of the quadratic around the start."""
        pieces = []
        for low, high in zip(self.times, self.times[1:], strict=False):
            middle = (low + high) / 2
            active = [
                (start + slope * low, slope) for start, slope in self.gaps if start + slope * middle > 0
            ]
            reach = self.reach[0] + self.reach[1] * low
            A = sum((slope * slope for _, slope in active), Fraction(0)) - self.reach[1] ** 2
            B = sum((gap * slope for gap, slope in active), Fraction(0)) - reach * self.reach[1]
            pieces.append((low, high, A, B))
        return pieces

    @property
    def minimum(self) -> Fraction:
        """Minimum of f in [0, 1]."""
        times = list(self.times)
        for low, high, A, B in self._pieces():
            if A > 0 and 0 < -B < A * (high - low):
                times.append(low - B / A)
        return min(self.f(t) for t in times)

    @property
    def first(self) -> float | None:
        """First time in [0, 1] within reach, correctly rounded to float64; None for never."""
        if self.f(0) <= 0:
            return 0.0
        for low, high, A, B in self._pieces():
            C = self.f(low)
            if C <= 0:
                return float(low)
            passes = A > 0 and 0 < -B < A * (high - low) and C * A <= B * B
            if passes or self.f(high) <= 0:
                return float(low) + first_quadratic_root(B, C, B * B - A * C)
        return None


# --- oriented boxes without rotation ---------------------------------------------------------------------


def oriented_box_span(a_start: ExactBox, a_end: ExactBox, b_start: ExactBox, b_end: ExactBox) -> Span | None:
    """Span in [0, 1] in which two boxes that do not rotate overlap; None for never.

    Along each separating axis both the offset and the summed half extents are linear in time.
    """
    enter, leave = Fraction(0), Fraction(1)
    ends = ((a_start, b_start), (a_end, b_end))
    vectors = [(subtract(b.center, a.center), *a.half_sides, *b.half_sides) for a, b in ends]
    # Times are quotients of lengths along an axis, so they do not depend on the unit of either.
    rows, _ = whole(*vectors[0], *vectors[1])
    (start_offset, *start_sides), (end_offset, *end_sides) = rows[:7], rows[7:]
    for u, v in combinations(whole(*a_start.axes, *b_start.axes)[0], 2):
        normal = cross(u, v)
        offsets = [dot(offset, normal) for offset in (start_offset, end_offset)]
        reaches = [sum(abs(dot(h, normal)) for h in sides) for sides in (start_sides, end_sides)]
        for sign in (1, -1):
            start, end = (sign * d - r for d, r in zip(offsets, reaches, strict=True))
            if start > 0 and end > 0:
                return None
            if start > 0:
                enter = max(enter, Fraction(start, start - end))
            elif end > 0:
                leave = min(leave, Fraction(start, start - end))
    return Span(enter, leave) if enter <= leave else None


# --- a sphere and a triangle at rest ---------------------------------------------------------------------


class TriangleMotion:
    """A sphere (center, radius) at both ends of the interval, and the corners of a triangle."""

    def __init__(self, start: tuple, end: tuple, corners: Sequence) -> None:
        self.p = vector(start[0])
        self.v = subtract(vector(end[0]), self.p)
        self.r = Fraction(float(start[1]))
        self.s = Fraction(float(end[1])) - self.r
        self.corners: list[Vector] = [vector(corner) for corner in corners]

    def center(self, t: Fraction) -> Vector:
        return point_along(self.p, self.v, t)

    def overlaps(self, t: float | Fraction) -> bool:
        """Return whether the sphere overlaps the triangle at `t`; exact."""
        t = Fraction(t)
        return point_triangle_squared(self.center(t), *self.corners) <= (self.r + self.s * t) ** 2

    def height(self, t: float | Fraction) -> Fraction:
        """Height of the center times a positive number; only the sign, which is the side, has a meaning."""
        a, b, c = self.corners
        return dot(subtract(self.center(Fraction(t)), a), cross(subtract(b, a), subtract(c, a)))

    def gap(self, t: Fraction) -> Decimal:
        """Separation to 60 digits."""
        with localcontext() as context:
            context.prec = 60
            squared, reach = point_triangle_squared(self.center(t), *self.corners), self.r + self.s * t
            distance = (Decimal(squared.numerator) / Decimal(squared.denominator)).sqrt()
            return distance - Decimal(reach.numerator) / Decimal(reach.denominator)

    def minimum_separation(self) -> tuple[Fraction, Decimal]:
        """Time and value of the minimum separation, by ternary search: the separation is convex in time."""
        low, high = Fraction(0), Fraction(1)
        while high - low > Fraction(1, 2**40):
            one, two = (Fraction(round((low + (high - low) * k / 3) * 2**64), 2**64) for k in (1, 2))
            if self.gap(one) <= self.gap(two):
                high = two
            else:
                low = one
        time = min((Fraction(0), low, (low + high) / 2, high, Fraction(1)), key=self.gap)
        return time, self.gap(time)

    @cached_property
    def span(self) -> tuple[Fraction, Fraction] | None:
        """First and last time of overlap from either side; None for never."""
        times = [Fraction(t) for t in (0, 1) if self.overlaps(t)]
        times += [t for t in self._candidate_times() if 0 <= t <= 1 and self._touches(t)]
        return (min(times), max(times)) if times else None

    @property
    def span_in_front(self) -> tuple[Fraction, Fraction] | None:
        """First and last time of overlap while the center is not behind the triangle; None for never."""
        span, start, end = self.span, self.height(0), self.height(1)
        if span is None or (start < 0 and end < 0):
            return None
        through = start / (start - end) if start != end else Fraction(0)
        enter = max(span[0], through) if start < 0 else span[0]
        leave = min(span[1], through) if end < 0 else span[1]
        return (enter, leave) if enter <= leave else None

    def _candidate_times(self) -> list[Fraction]:
        """All times at which the center is a radius away from the plane, the line of an edge, or a corner."""
        a, b, c = self.corners
        normal = cross(subtract(b, a), subtract(c, a))
        zero = Fraction(0)
        heights = [(dot(each, normal), zero, zero) for each in (subtract(self.p, a), self.v)]
        parts = [(heights[0], heights[1], dot(normal, normal))]
        for start, end in ((a, b), (b, c), (c, a)):
            offset, along = subtract(self.p, start), subtract(end, start)
            parts.append((offset, self.v, Fraction(1)))
            parts.append((cross(offset, along), cross(self.v, along), dot(along, along)))
        times = []
        for p, v, m in parts:
            # |p + v t|^2 = (r + s t)^2 m
            A = dot(v, v) - self.s * self.s * m
            B, C = dot(p, v) - self.r * self.s * m, dot(p, p) - self.r * self.r * m
            times += quadratic_roots(A, B, C)
        return times

    def _touches(self, t: Fraction) -> bool:
        """Return whether the sphere overlaps the triangle at a time correct to 100 digits."""
        squared, reach = point_triangle_squared(self.center(t), *self.corners), self.r + self.s * t
        return squared <= reach * reach + Fraction(1, 10**80) * (squared + dot(self.v, self.v))


def quadratic_roots(a: Fraction, b: Fraction, c: Fraction) -> list[Fraction]:
    """Real roots of a t^2 + 2 b t + c, to 100 digits."""
    if a == 0:
        return [-c / (2 * b)] if b else []
    under = b * b - a * c
    if under < 0:
        return []
    with localcontext() as context:
        context.prec = 120
        root = Fraction((Decimal(under.numerator) / Decimal(under.denominator)).sqrt())
    return [(-b - root) / a, (-b + root) / a]
