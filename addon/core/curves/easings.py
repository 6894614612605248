"""Easings of animation curves: values between two keys, as Blender rounds them.

An eased segment goes from the value of one key to that of the next along a function of time. The formulas are
those of Robert Penner, with Blender's order of operations in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..numeric.arrays import Ints, Singles

FAMILIES = ("SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE", "ELASTIC")
MODES = ("EASE_IN", "EASE_OUT", "EASE_IN_OUT")
EASING_CODES = {easing: code for code, easing in enumerate(product(FAMILIES, MODES))}
"""Numbers of easings, by family and mode."""

LEAST_POWER = 2.0**-10
"""Value at which the powers of exponential easings begin, which is subtracted."""
OVERSHOOT_OF_BOTH = 1.525
"""Factor of the overshoot where it is at both ends."""
BOUNCES = ((1.0, 0.0, 0.0), (2.0, 1.5, 0.75), (2.5, 2.25, 0.9375), (2.75, 2.625, 0.984375))
"""Parabolas of a bounce, in 2.75 units of time: end, vertex, and value at the vertex."""
BOUNCE_FACTOR = 7.5625
PERIODS = (0.3, 0.3, float(np.float32(0.3) * np.float32(1.5)))
"""Periods of elastic easings by mode, as parts of the duration, where none is given."""

POWER_SCALE = 1 / (1 - LEAST_POWER)
_TURN = 2 * np.pi

Formula: TypeAlias = Callable[[Any, Any, Any, Any, Any], Any]
"""Value from the elapsed time, the duration, the first value, the change, and the settings (3, m).

Of float32 or float64: numbers in formulas are Python's, which do not change the type of arrays.
"""


def eased_values(codes: Ints, times: Singles, starts: Singles, ends: Singles, settings: Singles) -> Singles:
    """Compute the values (m,) of eased segments (m,) at times (m,) in frames, within the segments.

    Equal to Blender's, except for the last bit where functions of the C library differ.

    codes : (m,) int. See `EASING_CODES`.
    starts, ends : (m, 2) float32. Time and value of the keys at both ends.
    settings : (m, 3) float32. Overshoot of the family BACK, amplitude and period of the family ELASTIC.
    """
    result = np.empty(len(times), dtype=np.float32)
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        (time, first), (duration, change) = starts[rows].T, (ends[rows] - starts[rows]).T
        with np.errstate(divide="ignore", invalid="ignore"):
            result[rows] = formula_of(code)(times[rows] - time, duration, first, change, settings[rows].T)
    return result


def formula_of(code: int) -> Formula:
    """Return the formula of an easing, from its number."""
    family, mode = divmod(code, len(MODES))
    return _FORMULAS[FAMILIES[family]][mode]


def _rounded(function: Any, values: Any) -> Any:
    """Apply a function in double precision, as libraries for single precision do."""
    return function(values.astype(np.float64)).astype(values.dtype)


def _power(t: Any, exponent: int, factor: Any = 1) -> Any:
    """Multiply a factor by t as often as the exponent says, from left to right."""
    for _ in range(exponent):
        factor = factor * t
    return factor


def _quad_in_out(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
    t = t / (d / 2)
    later = t - 1
    return np.where(t < 1, c / 2 * t * t, -c / 2 * (later * (later - 2) - 1)) + b


def _power_in(exponent: int) -> Formula:
    return lambda t, d, b, c, _: _power(t / d, exponent, c) + b


def _power_out(exponent: int) -> Formula:
    sign = 1 if exponent % 2 else -1
    return lambda t, d, b, c, _: sign * c * (_power(t / d - 1, exponent) + sign) + b


def _power_in_out(exponent: int) -> Formula:
    sign = 1 if exponent % 2 else -1

    def formula(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
        t = t / (d / 2)
        later = sign * c / 2 * (_power(t - 2, exponent) + 2 * sign)
        return np.where(t < 1, _power(t, exponent, c / 2), later) + b

    return formula


def _expo_in(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
    return c * (_rounded(np.exp2, 10 * (t / d - 1)) - LEAST_POWER) * POWER_SCALE + b


def _expo_out(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
    return c * (1 - (_rounded(np.exp2, -10 * t / d) - LEAST_POWER) * POWER_SCALE) + b


def _expo_in_out(t: Any, d: Any, b: Any, c: Any, k: Any) -> Any:
    d, c = d / 2, c / 2
    return np.where(t <= d, _expo_in(t, d, b, c, k), _expo_out(t - d, d, b + c, c, k))


def _circ_in_out(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
    t = t / (d / 2)
    later = t - 2
    first, second = (np.sqrt(1 - part * part) for part in (t, later))
    return np.where(t < 1, -c / 2 * (first - 1), c / 2 * (second + 1)) + b


def _back_in(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    k = settings[0]
    t = t / d
    return c * t * t * ((k + 1) * t - k) + b


def _back_out(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    k = settings[0]
    t = t / d - 1
    return c * (t * t * ((k + 1) * t + k) + 1) + b


def _back_in_out(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    k = settings[0] * OVERSHOOT_OF_BOTH
    t = t / (d / 2)
    later = t - 2
    first = c / 2 * (t * t * ((k + 1) * t - k))
    return np.where(t < 1, first, c / 2 * (later * later * ((k + 1) * later + k) + 2)) + b


def _bounce_out(t: Any, d: Any, b: Any, c: Any, _: Any) -> Any:
    t = t / d
    result, is_open = np.zeros_like(t), np.ones(t.shape, dtype=bool)
    for end, vertex, value in BOUNCES:
        here = is_open & (t < end / 2.75) if end < 2.75 else is_open
        part = t - vertex / 2.75
        result = np.where(here, c * (BOUNCE_FACTOR * part * part + value), result)
        is_open = is_open & ~here
    return result + b


def _bounce_in(t: Any, d: Any, b: Any, c: Any, k: Any) -> Any:
    return c - _bounce_out(d - t, d, 0, c, k) + b


def _bounce_in_out(t: Any, d: Any, b: Any, c: Any, k: Any) -> Any:
    first = _bounce_in(t * 2, d, 0, c, k) * 0.5
    return np.where(t < d / 2, first, _bounce_out(t * 2 - d, d, 0, c, k) * 0.5 + c * 0.5) + b


def _swing(t: Any, d: Any, c: Any, settings: Any, default: float) -> Any:
    """Return a factor, and the decaying swing that it is for, at t in [-1, 0], in parts of the duration.

    default : period where none is given, as part of the duration
    """
    _, amplitude, period = settings
    period = np.where(period == 0, d * default, period)
    size = np.abs(c)
    is_small = (amplitude == 0) | (amplitude < size)
    shift = np.where(is_small, period / 4, period / _TURN * _rounded(np.arcsin, c / amplitude))
    factor = np.where(amplitude == 0, 0.0, amplitude / size)
    part = np.abs(t * d) / np.abs(shift)
    factor = np.where(np.abs(t * d) < np.abs(shift), factor * part + (1 - part), factor)
    factor = np.where(is_small & (c != 0), factor, 1.0)
    reach = np.where(is_small, c, amplitude)
    sine = _rounded(np.sin, (t * d - shift) * _TURN / period)
    return factor, reach * _rounded(np.exp2, 10 * t) * sine


def _elastic_in(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    factor, swing = _swing(t / d - 1, d, c, settings, PERIODS[0])
    return np.where(t == 0, b, -factor * swing + b)


def _elastic_out(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    factor, swing = _swing(-(t / d), d, c, settings, PERIODS[1])
    return np.where(t == 0, b, factor * swing + c + b)


def _elastic_in_out(t: Any, d: Any, b: Any, c: Any, settings: Any) -> Any:
    u = t / (d / 2) - 1
    factor, swing = _swing(-np.abs(u), d, c, settings, PERIODS[2])
    return np.where(t == 0, b, np.where(u < 0, -0.5 * factor * swing + b, 0.5 * factor * swing + c + b))


_FORMULAS: dict[str, tuple[Formula, Formula, Formula]] = {
    "SINE": (
        lambda t, d, b, c, _: -c * _rounded(np.cos, t / d * (np.pi / 2)) + c + b,
        lambda t, d, b, c, _: c * _rounded(np.sin, t / d * (np.pi / 2)) + b,
        lambda t, d, b, c, _: -c / 2 * (_rounded(np.cos, np.pi * t / d) - 1) + b,
    ),
    "QUAD": (_power_in(2), lambda t, d, b, c, _: -c * (t / d) * (t / d - 2) + b, _quad_in_out),
    "CUBIC": (_power_in(3), _power_out(3), _power_in_out(3)),
    "QUART": (_power_in(4), _power_out(4), _power_in_out(4)),
    "QUINT": (_power_in(5), _power_out(5), _power_in_out(5)),
    "EXPO": (_expo_in, _expo_out, _expo_in_out),
    "CIRC": (
        lambda t, d, b, c, _: -c * (np.sqrt(1 - _power(t / d, 2)) - 1) + b,
        lambda t, d, b, c, _: c * np.sqrt(1 - _power(t / d - 1, 2)) + b,
        _circ_in_out,
    ),
    "BACK": (_back_in, _back_out, _back_in_out),
    "BOUNCE": (_bounce_in, _bounce_out, _bounce_in_out),
    "ELASTIC": (_elastic_in, _elastic_out, _elastic_in_out),
}
