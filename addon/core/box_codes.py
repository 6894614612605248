"""One number for each box, such that adding two of them tells whether the boxes can overlap.

Faces are rounded down to one of 512 cells an axis. Two boxes that overlap have the low face of each in or
before the cell of the other's high face, on all axes: six comparisons, made by one addition of integers that
hold six fields of ten bits. In one, `high`, in the other 512 - `low`: their sum reaches 512, the field's
highest bit, exactly where `high` is not before `low`.
"""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats, Ints
from .shapes import Aabb

_BITS = 10
_CELLS = 1 << (_BITS - 1)
_ALL = sum(_CELLS << (_BITS * field) for field in range(6))
_SAMPLE = 128
"""Centres that the size of the cells is taken from."""
_OUTER = 8
"""One in so many of these is left out at either end, and the cells reach as far again as what remains: a few
that are far away must not make the cells large for all."""


def box_codes(boxes: Aabb) -> tuple[Ints, Ints]:
    """Codes (n,) of boxes (n,), n >= 1: what each is as the first of a pair, and as the second."""
    sides = np.stack([boxes.min.T, boxes.max.T])
    low, high = _cells(sides)
    np.subtract(_CELLS, low, out=low)
    before, after = (each[0] + (each[1] << _BITS) + (each[2] << 2 * _BITS) for each in (low, high))
    return after + (before << 3 * _BITS), before + (after << 3 * _BITS)


def _cells(sides: Floats) -> Ints:
    """The cells of faces (2, 3, n): never a lower one for a higher face, however it is rounded."""
    sample = sides[..., :: 1 + sides.shape[-1] // _SAMPLE]
    centers = np.sort(sample[0] * 0.5 + sample[1] * 0.5, axis=-1)
    cut = centers.shape[-1] // _OUTER
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        extent = centers[:, -1 - cut] - centers[:, cut]
        begin, per_unit = centers[:, cut] - 0.5 * extent, _CELLS / (2 * extent)
        # All centres in one plane, or too far apart for their differences: that axis cannot tell.
        tells = (per_unit > 0) & (per_unit < np.inf)
        cells = sides - np.where(tells, begin, 0.0)[:, None]
        cells *= np.where(tells, per_unit, 0.0)[:, None]
    np.maximum(cells, 0, out=cells)
    np.minimum(cells, _CELLS - 1, out=cells)
    result: Ints = cells.astype(np.int64)
    return result


def may_overlap(first: Ints, second: Ints) -> Bools:
    """Whether boxes with these codes may overlap; False is certain."""
    codes = first + second
    codes &= _ALL
    return np.asarray(codes == _ALL)
