"""Cubic Bezier segments of animation curves: the value at a time, and the deviation from a chord.

A segment maps a parameter in [0, 1] to time and to value, one cubic each. Its handles are shortened so that
time never decreases.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Floats

Singles = NDArray[np.float32]

_LARGEST_PARAMETER = np.float32(1.000001)
_SMALLEST_PARAMETER = np.float32(-1e-10)


def shortened_handles(start: Singles, right: Singles, left: Singles, end: Singles) -> tuple[Singles, Singles]:
    """Shorten the handles of segments so that neither reaches beyond the other key.

    start, end : (m, 2) float32. Time and value of both keys.
    right, left : (m, 2) float32. Time and value of the right handle of the first key, and of the left
        handle of the second.
    Returns right, left : (m, 2) float32. As Blender rounds them.
    """
    span = end[:, 0] - start[:, 0]
    shortened = []
    for key, handle in ((start, right), (end, left)):
        delta = key - handle
        reach = np.abs(delta[:, 0])
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = (span / reach)[:, None]
            shortened.append(np.where((reach > span)[:, None], key - factor * delta, handle))
    return shortened[0], shortened[1]


def cubic_coefficients(controls: Singles) -> Singles:
    """Convert control values (4, m) to coefficients (4, m) of 1, s, s^2 and s^3, as Blender rounds them."""
    q0, q1, q2, q3 = controls
    three, two = np.float32(3), np.float32(2)
    return np.stack([q0, three * (q1 - q0), three * (q0 - two * q1 + q2), q3 - q0 + three * (q1 - q2)])


def parameters_at(coefficients: Singles, first: Singles, times: Singles) -> Singles:
    """Find the parameters at which segments reach times, with Blender's formulas and rounding.

    coefficients : (4, m) float32. `cubic_coefficients` of the times of the control points.
    first : (m,) float32. Time of the first key.
    times : (m,) float32. Within the segments.
    Returns parameters : (m,) float32. NaN where rounding leaves Blender without a solution.
    """
    c1, c2, c3 = coefficients[1:].astype(np.float64)
    c0 = (first - times).astype(np.float64)
    result = np.full(times.shape, np.nan, dtype=np.float32)
    with np.errstate(all="ignore"):
        is_cubic = c3 != 0
        for is_kind, solve in ((is_cubic, _cubic_roots), (~is_cubic, _quadratic_roots)):
            rows = np.flatnonzero(is_kind)
            if len(rows):
                result[rows] = _first_valid(solve(c0[rows], c1[rows], c2[rows], c3[rows]))
    return result


def _first_valid(roots: Floats) -> Singles:
    """Return the first of the roots (r, m) that is a parameter of a segment, as float32."""
    rounded = roots.astype(np.float32)
    is_valid = (rounded >= _SMALLEST_PARAMETER) & (rounded <= _LARGEST_PARAMETER)
    chosen = np.take_along_axis(rounded, is_valid.argmax(axis=0)[None], axis=0)[0]
    return np.where(is_valid.any(axis=0), chosen, np.float32(np.nan))


def _cubic_roots(c0: Floats, c1: Floats, c2: Floats, c3: Floats) -> Floats:
    """Roots (3, m) of cubic polynomials (m,), by Cardano's formulas; NaN for none."""
    a, b, c = c2 / c3 / 3, c1 / c3, c0 / c3
    p = b / 3 - a * a
    q = (2 * a * a * a - a * b + c) / 2
    discriminant = q * q + p * p * p
    roots = np.full((3, len(a)), np.nan)
    one = np.flatnonzero(discriminant > 0)
    t = np.sqrt(discriminant[one])
    roots[0, one] = _cube_root(-q[one] + t) + _cube_root(-q[one] - t) - a[one]
    double = np.flatnonzero(discriminant == 0)
    t = _cube_root(-q[double])
    roots[0, double], roots[1, double] = 2 * t - a[double], -t - a[double]
    three = np.flatnonzero(discriminant < 0)
    p, q, a = p[three], q[three], a[three]
    cosine = np.cos(np.arccos(-q / np.sqrt(-(p * p * p))) / 3)
    t, sine = np.sqrt(-p), np.sqrt(3 - 3 * cosine * cosine)
    roots[:, three] = 2 * t * cosine - a, -t * (cosine + sine) - a, -t * (cosine - sine) - a
    return roots


def _quadratic_roots(c0: Floats, c1: Floats, c2: Floats, _: Floats) -> Floats:
    """Roots (2, m) of polynomials (m,) without cubic term; NaN for none."""
    root = np.sqrt(c1 * c1 - 4 * c2 * c0)
    linear = np.where(c1 != 0, -c0 / c1, np.where(c0 == 0, 0.0, np.nan))
    is_linear = c2 == 0
    first, second = ((-c1 + sign * root) / (2 * c2) for sign in (-1, 1))
    return np.stack([np.where(is_linear, linear, first), np.where(is_linear, np.nan, second)])


def _cube_root(values: Floats) -> Floats:
    """Cube roots as Blender computes them; NumPy's own differ in the last bit."""
    return np.where(values == 0, 0.0, np.sign(values) * np.exp(np.log(np.abs(values)) / 3))


def values_at(coefficients: Singles, parameters: Singles) -> Singles:
    """Evaluate cubic polynomials (4, ...) at parameters (...), as Blender rounds them."""
    c0, c1, c2, c3 = coefficients
    s = parameters
    return np.asarray(c0 + s * c1 + s * s * c2 + s * s * s * c3)
