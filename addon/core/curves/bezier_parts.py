"""Parts of Bezier segments in float64: the parameter of a time, and the distance from a chord.

The distance of a part from a line is a cubic Bezier function again, whose inner control values bound it. No
slope over time is used, because tangents can stand upright.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats

_MOST_STEPS = 60
_NOISE = 2.0**-51
"""Part of the largest control value by which a value may be off through rounding."""


def parameter_of_time(controls: Floats, times: Floats) -> Floats:
    """Find the parameters (m,) at which monotonic cubic Bezier functions (4, m) reach values (m,).

    By Newton's method within a bracket, from where a straight line would reach the value: handles are mostly
    such that time is nearly linear. The error is a few ulps of the value, divided by the slope.
    """
    low, high = np.zeros(len(times)), np.ones(len(times))
    span = controls[3] - controls[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(span > 0, np.clip((times - controls[0]) / span, 0, 1), 0.5)
    coefficients = polynomial(controls)
    noise = _NOISE * np.maximum(np.abs(controls[0]), np.abs(controls[3]))
    # A few need many steps. Once half of the rows have converged, only the rest is continued.
    result, rows = np.empty(len(times)), np.arange(len(times))
    for _ in range(_MOST_STEPS):
        value = evaluated(coefficients, s) - times
        low, high = np.where(value <= 0, s, low), np.where(value >= 0, s, high)
        slope = derivative(coefficients, s)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = s - value / slope
        inside = (newton >= low) & (newton <= high)
        following = np.where(inside, newton, (low + high) / 2)
        # Where rounding moves it to and fro, no further step is better.
        is_open = (np.abs(following - s) > 4e-16) & (np.abs(value) > noise)
        s = following
        still_open = np.flatnonzero(is_open)
        if 2 * len(still_open) <= len(s):
            result[rows] = s
            if not len(still_open):
                return result
            rows, s, times = rows[still_open], s[still_open], times[still_open]
            low, high, noise = low[still_open], high[still_open], noise[still_open]
            coefficients = coefficients[:, still_open]
    result[rows] = s
    return result


def polynomial(controls: Floats) -> Floats:
    """Convert control values (4, m) to coefficients (4, m) of 1, s, s^2 and s^3."""
    q0, q1, q2, q3 = controls
    return np.stack([q0, 3 * (q1 - q0), 3 * (q0 - 2 * q1 + q2), q3 - q0 + 3 * (q1 - q2)])


def evaluated(coefficients: Floats, s: Floats) -> Floats:
    """Evaluate cubic polynomials (4, m) at parameters (m,)."""
    c0, c1, c2, c3 = coefficients
    return np.asarray(c0 + s * (c1 + s * (c2 + s * c3)))


def derivative(coefficients: Floats, s: Floats) -> Floats:
    """Evaluate the derivatives of cubic polynomials (4, m) at parameters (m,)."""
    _, c1, c2, c3 = coefficients
    return np.asarray(c1 + s * (2 * c2 + s * 3 * c3))


def cut(controls: Floats, begin: Floats, end: Floats) -> Floats:
    """Control values (4, m) of the parts of Bezier functions (4, m) between two parameters (m,)."""
    return np.stack(
        [
            _polar(controls, *each)
            for each in ((begin,) * 3, (begin, begin, end), (begin, end, end), (end,) * 3)
        ]
    )


def _polar(controls: Floats, r: Floats, s: Floats, t: Floats) -> Floats:
    """Polar form of Bezier functions (4, m): symmetric, and linear in each argument."""
    q0, q1, q2, q3 = controls
    a, b, c = q0 + r * (q1 - q0), q1 + r * (q2 - q1), q2 + r * (q3 - q2)
    a, b = a + s * (b - a), b + s * (c - b)
    return np.asarray(a + t * (b - a))


def deviation_of_bezier(times: Floats, values: Floats) -> Floats:
    """Bound the distance (m,) of Bezier segments from the lines through their ends.

    Conservative, and exact for handles at equal distances: the inner control values d1, d2 of the distance
    give at most 3 s (1 - s) max(|d1|, |d2|).

    times, values : (4, m) float64. Of the control points; times do not decrease.
    """
    span = times[3] - times[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(span > 0, (values[3] - values[0]) / span, 0.0)
    inner = np.abs(values[1:3] - values[0] - slope * (times[1:3] - times[0])).max(axis=0)
    jump = np.abs(values[1:] - values[0]).max(axis=0)
    return np.where(span > 0, 0.75 * inner, jump)
