"""Results of a contact scan: records of solved pairs, and the contacts and near misses made of them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..interval.pair_motion import IntervalContacts, PairImpact, PairMotion
from ..numeric.arrays import Bools, Floats, Ints, cross, largest_component, length
from ..numeric.table import Table
from ..progress import ContactMotion
from ..shapes import Sphere
from .obstacle_space import rotation_between, to_world
from .pair_cache import LINEAR, MOTIONS, ContactSpans, IntervalRecords, SpanStarts
from .refinement import PairIntervals, Subdivision

_WHOLE = 1e-6
"""Distance in frames within which a whole frame shows a contact: times carry about this much rounding."""

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


class ContactInterval(NamedTuple):
    """A span of time in contact, both ends included, in frames."""

    start: float
    end: float


class ContactDetails(NamedTuple):
    """Begin and deepest overlap of one interval of contact, in world space.

    Attributes
    ----------
    uncertainty : float
        Frames by which the start of the interval may be off.
    point, normal : (3,) float
        Contact point at the start, and the unit vector from a to b.
    velocity : (3,) float or None
        Velocity of the surface of b at the contact point, relative to that of a, just before the start, in
        lengths per frame. None if it is not known: if the pair is in contact when the scan begins, or if the
        contact begins with a jump.
    deepest_frame, depth : float
        Greatest depth within the interval, >= -clearance, and its frame.
    direction : (3,) float
        Unit vector from a to b at that frame: b, moved along it by the depth, only touches a.
    """

    uncertainty: float
    point: Floats
    normal: Floats
    velocity: Floats | None
    deepest_frame: float
    depth: float
    direction: Floats

    @property
    def closing_speed(self) -> float | None:
        """Speed of approach along the normal, in lengths per frame; None if it is not known."""
        return None if self.velocity is None else -float(self.velocity @ self.normal)


@dataclass(frozen=True, slots=True)
class FirstContact:
    """The first time a pair touches.

    Attributes
    ----------
    frame : float
        Fractional frame.
    uncertainty : float
        Frames by which `frame` may be off, estimated from the deviation of neighboring samples from linear
        motion; the whole interval where there are no neighbors.
    point, normal : (3,) float
        Contact point in world space, and the unit vector from a to b.
    at_start : bool
        Whether the pair is in contact when the scan begins.
    tunnelling : bool
        Whether no whole frame shows this contact.
    motion : "linear", "sampled" or "proven"
        Whether the motion between frames was assumed to be linear, was sampled further, or is known.
    """

    frame: float
    uncertainty: float
    point: Floats
    normal: Floats
    at_start: bool
    tunnelling: bool
    motion: ContactMotion = "linear"


@dataclass(frozen=True, slots=True)
class Contact:
    """A pair that touches: a and b are indices of subjects, `depth` is at `deepest_frame`, >= -clearance.

    `details` has an entry for each interval, or none where they are not known, as in older documents.
    """

    a: int
    b: int
    first: FirstContact
    intervals: tuple[ContactInterval, ...]
    deepest_frame: float
    depth: float
    details: tuple[ContactDetails, ...] = ()


@dataclass(frozen=True, slots=True)
class Clearance:
    """A near miss: the pair never touches and comes closest at `frame`, leaving `gap`."""

    a: int
    b: int
    frame: float
    gap: float


class PairContacts(Table):
    """Contacts (n,) but for their intervals; see `Contact` and `FirstContact`."""

    a: Ints
    b: Ints
    frame: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    at_start: Bools
    tunnelling: Bools
    motion: NDArray[np.str_]
    deepest_frame: Floats
    depth: Floats


class Intervals(Table):
    """Intervals (k,) in contact; see `ContactInterval` and `ContactDetails`. NaN for what is not known."""

    start: Floats
    end: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    velocity: Floats
    deepest_frame: Floats
    depth: Floats
    direction: Floats

    @property
    def has_details(self) -> Bools:
        """Return which intervals (k,) have details."""
        return ~np.isnan(self.uncertainty)

    @property
    def has_velocity(self) -> Bools:
        """Return which intervals (k,) have a velocity."""
        return np.asarray(~np.isnan(self.velocity).any(axis=1))


class NearMisses(Table):
    """Near misses (n,); see `Clearance`."""

    a: Ints
    b: Ints
    frame: Floats
    gap: Floats


_View = TypeVar("_View")


class _Views(Sequence[_View]):
    """Rows of tables as a sequence of objects, each of which is made on access."""

    @abstractmethod
    def take(self, rows: Any) -> Self:
        """Select rows by anything that indexes an array."""

    def __getitem__(self, index: Any) -> Any:
        found = tuple(self.take(np.atleast_1d(np.arange(len(self))[index])))
        return found if isinstance(index, slice) else found[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # like a list


@dataclass(frozen=True, eq=False)
class Contacts(_Views[Contact]):
    """Contacts as tables.

    Attributes
    ----------
    pairs : PairContacts, of n contacts
    intervals : Intervals
        Of all contacts, concatenated.
    counts : (n,) int
        Number of intervals of each contact.
    """

    pairs: PairContacts
    intervals: Intervals
    counts: Ints

    @classmethod
    def of(cls, contacts: Sequence[Contact]) -> Contacts:
        """Collect the tables of contacts."""
        pairs = [(c.a, c.b, *_first_values(c.first), c.deepest_frame, c.depth) for c in contacts]
        unknown = (math.nan, *(np.full(3, math.nan),) * 3, math.nan, math.nan, np.full(3, math.nan))
        spans = [
            (*span, *(unknown if details is None else details))
            for contact in contacts
            for span, details in zip_longest(contact.intervals, contact.details[: len(contact.intervals)])
        ]
        counts = np.array([len(contact.intervals) for contact in contacts], dtype=np.int64)
        return cls(_table_of(PairContacts, pairs), _table_of(Intervals, spans), counts)

    def take(self, rows: Any) -> Self:
        """Select contacts by anything that indexes an array."""
        end = np.cumsum(self.counts)
        inner = _rows_of_ranges((end - self.counts)[rows], end[rows])
        return type(self)(self.pairs.take(rows), self.intervals.take(inner), self.counts[rows])

    @classmethod
    def concatenate(cls, parts: Sequence[Contacts]) -> Contacts:
        """Join contacts, at least one part."""
        pairs = PairContacts.concatenate([part.pairs for part in parts])
        intervals = Intervals.concatenate([part.intervals for part in parts])
        return cls(pairs, intervals, np.concatenate([part.counts for part in parts]))

    @property
    def owners(self) -> Ints:
        """Contact (k,) of each interval."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Contact]:
        # Converting columns with `tolist` is much faster than element by element.
        spans = self.intervals
        intervals = list(map(ContactInterval, spans.start.tolist(), spans.end.tolist()))
        velocities = [
            spans.velocity[row] if is_known else None for row, is_known in enumerate(spans.has_velocity)
        ]
        details = list(
            map(
                ContactDetails,
                spans.uncertainty.tolist(),
                spans.point,
                spans.normal,
                velocities,
                spans.deepest_frame.tolist(),
                spans.depth.tolist(),
                spans.direction,
            )
        )
        columns = (column if column.ndim > 1 else column.tolist() for column in self.pairs)
        a, b, *first, deepest_frame, depth = columns
        has_details, ends = spans.has_details.tolist(), np.cumsum(self.counts).tolist()
        ranges = map(range, [0, *ends], ends)
        rows = zip(a, b, map(FirstContact, *first), ranges, deepest_frame, depth, strict=True)
        for one, other, begin, span, frame, deepest in rows:
            known = tuple(details[row] for row in span if has_details[row])
            yield Contact(one, other, begin, tuple(intervals[row] for row in span), frame, deepest, known)


@dataclass(frozen=True, eq=False)
class Clearances(_Views[Clearance]):
    """Near misses (n,) as a table."""

    pairs: NearMisses

    @classmethod
    def of(cls, clearances: Sequence[Clearance]) -> Clearances:
        """Collect the table of near misses."""
        return cls(_table_of(NearMisses, [(each.a, each.b, each.frame, each.gap) for each in clearances]))

    def take(self, rows: Any) -> Self:
        """Select near misses by anything that indexes an array."""
        return type(self)(self.pairs.take(rows))

    def __len__(self) -> int:
        return len(self.pairs.a)

    def __iter__(self) -> Iterator[Clearance]:
        return map(Clearance, *(column.tolist() for column in self.pairs))


_VECTORS = frozenset({"point", "normal", "velocity", "direction"})
_TYPES = {"a": "i8", "b": "i8", "at_start": "?", "tunnelling": "?", "motion": "U7"}


_first_values = attrgetter(*(each.name for each in fields(FirstContact)))
_AnyTable = TypeVar("_AnyTable", bound=Table)


def _table_of(kind: type[_AnyTable], rows: Sequence[Sequence[Any]]) -> _AnyTable:
    """Make a table of this module from rows, in which None is a vector that is not known."""
    columns = list(zip(*rows, strict=True)) or [()] * len(kind.names())
    unknown, arrays = np.full(3, math.nan), []
    for name, values in zip(kind.names(), columns, strict=True):
        filled = np.array([unknown if value is None else value for value in values], _TYPES.get(name, "f8"))
        arrays.append(filled.reshape((-1, 3) if name in _VECTORS else -1))
    return kind(*arrays)


@dataclass(frozen=True, slots=True)
class ContactReport:
    """Result of a scan: contacts ordered by time of first contact, near misses ordered by gap.

    A near miss is a pair, at least one of it moving, whose gap is at most the size of the smaller subject:
    the radius of a sphere, half the diagonal of a box, when first present. A subject that is absent at first
    may be measured again in each section of a long scan.

    Attributes
    ----------
    contacts : Contacts
    clearances : Clearances
    stopped_at : float or None
        Last frame that was scanned, if the scan was stopped before its end.
    static_overlaps : tuple of (int, int)
        Pairs a, b that touch but never move, if contacts of such pairs were not requested.
    static_pair_count : int
        Number of pairs that never move, those that touch included, if such contacts were not requested.
    """

    contacts: Contacts = field(default_factory=partial(Contacts.of, ()))
    clearances: Clearances = field(default_factory=partial(Clearances.of, ()))
    stopped_at: float | None = None
    static_overlaps: tuple[tuple[int, int], ...] = ()
    static_pair_count: int = 0


class PairRows(Table):
    """Pairs (m,) in the order of the report, and their least separations.

    flipped : (m,) whether normals point from b to a
    """

    a: Ints
    b: Ints
    flipped: Bools
    least: Floats
    least_time: Floats


def contacts_of(pairs: PairRows, spans: ContactSpans, keys: Ints, first_time: float) -> Contacts:
    """Contacts of pairs (m,) with increasing `keys` (m,); spans of other pairs are skipped."""
    begin, end = (np.searchsorted(spans.keys, keys, side) for side in ("left", "right"))
    rows, count = _rows_of_ranges(begin, end), end - begin
    spans = spans.take(rows)
    sign = np.repeat(np.where(pairs.flipped, -1.0, 1.0), count)[:, None]
    velocity = np.where((spans.enter == first_time)[:, None], np.nan, spans.velocity * sign)
    details = spans.uncertainty, spans.point, spans.normal * sign, velocity
    deepest = spans.least_time, -spans.least, spans.direction * sign
    intervals = Intervals(spans.enter, spans.leave, *details, *deepest)
    # The least separations of the pairs are those of their spans: of intervals without contact, bounds may be
    # less than the gap within a clearance.
    by_depth = np.lexsort((spans.least, np.arange(len(count)).repeat(count)))
    start = np.cumsum(count) - count
    first, deep = intervals.take(start), intervals.take(by_depth[start])
    tunnelling = np.floor(first.end + _WHOLE) < first.start - _WHOLE
    how = first.start == first_time, tunnelling, np.array(MOTIONS)[spans.motion[start]]
    when = first.start, first.uncertainty, first.point, first.normal
    table = PairContacts(pairs.a, pairs.b, *when, *how, deep.deepest_frame, deep.depth)
    return Contacts(table, intervals, count)


def _rows_of_ranges(begin: Ints, end: Ints) -> Ints:
    """Rows (k,) from `begin` up to `end` of all ranges (m,), concatenated."""
    count = end - begin
    offset = np.repeat(begin - np.cumsum(count) + count, count)
    return np.asarray(np.arange(len(offset)) + offset)


def pairs_of(pairs: PairRows) -> list[tuple[int, int]]:
    """Subjects of pairs, in order."""
    return sorted(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


_EARLY = 1e-4
"""Part of a pair's size by which a proven contact may begin before the touch, and be described there."""


class PieceSource(NamedTuple):
    """Solved pieces (r,) of contacts: the motion of pairs in intervals or parts of them.

    Attributes
    ----------
    motion : PairMotion, batch (r,)
    enter, least_time : (r,) float
        Begin of the contact, and time of the least separation, in [0, 1] of the interval.
    steps : (r,) float
        Length of the interval in frames.
    deviation : (r,) float
        Deviation of the pair from that motion; 0 where linear motion is assumed, NaN where it is unknown.
    poses : (r, 4, 4) float twice, or None
        Poses of the obstacle at begin and end of the interval.
    candidates : (r,) int
        Rows of the pairs in the subdivision.
    subdivision : Subdivision
    """

    motion: PairMotion
    enter: Floats
    least_time: Floats
    steps: Floats
    deviation: Floats
    poses: tuple[Floats, Floats] | None
    candidates: Ints
    subdivision: Subdivision

    def size(self, pieces: Ints) -> Floats:
        """Sizes (r,) of the smaller subjects of pieces (r,)."""
        return np.asarray(self.subdivision.candidates.size[self.candidates[pieces]])


class SolvedPieces:
    """Pieces of contacts of one block, described on demand. Implements `PieceDescriber`.

    Most pieces continue a contact that began before and is deeper elsewhere, so they need no description.
    """

    def __init__(self, clearance: float, first_time: float) -> None:
        self._clearance, self._first_time = clearance, first_time
        self._sources: list[PieceSource] = []
        self._offsets = [0]

    def add(self, source: PieceSource) -> Ints:
        """Add pieces (r,), and return their rows among all."""
        begin = self._offsets[-1]
        self._sources.append(source)
        self._offsets.append(begin + len(source.enter))
        return np.arange(begin, self._offsets[-1])

    def starts(self, records: IntervalRecords) -> SpanStarts:
        """See `PieceDescriber`."""
        uncertainty = records.uncertainty.copy()
        point, normal, velocity = (np.empty((len(uncertainty), 3)) for _ in range(3))
        path = np.empty(len(uncertainty))
        for source, rows, pieces in self._by_source(records.piece):
            motion, steps = source.motion.take(pieces), source.steps[pieces]
            enter = self._touch_times(source, pieces, motion)
            impact = motion.impact_at(enter)
            vectors = impact.normal, self._velocities(source, pieces, impact)
            path[rows] = length(impact.velocity)
            point[rows], (normal[rows], velocity[rows]) = _to_world(
                source, pieces, enter, impact.point, vectors
            )
            if source.poses is not None:
                velocity[rows] += _spin(source, pieces, motion, normal[rows])
            linear = np.flatnonzero(records.motion[rows] == LINEAR)
            if len(linear):
                subset = pieces[linear]
                deviation = source.subdivision.estimated_deviations(source.candidates[subset])
                speed = motion.take(linear).closing_speed(enter[linear])
                uncertainty[rows[linear]] = _linear_uncertainty(deviation, speed, steps[linear])
        for subdivision, rows, candidates in self._rows_to_measure(records.piece, path, point):
            measured = subdivision.velocities_before(candidates, records.enter[rows])
            velocity[rows] = np.where(np.isnan(velocity[rows]), np.nan, measured)
        # The first sample itself is exact.
        uncertainty[records.enter == self._first_time] = 0.0
        return SpanStarts(uncertainty, point, normal, velocity)

    def _touch_times(self, source: PieceSource, pieces: Ints, motion: PairMotion) -> Floats:
        """Return the times (r,) in [0, 1] at which the linear motion of pieces (r,) touches first.

        Contacts of known motion begin earlier, by what may deviate. Then other corners or edges may be the
        nearest ones.
        """
        enter = source.enter[pieces].copy()
        if source.subdivision.is_known:
            is_early = source.deviation[pieces] > _EARLY * source.size(pieces)
            rows = np.flatnonzero((enter > 0) & is_early)
            if len(rows):
                subset = motion.take(rows)
                touch = subset.time_within(self._clearance)
                enter[rows] = np.fmax(enter[rows], touch)
        return enter

    def _velocities(self, source: PieceSource, pieces: Ints, impact: PairImpact) -> Floats:
        """Velocities (r, 3) of pieces (r,) of a source in lengths per frame.

        NaN where a contact begins with a jump, or where the motion may not be known well enough.
        """
        steps = source.steps[pieces]
        with np.errstate(divide="ignore", invalid="ignore"):
            # The last sample by itself has no length.
            velocity = impact.velocity / np.where(steps > 0, steps, np.nan)[:, None]
            size = np.maximum(length(impact.velocity), _SLOW * steps * source.size(pieces))
            unsteady = ~(source.deviation[pieces] <= _UNSTEADY * size) & (not source.subdivision.is_known)
        # A contact that begins at a sample, with more than a touch, begins with a jump.
        rounding = _TOUCH * (largest_component(impact.point) + np.abs(impact.separation))
        jumps = (source.enter[pieces] == 0) & (impact.separation < self._clearance - rounding)
        velocity[unsteady | jumps] = np.nan
        return np.asarray(velocity)

    def _rows_to_measure(
        self, pieces: Ints, path: Floats, point: Floats
    ) -> Iterator[tuple[Subdivision, Ints, Ints]]:
        """Yield subdivisions of known motion, with rows among pieces (m,) and rows of their candidates.

        Pieces in nearly linear motion are not among them, unless they are so short that rounding matters.

        path : (m,) length of the relative path in the interval of each piece
        point : (m, 3) where they touch, in world space
        """
        found: dict[int, list[tuple[Subdivision, Ints, Ints]]] = defaultdict(list)
        for source, rows, of_source in self._by_source(pieces):
            if source.subdivision.is_known:
                rounding = _POSE_ROUNDING * (largest_component(point[rows]) + source.size(of_source))
                doubt = np.maximum(source.deviation[of_source], rounding)
                is_wanted = ~(doubt <= _STEADY * path[rows])
                entry = source.subdivision, rows[is_wanted], source.candidates[of_source[is_wanted]]
                found[id(source.subdivision)].append(entry)
        for entries in found.values():
            subdivisions, rows_of_all, candidates = zip(*entries, strict=True)
            yield subdivisions[0], np.concatenate(rows_of_all), np.concatenate(candidates)

    def deepest_normals(self, records: IntervalRecords) -> Floats:
        """See `PieceDescriber`."""
        normals = np.empty((len(records.piece), 3))
        for source, rows, pieces in self._by_source(records.piece):
            time = source.least_time[pieces]
            normal = source.motion.take(pieces).normal_at(time)
            _, (normals[rows],) = _to_world(source, pieces, time, np.zeros(normal.shape), (normal,))
        return normals

    def _by_source(self, pieces: Ints) -> Iterator[tuple[PieceSource, Ints, Ints]]:
        """Yield the sources of pieces (m,), with rows among these and among the pieces of the source."""
        owner = np.searchsorted(self._offsets, pieces, side="right") - 1
        for index in np.unique(owner).tolist():
            rows = np.flatnonzero(owner == index)
            yield self._sources[index], rows, pieces[rows] - self._offsets[index]


def _to_world(
    source: PieceSource, pieces: Ints, time: Floats, point: Floats, vectors: tuple[Floats, ...]
) -> tuple[Floats, list[Floats]]:
    """Transform points and vectors (r, 3) of pieces (r,) of a source to world space."""
    if source.poses is None:
        return point, list(vectors)
    start, end = (pose[pieces] for pose in source.poses)
    moved = [to_world(start, end, time, point, vector) for vector in vectors]
    return moved[0][0], [vector for _, vector in moved]


def _spin(source: PieceSource, pieces: Ints, motion: PairMotion, normal: Floats) -> Floats:
    """Add these velocities (r, 3) in the world to those of pieces (r,) in the space of an obstacle.

    Spheres do not rotate in the world, so in the space of an obstacle that rotates they do.

    normal : (r, 3) from the sphere to the obstacle, in the world
    """
    assert source.poses is not None, "of an obstacle"
    spheres, _ = motion.at(source.enter[pieces])
    assert isinstance(spheres, Sphere), "only spheres are tested against obstacles"
    rotation = rotation_between(*(pose[pieces] for pose in source.poses))
    with np.errstate(divide="ignore", invalid="ignore"):
        angular_velocity = rotation / source.steps[pieces, None]
    return cross(angular_velocity, normal * spheres.radius[:, None])


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
    candidate, steps = intervals.rows[rows], (intervals.end - intervals.begin)[rows]
    return IntervalRecords.from_contacts(
        subdivision.candidates.keys[candidate],
        contacts.take(rows),
        intervals.begin[rows],
        intervals.end[rows],
        uncertainty[rows] * steps,
        subdivision.contact_motion[candidate],
    )


def piece_source(
    subdivision: Subdivision,
    intervals: PairIntervals,
    contacts: IntervalContacts,
    rows: Ints,
) -> PieceSource:
    """Collect the pieces of solved rows (r,) of a round that touch.

    contacts : (m,) of all rows of the round
    """
    candidate, poses = intervals.rows[rows], None
    if intervals.poses is not None:
        start, end, part = intervals.poses
        poses = start[part[rows]], end[part[rows]]
    deviation = np.where(subdivision.contact_motion[candidate] == LINEAR, 0.0, intervals.deviation[rows])
    if intervals.jumps is not None:
        # What jumps has no velocity.
        deviation[np.isin(rows, intervals.jumps.rows)] = np.inf
    return PieceSource(
        intervals.motion.take(rows),
        contacts.enter[rows],
        contacts.least_time[rows],
        (intervals.end - intervals.begin)[rows],
        deviation,
        poses,
        candidate,
        subdivision,
    )


def _linear_uncertainty(deviation: Floats, speed: Floats, steps: Floats) -> Floats:
    """Frames (m,) that pairs take to cover the estimated deviation; the whole interval where it is unknown.

    deviation : (m,) from linear motion, NaN for unknown
    speed : (m,) closing speed, in lengths per interval
    steps : (m,) length of the interval in frames
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        frames = np.where(deviation > 0, deviation / speed, 0.0) * steps
    return np.where(np.isnan(deviation) | (speed <= 0), steps, np.minimum(frames, steps))
