"""Bounding volume hierarchy of a mesh, down to single triangles, and the simultaneous traversal of two.

The nodes are those of the sphere tree around the mesh at rest, followed by its triangles. A mesh that moves
rigidly carries its spheres along. For a mesh that deforms the spheres are fitted again around the same nodes.
The traversal is a best-first branch and bound over pairs of nodes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, Table, concatenated_ranges, length, transform_points
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes import Sphere, Triangle
from ..shapes.primitives import triangle_corners, triangles_from_corners
from ..trees.builder import TrianglePartition
from ..trees.sphere_tree import inner_nodes_upward, leaves_in_order
from .triangle_mesh import TriangleMesh

_FIRST_PAIRS, _MOST_PAIRS = 32, 4096
"""Node pairs expanded together: few at first, while the best value drops fast, then ever more."""

_MOST_VALUES = 512
"""Triangle pairs solved together at most, those of the lowest bounds first."""


class MeshBvh(NamedTuple):
    """The m nodes of a sphere tree, followed by the t triangles in the order of the tree.

    center : (m + t, 3) float64. Centers of spheres around the triangles of each node.
    radius : (m + t,) float64. Radii of these spheres, rounded up.
    near_distance : (m + t,) float64. At least one triangle of the node is within this distance of the
        center; 0 for a triangle.
    first_child : (m + t,) int64. The first of the children, which are consecutive nodes.
    child_count : (m + t,) int64. The number of children; 0 for a triangle.
    corners : (t, 3, 3) float64. Corners of the triangles in the order of the tree.
    """

    center: Floats
    radius: Floats
    near_distance: Floats
    first_child: Ints
    child_count: Ints
    corners: Floats

    @classmethod
    def from_tree(cls, tree: TrianglePartition, corners: Floats) -> MeshBvh:
        """Fit spheres to corners (t, 3, 3) of the triangles of a tree, which may have been built at rest.

        Every triangle is inside the spheres of all nodes above it.
        """
        ordered = corners[tree.order]
        low, high = _node_boxes(tree, ordered)
        center = low * 0.5 + high * 0.5
        centroid = ordered[:, 0] / 3 + ordered[:, 1] / 3 + ordered[:, 2] / 3
        radius, near = np.empty(len(center)), np.empty(len(center))
        leaves, starts, sizes = leaves_in_order(tree.children, tree.parts)
        leaf_center = center[leaves].repeat(sizes, axis=0)
        radius[leaves] = np.maximum.reduceat(_farthest_corner(ordered, leaf_center), starts)
        near[leaves] = np.minimum.reduceat(length(centroid - leaf_center), starts)
        for nodes, left, right in inner_nodes_upward(tree.children):
            # Around the spheres of the children, or around the box.
            to_left, to_right = (length(center[child] - center[nodes]) for child in (left, right))
            reach = np.maximum(to_left + radius[left], to_right + radius[right])
            radius[nodes] = np.minimum(reach, length(high[nodes] - center[nodes]))
            near[nodes] = np.minimum(to_left + near[left], to_right + near[right])
        first, count = tree.children[:, 0].copy(), np.full(len(center), 2)
        first[leaves], count[leaves] = len(center) + starts, sizes
        none = np.zeros(len(ordered), dtype=np.int64)
        return cls(
            np.concatenate([center, centroid]),
            np.concatenate([radius, _farthest_corner(ordered, centroid)]) * (1 + DISTANCE_ROUNDING),
            np.concatenate([near, np.zeros(len(ordered))]),
            np.concatenate([first, none]),
            np.concatenate([count, none]),
            ordered,
        )


def _node_boxes(tree: TrianglePartition, ordered: Floats) -> tuple[Floats, Floats]:
    """Low and high corners (m, 3) of the boxes of nodes around corners (t, 3, 3) in the order of the tree."""
    a, b, c = ordered.transpose(1, 0, 2)
    leaves, starts, _ = leaves_in_order(tree.children, tree.parts)
    sides = []
    for least in (np.minimum, np.maximum):
        side = np.empty((len(tree.children), 3))
        side[leaves] = least.reduceat(least(least(a, b), c), starts)
        for nodes, left, right in inner_nodes_upward(tree.children):
            side[nodes] = least(side[left], side[right])
        sides.append(side)
    return sides[0], sides[1]


def _farthest_corner(corners: Floats, point: Floats) -> Floats:
    """Largest distances (t,) of the corners (t, 3, 3) of triangles from points (t, 3)."""
    a, b, c = (length(corners[:, k] - point) for k in range(3))
    # Ten times as fast as a reduction over so short an axis.
    return np.asarray(np.maximum(np.maximum(a, b), c))


@dataclass(frozen=True, eq=False)
class PosedMesh:
    """A mesh in world space.

    nodes : Its nodes, in the space before the matrix.
    order : (t,) int64. The index in the mesh of the triangle at each slot.
    matrix : (4, 4) float64, optional. Affine matrix from the space of the nodes to the world; None where
        they are in the world.

    A slot is an index into the triangles in the order of the tree.
    """

    nodes: MeshBvh
    order: Ints
    matrix: Floats | None = None

    @classmethod
    def of(cls, mesh: TriangleMesh, matrix: Floats | None = None) -> PosedMesh:
        """Pose a mesh by an affine matrix (4, 4), or leave it in its own space."""
        tree = mesh.partition
        return cls(MeshBvh.from_tree(tree, triangle_corners(mesh.triangles)), tree.order, matrix)

    @cached_property
    def max_scale(self) -> float:
        """The largest factor by which the matrix scales a length."""
        return 1.0 if self.matrix is None else float(Sphere(np.zeros(3), 1.0).transformed(self.matrix).radius)

    def spheres(self, nodes: Ints) -> Sphere:
        """Return world-space spheres around nodes (n,).

        They enclose the triangles up to the rounding of the transformed centers, which callers add as slack.
        """
        center, radius = self.nodes.center[nodes], self.nodes.radius[nodes]
        if self.matrix is not None:
            center, radius = transform_points(self.matrix, center), radius * self.max_scale
        return Sphere.unchecked(center, radius)

    def near_distance(self, nodes: Ints) -> Floats:
        """Distances (n,) from the centers of `spheres` within which each node has a triangle."""
        return self.nodes.near_distance[nodes] * self.max_scale

    def corners(self, slots: Ints | slice = slice(None)) -> Floats:
        """World-space corners (n, 3, 3) of the triangles at slots (n,), by default of all."""
        corners = self.nodes.corners[slots]
        return corners if self.matrix is None else transform_points(self.matrix, corners)

    def triangles(self, nodes: Ints) -> Triangle:
        """World-space triangles of nodes (n,), all of which must be triangles."""
        return triangles_from_corners(self.corners(self.slots(nodes)))

    def slots(self, nodes: Ints) -> Ints:
        """Slots of nodes (n,); negative for a node that is no triangle."""
        return nodes - (len(self.nodes.first_child) - len(self.order))


class MeshPairSearch(ABC):
    """Best-first search for the pair of triangles of two meshes with the smallest value: branch and bound.

    As exact as `values`, where `bounds` are true bounds.

    best : The smallest value so far, or the limit below which values count.
    nodes : The nodes of both triangles, or -1 if there are none.
    reached : Upper bound of the minimum, from node pairs that are not split down to triangles yet.
    """

    def __init__(self, a: MeshBvh, b: MeshBvh, limit: float) -> None:
        self._a, self._b = a, b
        self.best = self.reached = limit
        self.nodes = -1, -1

    @abstractmethod
    def bounds(self, i: Ints, j: Ints) -> tuple[Ints, Floats, Floats, Floats]:
        """Bound the values of triangle pairs below nodes of both meshes, (k,) each.

        Returns the rows (n,) that can contain the minimum, a lower bound for all pairs below them, an
        upper bound for at least one of them, and a priority, where lower is expanded first.
        """

    @abstractmethod
    def values(self, i: Ints, j: Ints, low: Floats) -> tuple[float, int]:
        """Return the minimum over triangle pairs (k,) with these lower bounds, or NaN, and its row."""

    def run(self) -> None:
        """Find the pair."""
        queue = _PairQueue(np.zeros(1, np.int64), np.zeros(1, np.int64), np.full(1, -np.inf), np.zeros(1))
        batch = _FIRST_PAIRS
        while len(queue.i):
            now, queue = queue.split(batch)
            is_triangles = (self._a.child_count[now.i] == 0) & (self._b.child_count[now.j] == 0)
            self._evaluate(now.take(np.flatnonzero(is_triangles)))
            inner = now.take(np.flatnonzero(~is_triangles))
            if len(inner.i):
                i, j = _child_pairs(self._a, self._b, inner.i, inner.j)
                rows, low, high, priority = self.bounds(i, j)
                self.reached = min(self.reached, float(high.min(initial=np.inf)))
                queue = _PairQueue.concatenate([queue, _PairQueue(i[rows], j[rows], low, priority)])
            queue = queue.take(np.flatnonzero((queue.low < self.best) & (queue.low <= self.reached)))
            batch = min(2 * batch, _MOST_PAIRS)

    def _evaluate(self, pairs: _PairQueue) -> None:
        """Solve pairs of triangles, those of the lowest bounds first."""
        pairs = pairs.take(pairs.low.argsort(kind="stable"))
        start, size = 0, _FIRST_PAIRS
        while start < len(pairs.i) and pairs.low[start] < self.best:
            chunk = pairs.take(slice(start, start + size))
            start, size = start + size, min(2 * size, _MOST_VALUES)
            value, row = self.values(chunk.i, chunk.j, chunk.low)
            if value < self.best:
                self.best, self.nodes = value, (int(chunk.i[row]), int(chunk.j[row]))
                self.reached = min(self.reached, value)


class _PairQueue(Table):
    """Pairs of nodes to expand, with their lower bounds and priorities: (n,) each."""

    i: Ints
    j: Ints
    low: Floats
    priority: Floats

    def split(self, count: int) -> tuple[_PairQueue, _PairQueue]:
        """Split into the `count` pairs of the lowest priority values and the rest."""
        if len(self.i) <= count:
            return self, self.take(np.empty(0, dtype=np.int64))
        order = np.argpartition(self.priority, count)
        return self.take(order[:count]), self.take(order[count:])


def _child_pairs(a: MeshBvh, b: MeshBvh, i: Ints, j: Ints) -> tuple[Ints, Ints]:
    """Replace pairs of nodes (k,) that are not both triangles by pairs of children: (n,) each.

    The larger node of a pair is split. So is the other, if it is about as large and both have few children.
    """
    count_a, count_b = a.child_count[i], b.child_count[j]
    size_a, size_b = (np.where(n > 0, x, -1.0) for n, x in ((count_a, a.radius[i]), (count_b, b.radius[j])))
    is_few = count_a * count_b <= 4
    splits_a = (count_a > 0) & ((size_a >= size_b) | (is_few & (2 * size_a >= size_b)))
    splits_b = (count_b > 0) & ((size_b > size_a) | (is_few & (2 * size_b >= size_a)))
    first_a, count_a = np.where(splits_a, a.first_child[i], i), np.where(splits_a, count_a, 1)
    first_b, count_b = np.where(splits_b, b.first_child[j], j), np.where(splits_b, count_b, 1)
    children_a = concatenated_ranges(first_a, count_a)
    first_b, count_b = first_b.repeat(count_a), count_b.repeat(count_a)
    return children_a.repeat(count_b), concatenated_ranges(first_b, count_b)
