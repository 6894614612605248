"""Results of a contact scan: records of solved pairs, and the contacts and near misses made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..interval.pair_motion import IntervalContacts
from ..numeric.arrays import Bools, Floats, Ints
from ..progress import ContactMotion
from .obstacle_space import to_world
from .pair_cache import LINEAR, MOTIONS, ContactSpans, IntervalRecords
from .refinement import PairIntervals, Subdivision

_WHOLE = 1e-6
"""Distance in frames within which a whole frame shows a contact: times carry about this much rounding."""


class ContactInterval(NamedTuple):
    """A span of time in contact, both ends included, in frames."""

    start: float
    end: float


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
    """A pair that touches: a and b are indices of subjects, `depth` is at `deepest_frame`, >= -clearance."""

    a: int
    b: int
    first: FirstContact
    intervals: tuple[ContactInterval, ...]
    deepest_frame: float
    depth: float


@dataclass(frozen=True, slots=True)
class Clearance:
    """A near miss: the pair never touches and comes closest at `frame`, leaving `gap`."""

    a: int
    b: int
    frame: float
    gap: float


@dataclass(frozen=True, slots=True)
class ContactReport:
    """Result of a scan: contacts ordered by time of first contact, near misses ordered by gap.

    A near miss is a pair, at least one of it moving, whose gap is at most the size of the smaller subject:
    the radius of a sphere, half the diagonal of a box, when first present.

    Attributes
    ----------
    contacts : tuple of Contact
    clearances : tuple of Clearance
    stopped_at : float or None
        Last frame that was scanned, if the scan was stopped before its end.
    static_overlaps : tuple of (int, int)
        Pairs a, b that touch but never move, if contacts of such pairs were not requested.
    """

    contacts: tuple[Contact, ...]
    clearances: tuple[Clearance, ...]
    stopped_at: float | None = None
    static_overlaps: tuple[tuple[int, int], ...] = ()


class PairRows(NamedTuple):
    """Pairs (m,) in the order of the report, and their least separations.

    flipped : (m,) whether normals point from b to a
    """

    a: Ints
    b: Ints
    flipped: Bools
    least: Floats
    least_time: Floats

    def take(self, rows: object) -> PairRows:
        """Return some of the pairs."""
        return PairRows(*(values[rows] for values in self))  # type: ignore[call-overload]


# There may be many pairs, and converting columns with `tolist` is much faster than element by element.


def contacts_of(
    pairs: PairRows, firsts: IntervalRecords, spans: ContactSpans, first_time: float
) -> list[Contact]:
    """Contacts of pairs (m,) with first contacts `firsts` (m,), by time; spans of other pairs are skipped."""
    order = np.lexsort((pairs.b, pairs.a, firsts.enter))
    pairs, firsts = pairs.take(order), firsts.take(order)
    intervals = list(map(ContactInterval, spans.enter.tolist(), spans.leave.tolist()))
    begin, end = (np.searchsorted(spans.keys, firsts.keys, side) for side in ("left", "right"))
    tunnelling = np.floor(spans.leave[begin] + _WHOLE) < spans.enter[begin] - _WHOLE
    first_contacts = map(
        FirstContact,
        firsts.enter.tolist(),
        firsts.uncertainty.tolist(),
        firsts.point,
        firsts.normal * np.where(pairs.flipped, -1.0, 1.0)[:, None],
        (firsts.enter == first_time).tolist(),
        tunnelling.tolist(),
        [MOTIONS[motion] for motion in firsts.motion.tolist()],
    )
    whole = (tuple(intervals[i:j]) for i, j in zip(begin.tolist(), end.tolist(), strict=True))
    depth = (-pairs.least).tolist()
    return list(
        map(
            Contact,
            pairs.a.tolist(),
            pairs.b.tolist(),
            first_contacts,
            whole,
            pairs.least_time.tolist(),
            depth,
        )
    )


def clearances_of(pairs: PairRows) -> list[Clearance]:
    """Near misses of pairs, ordered by gap."""
    pairs = pairs.take(np.lexsort((pairs.b, pairs.a, pairs.least)))
    columns = (pairs.a, pairs.b, pairs.least_time, pairs.least)
    return list(map(Clearance, *(values.tolist() for values in columns)))


def pairs_of(pairs: PairRows) -> list[tuple[int, int]]:
    """Subjects of pairs, in order."""
    return sorted(zip(pairs.a.tolist(), pairs.b.tolist(), strict=True))


def records_of_rows(
    subdivision: Subdivision,
    intervals: PairIntervals,
    contacts: IntervalContacts,
    rows: Ints,
    uncertainty: Floats,
) -> IntervalRecords:
    """Make records of solved rows (r,) of a round, with contact points and normals in world space.

    contacts : (m,) of all rows of the round
    uncertainty : (m,) part of the interval by which a contact may be off, not assessed for linear rows
    """
    candidate, steps = intervals.rows[rows], (intervals.end - intervals.begin)[rows]
    enter = contacts.enter[rows]
    motion_of_row = subdivision.contact_motion[candidate]
    records = IntervalRecords.from_contacts(
        subdivision.candidates.keys[candidate],
        contacts.take(rows),
        intervals.begin[rows],
        intervals.end[rows],
        uncertainty[rows] * steps,
        motion_of_row,
    )
    described = np.flatnonzero(~np.isnan(enter) & intervals.is_new[rows])
    if len(described):
        motion = intervals.motion.take(rows[described])
        point, normal = motion.contact_at(enter[described])
        if intervals.poses is not None:
            start, end, part = intervals.poses
            part = part[rows[described]]
            point, normal = to_world(start[part], end[part], enter[described], point, normal)
        records.point[described], records.normal[described] = point, normal
    linear = described[motion_of_row[described] == LINEAR]
    if len(linear):
        deviation = subdivision.estimated_deviations(candidate[linear])
        speed = intervals.motion.take(rows[linear]).closing_speed(enter[linear])
        records.uncertainty[linear] = _linear_uncertainty(deviation, speed, steps[linear])
    return records


def _linear_uncertainty(deviation: Floats, speed: Floats, steps: Floats) -> Floats:
    """Frames (m,) that pairs take to cover the estimated deviation; the whole interval where it is unknown.

    deviation : (m,) from linear motion, NaN for unknown
    speed : (m,) closing speed, in lengths per interval
    steps : (m,) length of the interval in frames
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        frames = np.where(deviation > 0, deviation / speed, 0.0) * steps
    return np.where(np.isnan(deviation) | (speed <= 0), steps, np.minimum(frames, steps))
