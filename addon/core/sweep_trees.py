"""Sphere trees in motion: when the first leaf touches something.

Two poses of one tree are the ends of an interval, over which centres and radii change linearly. The distance
of two points that move linearly is a convex function of time, so that a sphere that holds leaves at both ends
holds them all along: `reach` serves in motion as it does at rest. Leaves decide, and the earliest does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .arrays import Floats, Ints
from .shapes import Aabb, Obb, Shape, Sphere
from .sphere_tree import SphereTree
from .sweep_boxes import time_of_impact_sphere_aabb
from .sweep_spheres import time_of_impact_sphere_sphere
from .sweep_turning import EXACT, time_of_impact_sphere_obb
from .tree_descent import NO_TREE, Rows, best_leaves

_ROUNDING = 1e-13
"""How much nodes are grown, against their coordinates, so as to hold what rounding may make of leaves."""

_Timed: TypeAlias = tuple[Floats, Ints]
_Method: TypeAlias = Callable[[Any, Any, Any, Any], _Timed]


class TreeImpact(NamedTuple):
    """The first contact of a tree.

    time : (...) in [0, 1], NaN for none
    status : (...) int64 as of the sweep of a leaf, see ImpactStatus; a miss is EXACT
    leaf, other_leaf : (...) int64 the nodes of both trees that touch first; -1 for none
        What is no tree has one node, 0.
    """

    time: Floats
    status: Ints
    leaf: Ints
    other_leaf: Ints


def _exact(method: Callable[[Any, Any, Any, Any], Floats]) -> _Method:
    def timed(a_start: Any, a_end: Any, b_start: Any, b_end: Any) -> _Timed:
        time = np.asarray(method(a_start, a_end, b_start, b_end))
        return time, np.full(time.shape, EXACT, dtype=np.int64)

    return timed


SWEPT_SPHERE_PAIRS: dict[type, _Method] = {
    Sphere: _exact(time_of_impact_sphere_sphere),
    Aabb: _exact(time_of_impact_sphere_aabb),
    Obb: time_of_impact_sphere_obb,
}


def first_impact_tree_shape(
    a_start: SphereTree, a_end: SphereTree, b_start: Shape, b_end: Shape
) -> TreeImpact:
    """When and with which leaf a tree first touches a Sphere, Aabb or Obb; batches broadcast.

    As exact as the sweep of a sphere and that kind of shape. Raises InvalidShapeError for poses of two trees.
    """
    batch = np.broadcast_shapes(*(shape.shape for shape in (a_start, a_end, b_start, b_end)))
    tree, shape = _MovingTree(a_start, a_end, batch), _MovingShape(b_start, b_end, batch)
    return _first_impact(batch, tree, shape, SWEPT_SPHERE_PAIRS[type(b_start)])


def first_impact_tree_tree(
    a_start: SphereTree, a_end: SphereTree, b_start: SphereTree, b_end: SphereTree
) -> TreeImpact:
    """When and with which leaves two trees first touch; batches broadcast. Exact up to float64 rounding.

    Raises InvalidShapeError for poses of different trees.
    """
    batch = np.broadcast_shapes(*(tree.shape for tree in (a_start, a_end, b_start, b_end)))
    first, second = _MovingTree(a_start, a_end, batch), _MovingTree(b_start, b_end, batch)
    return _first_impact(batch, first, second, SWEPT_SPHERE_PAIRS[Sphere])


class _MovingTree:
    """The poses of a tree at both ends, as far as the elements (n,) of a flat batch are concerned."""

    def __init__(self, start: SphereTree, end: SphereTree, batch: tuple[int, ...]) -> None:
        start.require_same_nodes(end)
        self.children = start.children
        self.ends = start.posed(batch), end.posed(batch)
        self.size = self.ends[0].size + self.ends[1].size

    def outer(self, element: Ints, node: Ints, slack: Floats) -> list[Any]:
        """Spheres that hold all leaves below nodes; a leaf itself."""
        is_leaf = self.children[node, 0] < 0
        at = [nodes.rows(element, node) for nodes in self.ends]
        return [
            Sphere.trusted(nodes.center[i], np.where(is_leaf, nodes.radius[i], nodes.reach[i] + slack))
            for nodes, i in zip(self.ends, at, strict=True)
        ]

    def inner(self, element: Ints, node: Ints, slack: Floats) -> list[Any]:
        """Spheres that some leaf below holds; of a radius below zero where there is none."""
        at = [nodes.rows(element, node) for nodes in self.ends]
        return [
            Sphere.trusted(nodes.center[i], nodes.core[i] - slack)
            for nodes, i in zip(self.ends, at, strict=True)
        ]

    def leaves(self, elements: Ints) -> list[Any]:
        """All leaves, (k, number of leaves)."""
        return [nodes.leaf_spheres(elements) for nodes in self.ends]


class _MovingShape:
    """The same for a shape, which is all one node."""

    children = NO_TREE

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
    slack = _ROUNDING * (a.size + b.size)

    def bounds(rows: Rows) -> tuple[Floats, Floats]:
        # What holds all leaves is met no later than any of them, and what one of them holds no earlier.
        loose = slack[rows.element]
        outer = a.outer(rows.element, rows.a, loose), b.outer(rows.element, rows.b, loose)
        earliest = _never(method(*outer[0], *outer[1])[0])
        are_leaves = (a.children[rows.a, 0] < 0) & (b.children[rows.b, 0] < 0)
        latest = np.where(are_leaves, earliest, np.inf)
        asked = np.flatnonzero(~are_leaves & (earliest < np.inf))
        if len(asked):
            some, loose = rows.picked(asked), loose[asked]
            inner = [*a.inner(some.element, some.a, loose), *b.inner(some.element, some.b, loose)]
            real = np.all([shape.radius >= 0 for shape in inner if isinstance(shape, Sphere)], axis=0)
            latest[asked[real]] = _never(method(*(shape[real] for shape in inner))[0])
        return earliest, latest

    def values(elements: Ints) -> Floats:
        first, second = a.leaves(elements), b.leaves(elements)
        pairs = (*(shape[:, :, None] for shape in first), *(shape[:, None] for shape in second))
        each = np.broadcast_shapes(*(shape.shape for shape in pairs))
        return _never(method(*(shape.broadcast_to(each) for shape in pairs))[0])

    count = math.prod(batch)
    leaf, other = best_leaves(count, a.children, b.children, bounds, values)
    time, status = np.full(count, np.nan), np.full(count, EXACT, dtype=np.int64)
    hit = np.flatnonzero(leaf >= 0)
    if len(hit):
        none = np.zeros(len(hit))
        time[hit], status[hit] = method(*a.outer(hit, leaf[hit], none), *b.outer(hit, other[hit], none))
    return TreeImpact(time.reshape(batch), status.reshape(batch), leaf.reshape(batch), other.reshape(batch))


def _never(times: Floats) -> Floats:
    """Times with infinity for none, which comes after all others."""
    return np.where(np.isnan(times), np.inf, times)
