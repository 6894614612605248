"""Arrays of rounded numbers as JSON text, many at once.

Python writes a number as the shortest text that is read back as the same. No two texts of up to fifteen
digits are read as the same number, so one of few decimals is written as those decimals, without the
zeros at the end.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import CHUNK_ROWS, Bools, Floats, Ints

_Counts: TypeAlias = "NDArray[np.uint32] | NDArray[np.uint64]"

_TOO_LARGE = 1e15
"""From here on a number of fifteen digits has none left for decimals."""
_WITH_EXPONENT = 1e-4
"""Below this, Python writes an exponent."""
_LONGEST = 24
"""Characters that any number takes at most."""


def lists_of_numbers(values: Floats, decimals: int, counts: Ints) -> list[str]:
    """Numbers (n,), or rows of them (n, c), as one-line JSON lists of `counts` (k,) rows each, n in all.

    The text is what Python's json makes of them, with 0.0 for -0.0; quick for what has been rounded to
    `decimals`, and right for all. Raises ValueError for what is not finite.
    """
    if not np.isfinite(values).all():
        raise ValueError("Out of range float values are not JSON compliant")
    columns = values.shape[1] if values.ndim == 2 else 1
    opening, closing = ("[[", "]]") if values.ndim == 2 else ("[", "]")
    separators = [", "] * (columns - 1) + ["], [" if values.ndim == 2 else ", "]
    numbers = values.reshape(-1)
    is_last = np.zeros(len(numbers), dtype=bool)
    is_last[np.cumsum(counts * columns)[counts > 0] - 1] = True
    size = CHUNK_ROWS // columns * columns
    parts = [
        _characters(numbers[start : start + size], is_last[start : start + size], decimals, separators)
        for start in range(0, len(numbers), size)
    ]
    lists = iter(b"".join(parts).decode("ascii").split("\n"))
    return [opening + next(lists) + closing if count else "[]" for count in counts.tolist()]


def _characters(numbers: Floats, is_last: Bools, decimals: int, separators: list[str]) -> bytes:
    """Numbers (n,) and what stands between them, `separators` in turns; a new line after each last."""
    whole, part, is_plain = _digits(numbers, decimals)
    room = len(str(whole.max()))
    if not is_plain.all():
        room = max(room, _LONGEST - 2 - decimals)
    point, behind = 1 + room, 2 + room + decimals
    cells = np.empty((len(numbers), behind + len(separators[-1])), dtype=np.uint8)
    kept = np.ones(cells.shape, dtype=bool)
    cells[:, 0], kept[:, 0] = ord("-"), numbers < 0
    cells[:, point] = ord(".")
    seen = np.zeros(len(numbers), dtype=bool)
    for place in range(behind - 1, point, -1):
        rest = part // 10
        digit = part - rest * 10
        seen |= digit != 0
        cells[:, place], part = digit + ord("0"), rest
        if place > point + 1:
            kept[:, place] = seen
    for place in range(room, 0, -1):
        rest = whole // 10
        cells[:, place] = whole - rest * 10 + ord("0")
        if place < room:
            kept[:, place] = whole > 0
        whole = rest
    for row in np.flatnonzero(~is_plain).tolist():
        text = repr(float(numbers[row])).encode("ascii")
        cells[row, : len(text)] = np.frombuffer(text, dtype=np.uint8)
        kept[row, :behind] = np.arange(behind) < len(text)
    for column, separator in enumerate(separators):
        some = slice(column, None, len(separators))
        cells[some, behind : behind + len(separator)] = np.frombuffer(separator.encode("ascii"), np.uint8)
        kept[some, behind + len(separator) :] = False
    cells[is_last, behind] = ord("\n")
    kept[is_last, behind + 1 :] = False
    return bytes(cells[kept])


def _digits(numbers: Floats, decimals: int) -> tuple[_Counts, _Counts, Bools]:
    """What is before and behind the point of numbers (n,), and of which of them that is all; else 0."""
    size, grid = np.abs(numbers), 10.0**decimals
    with np.errstate(over="ignore"):
        steps = np.rint(size * grid)
    # The quotient of two whole numbers is the number nearest to it, as is what is read from those digits.
    is_plain = (steps < _TOO_LARGE) & (steps / grid == size) & ((size >= _WITH_EXPONENT) | (size == 0))
    counted = np.where(is_plain, steps, 0.0).astype(np.uint64)
    whole = counted // np.uint64(10**decimals)
    part = (counted - whole * np.uint64(10**decimals)).astype(np.uint32)
    # Half as long numbers take a third of the time.
    return whole.astype(np.uint32) if whole.max(initial=0) < 2**32 else whole, part, is_plain
