"""Contacts of moving pairs over one interval: begin and end of contact, least separation and its time.

The motion is linear; oriented boxes and capsules rotate at a constant rate. Exact for spheres and
axis-aligned boxes. For oriented boxes and capsules, a contact is never late. A clearance is the Euclidean
distance of the surfaces: around a box it has rounded corners.

The shapes of a batch choose the method. Two passes let a caller cut a large batch into chunks: the first
takes little time for each pair, the second, which shapes that rotate need, solves the few pairs that the
first leaves open. In both, `deviation` (m,) is that of both shapes of a pair from linear motion: a pair that
stays farther apart than the clearance and its deviation needs no exact separation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..distance.dispatch import separation
from ..mesh.meshes import Meshes
from ..numeric.arrays import Floats, Ints, is_run_start
from ..shapes import Aabb, Capsule, Obb, Sphere
from ..sweep.closed_forms import closest_time_aabb_aabb, overlap_span_aabb_aabb
from ..sweep.dispatch import overlap_span
from .meshes import expected_depths_of_meshes, interval_contacts_of_meshes, minimum_separation_of_meshes
from .pair_motion import IntervalContacts, PairMotion
from .rotating import contact_bounds, interval_contacts_of_rotating, minimum_separation_of_rotating
from .spheres import interval_contacts_of_spheres

SLOW_CHUNK = 1 << 11
"""Pairs whose exact solution takes about 50 ms at most, where each pair takes long."""

_MORE_INTERVALS = 8
"""Factor by which more intervals of a pair are searched after those that may be its nearest."""


def _interval_contacts_of_boxes(pairs: PairMotion, clearance: float, _deviation: Floats) -> IntervalContacts:
    """Solve the contacts of boxes along the axes. Exact up to float64 rounding."""
    a0, a1, b0, b1 = pairs
    if clearance:
        enter, leave = overlap_span(a0, a1, b0, b1, clearance)
    else:
        enter, leave = overlap_span_aabb_aabb(a0, a1, b0, b1)
    time = closest_time_aabb_aabb(a0, a1, b0, b1)
    least = pairs.separation_at(time)
    ends = separation(a0, b0), separation(a1, b1)
    return IntervalContacts.without_speeds(enter, leave, least, time, least, np.maximum(*ends))


class IntervalMethods(NamedTuple):
    """The functions that solve pairs (m,) of two types over an interval, in one space and unit.

    first : The first pass: from pairs, the clearance below which they are in contact and their deviation (m,)
        from linear motion to contacts (m,). Exact up to float64 rounding; of shapes that rotate only bounds.
    second : The second pass, if the first leaves contacts open: see `interval_contacts_of_rotating`.
    least : Search for the least separation below a cutoff, if the first pass does not find it: from pairs,
        their contacts and the cutoff to the separation and its time.
    expected : Estimates (m,) of these separations that are used instead of the lower bounds of the contacts,
        from pairs, their contacts and the cutoff.
    """

    first: Callable[[PairMotion, float, Floats], IntervalContacts]
    second: Callable[[PairMotion, float, Floats, IntervalContacts], IntervalContacts] | None = None
    least: Callable[[PairMotion, IntervalContacts, Floats], tuple[Floats, Floats]] | None = None
    expected: Callable[[PairMotion, IntervalContacts, Floats], Floats] | None = None


_ROTATING = IntervalMethods(
    lambda pairs, clearance, deviation: contact_bounds(pairs),
    interval_contacts_of_rotating,
    minimum_separation_of_rotating,
)

INTERVALS: dict[tuple[type, type], IntervalMethods] = {
    (Sphere, Sphere): IntervalMethods(interval_contacts_of_spheres),
    (Aabb, Aabb): IntervalMethods(_interval_contacts_of_boxes),
    (Meshes, Meshes): IntervalMethods(
        interval_contacts_of_meshes, least=minimum_separation_of_meshes, expected=expected_depths_of_meshes
    ),
    (Obb, Obb): _ROTATING,
    (Capsule, Capsule): _ROTATING,
}
"""What scans follow: pairs of two types of shapes, each with its methods."""

_MANY_INTERVALS, _STRIDE = 32, 16
"""Intervals of one pair from which on every sixteenth is searched first, because it rules out most."""


def with_minimum_separation(
    pairs: PairMotion, contacts: IntervalContacts, rows: Ints, cutoff: Floats, keys: Ints
) -> IntervalContacts:
    """Fill in the least separation of pairs where it can be below a cutoff.

    For oriented boxes, capsules and meshes the least of several samples. This takes longer than the contacts
    themselves, which do not need it.

    pairs : PairMotion, batch (m,). In one space and unit.
    contacts : IntervalContacts, (m,). Result of both passes.
    rows : (r,) int64. Pairs to fill in.
    cutoff : (m,) float64. Separations at or above this need not be computed.
    keys : (m,) int64. Rows with equal keys are one pair in several intervals: only the least separation
        among all of them is sure to be filled in.
    Returns contacts : IntervalContacts, (m,)
    """
    methods = INTERVALS[type(pairs.a_start), type(pairs.b_start)]
    least = methods.least
    if least is None:
        return contacts
    low = contacts.low
    if methods.expected is not None:
        sample, rest = _spread(rows, keys)
        if len(sample):
            contacts = with_minimum_separation(pairs, contacts, sample, cutoff, keys)
            rows, cutoff = rest, _lowered(cutoff, contacts.least[sample], keys[sample], keys)
        low = low.copy()
        low[rows] = methods.expected(pairs.take(rows), contacts.take(rows), cutoff[rows])

    def search(contacts: IntervalContacts, rows: Ints, cutoff: Floats) -> IntervalContacts:
        if not len(rows):
            return contacts
        found = least(pairs.take(rows), contacts.take(rows), cutoff)
        columns = contacts.least.copy(), contacts.least_time.copy()
        for column, values in zip(columns, found, strict=True):
            column[rows] = values
        return contacts.replaced(least=columns[0], least_time=columns[1])

    rows = rows[low[rows] < cutoff[rows]]
    # Solve the most promising interval of each pair first, because its result rules out most of the others.
    rows = rows[np.lexsort((low[rows], contacts.least[rows], keys[rows]))]
    is_first = np.diff(keys[rows], prepend=-1) != 0
    pair_of_row = np.cumsum(is_first) - 1
    best = rows[is_first]
    contacts = search(contacts, best, cutoff[best])
    # Then a few more, then the others, because each that is less rules out more of those that are left.
    nearest, begins = contacts.least[best], np.flatnonzero(is_first)
    rank = np.arange(len(rows)) - begins[pair_of_row]
    start = 1
    while start <= rank.max(initial=0):
        known = np.minimum(cutoff[rows], nearest[pair_of_row])
        now = np.flatnonzero((rank >= start) & (rank < _MORE_INTERVALS * start) & (low[rows] < known))
        contacts = search(contacts, rows[now], known[now])
        np.minimum.at(nearest, pair_of_row[now], contacts.least[rows[now]])
        start *= _MORE_INTERVALS
    return contacts


def _spread(rows: Ints, keys: Ints) -> tuple[Ints, Ints]:
    """Select rows spread over those (r,) of each key that has many, and return the rest too."""
    order = np.argsort(keys[rows], kind="stable")
    rows = rows[order]
    starts = np.flatnonzero(is_run_start(keys[rows]))
    sizes = np.diff(np.append(starts, len(rows)))
    rank = np.arange(len(rows)) - starts.repeat(sizes)
    is_sample = (sizes.repeat(sizes) > _MANY_INTERVALS) & (rank % _STRIDE == _STRIDE // 2)
    return rows[is_sample], rows[~is_sample]


def _lowered(cutoff: Floats, found: Floats, of_found: Ints, keys: Ints) -> Floats:
    """Lower cutoffs (m,) of rows with keys (m,) to separations (k,) found with the same keys (k,)."""
    every, which = np.unique(keys, return_inverse=True)
    known = np.full(len(every), np.inf)
    np.minimum.at(known, np.searchsorted(every, of_found), found)
    return np.asarray(np.minimum(cutoff, known[which.ravel()]))
