"""Contacts of moving pairs over one interval: begin and end of contact, least separation and its time.

The motion is linear; oriented boxes and capsules rotate at a constant rate. Exact for spheres and
axis-aligned boxes, and for contacts of spheres with a mesh. For oriented boxes and capsules, a contact is
never late. A clearance is the Euclidean distance of the surfaces: around a box it has rounded corners.

The shapes of a batch choose the method. Two passes let a caller cut a large batch into chunks: the first
takes little time for each pair, the second, which shapes that rotate need, solves the few pairs that the
first leaves open. In both, `deviation` (m,) is that of both shapes of a pair from linear motion: a pair that
stays farther apart than the clearance and its deviation needs no exact separation.

Most pairs of spheres follow from three separations, and the rest is swept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..distance.dispatch import separation
from ..mesh.meshes import Meshes
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, Ints, length
from ..numeric.spans import Spans
from ..shapes import Aabb, Capsule, Obb, Sphere
from ..sweep.closed_forms import relative_motion, time_of_minimum_gap
from ..sweep.dispatch import closest_time, overlap_span
from .meshes import depth_bounds_of_meshes, interval_contacts_of_meshes, minimum_separation_of_meshes
from .pair_motion import IntervalContacts, PairMotion, raised_lower_bounds
from .rotating import contact_bounds, interval_contacts_of_rotating, minimum_separation_of_rotating

_UNSURE = 1e-9
"""Part of a pair's size: a pair closer than this to touching is decided by a sweep."""


def interval_contacts_with_mesh(pairs: PairMotion, clearance: float, deviation: Floats) -> IntervalContacts:
    """Solve the contacts of spheres with a mesh over an interval. Exact up to float64 rounding.

    pairs : PairMotion, batch (m,). Of spheres and one mesh.
    clearance : Pairs closer than this are in contact.
    deviation : (m,) float64. Deviation from linear motion, in the space of the mesh.
    Returns contacts : IntervalContacts, (m,). Times in [0, 1]; separations are bounds only, because the
        search for the least one takes longer than the contact.
    """
    enter, leave = pairs.overlap_span(clearance)
    # Pairs in contact are nearer than the clearance, by an amount that is not known yet.
    least = np.where(np.isnan(enter), np.inf, clearance)
    low = np.where(np.isnan(enter), clearance, -np.inf)
    low = raised_lower_bounds(pairs, enter, low, clearance, deviation)
    high = np.full(enter.shape, np.inf)
    whole = np.flatnonzero((enter == 0) & (leave == 1) & (deviation > 0))
    if len(whole):
        within = whole[_stays_within(pairs.take(whole), clearance - deviation[whole])]
        high[within] = clearance - deviation[within]
    return IntervalContacts(enter, leave, least, np.zeros_like(enter), low, high)


def minimum_separation_with_mesh(
    pairs: PairMotion, contacts: IntervalContacts, cutoff: Floats
) -> tuple[Floats, Floats]:
    """Find the least separation of spheres and a mesh over an interval. Exact up to float64 rounding.

    pairs : PairMotion, batch (m,). Of spheres and one mesh.
    contacts : IntervalContacts, (m,). Of these.
    cutoff : (m,) float64. Only smaller separations, and less than those of the contacts, are searched for.
    Returns least : (m,) float64. Infinite where there is none.
    Returns time : (m,) float64. In [0, 1]; 0 where the least is infinite.
    """
    a0, a1, mesh, _ = pairs
    least, least_time = np.full(a0.shape, np.inf), np.zeros(a0.shape)
    # Most spheres are far from every triangle, which is quicker to see from boxes than from distances.
    padding = np.maximum(np.minimum(cutoff, contacts.least), 0)
    around = a0.padded(padding).aabb().merged(a1.padded(padding).aabb())
    near = np.zeros(a0.shape, dtype=bool)
    for rows, _ in mesh.box_triangle_pairs(around):
        near[rows] = True
    rows = np.flatnonzero(near)
    if len(rows):
        near_pairs = pairs.take(rows)
        time = closest_time(*near_pairs)
        least[rows], least_time[rows] = near_pairs.separation_at(time), time
    return least, least_time


def _stays_within(pairs: PairMotion, distance: Floats) -> Bools:
    """Mask (m,) of pairs whose separation is at most `distance` (m,), which may be negative, all the time.

    Then the padded spheres overlap some triangle at every time. Exact up to rounding.
    """
    a0, a1, mesh, _ = pairs
    result = np.minimum(a0.radius, a1.radius) + distance >= 0
    padding = distance[result]
    a0, a1 = a0[result].padded(padding), a1[result].padded(padding)
    spans = [Spans(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
    for i, t in mesh.box_triangle_pairs(a0.aabb().merged(a1.aabb())):
        triangle = mesh.triangles[t]
        begin, end = overlap_span(a0[i], a1[i], triangle, triangle)
        hit = ~np.isnan(begin)
        spans.append(Spans(i[hit], begin[hit], end[hit]))
    whole = np.arange(len(a0.radius)), np.zeros(a0.shape), np.ones(a0.shape)
    result[result] = Spans.concatenate(spans).union().cover(Spans(*whole))
    return np.asarray(result)


def interval_contacts_of_spheres(pairs: PairMotion, clearance: float, _deviation: Floats) -> IntervalContacts:
    """Solve the contacts of spheres over an interval of linear motion. Exact up to float64 rounding.

    The distance of two centers in linear motion is convex in time, and so is the separation. So a pair that
    touches at both ends touches all the time, and a pair that is apart at its closest time never touches.

    pairs : PairMotion, batch (m,). Of spheres.
    clearance : Pairs closer than this are in contact.
    Returns contacts : IntervalContacts, (m,). Times in [0, 1].
    """
    p, end, r, r_end, unit = relative_motion(*pairs)
    v, s = end - p, r_end - r
    time = time_of_minimum_gap(p, v, s)
    # In order of time, because argmin takes the first of equal separations.
    times = np.stack([np.zeros_like(time), time, np.ones_like(time)])
    values = np.stack([length(p) - r, length(p + v * time[:, None]) - (r + s * time), length(end) - r_end])
    lowest = values.argmin(axis=0)[None]
    least, least_time = (np.take_along_axis(each, lowest, axis=0)[0] for each in (values, times))
    high, near = np.maximum(values[0], values[2]), clearance / unit
    enter, leave = np.full(time.shape, np.nan), np.full(time.shape, np.nan)
    throughout = high < near - _UNSURE
    enter[throughout], leave[throughout] = 0.0, 1.0
    rows = np.flatnonzero(~throughout & (least <= near + _UNSURE))
    if len(rows):
        enter[rows], leave[rows] = pairs.take(rows).overlap_span(clearance)
    least = least * unit
    return IntervalContacts(enter, leave, least, least_time, least, high * unit)


SLOW_CHUNK = 1 << 11
"""Pairs whose exact solution takes about 50 ms at most, where each pair takes long."""


def _interval_contacts_of_boxes(pairs: PairMotion, clearance: float, _deviation: Floats) -> IntervalContacts:
    """Solve the contacts of boxes along the axes. Exact up to float64 rounding."""
    enter, leave = pairs.overlap_span(clearance)
    time = closest_time(*pairs)
    least = pairs.separation_at(time)
    ends = separation(pairs.a_start, pairs.b_start), separation(pairs.a_end, pairs.b_end)
    return IntervalContacts(enter, leave, least, time, least, np.maximum(*ends))


class IntervalMethods(NamedTuple):
    """The functions that solve pairs (m,) of two types over an interval, in one space and unit.

    first : The first pass: from pairs, the clearance below which they are in contact and their deviation (m,)
        from linear motion to contacts (m,). Exact up to float64 rounding; of shapes that rotate only bounds.
    second : The second pass, if the first leaves contacts open: see `interval_contacts_of_rotating`.
    least : Search for the least separation below a cutoff, if the first pass does not find it: from pairs,
        their contacts and the cutoff to the separation and its time.
    bounds : Lower bounds (m,) of these separations that are used instead of those of the contacts.
    """

    first: Callable[[PairMotion, float, Floats], IntervalContacts]
    second: Callable[[PairMotion, float, Floats, IntervalContacts], IntervalContacts] | None = None
    least: Callable[[PairMotion, IntervalContacts, Floats], tuple[Floats, Floats]] | None = None
    bounds: Callable[[PairMotion, IntervalContacts], Floats] | None = None


_ROTATING = IntervalMethods(
    lambda pairs, clearance, deviation: contact_bounds(pairs),
    interval_contacts_of_rotating,
    minimum_separation_of_rotating,
)

INTERVALS: dict[tuple[type, type], IntervalMethods] = {
    (Sphere, Sphere): IntervalMethods(interval_contacts_of_spheres),
    (Aabb, Aabb): IntervalMethods(_interval_contacts_of_boxes),
    (Sphere, TriangleMesh): IntervalMethods(interval_contacts_with_mesh, least=minimum_separation_with_mesh),
    (Meshes, Meshes): IntervalMethods(
        interval_contacts_of_meshes, least=minimum_separation_of_meshes, bounds=depth_bounds_of_meshes
    ),
    (Obb, Obb): _ROTATING,
    (Capsule, Capsule): _ROTATING,
}
"""What scans follow: pairs of two types of shapes, each with its methods."""


def with_minimum_separation(
    pairs: PairMotion, contacts: IntervalContacts, rows: Ints, cutoff: Floats, keys: Ints
) -> IntervalContacts:
    """Fill in the least separation of pairs where it can be below a cutoff.

    For oriented boxes and capsules the least of several samples, for spheres and a mesh exact. This takes
    longer than the contacts themselves, which do not need it.

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
    low = contacts.low if methods.bounds is None else methods.bounds(pairs, contacts)

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
    known = np.minimum(cutoff[rows], contacts.least[best][pair_of_row])
    is_open = ~is_first & (low[rows] < known)
    return search(contacts, rows[is_open], known[is_open])
