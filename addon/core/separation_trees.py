"""A sphere tree and another shape, or another tree, at rest: the answers of the nearest leaf.

A tree is the union of its leaves. Its separation from something is the least of theirs, found by going down
the tree with bounds; the leaf that decides then answers by the method of spheres, as exactly as that does.
Batches of poses and of the other shape broadcast against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import separation_spheres as spheres
from .arrays import Bools, Floats, Ints, dot, length
from .shapes import Aabb, Obb, Segment, Shape, Sphere, Triangle
from .sphere_tree import PosedNodes, SphereTree
from .tree_descent import NO_TREE, Rows, best_leaves, found
from .witness import WitnessPoints

_ROUNDING = 64 * np.finfo(np.float64).eps
"""What a distance may be off by, against the coordinates that it comes from."""


class SpherePair(NamedTuple):
    """The methods of a sphere with one other kind of shape."""

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
    """The least separation of a leaf, (...); inf where every leaf is behind a one-sided triangle."""
    leaf = _leaf_spheres(tree, nearest_leaves(tree, shape))
    return SPHERE_PAIRS[type(shape)].separation(leaf, shape)


def witness_points_tree_shape(tree: SphereTree, shape: Shape) -> WitnessPoints:
    """Those of the leaf of least separation, of equals the first: the nearest leaf, or the deepest.

    A minimum translation made from them frees that leaf; others may still overlap, and it takes another.
    """
    leaf = _leaf_spheres(tree, nearest_leaves(tree, shape))
    return SPHERE_PAIRS[type(shape)].witness(leaf, shape)


def overlaps_tree_shape(tree: SphereTree, shape: Shape) -> Bools:
    """Whether some leaf overlaps the shape, (...)."""
    batch, nodes, others, flat, slack = _flat(tree, shape)
    overlaps, either_side = SPHERE_PAIRS[type(shape)].overlaps, _two_sided(flat)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        at, other = nodes.rows(rows.element, rows.a), others[rows.element]
        around = Sphere.trusted(nodes.center[at], nodes.reach[at] + slack[rows.element])
        touches = overlaps(around, either_side[other])
        is_hit = np.zeros_like(touches)
        ends = np.flatnonzero(touches & (tree.children[rows.a, 0] < 0))
        leaf = Sphere.trusted(nodes.center[at[ends]], nodes.radius[at[ends]])
        is_hit[ends] = overlaps(leaf, flat[other[ends]])
        return found(touches, is_hit)

    def values(elements: Ints) -> Floats:
        is_hit = overlaps(nodes.leaf_spheres(elements), flat[others[elements], None])
        return np.where(is_hit, -1.0, np.inf)

    leaf, _ = best_leaves(len(others), tree.children, NO_TREE, bounds, values)
    return np.asarray((leaf >= 0).reshape(batch))


def nearest_leaves(tree: SphereTree, shape: Shape) -> Ints:
    """The leaf of least separation from the shape, of equals the first; (...) int64 indices of nodes."""
    batch, nodes, others, flat, slack = _flat(tree, shape)
    separation, either_side = SPHERE_PAIRS[type(shape)].separation, _two_sided(flat)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        at, other = nodes.rows(rows.element, rows.a), others[rows.element]
        center = nodes.center[at]
        distance = separation(Sphere.trusted(center, np.zeros(len(at))), either_side[other])
        low, high = distance - nodes.reach[at] - slack[rows.element], distance - nodes.core[at]
        if isinstance(flat, Triangle) and flat.one_sided:
            # Leaves are in front where their centres are.
            triangle = flat[other]
            height = dot(center - triangle.a, triangle.normal)
            spread = np.where(tree.children[rows.a, 0] < 0, 0.0, nodes.reach[at] + slack[rows.element])
            low, high = np.where(height < -spread, np.inf, low), np.where(height < spread, np.inf, high)
        return low, high

    def values(elements: Ints) -> Floats:
        return separation(nodes.leaf_spheres(elements), flat[others[elements], None])

    leaf, _ = best_leaves(len(others), tree.children, NO_TREE, bounds, values)
    # Where every leaf is behind a triangle one is as good as another.
    return np.where(leaf < 0, tree.leaves[0], leaf).reshape(batch)


def separation_tree_tree(a: SphereTree, b: SphereTree) -> Floats:
    """The least separation of a leaf of one and a leaf of the other, (...)."""
    on_a, on_b = nearest_leaf_pairs(a, b)
    return spheres.separation_sphere_sphere(_leaf_spheres(a, on_a), _leaf_spheres(b, on_b))


def witness_points_tree_tree(a: SphereTree, b: SphereTree) -> WitnessPoints:
    """Those of the pair of leaves of least separation; see `witness_points_tree_shape`."""
    on_a, on_b = nearest_leaf_pairs(a, b)
    return spheres.witness_points_sphere_sphere(_leaf_spheres(a, on_a), _leaf_spheres(b, on_b))


def overlaps_tree_tree(a: SphereTree, b: SphereTree) -> Bools:
    """Whether some leaf of one overlaps some leaf of the other, (...)."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = a.posed(batch), b.posed(batch)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        at, other = first.rows(rows.element, rows.a), second.rows(rows.element, rows.b)
        ends = (a.children[rows.a, 0] < 0) & (b.children[rows.b, 0] < 0)
        touches = spheres.overlaps_sphere_sphere(
            Sphere.trusted(first.center[at], np.where(ends, first.radius[at], first.reach[at])),
            Sphere.trusted(second.center[other], np.where(ends, second.radius[other], second.reach[other])),
        )
        return found(touches, touches & ends)

    def values(elements: Ints) -> Floats:
        is_hit = spheres.overlaps_sphere_sphere(*_all_leaf_pairs(first, second, elements))
        return np.where(is_hit, -1.0, np.inf)

    leaf, _ = best_leaves(math.prod(batch), a.children, b.children, bounds, values)
    return np.asarray((leaf >= 0).reshape(batch))


def nearest_leaf_pairs(a: SphereTree, b: SphereTree) -> tuple[Ints, Ints]:
    """The leaves of least separation from each other, (...) int64 indices of nodes of each tree."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = a.posed(batch), b.posed(batch)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        at, other = first.rows(rows.element, rows.a), second.rows(rows.element, rows.b)
        distance = length(second.center[other] - first.center[at])
        reach, core = first.reach[at] + second.reach[other], first.core[at] + second.core[other]
        return distance - reach - _ROUNDING * (distance + reach), distance - core

    def values(elements: Ints) -> Floats:
        return spheres.separation_sphere_sphere(*_all_leaf_pairs(first, second, elements))

    on_a, on_b = best_leaves(math.prod(batch), a.children, b.children, bounds, values)
    return on_a.reshape(batch), on_b.reshape(batch)


class _Flat(NamedTuple):
    """A tree and a shape, broadcast to a batch that is then taken flat (n,).

    nodes : of all poses
    others : (n,) int64 which of `shape` (k,) an element of the batch is about
    slack : (n,) what rounding may take from a distance between the two
    """

    batch: tuple[int, ...]
    nodes: PosedNodes
    others: Ints
    shape: Any
    slack: Floats


def _flat(tree: SphereTree, shape: Shape) -> _Flat:
    batch = np.broadcast_shapes(tree.shape, shape.shape)
    nodes, flat = tree.posed(batch), shape.reshaped((-1,))
    others = np.broadcast_to(np.arange(math.prod(shape.shape)).reshape(shape.shape), batch).ravel()
    box = flat.aabb()
    size = np.maximum(np.abs(box.min), np.abs(box.max)).max(axis=-1)
    return _Flat(batch, nodes, others, flat, _ROUNDING * (size[others] + nodes.size))


def _all_leaf_pairs(first: PosedNodes, second: PosedNodes, elements: Ints) -> tuple[Sphere, Sphere]:
    """Leaves of both trees that broadcast to all pairs of them."""
    return first.leaf_spheres(elements)[:, :, None], second.leaf_spheres(elements)[:, None]


def _two_sided(shape: Any) -> Any:
    """The same triangles without a back: what is behind one for a node may be in front of it for a leaf."""
    if isinstance(shape, Triangle) and shape.one_sided:
        return Triangle(shape.a, shape.b, shape.c)
    return shape


def _leaf_spheres(tree: SphereTree, leaves: Ints) -> Sphere:
    """The spheres of one leaf (...) for each element of a batch that the tree's poses broadcast to."""
    nodes = tree.posed(leaves.shape)
    at = nodes.rows(np.arange(leaves.size), leaves.ravel())
    return Sphere.trusted(nodes.center[at], nodes.radius[at]).reshaped(leaves.shape)
