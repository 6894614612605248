"""Points that several bones carry, each by a share: linear blend skinning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..curves.bezier import Singles
from ..numeric.arrays import Floats, Ints, length
from .box_deviations import BoneBalls

_LEAF = 32
"""Points of a smallest node, at most."""
_HALVINGS = 2
"""Times that a node is halved from one level of the tree to the next."""
_CHILDREN = 1 << _HALVINGS
_TOP = 256
"""Nodes of the first level, at most."""
_NUMBERS = 1 << 21
"""Numbers of the terms of leaves that are copied at once: 16 MB."""
_DIRECTIONS = 384
"""Directions that are computed together: few enough for the caches of a processor."""


class _Nodes(NamedTuple):
    """Nodes (k,) of points, and what bounds them: a box in the space of each bone (j,) that carries any.

    Nodes with fewer bones have further ones with a share of 0. Bounds are of single precision, because
    copying them takes most of the time: see `BlendedPoints._rounding`.

    Attributes
    ----------
    bones : (k, j) int64
    center, half : (k, j, 3) float32
        Box around the places of the points of a node that a bone carries, in the space of the bone.
    least, most : (k, j) float32
        Smallest and largest share of each bone, among all points of a node.
    """

    bones: Ints
    center: Singles
    half: Singles
    least: Singles
    most: Singles

    def upper_bounds(self, directions: Singles, row: Ints, node: Ints) -> Singles:
        """Bound the coordinates (p,) of nodes (p,) along directions (d, b, 4) at rows (p,)."""
        along, center, half = directions[row[:, None], self.bones[node]], self.center[node], self.half[node]
        farthest: Singles = along[..., 3].copy()
        # Axis by axis: NumPy is slow at sums of few numbers.
        for axis in range(3):
            turn = along[..., axis]
            farthest += turn * center[..., axis]
            farthest += np.abs(turn) * half[..., axis]
        # The shares are 1 in sum, so only differences from one of the bones count.
        first = farthest[:, 0]
        result, least, most = first.copy(), self.least[node], self.most[node]
        for place in range(1, farthest.shape[1]):
            beyond = farthest[:, place] - first
            result += np.maximum(least[:, place] * beyond, most[:, place] * beyond)
        return result

    def all_upper_bounds(self, directions: Singles) -> Singles:
        """Bound the coordinates (k, d) of all nodes along directions (d, b, 4)."""
        rows = np.ascontiguousarray(np.moveaxis(directions, 0, -1))
        turns, offsets = rows[:, :3], rows[:, 3]
        extents = np.abs(turns)
        first: Singles = np.empty((0, 0), dtype=np.float32)
        result = first
        for place in range(self.bones.shape[1]):
            farthest = np.empty((len(self.bones), len(directions)), dtype=np.float32)
            for bone in np.unique(self.bones[:, place]).tolist():
                nodes = np.flatnonzero(self.bones[:, place] == bone)
                of_bone = self.center[nodes, place] @ turns[bone]
                of_bone += self.half[nodes, place] @ extents[bone]
                farthest[nodes] = of_bone + offsets[bone]
            if place == 0:
                first, result = farthest, farthest.copy()
                continue
            beyond = np.subtract(farthest, first, out=farthest)
            least = self.least[:, place, None] * beyond
            beyond *= self.most[:, place, None]
            result += np.maximum(least, beyond, out=least)
        return result


class PointBoxes(NamedTuple):
    """Boxes around all points, with the matrices (q, b, 4, 4) of all bones.

    Attributes
    ----------
    low, high : (q, 3) float64
        Minima and maxima.
    outermost : (q, 6) int64
        A point on each side, those of the minima first: for `BlendedPoints.coordinates`.
    """

    low: Floats
    high: Floats
    outermost: Ints


class BlendedPoints:
    """Points (n,), each at the mean of its places in the spaces of some bones (j,), weighted by shares.

    Attributes
    ----------
    count : int
        Number of points.
    balls : BoneBalls
        Around the places of the points that each bone carries.
    """

    def __init__(self, bones: Ints, shares: Floats, places: Floats, rest: Floats) -> None:
        """Build a tree of points.

        Parameters
        ----------
        bones : (n, j) int64
            Bones that carry each point, 0 to b - 1, each of which carries one; any where the share is 0.
        shares : (n, j) float64
            Not negative; 1 in sum.
        places : (n, j, 3) float64
            Place of each point in the space of each of its bones.
        rest : (n, 3) float64
            Places of the points in any one space: neighbors become neighbors in the tree.
        """
        self.count = len(rest)
        self.balls = _balls(bones[shares > 0], places[shares > 0])
        depth = max(0, int(np.ceil(np.log2(max(len(rest), 1) / _LEAF))))
        order = _tree_order(rest, depth)
        shape = (1 << depth, -1, bones.shape[1])
        self._place_of = np.empty(len(rest), dtype=np.int64)
        self._place_of[order] = np.arange(len(order))
        bones = bones[order].reshape(shape)
        shares, places = shares[order].reshape(shape), places[order].reshape(*shape, 3)
        self._levels, terms = _levels(bones, shares, places)
        # Of each leaf (l,), for each of its points (s,): the share of each of its bones times a place.
        self._terms = terms.reshape(*terms.shape[:2], -1)

    def boxes(self, matrices: Floats) -> PointBoxes:
        """Compute the boxes around all points, with matrices (q, b, 4, 4) of all bones.

        The tree skips nodes that cannot have an extreme point, so the result is that of all points.
        """
        rows = matrices[:, :, :3].transpose(0, 2, 1, 3)
        directions = np.concatenate([-rows, rows], axis=1).reshape(-1, *rows.shape[2:])
        farthest, points = np.empty(len(directions)), np.empty(len(directions), dtype=np.int64)
        for start in range(0, len(directions), _DIRECTIONS):
            part = slice(start, start + _DIRECTIONS)
            farthest[part], points[part] = self._farthest(directions[part])
        sides = farthest.reshape(-1, 2, 3)
        return PointBoxes(-sides[:, 0], sides[:, 1], points.reshape(-1, 6))

    def coordinates(self, matrices: Floats, points: Ints) -> Floats:
        """Compute how far out points (q, k, 6) are, each toward its side: as `PointBoxes` has them.

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
        leaf, place = np.divmod(self._place_of[points], self._terms.shape[1])
        bones = self._levels[-1].bones[leaf]
        terms = self._terms[leaf, place].reshape(*bones.shape, 4)
        return np.asarray(np.einsum("njik,njk->ni", matrices[bones, :3], terms))

    def _farthest(self, directions: Floats) -> tuple[Floats, Ints]:
        """Find the largest coordinate (d,) along directions (d, b, 4), and a point (d,) that has it.

        Directions are rows of the matrices of all bones.
        """
        # From the origin of one bone: the place in the world does not matter to the bounds.
        origin = directions[:, 0, 3]
        relative = directions.copy()
        relative[:, :, 3] -= origin[:, None]
        rounding, singles = self._rounding(relative), relative.astype(np.float32)
        all_bounds = self._levels[0].all_upper_bounds(singles)
        every = np.arange(len(directions))
        farthest, points = self._outermost(directions, every, self._likely_leaf(singles, all_bounds))
        row, node = np.nonzero((all_bounds >= (farthest - origin - rounding).astype(np.float32)).T)
        bounds = all_bounds[node, row]
        for level in self._levels[1:]:
            row, node = _children(row, node)
            bounds = level.upper_bounds(singles, row, node)
            kept = np.flatnonzero(bounds >= (farthest - origin - rounding)[row])
            row, node, bounds = row[kept], node[kept], bounds[kept]
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

    def _rounding(self, directions: Floats) -> Floats:
        """Bound the errors (d,) of bounds of single precision along directions (d, b, 4).

        With u = 2^-24, each of the numbers is rounded by u of itself. The sum for one bone is off by at most
        16 u of the size here, because box and offset reach at most sqrt(3) of it. Each further bone of j adds
        the error of a difference, a product and a sum: 43 u at most, and 3.5 j u for the growing sum.
        """
        size = (length(directions[..., :3]) * self.balls.reach + np.abs(directions[..., 3])).max(axis=1)
        places = max(level.bones.shape[1] for level in self._levels)
        return np.asarray(places * (places + 24) * 2.0**-23 * size)

    def _likely_leaf(self, directions: Singles, all_bounds: Singles) -> Ints:
        """Leaf (d,) that may have the outermost point, with bounds (k, d) of the nodes of the first level."""
        row, node = np.arange(len(directions)), all_bounds.argmax(axis=0)
        for level in self._levels[1:]:
            every, children = _children(row, node)
            best = level.upper_bounds(directions, every, children).reshape(-1, _CHILDREN).argmax(axis=1)
            node = node * _CHILDREN + best
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


def _balls(bones: Ints, places: Floats) -> BoneBalls:
    """Balls around places (e, 3) of points, each in the space of its bone (e,)."""
    order = np.argsort(bones, kind="stable")
    places, starts = places[order], np.searchsorted(bones[order], np.arange(bones.max() + 1))
    counts = np.diff(np.append(starts, len(order)))
    center = (np.minimum.reduceat(places, starts) + np.maximum.reduceat(places, starts)) / 2
    radius = np.maximum.reduceat(length(places - np.repeat(center, counts, axis=0)), starts)
    return BoneBalls(center, radius, np.maximum.reduceat(length(places), starts))


def _first_largest(values: Singles, row: Ints) -> Ints:
    """Position (d,) of the first largest value of each row (d,), of values (p,) ordered by row (p,)."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    largest = np.flatnonzero(values == np.maximum.reduceat(values, starts)[row])
    return np.asarray(largest[np.searchsorted(largest, starts)])


def _keep_farther(farthest: Floats, points: Ints, row: Ints, values: Floats, found: Ints) -> None:
    """Put values (p,) and their points (p,) into rows (p,) of (d,) where they are larger."""
    before = farthest[row]
    np.maximum.at(farthest, row, values)
    is_new = (values == farthest[row]) & (values > before)
    points[row[is_new]] = found[is_new]


def _children(row: Ints, node: Ints) -> tuple[Ints, Ints]:
    """Rows and nodes (p * CHILDREN,) of the children of nodes (p,) at rows (p,)."""
    children = node[:, None] * _CHILDREN + np.arange(_CHILDREN)
    return np.repeat(row, _CHILDREN), children.reshape(-1)


def _tree_order(rest: Floats, depth: int) -> Ints:
    """Order (m,) of points (n, 3) in which equally many are the leaves of a tree; some points repeat."""
    size = -(-len(rest) // (1 << depth))
    order: Ints = np.minimum(np.arange(size << depth), len(rest) - 1)
    coordinates = np.ascontiguousarray(rest.T, dtype=np.float32)
    for level in range(depth):
        groups = order.reshape(1 << level, -1)
        points = coordinates[:, order]
        # Ten times as fast as `max` along an axis of any other layout.
        starts = np.arange(0, len(order), groups.shape[1])
        low, high = (each.reduceat(points, starts, axis=1) for each in (np.minimum, np.maximum))
        axis = (high - low).argmax(axis=0)
        along = coordinates[axis[:, None], groups]
        halves = along.argpartition(groups.shape[1] // 2, axis=1)
        order = np.asarray(np.take_along_axis(groups, halves, axis=1).reshape(-1))
    return order


class _Pairs(NamedTuple):
    """Pairs (e,) of a node and a bone that carries some of its points."""

    node: Ints
    bone: Ints
    low: Floats
    high: Floats
    least: Floats
    most: Floats

    def joined(self, bones: int, members: int) -> tuple[_Pairs, Ints]:
        """Join pairs of the same node and bone, and return which of the joined ones each (e,) is part of.

        The least share is 0 unless all members of a node have it.
        """
        key = self.node * bones + self.bone
        order = np.argsort(key, kind="stable")
        key = key[order]
        starts = np.flatnonzero(np.append(True, key[1:] != key[:-1]))
        counts = np.diff(np.append(starts, len(key)))
        joined_of = np.empty(len(key), dtype=np.int64)
        joined_of[order] = np.repeat(np.arange(len(starts)), counts)
        least = np.minimum.reduceat(self.least[order], starts)
        joined = _Pairs(
            key[starts] // bones,
            key[starts] % bones,
            np.minimum.reduceat(self.low[order], starts),
            np.maximum.reduceat(self.high[order], starts),
            np.where(counts == members, least, 0.0),
            np.maximum.reduceat(self.most[order], starts),
        )
        return joined, joined_of

    def places(self) -> Ints:
        """Return the place (e,) of each bone among those of its node, of joined pairs."""
        starts = np.flatnonzero(np.append(True, self.node[1:] != self.node[:-1]))
        return np.arange(len(self.node)) - np.repeat(starts, np.diff(np.append(starts, len(self.node))))

    def nodes(self) -> _Nodes:
        """Return all nodes, each with as many bones as the one with the most."""
        place = self.places()
        shape = (int(self.node[-1]) + 1, int(place.max()) + 1)
        bones = np.zeros(shape, dtype=np.int64)
        boxes, shares = np.zeros((2, *shape, 3), dtype=np.float32), np.zeros((2, *shape), dtype=np.float32)
        result = _Nodes(bones, *boxes, *shares)
        cell = self.node, place
        result.bones[cell], result.center[cell] = self.bone, (self.low + self.high) / 2
        result.half[cell] = (self.high - self.low) / 2
        result.least[cell], result.most[cell] = self.least, self.most
        return result


def _levels(bones: Ints, shares: Floats, places: Floats) -> tuple[list[_Nodes], Floats]:
    """Levels of the tree with leaves (l, s) of points, and terms (l, s, k, 4) of the bones of each leaf.

    The level with the fewest nodes is the first. The terms are what `_farthest_of` multiplies.
    """
    cells = np.nonzero(shares > 0)
    leaf, point, _ = cells
    count = int(bones.max()) + 1
    place, share = places[cells], shares[cells]
    pairs, pair_of = _Pairs(leaf, bones[cells], place, place, share, share).joined(count, bones.shape[1])
    levels = [pairs.nodes()]
    terms = np.zeros((*bones.shape[:2], levels[0].bones.shape[1], 4))
    of_bone = pairs.places()[pair_of]
    terms[leaf, point, of_bone, :3] = place * share[:, None]
    terms[leaf, point, of_bone, 3] = share
    while len(levels[0].bones) > _TOP:
        pairs, _ = pairs._replace(node=pairs.node // _CHILDREN).joined(count, _CHILDREN)
        levels.insert(0, pairs.nodes())
    return levels, terms
