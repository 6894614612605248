"""Pairs of spheres on their way: most are told by three separations, the rest are swept."""

from __future__ import annotations

import numpy as np

from .arrays import length
from .pair_motion import Encounters, PairMotion
from .shapes import Sphere
from .sweep import overlap_span
from .sweep_spheres import time_of_least, unit_of_size

UNSURE = 1e-9
"""Of the size of a pair: closer than this to touching, a sweep decides."""


def encounters_of_spheres(pairs: PairMotion, clearance: float) -> Encounters:
    """See `encounters.encounters`. Exact up to float64 rounding.

    The distance of two centres on straight ways is convex in time, and so is the separation: who touches at
    both ends does so all the way, and who is apart at the time of the least separation never does.
    """
    a0, a1, b0, b1 = pairs
    assert (
        isinstance(a0, Sphere)
        and isinstance(a1, Sphere)
        and isinstance(b0, Sphere)
        and isinstance(b1, Sphere)
    )
    p, end = b0.center - a0.center, b1.center - a1.center
    r, r_end = a0.radius + b0.radius, a1.radius + b1.radius
    size = np.maximum(np.maximum(np.abs(p).max(axis=-1), np.abs(end).max(axis=-1)), np.maximum(r, r_end))
    scale = unit_of_size(size)
    p, end, r, r_end = p / scale[:, None], end / scale[:, None], r / scale, r_end / scale
    v, s = end - p, r_end - r
    time = time_of_least(p, v, s)
    # In the order of time, so that of equal ones the first counts.
    times = np.stack([np.zeros_like(time), time, np.ones_like(time)])
    values = np.stack([length(p) - r, length(p + v * time[:, None]) - (r + s * time), length(end) - r_end])
    lowest = values.argmin(axis=0)[None]
    least = np.take_along_axis(values, lowest, axis=0)[0]
    high = np.maximum(values[0], values[2])
    near = clearance / scale
    enter, leave = np.full(time.shape, np.nan), np.full(time.shape, np.nan)
    throughout = high < near - UNSURE
    enter[throughout], leave[throughout] = 0.0, 1.0
    rows = np.flatnonzero(~throughout & (least <= near + UNSURE))
    if len(rows):
        enter[rows], leave[rows] = overlap_span(*pairs.picked(rows), clearance=clearance)
    least_time = np.take_along_axis(times, lowest, axis=0)[0]
    least = least * scale
    return Encounters(enter, leave, least, least_time, least, high * scale)
