"""Rows of arrays that are equal to the bit."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, Ints

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def distinct_rows(rows: Floats) -> tuple[Ints, Ints]:
    """Find the rows that differ in any bit: not a number equals itself, and 0.0 differs from -0.0. Exact.

    rows : (n, k) float64. In any order.
    Returns first : (g,) int. Index of the first row of each kind, in any order of kinds.
    Returns kind_of : (n,) int. Kind of each row.
    """
    bits = np.ascontiguousarray(rows).view(np.uint64)
    code = np.zeros(len(bits), dtype=np.uint64)
    for column in bits.T:
        code = (code ^ column) * _MULTIPLIER
        code ^= code >> _SHIFT
    _, first, kind_of = np.unique(code, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first][kind_of], bits):
        # Two kinds have the same code. Sorting whole rows takes four times as long.
        _, first, kind_of = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first, kind_of.reshape(-1)
