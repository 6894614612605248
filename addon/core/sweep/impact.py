"""Results of sweeps: the first impact of two moving shapes, and how certain its time is."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..numeric.arrays import Floats, Ints


class ImpactStatus(IntEnum):
    """Certainty of a time of impact.

    Attributes
    ----------
    EXACT
        Exact up to float64 rounding. A miss is EXACT too.
    CONSERVATIVE
        Never late. Early by no more than the time in which a gap of the size of rounding errors closes.
    UNRESOLVED
        The step limit was reached. The shapes are disjoint before the given time and may be in contact from
        it.
    """

    EXACT = 0
    CONSERVATIVE = 1
    UNRESOLVED = 2


class Impact(NamedTuple):
    """First impact of two moving shapes, in the space and unit of the shapes.

    Attributes
    ----------
    time : (...) float64
        Time in [0, 1]; NaN for never.
    point : (..., 3) float64
        Point of contact; NaN for never.
    normal : (..., 3) float64
        Unit vector from the first shape to the second; NaN for never.
    status : (...) int64
        Values of ImpactStatus; EXACT for never.
    """

    time: Floats
    point: Floats
    normal: Floats
    status: Ints
