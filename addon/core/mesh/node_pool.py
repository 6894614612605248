"""The nodes of the trees of many meshes in one set of arrays, at one time and in motion."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    concatenated_ranges,
    dot,
    normalized,
    transform_vectors,
)
from ..numeric.tolerances import DISTANCE_ROUNDING
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .fitted_nodes import FittedNodes
from .mesh_bvh import MeshBvh

POINT = MeshBvh(np.zeros((1, 3)), np.zeros((1, 3), dtype=np.int64))
"""A mesh that is a single point."""


def distinct_objects(objects: NDArray[Any]) -> tuple[list[Any], Ints]:
    """Return the distinct ones of objects (m,), in order of their first, and which of them each is (m,)."""
    ids = np.fromiter(map(id, objects), dtype=np.int64, count=len(objects))
    if len(ids) and (ids == ids[0]).all():
        return [objects[0]], np.zeros(len(ids), dtype=np.int64)
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    return [objects[row] for row in first.tolist()], which.ravel()


class NodePool:
    """The nodes of k meshes in one set of arrays, and what they consist of, once for equal trees.

    roots : (k,) int64. Row of the root of each mesh among the fitted nodes.
    trees : (k,) int64. Row of the root of the tree of each mesh.
    vertices : (k,) int64. Row of the first vertex of each mesh.
    first_child : (n,) int64. First child of each node of all trees, counted from the root of its tree.
    child_count : (n,) int64. Number of children; 0 for a triangle.
    first_triangle, triangle_count : (n,) int64. Range of the triangles.
    triangles : (t, 3) int64. Vertices of the triangles of all trees, counted from the first of their mesh.
    points : (v, 3) float64 or float32. Vertices of all meshes.
    kinds : The meshes.
    are_very_large : (k,) bool. Those of very many triangles.
    known : KnownNodes. The nodes that have been fitted.
    """

    def __init__(self, kinds: list[MeshBvh]) -> None:
        """Join the nodes of meshes."""
        trees, tree_of = distinct_objects(object_array([each.first for each in kinds]))
        sizes = np.array([len(each.nodes.first_child) for each in trees])
        triangles = [each.triangles for each in trees]
        counts, points = np.array([len(each) for each in triangles]), [each.vertices for each in kinds]
        self.first_child, self.child_count, self.first_triangle, self.triangle_count = (
            _joined(list(parts)) for parts in zip(*(each.nodes[:4] for each in trees), strict=True)
        )
        if len(trees) > 1:
            self.first_triangle = self.first_triangle + _starts(counts).repeat(sizes)
        self.triangles, self.points = _joined(triangles), _joined(points)
        self.roots, self.trees = _starts(sizes[tree_of]), _starts(sizes)[tree_of]
        self.vertices = _starts(np.array([len(each) for each in points]))
        self.kinds, self.known = kinds, KnownNodes(int(sizes[tree_of].sum()))
        self.are_very_large = np.array([each.is_very_large for each in kinds], dtype=bool)

    def fit(self, kinds: Ints) -> None:
        """Fit the large nodes of meshes (k,), unless they are."""
        for kind in np.unique(kinds[self.known.row[self.roots[kinds]] < 0]).tolist():
            rows, fitted = self.kinds[kind].fit()
            self.known.add(self.roots[kind] + rows, fitted)

    def pairs_at_rest(self, count: int) -> tuple[MovingNodes, MovingNodes]:
        """Return the nodes of the first mesh and of the second one, as often as `count`, without matrices."""
        none, every = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
        matrices = np.broadcast_to(np.eye(3), (count, 3, 3)), np.zeros((count, 3)), np.ones(count)
        sides = []
        for kind in (0, 1):
            root, tree, vertex = (each[kind] + every for each in (self.roots, self.trees, self.vertices))
            nodes = PosedNodes(root, tree, vertex, *matrices, none, none)
            sides.append(MovingNodes(self, nodes, nodes))
        return sides[0], sides[1]


class KnownNodes:
    """Nodes that have been fitted, of n nodes of which few are ever needed, in arrays that grow.

    row : (n,) int64. Row of each node among those that are fitted; -1 if it is none of these.
    fitted : FittedNodes
    count : Number of those that are fitted.
    """

    def __init__(self, count: int) -> None:
        self.row, self.count = np.full(count, -1), 0
        self.fitted = FittedNodes(*(np.empty((0, *tail)) for tail in ((3,), (), (3, 3), (3,), (3,), ())))

    def add(self, nodes: Ints, fitted: FittedNodes) -> None:
        """Add nodes (m,) that have been fitted."""
        used, self.count = self.count, self.count + len(nodes)
        if self.count > len(self.fitted.radius):
            columns = []
            for old in self.fitted:
                new = np.empty((2 * self.count, *old.shape[1:]))
                new[:used] = old[:used]
                columns.append(new)
            self.fitted = FittedNodes._make(columns)
        for column, values in zip(self.fitted, fitted, strict=True):
            column[used : self.count] = values
        self.row[nodes] = np.arange(used, self.count)


class _KeptPool(NamedTuple):
    """A pool without its meshes, and weak references to these: it is dropped with the largest one."""

    pool: NodePool
    kinds: list[ref[MeshBvh]]


_kept: WeakKeyDictionary[MeshBvh, _KeptPool] = WeakKeyDictionary()
"""By the largest mesh: joining the arrays of large meshes takes longer than most searches."""
_MOST_KNOWN = 1 << 19
"""Fitted nodes, about, above which those of a pool that is kept are dropped: 80 MB."""


def pool_of(kinds: list[MeshBvh]) -> tuple[NodePool, Ints]:
    """Return a pool of distinct meshes (k,), at least one, and places (k,) of these in it.

    Where they are rigid, and any is large, it is kept for the next call, maybe with others of that one.
    """
    largest = max(kinds, key=lambda each: len(each.given))
    if not largest.is_large or any(each.deforms for each in kinds):
        return NodePool(kinds), np.arange(len(kinds))
    kept = _kept.get(largest)
    known = [] if kept is None else [each() for each in kept.kinds]
    present = [each for each in known if each is not None]
    every = present + [each for each in kinds if each not in present]
    if kept is not None and len(every) == len(present) == len(known):
        pool = kept.pool
    else:
        if sum(len(each.given) for each in every) > 2 * len(largest.given):
            every = kinds
        pool = NodePool(every)
    if pool.known.count > _MOST_KNOWN:
        # A search that goes on needs those that it has come to.
        pool = copy(pool)
        pool.known = KnownNodes(len(pool.known.row))
    alone = copy(pool)
    alone.kinds = []
    _kept[largest] = _KeptPool(alone, [ref(each) for each in every])
    pool = copy(pool)
    pool.kinds = every
    return pool, np.array([every.index(each) for each in kinds])


def object_array(items: Sequence[Any]) -> NDArray[Any]:
    """Return an array (m,) of objects."""
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def _starts(sizes: Ints) -> Ints:
    """Return where each of consecutive ranges with these sizes (k,) begins."""
    return np.cumsum(sizes) - sizes


def _joined(parts: list[Any]) -> NDArray[Any]:
    """Concatenate arrays, without a copy if there is one only."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class PosedNodes(Table):
    """Nodes of meshes (m,) in world space, at one time.

    root, tree, vertex : (m,) int64. Rows of their roots, trees and vertices in the pool.
    linear : (m, 3, 3) float64, and offset : (m, 3) float64. The matrices.
    stretch : (m,) float64. Largest factor by which each scales a length.
    one_sided : (m,) bool. Meshes whose triangles do not touch what is behind them.
    is_mirrored : (m,) bool. Those whose corners are in reverse order, so that their front stays in front.
    """

    root: Ints
    tree: Ints
    vertex: Ints
    linear: Floats
    offset: Floats
    stretch: Floats
    one_sided: Bools
    is_mirrored: Bools


class MovingNodes(NamedTuple):
    """Nodes of meshes (m,) whose corners move in straight lines, from one time to another.

    pool : NodePool
    start, end : PosedNodes, (m,). Of the same triangles. At one time both are one object.
    """

    pool: NodePool
    start: PosedNodes
    end: PosedNodes

    def reversed_in_time(self) -> MovingNodes:
        """Return the motion from end to start."""
        return MovingNodes(self.pool, self.end, self.start)

    def two_sided(self, are_chosen: Bools | bool = True) -> MovingNodes:
        """Return the motion with all triangles of chosen meshes (m,) two-sided."""
        one_sided = self.start.one_sided & ~np.asarray(are_chosen)
        start = self.start.replaced(one_sided=one_sided)
        end = start if self.end is self.start else self.end.replaced(one_sided=one_sided)
        return MovingNodes(self.pool, start, end)

    def at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Centers (n, 3) and radii (n,) of nodes (n,) of meshes in rows (n,), at one time."""
        which, fitted = self.fitted(nodes, row, node)
        return _transformed(nodes, row, fitted.center[which]), fitted.radius[which] * nodes.stretch[row]

    def radii(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Radii (n,) of the spheres around nodes (n,), at one time."""
        which, fitted = self.fitted(nodes, row, node)
        return np.asarray(fitted.radius[which] * nodes.stretch[row])

    def spheres(self, row: Ints, node: Ints) -> tuple[Floats, Floats, Floats]:
        """Centers (n, 3) at both ends, and the larger radii (n,), of nodes (n,) of meshes in rows (n,).

        The sphere whose center moves in a straight line holds the triangles throughout.
        """
        first, radius = self.at_once(self.start, row, node)
        if self.end is self.start:
            return first, first, radius
        last, radius_end = self.at_once(self.end, row, node)
        return first, last, np.maximum(radius, radius_end)

    def extents(self, nodes: PosedNodes, row: Ints, node: Ints, direction: Floats, radius: Floats) -> Floats:
        """Bound how far nodes (n,) reach beyond their centers along unit vectors (n, 3), at one time.

        A node is within its sphere and within its box; of triangles, the corners count.

        radius : (n,) of the spheres
        """
        which, fitted = self.fitted(nodes, row, node)
        local = transform_vectors(np.swapaxes(nodes.linear, 1, 2)[row], direction)
        along = transform_vectors(fitted.axes[which], local)
        box = np.maximum(along * fitted.highest[which], along * fitted.lowest[which]).sum(axis=1)
        extent = np.asarray(np.fmin(radius, box))
        leaves = np.flatnonzero(self.is_triangle(row, node))
        if len(leaves):
            corners = self._local_corners(nodes, row[leaves], node[leaves])
            offset = (corners - fitted.center[which[leaves], None]).reshape(-1, 3)
            turned = transform_vectors(nodes.linear[row[leaves].repeat(3)], offset).reshape(-1, 3, 3)
            farthest = dot(turned, direction[leaves, None]).max(axis=1)
            extent[leaves] = farthest + DISTANCE_ROUNDING * radius[leaves]
        return extent

    def facing(
        self, nodes: PosedNodes, row: Ints, node: Ints, offset: Floats, are_very_large: Bools
    ) -> Floats:
        """Return unit vectors (n, 3) along axes of the boxes of nodes (n,), at one time.

        They are about the normals of the triangles. Of very large meshes, whose large nodes face no way, they
        are those of the faces that the other node is farthest beyond.

        offset : (n, 3) from the centers to the other node
        are_very_large : (n,) bool. Pairs of meshes of which one is.
        """
        which, fitted = self.fitted(nodes, row, node)
        axes = fitted.axes[which]
        axis, places = axes[:, 0], np.flatnonzero(are_very_large)
        if len(places):
            known, near = which[places], row[places]
            local = transform_vectors(np.swapaxes(nodes.linear, 1, 2)[near], offset[places])
            # Of what is flat or a point, any face will do.
            scale = np.where(nodes.stretch[near] > 0, nodes.stretch[near], 1.0)
            along = transform_vectors(axes[places], local / (scale**2)[:, None])
            beyond = np.maximum(along - fitted.highest[known], fitted.lowest[known] - along)
            axis[places] = axes[places, beyond.argmax(axis=1)]
        return normalized(transform_vectors(nodes.linear[row], axis))

    def corners(self, row: Ints, node: Ints) -> tuple[Floats, Floats]:
        """Corners (n, 3, 3) at both ends of triangles that are nodes (n,) of meshes in rows (n,)."""
        first = self.corners_at_once(self.start, row, node)
        return first, first if self.end is self.start else self.corners_at_once(self.end, row, node)

    def corners_at_once(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Corners (n, 3, 3) of triangles that are nodes (n,) of meshes in rows (n,), at one time."""
        corners = self._local_corners(nodes, row, node)
        return _transformed(nodes, row.repeat(3), corners.reshape(-1, 3)).reshape(-1, 3, 3)

    def _local_corners(self, nodes: PosedNodes, row: Ints, node: Ints) -> Floats:
        """Corners (n, 3, 3) of triangles that are nodes (n,), before the matrices."""
        triangle = self.pool.triangles[self.pool.first_triangle[nodes.tree[row] + node]]
        if nodes.is_mirrored.any():
            triangle = np.where(nodes.is_mirrored[row, None], triangle[:, ::-1], triangle)
        return np.asarray(self.pool.points[triangle + nodes.vertex[row, None]], dtype=np.float64)

    def near_distance(self, row: Ints, node: Ints) -> Floats:
        """Distances (n,) from centers of nodes (n,) within which each has a triangle, at the start."""
        which, fitted = self.fitted(self.start, row, node)
        return np.asarray(fitted.near_distance[which] * self.start.stretch[row])

    def children(self, row: Ints, node: Ints) -> tuple[Ints, Ints]:
        """First children (n,) of nodes (n,), and the numbers (n,) of children; 0 for a triangle."""
        which = self.start.tree[row] + node
        return self.pool.first_child[which], self.pool.child_count[which]

    def is_triangle(self, row: Ints, node: Ints) -> Bools:
        """Mask (n,) of nodes (n,) that are triangles."""
        return np.asarray(self.children(row, node)[1] == 0)

    def radius_of_roots(self) -> Floats:
        """Radii (m,) of the spheres around the meshes at the start."""
        radius = np.array([each.sphere[1] for each in self.pool.kinds])
        return np.asarray(radius[self.kinds_of(self.start)] * self.start.stretch)

    @property
    def are_very_large(self) -> Bools:
        """Mask (m,) of meshes whose trees are built along a curve."""
        return np.asarray(self.pool.are_very_large[self.kinds_of(self.start)])

    def kinds_of(self, nodes: PosedNodes) -> Ints:
        """Return which mesh of the pool each of the meshes (m,) is."""
        return np.asarray(np.searchsorted(self.pool.roots, nodes.root))

    def around(self, nodes: PosedNodes) -> tuple[Floats, Floats]:
        """Centers (m, 3) and radii (m,) of the spheres around the meshes, at one time."""
        kind = self.kinds_of(nodes)
        center, radius = (np.array(each) for each in zip(*(k.sphere for k in self.pool.kinds), strict=True))
        every = np.arange(len(kind))
        return _transformed(nodes, every, center[kind]), radius[kind] * nodes.stretch

    def triangles(self, row: Ints) -> Ints:
        """Numbers (n,) of triangles of meshes in rows (n,)."""
        return np.asarray(self.pool.triangle_count[self.start.tree[row]])

    def fit_roots(self, row: Ints) -> None:
        """Fit the large nodes of meshes in rows (n,) at both ends, unless they are."""
        self.pool.fit(self.kinds_of(self.start)[row])
        if self.end is not self.start:
            self.pool.fit(self.kinds_of(self.end)[row])

    def fit(self, row: Ints, node: Ints) -> None:
        """Fit nodes (n,) of meshes that deform, which have not been needed before, at both ends."""
        pool = self.pool
        for nodes in (self.start,) if self.end is self.start else (self.start, self.end):
            which = nodes.root[row] + node
            new = np.flatnonzero(pool.known.row[which] < 0)
            if not len(new):
                continue
            which, places = np.unique(which[new], return_index=True)
            place, tree = row[new[places]], nodes.tree[row[new[places]]] + node[new[places]]
            sizes = pool.triangle_count[tree]
            triangles = pool.triangles[concatenated_ranges(pool.first_triangle[tree], sizes)]
            corners = pool.points[triangles + nodes.vertex[place].repeat(sizes)[:, None]]
            pool.known.add(which, FittedNodes.measured(corners.astype(np.float64), sizes))

    def fitted(self, nodes: PosedNodes, row: Ints, node: Ints) -> tuple[Ints, FittedNodes]:
        """Return the rows (n,) of nodes (n,) among those that have been fitted, and these."""
        known = self.pool.known
        return known.row[nodes.root[row] + node], known.fitted


def offsets_between(
    a: MovingNodes, b: MovingNodes, row: Ints, nodes: tuple[Ints, Ints], spheres: tuple[Floats, ...]
) -> tuple[Floats, Bools]:
    """Return the offsets (n, 3) along which nodes (n,) may be apart at the start of their motion.

    They are from one center to the other, or from a triangle that is much larger than the other node. Returns
    which nodes (2, n) are such triangles, too.

    spheres : centers (n, 3) and radii (n,) of the first nodes, then of the second ones
    """
    center_a, radius_a, center_b, radius_b = spheres
    offset, is_large = center_b - center_a, np.zeros((2, len(row)), dtype=bool)
    for side, (moving, radius, small, center) in enumerate(
        ((a, radius_a, radius_b, center_b), (b, radius_b, radius_a, center_a))
    ):
        rows = np.flatnonzero((2 * small < radius) & moving.is_triangle(row, nodes[side]))
        if len(rows):
            corners = moving.corners_at_once(moving.start, row[rows], nodes[side][rows])
            nearest = closest_on_triangle(center[rows], triangles_from_corners(corners))
            offset[rows] = (1 - 2 * side) * (center[rows] - nearest)
            is_large[side, rows] = True
    return offset, is_large


def _transformed(nodes: PosedNodes, row: Ints, points: Floats) -> Floats:
    """Transform points (n, 3) by the matrices of rows (n,)."""
    return transform_vectors(nodes.linear[row], points) + nodes.offset[row]
