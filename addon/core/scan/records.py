"""Records of a contact scan: contacts and separations of pairs in intervals, and what is joined of them."""

from __future__ import annotations

from typing import NamedTuple, get_args

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Table
from ..progress import ContactMotion

MOTIONS: tuple[ContactMotion, ...] = get_args(ContactMotion)
LINEAR, SAMPLED, PROVEN = range(3)
"""Indices of `MOTIONS`."""


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


def time_within(begin: Floats, end: Floats, part: Floats) -> Floats:
    """Interpolate times (m,) in frames at `part` (m,) in [0, 1] of intervals, exact at both ends."""
    return np.where(part == 1, end, begin + part * (end - begin))


VECTORS = frozenset({"point", "normal", "velocity", "direction"})
"""Columns of contacts with three numbers in each row."""


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


def is_run_start(values: Ints) -> Bools:
    """Mask (m,) of sorted values that differ from the one before."""
    starts = np.ones(len(values), dtype=bool)
    starts[1:] = values[1:] != values[:-1]
    return starts
