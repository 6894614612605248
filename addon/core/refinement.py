"""Between two samples: asking a motion at further times until the straight way between them is good enough.

Whatever a pair may do within what its way may stray from straight is looked at again: the interval is split,
first where the straight way has the contact, and each part told by its own, nearer neighbours.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Generator
from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, Ints
from .encounters import encounters, with_extremes
from .frame_block import Frame, FrameBlock, chosen
from .interpolation import at
from .motion import AskedBetween, Sample
from .obstacles import in_world
from .pair_motion import Encounters, PairMotion
from .shapes import Shape
from .straightness import bend, slopes, stray

FIRST_TOLERANCE = 2e-4
"""Frames by which a first contact may be off; what is wanted is a thousandth."""
_LATER_TOLERANCE = 5e-3
"""The same for ends of contacts, and for further ones of a pair."""
_GRAZE = 1e-4
"""Part of a pair's size within which nothing that strays decides between a graze and a near miss."""
_SHORTEST = 2.0**-13
"""Frames that are not split any more."""
_MOST_LOOKS = 60
"""Samples within one interval for each pair; what is open after so many is told with its uncertainty."""


class Judged(NamedTuple):
    """What is known of pairs (m,) in an interval.

    settled : whether the straight way tells enough
    uncertainty : parts of the interval by which the time of contact may be off
    """

    settled: Bools
    uncertainty: Floats


class Refined(NamedTuple):
    """What pairs did within an interval: a row for each part of it that tells something, times in frames.

    row : (r,) the pair; a, b : (r,) shapes at the contact, any shapes where there is none
    """

    row: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats


def judged(
    pairs: PairMotion,
    met: Encounters,
    strays: Floats,
    size: Floats,
    first_known: Bools,
    clearance: float,
    step: float | Floats,
) -> Judged:
    """Which pairs (m,) need no closer look.

    strays : how far their two ways together may be from straight, NaN for unknown
    size : of the smaller of each pair
    step : frames that the interval takes
    """
    uncertainty = np.zeros(len(strays))
    apart = np.isnan(met.enter) & ((met.low - strays > clearance) | (strays <= _GRAZE * size))
    within = (met.high + strays <= clearance) & (met.enter == 0) & (met.leave == 1)
    settled = apart | within | (strays == 0)
    rows = np.flatnonzero(~settled & ~np.isnan(met.enter))
    if len(rows):
        part = pairs.picked(rows)
        with np.errstate(divide="ignore", invalid="ignore"):
            late = strays[rows] / part.closing_speed(met.enter[rows])
            over = strays[rows] / part.backwards().closing_speed(1 - met.leave[rows])
        # What begins or goes on beyond the interval is the sample's to tell.
        late = np.where(met.enter[rows] == 0, 0.0, np.where(late >= 0, late, np.inf))
        over = np.where(met.leave[rows] == 1, 0.0, np.where(over >= 0, over, np.inf))
        uncertainty[rows] = np.minimum(late, 1.0)
        wanted = np.where(first_known[rows] | (met.enter[rows] == 0), _LATER_TOLERANCE, FIRST_TOLERANCE)
        step = np.broadcast_to(step, uncertainty.shape)[rows]
        # Overlapping at both ends says nothing about a gap in between that is not seen.
        whole = (met.enter[rows] == 0) & (met.leave[rows] == 1)
        fine = strays[rows] <= _GRAZE * size[rows]
        settled[rows] = np.where(whole, fine, (late * step <= wanted) & (over * step <= _LATER_TOLERANCE))
        # A contact that neither end shows is none if the way strays by more than it is deep, however fast.
        brief = rows[settled[rows] & (met.enter[rows] > 0) & (met.leave[rows] < 1) & ~fine]
        deep = with_extremes(pairs, met, brief, np.full(len(settled), np.inf)).least[brief]
        settled[brief] = deep + strays[brief] <= clearance
    return Judged(settled, uncertainty)


class Refinement:
    """Looks between the samples of a motion, for a scan."""

    def __init__(self, motion: AskedBetween, owners: Ints, clearance: float) -> None:
        self._motion = motion
        self._owners = owners
        self._clearance = clearance
        self.refinable = np.asarray(motion.refinable, dtype=bool)[owners]
        """(n,) which shapes can be asked for between samples."""

    def looked_at(
        self,
        block: FrameBlock,
        interval: int,
        pairs: Ints,
        size: Floats,
        first_known: Bools,
        news: Floats,
    ) -> Generator[None, None, Refined]:
        """What pairs (m, 2) of shapes do within an interval of a block. Yields after each sample taken.

        size, first_known, news : (m,) as for `judged` and `encounters`
        """
        subjects = np.unique(self._owners[pairs])
        members = np.flatnonzero(np.isin(self._owners, subjects))
        local = np.searchsorted(members, pairs)
        window = [block.before, *block.frames, block.after][interval : interval + 4]
        timeline = _Timeline(window, members, block.ending[interval])
        known = first_known.copy()
        found: list[Refined] = []
        parts = [(timeline.start, timeline.end, np.arange(len(pairs)))]
        looks = np.zeros(len(pairs), dtype=np.int64)
        while parts:
            begin, end, rows = parts.pop()
            first, second = local[rows].T
            shapes = timeline.shapes[begin], timeline.shapes[end]
            motion = PairMotion(
                *(shape[first] for shape in shapes),
                *(block.mesh or shape[second] for shape in shapes),
            )
            strays = timeline.strays(begin, end)
            both = strays[first] + strays[second]
            met = encounters(motion, self._clearance, both)
            step = end - begin
            verdict = judged(motion, met, both, size[rows], known[rows], self._clearance, step)
            done = verdict.settled | (looks[rows] >= _MOST_LOOKS) | (step <= _SHORTEST)
            met = with_extremes(motion, met, np.flatnonzero(done), news[rows])
            found.append(_told(motion, met, verdict, rows, done, timeline, begin, end))
            known[rows[done & ~np.isnan(met.enter)]] = True
            left = np.flatnonzero(~done)
            if len(left):
                middle = begin + step * _split(met, verdict, left)
                sample = self._motion.sample_between(middle, subjects)
                timeline.add(middle, sample, begin, end)
                looks[rows[left]] += 1
                yield
                parts += [(middle, end, rows[left]), (begin, middle, rows[left])]
        return Refined(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


class _Timeline:
    """Samples of some shapes around one interval, by time."""

    def __init__(self, window: list[Frame | None], members: Ints, ending: Shape) -> None:
        _, start, end, _ = window
        assert start is not None and end is not None
        self.start, self.end = start.time, end.time
        self.shapes: dict[float, Shape] = {}
        self.places: dict[float, Floats] = {}
        self._there: dict[float, Bools] = {}
        self.times: list[float] = []
        for frame in window:
            if frame is not None and frame.time not in self.shapes:
                self.shapes[frame.time] = frame.shapes[members]
                self.places[frame.time] = frame.place
                self._there[frame.time] = frame.present[members]
                self.times.append(frame.time)
        # Who is gone at the end stays where it was: there for this interval, wherever it goes.
        self.shapes[self.end] = ending[members]
        self._there[self.end] = self._there[self.start] & self._there[self.end]

    def add(self, time: float, sample: Shape | Sample, begin: float, end: float) -> None:
        """Take in a sample; what it does not show goes straight."""
        shapes = sample.shapes if isinstance(sample, Sample) else sample
        asked = isinstance(sample, Sample) and sample.places is not None
        self.places[time] = sample.places[0] if asked else self.places[begin]  # type: ignore
        if isinstance(sample, Sample) and sample.present is not None:
            there = np.asarray(sample.present)
            if not there.all():
                part = (time - begin) / (end - begin)
                straight = at(self.shapes[begin], self.shapes[end], np.full(shapes.shape, part))
                shapes = chosen(_by_part(there, shapes), shapes, straight)
        self.shapes[time] = shapes
        self._there[time] = np.ones(shapes.shape, dtype=bool)
        insort(self.times, time)

    def strays(self, begin: float, end: float) -> Floats:
        """(n,) how far shapes may be from straight from one sample to the next; NaN where nothing tells."""
        place = self.times.index(begin)
        known = []
        for k in (place - 1, place):
            if k < 0 or k + 2 >= len(self.times):
                continue
            t0, t1, t2 = self.times[k : k + 3]
            s0, s1, s2 = (self.shapes[t] for t in (t0, t1, t2))
            count = s0.shape
            before = slopes(s0, s1, np.full(count, t1 - t0))
            after = slopes(s1, s2, np.full(count, t2 - t1))
            strays = stray(bend(before, after), end - begin, t2 - t0)
            there = self._there[t0] & self._there[t1] & self._there[t2]
            known.append(np.where(there, strays, np.nan))
        if not known:
            return np.full(self.shapes[begin].shape, np.nan)
        result: Floats = known[0] if len(known) == 1 else np.fmax(*known)
        return result


def _by_part(present: Bools, shapes: Shape) -> Bools:
    """Presence by shape; a sample of subjects in parts tells it by part already."""
    if present.shape != shapes.shape:
        raise ValueError(f"presence {present.shape} of shapes {shapes.shape}")
    return present


def _split(met: Encounters, verdict: Judged, left: Ints) -> float:
    """Where in [0, 1] to look next: on one side or the other of the first time that is in doubt."""
    enter = np.where(np.isnan(met.enter[left]) | (met.enter[left] == 0), np.inf, met.enter[left])
    row = left[int(enter.argmin())]
    if np.isfinite(enter.min()):
        when, doubt = float(met.enter[row]), 1.5 * float(verdict.uncertainty[row])
        for split in (when - doubt, when + doubt):
            if 0.1 < split < 0.9 and doubt < 0.2:
                return split
        return 0.5
    closest = float(met.leave[row] if met.leave[row] > 0 else met.least_time[row])
    return closest if 0.25 < closest < 0.75 else 0.5


def _told(
    motion: PairMotion,
    met: Encounters,
    verdict: Judged,
    rows: Ints,
    done: Bools,
    timeline: _Timeline,
    begin: float,
    end: float,
) -> Refined:
    """Rows for the pairs that are done, with witness points for those that touch."""
    step = end - begin
    told = np.flatnonzero(done)
    enter = met.enter[told]
    point, normal = np.full((len(told), 3), np.nan), np.full((len(told), 3), np.nan)
    hit = np.flatnonzero(~np.isnan(enter))
    if len(hit):
        seen = motion.picked(told[hit]).contact_at(enter[hit])
        places = timeline.places[begin], timeline.places[end]
        point[hit], normal[hit] = in_world(*places, enter[hit], *seen)
    return Refined(
        rows[told],
        time_within(begin, end, enter),
        time_within(begin, end, met.leave[told]),
        met.least[told],
        time_within(begin, end, met.least_time[told]),
        verdict.uncertainty[told] * step,
        point,
        normal,
    )


def time_within(start: Floats | float, end: Floats | float, part: Floats) -> Floats:
    """Times of parts in [0, 1] of intervals; exactly the sample's own at both ends."""
    return np.where(part == 1, end, start + part * (np.asarray(end) - start))
