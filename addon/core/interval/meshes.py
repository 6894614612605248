"""Contacts of pairs of moving meshes over one interval, in which their corners move in straight lines.

Pairs are decided by balls within the meshes, or swept from both ends. Surfaces that are nowhere within the
clearance and the deviation are apart for certain. A pair is in contact throughout for certain where balls
within both overlap, one is inside the other, or an edge crosses a triangle at all times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distance.mesh_depth import separations_by_depth
from ..distance.mesh_mesh import (
    closest_points_of_nodes,
    closest_points_triangle_triangle,
    closest_triangles,
)
from ..distance.meshes import margins_of_crossings
from ..distance.separating_axis import separation_aabb_aabb
from ..mesh.meshes import (
    Meshes,
    MovingNodes,
    PosedNodes,
    are_inside,
    chunks_by_vertices,
    interpolated_meshes,
    longest_paths,
    moving_nodes,
    velocities_of_meshes,
)
from ..numeric.arrays import Bools, Floats, Ints, Table, distinct_rows, dot, length, transform_vectors
from ..shapes import Aabb, Sphere
from ..sweep.interpolation import at
from ..sweep.mesh_mesh import first_impacts_of_meshes
from .pair_motion import IntervalContacts, PairMotion
from .rotating import Tangents, minimum_by_tangents
from .spheres import interval_contacts_of_spheres

_MORE = 1e-9
"""Part of a distance that is added to bounds of it, for rounding."""
_FALL = 0.75
"""Part of an interval by which separations are extrapolated from the middle: a half, and more."""
_HALVINGS, _PARABOLAS, _SHORT_STEP = 4, 12, 0.05
"""Samples of a contact, at most: next to an end that is deepest, and where a parabola is deepest; the part of
an interval within which a sample is not taken again.
"""
_GOLDEN = (3 - 5**0.5) / 2
"""Part of an interval that the golden section cuts off."""
_SMOOTH = 0.125
"""Part of the path of both meshes by which they may be deeper than in the middle, if they do not move far."""
_FAST, _SAMPLES_OF_FAST = 0.25, 9
"""Part of a pair's size that it moves while in contact, above which so many samples are taken first."""
_RESOLUTION_OF_DEPTH = 5e-3
"""Part of a pair's size by which depths may be off."""
_RESOLUTION, _RESOLUTION_OF_GAPS = 2e-3, 5e-3
"""Parts of a pair's size: of one sample, separations that are less by this need not be found, and of a pair
those in other intervals than that of the least one.
"""


def interval_contacts_of_meshes(pairs: PairMotion, clearance: float, deviation: Floats) -> IntervalContacts:
    """Solve the contacts of meshes over an interval: see the module.

    Never late, and exact up to the time in which a gap of float64 rounding closes. Meshes may part between
    the first contact and the last one. The least separation of pairs in contact is not computed yet, and
    given as the clearance, or as 0, without a lower bound: see `minimum_separation_of_meshes`.

    pairs : PairMotion, batch (m,). Of meshes.
    clearance : Pairs closer than this are in contact.
    deviation : (m,) float64. Deviation of both together from linear motion.
    Returns contacts : IntervalContacts, (m,). Times in [0, 1].
    """
    moving = _MovingPairs.of(pairs)
    are_balls = moving.a.are_balls & moving.b.are_balls
    if not are_balls.any():
        return _contacts_of_pairs(moving, clearance, deviation)
    contacts = IntervalContacts(*np.zeros((6, len(deviation))))
    # Two balls exactly.
    rows, rest = np.flatnonzero(are_balls), np.flatnonzero(~are_balls)
    spheres = (Sphere.unchecked(each.center[rows], each.margin[rows]) for each in list(moving)[:4])
    contacts.assign(rows, interval_contacts_of_spheres(PairMotion(*spheres), clearance, deviation[rows]))
    contacts.assign(rest, _contacts_of_pairs(moving.take(rest), clearance, deviation[rest]))
    return contacts


def _contacts_of_pairs(moving: _MovingPairs, clearance: float, deviation: Floats) -> IntervalContacts:
    """Solve the contacts of pairs (m,) as `interval_contacts_of_meshes`, of which not both are balls."""
    margins = np.stack([moving.a.margin + moving.b.margin, moving.a_end.margin + moving.b_end.margin])
    contacts = IntervalContacts(*np.zeros((6, len(deviation))))
    contacts.low[:] = np.inf
    overlap = _overlap_throughout(moving)
    contacts.leave[:], contacts.high[:] = 1.0, -(overlap + margins.min(axis=0))
    # A little more, because a pair is apart for certain where it is farther than the deviation.
    reach, low = (clearance + deviation) * (1 + _MORE), _lowest_by_bounds(moving)
    apart = np.flatnonzero(low > reach)
    for column, value in zip(contacts, (np.nan, np.nan, np.inf, 0.5, low[apart], np.inf), strict=True):
        column[apart] = value
    left = np.flatnonzero(~((overlap > 0) | (low > reach)))
    near = moving.take(left)
    for chunk in chunks_by_vertices(near.a, near.a_end, near.b, near.b_end) if len(left) else ():
        rows = left[chunk]
        contacts.assign(rows, _swept(near.take(chunk), clearance, reach[rows], margins[:, rows]))
    return contacts


def minimum_separation_of_meshes(
    pairs: PairMotion, contacts: IntervalContacts, cutoff: Floats
) -> tuple[Floats, Floats]:
    """Find the least separation (m,) of meshes over an interval, and its time (m,): the least of samples.

    Approximate: within a small part of the size of the smaller mesh, if the separation has one minimum. Of
    pairs in contact, it is negative: see `separations_by_depth`.

    pairs : PairMotion, batch (m,). Of meshes.
    contacts : IntervalContacts, (m,). Of these.
    cutoff : (m,) float64. Only separations that are smaller by half a hundredth of the size are searched for.
    """
    least, least_time = contacts.least.copy(), contacts.least_time.copy()
    moving = _MovingPairs.of(pairs)
    below = cutoff - _RESOLUTION_OF_GAPS * moving.size
    is_touching = ~np.isnan(contacts.enter)
    # Those of balls are known.
    apart = np.flatnonzero(~is_touching & (contacts.low < below) & (least == np.inf))
    for rows in _parts_by_vertices(moving, apart):
        least[rows], least_time[rows] = _least_separations(moving.take(rows), below[rows])
    for rows in _parts_by_vertices(moving, np.flatnonzero(is_touching & (contacts.low == np.inf))):
        span = contacts.enter[rows], contacts.leave[rows]
        found, time = _deepest_in_contact(moving.take(rows), span, cutoff[rows])
        found, time = _with_crossings(moving.take(rows), span, found, time)
        is_less = found < cutoff[rows]
        least[rows[is_less]], least_time[rows[is_less]] = found[is_less], time[is_less]
    return least, least_time


def _parts_by_vertices(moving: _MovingPairs, rows: Ints) -> list[Ints]:
    """Cut rows (r,) of pairs into parts, so that the meshes of each that deform have few vertices."""
    near = moving.take(rows)
    chunks = chunks_by_vertices(near.a, near.a_end, near.b, near.b_end) if len(rows) else ()
    return [rows[chunk] for chunk in chunks]


def depth_bounds_of_meshes(pairs: PairMotion, contacts: IntervalContacts) -> Floats:
    """Estimate the least separations (m,) of pairs over an interval, in contact from boxes in the middle.

    pairs : PairMotion, batch (m,). Of meshes.
    contacts : IntervalContacts, (m,). Of these.
    Returns low : (m,) float64. As in the contacts for pairs that are apart.
    """
    low, rows = contacts.low.copy(), np.flatnonzero(~np.isnan(contacts.enter) & (contacts.low == np.inf))
    time = (contacts.enter[rows] + contacts.leave[rows]) / 2
    moving = _MovingPairs.of(pairs).take(rows)
    a, b = at(moving.a.aabb(), moving.a_end.aabb(), time), at(moving.b.aabb(), moving.b_end.aabb(), time)
    margin = np.maximum(moving.a.margin + moving.b.margin, moving.a_end.margin + moving.b_end.margin)
    # What moves far may be deeper at other times.
    move = moving.moves() * (contacts.leave[rows] - contacts.enter[rows])
    margin += np.where(move > _FAST * moving.size, move / 2, 0.0)
    low[rows] = -np.maximum(_largest_depths(a, b), _largest_depths(b, a)) - margin
    return low


def _largest_depths(inner: Aabb, outer: Aabb) -> Floats:
    """Bound how far points of boxes (m,) are inside other ones."""
    middle = np.clip(outer.center, np.maximum(inner.min, outer.min), np.minimum(inner.max, outer.max))
    # Along each axis, the point nearest to the middle is farthest from both sides.
    return np.asarray(np.maximum(np.minimum(middle - outer.min, outer.max - middle).min(axis=1), 0.0))


def _deepest_in_contact(
    moving: _MovingPairs, span: tuple[Floats, Floats], cutoff: Floats
) -> tuple[Floats, Floats]:
    """Search the least separations (m,) of pairs in contact from and to times (m,), and their times (m,).

    Of pairs that are nowhere below a cutoff (m,), the separation is not below it either. For the others, a
    parabola through three samples gives the next one.
    """
    path = longest_paths(moving.a, moving.a_end) + longest_paths(moving.b, moving.b_end)
    move = moving.moves()
    is_fast = (move * (span[1] - span[0]) > _FAST * moving.size) & ~moving.are_balls
    tolerance = _RESOLUTION_OF_DEPTH * moving.size
    # In the middle they are as deep as at any time, but for half of the path; smooth motion, for less.
    # Of fast motion, a sample is near.
    part = np.where(is_fast, 0.5 / (_SAMPLES_OF_FAST - 1), _SMOOTH)
    limit = cutoff + path * (span[1] - span[0]) * part
    # Three times each, of which the middle one is the deepest, and separations.
    middle = (span[0] + span[1]) / 2
    times, values = np.stack([span[0], middle, span[1]]), np.tile(limit, (3, 1))
    values[1] = moving.depths(np.arange(len(cutoff)), middle, limit)
    rows = np.flatnonzero(((values[1] < limit) | is_fast) & (span[0] < span[1]))
    for end in (0, 2):
        values[end, rows] = moving.depths(rows, times[end, rows], limit[rows])
    fast = rows[is_fast[rows]]
    if len(fast):
        times[:, fast], values[:, fast] = _deepest_of_many(moving, fast, times[:, fast], values[:, fast])
    # If an end is the deepest of them, pairs may be deeper next to it.
    for end in (0, 2):
        near = rows[values[end, rows] < values[[1, 2 - end]][:, rows].min(axis=0)]
        for _ in range(_HALVINGS):
            times[2 - end, near], values[2 - end, near] = times[1, near], values[1, near]
            times[1, near] = (times[1, near] + times[end, near]) / 2
            values[1, near] = moving.depths(near, times[1, near], limit[near])
            near = near[values[end, near] < values[1, near]]
        times[1, near], values[1, near] = times[end, near], values[end, near]
    for _ in range(_PARABOLAS):
        rows = rows[(np.where(is_fast, move, path) * (times[2] - times[0]))[rows] > tolerance[rows]]
        rows = rows[(times[0] < times[1])[rows] & (times[1] < times[2])[rows]]
        if not len(rows):
            break
        time = _next_times(times[:, rows], values[:, rows], is_fast[rows])
        below = np.where(is_fast[rows], np.minimum(limit, values[1])[rows], limit[rows])
        found, is_before = moving.depths(rows, time, below), time < times[1, rows]
        is_less = found < values[1, rows]
        # The worse one of both samples is an end of what is searched next.
        for end, is_beyond in ((0, is_before != is_less), (2, is_before == is_less)):
            places = rows[is_beyond]
            times[end, places] = np.where(is_less, times[1, rows], time)[is_beyond]
            values[end, places] = np.where(is_less, values[1, rows], found)[is_beyond]
        is_open = np.abs(values[1, rows] - found) > _RESOLUTION * moving.size[rows]
        times[1, rows[is_less]], values[1, rows[is_less]] = time[is_less], found[is_less]
        rows = rows[is_fast[rows] | is_open]
    return values[1], times[1]


def _deepest_of_many(
    moving: _MovingPairs, rows: Ints, times: Floats, values: Floats
) -> tuple[Floats, Floats]:
    """Find the deepest of many samples of pairs in rows (r,), and those around it.

    times, values : (3, r) at the begin, in the middle and at the end. Also returns these for the three.
    """
    every, half = np.linspace(times[0], times[2], _SAMPLES_OF_FAST), _SAMPLES_OF_FAST // 2
    found = np.full(every.shape, np.inf)
    found[[0, half, -1]] = values
    for number in np.delete(np.arange(_SAMPLES_OF_FAST), (0, half, -1)).tolist():
        # Where another sample is deeper, it does not matter by how much.
        least = found.min(axis=0)
        depth = moving.depths(rows, every[number], least)
        found[number] = np.where(depth < least, depth, np.inf)
    best = np.clip(found.argmin(axis=0), 1, _SAMPLES_OF_FAST - 2) + np.array([[-1], [0], [1]])
    return np.take_along_axis(every, best, axis=0), np.take_along_axis(found, best, axis=0)


def _with_crossings(
    moving: _MovingPairs, span: tuple[Floats, Floats], least: Floats, time: Floats
) -> tuple[Floats, Floats]:
    """Replace the least separations (m,), and their times, of balls whose centers pass the other surface.

    There a ball is as deep as its radius, for an instant.

    span : from and to times (m,) in contact
    """
    rows = np.flatnonzero(moving.are_balls)
    if not len(rows):
        return least, time
    near = moving.take(rows)
    a, b = (each.two_sided() for each in moving_nodes((near.a, near.a_end), (near.b, near.b_end)))
    crossing, _ = first_impacts_of_meshes(a, b, np.zeros(len(rows)), span[0][rows])
    first, last = -(near.a.margin + near.b.margin), -(near.a_end.margin + near.b_end.margin)
    depth, least, time = first + crossing * (last - first), least.copy(), time.copy()
    is_less = (crossing <= span[1][rows]) & (depth < least[rows])
    least[rows[is_less]], time[rows[is_less]] = depth[is_less], crossing[is_less]
    return least, time


def _next_times(times: Floats, values: Floats, is_fast: Bools) -> Floats:
    """Find times (m,) at which parabolas through three samples (3, m) are least; the middle one is lowest.

    Next to that, in the longer part instead, so that the parts become shorter; always by the golden section
    where values are no parabolas (m,).
    """
    before, after = np.diff(times, axis=0)
    rise_before, rise_after = values[0] - values[1], values[2] - values[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        step = (before**2 * rise_after - after**2 * rise_before) / (before * rise_after + after * rise_before)
    step = -np.nan_to_num(step) / 2
    # A ball that a surface lets pass may be less deep in the middle: those samples are no such parabola.
    is_short = (np.abs(step) < _SHORT_STEP * (before + after)) | (step < -before) | (step > after)
    longer = np.where(after > before, after, -before)
    return np.asarray(times[1] + np.where(is_short | is_fast, _GOLDEN * longer, step))


def _least_separations(moving: _MovingPairs, cutoff: Floats) -> tuple[Floats, Floats]:
    """Search the least separations (m,) below a cutoff (m,), and their times (m,); infinite for none."""
    path = longest_paths(moving.a, moving.a_end) + longest_paths(moving.b, moving.b_end)
    count = len(path)
    least, least_time = np.full(count, np.inf), np.zeros(count)
    # In the middle of the interval they are as near as at any time, but for half of the path.
    middle = moving.tangents_at(np.full(count, 0.5), cutoff + path / 2)
    # As far as the slope there shows, they come nearer than the cutoff.
    rows = np.flatnonzero(middle.value - _FALL * np.abs(middle.slope) < cutoff)
    if not len(rows):
        return least, least_time
    moving, middle = moving.take(rows), middle.take(rows)
    end = np.where(middle.slope > 0, 0.0, 1.0)
    nearer = moving.tangents_at(end)
    is_less = nearer.value < middle.value
    least[rows] = np.where(is_less, nearer.value, middle.value)
    least_time[rows] = np.where(is_less, end, 0.5)
    # The slopes on both sides of a minimum have different signs.
    between = np.flatnonzero(nearer.slope * middle.slope < 0)
    if len(between):
        columns = zip(middle.take(between), nearer.take(between), strict=True)
        is_first = end[between] == 0
        samples = Tangents(*(np.where(is_first, (y, x), (x, y)) for x, y in columns))
        found = minimum_by_tangents(moving.take(between), samples)
        least[rows[between]], least_time[rows[between]] = found
    return least, least_time


class _MovingPairs(Table):
    """Pairs of meshes (m,) at both ends of an interval.

    size : (m,) float64. Radius of the sphere around the smaller mesh.
    closest : (m, 2) int64. Nodes of the triangles that were closest at the last time; -1 for unknown.
    """

    a: Meshes
    a_end: Meshes
    b: Meshes
    b_end: Meshes
    size: Floats
    closest: Ints

    @classmethod
    def of(cls, pairs: PairMotion) -> _MovingPairs:
        """Take pairs whose shapes are meshes."""
        a, a_end, b, b_end = pairs
        assert isinstance(a, Meshes) and isinstance(b, Meshes), "other shapes have other methods"
        assert isinstance(a_end, Meshes) and isinstance(b_end, Meshes), "shapes keep their kind"
        size = np.minimum(a.around()[1], b.around()[1])
        return cls(a, a_end, b, b_end, size, np.full((len(size), 2), -1))

    def depths(self, rows: Ints, time: Floats, below: Floats) -> Floats:
        """Measure separations (r,) of pairs in contact in rows (r,) at times (r,), if they are below (r,)."""
        # What comes to the front of a one-sided triangle may be behind it because of rounding.
        return separations_by_depth(*self.take(rows).at(time), below, both_sides=True)

    def moves(self) -> Floats:
        """Lengths (m,) by which the centers move relative to each other."""
        return length(self.b_end.center - self.a_end.center - self.b.center + self.a.center)

    @property
    def are_balls(self) -> Bools:
        """Mask (m,) of pairs with a ball."""
        return self.a.are_balls | self.b.are_balls

    def at(self, time: Floats) -> tuple[Meshes, Meshes]:
        """Both meshes at times (m,)."""
        return interpolated_meshes(self.a, self.a_end, time), interpolated_meshes(self.b, self.b_end, time)

    def tangents_at(self, time: Floats, limit: Floats | None = None) -> Tangents:
        """Separations (m,) at times (m,), and slopes; infinite where they are not below a limit (m,)."""
        a, b = self.at(time)
        nodes, margin = moving_nodes((a, a), (b, b)), a.margin + b.margin
        limit = np.full(len(time), np.inf) if limit is None else limit + margin
        distance, triangles = closest_triangles(
            *nodes, limit, slack=np.where(self.are_balls, 0.0, _RESOLUTION * self.size), guess=self.closest.T
        )
        value, slope = np.full(len(time), np.inf), np.zeros(len(time))
        rows = np.flatnonzero(triangles[0] >= 0)
        self.closest[rows] = triangles[:, rows].T
        value[rows] = (distance - margin)[rows]
        on_a, on_b, normal = closest_points_of_nodes(*nodes, rows, triangles[:, rows])
        velocity = velocities_of_meshes(self.b[rows], self.b_end[rows], b[rows], on_b, triangles[1, rows])
        velocity -= velocities_of_meshes(self.a[rows], self.a_end[rows], a[rows], on_a, triangles[0, rows])
        growth = self.a_end.margin + self.b_end.margin - self.a.margin - self.b.margin
        slope[rows] = dot(velocity, normal) - growth[rows]
        return Tangents(time, value, slope)


def _overlap_throughout(moving: _MovingPairs) -> Floats:
    """Compute by how much balls within both meshes (m,) overlap at all times, at least; -inf for unknown."""
    total, is_known = np.zeros(len(moving.size)), np.full(len(moving.size), True)
    for start, end in ((moving.a, moving.a_end), (moving.b, moving.b_end)):
        first, last = start.inner_radii(), end.inner_radii()
        # Between both ends a matrix that changes linearly may scale less than at either, by half of this.
        change = end.matrix[:, :3, :3] - start.matrix[:, :3, :3]
        shrunk = np.sqrt((change * change).sum(axis=(-2, -1))) * start.around()[1]
        total = total + (first + last - shrunk) / 2
        is_known = is_known & (first > 0) & (last > 0) & (start.nodes == end.nodes)
    first, last = (
        length(b.center - a.center) for a, b in ((moving.a, moving.b), (moving.a_end, moving.b_end))
    )
    return np.where(is_known, total - np.maximum(first, last), -np.inf)


def _contacts_of_surfaces(
    a: MovingNodes, b: MovingNodes, nearest: Floats, reach: Floats
) -> tuple[Floats, Floats, Bools, tuple[Ints, Ints]]:
    """Sweep pairs (m,) from both ends, for the first and last contact within `nearest` (2, m); NaN for none.

    Also returns which surfaces (m,) are within the larger `reach` (2, m) at any time, and the triangles
    (2, m) that touch at the start, and at the end; -1 for none.
    """
    back = a.reversed_in_time(), b.reversed_in_time()
    # Meshes that touch at an end need no sweep, which takes longer.
    at_start, at_end = _touching_at_ends(a, b, np.nextafter(nearest, np.inf))
    begins, ends = at_start[0] >= 0, at_end[0] >= 0
    earliest, rows = np.zeros(len(begins)), np.flatnonzero(~begins)
    # A plane through corners that deviate is up to twice as far elsewhere, next to a triangle.
    behind = 2 * (reach - nearest)[0]
    found, triangles = first_impacts_of_meshes(a, b, reach, rows=rows, behind=behind)
    earliest[rows] = found[rows]
    is_near = ~np.isnan(earliest)
    enter, leave = np.where(begins, 0.0, np.nan), np.where(ends, 1.0, np.nan)
    rows = np.flatnonzero(is_near & ~begins)
    found, triangles = first_impacts_of_meshes(a, b, nearest, np.nan_to_num(earliest), rows, triangles)
    enter[rows] = found[rows]
    rows = np.flatnonzero(~np.isnan(enter) & ~ends)
    leave[rows] = 1 - first_impacts_of_meshes(*back, nearest[::-1], rows=rows, guess=triangles)[0][rows]
    # Because of rounding, a graze may be found in one direction of time only.
    return np.fmin(enter, leave), np.fmax(leave, enter), is_near, (at_start, at_end)


def _touching_at_ends(a: MovingNodes, b: MovingNodes, limit: Floats) -> tuple[Ints, Ints]:
    """Find triangles (2, m) that are nearer than limits (2, m) at the start and at the end; -1 for none.

    What successive intervals share is searched once.
    """
    ends = [PosedNodes.concatenate([each.start, each.end]) for each in (a, b)]
    limits, count = limit.ravel(), limit.shape[1]
    columns: list[NDArray[Any]] = [limits[:, None]]
    for nodes in ends:
        columns += [nodes.root[:, None], nodes.linear.reshape(-1, 9), nodes.offset]
    first, kind_of = distinct_rows(np.hstack(columns))
    both = [MovingNodes(each.pool, nodes, nodes) for each, nodes in zip((a, b), ends, strict=True)]
    found = closest_triangles(both[0], both[1], limits, rows=first)[1][:, first[kind_of]]
    return found[:, :count], found[:, count:]


def _swept(moving: _MovingPairs, clearance: float, reach: Floats, margins: Floats) -> IntervalContacts:
    """Solve the contacts of pairs (m,) that balls do not decide.

    reach : (m,) the clearance and the deviation
    margins : (2, m) of both meshes together, at both ends
    """
    a, b = moving_nodes((moving.a, moving.a_end), (moving.b, moving.b_end))
    enter, leave, is_near, touching = _contacts_of_surfaces(a, b, clearance + margins, reach + margins)
    low = np.where(is_near, clearance, reach)
    high = np.full(len(low), np.inf)
    # Of triangles that touch at both ends, the crossing of either may last throughout.
    for triangles in touching:
        rows = np.flatnonzero((enter == 0) & (leave == 1) & (high == np.inf) & (triangles[0] >= 0))
        high[rows] = _highest(a, b, rows, triangles[:, rows]) - margins[:, rows].min(axis=0)
    # One that is inside at the start is in contact until the surfaces part. Then it may be inside or outside.
    rows = np.flatnonzero(~(enter == 0))
    rows = rows[are_inside(moving.a[rows], moving.b[rows])]
    enter[rows], leave[rows] = 0.0, np.where(np.isnan(leave[rows]), 1.0, leave[rows])
    rows = rows[~is_near[rows]]
    high[rows] = -reach[rows]
    rows = np.flatnonzero(leave < 1)
    leave[rows[are_inside(moving.a_end[rows], moving.b_end[rows])]] = 1.0
    is_touching = ~np.isnan(enter)
    low[is_touching] = np.inf
    least = np.where(is_touching, clearance, np.inf)
    return IntervalContacts(enter, leave, least, np.nan_to_num((enter + leave) / 2), low, high)


def _highest(a: MovingNodes, b: MovingNodes, rows: Ints, triangles: Ints) -> Floats:
    """Bound how far triangles (2, r) of pairs in rows (r,) are apart at all times; less than 0 for crossings.

    Infinite for those that may go behind one-sided ones.
    """
    crossing = margins_of_crossings(a, b, rows, triangles)
    result, left = -crossing, np.flatnonzero(~(crossing > 0))
    if len(left):
        sides = [each.corners(rows[left], node[left]) for each, node in zip((a, b), triangles, strict=True)]
        middle = [(start + end) / 2 for start, end in sides]
        nearest = closest_points_triangle_triangle(*middle)
        parts = [_parts_of(points, each) for points, each in zip(nearest, middle, strict=False)]
        # The distance of two points that move in straight lines is largest at an end.
        paths = [
            [(part[..., None] * corners).sum(axis=1) for corners in side]
            for part, side in zip(parts, sides, strict=True)
        ]
        result[left] = np.maximum(*(length(one - other) for one, other in zip(*paths, strict=True)))
    result[(a.start.one_sided | b.start.one_sided)[rows]] = np.inf
    return np.asarray(result)


def _parts_of(points: Floats, corners: Floats) -> Floats:
    """Parts (m, 3) of corners (m, 3, 3), none negative, whose sum is about at points (m, 3) on triangles."""
    sides = np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2)
    along = transform_vectors(np.asarray(np.linalg.pinv(sides)), points - corners[:, 0])
    parts = np.maximum(np.concatenate([1 - along.sum(axis=1, keepdims=True), along], axis=1), 0.0)
    return np.asarray(parts / parts.sum(axis=1, keepdims=True))


def _lowest_by_bounds(moving: _MovingPairs) -> Floats:
    """Bound the separations (m,) of meshes over an interval from below, by spheres and boxes around them."""
    (a, radius_a), (a_end, radius_a_end) = moving.a.around(), moving.a_end.around()
    (b, radius_b), (b_end, radius_b_end) = moving.b.around(), moving.b_end.around()
    reach = np.maximum(radius_a, radius_a_end) + np.maximum(radius_b, radius_b_end)
    start, change = b - a, (b_end - a_end) - (b - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        time = np.clip(np.nan_to_num(-dot(start, change) / dot(change, change)), 0, 1)
    gap = length(start + time[:, None] * change) - reach
    box_a, box_b = moving.a.aabb().merged(moving.a_end.aabb()), moving.b.aabb().merged(moving.b_end.aabb())
    gap = np.maximum(gap, separation_aabb_aabb(box_a, box_b))
    return np.asarray(gap - _MORE * (np.abs(gap) + reach))
