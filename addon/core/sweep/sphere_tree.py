"""Sweep of sphere trees by simultaneous traversal: the first leaf that touches a shape or another tree.

Two poses of one tree are the ends of an interval, over which centers and radii change linearly. The distance
of two points in linear motion is a convex function of time. So a sphere that encloses leaves at both ends
encloses them throughout, and the bounds of a node hold in motion as they do at rest. The times of the leaves
decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..numeric.arrays import Floats, Ints
from ..shapes import Aabb, Obb, Shape, Sphere
from ..trees.sphere_tree import SphereTree
from ..trees.traversal import SINGLE_NODE, NodePairs, find_best_leaf_pairs
from .aabb import time_of_impact_sphere_aabb
from .impact import ImpactStatus, TreeImpact
from .obb import time_of_impact_sphere_obb
from .sphere_sphere import time_of_impact_sphere_sphere

_ROUNDING = 1e-13
"""Inflation of nodes, relative to their coordinates, that covers the rounding errors of their leaves."""

_TimesAndStatuses: TypeAlias = tuple[Floats, Ints]
_Method: TypeAlias = Callable[[Any, Any, Any, Any], _TimesAndStatuses]


def _with_exact_status(method: Callable[[Any, Any, Any, Any], Floats]) -> _Method:
    """Add the status EXACT to the times of a sweep."""

    def with_status(a_start: Any, a_end: Any, b_start: Any, b_end: Any) -> _TimesAndStatuses:
        time = np.asarray(method(a_start, a_end, b_start, b_end))
        return time, np.full(time.shape, ImpactStatus.EXACT, dtype=np.int64)

    return with_status


SWEPT_SPHERE_PAIRS: dict[type, _Method] = {
    Sphere: _with_exact_status(time_of_impact_sphere_sphere),
    Aabb: _with_exact_status(time_of_impact_sphere_aabb),
    Obb: time_of_impact_sphere_obb,
}


def first_impact_tree_shape(
    a_start: SphereTree, a_end: SphereTree, b_start: Shape, b_end: Shape
) -> TreeImpact:
    """First impact of a moving sphere tree and a moving sphere or box.

    As exact as the sweep of a sphere and that kind of shape.

    Parameters
    ----------
    a_start, a_end : SphereTree, batches that broadcast
        Poses of one tree at times 0 and 1.
    b_start, b_end : Sphere, Aabb or Obb, batches that broadcast
        The shape at times 0 and 1.

    Returns
    -------
    impact : TreeImpact, arrays (...)

    Raises
    ------
    InvalidShapeError
        For poses of two different trees.
    """
    batch = np.broadcast_shapes(*(shape.shape for shape in (a_start, a_end, b_start, b_end)))
    tree, shape = _MovingTree(a_start, a_end, batch), _MovingShape(b_start, b_end, batch)
    return _first_impact(batch, tree, shape, SWEPT_SPHERE_PAIRS[type(b_start)])


def first_impact_tree_tree(
    a_start: SphereTree, a_end: SphereTree, b_start: SphereTree, b_end: SphereTree
) -> TreeImpact:
    """First impact of two moving sphere trees. Exact up to float64 rounding.

    Parameters
    ----------
    a_start, a_end, b_start, b_end : SphereTree, batches that broadcast
        Poses of both trees at times 0 and 1.

    Returns
    -------
    impact : TreeImpact, arrays (...)

    Raises
    ------
    InvalidShapeError
        For two poses of different trees.
    """
    batch = np.broadcast_shapes(*(tree.shape for tree in (a_start, a_end, b_start, b_end)))
    first, second = _MovingTree(a_start, a_end, batch), _MovingTree(b_start, b_end, batch)
    return _first_impact(batch, first, second, SWEPT_SPHERE_PAIRS[Sphere])


class _MovingTree:
    """Poses of a tree at both ends, for the elements (n,) of a flat batch."""

    def __init__(self, start: SphereTree, end: SphereTree, batch: tuple[int, ...]) -> None:
        start.require_same_nodes(end)
        self.children = start.children
        self.ends = start.posed(batch), end.posed(batch)
        self.size = self.ends[0].size + self.ends[1].size

    def outer(self, element: Ints, node: Ints, slack: Floats) -> list[Any]:
        """Spheres at both ends that enclose all leaves below nodes (k,); exact for a leaf."""
        is_leaf = self.children[node, 0] < 0
        at = [nodes.rows(element, node) for nodes in self.ends]
        return [
            Sphere.unchecked(nodes.center[i], np.where(is_leaf, nodes.radius[i], nodes.reach[i] + slack))
            for nodes, i in zip(self.ends, at, strict=True)
        ]

    def inner(self, element: Ints, node: Ints, slack: Floats) -> list[Any]:
        """Spheres at both ends that a leaf below nodes (k,) encloses; of negative radius if there is none."""
        at = [nodes.rows(element, node) for nodes in self.ends]
        return [
            Sphere.unchecked(nodes.center[i], nodes.core[i] - slack)
            for nodes, i in zip(self.ends, at, strict=True)
        ]

    def leaves(self, elements: Ints) -> list[Any]:
        """Leaves at both ends, (k, number of leaves)."""
        return [nodes.leaf_spheres(elements) for nodes in self.ends]


class _MovingShape:
    """A shape at both ends, with the interface of _MovingTree: a tree of one node."""

    children = SINGLE_NODE

    def __init__(self, start: Shape, end: Shape, batch: tuple[int, ...]) -> None:
        self.ends = [shape.broadcast_to(batch).reshaped((-1,)) for shape in (start, end)]
        boxes = [shape.aabb() for shape in self.ends]
        self.size = np.max([np.abs(corner) for box in boxes for corner in (box.min, box.max)], axis=(0, -1))

    def outer(self, element: Ints, node: Ints, slack: Floats) -> list[Any]:
        return [shape[element] for shape in self.ends]

    inner = outer

    def leaves(self, elements: Ints) -> list[Any]:
        return [shape[elements, None] for shape in self.ends]


_Moving: TypeAlias = _MovingTree | _MovingShape


def _first_impact(batch: tuple[int, ...], a: _Moving, b: _Moving, method: _Method) -> TreeImpact:
    """First impact of two trees, or a tree and a shape, by the sweep of their leaves."""
    slack = _ROUNDING * (a.size + b.size)

    def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
        # A sphere around all leaves touches no later than any leaf, a sphere inside of a leaf no earlier than
        # it.
        loose = slack[rows.element]
        outer = a.outer(rows.element, rows.a, loose), b.outer(rows.element, rows.b, loose)
        earliest = _inf_for_never(method(*outer[0], *outer[1])[0])
        are_leaves = (a.children[rows.a, 0] < 0) & (b.children[rows.b, 0] < 0)
        latest = np.where(are_leaves, earliest, np.inf)
        inner_rows = np.flatnonzero(~are_leaves & (earliest < np.inf))
        if len(inner_rows):
            pairs, loose = rows.take(inner_rows), loose[inner_rows]
            inner = [*a.inner(pairs.element, pairs.a, loose), *b.inner(pairs.element, pairs.b, loose)]
            exists = np.all([shape.radius >= 0 for shape in inner if isinstance(shape, Sphere)], axis=0)
            latest[inner_rows[exists]] = _inf_for_never(method(*(shape[exists] for shape in inner))[0])
        return earliest, latest

    def values(elements: Ints) -> Floats:
        first, second = a.leaves(elements), b.leaves(elements)
        pairs = (*(shape[:, :, None] for shape in first), *(shape[:, None] for shape in second))
        each = np.broadcast_shapes(*(shape.shape for shape in pairs))
        return _inf_for_never(method(*(shape.broadcast_to(each) for shape in pairs))[0])

    count = math.prod(batch)
    leaf, other = find_best_leaf_pairs(count, a.children, b.children, bounds, values)
    time, status = np.full(count, np.nan), np.full(count, ImpactStatus.EXACT, dtype=np.int64)
    hit = np.flatnonzero(leaf >= 0)
    if len(hit):
        none = np.zeros(len(hit))
        time[hit], status[hit] = method(*a.outer(hit, leaf[hit], none), *b.outer(hit, other[hit], none))
    return TreeImpact(time.reshape(batch), status.reshape(batch), leaf.reshape(batch), other.reshape(batch))


def _inf_for_never(times: Floats) -> Floats:
    """Replace NaN by infinity, which is later than all other times."""
    return np.where(np.isnan(times), np.inf, times)
