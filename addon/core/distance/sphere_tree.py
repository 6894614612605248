"""The leaf of a sphere tree that is nearest to a shape, and the nearest leaves of two sphere trees.

A tree is the union of its leaves, so each distance of a tree is that of its leaf of minimum separation, the
nearest or the deepest one.

Guarantee: exact like the method of spheres. On ties of rounding, any of the closest leaves may be found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numeric.arrays import CHUNK_ROWS, Floats, Ints, length
from ..numeric.tolerances import DISTANCE_ROUNDING, EPS
from ..shapes import Sphere, concatenated
from ..trees.sphere_tree import SphereTree, inner_nodes_upward
from ..trees.traversal import NodePairs, find_candidate_leaf_pairs

_ELEMENTS_AT_ONCE = 2048
"""Pairs of trees traversed together: frontiers of more do not fit the cache."""


def nearest_leaves(tree: SphereTree, shape: Any, separation: Callable[[Any, Any], Floats]) -> Sphere:
    """Find the leaf of minimum separation from a shape; on ties the first.

    tree : Any poses.
    shape : Its batch broadcasts against that of the poses.
    separation : Signed distance of spheres and such shapes.
    Returns leaf : Sphere, batch (...)
    """
    batch = np.broadcast_shapes(tree.shape, shape.shape)
    pose, other = _places(tree.shape, batch), _places(shape.shape, batch)
    leaves = tree.reshaped((-1,)).leaf_spheres
    flat = shape.reshaped((-1,)) if shape.shape else shape
    found = [Sphere.unchecked(np.empty((0, 3)), np.empty(0))]
    step = max(1, CHUNK_ROWS // leaves.shape[1])
    for start in range(0, len(pose), step):
        rows = slice(start, start + step)
        spheres = leaves[pose[rows]]
        near = separation(spheres, flat[other[rows], None] if shape.shape else shape).argmin(axis=1)
        found.append(spheres[np.arange(len(near)), near])
    return concatenated(*found).reshaped(batch)


def nearest_leaf_pairs(a: SphereTree, b: SphereTree) -> tuple[Sphere, Sphere]:
    """Find the leaves of two trees with minimum separation, by dual-tree traversal.

    a, b : Batches broadcast.
    Returns on_a, on_b : Sphere, batch (...). On ties, the first leaf of `a`, then of `b`.
    """
    batch = np.broadcast_shapes(a.shape, b.shape)
    pose_a, pose_b = _places(a.shape, batch), _places(b.shape, batch)
    first, second = reach_and_core(a), reach_and_core(b)
    flat_a, flat_b = a.reshaped((-1,)).spheres, b.reshaped((-1,)).spheres

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        at_a, at_b = (pose_a[rows.element], rows.a), (pose_b[rows.element], rows.b)
        distance = length(flat_b.center[at_b] - flat_a.center[at_a])
        (reach_a, core_a), (reach_b, core_b) = first, second
        reach, core = reach_a[at_a] + reach_b[at_b], core_a[at_a] + core_b[at_b]
        return distance - reach - DISTANCE_ROUNDING * (distance + reach), distance - core

    leaf_a, leaf_b = np.empty(len(pose_a), dtype=np.int64), np.empty(len(pose_a), dtype=np.int64)
    for start in range(0, len(pose_a), _ELEMENTS_AT_ONCE):
        elements = np.arange(start, min(start + _ELEMENTS_AT_ONCE, len(pose_a)))
        pairs, value = find_candidate_leaf_pairs(elements, a.children, b.children, bounds)
        # Assign in descending order, so that the best pair of an element is written last.
        pairs = pairs.take(np.lexsort((pairs.b, pairs.a, value))[::-1])
        leaf_a[pairs.element], leaf_b[pairs.element] = pairs.a, pairs.b
    return flat_a[pose_a, leaf_a].reshaped(batch), flat_b[pose_b, leaf_b].reshaped(batch)


def _places(shape: tuple[int, ...], batch: tuple[int, ...]) -> Ints:
    """Places (n,) in a flat batch of this shape of the elements of the batch to which it broadcasts."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), batch).ravel()


def reach_and_core(tree: SphereTree) -> tuple[Floats, Floats]:
    """Compute radii (p, m) around nodes of all poses that enclose all leaves below, and that a leaf encloses.

    The sphere of a node encloses its triangles, but not always the spheres below it, which bulge out between
    the triangles. The second radius is negative if the center is outside of all leaves.
    """
    flat = tree.reshaped((-1,))
    reach, core = flat.radius.copy(), flat.radius.copy()
    for nodes, left, right in inner_nodes_upward(tree.children):
        children = np.stack([left, right], axis=1)
        distance = length(flat.center[:, children] - flat.center[:, nodes, None])
        farthest, inner = distance + reach[:, children], core[:, children] - distance
        reach[:, nodes] = farthest.max(axis=-1) * (1 + 4 * EPS)
        core[:, nodes] = inner.max(axis=-1) - 4 * EPS * farthest.max(axis=-1)
    return reach, core
