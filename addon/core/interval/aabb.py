"""Contacts of two moving boxes over one interval, with the least separation only where it may matter.

The separation of two boxes is a convex function of their six gaps, which are linear in time. So it lies above
its tangents at both ends of the interval, and below its larger value there.
"""

from __future__ import annotations

import numpy as np

from ..distance.dispatch import separation
from ..numeric.arrays import Floats
from ..shapes import Aabb
from ..sweep.aabb import box_gaps
from ..sweep.dispatch import closest_time, overlap_span
from .pair_motion import IntervalContacts, PairMotion

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Rounding error of a tangent, relative to the gaps at both ends."""


def interval_contacts_of_aabbs(pairs: PairMotion, clearance: float, deviation: Floats) -> IntervalContacts:
    """Solve the contacts of boxes over an interval of linear motion. Exact up to float64 rounding.

    The least separation is exact where it decides about a contact. Elsewhere it is that at an end, and `low`
    is a bound: see `minimum_separation_of_aabbs`.

    Parameters
    ----------
    pairs : PairMotion, batch (m,)
        Of boxes along the axes.
    clearance : float
        Pairs closer than this are in contact.
    deviation : (m,) float64
        Deviation of both boxes together from linear motion.

    Returns
    -------
    contacts : IntervalContacts, (m,)
        Times in [0, 1].
    """
    enter, leave = overlap_span(*pairs, clearance=clearance)
    first, last = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
    low, high = _lower_bound(pairs, first, last), np.maximum(first, last)
    least, least_time = np.minimum(first, last), np.where(last < first, 1.0, 0.0)
    rows = np.flatnonzero(~((low - deviation > clearance) | (high + deviation < clearance)))
    if len(rows):
        least[rows], least_time[rows] = minimum_separation_of_aabbs(pairs.take(rows))
        low[rows] = least[rows]
    return IntervalContacts(enter, leave, least, least_time, low, high)


def minimum_separation_of_aabbs(pairs: PairMotion) -> tuple[Floats, Floats]:
    """Find the least separation (m,) of boxes in linear motion, and its time (m,) in [0, 1].

    Exact up to float64 rounding.

    Parameters
    ----------
    pairs : PairMotion, batch (m,)
        Of boxes along the axes.

    Returns
    -------
    least, time : (m,) float64
    """
    time = closest_time(*pairs)
    return pairs.separation_at(time), time


def _lower_bound(pairs: PairMotion, first: Floats, last: Floats) -> Floats:
    """Bound the separation (m,) from below by tangents at both ends, where it is `first`, `last` (m,)."""
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Aabb) and isinstance(a1, Aabb) and isinstance(b0, Aabb) and isinstance(b1, Aabb)
    start, end = box_gaps(a0, b0), box_gaps(a1, b1)
    change = end - start
    leaving, arriving = _slope(start, change), _slope(end, change)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Both tangents meet where the separation can be least.
        time = np.clip((last - arriving - first) / (leaving - arriving), 0.0, 1.0)
    low = np.where((leaving < 0) & (arriving > 0), first + leaving * time, np.minimum(first, last))
    size = np.maximum(np.abs(start), np.abs(end)).max(axis=0)
    return np.asarray(low - _ROUNDING * size)


def _slope(gaps: Floats, change: Floats) -> Floats:
    """Slope (m,) of a tangent of the separation, at gaps (6, m) that change by (6, m) within the interval."""
    outside = np.maximum(gaps, 0.0)
    distance = np.sqrt((outside * outside).sum(axis=0))
    deepest = gaps.argmax(axis=0)
    along_axis = np.take_along_axis(change, deepest[None], axis=0)[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        away = (outside * change).sum(axis=0) / distance
    return np.where(distance > 0, away, along_axis)
