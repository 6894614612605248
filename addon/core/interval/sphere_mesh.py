"""Contacts of moving spheres over one interval, with each other and with a mesh at rest.

Most pairs of spheres follow from three separations, and the rest is swept.
"""

from __future__ import annotations

import numpy as np

from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Bools, Floats, length
from ..numeric.spans import Spans
from ..shapes import Sphere
from ..sweep.dispatch import closest_time, overlap_span
from ..sweep.sphere_sphere import relative_motion, time_of_minimum_gap
from .pair_motion import IntervalContacts, PairMotion, raised_lower_bounds

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


def minimum_separation_with_mesh(pairs: PairMotion, cutoff: Floats) -> tuple[Floats, Floats]:
    """Find the least separation of spheres and a mesh over an interval. Exact up to float64 rounding.

    pairs : PairMotion, batch (m,). Of spheres and one mesh.
    cutoff : (m,) float64. Only smaller separations are searched for.
    Returns least : (m,) float64. Infinite where it is not below the cutoff.
    Returns time : (m,) float64. In [0, 1]; 0 where the least is infinite.
    """
    a0, a1, mesh, _ = pairs
    least, least_time = np.full(a0.shape, np.inf), np.zeros(a0.shape)
    # Most spheres are far from every triangle, which is quicker to see from boxes than from distances.
    padding = np.maximum(cutoff, 0)
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
    """Mask (m,) of pairs whose separation is at most `distance` (m,), which may be negative, all the time."""
    a0, a1, mesh, _ = pairs
    result = np.minimum(a0.radius, a1.radius) + distance >= 0
    padding = distance[result]
    result[result] = _overlaps_throughout(a0[result].padded(padding), a1[result].padded(padding), mesh)
    return np.asarray(result)


def _overlaps_throughout(a0: Sphere, a1: Sphere, mesh: TriangleMesh) -> Bools:
    """Mask (n,) of spheres that overlap some triangle of the mesh at every time. Exact up to rounding."""
    spans = [Spans(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))]
    for i, t in mesh.box_triangle_pairs(a0.aabb().merged(a1.aabb())):
        triangle = mesh.triangles[t]
        begin, end = overlap_span(a0[i], a1[i], triangle, triangle)
        hit = ~np.isnan(begin)
        spans.append(Spans(i[hit], begin[hit], end[hit]))
    whole = np.arange(len(a0.radius)), np.zeros(a0.shape), np.ones(a0.shape)
    return Spans.concatenate(spans).union().cover(Spans(*whole))


def interval_contacts_of_spheres(pairs: PairMotion, clearance: float) -> IntervalContacts:
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
