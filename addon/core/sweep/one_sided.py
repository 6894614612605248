"""Times at which moving triangles come to the front of others, which one-sided ones need to be touched.

A triangle is behind another one as long as its center is behind the plane of that. Of corners that move in
straight lines, the height above the plane times the area is a cubic polynomial in time.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, cross, dot, length
from ..numeric.tolerances import DISTANCE_ROUNDING

_BISECTIONS = 60


def times_in_front(
    face: tuple[Floats, Floats], other: tuple[Floats, Floats], begin: Floats, behind: Floats
) -> Floats:
    """First times (m,) in [begin, 1] at which centers of triangles are not behind the planes of faces.

    NaN for never. Faces without area have no front: nothing is behind them.

    face, other : Corners (m, 3, 3) at both ends.
    begin : (m,) float64. Times from which on they are searched.
    behind : (m,) float64. Distances by which centers may be behind.
    """
    heights = _heights(face, other, behind)
    # Between the roots of its derivative, a height rises or falls.
    first, second, third = np.diff(heights, axis=0)
    square, half, constant = first - 2 * second + third, second - first, first
    with np.errstate(divide="ignore", invalid="ignore"):
        root = -half - np.copysign(np.sqrt(half * half - square * constant), half)
        roots = np.nan_to_num(np.stack([root / square, constant / root]), posinf=1.0)
    turns = np.sort(np.clip(roots, begin, 1.0), axis=0)
    result, before = np.where(_at(heights, begin) >= 0, begin, np.nan), begin
    for after in (*turns, np.ones_like(begin)):
        rows = np.flatnonzero(np.isnan(result) & (_at(heights, after) >= 0))
        if len(rows):
            result[rows] = _root(heights[:, rows], before[rows], after[rows])
        before = after
    return result


def _heights(face: tuple[Floats, Floats], other: tuple[Floats, Floats], behind: Floats) -> Floats:
    """Bernstein coefficients (4, m) of heights above planes that are farther behind, times an area."""
    corner, corner_end = (each[:, 0] for each in face)
    (u, v), (u_end, v_end) = ((each[:, 1] - each[:, 0], each[:, 2] - each[:, 0]) for each in face)
    w, w_end = other[0].mean(axis=1) - corner, other[1].mean(axis=1) - corner_end
    first, last = cross(u, v), cross(u_end, v_end)
    middle = (cross(u, v_end) + cross(u_end, v)) / 2
    products = (
        dot(first, w),
        (dot(first, w_end) + 2 * dot(middle, w)) / 3,
        (2 * dot(middle, w_end) + dot(last, w)) / 3,
        dot(last, w_end),
    )
    largest = np.maximum.reduce([length(each) for each in (first, middle, last)])
    size = np.maximum.reduce([np.abs(each).max(axis=(1, 2)) for each in (*face, *other)])
    heights: Floats = np.stack(products) + largest * (behind + DISTANCE_ROUNDING * size)
    return heights


def _at(coefficients: Floats, time: Floats) -> Floats:
    """Values (m,) of polynomials with Bernstein coefficients (k, m) at times (m,)."""
    while len(coefficients) > 1:
        coefficients = coefficients[:-1] * (1 - time) + coefficients[1:] * time
    return np.asarray(coefficients[0])


def _root(coefficients: Floats, low: Floats, high: Floats) -> Floats:
    """Find times (m,) from which on polynomials that rise between two times are not negative."""
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_front = _at(coefficients, middle) >= 0
        low, high = np.where(is_front, low, middle), np.where(is_front, middle, high)
    return high
