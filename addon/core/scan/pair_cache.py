"""Cache of what is known of each pair so far.

It has one row for each pair of subjects that came near each other, updated block by block with array
operations. Memory grows with these pairs and their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..distance.dispatch import witness_points
from ..distance.overlap_kinds import overlap_kinds
from ..interval.pair_motion import PairMotion
from ..mesh.meshes import Meshes, longest_paths
from ..motion.motion import Motion
from ..motion.samples import SampledMotion
from ..motion.steps import next_jumps
from ..numeric.arrays import Bools, Floats, Ints, Table, dot, is_run_start, largest_component, length
from ..numeric.tolerances import CHAIN_ROUNDING
from ..progress import in_steps
from .candidates import Candidates
from .rounds import LINEAR, PROVEN, SAMPLED, Pieces, span_runs
from .slow_contacts import frames_until_crossing

_UNSTEADY = 0.05
"""Part of its path by which a pair may deviate from linear motion if its velocity is known."""
_STEADY = 1e-4
"""Part of its path by which a pair may deviate from linear motion that gives its velocity as well as any."""
_POSE_ROUNDING = 2.0**-23
"""Part of the coordinates that is lost in a pose of single precision."""
_BEFORE, _JUST_BEFORE_CONTACT = 2.0**-10, 2.0**-17
"""Frames before a contact between which its velocity is measured; a jump at the contact itself is later."""
_LONGER, _LENGTHS = 4.0, 5
"""Ratio and number of the lengths of time over which velocities are measured: the longest is 1/4 frame."""
_ENOUGH = 1e-4
"""Part of a velocity that may be rounding: if it is more, longer times are tried."""
_SLOW = 1e-3
"""Part of the size of a pair that it moves in a frame if it is too slow for that to matter."""
_TOUCH = 1e-9
"""Part of the coordinates below which an overlap is a touch."""
_EARLY = 1e-4
"""Part of a pair's size by which a proven contact may begin before the touch, and be described there."""


class ContactSpans(Table):
    """Spans of time in contact, of pairs (m,); begin and end in frames.

    keys : (m,) int
    enter, leave : (m,) float
    motion : (m,) int. Motion from which the begin follows.
    least, least_time : (m,) float. Least separation within the span, and its time.
    uncertainty : (m,) float. Frames by which the begin may be off.
    point, normal : (m, 3) float. Contact point at the begin, and unit normal from the first to the second
        shape, in world space; NaN until they are found.
    velocity : (m, 3) float. Velocity of the second surface relative to the first, in lengths per frame; NaN
        where not known.
    direction : (m, 3) float. Unit normal from the first to the second shape at the least separation.
    overlap : (m,) int. How meshes overlap there: an index of `OVERLAPS`; -1 for other shapes and gaps.
    has_depth : (m,) bool. Whether the least separation is minus a depth, or a gap; not of open meshes.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    motion: Ints
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    velocity: Floats
    direction: Floats
    overlap: Ints
    has_depth: Bools

    @classmethod
    def found(cls, keys: Ints, enter: Floats, leave: Floats, **known: Floats | Ints) -> ContactSpans:
        """Make spans (m,) that are not described yet; without separations, they only continue others.

        known : Columns `motion`, `least`, `least_time` and `uncertainty`.
        """
        unknown: dict[str, Any] = {"motion": LINEAR, "least": np.inf}
        unknown |= dict.fromkeys(("least_time", "uncertainty"), np.nan)
        filled = [np.full(keys.shape, column) for column in (unknown | known).values()]
        filled += [*np.full((4, len(keys), 3), np.nan), np.full(keys.shape, -1), np.full(keys.shape, True)]
        return cls(keys, enter, leave, *filled)

    def joined(self) -> tuple[ContactSpans, Ints, Ints, Ints]:
        """Join spans of a pair that overlap or share an end, in order of keys, then time.

        Also returns which of these (m,) each span is part of, the rows (r,) from which they begin, and those
        of their least separations: of equal ones, the strongest kind of overlap, and the earliest of these.
        """
        order, begins, latest = span_runs(self.keys, self.enter, self.leave)
        run = np.empty(len(order), dtype=np.int64)
        run[order] = np.cumsum(begins) - 1
        by_depth = np.lexsort((self.least_time, -self.overlap, self.least, run))
        first, deepest = order[begins], by_depth[is_run_start(run[by_depth])]
        joined = self.take(first).replaced(
            leave=latest[np.append(begins, True)[1:]],
            least=self.least[deepest],
            least_time=self.least_time[deepest],
            direction=self.direction[deepest],
            overlap=self.overlap[deepest],
            has_depth=self.has_depth[deepest],
        )
        return joined, run, first, deepest


class PairRecords(Table):
    """Pairs of subjects (m,) that came near each other.

    keys : (m,) int. Increasing.
    least, least_time : (m,) float. Least separation so far, and its time.
    touched : (m,) bool. Whether the pair had a contact.
    is_near : (m,) bool. Whether the least separation is at most the size of the smaller subject.
    doubtful_since : (m,) float. Time from which the pair may touch without a record; inf for none.
    """

    keys: Ints
    least: Floats
    least_time: Floats
    touched: Bools
    is_near: Bools
    doubtful_since: Floats

    @classmethod
    def found(
        cls,
        keys: Ints,
        least: Floats | float = np.inf,
        least_time: Floats | float = 0.0,
        touched: Bools | bool = False,
        is_near: Bools | bool = False,
        doubtful_since: Floats | float = np.inf,
    ) -> PairRecords:
        """Make records (m,) in any order, of which several may be of one pair."""
        columns = (least, least_time, touched, is_near, doubtful_since)
        return cls(keys, *(np.full(keys.shape, column) for column in columns))

    @classmethod
    def joined(cls, parts: Sequence[PairRecords]) -> PairRecords:
        """Join the records of each pair, at least one part."""
        pairs = cls.concatenate(parts)
        # Of each pair the least separation comes first: of equal ones, the earliest.
        pairs = pairs.take(np.lexsort((pairs.least_time, pairs.least, pairs.keys)))
        starts = np.flatnonzero(is_run_start(pairs.keys))
        return pairs.take(starts).replaced(
            touched=np.logical_or.reduceat(pairs.touched, starts),
            is_near=np.logical_or.reduceat(pairs.is_near, starts),
            doubtful_since=np.minimum.reduceat(pairs.doubtful_since, starts),
        )


class Descriptions:
    """Contacts of one block, and their descriptions from the pieces in which they are found.

    Most pieces continue a contact that began before and is deeper elsewhere, so they need no description.

    pieces : Pieces, (r,). If there are any.
    spans : ContactSpans, (r,). Of all pieces, not described.
    """

    def __init__(
        self,
        motion: Motion,
        clearance: float,
        first_time: float,
        candidates: Candidates,
        pieces: Sequence[Pieces],
    ) -> None:
        """Take in pieces that touch, whose rows are those of candidates (m,) of the block."""
        self._motion, self._candidates = motion, candidates
        self._clearance, self._first_time = clearance, first_time
        nothing = np.empty(0, dtype=np.int64)
        self.spans = ContactSpans.found(nothing, np.empty(0), np.empty(0))
        if not pieces:
            return
        self.pieces = solved = Pieces.concatenate(pieces)
        contacts = solved.contacts
        self.spans = ContactSpans.found(
            candidates.keys[solved.rows],
            solved.times(contacts.enter),
            solved.times(contacts.leave),
            motion=candidates.contact_motion[solved.rows],
            least=contacts.least,
            least_time=solved.times(contacts.least_time),
            uncertainty=solved.uncertainty * (solved.end - solved.begin),
        )

    def describe(self, rows: Ints, found: ContactSpans, part: float) -> Generator[float, None, None]:
        """Describe the begin of contacts (m,) that begin in pieces (m,) of these rows, in `found` (m,).

        Yields `part`.

        Velocities are NaN where a contact begins with a jump, or where motion may not be known well enough.
        """
        solved = self.pieces.take(rows)
        candidates = self._candidates.take(solved.rows)
        size, is_certain = candidates.size, candidates.contact_motion == PROVEN
        motion, enter = solved.motion, solved.contacts.enter.copy()
        # These begin earlier, by what may deviate: where other corners may be the nearest ones.
        early = np.flatnonzero(is_certain & (enter > 0) & (solved.deviation > _EARLY * size))
        if len(early):
            enter[early] = np.fmax(enter[early], motion.take(early).time_within(self._clearance))
        impact = yield from in_steps(partial(motion.impact_at, enter), part)
        steps, path, reach = (
            solved.end - solved.begin,
            length(impact.velocity),
            largest_component(impact.point),
        )
        # Where linear motion is assumed, nothing deviates; what jumps has no velocity.
        is_linear = candidates.contact_motion == LINEAR
        deviation = np.where(is_linear, 0.0, solved.deviation)
        deviation[~np.isnan(solved.rest)] = np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            # The last sample by itself has no length.
            velocity = np.asarray(impact.velocity / np.where(steps > 0, steps, np.nan)[:, None])
        is_unknown = ~(deviation <= _UNSTEADY * np.maximum(path, _SLOW * steps * size)) & ~is_certain
        # A contact that begins at a sample, with more than a touch, begins with a jump.
        touch = self._clearance - _TOUCH * (reach + np.abs(impact.separation))
        velocity[is_unknown | ((solved.contacts.enter == 0) & (impact.separation < touch))] = np.nan
        # Linear motion gives the velocity of the others, which are steady and not so short that rounding
        # matters.
        is_steady = np.maximum(solved.deviation, 2 * _POSE_ROUNDING * (reach + size)) <= _STEADY * path
        wanted = np.flatnonzero(is_certain & ~is_steady)
        if len(wanted):
            measured = yield from self._velocities_before(candidates.take(wanted), found.enter[wanted], part)
            velocity[wanted] = np.where(np.isnan(velocity[wanted]), np.nan, measured)
        linear = np.flatnonzero(is_linear)
        if len(linear):
            found.uncertainty[linear] = self._uncertainty(
                solved.take(linear), candidates.pairs[linear].T, enter[linear]
            )
        # The first sample itself is exact.
        found.uncertainty[found.enter == self._first_time] = 0.0
        if not self._clearance:
            found.uncertainty[:] = np.maximum(
                found.uncertainty,
                frames_until_crossing(solved, enter, np.abs(dot(impact.velocity, impact.normal))),
            )
        found.point[:], found.normal[:], found.velocity[:] = impact.point, impact.normal, velocity

    def closing_at_start(self) -> tuple[Ints, Floats]:
        """Find the pieces (r,) that touch from the first time on, as far as rounding decides.

        Also returns the frames (r,) until they touch for certain: see `frames_until_crossing`.
        """
        nothing = np.empty(0, dtype=np.int64), np.empty(0)
        if self._clearance or not len(self.spans.keys):
            return nothing
        solved, contacts = self.pieces, self.pieces.contacts
        is_first = (solved.begin == self._first_time) & (solved.begin < solved.end)
        is_doubtful = ~(contacts.high + solved.deviation <= 0)
        rows = np.flatnonzero(is_first & (contacts.enter == 0) & is_doubtful)
        meshes = [each for each in solved.motion.take(rows) if isinstance(each, Meshes)]
        if len(rows) == 0 or len(meshes) < 4:
            return nothing
        path = longest_paths(meshes[0], meshes[1]) + longest_paths(meshes[2], meshes[3])
        rows, path = rows[path > 0], path[path > 0]
        return rows, frames_until_crossing(solved.take(rows), np.zeros(len(rows)), path)

    def describe_least(self, rows: Ints, found: ContactSpans) -> None:
        """Describe the least separations of contacts (m,) in pieces (m,) of these rows, in `found` (m,)."""
        solved = self.pieces.take(rows)
        a, b = solved.motion.at(solved.contacts.least_time)
        found.direction[:] = witness_points(a, b).normal
        if isinstance(a, Meshes) and isinstance(b, Meshes):
            found.overlap[:] = _overlaps(a, b, -found.least)
            found.has_depth[:] = (found.least > 0) | a.are_balls | b.are_balls | a.have_inside | b.have_inside

    def overlaps(self, rows: Ints) -> Ints:
        """Classify the overlaps (m,) of pieces of these rows at their least separations, as in spans."""
        solved = self.pieces.take(rows)
        a, b = solved.motion.at(solved.contacts.least_time)
        if isinstance(a, Meshes) and isinstance(b, Meshes):
            return _overlaps(a, b, -solved.contacts.least)
        return np.full(len(rows), -1)

    def _uncertainty(self, linear: Pieces, sides: Ints, enter: Floats) -> Floats:
        """Frames (r,) by which contacts of pieces (r,) of assumed motion may be off, which begin at `enter`.

        As long as pairs of shapes (2, r) take to cover the estimated deviation, or the whole interval where
        it is unknown.
        """
        motion = self._motion
        assert isinstance(motion, SampledMotion), "other motions are certain"
        deviation = np.sum([motion.estimated_deviations(side, linear.begin) for side in sides], axis=0)
        speed, steps = linear.motion.closing_speed(enter), linear.end - linear.begin
        with np.errstate(divide="ignore", invalid="ignore"):
            frames = np.where(deviation > 0, deviation / speed, 0.0) * steps
        is_unknown = np.isnan(deviation) | (speed <= 0)
        return np.where(is_unknown, steps, np.minimum(frames, steps))

    def _velocities_before(
        self, candidates: Candidates, times: Floats, part: float
    ) -> Generator[float, None, Floats]:
        """Relative velocities (r, 3) of candidates (r,) of certain motion just before times (r,), per frame.

        NaN just after a jump. Yields `part`.
        """
        movers, begin = candidates.pairs.T, times - _BEFORE
        jump = next_jumps(self._motion, movers, begin, times)
        velocities, rounding = yield from self._mean_velocities(
            candidates, np.where(jump < times, jump, begin)[None], times, part
        )
        noisy = np.flatnonzero(rounding[0] > _ENOUGH * length(velocities[0]))
        if not len(noisy):
            return np.asarray(velocities[0])
        # Velocities over two lengths of time are extrapolated to a length of 0, so that acceleration counts.
        # A longer time is better as long as its velocity agrees with those over all shorter times, so that
        # what is seen of their change is rounding (Lepski's method).
        candidates, movers, times = candidates.take(noisy), movers[:, noisy], times[noisy]
        begin = times - (_BEFORE * _LONGER ** np.arange(1, _LENGTHS))[:, None]
        longer, of_longer = yield from self._mean_velocities(candidates, begin, times, part)
        extrapolated = np.concatenate([velocities[:, noisy], longer])
        noise = np.concatenate([of_longer[:1] * _LONGER, of_longer])
        noise[1:] = (_LONGER * noise[:-1] + noise[1:]) / (_LONGER - 1)
        extrapolated[1:] = (_LONGER * extrapolated[:-1] - extrapolated[1:]) / (_LONGER - 1)
        chosen = np.zeros(len(noisy), dtype=np.intp)
        for level in range(1, _LENGTHS):
            agrees = length(extrapolated[:level] - extrapolated[level]) <= noise[:level] + noise[level]
            jumps = next_jumps(self._motion, movers, begin[level - 1], times) < times
            chosen[(chosen == level - 1) & agrees.all(axis=0) & ~jumps] = level
        velocities[0, noisy] = extrapolated[chosen, np.arange(len(noisy))]
        return np.asarray(velocities[0])

    def _mean_velocities(
        self, candidates: Candidates, begin: Floats, times: Floats, part: float
    ) -> Generator[float, None, tuple[Floats, Floats]]:
        """Relative velocities (s, r, 3) of candidates (r,) from `begin` (s, r) to just before times (r,).

        Also returns how much of each (s, r) may be rounding of the poses. Yields `part`.
        """
        end, spans, count = times - _JUST_BEFORE_CONTACT, len(begin), len(times)
        # All shapes at once, because evaluating curves takes long for few times too.
        both = np.concatenate([begin.ravel(), np.tile(end, spans)])
        shapes: Any = self._motion.at(np.tile(candidates.pairs.T, 2 * spans).ravel(), np.tile(both, 2))
        total = spans * count
        parts = [shapes[k * total : (k + 1) * total] for k in range(4)]
        impact = yield from in_steps(partial(PairMotion(*parts).impact_at, np.ones(total)), part)
        reach = largest_component(impact.point) + np.tile(candidates.size, spans)
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.tile(end, spans) - begin.ravel()
            steps = np.where(steps > _JUST_BEFORE_CONTACT, steps, np.nan)
            velocities = impact.velocity / steps[:, None]
            rounding = 4 * _POSE_ROUNDING * reach / steps
        return np.asarray(velocities).reshape(spans, count, 3), np.asarray(rounding).reshape(spans, count)


def _overlaps(a: Meshes, b: Meshes, depth: Floats) -> Ints:
    """Classify the overlaps (m,) of meshes, whose depth (m,) is minus a gap; -1 for gaps and balls."""
    result = np.full(len(depth), -1)
    surfaces = np.flatnonzero((depth >= 0) & ~(a.are_balls | b.are_balls))
    result[surfaces] = overlap_kinds(a[surfaces], b[surfaces], depth[surfaces])
    return result


_DESCRIBED_PER_CHUNK = 1 << 8
"""Contacts whose begin is described at once, which takes about 30 ms."""


class PairCache:
    """Contacts and least separation of each pair so far.

    pairs : What is known of each pair.
    open : Contacts that last until the time recorded last.
    has_moved : (s,) bool. Subjects that moved, appeared or disappeared.
    """

    def __init__(self, has_moved: Bools) -> None:
        self.has_moved = has_moved
        nothing = np.empty(0, dtype=np.int64)
        self.pairs = PairRecords.found(nothing)
        self._closed: list[ContactSpans] = []
        self.open = ContactSpans.found(nothing, np.empty(0), np.empty(0))

    def record(
        self, pairs: Sequence[PairRecords], continued: ContactSpans, until: float, found: Descriptions
    ) -> Generator[float, None, None]:
        """Take in records of pairs and contacts up to `until`; yields the part of the work that is done.

        Nothing changes before the last part, so a generator that is closed leaves the cache as it was.

        continued : spans of contacts that begin before, and are not deeper there
        """
        # Open contacts first: of those that begin together, the first one is described.
        count, known = len(self.open.keys), len(self.pairs.keys)
        spans = ContactSpans.concatenate([self.open, found.spans, continued])
        joined, run, first, deepest = spans.joined()
        # Where meshes have no depth, it is by the kind of their overlap that one is deeper.
        flat = np.flatnonzero((joined.least == 0)[run[count : count + len(found.spans.keys)]])
        if len(flat):
            spans.overlap[count + flat] = yield from in_steps(partial(found.overlaps, flat), 0.0)
            joined, run, first, deepest = spans.joined()
        yield 0.3
        new = np.flatnonzero(first >= count)
        for begin in range(0, len(new), _DESCRIBED_PER_CHUNK):
            chunk = new[begin : begin + _DESCRIBED_PER_CHUNK]
            described = joined.take(chunk)
            yield from found.describe(first[chunk] - count, described, 0.4 + 0.3 * begin / len(new))
            joined.assign(chunk, described)
        yield 0.7
        rows, closing = yield from in_steps(found.closing_at_start, 0.7)
        np.maximum.at(joined.uncertainty, run[count + rows], closing)
        rows = np.flatnonzero((deepest >= count) & (joined.least < np.inf))
        if len(rows):
            described = joined.take(rows)
            yield from in_steps(partial(found.describe_least, deepest[rows] - count, described), 0.7)
            joined.assign(rows, described)
        yield 0.9
        if pairs:
            new_pairs = PairRecords.concatenate(pairs)
            # Sorting all pairs takes ten times as long as putting those that changed in their places.
            rows, _ = _found(self.pairs.keys, np.unique(new_pairs.keys))
            changed = PairRecords.joined([self.pairs.take(rows), new_pairs])
            every = PairRecords.concatenate([self.pairs.take(np.delete(np.arange(known), rows)), changed])
            self.pairs = every.take(np.argsort(every.keys, kind="stable"))
        is_over = joined.leave < until
        if is_over.any():
            self._closed.append(joined.take(is_over))
        self.open = joined.take(~is_over)

    def candidates(
        self, motion: Motion, pairs: Ints, keys: Ints, size: Floats, clearance: float
    ) -> Candidates:
        """Return pairs (m, 2) of shapes, with what is known of those of their subjects so far.

        keys, size : (m,) of the pairs of subjects
        """
        how = np.where((motion.grain[pairs] < np.inf).all(axis=1), SAMPLED, LINEAR)
        how = np.where(motion.is_certain[pairs].all(axis=1), PROVEN, how)
        (row, is_known), (open_row, is_open) = (_found(table.keys, keys) for table in (self.pairs, self.open))
        least, open_least = np.full((2, len(keys)), np.inf)
        least[is_known], open_least[is_open] = self.pairs.least[row], self.open.least[open_row]
        touched = np.zeros(len(keys), dtype=bool)
        touched[is_known] = self.pairs.touched[row]
        cutoff = np.minimum(least, np.maximum(size, clearance) * (1 + CHAIN_ROUNDING))
        return Candidates(pairs, keys, size, how, cutoff, touched, open_least)

    def spans(self) -> ContactSpans:
        """Return all spans, the open ones too, ordered by key, then time."""
        spans = ContactSpans.concatenate([*self._closed, self.open])
        return spans.take(np.lexsort((spans.enter, spans.keys)))


def _found(known: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Rows (k,) of keys (m,) that are among `known`, which increase, and a mask (m,) of those keys."""
    row = np.searchsorted(known, keys)
    is_known = np.append(known, -1)[row] == keys
    return row[is_known], is_known
