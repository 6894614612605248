"""Animation curves over intervals of time: their ends, and how far they deviate from the chord in between.

The chord of a curve over an interval is the straight line from its value at the begin to its limit at the
end. Computed in float64, from keys as Blender stores them.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, Ints
from ..numeric.table import Table
from .easing_bounds import eased_part
from .keyframes import Curves
from .segments import (
    BEZIER,
    EASED,
    EXTRAPOLATED,
    LINEAR,
    cut,
    deviation_of_bezier,
    parameter_of_time,
)


class Chords(Table):
    """Curves (m,) over intervals.

    begin, end : (m,) float64. Value at the begin, and limit of the values at the end, which a jump there
        does not change.
    deviation : (m,) float64. Bound of the distance between curve and chord, jumps within the interval
        included.
    """

    begin: Floats
    end: Floats
    deviation: Floats


def curve_chords(curves: Curves, which: Ints, begin: Floats, end: Floats) -> Chords:
    """Compute the ends of curves over intervals of time, and bound their deviation from the chord.

    curves : All curves.
    which : (m,) int64. Indices of curves.
    begin, end : (m,) float64. Times in frames, begin before end.
    """
    first = curves.key_counts(which, begin, is_inclusive=True) + which
    last = curves.key_counts(which, end, is_inclusive=False) + which
    counts = last - first + 1
    row = np.repeat(np.arange(len(which)), counts)
    starts = np.cumsum(counts) - counts
    segment = np.arange(len(row)) - starts[row] + first[row]
    low = np.where(segment == first[row], begin[row], curves.segments.start[segment, 0])
    high = np.where(segment == last[row], end[row], curves.segments.end[segment, 0])
    low_value, high_value, deviation = _pieces(curves, segment, low, high)
    at_begin, at_end = low_value[starts], high_value[starts + counts - 1]
    slope = (at_end - at_begin) / (end - begin)
    chord_low, chord_high = (at_begin[row] + slope[row] * (time - begin[row]) for time in (low, high))
    deviation += np.maximum(np.abs(low_value - chord_low), np.abs(high_value - chord_high))
    return Chords(at_begin, at_end, np.maximum.reduceat(deviation, starts) if len(starts) else at_begin)


def _pieces(curves: Curves, segments: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Values (p,) at both ends of parts of segments, and their deviation from their own chords."""
    first, last = _straight_ends(curves, segments, low, high)
    deviation = np.zeros(len(segments))
    rows = np.flatnonzero(curves.segments.kind[segments] == BEZIER)
    if len(rows):
        controls = curves.segments.controls[:, segments[rows]].astype(np.float64)
        times, values = np.moveaxis(controls, -1, 0)
        # Channels of one object follow each other, and mostly have their keys at equal times.
        columns = np.vstack([times, low[rows], high[rows]])
        is_other = np.append(True, (columns[:, 1:] != columns[:, :-1]).any(axis=0))
        shared = np.cumsum(is_other) - 1
        both = np.concatenate([low[rows[is_other]], high[rows[is_other]]])
        ends = parameter_of_time(np.tile(times[:, is_other], 2), both).reshape(2, -1)[:, shared]
        times, values = cut(times, *ends), cut(values, *ends)
        first[rows], last[rows] = values[0], values[3]
        deviation[rows] = deviation_of_bezier(times, values)
    rows = np.flatnonzero(curves.segments.kind[segments] >= EASED)
    if len(rows):
        of_rows = segments[rows]
        sides = curves.segments.start[of_rows], curves.segments.end[of_rows]
        start, end = (side.astype(np.float64) for side in sides)
        settings, span = curves.segments.settings[of_rows].astype(np.float64), end - start
        parts = (np.clip((time[rows] - start[:, 0]) / span[:, 0], 0, 1) for time in (low, high))
        eased = eased_part(curves.segments.kind[of_rows] - EASED, settings, span, *parts)
        first[rows], last[rows], deviation[rows] = start[:, 1] + eased[0], start[:, 1] + eased[1], eased[2]
    return first, last, deviation


def _straight_ends(curves: Curves, segments: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Values (...) at both ends of parts of segments (...) that are straight."""
    start, end = (side[segments].astype(np.float64) for side in (curves.segments.start, curves.segments.end))
    kind = curves.segments.kind[segments]
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (end[..., 1] - start[..., 1]) / (end[..., 0] - start[..., 0])
    slope = np.where(
        kind == LINEAR, slope, np.where(kind == EXTRAPOLATED, curves.segments.slope[segments], 0)
    )
    first, last = (start[..., 1] + slope * (time - start[..., 0]) for time in (low, high))
    return first, last
