"""Pairs on their way from one sample to the next: from when to when in contact, when closest, how close."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Floats, dot, length
from .errors import InvalidShapeError
from .interpolation import at
from .separation import separation
from .shapes import Aabb, Obb, Shape, Sphere
from .sweep import closest_time, overlap_span, time_of_impact

_LEAP = 1e-3
"""The part of an interval over which a closing speed is measured."""
_GOLDEN = 0.6180339887498949
_NARROWINGS = 16
"""Golden sections of an interval: to a two-thousandth of it."""


class PairMotion(NamedTuple):
    """Pairs of shapes (m,), at the start and at the end."""

    a_start: Shape
    a_end: Shape
    b_start: Shape
    b_end: Shape

    def picked(self, rows: object) -> PairMotion:
        """Some of the pairs."""
        return PairMotion(*(shape[rows] for shape in self))

    def at(self, time: Floats) -> tuple[Shape, Shape]:
        """Both shapes at `time` (m,) in [0, 1]."""
        return at(self.a_start, self.a_end, time), at(self.b_start, self.b_end, time)

    def separation_at(self, time: Floats) -> Floats:
        """Their signed separation (m,) at `time` (m,)."""
        return separation(*self.at(time))


class Encounters(NamedTuple):
    """What pairs do within an interval; times are in [0, 1].

    enter, leave : (m,) the contact, NaN for none
    least, least_time : (m,) the least separation and when
    most : (m,) what the separation does not exceed on the way
    """

    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    most: Floats


def encounters(pairs: PairMotion, clearance: float) -> Encounters:
    """What pairs do on straight ways, oriented boxes turning at a constant rate.

    Exact for spheres and axis-aligned boxes. Of oriented boxes, a contact is never late, a clearance is kept
    to every face, which at corners is up to 0.73 of it more, and the least separation is that of samples,
    narrowed down around the least of them.
    """
    if isinstance(pairs.a_start, (Sphere, Aabb)):
        enter, leave = overlap_span(*pairs, clearance=clearance)
        least_time = closest_time(*pairs)
        ends = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
        return Encounters(enter, leave, pairs.separation_at(least_time), least_time, np.maximum(*ends))
    padded = PairMotion(*(_padded(box, clearance / 2) for box in pairs)) if clearance else pairs
    enter = time_of_impact(*padded)
    leave = 1 - time_of_impact(*PairMotion(padded.a_end, padded.a_start, padded.b_end, padded.b_start))
    # Rounding may see a graze from one side only.
    leave = np.where(np.isnan(leave), enter, leave)
    enter = np.where(np.isnan(enter), leave, enter)
    leave = np.maximum(enter, leave)
    return Encounters(enter, leave, *_turning_extremes(pairs, enter, leave))


def _padded(box: Shape, amount: float) -> Obb:
    if not isinstance(box, Obb):
        raise InvalidShapeError(f"a scan follows spheres and boxes, not {type(box).__name__}")
    return box.padded(amount)


def closing_speed(pairs: PairMotion, time: Floats) -> Floats:
    """How fast the separation shrinks just before `time` (m,), in lengths per interval."""
    earlier = np.maximum(time - _LEAP, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fell = pairs.separation_at(earlier) - pairs.separation_at(time)
        return np.where(time > earlier, fell / (time - earlier), 0.0)


def _turning_extremes(pairs: PairMotion, enter: Floats, leave: Floats) -> tuple[Floats, Floats, Floats]:
    """Least separation, when, and a bound on the most, (m,) each, of boxes that may turn."""
    count = len(enter)
    start, end = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
    travel = _travelled(pairs)
    least, when = np.minimum(start, end), np.where(end < start, 1.0, 0.0)
    # Between two ends the separation can fall below both by no more than this; where nothing turns and
    # there is no contact it is a valley, and golden sections find its floor.
    rows = np.flatnonzero((start + end - travel) / 2 < least - 1e-12 * travel)
    if len(rows):
        part = pairs.picked(rows)
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        inside = ~np.isnan(enter[rows])
        low[inside], high[inside] = enter[rows][inside], leave[rows][inside]
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = part.separation_at(left), part.separation_at(right)
        for _ in range(_NARROWINGS):
            falls = at_right < at_left
            low, high = np.where(falls, left, low), np.where(falls, high, right)
            kept, at_kept = np.where(falls, right, left), np.where(falls, at_right, at_left)
            new = np.where(falls, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low))
            at_new = part.separation_at(new)
            left, right = np.where(falls, kept, new), np.where(falls, new, kept)
            at_left, at_right = np.where(falls, at_kept, at_new), np.where(falls, at_new, at_kept)
        found, time = np.minimum(at_left, at_right), np.where(at_right < at_left, right, left)
        less = found < least[rows]
        least[rows[less]], when[rows[less]] = found[less], time[less]
    return least, when, np.minimum((start + end + travel) / 2, np.full(count, np.inf))


def _travelled(pairs: PairMotion) -> Floats:
    """(m,) what the separation of two oriented boxes changes by at most, all changes added up."""
    total = np.zeros(pairs.a_start.shape)
    a0, a1, b0, b1 = pairs
    assert isinstance(a0, Obb) and isinstance(a1, Obb) and isinstance(b0, Obb) and isinstance(b1, Obb)
    total += length((b1.center - b0.center) - (a1.center - a0.center))
    for first, last in ((a0, a1), (b0, b1)):
        reach = np.maximum(length(first.half_extents), length(last.half_extents))
        total += length(last.half_extents - first.half_extents)
        total += reach * turned_angle(first, last)
    return total


def turned_angle(start: Obb, end: Obb) -> Floats:
    """The angle (...) in [0, pi] between the rotations of boxes, to about 1e-8."""
    cosine = 0.5 * (dot(start.rotation, end.rotation).sum(axis=-1) - 1)
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)))
