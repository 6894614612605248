"""JSON text of arrays of rounded numbers, vectorized.

Python writes a number as the shortest text that is read back as the same number. No two texts of up to
fifteen digits are read as the same number. So a number with few decimals is written as exactly those
decimals, without trailing zeros, and its digits can be computed with integer arithmetic on whole arrays.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import CHUNK_ROWS, Bools, Floats, Ints

_Digits: TypeAlias = "NDArray[np.uint32] | NDArray[np.uint64]"

_TOO_LARGE = 1e15
"""From here on, fifteen digits leave none for decimals."""
_LEAST_WITHOUT_EXPONENT = 1e-4
"""Below this, Python writes an exponent."""
_LONGEST = 24
"""Largest number of characters of any float64."""


def lists_of_numbers(values: Floats, decimals: int, counts: Ints) -> list[str]:
    """Convert numbers to one-line JSON lists.

    The text is that of Python's json module, with 0.0 for -0.0. Fast for numbers that were rounded to
    `decimals`; correct for all finite numbers.

    values : (n,) or (n, c) float64. Numbers, or rows of numbers, of all lists, concatenated.
    decimals : Decimals that most numbers were rounded to.
    counts : (k,) int. Rows of each list; their sum is n.
    Raises ValueError: for NaN and infinity.
    """
    opening, closing = ("[[", "]]") if values.ndim == 2 else ("[", "]")
    lists = iter(_joined_numbers(values, decimals, counts).decode("ascii").split("\n"))
    return [opening + next(lists) + closing if count else "[]" for count in counts.tolist()]


def rows_of_numbers(values: Floats, decimals: int) -> tuple[list[str], Ints]:
    """Convert rows of numbers as `lists_of_numbers` does, without brackets.

    values : (n, c) float64. Numbers of each row.
    decimals : Decimals that most numbers were rounded to.
    Returns lengths : (n,) int. Number of characters of each.
    Raises ValueError: for NaN and infinity.
    """
    count, columns = values.shape
    text = _joined_numbers(values.reshape(-1), decimals, np.full(count, columns))
    ends = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
    return text.decode("ascii").split("\n")[:-1], np.diff(ends, prepend=-1) - 1


def _joined_numbers(values: Floats, decimals: int, counts: Ints) -> bytes:
    """Text of all lists of numbers, each with a line break at its end; nothing for an empty list."""
    if not np.isfinite(values).all():
        raise ValueError("Out of range float values are not JSON compliant")
    columns = values.shape[1] if values.ndim == 2 else 1
    separators = [", "] * (columns - 1) + ["], [" if values.ndim == 2 else ", "]
    numbers = values.reshape(-1)
    is_last = np.zeros(len(numbers), dtype=bool)
    is_last[np.cumsum(counts * columns)[counts > 0] - 1] = True
    size = CHUNK_ROWS // columns * columns
    return b"".join(
        _characters(numbers[start : start + size], is_last[start : start + size], decimals, separators)
        for start in range(0, len(numbers), size)
    )


def _characters(numbers: Floats, is_last: Bools, decimals: int, separators: list[str]) -> bytes:
    """Text of numbers (n,), followed by `separators` in turns; a line break follows each last number."""
    whole, fraction, is_plain = _digits(numbers, decimals)
    width = len(str(whole.max()))
    if not is_plain.all():
        width = max(width, _LONGEST - 2 - decimals)
    # One row a number: a sign, the whole digits, the point, the decimals, the separator.
    point, end = 1 + width, 2 + width + decimals
    cells = np.empty((len(numbers), end + len(separators[-1])), dtype=np.uint8)
    is_used = np.ones(cells.shape, dtype=bool)
    cells[:, 0], is_used[:, 0] = ord("-"), numbers < 0
    cells[:, point] = ord(".")
    is_nonzero = np.zeros(len(numbers), dtype=bool)
    for column in range(end - 1, point, -1):
        quotient = fraction // 10
        digit = fraction - quotient * 10
        is_nonzero |= digit != 0
        cells[:, column], fraction = digit + ord("0"), quotient
        if column > point + 1:  # trailing zeros, except for the first decimal
            is_used[:, column] = is_nonzero
    for column in range(width, 0, -1):
        quotient = whole // 10
        cells[:, column] = whole - quotient * 10 + ord("0")
        if column < width:  # leading zeros, except for the last digit
            is_used[:, column] = whole > 0
        whole = quotient
    for row in np.flatnonzero(~is_plain).tolist():
        text = repr(float(numbers[row])).encode("ascii")
        cells[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
        is_used[row, :end] = np.arange(end) < len(text)
    for column, separator in enumerate(separators):
        rows = slice(column, None, len(separators))
        cells[rows, end : end + len(separator)] = np.frombuffer(separator.encode("ascii"), np.uint8)
        is_used[rows, end + len(separator) :] = False
    cells[is_last, end] = ord("\n")
    is_used[is_last, end + 1 :] = False
    return bytes(cells[is_used])


def _digits(numbers: Floats, decimals: int) -> tuple[_Digits, _Digits, Bools]:
    """Digits (n,) before and after the point, and where the number has no others; 0 elsewhere."""
    size, grid = np.abs(numbers), 10.0**decimals
    with np.errstate(over="ignore"):
        steps = np.rint(size * grid)
    # A quotient of two whole numbers is rounded to nearest, as is a number that is read from those digits.
    is_plain = (
        (steps < _TOO_LARGE) & (steps / grid == size) & ((size >= _LEAST_WITHOUT_EXPONENT) | (size == 0))
    )
    digits = np.where(is_plain, steps, 0.0).astype(np.uint64)
    whole = digits // np.uint64(10**decimals)
    fraction = (digits - whole * np.uint64(10**decimals)).astype(np.uint32)
    # Divisions of 32-bit numbers take a third of the time.
    return whole.astype(np.uint32) if whole.max(initial=0) < 2**32 else whole, fraction, is_plain
