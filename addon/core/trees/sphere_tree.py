"""Sphere tree: a shape that follows a mesh closely and is tested quickly.

The shape is the union of the spheres of its leaves. The nodes above them are coarser bounds: at every
level each triangle lies wholly inside the sphere of its node (Hubbard 1996).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arguments import as_indices, require_type
from ..numeric.arrays import Bools, Floats, Ints, as_floats
from ..numeric.batch import Batched
from ..shapes import Aabb, Sphere


@dataclass(frozen=True, eq=False)
class SphereTree(Batched):
    """A binary tree of m spheres, or a batch of poses of it: every pose has the same nodes and triangles.

    The sphere of a node encloses its triangles, but not always the spheres below it, which bulge out between
    the triangles.

    Attributes
    ----------
    center : (..., m, 3) float64
        In the caller's space and unit.
    radius : (..., m) float64
        Of the smallest sphere around the triangles of each node, in the first pose.
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
        for name, array in (("children", below), ("parts", spans), ("order", listed)):
            view = array.view()
            view.flags.writeable = False
            self.__dict__[name] = view
        self._freeze((spheres.center, spheres.radius))

    @property
    def field_shapes(self) -> dict[str, tuple[int, ...]]:  # type: ignore[override]
        """Shapes of the fields of one pose: the axes of the nodes are not batch axes."""
        nodes = (len(self.children),)
        return {"center": (*nodes, 3), "radius": nodes}

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
        """Return the boxes around all leaves, rounded outward."""
        boxes = self.leaf_spheres.aabb()
        return Aabb.unchecked(boxes.min.min(axis=-2), boxes.max.max(axis=-2))

    def contains(self, points: ArrayLike) -> Bools:
        """Decide which points (..., 3) lie inside or on a leaf. Exact up to float64 rounding.

        Needs memory for all pairs of points and leaves.
        """
        p = as_floats(points, "points", (3,))
        return np.asarray(self.leaf_spheres.contains(p[..., None, :]).any(axis=-1))

    def padded(self, amount: ArrayLike) -> SphereTree:
        """Grow all spheres by amounts (...); negative ones shrink them. Exact up to float64 rounding.

        Raises InvalidShapeError: where a radius becomes negative.
        """
        return self._with_spheres(self.spheres.padded(self._broadcastable(amount, "padding")[..., None]))

    def transformed(self, matrix: ArrayLike) -> SphereTree:
        """Transform by affine matrices (..., 4, 4); a batch of matrices makes a batch of poses.

        Conservative like `Sphere.transformed`.
        """
        matrices = self._broadcastable(matrix, "matrix", (4, 4))
        return self._with_spheres(self.spheres.transformed(matrices[..., None, :, :]))

    def require_same_nodes(self, other: SphereTree) -> None:
        """Require that `other` is a pose of the same tree, the one at the other sample.

        Raises InvalidShapeError: if the nodes differ.
        """
        require_type(other, SphereTree, "other")
        if self.children is not other.children and not np.array_equal(self.children, other.children):
            raise InvalidShapeError("trees: only poses of one tree have a motion from one to the other")

    def _with_spheres(self, spheres: Sphere) -> SphereTree:
        return self._with_arrays({"center": spheres.center, "radius": spheres.radius})


def level_starts(children: Ints) -> Ints:
    """Find the first nodes (depth + 2,) of the levels of a breadth-first tree (m, 2), and m. Exact."""
    inner_before = np.concatenate([[0], np.cumsum(children[:, 0] >= 0)])
    starts = [0, 1]
    while starts[-1] < len(children):
        # The children of all nodes so far follow the root.
        starts.append(1 + 2 * int(inner_before[starts[-1]]))
    return np.array(starts)


def inner_nodes_upward(children: Ints) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Iterate over the levels of a breadth-first tree (m, 2) from below: inner nodes, and both children."""
    for start, end in reversed(list(pairwise(level_starts(children)))):
        nodes = start + np.flatnonzero(children[start:end, 0] >= 0)
        if len(nodes):
            yield nodes, children[nodes, 0], children[nodes, 1]


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
