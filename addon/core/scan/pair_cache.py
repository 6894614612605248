"""Cache of what is known of each pair so far.

It has one row for each pair of subjects that came near each other, updated block by block with array
operations. Memory grows with these pairs and their contacts, never with the number of frames.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterator
from typing import NamedTuple

import numpy as np

from ..distance.dispatch import witness_points
from ..interval.pair_motion import IntervalContacts, PairImpact
from ..motion.motion import to_world
from ..numeric.arrays import Bools, Floats, Ints, Table, cross, largest_component, length
from ..numeric.spans import is_run_start, span_runs
from ..shapes import Sphere
from ..sweep.interpolation import RotationPath
from .candidates import Candidates
from .least import LINEAR, time_within
from .subdivision import PairIntervals, Subdivision

_UNSTEADY = 0.05
"""Part of its path by which a pair may deviate from linear motion if its velocity is known."""
_STEADY = 1e-4
"""Part of its path by which a pair may deviate from linear motion that gives its velocity as well as any."""
_POSE_ROUNDING = 2.0**-22
"""Part of the coordinates that the poses of both shapes, at both ends of an interval, lose to rounding."""
_SLOW = 1e-3
"""Part of the size of a pair that it moves in a frame if it is too slow for that to matter."""
_TOUCH = 1e-9
"""Part of the coordinates below which an overlap is a touch."""
_EARLY = 1e-4
"""Part of a pair's size by which a proven contact may begin before the touch, and be described there."""


class IntervalRecords(Table):
    """Contacts and separations of pairs, one row for each pair and interval; times in frames.

    Spans of one pair that share an end are one contact.

    keys : (m,) int. Keys of the pairs.
    enter, leave : (m,) float. Begin and end of the contact; NaN for none.
    least, least_time : (m,) float. Least separation and its time. If there is a contact, within it.
    uncertainty : (m,) float. Frames by which `enter` may be off.
    motion : (m,) int. Motion from which the contact follows, an index of `MOTIONS`.
    piece : (m,) int. Row among the solved pieces of the block, from which the contact is described; -1 for
        none.
    """

    keys: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    motion: Ints
    piece: Ints

    @classmethod
    def from_continued_contacts(cls, keys: Ints, enter: Floats, leave: Floats | float) -> IntervalRecords:
        """Contacts (m,) that are not the first of their pairs, without separations."""
        nothing = np.full((2, len(keys)), np.nan)
        nothing[0] = np.inf
        linear, piece = np.full(keys.shape, LINEAR), np.full(keys.shape, -1)
        return cls(keys, enter, np.full(keys.shape, leave), nothing[0], enter, nothing[1], linear, piece)


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

    @classmethod
    def from_records(cls, records: IntervalRecords) -> ContactSpans:
        """Spans (m,) of records with contacts, not yet described."""
        unknown = np.full((len(records.keys), 3), np.nan)
        columns = (records.motion, records.least, records.least_time, records.uncertainty)
        return cls(records.keys, records.enter, records.leave, *columns, *(unknown.copy() for _ in range(4)))

    def deepest_of(self, run: Ints) -> Ints:
        """Row (r,) with the least separation in each run, the earliest of equal ones.

        run : (m,) number of the run that each row is part of
        """
        order = np.lexsort((self.least_time, self.least, run))
        return np.asarray(order[is_run_start(run[order])])


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
    def new(cls, keys: Ints) -> PairRecords:
        """Pairs of which nothing is known yet."""
        never, no = np.full(keys.shape, np.inf), np.zeros(keys.shape, dtype=bool)
        return cls(keys, never, np.zeros(keys.shape), no, no.copy(), never.copy())


class ScannerRecords(NamedTuple):
    """Pairs and contacts of one scanner in a section.

    pairs : PairRecords
    spans : Contacts, ordered by key, then time.
    has_moved : (s,) bool. Subjects that moved, appeared or disappeared.
    """

    pairs: PairRecords
    spans: ContactSpans
    has_moved: Bools


class Pieces(NamedTuple):
    """Solved pieces (r,) of contacts: pairs in intervals or parts of them, in which they touch.

    subdivision : Subdivision
    intervals : PairIntervals, (r,)
    contacts : IntervalContacts, (r,)
    poses : (r, 2, 4, 4) float or None. Poses of the obstacle at begin and end of the intervals.
    """

    subdivision: Subdivision
    intervals: PairIntervals
    contacts: IntervalContacts
    poses: Floats | None

    def take(self, rows: Ints) -> Pieces:
        """Return some of the pieces."""
        poses = None if self.poses is None else self.poses[rows]
        return Pieces(self.subdivision, self.intervals.take(rows), self.contacts.take(rows), poses)

    @property
    def size(self) -> Floats:
        """Size (r,) of the smaller subject."""
        return np.asarray(self.subdivision.candidates.size[self.intervals.rows])

    @property
    def steps(self) -> Floats:
        """Length (r,) of the intervals in frames."""
        return self.intervals.end - self.intervals.begin

    @property
    def is_certain(self) -> Bools:
        """Mask (r,) of pairs whose motion is certain."""
        return np.asarray(self.subdivision.is_certain[self.intervals.rows])

    def to_world(self, time: Floats, point: Floats, *vectors: Floats) -> list[Floats]:
        """Transform points and vectors (r, 3) at times (r,) in [0, 1] to world space."""
        if self.poses is None:
            return [point, *vectors]
        moved = [to_world(self.poses[:, 0], self.poses[:, 1], time, point, vector) for vector in vectors]
        return [moved[0][0], *(vector for _, vector in moved)]


class SolvedPieces:
    """Pieces of contacts of one block, described on demand.

    Most pieces continue a contact that began before and is deeper elsewhere, so they need no description.
    """

    def __init__(self, clearance: float, first_time: float) -> None:
        self._clearance, self._first_time = clearance, first_time
        self._added: list[Pieces] = []
        self._offsets = [0]

    def add(
        self, subdivision: Subdivision, intervals: PairIntervals, contacts: IntervalContacts, rows: Ints
    ) -> Ints:
        """Add rows (r,) of a round that touch, and return their numbers among all."""
        intervals, begin = intervals.take(rows), self._offsets[-1]
        poses = subdivision.poses_at(intervals.begin, intervals.end)
        self._added.append(Pieces(subdivision, intervals, contacts.take(rows), poses))
        self._offsets.append(begin + len(rows))
        return np.arange(begin, self._offsets[-1])

    def describe(self, records: IntervalRecords, found: ContactSpans) -> None:
        """Describe the begin of contacts (m,) of records with pieces, in `found` (m,)."""
        unsteady: dict[Subdivision, list[tuple[Ints, Ints]]] = defaultdict(list)
        for pieces, rows in self.taken(records.piece):
            enter, size, motion = pieces.contacts.enter.copy(), pieces.size, pieces.intervals.motion
            deviation = pieces.intervals.deviation
            # These begin earlier, by what may deviate: where other corners may be the nearest ones.
            early = np.flatnonzero(pieces.is_certain & (enter > 0) & (deviation > _EARLY * size))
            if len(early):
                enter[early] = np.fmax(enter[early], motion.take(early).time_within(self._clearance))
            impact = motion.impact_at(enter)
            velocity = self._velocities(pieces, impact)
            point, normal, velocity = pieces.to_world(enter, impact.point, impact.normal, velocity)
            if pieces.poses is not None:
                # Spheres do not rotate in the world, so in the space of an obstacle that rotates they do.
                spheres, _ = motion.at(pieces.contacts.enter)
                assert isinstance(spheres, Sphere), "only spheres are tested against obstacles"
                path = RotationPath.between(*pieces.poses.swapaxes(0, 1)[..., :3, :3])
                with np.errstate(divide="ignore", invalid="ignore"):
                    velocity += cross(
                        path.axis * (path.angle / pieces.steps)[:, None], normal * spheres.radius[:, None]
                    )
            found.uncertainty[rows] = _uncertainty(pieces, enter, records.uncertainty[rows])
            found.point[rows], found.normal[rows], found.velocity[rows] = point, normal, velocity
            # Linear motion gives the velocity of the others, which are steady and not so short that rounding
            # matters.
            rounding = _POSE_ROUNDING * (largest_component(point) + size)
            is_steady = np.maximum(deviation, rounding) <= _STEADY * length(impact.velocity)
            wanted = np.flatnonzero(pieces.is_certain & ~is_steady)
            if len(wanted):
                unsteady[pieces.subdivision].append((rows[wanted], pieces.intervals.rows[wanted]))
        for subdivision, parts in unsteady.items():
            rows, candidates = (np.concatenate(column) for column in zip(*parts, strict=True))
            measured = subdivision.velocities_before(candidates, records.enter[rows])
            found.velocity[rows] = np.where(np.isnan(found.velocity[rows]), np.nan, measured)
        # The first sample itself is exact.
        found.uncertainty[records.enter == self._first_time] = 0.0

    def taken(self, numbers: Ints) -> Iterator[tuple[Pieces, Ints]]:
        """Yield pieces with numbers (m,), each part with its rows among these."""
        owner = np.searchsorted(self._offsets, numbers, side="right") - 1
        for index in np.unique(owner).tolist():
            rows = np.flatnonzero(owner == index)
            yield self._added[index].take(numbers[rows] - self._offsets[index]), rows

    def _velocities(self, pieces: Pieces, impact: PairImpact) -> Floats:
        """Velocities (r, 3) of pieces in lengths per frame.

        NaN where a contact begins with a jump, or where the motion may not be known well enough.
        """
        steps, intervals = pieces.steps, pieces.intervals
        # Where linear motion is assumed, nothing deviates; what jumps has no velocity.
        is_linear = pieces.subdivision.contact_motion[intervals.rows] == LINEAR
        deviation = np.where(is_linear, 0.0, intervals.deviation)
        deviation[~np.isnan(intervals.farther)] = np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            # The last sample by itself has no length.
            velocity = impact.velocity / np.where(steps > 0, steps, np.nan)[:, None]
            size = np.maximum(length(impact.velocity), _SLOW * steps * pieces.size)
            is_unknown = ~(deviation <= _UNSTEADY * size) & ~pieces.is_certain
        # A contact that begins at a sample, with more than a touch, begins with a jump.
        rounding = _TOUCH * (largest_component(impact.point) + np.abs(impact.separation))
        jumps = (pieces.contacts.enter == 0) & (impact.separation < self._clearance - rounding)
        velocity[is_unknown | jumps] = np.nan
        return np.asarray(velocity)


def _uncertainty(pieces: Pieces, enter: Floats, assessed: Floats) -> Floats:
    """Frames (r,) by which contacts may be off that begin at `enter` (r,) in [0, 1].

    Where linear motion is assumed: as long as pairs take to cover the estimated deviation, or the whole
    interval where it is unknown. Elsewhere as assessed.
    """
    candidate = pieces.intervals.rows
    rows = np.flatnonzero(pieces.subdivision.contact_motion[candidate] == LINEAR)
    if len(rows):
        deviation = pieces.subdivision.estimated_deviations(candidate[rows])
        speed, steps = pieces.intervals.motion.take(rows).closing_speed(enter[rows]), pieces.steps[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            frames = np.where(deviation > 0, deviation / speed, 0.0) * steps
        is_unknown = np.isnan(deviation) | (speed <= 0)
        assessed[rows] = np.where(is_unknown, steps, np.minimum(frames, steps))
    return assessed


def records_of_rows(
    subdivision: Subdivision,
    intervals: PairIntervals,
    contacts: IntervalContacts,
    rows: Ints,
    uncertainty: Floats,
) -> IntervalRecords:
    """Make records of solved rows (r,) of a round, without pieces.

    contacts : (m,) of all rows of the round
    uncertainty : (m,) part of the interval by which a contact may be off, not assessed for linear rows
    """
    candidate, begin, end = intervals.rows[rows], intervals.begin[rows], intervals.end[rows]
    found = contacts.take(rows)
    return IntervalRecords(
        subdivision.candidates.keys[candidate],
        time_within(begin, end, found.enter),
        time_within(begin, end, found.leave),
        found.least,
        time_within(begin, end, found.least_time),
        uncertainty[rows] * (end - begin),
        subdivision.contact_motion[candidate],
        np.full(len(rows), -1),
    )


_DESCRIBED_PER_CHUNK = 1 << 8
"""Contacts whose begin is described at once, which takes about 30 ms."""


class PairCache:
    """Contacts and least separation of each pair so far.

    pairs : All but `is_near`, which depends on sizes.
    open : Contacts that last until the time recorded last.
    """

    def __init__(self) -> None:
        nothing = np.empty(0, dtype=np.int64)
        self.pairs = PairRecords.new(nothing)
        self._closed: list[ContactSpans] = []
        none_open = IntervalRecords.from_continued_contacts(nothing, np.empty(0), 0.0)
        self.open = ContactSpans.from_records(none_open)

    def record(
        self, records: IntervalRecords, until: float, pieces: SolvedPieces
    ) -> Generator[float, None, None]:
        """Take in the records of all pairs up to the time `until`; yields the part of the work that is done.

        Nothing changes before the last part, so a generator that is closed leaves the cache as it was.
        """
        if not len(records.keys):
            # Open contacts end where no pair is near.
            self._close(self.open, until)
            return
        order = np.argsort(records.keys, kind="stable")
        begins = np.flatnonzero(is_run_start(records.keys[order]))
        keys = records.keys[order[begins]]
        of_row = records.least[order]
        least = np.fmin.reduceat(of_row, begins)
        is_least = of_row == np.repeat(least, np.diff(begins, append=len(order)))
        least_time = np.minimum.reduceat(np.where(is_least, records.least_time[order], np.inf), begins)
        yield 0.1
        touched = np.maximum.reduceat(~np.isnan(records.enter[order]), begins)
        joined = yield from self._joined(records.take(~np.isnan(records.enter)), pieces)
        yield 0.9
        rows = self._rows_of(keys)
        less = least < self.pairs.least[rows]
        self.pairs.least[rows[less]], self.pairs.least_time[rows[less]] = least[less], least_time[less]
        self.pairs.touched[rows[touched]] = True
        self._close(joined, until)

    def candidates(self, pairs: Ints, keys: Ints, size: Floats) -> Candidates:
        """Return pairs (m, 2) of shapes, with what is known of those of their subjects so far.

        keys, size : (m,) of the pairs of subjects
        """
        (row, is_known), (open_row, is_open) = (_found(table.keys, keys) for table in (self.pairs, self.open))
        least, open_least = np.full((2, len(keys)), np.inf)
        least[is_known], open_least[is_open] = self.pairs.least[row], self.open.least[open_row]
        touched = np.zeros(len(keys), dtype=bool)
        touched[is_known] = self.pairs.touched[row]
        return Candidates(pairs, keys, size, least, touched, open_least)

    def doubt(self, keys: Ints, since: Floats) -> None:
        """Take in times (m,) from which pairs may touch without a record; inf for none."""
        doubtful = np.flatnonzero(since < np.inf)
        rows = self._rows_of(keys[doubtful])
        np.minimum.at(self.pairs.doubtful_since, rows, since[doubtful])

    def spans(self) -> ContactSpans:
        """Return all spans, the open ones too, ordered by key, then time."""
        spans = ContactSpans.concatenate([*self._closed, self.open])
        return spans.take(np.lexsort((spans.enter, spans.keys)))

    def _rows_of(self, keys: Ints) -> Ints:
        """Rows (m,) of keys; new keys get new rows."""
        new = np.unique(keys)
        new = new[~_found(self.pairs.keys, new)[1]]
        if len(new):
            pairs = PairRecords.concatenate([self.pairs, PairRecords.new(new)])
            self.pairs = pairs.take(np.argsort(pairs.keys, kind="stable"))
        return np.searchsorted(self.pairs.keys, keys).astype(np.int64)

    def _joined(self, records: IntervalRecords, pieces: SolvedPieces) -> Generator[float, None, ContactSpans]:
        """Join contacts with each other and with the open ones; yields as `record`."""
        count = len(self.open.keys)
        spans = ContactSpans.concatenate([self.open, ContactSpans.from_records(records)])
        order, begins, latest = span_runs(spans.keys, spans.enter, spans.leave)
        yield 0.3
        run = np.empty(len(order), dtype=np.int64)
        run[order] = np.cumsum(begins) - 1
        # Of each run: its first span, its end, and the span with its least separation.
        first, ends, deepest = order[begins], np.append(begins[1:], True), spans.deepest_of(run)
        joined = spans.take(first).replaced(
            leave=latest[ends[: len(latest)]],
            least=spans.least[deepest],
            least_time=spans.least_time[deepest],
            direction=spans.direction[deepest],
        )
        new = np.flatnonzero(first >= count)
        for begin in range(0, len(new), _DESCRIBED_PER_CHUNK):
            yield 0.4 + 0.3 * begin / len(new)
            chunk = new[begin : begin + _DESCRIBED_PER_CHUNK]
            described = joined.take(chunk)
            pieces.describe(records.take(first[chunk] - count), described)
            joined.assign(chunk, described)
        yield 0.7
        rows = np.flatnonzero((deepest >= count) & (joined.least < np.inf))
        if len(rows):
            for found, places in pieces.taken(records.piece[deepest[rows] - count]):
                time = found.contacts.least_time
                normal = witness_points(*found.intervals.motion.at(time)).normal
                _, normal = found.to_world(time, np.zeros(normal.shape), normal)
                joined.direction[rows[places]] = normal
        return joined

    def _close(self, joined: ContactSpans, until: float) -> None:
        """Close the contacts that end before `until`; the others stay open."""
        is_over = joined.leave < until
        if is_over.any():
            self._closed.append(joined.take(is_over))
        self.open = joined.take(~is_over)


def _found(known: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Rows (k,) of keys (m,) that are among `known`, which increase, and a mask (m,) of those keys."""
    row = np.searchsorted(known, keys)
    is_known = np.append(known, -1)[row] == keys
    return row[is_known], is_known
