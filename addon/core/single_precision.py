"""Rounding to numbers of single precision, which most files and engines keep: to the nearest, up, down."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Floats


def single(values: ArrayLike) -> Floats:
    """The nearest, infinite where there are none so large."""
    with np.errstate(over="ignore"):
        return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def single_up(values: ArrayLike) -> Floats:
    """The least that are not less."""
    x = np.asarray(values, dtype=np.float64)
    near = single(x)
    with np.errstate(over="ignore"):
        above = np.nextafter(near.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    return np.where(near < x, above, near)


def single_down(values: ArrayLike) -> Floats:
    """The largest that are not more."""
    return -single_up(-np.asarray(values, dtype=np.float64))
