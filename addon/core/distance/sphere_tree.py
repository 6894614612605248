"""Distances between a sphere tree and a shape, or two sphere trees.

Space: results are in the space and unit of the shapes, (...) for batches of poses and shapes that broadcast.

Sign: separation is the minimum over the leaves, because a tree is their union; negative where they overlap.

Guarantee: exact like the method of spheres, which solves the leaf that a branch-and-bound traversal finds.
On ties of rounding, any of the closest leaves may be found.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, dot, length
from ..shapes import Aabb, Obb, Segment, Shape, Sphere, Triangle
from ..trees.sphere_tree import PosedNodes, SphereTree
from ..trees.traversal import SINGLE_NODE, NodePairs, find_best_leaf_pairs, hit_bounds
from . import sphere as spheres
from .witness import WitnessPoints

_ROUNDING = 64 * np.finfo(np.float64).eps
"""Relative rounding error of a distance, in units of the coordinates that it comes from."""


class SpherePair(NamedTuple):
    """The functions for a sphere and one other type of shape."""

    separation: Callable[[Any, Any], Floats]
    overlaps: Callable[[Any, Any], Bools]
    witness: Callable[[Any, Any], WitnessPoints]


SPHERE_PAIRS: dict[type, SpherePair] = {
    Sphere: SpherePair(
        spheres.separation_sphere_sphere, spheres.overlaps_sphere_sphere, spheres.witness_points_sphere_sphere
    ),
    Segment: SpherePair(
        spheres.separation_sphere_segment,
        spheres.overlaps_sphere_segment,
        spheres.witness_points_sphere_segment,
    ),
    Triangle: SpherePair(
        spheres.separation_sphere_triangle,
        spheres.overlaps_sphere_triangle,
        spheres.witness_points_sphere_triangle,
    ),
    Aabb: SpherePair(
        spheres.separation_sphere_aabb, spheres.overlaps_sphere_aabb, spheres.witness_points_sphere_aabb
    ),
    Obb: SpherePair(
        spheres.separation_sphere_obb, spheres.overlaps_sphere_obb, spheres.witness_points_sphere_obb
    ),
}


def separation_tree_shape(tree: SphereTree, shape: Shape) -> Floats:
    """Minimum separation of a leaf, (...); inf where every leaf is behind a one-sided triangle."""
    leaf = _leaf_spheres(tree, nearest_leaves(tree, shape))
    return SPHERE_PAIRS[type(shape)].separation(leaf, shape)


def witness_points_tree_shape(tree: SphereTree, shape: Shape) -> WitnessPoints:
    """Witness points of the leaf of minimum separation, the nearest or the deepest; on ties of the first.

    The minimum translation made from them separates that leaf. Others may still overlap, and then need
    another.
    """
    leaf = _leaf_spheres(tree, nearest_leaves(tree, shape))
    return SPHERE_PAIRS[type(shape)].witness(leaf, shape)


def overlaps_tree_shape(tree: SphereTree, shape: Shape) -> Bools:
    """Decide which poses have a leaf that overlaps the shape, (...) bool."""
    batch, nodes, shape_rows, flat, slack = _flattened(tree, shape)
    overlaps, either_side = SPHERE_PAIRS[type(shape)].overlaps, _two_sided(flat)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        at, other = nodes.rows(rows.element, rows.a), shape_rows[rows.element]
        around = Sphere.unchecked(nodes.center[at], nodes.reach[at] + slack[rows.element])
        touches = overlaps(around, either_side[other])
        is_hit = np.zeros_like(touches)
        ends = np.flatnonzero(touches & (tree.children[rows.a, 0] < 0))
        leaf = Sphere.unchecked(nodes.center[at[ends]], nodes.radius[at[ends]])
        is_hit[ends] = overlaps(leaf, flat[other[ends]])
        return hit_bounds(touches, is_hit)

    def values(elements: Ints) -> Floats:
        is_hit = overlaps(nodes.leaf_spheres(elements), flat[shape_rows[elements], None])
        return np.where(is_hit, -1.0, np.inf)

    leaf, _ = find_best_leaf_pairs(len(shape_rows), tree.children, SINGLE_NODE, bounds, values)
    return np.asarray((leaf >= 0).reshape(batch))


def nearest_leaves(tree: SphereTree, shape: Shape) -> Ints:
    """Leaves of minimum separation from the shape, (...) int64 indices of nodes; on ties the first."""
    batch, nodes, shape_rows, flat, slack = _flattened(tree, shape)
    separation, either_side = SPHERE_PAIRS[type(shape)].separation, _two_sided(flat)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        at, other = nodes.rows(rows.element, rows.a), shape_rows[rows.element]
        center = nodes.center[at]
        distance = separation(Sphere.unchecked(center, np.zeros(len(at))), either_side[other])
        low, high = distance - nodes.reach[at] - slack[rows.element], distance - nodes.core[at]
        if isinstance(flat, Triangle) and flat.one_sided:
            # Leaves are in front if their centers are.
            triangle = flat[other]
            height = dot(center - triangle.a, triangle.normal)
            spread = np.where(tree.children[rows.a, 0] < 0, 0.0, nodes.reach[at] + slack[rows.element])
            low, high = np.where(height < -spread, np.inf, low), np.where(height < spread, np.inf, high)
        return low, high

    def values(elements: Ints) -> Floats:
        return separation(nodes.leaf_spheres(elements), flat[shape_rows[elements], None])

    leaf, _ = find_best_leaf_pairs(len(shape_rows), tree.children, SINGLE_NODE, bounds, values)
    # Where every leaf is behind a triangle, return the first one.
    return np.where(leaf < 0, tree.leaves[0], leaf).reshape(batch)


def separation_tree_tree(a: SphereTree, b: SphereTree) -> Floats:
    """Minimum separation of a leaf of one tree and a leaf of the other, (...)."""
    on_a, on_b = nearest_leaf_pairs(a, b)
    return spheres.separation_sphere_sphere(_leaf_spheres(a, on_a), _leaf_spheres(b, on_b))


def witness_points_tree_tree(a: SphereTree, b: SphereTree) -> WitnessPoints:
    """Witness points of the pair of leaves of minimum separation; see `witness_points_tree_shape`."""
    on_a, on_b = nearest_leaf_pairs(a, b)
    return spheres.witness_points_sphere_sphere(_leaf_spheres(a, on_a), _leaf_spheres(b, on_b))


def overlaps_tree_tree(a: SphereTree, b: SphereTree) -> Bools:
    """Decide where a leaf of one tree overlaps a leaf of the other, (...) bool."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = a.posed(batch), b.posed(batch)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        at, other = first.rows(rows.element, rows.a), second.rows(rows.element, rows.b)
        ends = (a.children[rows.a, 0] < 0) & (b.children[rows.b, 0] < 0)
        touches = spheres.overlaps_sphere_sphere(
            Sphere.unchecked(first.center[at], np.where(ends, first.radius[at], first.reach[at])),
            Sphere.unchecked(second.center[other], np.where(ends, second.radius[other], second.reach[other])),
        )
        return hit_bounds(touches, touches & ends)

    def values(elements: Ints) -> Floats:
        is_hit = spheres.overlaps_sphere_sphere(*_all_leaf_pairs(first, second, elements))
        return np.where(is_hit, -1.0, np.inf)

    leaf, _ = find_best_leaf_pairs(math.prod(batch), a.children, b.children, bounds, values)
    return np.asarray((leaf >= 0).reshape(batch))


def nearest_leaf_pairs(a: SphereTree, b: SphereTree) -> tuple[Ints, Ints]:
    """Pairs of leaves of minimum separation: (...) int64 indices of nodes of each tree."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = a.posed(batch), b.posed(batch)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        at, other = first.rows(rows.element, rows.a), second.rows(rows.element, rows.b)
        distance = length(second.center[other] - first.center[at])
        reach, core = first.reach[at] + second.reach[other], first.core[at] + second.core[other]
        return distance - reach - _ROUNDING * (distance + reach), distance - core

    def values(elements: Ints) -> Floats:
        return spheres.separation_sphere_sphere(*_all_leaf_pairs(first, second, elements))

    on_a, on_b = find_best_leaf_pairs(math.prod(batch), a.children, b.children, bounds, values)
    return on_a.reshape(batch), on_b.reshape(batch)


class _FlatPair(NamedTuple):
    """A tree and a shape, broadcast to one batch and flattened.

    Attributes
    ----------
    batch : tuple of int
        The batch, of n elements.
    nodes : PosedNodes
        Nodes of all poses of the tree.
    shape_rows : (n,) int64
        The element of `shape` (k,) that belongs to each element of the batch.
    shape : Shape, batch (k,)
    slack : (n,) float64
        Upper bound of the rounding error of a distance between the two.
    """

    batch: tuple[int, ...]
    nodes: PosedNodes
    shape_rows: Ints
    shape: Any
    slack: Floats


def _flattened(tree: SphereTree, shape: Shape) -> _FlatPair:
    """Broadcast a tree and a shape to one batch, without copying either for each element."""
    batch = np.broadcast_shapes(tree.shape, shape.shape)
    nodes, flat = tree.posed(batch), shape.reshaped((-1,))
    shape_rows = np.broadcast_to(np.arange(math.prod(shape.shape)).reshape(shape.shape), batch).ravel()
    box = flat.aabb()
    size = np.maximum(np.abs(box.min), np.abs(box.max)).max(axis=-1)
    return _FlatPair(batch, nodes, shape_rows, flat, _ROUNDING * (size[shape_rows] + nodes.size))


def _all_leaf_pairs(first: PosedNodes, second: PosedNodes, elements: Ints) -> tuple[Sphere, Sphere]:
    """Leaves of elements (k,), (k, leaves of a, 1) and (k, 1, leaves of b), which broadcast to all pairs."""
    return first.leaf_spheres(elements)[:, :, None], second.leaf_spheres(elements)[:, None]


def _two_sided(shape: Any) -> Any:
    """Make triangles two-sided: the center of a node may be behind a triangle that a leaf is in front of."""
    if isinstance(shape, Triangle) and shape.one_sided:
        return Triangle(shape.a, shape.b, shape.c)
    return shape


def _leaf_spheres(tree: SphereTree, leaves: Ints) -> Sphere:
    """Spheres (...) of one leaf (...) for each element of a batch to which the poses broadcast."""
    nodes = tree.posed(leaves.shape)
    at = nodes.rows(np.arange(leaves.size), leaves.ravel())
    return Sphere.unchecked(nodes.center[at], nodes.radius[at]).reshaped(leaves.shape)
