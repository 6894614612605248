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
from .contact_report import Progress
from .encounters import encounters, with_extremes
from .errors import InvalidShapeError
from .frame_block import FrameBlock, chosen
from .interpolation import at
from .motion import AskedBetween, Sample
from .obstacles import in_world
from .pair_history import Findings
from .pair_motion import Encounters, PairMotion
from .shapes import Shape, gathered
from .straightness import bend, slopes, stray
from .triangle_mesh import TriangleMesh

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
_MANY = 4
"""Pairs that touch within one interval; so many are told apart sooner by halving it."""


class Judged(NamedTuple):
    """What is known of pairs (m,) in an interval.

    settled : whether the straight way tells enough
    uncertainty : parts of the interval by which the time of contact may be off
    """

    settled: Bools
    uncertainty: Floats


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
        each = np.arange(len(settled))
        deep = with_extremes(pairs, met, brief, np.full(len(settled), np.inf), each).least[brief]
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
        progress: Progress,
        keys: Ints,
        interval: Ints,
        pairs: Ints,
        size: Floats,
        first_known: Bools,
        news: Floats,
    ) -> Generator[Progress, None, Findings]:
        """What pairs (m, 2) of shapes, called `keys` (m,), do within their intervals (m,) of a block.

        Yields the progress again after each sample. Returns a row for each part of an interval.

        size, first_known, news : (m,) as for `judged` and `encounters`
        """
        local = np.empty_like(pairs)
        parts = []
        for k in np.unique(interval).tolist():
            rows = np.flatnonzero(interval == k)
            timeline = _Timeline(block, k, self._owners, pairs[rows])
            local[rows] = np.searchsorted(timeline.members, pairs[rows])
            parts.append(_Part(timeline, timeline.start, timeline.end, rows))
        earliest = np.where(first_known, -np.inf, np.inf)
        found: list[Findings] = []
        looks = np.zeros(len(pairs), dtype=np.int64)
        # All that is open is looked at together: array by array, not part by part.
        while parts:
            rows = np.concatenate([part.rows for part in parts])
            count = np.array([len(part.rows) for part in parts])
            begin, end = (np.repeat([part[k] for part in parts], count) for k in (1, 2))
            motion, both = _ways(parts, local, block.mesh)
            yield progress
            met = yield from encounters(motion, self._clearance, np.nan_to_num(both), progress)
            yield progress
            known = earliest[rows] < begin
            verdict = judged(motion, met, both, size[rows], known, self._clearance, end - begin)
            yield progress
            done = verdict.settled | (looks[rows] >= _MOST_LOOKS) | (end - begin <= _SHORTEST)
            met = with_extremes(motion, met, np.flatnonzero(done), news[rows], keys[rows])
            places = _places(parts, count) if block.mesh else None
            told = np.flatnonzero(done)
            found.append(_told(motion, met, verdict, keys[rows[told]], told, places, begin, end))
            touching = done & ~np.isnan(met.enter)
            np.minimum.at(earliest, rows[touching], begin[touching])
            looks[rows[~done]] += 1
            following = []
            for part, last in zip(parts, np.cumsum(count).tolist(), strict=True):
                left = last - len(part.rows) + np.flatnonzero(~done[last - len(part.rows) : last])
                if len(left):
                    middle = part.begin + (part.end - part.begin) * _split(met, verdict, left)
                    part.timeline.add(middle, self._motion, part.begin, part.end)
                    yield progress
                    following += [
                        part._replace(end=middle, rows=rows[left]),
                        part._replace(begin=middle, rows=rows[left]),
                    ]
            parts = following
        return Findings.joined(found)


class _Part(NamedTuple):
    """A part of an interval, from one sample to the next, and rows (r,) of pairs it does not yet tell."""

    timeline: _Timeline
    begin: float
    end: float
    rows: Ints


class _Timeline:
    """Samples of some shapes around one interval, by time.

    members : (n,) growing, which shapes those are
    """

    def __init__(self, block: FrameBlock, interval: int, owners: Ints, pairs: Ints) -> None:
        self.subjects = np.unique(owners[pairs])
        self.members = np.flatnonzero(np.isin(owners, self.subjects))
        self.start, self.end = float(block.times[interval]), float(block.times[interval + 1])
        self.shapes: dict[float, Shape] = {}
        self.places: dict[float, Floats] = {}
        self._there: dict[float, Bools] = {}
        self._times: list[float] = []
        frames = block.around(interval)
        for k, time in enumerate(frames.times.tolist()):
            if time not in self.shapes:
                self.shapes[time] = frames.shapes[k, self.members]
                self.places[time] = frames.places[k]
                self._there[time] = frames.present[k, self.members]
                self._times.append(time)
        # Who is gone at the end stays where it was: there for this interval, wherever it goes.
        self.shapes[self.end] = block.ending[interval][self.members]
        self._there[self.end] = self._there[self.start] & self._there[self.end]

    def add(self, time: float, motion: AskedBetween, begin: float, end: float) -> None:
        """Ask for another sample; what it does not show goes straight."""
        asked = motion.sample_between(time, self.subjects)
        sample = asked if isinstance(asked, Sample) else Sample(asked)
        shapes = sample.shapes
        self.places[time] = self.places[begin] if sample.places is None else sample.places[0]
        if sample.present is not None:
            there = np.asarray(sample.present)
            if there.shape != shapes.shape:
                raise InvalidShapeError(f"sample at {time}: {there.shape} present of {shapes.shape} shapes")
            if not there.all():
                part = (time - begin) / (end - begin)
                straight = at(self.shapes[begin], self.shapes[end], np.full(shapes.shape, part))
                shapes = chosen(there, shapes, straight)
        self.shapes[time] = shapes
        self._there[time] = np.ones(shapes.shape, dtype=bool)
        insort(self._times, time)

    def around(self, begin: float, end: float) -> tuple[float, float]:
        """The times before and after two neighbouring ones; those themselves where there are no others."""
        place = self._times.index(begin)
        return self._times[max(place - 1, 0)], self._times[min(place + 2, len(self._times) - 1)]

    def there(self, rows: Ints, *times: float) -> Bools:
        """Which shapes are there at all of these times."""
        return np.asarray(np.logical_and.reduce([self._there[time][rows] for time in times]))


def _ways(parts: list[_Part], local: Ints, mesh: TriangleMesh | None) -> tuple[PairMotion, Floats]:
    """The pairs of all parts on their straight ways, and how far from straight both may be, NaN for unknown.

    local : (m, 2) where the shapes of each row are among the members of its timeline
    """
    taken: list[list[tuple[Shape, Ints]]] = [[], [], [], []]
    steps, told_before, told_after = [], [], []
    for timeline, begin, end, rows in parts:
        one = local[rows].T.ravel()
        times = (begin, end, *timeline.around(begin, end))
        for listed, time in zip(taken, times, strict=True):
            listed.append((timeline.shapes[time], one))
        steps.append(np.tile(np.diff((times[2], begin, end, times[3])), (len(one), 1)))
        told_before.append(timeline.there(one, *times[:3]) & (times[2] < begin))
        told_after.append(timeline.there(one, *times[:2], times[3]) & (times[3] > end))
    s1, s2, s0, s3 = map(gathered, taken)
    h0, h1, h2 = np.concatenate(steps).T
    speed = slopes(s1, s2, h1)
    strays = np.full(len(h1), np.nan)
    for near, far, step, told in ((s0, s1, h0, told_before), (s2, s3, h2, told_after)):
        known = np.flatnonzero(np.concatenate(told))
        bends = bend(slopes(near[known], far[known], step[known]), speed[known])
        strays[known] = np.fmax(strays[known], stray(bends, h1[known], h1[known] + step[known]))
    # Of each part first the first shapes of its pairs, then the second ones.
    count = np.repeat([len(part.rows) for part in parts], 2)
    is_first = np.repeat(np.arange(len(count)) % 2 == 0, count)
    a, b = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    second = (mesh, mesh) if mesh else (s1[b], s2[b])
    return PairMotion(s1[a], s2[a], *second), strays[a] + strays[b]


def _places(parts: list[_Part], count: Ints) -> tuple[Floats, Floats]:
    """(m, 4, 4) where the obstacle is at the beginning and at the end of the part of each row."""
    begin = np.stack([part.timeline.places[part.begin] for part in parts])
    end = np.stack([part.timeline.places[part.end] for part in parts])
    return np.repeat(begin, count, axis=0), np.repeat(end, count, axis=0)


def _split(met: Encounters, verdict: Judged, left: Ints) -> float:
    """Where in [0, 1] to look next: on one side or the other of the first time that is in doubt."""
    enter = np.where(np.isnan(met.enter[left]) | (met.enter[left] == 0), np.inf, met.enter[left])
    row = left[int(enter.argmin())]
    if np.isfinite(enter).sum() > _MANY:
        # One after the other would take a look for each.
        return 0.5
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
    keys: Ints,
    told: Ints,
    places: tuple[Floats, Floats] | None,
    begin: Floats,
    end: Floats,
) -> Findings:
    """Rows for the pairs that are told, called `keys`, with witness points for those that touch."""
    enter = met.enter[told]
    point, normal = np.full((len(told), 3), np.nan), np.full((len(told), 3), np.nan)
    hit = np.flatnonzero(~np.isnan(enter))
    if len(hit):
        point[hit], normal[hit] = motion.picked(told[hit]).contact_at(enter[hit])
        if places is not None:
            first, last = (place[told[hit]] for place in places)
            point[hit], normal[hit] = in_world(first, last, enter[hit], point[hit], normal[hit])
    begin, end = begin[told], end[told]
    return Findings(
        keys,
        time_within(begin, end, enter),
        time_within(begin, end, met.leave[told]),
        met.least[told],
        time_within(begin, end, met.least_time[told]),
        verdict.uncertainty[told] * (end - begin),
        point,
        normal,
        np.ones(len(told), dtype=bool),
    )


def time_within(start: Floats | float, end: Floats | float, part: Floats) -> Floats:
    """Times of parts in [0, 1] of intervals; exactly the sample's own at both ends."""
    return np.where(part == 1, end, start + part * (np.asarray(end) - start))
