"""Sphere tree: a shape that follows a mesh closely and is tested quickly.

The shape is the union of the spheres of its leaves. The nodes above them are for culling, and serve as
coarser bounds: at every level each triangle lies wholly inside the sphere of its node (Hubbard 1996).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arguments import as_batch_shape, as_indices, require_type
from ..numeric.arrays import Bools, Floats, Ints, as_floats, length, require_finite, transform_points
from ..numeric.batch import Batched, broadcast_fields, first_index
from ..shapes import Aabb, Sphere
from .traversal import SINGLE_NODE, NodePairs, find_best_leaf_pairs, hit_bounds

_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True, eq=False)
class SphereTree(Batched):
    """A binary tree of m spheres, or a batch of poses of it: every pose has the same nodes and triangles.

    The sphere of a node encloses its triangles, but not always the spheres below it, which bulge out between
    the triangles: `reach` does. At distance d from the center of a node to another shape, its nearest leaf
    is at least d - reach and at most d - core away from that shape.

    Attributes
    ----------
    center : (..., m, 3) float64
        In the caller's space and unit.
    radius : (..., m) float64
        Of the smallest sphere around the triangles of each node, in the first pose.
    reach : (..., m) float64
        Radius around the center that encloses all leaves below, rounded up.
    core : (..., m) float64
        Radius around the center that one of the leaves below encloses; negative if the center is outside of
        all.
    children : (m, 2) int64
        Indices of nodes, -1 for a leaf; breadth-first, node 0 is the root.
    parts : (m, 2) int64
        Node k has the triangles order[parts[k, 0] : parts[k, 1]].
    order : (t,) int64
        Indices of triangles.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        Both name the element.
    """

    center: Floats
    radius: Floats
    reach: Floats
    core: Floats
    children: Ints
    parts: Ints
    order: Ints

    def __init__(
        self,
        center: ArrayLike,
        radius: ArrayLike,
        children: ArrayLike,
        parts: ArrayLike | None = None,
        order: ArrayLike = (),
    ) -> None:
        spheres = Sphere(center, radius)
        below = as_indices(children, "tree children")
        count = len(below) if below.ndim else 0
        if spheres.shape[-1:] != (count,) or below.shape != (count, 2) or count == 0:
            raise InvalidShapeError(
                f"tree: spheres {spheres.shape} and children {below.shape} are not of m >= 1 nodes"
            )
        _require_breadth_first(below)
        listed = as_indices(order, "tree order").reshape(-1)
        spans = np.zeros((count, 2), dtype=np.int64) if parts is None else as_indices(parts, "tree parts")
        if spans.shape != (count, 2) or spans.min() < 0 or spans.max() > len(listed):
            raise InvalidShapeError(f"tree parts: they must be (m, 2) and within {len(listed)} triangles")
        with np.errstate(over="ignore", invalid="ignore"):
            reach, core = _nested_radii(spheres, below)
        require_finite(reach, "tree radius")
        self._set(below, spans, listed, (spheres.center, spheres.radius, reach, core))

    @property
    def field_shapes(self) -> dict[str, tuple[int, ...]]:  # type: ignore[override]
        """Shapes of the fields of one pose: the axes of the nodes are not batch axes."""
        nodes = (len(self.children),)
        return {"center": (*nodes, 3), "radius": nodes, "reach": nodes, "core": nodes}

    @property
    def spheres(self) -> Sphere:
        """The spheres of all nodes, a batch (..., m)."""
        return Sphere.unchecked(self.center, self.radius)

    @property
    def leaves(self) -> Ints:
        """Indices of the leaves, ascending."""
        return np.flatnonzero(self.children[:, 0] < 0)

    @property
    def leaf_spheres(self) -> Sphere:
        """Spheres of the leaves, batch (..., number of leaves)."""
        leaves = self.leaves
        return Sphere.unchecked(self.center[..., leaves, :], self.radius[..., leaves])

    @property
    def depth(self) -> int:
        """Number of levels below the root."""
        return len(level_starts(self.children)) - 2

    def aabb(self) -> Aabb:
        """Return the boxes around all leaves, rounded outward.

        Returns
        -------
        boxes : Aabb, batch (...)
        """
        boxes = self.leaf_spheres.aabb()
        return Aabb.unchecked(boxes.min.min(axis=-2), boxes.max.max(axis=-2))

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points lie inside or on a leaf. Exact up to float64 rounding.

        Parameters
        ----------
        points : (..., 3) float
            Broadcast against the batch.

        Returns
        -------
        inside : (...) bool
        """
        p = as_floats(points, "points", (3,))
        batch = np.broadcast_shapes(p.shape[:-1], self.shape)
        flat, nodes = np.broadcast_to(p, (*batch, 3)).reshape(-1, 3), self.posed(batch)

        def bounds(rows: NodePairs) -> tuple[Floats, Floats]:
            at = nodes.rows(rows.element, rows.a)
            distance = length(nodes.center[at] - flat[rows.element])
            is_leaf = self.children[rows.a, 0] < 0
            return hit_bounds(distance <= nodes.reach[at], is_leaf & (distance <= nodes.radius[at]))

        def values(elements: Ints) -> Floats:
            leaves = nodes.leaf_spheres(elements)
            return np.where(leaves.contains(flat[elements, None]), -1.0, np.inf)

        leaf, _ = find_best_leaf_pairs(len(flat), self.children, SINGLE_NODE, bounds, values)
        return np.asarray((leaf >= 0).reshape(batch))

    def padded(self, amount: ArrayLike) -> SphereTree:
        """Grow all spheres by an amount. Exact up to float64 rounding.

        Parameters
        ----------
        amount : (...) float
            Length in the unit of the tree; negative shrinks. Broadcast against the batch.

        Returns
        -------
        tree : SphereTree, batch (...)

        Raises
        ------
        InvalidShapeError
            Where a radius becomes negative.
        """
        pad = self._broadcastable(amount, "padding")[..., None]
        with np.errstate(over="ignore"):
            radii = [(each + pad, 1) for each in (self.radius, self.reach, self.core)]
        center, radius, reach, core = broadcast_fields("tree", [(self.center, 2), *radii])
        require_finite(reach, "tree radius")
        if (radius < 0).any():
            raise InvalidShapeError(f"tree radius: element {first_index(radius < 0)} is negative")
        return self._with_arrays({"center": center, "radius": radius, "reach": reach, "core": core})

    def transformed(self, matrix: ArrayLike) -> SphereTree:
        """Transform by affine matrices; a batch of matrices makes a batch of poses.

        Conservative like `Sphere.transformed`: radii are scaled by the largest singular value. Distances
        between centers are scaled by no more, so that `reach` still encloses the leaves.

        Parameters
        ----------
        matrix : (..., 4, 4) float
            From the space of the tree to that of the result; broadcast against the batch.

        Returns
        -------
        tree : SphereTree, batch (...) broadcast against that of this tree
        """
        m = as_floats(matrix, "matrix", (4, 4))
        stretch = Sphere(np.zeros(3), 1.0).transformed(m).radius[..., None]
        center = transform_points(m[..., None, :, :], self.center)
        # Transformed centers are rounded, and so are the terms that cancel in them.
        terms = np.abs(m[..., :3, :3]).sum(axis=-1).max(axis=-1) * np.abs(self.center).max(axis=(-2, -1))
        rounding = (8 * _EPS * (terms + np.abs(m[..., :3, 3]).max(axis=-1)))[..., None]
        radius, reach, core = (
            self.radius * stretch,
            self.reach * stretch + rounding,
            self.core * stretch - rounding,
        )
        return self._with_arrays({"center": center, "radius": radius, "reach": reach, "core": core})

    def posed(self, batch: tuple[int, ...]) -> PosedNodes:
        """Return the nodes of all poses for a batch to which the poses are broadcast.

        Parameters
        ----------
        batch : tuple of int
            Shape to which the batch of this tree broadcasts.

        Returns
        -------
        nodes : PosedNodes
        """
        try:
            return PosedNodes(self, as_batch_shape(batch, "batch"))
        except (ValueError, OverflowError) as error:
            if isinstance(error, InvalidShapeError):
                raise
            raise InvalidShapeError(f"batch: poses of shape {self.shape} do not broadcast to it") from None

    def require_same_nodes(self, other: SphereTree) -> None:
        """Require that `other` is a pose of the same tree.

        Parameters
        ----------
        other : SphereTree
            The tree at the other sample.

        Raises
        ------
        InvalidShapeError
            If the nodes differ.
        """
        require_type(other, SphereTree, "other")
        if self.children is not other.children and not np.array_equal(self.children, other.children):
            raise InvalidShapeError("trees: only poses of one tree have a motion from one to the other")

    def _set(self, children: Ints, parts: Ints, order: Ints, arrays: tuple[Any, ...]) -> None:
        for name, array in (("children", children), ("parts", parts), ("order", order)):
            if array.flags.writeable:
                array = array.view()
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        self._freeze(arrays)

    def _with_arrays(self, arrays: dict[str, Any]) -> SphereTree:
        tree = object.__new__(SphereTree)
        tree._set(self.children, self.parts, self.order, tuple(arrays.values()))
        return tree


class PosedNodes:
    """Nodes of p poses of a tree, concatenated, for a flat batch (n,) to which the poses are broadcast.

    Attributes
    ----------
    center : (p * m, 3) float64
    radius, reach, core : (p * m,) float64
    """

    def __init__(self, tree: SphereTree, batch: tuple[int, ...]) -> None:
        poses = math.prod(tree.shape)
        self._pose = np.broadcast_to(np.arange(poses).reshape(tree.shape), batch).ravel()
        self._tree = tree.reshaped((poses,))
        self._first = self._pose * len(tree.children)
        self.center = self._tree.center.reshape(-1, 3)
        self.radius, self.reach, self.core = (
            radii.ravel() for radii in (self._tree.radius, self._tree.reach, self._tree.core)
        )

    def rows(self, element: Ints, node: Ints) -> Ints:
        """Return indices (k,) into the concatenated nodes for elements (k,) of the batch and nodes (k,)."""
        return self._first[element] + node

    def leaf_spheres(self, element: Ints) -> Sphere:
        """Spheres of all leaves of elements (k,) of the batch, (k, number of leaves)."""
        leaves = self._tree.leaves
        pose = self._pose[element, None]
        return Sphere.unchecked(self._tree.center[pose, leaves], self._tree.radius[pose, leaves])

    @property
    def size(self) -> Floats:
        """Upper bounds (n,) of the absolute coordinates of the leaves of each element."""
        center, reach = self._tree.center[:, 0], self._tree.reach[:, 0]
        result: Floats = (np.abs(center).max(axis=-1) + reach)[self._pose]
        return result


def concatenated_ranges(starts: Ints, sizes: Ints) -> Ints:
    """Concatenate ranges of consecutive integers. Exact.

    Parameters
    ----------
    starts, sizes : (k,) int64
        First integer and length of each range.

    Returns
    -------
    values : (n,) int64
        n is the sum of the lengths.
    """
    before = np.cumsum(sizes) - sizes
    result: Ints = (starts - before).repeat(sizes) + np.arange(sizes.sum())
    return result


def level_starts(children: Ints) -> Ints:
    """Find the first nodes of the levels of a breadth-first tree. Exact.

    Parameters
    ----------
    children : (m, 2) int64
        As in `SphereTree`.

    Returns
    -------
    starts : (depth + 2,) int64
        Ends with m.
    """
    inner_before = np.concatenate([[0], np.cumsum(children[:, 0] >= 0)])
    starts = [0, 1]
    while starts[-1] < len(children):
        # The children of all nodes so far follow the root.
        starts.append(1 + 2 * int(inner_before[starts[-1]]))
    return np.array(starts)


def _nested_radii(spheres: Sphere, children: Ints) -> tuple[Floats, Floats]:
    """`reach` and `core` (..., m) of a SphereTree from the leaves below each node; reach is rounded up."""
    center, radius = spheres.center, spheres.radius
    starts = level_starts(children)
    inner = [start + np.flatnonzero(children[start:end, 0] >= 0) for start, end in pairwise(starts)]
    # In depth-first order the leaves below a node are consecutive: count them, then number the first of each.
    count = np.ones(len(children), dtype=np.int64)
    for nodes in reversed(inner):
        count[nodes] = count[children[nodes]].sum(axis=1)
    begin = np.zeros(len(children), dtype=np.int64)
    for nodes in inner:
        left, right = children[nodes].T
        begin[left], begin[right] = begin[nodes], begin[nodes] + count[left]
    leaf = np.flatnonzero(children[:, 0] < 0)
    leaf = leaf[begin[leaf].argsort()]
    reach, core = radius.copy(), radius.copy()
    for nodes in inner:
        if len(nodes):
            leaves, node = leaf[concatenated_ranges(begin[nodes], count[nodes])], nodes.repeat(count[nodes])
            distance = length(center[..., leaves, :] - center[..., node, :])
            groups = np.cumsum(count[nodes]) - count[nodes]
            farthest = np.maximum.reduceat(distance + radius[..., leaves], groups, axis=-1)
            reach[..., nodes] = farthest * (1 + 16 * _EPS)
            core[..., nodes] = np.maximum.reduceat(radius[..., leaves] - distance, groups, axis=-1)
    return reach, core


def _require_breadth_first(children: Ints) -> None:
    """Raise InvalidShapeError unless the nodes after the root are the children (m, 2) of all nodes, in
    order.
    """
    is_inner = children[:, 0] >= 0
    nodes, listed = np.flatnonzero(is_inner), children[is_inner].ravel()
    bad = np.flatnonzero((children[~is_inner] != -1).any(axis=1))
    if len(bad):
        raise InvalidShapeError(
            f"tree children: element {int(np.flatnonzero(~is_inner)[bad[0]])} has one child or none"
        )
    if not np.array_equal(listed, np.arange(1, len(children))) or (listed[::2] <= nodes).any():
        raise InvalidShapeError("tree children: the nodes are not breadth-first from node 0")
