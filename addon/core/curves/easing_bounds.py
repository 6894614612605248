"""Parts of eased segments in float64: values at both ends, and the distance from the chord.

A function f on an interval of length h deviates from its chord by at most h^2 / 8 times the largest |f''|,
by h / 2 times the largest |f'|, and, if it is monotonic, by the difference of its values. The least counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints
from .easings import BOUNCE_FACTOR, BOUNCES, FAMILIES, LEAST_POWER, MODES, OVERSHOOT_OF_BOTH, PERIODS

_LN = 10 * np.log(2)
_SCALE = 1 / (1 - LEAST_POWER)
_ROUNDING = 1e-6
"""Part of the time by which single precision may move a kink."""


class _Settings(NamedTuple):
    """Settings of easings (m,), relative to the duration and to a unit of the value.

    The unit is the change of the value. Elastic easings between equal values have the unit 1.

    An elastic easing is -f(u) reach 2^(10 u) sin(rate u - phase) at u = s - 1. The factor f is `base`, but
    where |u| is less than `width`: there it grows linearly to 1.

    change : change of the value in units, 1 or 0
    """

    unit: Floats
    change: Floats
    overshoot: Floats
    reach: Floats
    rate: Floats
    phase: Floats
    base: Floats
    width: Floats


class _Family(NamedTuple):
    """Function on [0, 1] from 0 to 1, of a family of easings that ease in.

    value : function of (s, settings)
    slope, curvature : functions of (begin, end, settings). Bounds of the absolute first and second
        derivative between two parameters; inf for none.
    is_monotonic : bool
    jump : Height of a jump right after 0.
    """

    value: Callable[[Any, Any], Any]
    slope: Callable[[Any, Any, Any], Any]
    curvature: Callable[[Any, Any, Any], Any]
    is_monotonic: bool = True
    jump: Callable[[Any], Any] = lambda _: 0.0


def eased_part(
    codes: Ints, settings: Floats, span: Floats, begin: Floats, end: Floats
) -> tuple[Floats, Floats, Floats]:
    """Compute parts of easings between 0 and 1.

    codes : (m,) int. Easings, see `easings.easing_code`.
    settings : (m, 3) float64. As of `easings.eased_values`.
    span : (m, 2) float64. Duration in frames, and change of the value.
    begin, end : (m,) float64. Parts of the segment's duration, in [0, 1].
    Returns first, last : (m,) float64. Values at both ends, less the one of the segment's first key.
    Returns deviation : (m,) float64. No value in between is farther from the straight line.
    """
    first, last, deviation = (np.zeros(len(codes)) for _ in range(3))
    for code in np.unique(codes).tolist():
        rows = np.flatnonzero(codes == code)
        family, mode = divmod(code, len(MODES))
        # Nothing times infinity is not a number, which compares as absent.
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = _relative(settings[rows], span[rows], FAMILIES[family], mode)
            found = _part(_FAMILIES[FAMILIES[family]], MODES[mode], relative, begin[rows], end[rows])
        first[rows], last[rows] = (relative.unit * values for values in found[:2])
        deviation[rows] = np.abs(relative.unit) * found[2]
    return first, last, deviation


def _relative(settings: Floats, span: Floats, family: str, mode: int) -> _Settings:
    """Convert settings to parts of the duration and to units of the value."""
    (overshoot, amplitude, period), (duration, change) = settings.T, span.T
    period = np.where(period == 0, PERIODS[mode] * duration, period)
    size = np.abs(change)
    is_small = (amplitude == 0) | (amplitude < size)
    phase = np.where(is_small, np.pi / 2, np.arcsin(change / amplitude))
    unit = np.where(is_small | (size > 0) | (family != "ELASTIC"), change, 1.0)
    reach = np.where(is_small, 1.0, amplitude / unit)
    base = np.where(is_small & (size > 0), amplitude / size, 1.0)
    rate = 2 * np.pi * duration / period
    width = np.where(is_small & (size > 0), np.abs(period) / 4 / duration, 0.0)
    if MODES[mode] == "EASE_IN_OUT":
        overshoot = overshoot * OVERSHOOT_OF_BOTH
    return _Settings(unit, (size > 0).astype(np.float64), overshoot, reach, rate, phase, base, width)


def _part(
    family: _Family, mode: str, k: _Settings, begin: Floats, end: Floats
) -> tuple[Floats, Floats, Floats]:
    """Parts of one easing in units of the value; see `eased_part`."""
    jumps, factor = begin <= 0, 1.0
    if mode == "EASE_IN":
        first, last = family.value(begin, k), family.value(end, k)
        slope, curvature = family.slope(begin, end, k), family.curvature(begin, end, k)
    elif mode == "EASE_OUT":
        jumps = end >= 1
        first, last = k.change - family.value(1 - begin, k), k.change - family.value(1 - end, k)
        slope, curvature = family.slope(1 - end, 1 - begin, k), family.curvature(1 - end, 1 - begin, k)
    else:
        jumps, factor = jumps | (end >= 1), 0.5
        first, last = (
            np.where(
                s < 0.5,
                family.value(np.minimum(2 * s, 1), k) / 2,
                k.change - family.value(np.minimum(2 - 2 * s, 1), k) / 2,
            )
            for s in (begin, end)
        )
        # Both halves in the time of easing in, which is twice as fast.
        rising = 2 * begin, np.minimum(2 * end, 1)
        falling = 2 - 2 * end, np.minimum(2 - 2 * begin, 1)
        slope = _of_halves(family.slope, rising, falling, k)
        curvature = 2 * _of_halves(family.curvature, rising, falling, k)
    span = end - begin
    deviation = np.fmin(span * span / 8 * curvature, span / 2 * slope)
    if family.is_monotonic:
        deviation = np.fmin(deviation, np.abs(last - first))
    return first, last, deviation + np.where(jumps, factor * np.abs(family.jump(k)), 0.0)


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
        lambda s, _: s**exponent,
        lambda _, end, __: exponent * end ** (exponent - 1),
        lambda _, end, __: exponent * (exponent - 1) * end ** (exponent - 2),
    )


def _expo(s: Floats, factor: float = 1.0) -> Floats:
    return np.asarray(factor * _SCALE * np.exp2(10 * (s - 1)))


def _back(s: Floats, settings: _Settings) -> Floats:
    k = settings.overshoot
    return np.asarray(s * s * ((k + 1) * s - k))


def _back_curvature(begin: Floats, end: Floats, settings: _Settings) -> Floats:
    k = settings.overshoot
    return np.asarray(np.maximum(np.abs(6 * (k + 1) * begin - 2 * k), np.abs(6 * (k + 1) * end - 2 * k)))


def _bounce(s: Floats, _: Floats) -> Floats:
    t = 1 - s
    heights = [1 - value - BOUNCE_FACTOR * (t - vertex / 2.75) ** 2 for _, vertex, value in BOUNCES]
    # Where one parabola ends and the next begins, both are 0; in between the others are below.
    return np.asarray(np.max(heights, axis=0))


def _bounce_curvature(begin: Floats, end: Floats, _: Floats) -> Floats:
    has_kink: Bools = np.zeros(begin.shape, dtype=bool)
    for kink in [1 - parabola[0] / 2.75 for parabola in BOUNCES[:-1]]:
        has_kink |= (begin < kink + _ROUNDING) & (end > kink - _ROUNDING)
    return np.where(has_kink, np.inf, 2 * BOUNCE_FACTOR)


def _elastic(s: Floats, k: _Settings, right_of_jump: bool = False) -> Floats:
    u = s - 1
    part = np.abs(u) / k.width
    factor = np.where(np.abs(u) < k.width, k.base * part + (1 - part), k.base)
    value = -factor * k.reach * np.exp2(10 * u) * np.sin(k.rate * u - k.phase)
    return np.asarray(value if right_of_jump else np.where(s <= 0, 0.0, value))


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
        lambda s, _: 1 - np.cos(s * np.pi / 2),
        lambda _, end, __: np.pi / 2 * np.sin(end * np.pi / 2),
        lambda begin, _, __: np.pi**2 / 4 * np.cos(begin * np.pi / 2),
    ),
    "QUAD": _power_family(2),
    "CUBIC": _power_family(3),
    "QUART": _power_family(4),
    "QUINT": _power_family(5),
    "EXPO": _Family(
        lambda s, _: _expo(s) - _SCALE * LEAST_POWER,
        lambda _, end, __: _expo(end, _LN),
        lambda _, end, __: _expo(end, _LN**2),
    ),
    "CIRC": _Family(
        lambda s, _: 1 - np.sqrt(1 - s * s),
        lambda _, end, __: end / np.sqrt(1 - end * end),
        lambda _, end, __: (1 - end * end) ** -1.5,
    ),
    "BACK": _Family(
        _back,
        lambda begin, _, __: np.full(begin.shape, np.inf),
        _back_curvature,
        is_monotonic=False,
    ),
    "BOUNCE": _Family(
        _bounce,
        lambda begin, _, __: np.full(begin.shape, 2 * BOUNCE_FACTOR / 2.75),
        _bounce_curvature,
        is_monotonic=False,
    ),
    "ELASTIC": _Family(
        _elastic,
        _elastic_slope,
        _elastic_curvature,
        is_monotonic=False,
        jump=lambda k: _elastic(np.zeros(1), k, right_of_jump=True),
    ),
}
