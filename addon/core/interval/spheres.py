"""Contacts of spheres over one interval: most follow from three separations, and the rest is swept."""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, length
from ..sweep.closed_forms import relative_motion, time_of_minimum_gap
from ..sweep.dispatch import overlap_span
from .pair_motion import IntervalContacts, PairMotion

_UNSURE = 1e-9
"""Part of a pair's size: a pair closer than this to touching is decided by a sweep."""


def interval_contacts_of_spheres(pairs: PairMotion, clearance: float, _deviation: Floats) -> IntervalContacts:
    """Solve the contacts of spheres over an interval of linear motion. Exact up to float64 rounding.

    The distance of two centers in linear motion is convex in time, and so is the separation. So a pair that
    touches at both ends touches all the time, and a pair that is apart at its closest time never touches.

    pairs : PairMotion, batch (m,). Of spheres.
    clearance : Pairs closer than this are in contact.
    Returns contacts : IntervalContacts, (m,). Times in [0, 1].
    """
    p, end, r, r_end, unit = relative_motion(*pairs)
    v, s = end - p, r_end - r
    time = time_of_minimum_gap(p, v, s)
    # In order of time, because argmin takes the first of equal separations.
    times = np.stack([np.zeros_like(time), time, np.ones_like(time)])
    values = np.stack([length(p) - r, length(p + v * time[:, None]) - (r + s * time), length(end) - r_end])
    lowest = values.argmin(axis=0)[None]
    least, least_time = (np.take_along_axis(each, lowest, axis=0)[0] for each in (values, times))
    high, near = np.maximum(values[0], values[2]), clearance / unit
    enter, leave = np.full(time.shape, np.nan), np.full(time.shape, np.nan)
    throughout = high < near - _UNSURE
    enter[throughout], leave[throughout] = 0.0, 1.0
    rows = np.flatnonzero(~throughout & (least <= near + _UNSURE))
    if len(rows):
        pair = pairs.take(rows)
        enter[rows], leave[rows] = overlap_span(pair.a_start, pair.a_end, pair.b_start, pair.b_end, clearance)
    return IntervalContacts.without_speeds(enter, leave, least * unit, least_time, least * unit, high * unit)
