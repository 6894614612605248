"""Sums and products together with what rounding took from them."""

from __future__ import annotations

from .arrays import Floats


def difference(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a - b, and what rounding took from it (Knuth)."""
    result = a - b
    subtracted = a - result
    return result, (a - (result + subtracted)) + (subtracted - b)


def product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """a * b, and what rounding took from it (Dekker and Veltkamp)."""
    result = a * b
    a_high, b_high = _high(a), _high(b)
    a_low, b_low = a - a_high, b - b_high
    return result, ((a_high * b_high - result) + a_high * b_low + a_low * b_high) + a_low * b_low


def _high(a: Floats) -> Floats:
    """The upper half of the digits."""
    spread = a * 134217729.0
    result: Floats = spread - (spread - a)
    return result
