"""Points that several bones carry, each by a share (linear blend skinning), and the boxes around them.

Between two samples, the sides of such a box deviate from linear motion for two reasons: the points do, and
another point becomes the outermost one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..curves.transform_bounds import TransformChords
from ..numeric.arrays import Floats, Ints, Singles, length
from .point_tree import CHILDREN, nodes_by_bone, tree_levels, tree_order


class BoneBalls(NamedTuple):
    """Balls around the points that each bone (b,) carries, in the space of the bone.

    center : (b, 3) float64
    radius : (b,) float64
    reach : (b,) float64. Largest distance of such a point from the bone's origin.
    """

    center: Floats
    radius: Floats
    reach: Floats


def point_deviations(balls: BoneBalls, chords: TransformChords) -> Floats:
    """Bound the deviations (q,) of blended points from linear motion, in world space. Conservative.

    A blended point is within the hull of its places, so it deviates from its chord by no more than the
    farthest of them.

    chords : TransformChords, (q * b,). Motion of all bones over an interval, then over the next one, and so
        on.
    """
    reach = np.tile(balls.reach, len(chords.offset) // len(balls.reach))
    return np.asarray((chords.offset + chords.linear * reach).reshape(-1, len(balls.reach)).max(axis=1))


def kinks_of_any(balls: BoneBalls, chords: TransformChords) -> Floats:
    """Bound how far (q,) sides of boxes around linearly moving points are from linear motion.

    The side of a box is the largest of many coordinates. If all of these are linear, it is convex: below its
    chord by at most a quarter of the difference of the coordinates' changes, where another point becomes the
    outermost. Conservative. Arguments are those of `point_deviations`.
    """
    change = (chords.end - chords.begin)[:, :3].reshape(-1, len(balls.radius), 3, 4)
    middle = np.einsum("qbij,bj->qbi", change[..., :3], balls.center) + change[..., 3]
    room = np.sqrt((change[..., :3] ** 2).sum(axis=-1)) * balls.radius[:, None]
    spread = (middle + room).max(axis=1) - (middle - room).min(axis=1)
    return np.asarray(spread.max(axis=1) / 4)


_LEAF = 32
"""Points of a smallest node, at most."""
_NUMBERS = 1 << 21
"""Numbers of the terms of leaves that are copied at once: 16 MB."""
_MOST_TIMES = 1 << 13
"""Times of which `RecentPoints` are kept, at least, unless there are fewer: together about 1 MB."""
_DIRECTIONS = 384
"""Directions that are computed together: few enough for the caches of a processor."""


class BlendedPoints:
    """Points (n,), each at the mean of its places in the spaces of some bones (j,), weighted by shares.

    count : Number of points.
    balls : Around the places of the points that each bone carries.
    """

    def __init__(self, bones: Ints, shares: Floats, places: Floats, rest: Floats) -> None:
        """Build a tree of points.

        bones : (n, j) int64. Bones that carry each point, 0 to b - 1, each of which carries one; any where
            the share is 0.
        shares : (n, j) float64. Not negative; 1 in sum.
        places : (n, j, 3) float64. Place of each point in the space of each of its bones.
        rest : (n, 3) float64. Places of the points in any one space: neighbors become neighbors in the
            tree.
        """
        self.count = len(rest)
        self.balls = _balls(bones[shares > 0], places[shares > 0])
        depth = max(0, int(np.ceil(np.log2(max(len(rest), 1) / _LEAF))))
        order = tree_order(rest, depth)
        shape = (1 << depth, -1, bones.shape[1])
        self._place_of = np.empty(len(rest), dtype=np.int64)
        self._place_of[order] = np.arange(len(order))
        bones = bones[order].reshape(shape)
        shares, places = shares[order].reshape(shape), places[order].reshape(*shape, 3)
        self._levels, terms = tree_levels(bones, shares, places)
        self._top = nodes_by_bone(self._levels[0])
        # Of each leaf (l,), for each of its points (s,): the share of each of its bones times a place.
        self._terms = terms.reshape(*terms.shape[:2], -1)

    def boxes(self, matrices: Floats) -> tuple[Floats, Floats, Ints]:
        """Compute the boxes around all points, with matrices (q, b, 4, 4) of all bones.

        The tree skips nodes that cannot have an extreme point, so the result is that of all points.

        Returns low, high : (q, 3) float64. Minima and maxima.
        Returns outermost : (q, 6) int64. A point on each side, those of the minima first: for `coordinates`.
        """
        rows = matrices[:, :, :3].transpose(0, 2, 1, 3)
        directions = np.concatenate([-rows, rows], axis=1).reshape(-1, *rows.shape[2:])
        farthest, points = np.empty(len(directions)), np.empty(len(directions), dtype=np.int64)
        for start in range(0, len(directions), _DIRECTIONS):
            part = slice(start, start + _DIRECTIONS)
            # What is infinite or not a number is that of the result, too.
            with np.errstate(invalid="ignore", over="ignore"):
                farthest[part], points[part] = self._farthest(directions[part])
        sides = farthest.reshape(-1, 2, 3)
        return -sides[:, 0], sides[:, 1], points.reshape(-1, 6)

    def coordinates(self, matrices: Floats, points: Ints) -> Floats:
        """Compute how far out points (q, k, 6) are, each toward its side: as `boxes` has them.

        matrices : (q, b, 4, 4) of all bones
        """
        leaf, place = np.divmod(points, self._terms.shape[1])
        bones = self._levels[-1].bones[leaf]
        terms = self._terms[leaf, place].reshape(*bones.shape, 4)
        each = np.arange(len(matrices))[:, None, None, None]
        rows = matrices[each, bones, np.tile(np.arange(3), 2)[:, None]]
        return np.asarray((rows * terms).sum(axis=(-2, -1)) * np.repeat([-1.0, 1.0], 3))

    def positions(self, matrices: Floats, points: Ints) -> Floats:
        """Compute the places (k, 3) of some points (k,), with matrices (b, 4, 4) of all bones."""
        return np.asarray(self.positions_at(matrices[None], points[None])[0])

    def positions_at(self, matrices: Floats, points: Ints) -> Floats:
        """Compute the places (q, k, 3) of points (q, k), with matrices (q, b, 4, 4) of all bones."""
        leaf, place = np.divmod(self._place_of[points], self._terms.shape[1])
        bones = self._levels[-1].bones[leaf]
        terms = self._terms[leaf, place].reshape(*bones.shape, 4)
        rows = matrices[np.arange(len(matrices))[:, None, None], bones, :3]
        return np.asarray(np.einsum("qnjik,qnjk->qni", rows, terms))

    def vertices(self, matrices: Floats) -> Floats:
        """Compute the places (n, 3) of all points, with matrices (b, 4, 4) of all bones."""
        rows = matrices[:, :3].transpose(0, 2, 1)[self._levels[-1].bones]
        # Of each leaf, all bones at once: one product of small matrices.
        places = self._terms @ rows.reshape(len(rows), -1, 3)
        return np.asarray(places.reshape(-1, 3).take(self._place_of, axis=0))

    def sizes(self, matrices: Floats) -> Floats:
        """Bound the numbers (q,) that coordinates are sums of, with matrices (q, b, 4, 4) of all bones."""
        rows = matrices[:, :, :3]
        places = length(rows[..., :3]) * self.balls.reach[:, None] + np.abs(rows[..., 3])
        return np.asarray(places.max(axis=(1, 2)))

    def _farthest(self, directions: Floats) -> tuple[Floats, Ints]:
        """Find the largest coordinate (d,) along directions (d, b, 4), and a point (d,) that has it.

        Directions are rows of the matrices of all bones.
        """
        # From the origin of one bone: the place in the world does not matter to the bounds.
        origin = directions[:, 0, 3]
        relative = directions.copy()
        relative[:, :, 3] -= origin[:, None]
        rounding, singles = self._rounding(relative, origin), relative.astype(np.float32)
        all_bounds = self._upper_bounds(singles)
        every = np.arange(len(directions))
        farthest, points = self._outermost(directions, every, self._likely_leaf(singles, all_bounds))
        row, node = np.nonzero((all_bounds >= (farthest - origin - rounding).astype(np.float32)).T)
        bounds = all_bounds[node, row]
        for level in self._levels[1:]:
            row, node = _children(row, node)
            bounds = level.upper_bounds(singles, row, node)
            kept = np.flatnonzero(bounds >= (farthest - origin - rounding)[row])
            row, node, bounds = row[kept], node[kept], bounds[kept]
        if not len(row):
            # Coordinates that are not numbers are beyond no bound.
            return farthest, points
        # The leaf with the largest bound of each row leaves few others.
        best = _first_largest(bounds, row)
        values, found = self._outermost(directions, row[best], node[best])
        _keep_farther(farthest, points, row[best], values, found)
        left = bounds >= (farthest - origin - rounding)[row]
        left[best] = False
        row, node = row[left], node[left]
        is_farther = self._farthest_of(directions, row, node) > farthest[row]
        row, node = row[is_farther], node[is_farther]
        _keep_farther(farthest, points, row, *self._outermost(directions, row, node))
        return farthest, points

    def _upper_bounds(self, directions: Singles) -> Singles:
        """Bound the coordinates (k, d) of all nodes of the first level along directions (d, b, 4)."""
        rows = np.ascontiguousarray(np.moveaxis(directions, 0, -1))
        turns, extents, offsets = rows[:, :3], np.abs(rows[:, :3]), rows[:, 3]
        parts = []
        for groups in self._top:
            farthest = np.empty((len(self._levels[0].bones), len(directions)), dtype=np.float32)
            for bone, nodes, center, half in groups:
                farthest[nodes] = center @ turns[bone] + half @ extents[bone] + offsets[bone]
            parts.append(farthest)
        first, *further = parts
        result = first.copy()
        for place, beyond in enumerate(further, start=1):
            # As in `Nodes.upper_bounds`.
            beyond -= first
            least = self._levels[0].least[:, place, None] * beyond
            beyond *= self._levels[0].most[:, place, None]
            result += np.maximum(least, beyond, out=least)
        return result

    def _rounding(self, directions: Floats, origin: Floats) -> Floats:
        """Bound the errors (d,) of bounds of single precision along directions (d, b, 4).

        The directions are from `origin` (d,), which is taken from exact coordinates: these are off by a few
        times 2^-52 of it.

        With u = 2^-24, each of the numbers is rounded by u of itself. The sum for one bone is off by at most
        16 u of the size here, because box and offset reach at most sqrt(3) of it. Each further bone of j adds
        the error of a difference, a product and a sum: 43 u at most, and 3.5 j u for the growing sum.
        """
        size = (length(directions[..., :3]) * self.balls.reach + np.abs(directions[..., 3])).max(axis=1)
        places = max(level.bones.shape[1] for level in self._levels)
        return np.asarray(places * (places + 24) * (2.0**-23 * size + 2.0**-50 * np.abs(origin)))

    def _likely_leaf(self, directions: Singles, all_bounds: Singles) -> Ints:
        """Leaf (d,) that may have the outermost point, with bounds (k, d) of the nodes of the first level."""
        row, node = np.arange(len(directions)), all_bounds.argmax(axis=0)
        for level in self._levels[1:]:
            every, children = _children(row, node)
            best = level.upper_bounds(directions, every, children).reshape(-1, CHILDREN).argmax(axis=1)
            node = node * CHILDREN + best
        return np.asarray(node)

    def _farthest_of(self, directions: Floats, row: Ints, leaf: Ints) -> Floats:
        """Largest coordinate (p,) of the points of leaves (p,) along directions at rows (p,)."""
        result, size = np.empty(len(leaf)), self._terms.shape[1]
        for part, coordinates in self._coordinates_of(directions, row, leaf):
            # Several times as fast as a maximum along an axis.
            result[part] = np.maximum.reduceat(coordinates, np.arange(0, len(coordinates), size))
        return result

    def _outermost(self, directions: Floats, row: Ints, leaf: Ints) -> tuple[Floats, Ints]:
        """Largest coordinate (p,) as `_farthest_of`, and the points (p,) that have it."""
        result, points = np.empty(len(leaf)), np.empty(len(leaf), dtype=np.int64)
        size = self._terms.shape[1]
        for part, coordinates in self._coordinates_of(directions, row, leaf):
            place = coordinates.reshape(-1, size).argmax(axis=1)
            result[part] = coordinates[np.arange(len(place)) * size + place]
            points[part] = leaf[part] * size + place
        return result, points

    def _coordinates_of(self, directions: Floats, row: Ints, leaf: Ints) -> Iterator[tuple[slice, Floats]]:
        """Iterate over parts of leaves (p,), with the coordinates of all their points along directions."""
        step = max(1, _NUMBERS // self._terms[0].size)
        for part in (slice(start, start + step) for start in range(0, len(leaf), step)):
            chosen = leaf[part]
            along = directions[row[part, None], self._levels[-1].bones[chosen]].reshape(len(chosen), -1, 1)
            # Not einsum, which rounds rows of equal numbers differently: what rests would seem to move.
            yield part, (self._terms[chosen] @ along).reshape(-1)


class RecentPoints:
    """Points (6,) that were outermost at times. The earliest added are forgotten."""

    def __init__(self) -> None:
        self._latest = self._earlier = (np.empty(0), np.empty((0, 6), dtype=np.int64))

    def add(self, times: Floats, points: Ints) -> None:
        """Add points (t, 6) at distinct times (t,)."""
        if len(self._latest[0]) > _MOST_TIMES:
            self._earlier = self._latest
            self._latest = (np.empty(0), np.empty((0, 6), dtype=np.int64))
        times = np.concatenate([times, self._latest[0]])
        _, first = np.unique(times, return_index=True)
        self._latest = times[first], np.concatenate([points, self._latest[1]])[first]

    def at(self, times: Floats) -> Ints:
        """Return the points (t, 6) at times (t,); -1 where they are not known."""
        result = np.full((len(times), 6), -1)
        for known, points in (self._earlier, self._latest):
            if len(known):
                place = np.minimum(np.searchsorted(known, times), len(known) - 1)
                is_known = known[place] == times
                result[is_known] = points[place[is_known]]
        return result


def _balls(bones: Ints, places: Floats) -> BoneBalls:
    """Balls around places (e, 3) of points, each in the space of its bone (e,)."""
    order = np.argsort(bones, kind="stable")
    places, starts = places[order], np.searchsorted(bones[order], np.arange(bones.max() + 1))
    counts = np.diff(np.append(starts, len(order)))
    center = (np.minimum.reduceat(places, starts) + np.maximum.reduceat(places, starts)) / 2
    radius = np.maximum.reduceat(length(places - np.repeat(center, counts, axis=0)), starts)
    return BoneBalls(center, radius, np.maximum.reduceat(length(places), starts))


def _first_largest(values: Singles, row: Ints) -> Ints:
    """Position of the first largest value of each row that occurs, of values (p,) ordered by row (p,)."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    counts = np.diff(np.append(starts, len(row)))
    largest = np.flatnonzero(values == np.maximum.reduceat(values, starts).repeat(counts))
    return np.asarray(largest[np.searchsorted(largest, starts)])


def _keep_farther(farthest: Floats, points: Ints, row: Ints, values: Floats, found: Ints) -> None:
    """Put values (p,) and their points (p,) into rows (p,) of (d,) where they are larger."""
    before = farthest[row]
    np.maximum.at(farthest, row, values)
    is_new = (values == farthest[row]) & (values > before)
    points[row[is_new]] = found[is_new]


def _children(row: Ints, node: Ints) -> tuple[Ints, Ints]:
    """Rows and nodes (p * CHILDREN,) of the children of nodes (p,) at rows (p,)."""
    children = node[:, None] * CHILDREN + np.arange(CHILDREN)
    return np.repeat(row, CHILDREN), children.reshape(-1)


_ROUNDING = 2.0**-20
"""Part of the size by which points that are outermost in single precision may fall short of the sides.

With u = 2^-24, a coordinate is off by at most 6 u of the size: three roundings of factors and products, and
three of their sum. The difference of two coordinates is off by twice that.
"""
BLOCK_POINTS = 1 << 14
"""Points of one body that are multiplied together.

Larger blocks do not fit the cache, and BLAS would use threads, which are slow while other programs run.
"""
_AXES = np.tile(np.arange(3), 2)
_SMALLEST, _LARGEST = 1e-30, 1e37
"""Sizes between which single precision neither loses digits nor overflows."""


def kinks_between(begin: Floats, end: Floats) -> Floats:
    """Bound how far the sides of boxes are from linear motion, by the points that are outermost at both ends.

    At the end, the point that is outermost at the begin falls short of the side by some length `a`, and at
    the begin the other one by `b`. So on the way, at a share `s` of the interval, the side is at most the
    smaller one of `s * a` and `(1 - s) * b` below its chord: `a * b / (a + b)`. If one point stays outermost,
    both are 0. Other points can only raise the side, which is convex.

    begin, end : (q, 2, k) float64. How far out two points are for each of k sides: those that are outermost
        at the begin, and those that are at the end.
    Returns deviations : (q,) float64. The largest of all sides. Conservative for points in linear motion,
        up to rounding.
    """
    after = np.maximum(end[:, 1] - end[:, 0], 0.0)
    before = np.maximum(begin[:, 0] - begin[:, 1], 0.0)
    both = after + before
    parts = np.divide(before, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray((after * parts).max(axis=1))


def outermost_points(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Find the points that are outermost on each side of the boxes around points under linear maps.

    In single precision, which `kinks_of_outermost` includes.

    points : (q, 3, p) float32. In columns, finite.
    linear : (q, 3, 3) float64. For column vectors.
    Returns outermost : (q, 3, 6) float64. In columns: of the minima along the axes, then of the maxima.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        world = linear.astype(np.float32) @ points
    places = np.concatenate([world.argmin(axis=2), world.argmax(axis=2)], axis=1)
    return np.take_along_axis(points, places[:, None], axis=2).astype(np.float64)


def outermost_of_one(points: NDArray[np.float32], linear: Floats) -> Floats:
    """Find those of the many points (3, p) of one body that are outermost under linear maps (q, 3, 3).

    The result (q, 3, 6) is that of `outermost_points`.
    """
    singles = linear.astype(np.float32)
    farthest = np.full((len(linear), 6), -np.inf, dtype=np.float32)
    places = np.zeros((len(linear), 6), dtype=np.int64)
    for start in range(0, points.shape[1], BLOCK_POINTS):
        block = np.ascontiguousarray(points[:, start : start + BLOCK_POINTS])
        world, found, values = np.empty_like(block), np.empty_like(places), np.empty_like(farthest)
        # One array for all maps: memory that is new takes longer than the product.
        with np.errstate(over="ignore", invalid="ignore"):
            for row, each in enumerate(singles):
                np.matmul(each, block, out=world)
                found[row, :3], found[row, 3:] = world.argmin(axis=1), world.argmax(axis=1)
                values[row] = world[_AXES, found[row]]
        values[:, :3] *= -1
        is_farther = values > farthest
        farthest[is_farther], places[is_farther] = values[is_farther], start + found[is_farther]
    return points[:, places].swapaxes(0, 1).astype(np.float64)


def kinks_of_outermost(outermost: tuple[Floats, Floats], begin: Floats, end: Floats, reach: Floats) -> Floats:
    """Bound how far sides of boxes around points in linear motion are from linear motion between two maps.

    outermost : (q, 3, 6) float64 twice. As `outermost_points` finds them at the begin, and at the end.
    begin, end : (q, 3, 3) float64. Maps for column vectors at both ends of an interval.
    reach : (q,) float64. Largest distance of the points from the origin.
    Returns deviations : (q,) float64. As `kinks_between`, of all six sides.
    """
    sides = [
        np.stack([_coordinates(linear, points) for points in outermost], axis=1) for linear in (begin, end)
    ]
    largest, change = (
        np.sqrt((each**2).sum(axis=(1, 2))) for each in (np.maximum(np.abs(begin), np.abs(end)), end - begin)
    )
    kinks = kinks_between(*sides) + _ROUNDING * largest * reach
    # A quarter of the difference of any two points' changes, which is at most twice what one changes.
    size = largest * reach
    return np.where((size > _SMALLEST) & (size < _LARGEST), kinks, change * reach / 2)


def _coordinates(linear: Floats, outermost: Floats) -> Floats:
    """Compute how far out points (q, 3, 6) are under maps (q, 3, 3), each toward its side (q, 6)."""
    rows = np.concatenate([-linear, linear], axis=1)
    x, y, z = (rows[..., axis] * outermost[:, axis] for axis in range(3))
    return np.asarray(x + y + z)
