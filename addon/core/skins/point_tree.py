"""Levels of a tree of points that bones carry, with what bounds the points of each node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, Singles

_HALVINGS = 2
"""Times that a node is halved from one level of the tree to the next."""
CHILDREN = 1 << _HALVINGS
"""Nodes of a level that are parts of one node of the level before."""
_TOP = 256
"""Nodes of the first level, at most."""


class Nodes(NamedTuple):
    """Nodes (k,) of points, and what bounds them: a box in the space of each bone (j,) that carries any.

    Nodes with fewer bones have further ones with a share of 0. Bounds are of single precision, because
    copying them takes most of the time: see `BlendedPoints._rounding`.

    bones : (k, j) int64
    center, half : (k, j, 3) float32. Box around the places of the points of a node that a bone carries, in
        the space of the bone.
    least, most : (k, j) float32. Smallest and largest share of each bone, among all points of a node.
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


def nodes_by_bone(nodes: Nodes) -> list[list[tuple[int, Ints, Singles, Singles]]]:
    """Group nodes by their bone at each place (j): the bone, its nodes (m,), their centers and half sizes."""
    places = []
    for place, bones in enumerate(nodes.bones.T):
        groups = [(bone, np.flatnonzero(bones == bone)) for bone in np.unique(bones).tolist()]
        places.append([(bone, at, nodes.center[at, place], nodes.half[at, place]) for bone, at in groups])
    return places


def tree_order(rest: Floats, depth: int) -> Ints:
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
        along = coordinates[(high - low).argmax(axis=0)[:, None], groups]
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

    def nodes(self) -> Nodes:
        """Return all nodes, each with as many bones as the one with the most."""
        place = self.places()
        shape = (int(self.node[-1]) + 1, int(place.max()) + 1)
        bones = np.zeros(shape, dtype=np.int64)
        boxes, shares = np.zeros((2, *shape, 3), dtype=np.float32), np.zeros((2, *shape), dtype=np.float32)
        result = Nodes(bones, *boxes, *shares)
        cell = self.node, place
        result.bones[cell], result.center[cell] = self.bone, (self.low + self.high) / 2
        result.half[cell] = (self.high - self.low) / 2
        result.least[cell], result.most[cell] = self.least, self.most
        return result


def tree_levels(bones: Ints, shares: Floats, places: Floats) -> tuple[list[Nodes], Floats]:
    """Levels of the tree with leaves (l, s) of points, and terms (l, s, k, 4) of the bones of each leaf.

    The level with the fewest nodes is the first. The terms are what `BlendedPoints` multiplies.
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
        pairs, _ = pairs._replace(node=pairs.node // CHILDREN).joined(count, CHILDREN)
        levels.insert(0, pairs.nodes())
    return levels, terms
