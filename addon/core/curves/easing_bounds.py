"""Parts of eased segments in float64: values at both ends, and the distance from the chord.

A function f on an interval of length h deviates from its chord by at most h^2 / 8 times the largest |f''|,
by h / 2 times the largest |f'|, and, if it is monotonic, by the difference of its values. The least counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from .easings import (
    BOUNCE_FACTOR,
    BOUNCES,
    FAMILIES,
    MODES,
    OVERSHOOT_OF_BOTH,
    PERIODS,
    POWER_SCALE,
    formula_of,
)

_LN = 10 * np.log(2)
_ROUNDING = 1e-6
"""Part of the time by which single precision may move a kink."""
_NEAR_ENDS = np.array([[1e-30], [1.0]])
"""Times right after a jump at the begin of an easing, and right before one at its end."""


class _Settings(NamedTuple):
    """Settings of easings (m,), relative to the duration and to a unit of the value.

    The unit is the change of the value. Elastic easings between equal values have the unit 1.

    An elastic easing is -f(u) reach 2^(10 u) sin(rate u - phase) at u = s - 1. The factor f is `base`, but
    where |u| is less than `width`: there it grows linearly to 1.
    """

    unit: Floats
    overshoot: Floats
    reach: Floats
    rate: Floats
    phase: Floats
    base: Floats
    width: Floats


class _Family(NamedTuple):
    """Bounds of a function on [0, 1] from 0 to 1, of a family of easings that ease in.

    slope, curvature : functions of (begin, end, settings). Bounds of the absolute first and second
        derivative between two parameters; inf for none.
    """

    slope: Callable[[Any, Any, Any], Any]
    curvature: Callable[[Any, Any, Any], Any]
    is_monotonic: bool = True


def eased_part(
    codes: Ints, settings: Floats, span: Floats, begin: Floats, end: Floats
) -> tuple[Floats, Floats, Floats]:
    """Compute parts of easings between 0 and 1.

    codes : (m,) int. Easings, see `easings.EASING_CODES`.
    settings : (m, 3) float64. As of `easings.eased_values`.
    span : (m, 2) float64. Duration in frames, and change of the value.
    begin, end : (m,) float64. Parts of the segment's duration, in [0, 1].
    Returns first, last : (m,) float64. Values at both ends, less the one of the segment's first key.
    Returns deviation : (m,) float64. No value in between is farther from the straight line.
    """
    first, last, deviation = (np.zeros(len(codes)) for _ in range(3))
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        family, mode = FAMILIES[code // len(MODES)], code % len(MODES)
        part, bounds = np.stack([begin[rows], end[rows]]), _FAMILIES[family]
        (overshoot, amplitude, period), (duration, change) = settings[rows].T, span[rows].T
        relative, formula = (overshoot, amplitude, period / duration), formula_of(code)
        # Nothing times infinity is not a number, which compares as absent.
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(part < 1, formula(part, 1.0, 0.0, change, relative), change)
            found = _smooth_deviation(bounds, MODES[mode], _relative(change, relative, family, mode), *part)
            if bounds.is_monotonic:
                found = np.fmin(found, np.abs(ends[1] - ends[0]))
            if family == "ELASTIC":
                after, before = formula(_NEAR_ENDS, 1.0, 0.0, change, relative)
                jumps = np.where(part[0] <= 0, np.abs(after), 0), np.where(part[1] >= 1, change - before, 0)
                found += np.maximum(jumps[0], np.abs(jumps[1]))
        first[rows], last[rows] = ends
        deviation[rows] = found
    return first, last, deviation


def _relative(change: Floats, settings: tuple[Floats, ...], family: str, mode: int) -> _Settings:
    """Convert settings, with periods in parts of the duration, to units of the value."""
    overshoot, amplitude, period = settings
    period = np.where(period == 0, PERIODS[mode], period)
    size = np.abs(change)
    is_small = (amplitude == 0) | (amplitude < size)
    phase = np.where(is_small, np.pi / 2, np.arcsin(change / amplitude))
    unit = np.where(is_small | (size > 0) | (family != "ELASTIC"), change, 1.0)
    reach = np.where(is_small, 1.0, amplitude / unit)
    base = np.where(is_small & (size > 0), amplitude / size, 1.0)
    width = np.where(is_small & (size > 0), np.abs(period) / 4, 0.0)
    if MODES[mode] == "EASE_IN_OUT":
        overshoot = overshoot * OVERSHOOT_OF_BOTH
    return _Settings(unit, overshoot, reach, 2 * np.pi / period, phase, base, width)


def _smooth_deviation(family: _Family, mode: str, k: _Settings, begin: Floats, end: Floats) -> Floats:
    """Bound the deviations (m,) of parts of one easing from their chords, but for jumps and monotony."""
    if mode == "EASE_IN":
        slope, curvature = family.slope(begin, end, k), family.curvature(begin, end, k)
    elif mode == "EASE_OUT":
        slope, curvature = family.slope(1 - end, 1 - begin, k), family.curvature(1 - end, 1 - begin, k)
    else:
        # Both halves in the time of easing in, which is twice as fast.
        rising = 2 * begin, np.minimum(2 * end, 1)
        falling = 2 - 2 * end, np.minimum(2 - 2 * begin, 1)
        slope = _of_halves(family.slope, rising, falling, k)
        curvature = 2 * _of_halves(family.curvature, rising, falling, k)
    span = end - begin
    return np.asarray(np.abs(k.unit) * np.fmin(span * span / 8 * curvature, span / 2 * slope))


def _of_halves(
    bound: Any, rising: tuple[Floats, Floats], falling: tuple[Floats, Floats], k: _Settings
) -> Floats:
    """Larger of the bounds on both halves of an easing, as far as an interval has a part of each."""
    first, second = (
        np.where(begin < end, bound(np.minimum(begin, end), end, k), 0) for begin, end in (rising, falling)
    )
    return np.asarray(np.maximum(first, second))


def _power_family(exponent: int) -> _Family:
    return _Family(
        lambda _, end, __: exponent * end ** (exponent - 1),
        lambda _, end, __: exponent * (exponent - 1) * end ** (exponent - 2),
    )


def _expo(s: Floats, factor: float) -> Floats:
    return np.asarray(factor * POWER_SCALE * np.exp2(10 * (s - 1)))


def _back_curvature(begin: Floats, end: Floats, settings: _Settings) -> Floats:
    k = settings.overshoot
    return np.asarray(np.maximum(np.abs(6 * (k + 1) * begin - 2 * k), np.abs(6 * (k + 1) * end - 2 * k)))


def _bounce_curvature(begin: Floats, end: Floats, _: Floats) -> Floats:
    has_kink: Bools = np.zeros(begin.shape, dtype=bool)
    for kink in [1 - parabola[0] / 2.75 for parabola in BOUNCES[:-1]]:
        has_kink |= (begin < kink + _ROUNDING) & (end > kink - _ROUNDING)
    return np.where(has_kink, np.inf, 2 * BOUNCE_FACTOR)


def _elastic_factor(end: Floats, k: _Settings) -> tuple[Floats, Floats]:
    """Bound the factor, and its slope, left of `end`."""
    grows = end > 1 - k.width - _ROUNDING
    slope = np.where(grows & (k.width > 0), np.abs(1 - k.base) / k.width, 0.0)
    return np.where(grows, np.maximum(np.abs(k.base), 1.0), np.abs(k.base)), slope


def _elastic_slope(_: Floats, end: Floats, k: _Settings) -> Floats:
    factor, growth = _elastic_factor(end, k)
    decay = np.abs(k.reach) * np.exp2(10 * (end - 1))
    return np.asarray(decay * (factor * (_LN + np.abs(k.rate)) + growth))


def _elastic_curvature(begin: Floats, end: Floats, k: _Settings) -> Floats:
    factor, growth = _elastic_factor(end, k)
    decay, rate = np.abs(k.reach) * np.exp2(10 * (end - 1)), _LN + np.abs(k.rate)
    has_kink = (begin < 1 - k.width + _ROUNDING) & (end > 1 - k.width - _ROUNDING)
    return np.where(has_kink, np.inf, decay * (factor * rate * rate + 2 * growth * rate))


_FAMILIES: dict[str, _Family] = {
    "SINE": _Family(
        lambda _, end, __: np.pi / 2 * np.sin(end * np.pi / 2),
        lambda begin, _, __: np.pi**2 / 4 * np.cos(begin * np.pi / 2),
    ),
    "QUAD": _power_family(2),
    "CUBIC": _power_family(3),
    "QUART": _power_family(4),
    "QUINT": _power_family(5),
    "EXPO": _Family(lambda _, end, __: _expo(end, _LN), lambda _, end, __: _expo(end, _LN**2)),
    "CIRC": _Family(
        lambda _, end, __: end / np.sqrt(1 - end * end), lambda _, end, __: (1 - end * end) ** -1.5
    ),
    "BACK": _Family(lambda begin, _, __: np.full(begin.shape, np.inf), _back_curvature, is_monotonic=False),
    "BOUNCE": _Family(
        lambda begin, _, __: np.full(begin.shape, 2 * BOUNCE_FACTOR / 2.75),
        _bounce_curvature,
        is_monotonic=False,
    ),
    "ELASTIC": _Family(_elastic_slope, _elastic_curvature, is_monotonic=False),
}
