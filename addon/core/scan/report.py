"""Results of a contact scan: contacts and near misses.

The report of every scan is made here, from what is known of all pairs. It is without the contacts of pairs
that never moved, unless these were requested or nothing moves at all.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..distance.overlap_kinds import OVERLAPS, Overlap
from ..numeric.arrays import Bools, Floats, Ints, Table, concatenated_ranges, is_run_start
from ..progress import ContactMotion
from .pair_cache import ContactSpans, PairCache, PairRecords
from .pair_scanner import ScanPlan
from .rounds import MOTIONS

VECTORS = frozenset({"point", "normal", "velocity", "direction"})
"""Columns of contacts with three numbers in each row."""
_WHOLE = 1e-6
"""Distance in frames within which a whole frame shows a contact: times carry about this much rounding."""


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
        Greatest depth within the interval, >= -clearance, and its frame. The depth of meshes without closed
        components is NaN.
    direction : (3,) float
        Unit vector from a to b at that frame: b, moved along it by the depth, only touches a.
    overlap : {"touches", "crosses", "inside"} or None
        How meshes overlap at that frame: see `distance.overlap_kinds`. None for other shapes, and for a gap.
    """

    uncertainty: float
    point: Floats
    normal: Floats
    velocity: Floats | None
    deepest_frame: float
    depth: float
    direction: Floats
    overlap: Overlap | None = None

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

    That, and how meshes overlap there, is as in `ContactDetails`. `details` has an entry for each interval,
    or none where they are not known, as in older documents.
    """

    a: int
    b: int
    first: FirstContact
    intervals: tuple[ContactInterval, ...]
    deepest_frame: float
    depth: float
    details: tuple[ContactDetails, ...] = ()
    overlap: Overlap | None = None


@dataclass(frozen=True, slots=True)
class Clearance:
    """A near miss: the pair never touches and comes closest at `frame`, leaving `gap`."""

    a: int
    b: int
    frame: float
    gap: float


class PairContacts(Table):
    """Contacts (n,) but for their intervals; see `Contact` and `FirstContact`. No text for no overlap."""

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
    overlap: NDArray[np.str_]


class Intervals(Table):
    """Intervals (k,) in contact; see `ContactInterval` and `ContactDetails`.

    NaN for what is not known, and no text for no overlap.
    """

    start: Floats
    end: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    velocity: Floats
    deepest_frame: Floats
    depth: Floats
    direction: Floats
    overlap: NDArray[np.str_]

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
    """Rows of tables as a sequence of objects, each of which is made on access.

    Two of one kind are equal if all their columns are, NaN to itself too, and two of any kinds if both are
    empty.
    """

    def _columns(self) -> Iterator[NDArray[Any]]:
        """Iterate over all columns."""
        for each in vars(self).values():
            yield from each if isinstance(each, Table) else (each,)

    @abstractmethod
    def take(self, rows: Any) -> Self:
        """Select rows by anything that indexes an array."""

    def __getitem__(self, index: Any) -> Any:
        found = tuple(self.take(np.atleast_1d(np.arange(len(self))[index])))
        return found if isinstance(index, slice) else found[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return not len(self) and isinstance(other, Sequence) and not len(other)
        columns = zip(self._columns(), other._columns(), strict=True)
        return all(
            one.shape == two.shape and bool(((one == two) | ((one != one) & (two != two))).all())
            for one, two in columns
        )

    __hash__ = None  # type: ignore[assignment]  # like a list


@dataclass(frozen=True, eq=False)
class Contacts(_Views[Contact]):
    """Contacts as tables.

    pairs : PairContacts, of n contacts
    intervals : Of all contacts, concatenated.
    counts : (n,) int. Number of intervals of each contact.
    """

    pairs: PairContacts
    intervals: Intervals
    counts: Ints

    @classmethod
    def of(cls, contacts: Sequence[Contact]) -> Contacts:
        """Collect the tables of contacts."""
        pairs = [(c.a, c.b, *_first_values(c.first), c.deepest_frame, c.depth, c.overlap) for c in contacts]
        unknown = (math.nan, *(np.full(3, math.nan),) * 3, math.nan, math.nan, np.full(3, math.nan), None)
        spans = [
            (*span, *(unknown if details is None else details))
            for contact in contacts
            for span, details in zip_longest(contact.intervals, contact.details[: len(contact.intervals)])
        ]
        counts = np.array([len(contact.intervals) for contact in contacts], dtype=np.int64)
        return cls(_table_of(PairContacts, pairs), _table_of(Intervals, spans), counts)

    def take(self, rows: Any) -> Self:
        """Select contacts by anything that indexes an array."""
        counts = self.counts[rows]
        inner = concatenated_ranges((np.cumsum(self.counts) - self.counts)[rows], counts)
        return type(self)(self.pairs.take(rows), self.intervals.take(inner), counts)

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
                (text or None for text in spans.overlap.tolist()),
            )
        )
        columns = (column if column.ndim > 1 else column.tolist() for column in self.pairs)
        a, b, *first, deepest_frame, depth, overlap = columns
        has_details, ends = spans.has_details.tolist(), np.cumsum(self.counts).tolist()
        ranges = map(range, [0, *ends], ends)
        rows = zip(a, b, map(FirstContact, *first), ranges, deepest_frame, depth, overlap, strict=True)
        for one, other, begin, span, frame, deep, kind in rows:
            known = tuple(details[row] for row in span if has_details[row])
            times = tuple(intervals[row] for row in span)
            yield Contact(one, other, begin, times, frame, deep, known, kind or None)


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


_TYPES = {"a": "i8", "b": "i8", "at_start": "?", "tunnelling": "?", "motion": "U7", "overlap": "U7"}


_first_values = attrgetter(*(each.name for each in fields(FirstContact)))
_AnyTable = TypeVar("_AnyTable", bound=Table)


def _table_of(kind: type[_AnyTable], rows: Sequence[Sequence[Any]]) -> _AnyTable:
    """Make a table of this module from rows, in which None is a vector that is not known, or no overlap."""
    columns = list(zip(*rows, strict=True)) or [()] * len(kind.names())
    unknown, arrays = np.full(3, math.nan), []
    for name, values in zip(kind.names(), columns, strict=True):
        nothing: Any = "" if name == "overlap" else unknown
        filled = np.array([nothing if value is None else value for value in values], _TYPES.get(name, "f8"))
        arrays.append(filled.reshape((-1, 3) if name in VECTORS else -1))
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


def report_of(plan: ScanPlan, records: PairCache, stopped_at: float | None) -> ContactReport:
    """Make the report of a scan.

    stopped_at : last time that was scanned, if the scan was stopped
    """
    pair_filter, pairs, has_moved = plan.pair_filter, records.pairs, records.has_moved
    # Where nothing moves, pairs that do not move are all there is.
    with_static = plan.static_pairs or not has_moved.any()
    i, j = np.divmod(pairs.keys, max(1, pair_filter.count))
    # A subject of group A first, otherwise the lower index.
    as_given = pair_filter.group_a[i] & pair_filter.group_b[j]
    a, b = np.where(as_given, i, j), np.where(as_given, j, i)
    moves = has_moved[i] | has_moved[j]
    is_reported = moves | with_static
    is_contact = pairs.touched & is_reported
    # Normals of these point towards the lower index.
    columns = (column[is_contact] for column in (pairs.keys, a, b, a != i))
    contacts = _contacts_of(pairs, records.spans(), plan.first_time, *columns)
    near, hidden = np.flatnonzero(~pairs.touched & pairs.is_near & moves), pairs.touched & ~is_reported
    near_misses = NearMisses(a[near], b[near], pairs.least_time[near], pairs.least[near])
    near_misses = near_misses.take(np.lexsort((near_misses.b, near_misses.a, near_misses.gap)))
    static = tuple(sorted(zip(a[hidden].tolist(), b[hidden].tolist(), strict=True)))
    static_count = 0 if with_static or has_moved.all() else pair_filter.count_pairs(~has_moved)
    return ContactReport(contacts, Clearances(near_misses), stopped_at, static, static_count)


def _contacts_of(
    pairs: PairRecords,
    spans: ContactSpans,
    first_time: float,
    keys: Ints,
    a: Ints,
    b: Ints,
    is_flipped: Bools,
) -> Contacts:
    """Contacts of pairs (m,) with `keys` (m,), in order of time; spans of other pairs are skipped."""
    # What pairs may have touched without a record adds to the uncertainty of their first contacts.
    firsts, uncertainty = np.flatnonzero(is_run_start(spans.keys)), spans.uncertainty.copy()
    since = pairs.doubtful_since[np.searchsorted(pairs.keys, spans.keys[firsts])]
    uncertainty[firsts] = np.fmax(uncertainty[firsts], spans.enter[firsts] - since)
    begin, end = (np.searchsorted(spans.keys, keys, side) for side in ("left", "right"))
    order = np.lexsort((b, a, spans.enter[begin]))
    a, b, begin, count = a[order], b[order], begin[order], (end - begin)[order]
    rows = concatenated_ranges(begin, count)
    spans = spans.take(rows)
    sign = np.repeat(np.where(is_flipped[order], -1.0, 1.0), count)[:, None]
    intervals = Intervals(
        spans.enter,
        spans.leave,
        uncertainty[rows],
        spans.point,
        spans.normal * sign,
        np.where((spans.enter == first_time)[:, None], np.nan, spans.velocity * sign),
        spans.least_time,
        np.where(spans.has_depth, -spans.least, np.nan),
        spans.direction * sign,
        np.array(["", *OVERLAPS])[spans.overlap + 1],
    )
    # The least separations of the pairs are those of their spans: of intervals without contact, bounds may be
    # less than the gap within a clearance.
    by_depth = np.lexsort((spans.least, np.arange(len(count)).repeat(count)))
    start = np.cumsum(count) - count
    first, deep = intervals.take(start), intervals.take(by_depth[start])
    tunnelling = np.floor(first.end + _WHOLE) < first.start - _WHOLE
    how = first.start == first_time, tunnelling, np.array(MOTIONS)[spans.motion[start]]
    when = first.start, first.uncertainty, first.point, first.normal
    return Contacts(
        PairContacts(a, b, *when, *how, *(deep.deepest_frame, deep.depth, deep.overlap)), intervals, count
    )
