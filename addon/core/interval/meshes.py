"""Contacts of pairs of moving meshes over one interval, in which their corners move in straight lines.

Pairs are decided by balls within the meshes, or swept from both ends. Surfaces that are nowhere within the
clearance and the deviation are apart for certain. A pair is in contact throughout for certain where balls
within both overlap, one is inside the other, or an edge crosses a triangle at all times.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..distance.mesh_depth import DeepestVertices, deepest_vertices
from ..distance.mesh_mesh import (
    closest_points_of_nodes,
    closest_triangles,
)
from ..distance.meshes import margins_of_crossings
from ..distance.separating_axis import separation_aabb_aabb
from ..distance.triangle_triangle import closest_points_triangle_triangle
from ..mesh.meshes import (
    Meshes,
    chunks_by_vertices,
    interpolated_meshes,
    longest_paths,
    moving_nodes,
    velocities_of_points,
)
from ..mesh.node_pool import MovingNodes, PosedNodes
from ..mesh.points_inside import are_inside
from ..numeric.arrays import Bools, Floats, Ints, Table, distinct_rows, dot, length
from ..shapes import Sphere
from ..shapes.primitives import parts_of_corners
from ..sweep.mesh_mesh import are_ever_within, closing_speeds, first_impacts_of_meshes
from .common_paths import paths_where_both_are
from .pair_motion import IntervalContacts, PairMotion
from .rotating import Tangents, minimum_by_tangents
from .spheres import interval_contacts_of_spheres

_MORE = 1e-9
"""Part of a distance that is added to bounds of it, for rounding."""
_FALL = 0.75
"""Part of an interval by which separations are extrapolated from the middle: a half, and more."""
_MANY_TRIANGLES, _APART = 1 << 12, 3
"""Triangles of a mesh from which on those that touch are first searched for at every third time."""
_HALVINGS = 4
"""Samples between two of which the least one has to be."""
_SMOOTH = 0.125
"""Part of the path of both meshes by which they may be deeper than in the middle, if they do not move far."""
_FAST, _FAST_BALLS, _SAMPLES_OF_FAST, _SAMPLES_OF_SLOW = 0.25, 1.0, 9, 3
"""Parts of the size of a pair, and of one with a ball, by which it moves in contact, above which so many
samples are taken first; and how many of what moves less.
"""
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
    contacts = IntervalContacts(*np.zeros((8, len(deviation))))
    # Two balls exactly.
    rows, rest = np.flatnonzero(are_balls), np.flatnonzero(~are_balls)
    spheres = (Sphere.unchecked(each.center[rows], each.margin[rows]) for each in list(moving)[:4])
    contacts.assign(rows, interval_contacts_of_spheres(PairMotion(*spheres), clearance, deviation[rows]))
    contacts.assign(rest, _contacts_of_pairs(moving.take(rest), clearance, deviation[rest]))
    return contacts


def _contacts_of_pairs(moving: _MovingPairs, clearance: float, deviation: Floats) -> IntervalContacts:
    """Solve the contacts of pairs (m,) as `interval_contacts_of_meshes`, of which not both are balls."""
    margins = np.stack([moving.a.margin + moving.b.margin, moving.a_end.margin + moving.b_end.margin])
    contacts = IntervalContacts(*np.zeros((8, len(deviation))))
    contacts.low[:] = np.inf
    overlap = _overlap_throughout(moving)
    contacts.leave[:], contacts.high[:] = 1.0, -(overlap + margins.min(axis=0))
    contacts.closing[:] = contacts.parting[:] = np.nan
    # A little more, because a pair is apart for certain where it is farther than the deviation.
    reach, low = (clearance + deviation) * (1 + _MORE), _lowest_by_bounds(moving)
    apart = np.flatnonzero(low > reach)
    for column, value in zip(contacts, (np.nan, np.nan, np.inf, 0.5, low[apart], np.inf), strict=False):
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
    pairs in contact, it is negative: see `deepest_vertices`.

    pairs : PairMotion, batch (m,). Of meshes.
    contacts : IntervalContacts, (m,). Of these.
    cutoff : (m,) float64. Only separations that are smaller by half a hundredth of the size are searched for.
    """
    least, least_time = contacts.least.copy(), contacts.least_time.copy()
    moving = _MovingPairs.of(pairs, contacts)
    below = cutoff - _RESOLUTION_OF_GAPS * moving.size
    # Those of two balls are known.
    is_open = np.where(moving.is_touching, contacts.low == np.inf, (contacts.low < below) & (least == np.inf))
    rows = np.flatnonzero(is_open)
    near = moving.take(rows)
    for chunk in chunks_by_vertices(near.a, near.a_end, near.b, near.b_end) if len(rows) else ():
        part = rows[chunk]
        part = part[_may_be_below(moving.take(part), below[part])]
        found, time = _least_separations(moving.take(part), below[part])
        found, time = _with_crossings(moving.take(part), found, time)
        is_less = ~moving.is_touching[part] | (found < cutoff[part])
        least[part[is_less]], least_time[part[is_less]] = found[is_less], time[is_less]
    return least, least_time


def expected_depths_of_meshes(pairs: PairMotion, contacts: IntervalContacts, cutoff: Floats) -> Floats:
    """Estimate the least separations (m,) of pairs over an interval, in contact by the tangent in the middle.

    pairs : PairMotion, batch (m,). Of meshes.
    contacts : IntervalContacts, (m,). Of these.
    cutoff : (m,) float64. Separations at or above this need not be estimated.
    Returns low : (m,) float64. As in the contacts for pairs that are apart.
    """
    low, rows = contacts.low.copy(), np.flatnonzero(~np.isnan(contacts.enter) & (contacts.low == np.inf))
    near = _MovingPairs.of(pairs.take(rows), contacts.take(rows))
    for chunk in chunks_by_vertices(near.a, near.a_end, near.b, near.b_end) if len(rows) else ():
        moving = near.take(chunk)
        duration, path = moving.end - moving.begin, moving.paths()
        reach = np.minimum(path, paths_where_both_are(pairs.take(rows[chunk]), moving.begin, moving.end)) / 2
        below = cutoff[rows[chunk]] - _RESOLUTION_OF_GAPS * moving.size
        middle = moving.tangents_at((moving.begin + moving.end) / 2, below + reach)
        # Where they move far, or edges alone cross in the middle, a corner may be inside for a short time.
        is_open = moving.have_depth & (moving.are_fast | (middle.slope == 0))
        fall = np.maximum(_FALL * np.abs(middle.slope) * duration, _SMOOTH * path)
        least = middle.value - np.where(is_open, path / 2, fall)
        low[rows[chunk]] = least + _RESOLUTION_OF_GAPS * moving.size
    return low


def _least_separations(moving: _MovingPairs, cutoff: Floats) -> tuple[Floats, Floats]:
    """Search the least separations (m,) below a cutoff (m,), and their times (m,); infinite for none."""
    least, least_time = np.full(len(cutoff), np.inf), moving.begin.copy()
    best, step = _least_samples(moving, cutoff)
    rows = np.flatnonzero(best.value < np.inf)
    if not len(rows):
        return least, least_time
    moving, best, step = moving.take(rows), best.take(rows), step[rows]
    step = np.where(best.slope > 0, -step, step)
    nearer = moving.tangents_at(np.clip(best.time + step, moving.begin, moving.end))
    for _ in range(_HALVINGS):
        # What falls toward higher values has a minimum before them.
        is_higher = (nearer.value > best.value) & (best.slope != 0)
        between = np.flatnonzero(is_higher & (nearer.slope * best.slope >= 0))
        if not len(between):
            break
        middle = (nearer.time + best.time)[between] / 2
        nearer.assign(between, moving.take(between).tangents_at(middle))
    columns = zip(best, nearer, strict=True)
    around = Tangents(*(np.where(step > 0, (x, y), (y, x)) for x, y in columns))
    least[rows], least_time[rows] = minimum_by_tangents(moving, around, _RESOLUTION / 2)
    return least, least_time


def _least_samples(moving: _MovingPairs, cutoff: Floats) -> tuple[Tangents, Floats]:
    """Find the least of a few samples of pairs (m,), and the time (m,) between them.

    Infinite for pairs that are below a cutoff (m,) nowhere, as far as the samples show.
    """
    duration, have_depth = moving.end - moving.begin, moving.have_depth
    is_fast = have_depth & moving.are_fast
    # In the middle they are as near as at any time, but for half of the path; in smooth contact, for less.
    reach = moving.paths() * np.where(moving.is_touching & ~is_fast, _SMOOTH, 0.5)
    best = moving.tangents_at((moving.begin + moving.end) / 2, cutoff + reach)
    # Where edges alone cross in the middle, a corner may be inside for a short time.
    are_many = is_fast | (have_depth & (best.slope == 0))
    samples = np.where(are_many, _SAMPLES_OF_FAST, np.where(have_depth, _SAMPLES_OF_SLOW, 1))
    for count in (_SAMPLES_OF_SLOW, _SAMPLES_OF_FAST):
        many = np.flatnonzero((samples == count) & (is_fast | (best.value < np.inf)))
        if len(many):
            best.assign(many, _least_of_many(moving.take(many), best.take(many), count))
    # As far as the slope there shows, they come nearer than the cutoff.
    is_less = is_fast | (best.value - _FALL * np.abs(best.slope) * duration < cutoff)
    best.value[~is_less] = np.inf
    return best, duration / np.maximum(samples - 1, 2)


def _may_be_below(moving: _MovingPairs, cutoff: Floats) -> Bools:
    """Decide which pairs (m,) may be nearer than a cutoff (m,): of very large meshes apart, by a sweep.

    Of these, few nodes prove that, and very many find the nearest triangles.
    """
    result = np.ones(len(cutoff), dtype=bool)
    are_very_large = moving.a.are_very_large | moving.b.are_very_large
    rows = np.flatnonzero(are_very_large & ~moving.is_touching & (cutoff < np.inf))
    if len(rows):
        near, every = moving.take(rows), np.arange(len(rows))
        margins = np.stack([near.a.margin + near.b.margin, near.a_end.margin + near.b_end.margin])
        nodes = moving_nodes((near.a, near.a_end), (near.b, near.b_end))
        reach = np.maximum(cutoff[rows], 0.0) + margins
        result[rows] = are_ever_within(*nodes, reach, every, np.zeros(len(rows)))
    return result


def _with_crossings(moving: _MovingPairs, least: Floats, time: Floats) -> tuple[Floats, Floats]:
    """Replace the least separations (m,), and their times, of balls whose centers pass the other surface.

    There a ball is as deep as its radius, for an instant.
    """
    rows = np.flatnonzero(moving.is_touching & moving.are_balls)
    if not len(rows):
        return least, time
    near = moving.take(rows)
    a, b = (each.two_sided() for each in moving_nodes((near.a, near.a_end), (near.b, near.b_end)))
    crossing, _ = first_impacts_of_meshes(a, b, np.zeros(len(rows)), near.begin)
    first, last = -(near.a.margin + near.b.margin), -(near.a_end.margin + near.b_end.margin)
    depth = first + crossing * (last - first)
    is_less = (crossing <= near.end) & (depth < least[rows])
    least[rows[is_less]], time[rows[is_less]] = depth[is_less], crossing[is_less]
    return least, time


def _least_of_many(moving: _MovingPairs, middle: Tangents, count: int) -> Tangents:
    """Find the least of an odd number of samples of pairs (m,), of which that in the middle is known."""
    size = len(middle.time)
    times = np.delete(np.linspace(moving.begin, moving.end, count), count // 2, axis=0).ravel()
    every = moving.take(np.tile(np.arange(size), count - 1))
    # Where another sample is less, it does not matter by how much.
    most, parts = np.tile(middle.value, count - 1), [middle]
    for chunk in chunks_by_vertices(every.a, every.a_end, every.b, every.b_end):
        parts.append(every.take(chunk).tangents_at(times[chunk], most[chunk]))
    found = Tangents.concatenate(parts)
    return found.take(found.value.reshape(count, size).argmin(axis=0) * size + np.arange(size))


class _MovingPairs(Table):
    """Pairs of meshes (m,) at both ends of an interval.

    size : (m,) float64. Radius of the sphere around the smaller mesh.
    closest : (m, 2) int64. Nodes of the triangles that were closest at the last time; -1 for unknown.
    begin, end : (m,) float64. Times in [0, 1] of the contact, or 0 and 1.
    is_touching : (m,) bool. Pairs that are in contact.
    """

    a: Meshes
    a_end: Meshes
    b: Meshes
    b_end: Meshes
    size: Floats
    closest: Ints
    begin: Floats
    end: Floats
    is_touching: Bools

    @classmethod
    def of(cls, pairs: PairMotion, contacts: IntervalContacts | None = None) -> _MovingPairs:
        """Take pairs whose shapes are meshes, and contacts of these, if they are known."""
        a, a_end, b, b_end = pairs
        assert isinstance(a, Meshes) and isinstance(b, Meshes), "other shapes have other methods"
        assert isinstance(a_end, Meshes) and isinstance(b_end, Meshes), "shapes keep their kind"
        size = np.minimum(a.around()[1], b.around()[1])
        span = np.full((2, len(size)), np.nan) if contacts is None else (contacts.enter, contacts.leave)
        begin, end = (np.nan_to_num(time, nan=nan) for time, nan in zip(span, (0.0, 1.0), strict=True))
        closest, is_touching = np.full((len(size), 2), -1), ~np.isnan(span[0])
        return cls(a, a_end, b, b_end, size, closest, begin, end, is_touching)

    @property
    def are_fast(self) -> Bools:
        """Mask (m,) of pairs that move far, relative to their size, between begin and end."""
        move = length(self.b_end.center - self.a_end.center - self.b.center + self.a.center)
        far = np.where(self.are_balls, _FAST_BALLS, _FAST) * self.size
        return np.asarray(move * (self.end - self.begin) > far)

    @property
    def have_depth(self) -> Bools:
        """Mask (m,) of pairs in contact of which one can be inside the other."""
        return np.asarray(self.is_touching & (self.are_balls | self.a.have_inside | self.b.have_inside))

    def paths(self) -> Floats:
        """Bound the lengths (m,) of the paths of both meshes together, between begin and end."""
        path = longest_paths(self.a, self.a_end) + longest_paths(self.b, self.b_end)
        return path * (self.end - self.begin)

    @property
    def are_balls(self) -> Bools:
        """Mask (m,) of pairs with a ball."""
        return self.a.are_balls | self.b.are_balls

    def at(self, time: Floats) -> tuple[Meshes, Meshes]:
        """Both meshes at times (m,)."""
        return interpolated_meshes(self.a, self.a_end, time), interpolated_meshes(self.b, self.b_end, time)

    def tangents_at(self, time: Floats, limit: Floats | None = None) -> Tangents:
        """Separations (m,) at times (m,), and slopes; infinite where they are not below a limit (m,).

        Of pairs in contact, those by depth.
        """
        a, b = self.at(time)
        count, margin = len(time), a.margin + b.margin
        limit = np.full(count, np.inf) if limit is None else limit + margin
        found = DeepestVertices.unknown(np.full(count, -np.inf))
        rows = np.flatnonzero(self.is_touching)
        if len(rows):
            found.assign(rows, deepest_vertices(a[rows], b[rows], np.maximum(-limit[rows], 0.0)))
        normal, value = found.normal, -found.depth
        rows = np.flatnonzero((found.nodes[:, 0] < 0) & (~self.is_touching | (limit > 0)))
        if len(rows):
            # What comes to the front of a one-sided triangle may be behind it because of rounding.
            first, second = (each.two_sided(self.is_touching) for each in moving_nodes((a, a), (b, b)))
            slack = np.where(self.are_balls, 0.0, _RESOLUTION * self.size)
            distance, triangles = closest_triangles(first, second, limit, rows, slack, self.closest.T)
            rows = rows[triangles[0, rows] >= 0]
            value[rows], found.nodes[rows] = distance[rows], triangles[:, rows].T
            self.closest[rows] = found.nodes[rows]
            nearest = closest_points_of_nodes(first, second, rows, triangles[:, rows])
            found.on_a[rows], found.on_b[rows], normal[rows] = nearest
        # Where edges alone cross, the depth does not change.
        is_crossing = self.is_touching & (found.depth <= 0) & ~self.are_balls
        rows, slope = np.flatnonzero((found.nodes[:, 0] >= 0) & ~is_crossing), np.zeros(count)
        velocity_a, velocity_b = (
            velocities_of_points(start[rows], end[rows], now[rows], points[rows], found.nodes[rows, column])
            for start, end, now, points, column in (
                (self.a, self.a_end, a, found.on_a, 0),
                (self.b, self.b_end, b, found.on_b, 1),
            )
        )
        growth = self.a_end.margin + self.b_end.margin - self.a.margin - self.b.margin
        slope[rows] = dot(velocity_b - velocity_a, normal[rows]) - growth[rows]
        return Tangents(time, np.where(found.nodes[:, 0] >= 0, value - margin, np.inf), slope)


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
) -> tuple[tuple[Floats, ...], Bools, tuple[Ints, Ints]]:
    """Sweep pairs (m,) from both ends, for the first and last contact within `nearest` (2, m); NaN for none.

    Returns these times, and the speeds at which surfaces come closer then, and part: (m,) each; which
    surfaces (m,) are within the larger `reach` (2, m) at any time; and the triangles (2, m) that touch at
    the start, and at the end, -1 for none.
    """
    back = a.reversed_in_time(), b.reversed_in_time()
    # Meshes that touch at an end need no sweep, which takes longer.
    at_start, at_end = _touching_at_ends(a, b, np.nextafter(nearest, np.inf))
    begins, ends = at_start[0] >= 0, at_end[0] >= 0
    enter, leave = np.where(begins, 0.0, np.nan), np.where(ends, 1.0, np.nan)
    rows = np.flatnonzero(~begins)
    found, triangles = first_impacts_of_meshes(a, b, nearest, rows=rows, guess=at_end)
    enter[rows] = found[rows]
    closing = closing_speeds(a, b, nearest, found, triangles)
    rows = np.flatnonzero(~np.isnan(enter) & ~ends)
    guess = np.where(begins, at_start, triangles)
    found, triangles = first_impacts_of_meshes(*back, nearest[::-1], rows=rows, guess=guess)
    leave[rows] = 1 - found[rows]
    parting = closing_speeds(*back, nearest[::-1], found, triangles)
    is_near = ~np.isnan(enter)
    rows = np.flatnonzero(~is_near & (reach > nearest).any(axis=0))
    # A plane through corners that deviate is up to twice as far elsewhere, next to a triangle.
    behind = 2 * (reach - nearest)[0]
    is_near[rows] = are_ever_within(a, b, reach, rows, behind)
    # Because of rounding, a graze may be found in one direction of time only.
    contacts = np.fmin(enter, leave), np.fmax(leave, enter), closing, parting
    return contacts, is_near, (at_start, at_end)


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
    found, guess = np.full((2, len(first)), -1), np.full((2, 2 * count), -1)
    # Triangles of large meshes that touch at one end of an interval often touch at the other one too.
    size = np.maximum(a.triangles(first % count), b.triangles(first % count))
    rank = np.argsort(np.argsort(first % count, kind="stable"), kind="stable")
    is_guessed = (size > _MANY_TRIANGLES) & (rank % _APART > 0)
    for places in (np.flatnonzero(~is_guessed), np.flatnonzero(is_guessed)):
        rows = first[places]
        found[:, places] = closest_triangles(both[0], both[1], limits, rows, guess=guess)[1][:, rows]
        at_other_end = np.roll(found[:, kind_of], count, axis=1)
        known = np.flatnonzero(at_other_end[0] >= 0)
        guess[:, first[kind_of[known]]] = at_other_end[:, known]
    found = found[:, kind_of]
    return found[:, :count], found[:, count:]


def _swept(moving: _MovingPairs, clearance: float, reach: Floats, margins: Floats) -> IntervalContacts:
    """Solve the contacts of pairs (m,) that balls do not decide.

    reach : (m,) the clearance and the deviation
    margins : (2, m) of both meshes together, at both ends
    """
    a, b = moving_nodes((moving.a, moving.a_end), (moving.b, moving.b_end))
    times, is_near, touching = _contacts_of_surfaces(a, b, clearance + margins, reach + margins)
    enter, leave, *speeds = times
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
    return IntervalContacts(enter, leave, least, np.nan_to_num((enter + leave) / 2), low, high, *speeds)


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
        parts = [parts_of_corners(points, each) for points, each in zip(nearest, middle, strict=False)]
        # The distance of two points that move in straight lines is largest at an end.
        paths = [
            [(part[..., None] * corners).sum(axis=1) for corners in side]
            for part, side in zip(parts, sides, strict=True)
        ]
        result[left] = np.maximum(*(length(one - other) for one, other in zip(*paths, strict=True)))
    result[(a.start.one_sided | b.start.one_sided)[rows]] = np.inf
    return np.asarray(result)


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
