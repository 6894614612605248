"""The smallest enclosing sphere of points: exact, in about the time of one pass over the points.

Farthest-point pivoting with an exact support set, after Welzl (1991) and Gaertner (1999). Of many points, a
sample is solved first, because few points are outside of the sphere of a sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Floats, dot, require_finite
from ..numeric.tolerances import SAME_DISTANCE
from .farthest_point import FarPoints, largest_distance

_FEW = 28
"""Up to this many points, plain Python is faster than NumPy."""

_MANY = 1 << 15
"""Above this, a sample of 4 sqrt(n) points is faster: about sqrt(n) of all are outside its sphere."""

_DOZEN, _SHELL = 12, 80
"""Ranks of sample points, from the outermost, that bound the shell of points to keep."""

_MAX_PASSES, _MAX_ROUNDS = 4, 20
Point: TypeAlias = list[float]
Edge: TypeAlias = tuple[float, float, float, float]
"""A support point relative to the newest one, and its squared distance."""
TOLERANCE = 1e-14
"""A point is outside if its squared distance exceeds the squared radius by more than this, relatively."""
MAX_STALLS = 8
"""Pivots in a row without a larger radius, after which rounding makes them repeat: each should enlarge it."""
MAX_PIVOTS = 1000
_LARGEST = 1e45
_MAX_OFFSET_SQUARED = 64.0**2
"""Centers this many radii from the origin (squared) are rounded too coarsely for exact pivots."""
FLAT_VOLUME_SQUARED = 1e-4
"""Squared volume of three unit edges below which they count as flat: 1e-2 costs two of sixteen digits."""
_SMALLEST_SQUARE, _LARGEST_SQUARE = 1e-90, 1e90
"""Squared sizes between these have cubes that neither over- nor underflow."""


def minimal_sphere(points: NDArray[Any]) -> tuple[Floats, float]:
    """Find the smallest sphere around points (n, 3) of float32 or float64, n >= 1.

    Exact: the radius is within 1e-12 of the smallest, plus the error of rounding the center to float64. It
    is the largest float64 distance of a point, so that `Sphere.contains` is true for every point.

    Raises NonFiniteGeometryError
    """
    center, radius, _ = _solved(points)
    return center, radius


def _solved(points: NDArray[Any], start: Support | None = None) -> tuple[Floats, float, Support | None]:
    """Solve points (n, 3), starting from the sphere of a part of them; also return the support."""
    if len(points) > _MANY:
        sampled = _smallest_of_many(points)
        if sampled is not None:
            return (*sampled, None)
    few = len(points) <= _FEW and start is None
    sphere = smallest_of_few(points.tolist()) if few else _smallest_of_several(points, start)
    if sphere.is_accurate:
        return np.array(sphere.center), math.sqrt(sphere.squared), sphere
    return (*_smallest_at_unit_scale(points), None)


def _smallest_at_unit_scale(points: NDArray[Any]) -> tuple[Floats, float]:
    """Solve points (n, 3) moved and scaled to the cube from -1 to 1, where nothing over- or underflows."""
    require_finite(points, "points")
    low = points.min(axis=0).astype(np.float64)
    high = points.max(axis=0).astype(np.float64)
    center = low * 0.5 + high * 0.5
    extent = float((high * 0.5 - low * 0.5).max())
    if extent > 0:
        center = center + minimal_sphere((points - center) / extent)[0] * extent
    radius = largest_distance(points, center)
    require_finite(np.array(radius), "sphere radius")
    return center, radius


def _smallest_of_several(points: NDArray[Any], start: Support | None) -> Support:
    """Solve points (n, 3) by `pivot_to_smallest`, with NumPy to find the farthest point."""
    columns = np.array(points.T, dtype=np.float64, order="C")
    x, y, z = columns
    work = np.empty((4, len(points)))
    dx, dy, dz, squares = work
    offset = work[:3]

    def farthest(center: Sequence[float]) -> tuple[float, Point]:
        a, b, c = center
        np.subtract(x, a, dx)
        np.subtract(y, b, dy)
        np.subtract(z, c, dz)
        np.multiply(offset, offset, offset)
        np.add(dx, dy, squares)
        np.add(squares, dz, squares)
        index = squares.argmax()
        return squares.item(index), points[index].tolist()

    if start is None:
        # Start between the extremes of an axis. If any point is NaN or infinite, one of the extremes is.
        ends = columns.argmin(axis=1).tolist() + columns.argmax(axis=1).tolist()
        start = widest_span(points.take(ends, axis=0).tolist())
        if not start.is_accurate:
            return start
    return pivot_to_smallest(farthest, start)


def _smallest_of_many(points: NDArray[Any]) -> tuple[Floats, float] | None:
    """Solve points (n, 3) by samples: the points on or outside of the sphere of a sample are the next sample.

    One pass over all points serves many rounds, because the center hardly moves. None where this is not
    faster, or where coordinates are too large or too small.
    """
    steps = np.arange(int(4 * math.sqrt(len(points))))
    # Sample evenly, but jittered by the golden ratio, because points can be in the order of a grid.
    positions = (steps + steps * 0.6180339887498949 % 1) * (len(points) / len(steps))
    sample = points.take(positions.astype(np.int64), axis=0)
    if not np.isfinite(sample).all():
        return None
    center, radius, sphere = _solved(sample)
    if not 1e-130 < radius < 1e130:
        return None
    for _ in range(_MAX_PASSES):
        # Keep points from about the distance of the twelfth farthest of the sample. Where the outermost of
        # the sample lie close to its sphere, the final center is likely to move farther than that: then down
        # to the eightieth.
        offset = sample - center
        squared = np.partition(dot(offset, offset), (-_SHELL, -_DOZEN))
        few, many = math.sqrt(squared[-_DOZEN]), math.sqrt(squared[-_SHELL])
        least = min(few, max(many, radius * 0.985)) * (1 - 4 * SAME_DISTANCE)
        has_digits = 1e-15 < least < radius * (1 - 1e-6) and radius < 1e17
        use_float32 = points.dtype == np.float32 and has_digits
        far = FarPoints(points, center, least, np.float32 if use_float32 else np.float64)
        if not far.largest < math.inf:
            return None
        if not use_float32 and far.largest <= (radius * (1 + SAME_DISTANCE)) ** 2:
            return center, math.sqrt(far.largest)
        for _ in range(_MAX_ROUNDS):
            near = far.beyond(center, radius)
            if near is None or len(near) > len(points) // 2:
                break
            candidates = points.take(near, axis=0)
            largest = largest_distance(candidates, center)
            if largest <= radius * (1 + SAME_DISTANCE):
                return center, largest
            center, radius, sphere = _solved(candidates, sphere)
    return None


class Support(NamedTuple):
    """A sphere and the points that determine it."""

    center: tuple[float, float, float]
    squared: float
    """Squared distance of the farthest point."""
    points: list[Point]

    @property
    def is_accurate(self) -> bool:
        """True if rounding, overflow and underflow were negligible in its computation."""
        x, y, z = self.center
        is_near = x * x + y * y + z * z < _MAX_OFFSET_SQUARED * self.squared
        return is_near and _SMALLEST_SQUARE < self.squared < _LARGEST_SQUARE


def smallest_of_few(points: list[Point]) -> Support:
    """Find the smallest sphere around points; not `is_accurate` if any coordinate is NaN or infinite."""

    def farthest(center: Sequence[float]) -> tuple[float, Point]:
        a, b, c = center
        largest = -1.0
        for point in points:
            x, y, z = point
            x -= a
            y -= b
            z -= c
            squared = x * x + y * y + z * z
            if squared > largest:
                largest, best = squared, point
        return largest, best

    first = min(points)
    a, b, c = first
    # Test a sum, because a sum keeps NaN and comparisons do not.
    if not sum([abs(x - a) + abs(y - b) + abs(z - c) for x, y, z in points]) < _LARGEST:
        return _between(first, math.nan, first)
    squared, second = farthest(first)
    return pivot_to_smallest(farthest, _between(first, squared, second))


def widest_span(ends: list[Point]) -> Support:
    """Return the sphere between the extremes of the axis on which these are farthest apart.

    `ends` are the three lowest points of the axes, then the three highest. The result is not `is_accurate`
    if any coordinate is NaN or infinite.
    """
    widths = [math.dist(low, high) for low, high in zip(ends[:3], ends[3:], strict=True)]
    # Test a sum, because a sum keeps NaN and max() does not.
    if not sum(widths) < _LARGEST:
        return _between(ends[0], math.nan, ends[0])
    width = max(widths)
    axis = widths.index(width)
    return _between(ends[axis], width * width, ends[axis + 3])


def _between(first: Point, squared: float, second: Point) -> Support:
    """Return the sphere with two points as poles, from their squared distance."""
    a, b, c = first
    d, e, f = second
    return Support(((a + d) * 0.5, (b + e) * 0.5, (c + f) * 0.5), squared * 0.25, [first, second])


def pivot_to_smallest(farthest: Callable[[Sequence[float]], tuple[float, Point]], sphere: Support) -> Support:
    """Find the smallest sphere around a set of points.

    Exact up to rounding: the radius is within about 1e-14 of the smallest.

    farthest : Returns the squared distance of the point farthest from a center, and that point.
    sphere : The smallest sphere of a part of the points, to start from.
    """
    best = sphere
    least = math.inf
    stalls = 0
    for _ in range(MAX_PIVOTS):
        center, radius_squared, support = sphere
        squared, point = farthest(center)
        if squared < least:
            least, best = squared, sphere
        if squared <= radius_squared * (1 + TOLERANCE) or point in support:
            break
        sphere = smallest_through(point, support)
        stalls = 0 if sphere.squared > radius_squared else stalls + 1
        if stalls > MAX_STALLS:
            break
    return Support(best.center, least, best.points)


def smallest_through(point: Point, support: list[Point]) -> Support:
    """Find the smallest sphere around `point` and `support` that passes through `point`.

    With the point at the origin, a sphere around x through the origin contains a corner e where 2 x.e >=
    e.e. So the center is the shortest x that satisfies this condition for each corner. Conditions become
    active one by one, the most violated first; at most three are active at a time.
    """
    px, py, pz = point
    edges: list[Edge] = []
    longest = -1.0
    for x, y, z in support:
        x -= px
        y -= py
        z -= pz
        squared = x * x + y * y + z * z
        if squared > longest:
            longest, first = squared, len(edges)
        edges.append((x, y, z, squared))
    active: tuple[int, ...] = (first,)
    x, y, z, _ = edges[first]
    x *= 0.5
    y *= 0.5
    z *= 0.5
    least = math.inf
    # The sphere grows each round, so no set of corners repeats; there are at most 14 sets.
    for _ in range(14):
        violations = [squared - 2 * (x * a + y * b + z * c) for a, b, c, squared in edges]
        worst = max(violations)
        squared = x * x + y * y + z * z
        if squared + worst < least:
            least, best = squared + worst, (active, x, y, z, squared)
        new = violations.index(worst)
        # If an active corner is the most violated, all corners are inside, to rounding.
        if worst <= TOLERANCE * 0.1 * longest or new in active:
            break
        active, (x, y, z) = _with_corner(edges, active, new)
    active, x, y, z, squared = best
    return Support((px + x, py + y, pz + z), squared, [point, *[support[index] for index in active]])


def _with_corner(
    edges: list[Edge], active: tuple[int, ...], new: int
) -> tuple[tuple[int, ...], tuple[float, float, float]]:
    """Return the active corners after adding one, and the center of the smallest sphere around them."""
    c = edges[new]
    if len(active) == 1:
        # Both are needed, because no condition of a shorter edge implies that of the longest.
        return (*active, new), _through_two(edges[active[0]], c)
    if len(active) == 2:
        i, j = active
        offset, holds = _through_three(edges[i], edges[j], c)
        if holds:
            return (i, j, new), offset
    candidates: list[tuple[tuple[int, ...], tuple[float, float, float]]]
    candidates = [((i, new), _through_two(edges[i], c)) for i in active]
    pairs = combinations(active, 2)
    candidates += [((i, j, new), _through_three(edges[i], edges[j], c)[0]) for i, j in pairs]
    corners = [edges[index] for index in (*active, new)]
    return min(candidates, key=lambda candidate: _reach(candidate[1], corners))


def _reach(offset: tuple[float, float, float], corners: list[Edge]) -> float:
    """Return the squared distance of a center from the farthest of the origin and the corners."""
    x, y, z = offset
    squared = x * x + y * y + z * z
    if squared == math.inf:
        return squared
    return squared + max(0.0, max([g - 2 * (x * a + y * b + z * c) for a, b, c, g in corners]))


def _through_two(one: Edge, two: Edge) -> tuple[float, float, float]:
    """Circumcenter of the origin and two corners, in their plane; infinite if they are collinear."""
    ax, ay, az, aa = one
    bx, by, bz, bb = two
    nx = ay * bz - az * by
    ny = az * bx - ax * bz
    nz = ax * by - ay * bx
    twice = 2 * (nx * nx + ny * ny + nz * nz)
    if twice == 0.0:
        return (math.inf, math.inf, math.inf)
    dx = ax - bx
    dy = ay - by
    dz = az - bz
    # Subtract corners, not their squares, because close corners keep their digits then.
    u = bb * (ax * dx + ay * dy + az * dz) / twice
    v = -aa * (bx * dx + by * dy + bz * dz) / twice
    return (u * ax + v * bx, u * ay + v * by, u * az + v * bz)


def _through_three(  # noqa: PLR0914  # one name for each coordinate
    one: Edge, two: Edge, three: Edge
) -> tuple[tuple[float, float, float], bool]:
    """Circumcenter of the origin and three corners, and whether it is in the cone of the three.

    Infinite if they are coplanar.
    """
    ax, ay, az, aa = one
    bx, by, bz, bb = two
    cx, cy, cz, cc = three
    ux = by * cz - bz * cy
    uy = bz * cx - bx * cz
    uz = bx * cy - by * cx
    vx = cy * az - cz * ay
    vy = cz * ax - cx * az
    vz = cx * ay - cy * ax
    wx = ay * bz - az * by
    wy = az * bx - ax * bz
    wz = ax * by - ay * bx
    twice = 2 * (ax * ux + ay * uy + az * uz)
    if twice == 0.0:
        return (math.inf, math.inf, math.inf), False
    x = (aa * ux + bb * vx + cc * wx) / twice
    y = (aa * uy + bb * vy + cc * wy) / twice
    z = (aa * uz + bb * vz + cc * wz) / twice
    if twice * twice < FLAT_VOLUME_SQUARED * aa * bb * cc:
        # Nearly coplanar corners lose digits: correct the center by the residuals of its equations.
        ra = aa - 2 * (x * ax + y * ay + z * az)
        rb = bb - 2 * (x * bx + y * by + z * bz)
        rc = cc - 2 * (x * cx + y * cy + z * cz)
        x += (ra * ux + rb * vx + rc * wx) / twice
        y += (ra * uy + rb * vy + rc * wy) / twice
        z += (ra * uz + rb * vz + rc * wz) / twice
    side = twice > 0
    holds = (
        (x * ux + y * uy + z * uz > 0) == side
        and (x * vx + y * vy + z * vz > 0) == side
        and (x * wx + y * wy + z * wz > 0) == side
    )
    return (x, y, z), holds
