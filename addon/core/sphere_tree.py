"""Triangles in, a hierarchy of spheres out: a shape that follows a mesh closely and is tested quickly.

A sphere tree IS the union of the spheres of its leaves. The nodes above them serve to find the leaves that
matter, and as coarser bounds: at every level each triangle lies wholly inside the sphere of its part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import Bools, Floats, Ints, as_floats, length, transform_points
from .batch import Batched, broadcast_fields, first_index
from .errors import EmptyGeometryError, InvalidShapeError
from .fitting import spheres_from_groups
from .shapes import Aabb, Sphere, Triangle
from .tree_descent import NO_TREE, Rows, best_leaves, found

_EPS = np.finfo(np.float64).eps
_BINS = 16
"""Places at which a part may be cut along each axis. Twice as many make no tighter trees, half as many do
worse: 20 % more volume on the meshes tried."""

_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: products with it spread keys over a table (Knuth)."""


@dataclass(frozen=True, eq=False)
class SphereTree(Batched):
    """A binary tree of m spheres, or a batch of poses of it: every pose has the same nodes and triangles.

    center : (..., m, 3)
    radius : (..., m), of the smallest sphere around the triangles of each node, in the first pose
    reach : (..., m) radius around the same centre that holds all leaves below
    core : (..., m) radius around the same centre that one of the leaves below holds; negative if the centre
        is outside of all of them
    children : (m, 2) int64, -1 for a leaf; breadth-first, node 0 is the root
    parts : (m, 2) int64, node k stands for the triangles order[parts[k, 0] : parts[k, 1]]
    order : (t,) int64 indices of triangles

    The sphere of a node holds the triangles of its part, but not always the spheres below it, which stick out
    between the triangles: that is what `reach` is for. At a distance d from its centre to something, the
    nearest leaf is at least d - reach and at most d - core away from it.

    Raises InvalidShapeError or NonFiniteGeometryError, naming the element.
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
        below = _as_indices(children, "tree children")
        count = len(below)
        if spheres.shape[-1:] != (count,) or below.shape != (count, 2) or count == 0:
            raise InvalidShapeError(
                f"tree: spheres {spheres.shape} and children {below.shape} are not of m >= 1 nodes"
            )
        _require_breadth_first(below)
        listed = _as_indices(order, "tree order")
        spans = np.zeros((count, 2), dtype=np.int64) if parts is None else _as_indices(parts, "tree parts")
        if spans.shape != (count, 2) or spans.min() < 0 or spans.max() > len(listed):
            raise InvalidShapeError(f"tree parts: they must be (m, 2) and within {len(listed)} triangles")
        reach, core = _nested_radii(spheres, below)
        self._set(below, spans, listed, (spheres.center, spheres.radius, reach, core))

    @property
    def tails(self) -> dict[str, tuple[int, ...]]:  # type: ignore[override]
        """The fields that a pose has of its own, and their axes: those of the nodes are not batch axes."""
        nodes = (len(self.children),)
        return {"center": (*nodes, 3), "radius": nodes, "reach": nodes, "core": nodes}

    @property
    def spheres(self) -> Sphere:
        """The spheres of all nodes, a batch (..., m)."""
        return Sphere.trusted(self.center, self.radius)

    @property
    def leaves(self) -> Ints:
        """Which nodes are leaves, growing."""
        return np.flatnonzero(self.children[:, 0] < 0)

    @property
    def leaf_spheres(self) -> Sphere:
        """The spheres of the leaves, a batch (..., number of leaves): what the tree is."""
        leaves = self.leaves
        return Sphere.trusted(self.center[..., leaves, :], self.radius[..., leaves])

    @property
    def depth(self) -> int:
        """The number of levels below the root."""
        return len(level_starts(self.children)) - 2

    def aabb(self) -> Aabb:
        """The boxes around the leaves, (...)."""
        boxes = self.leaf_spheres.aabb()
        return Aabb.trusted(boxes.min.min(axis=-2), boxes.max.max(axis=-2))

    def contains(self, points: ArrayLike) -> Bools:
        """Which points lie inside or on some leaf; (..., 3) broadcast against the batch."""
        p = as_floats(points, "points", (3,))
        batch = np.broadcast_shapes(p.shape[:-1], self.shape)
        flat, nodes = np.broadcast_to(p, (*batch, 3)).reshape(-1, 3), self.posed(batch)

        def bounds(rows: Rows) -> tuple[Floats, Floats]:
            at = nodes.rows(rows.element, rows.a)
            distance = length(nodes.center[at] - flat[rows.element])
            is_leaf = self.children[rows.a, 0] < 0
            return found(distance <= nodes.reach[at], is_leaf & (distance <= nodes.radius[at]))

        def values(elements: Ints) -> Floats:
            leaves = nodes.leaf_spheres(elements)
            return np.where(leaves.contains(flat[elements, None]), -1.0, np.inf)

        leaf, _ = best_leaves(len(flat), self.children, NO_TREE, bounds, values)
        return np.asarray((leaf >= 0).reshape(batch))

    def padded(self, amount: ArrayLike) -> SphereTree:
        """Trees whose spheres are grown by `amount` (...); a radius below zero is an InvalidShapeError."""
        pad = as_floats(amount, "padding")[..., None]
        center, radius, reach, core = broadcast_fields(
            "tree",
            [(self.center, 2), (self.radius + pad, 1), (self.reach + pad, 1), (self.core + pad, 1)],
        )
        if (radius < 0).any():
            raise InvalidShapeError(f"tree radius: element {first_index(radius < 0)} is negative")
        return self._alike({"center": center, "radius": radius, "reach": reach, "core": core})

    def transformed(self, matrix: ArrayLike) -> SphereTree:
        """Trees around the images under affine matrices (..., 4, 4): a batch of matrices makes one of poses.

        Conservative like `Sphere.transformed`: all radii grow by the largest singular value. Centres come no
        farther apart than by that, so that what held leaves still does.
        """
        m = as_floats(matrix, "matrix", (4, 4))
        stretch = Sphere(np.zeros(3), 1.0).transformed(m).radius[..., None]
        center = transform_points(m[..., None, :, :], self.center)
        # Moved centres are rounded, and what the images of the axes cancel is rounded before.
        terms = np.abs(m[..., :3, :3]).sum(axis=-1).max(axis=-1) * np.abs(self.center).max(axis=(-2, -1))
        lost = (8 * _EPS * (terms + np.abs(m[..., :3, 3]).max(axis=-1)))[..., None]
        radius, reach, core = self.radius * stretch, self.reach * stretch + lost, self.core * stretch - lost
        return self._alike({"center": center, "radius": radius, "reach": reach, "core": core})

    def posed(self, batch: tuple[int, ...]) -> PosedNodes:
        """The nodes of all poses in a row, for a batch that the poses are broadcast to."""
        return PosedNodes(self, batch)

    def require_same_nodes(self, other: SphereTree) -> None:
        """Raise InvalidShapeError where `other` is not another pose of the same tree."""
        if self.children is not other.children and not np.array_equal(self.children, other.children):
            raise InvalidShapeError("trees: only poses of one tree have a motion from one to the other")

    def _set(self, children: Ints, parts: Ints, order: Ints, arrays: tuple[Any, ...]) -> None:
        for name, array in (("children", children), ("parts", parts), ("order", order)):
            if array.flags.writeable:
                array = array.view()
                array.flags.writeable = False
            object.__setattr__(self, name, array)
        self._freeze(arrays)

    def _alike(self, arrays: dict[str, Any]) -> SphereTree:
        alike = object.__new__(SphereTree)
        alike._set(self.children, self.parts, self.order, tuple(arrays.values()))
        return alike


class PosedNodes:
    """The nodes of a flat batch (n,) of trees, those of all different poses one after the other."""

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
        """Where the nodes of elements of the batch are."""
        return self._first[element] + node

    def leaf_spheres(self, element: Ints) -> Sphere:
        """All leaves of elements (k,) of the batch, (k, number of leaves)."""
        leaves = self._tree.leaves
        pose = self._pose[element, None]
        return Sphere.trusted(self._tree.center[pose, leaves], self._tree.radius[pose, leaves])

    @property
    def size(self) -> Floats:
        """(n,) the largest coordinate that the leaves of each element may have."""
        center, reach = self._tree.center[:, 0], self._tree.reach[:, 0]
        result: Floats = (np.abs(center).max(axis=-1) + reach)[self._pose]
        return result


def sphere_tree_from_triangles(
    triangles: Triangle | ArrayLike, depth: int = 4, tightness: float = 0.0, leaf_triangles: int = 1
) -> SphereTree:
    """A sphere tree around triangles; every one of them is inside its part's sphere at every level.

    The spheres are the smallest around the corners of each part, to 1e-12 of the radius, and hold every
    corner in float64. Parts are split in two, by the centroids of their triangles, at that one of 16 places
    along each axis that leaves the least scatter around the means of both halves (Otsu's criterion in space).
    Halves of equal numbers made spheres of up to 30 times the volume on meshes that are denser in places.

    Parameters
    ----------
    triangles : Triangle batch (t,), or (t, 3, 3) corners
    depth : int
        Levels below the root at most; 0 is the root alone. The default of 4 makes 16 leaves, few enough to
        draw, to write to a file and to test in a few microseconds.
    tightness : float
        A part whose radius is at most this much of the root's is not split.
    leaf_triangles : int
        A part of at most so many triangles is not split. Neither is one whose centroids are all the same.

    Raises EmptyGeometryError for no triangles, NonFiniteGeometryError naming the element, InvalidShapeError.
    """
    corners = _as_corners(triangles)
    if not (depth >= 0 and tightness >= 0 and leaf_triangles >= 1):
        raise InvalidShapeError(
            f"tree: depth {depth} and tightness {tightness} must be >= 0, leaf_triangles >= 1"
        )
    count = len(corners)
    points = corners.reshape(-1, 3)
    same = _same_as(*np.ascontiguousarray(points.T).view(np.int64)).reshape(count, 3)
    # Three eighths of the centroid serve as well, and do not overflow.
    centroids = (corners * 0.125).sum(axis=1).T
    order = np.arange(count)
    parts = np.array([[0, count]])
    levels: list[tuple[Sphere, Ints, Ints]] = []
    nodes = 1
    while len(parts):
        spheres = _spheres_around(points, same, order, parts)
        splits = np.diff(parts)[:, 0] > leaf_triangles
        if len(levels) == depth:
            splits[:] = False
        elif levels or tightness >= 1:
            root = levels[0][0].radius[0] if levels else spheres.radius[0]
            splits &= spheres.radius > tightness * root
        split = np.flatnonzero(splits)
        sizes, is_split = _halved(centroids, order, parts[split])
        split = split[is_split]
        children = np.full((len(parts), 2), -1)
        children[split] = nodes + np.arange(2 * len(split)).reshape(-1, 2)
        nodes += 2 * len(split)
        levels.append((spheres, children, parts))
        low, high = parts[split].T
        middle = low + sizes[is_split]
        parts = np.stack([low, middle, middle, high], axis=1).reshape(-1, 2)
    return SphereTree(
        np.concatenate([level[0].center for level in levels]),
        np.concatenate([level[0].radius for level in levels]),
        np.concatenate([level[1] for level in levels]),
        np.concatenate([level[2] for level in levels]),
        order,
    )


def _as_corners(triangles: Triangle | ArrayLike) -> Floats:
    """(t, 3, 3) finite, t >= 1."""
    if isinstance(triangles, Triangle):
        corners = np.stack([triangles.a, triangles.b, triangles.c], axis=-2)
    else:
        corners = as_floats(triangles, "triangles")
    if corners.size == 0:
        raise EmptyGeometryError("no triangles")
    if corners.ndim != 3 or corners.shape[1:] != (3, 3):
        raise InvalidShapeError(f"triangles: the shape must be (t, 3, 3), not {corners.shape}")
    return np.ascontiguousarray(corners)


def _spheres_around(points: Floats, same: Ints, order: Ints, parts: Ints) -> Sphere:
    """The smallest spheres around the corners of parts (p, 2) of the triangles `order`.

    `same` (t, 3) names each corner of a triangle by one of `points` (3t, 3), mostly one name for all that
    coincide: a corner that a part's triangles share is looked at once.
    """
    sizes = np.diff(parts)[:, 0]
    names = same[order[ranges(parts[:, 0], sizes)]].ravel()
    part = np.arange(len(parts)).repeat(3 * sizes)
    once = np.flatnonzero(_same_as(names + part * len(points)) == np.arange(len(names)))
    offsets = np.searchsorted(once, np.concatenate([[0], np.cumsum(3 * sizes)]))
    return spheres_from_groups(points[names[once]], offsets)


def _halved(centroids: Floats, order: Ints, parts: Ints) -> tuple[Ints, Bools]:
    """Reorder the triangles of parts (p, 2) in `order`, so that each begins with its first half.

    Returns how many triangles those halves have, (p,), and which parts could be split at all.
    """
    count = len(parts)
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    sizes = np.diff(parts)[:, 0]
    rows = ranges(parts[:, 0], sizes)
    starts = np.cumsum(sizes) - sizes
    part = np.arange(count).repeat(sizes)
    # In each part's own unit cube nothing over- or underflows.
    x = centroids[:, order[rows]]
    low = np.minimum.reduceat(x, starts, axis=1)
    extent = np.maximum.reduceat(x, starts, axis=1) - low
    size = extent.max(axis=0)
    x = (x - low.repeat(sizes, axis=1)) / np.where(size > 0, size, 1.0).repeat(sizes)
    relative = extent / np.where(size > 0, size, 1.0)
    bins = np.divide(_BINS, relative, out=np.zeros_like(relative), where=relative > 1e-300)
    place = np.minimum((x * bins.repeat(sizes, axis=1)).astype(np.int64), _BINS - 1)
    keys = place + part * _BINS
    gains = np.stack([_gains(keys[axis], x, count) for axis in range(3)], axis=1).reshape(count, -1)
    best = gains.argmax(axis=1)
    axis, cut = np.divmod(best, _BINS - 1)
    is_first = place[axis.repeat(sizes), np.arange(len(rows))] <= cut.repeat(sizes)
    is_split = size > 0
    # First halves to the front, all else in its order.
    order[rows] = order[rows[np.argsort(2 * part + ~is_first, kind="stable")]]
    return np.add.reduceat(is_first.astype(np.int64), starts), is_split


def _gains(keys: Ints, x: Floats, count: int) -> Floats:
    """(count, bins - 1) how good it is to cut parts after each bin: the between-class scatter; -1 for no cut.

    keys : (n,) bin of a triangle, counted through all parts; x : (3, n) its centroid
    """

    def sums(weights: Floats | None) -> tuple[Floats, Floats]:
        total = np.bincount(keys, weights, count * _BINS).reshape(count, _BINS)
        first = total.cumsum(axis=1)
        return first[:, :-1], first[:, -1:] - first[:, :-1]

    first, second = sums(None)
    gain = np.zeros_like(first, dtype=np.float64)
    for coordinate in x:
        sum_first, sum_second = sums(coordinate)
        gain += sum_first**2 / np.maximum(first, 1) + sum_second**2 / np.maximum(second, 1)
    return np.where((first > 0) & (second > 0), gain, -1.0)


def _same_as(*keys: Ints) -> Ints:
    """For each row of keys, (n,) each, the index of an equal row: mostly the same for all that are equal.

    A table in which the last of all rows with one hash stays. Rows that lose their place to a different one
    are the same as themselves.
    """
    mixed = keys[0].view(np.uint64) * _MIXER
    for key in keys[1:]:
        mixed ^= mixed >> np.uint64(29)
        mixed = (mixed ^ key.view(np.uint64)) * _MIXER
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIXER
    # A table of up to four times as many places as rows, small enough for the cache: 32 bits will do.
    bits = 1 + max(3, len(mixed).bit_length())
    place = (mixed >> np.uint64(64 - bits)).view(np.int64)
    own = np.arange(len(mixed), dtype=np.int32)
    table = np.empty(1 << bits, dtype=np.int32)
    table[place] = own
    winner = table[place]
    equal = keys[0][winner] == keys[0]
    for key in keys[1:]:
        equal &= key[winner] == key
    return np.where(equal, winner, own)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The whole numbers from each start on, so many each, one after the other."""
    before = np.cumsum(sizes) - sizes
    result: Ints = (starts - before).repeat(sizes) + np.arange(sizes.sum())
    return result


def level_starts(children: Ints) -> Ints:
    """Where the levels of a breadth-first tree begin and the last one ends: (depth + 2,)."""
    inner_before = np.concatenate([[0], np.cumsum(children[:, 0] >= 0)])
    starts = [0, 1]
    while starts[-1] < len(children):
        # The children of all nodes so far are the nodes after the root.
        starts.append(1 + 2 * int(inner_before[starts[-1]]))
    return np.array(starts)


def _nested_radii(spheres: Sphere, children: Ints) -> tuple[Floats, Floats]:
    """`reach` and `core` of SphereTree, (..., m) each, from the leaves below each node; reach rounded up."""
    center, radius = spheres.center, spheres.radius
    starts = level_starts(children)
    inner = [start + np.flatnonzero(children[start:end, 0] >= 0) for start, end in pairwise(starts)]
    # Depth first, the leaves below a node follow one another: how many there are, and where they begin.
    below = np.ones(len(children), dtype=np.int64)
    for nodes in reversed(inner):
        below[nodes] = below[children[nodes]].sum(axis=1)
    begin = np.zeros(len(children), dtype=np.int64)
    for nodes in inner:
        left, right = children[nodes].T
        begin[left], begin[right] = begin[nodes], begin[nodes] + below[left]
    leaf = np.flatnonzero(children[:, 0] < 0)
    leaf = leaf[begin[leaf].argsort()]
    reach, core = radius.copy(), radius.copy()
    for nodes in inner:
        if len(nodes):
            leaves, node = leaf[ranges(begin[nodes], below[nodes])], nodes.repeat(below[nodes])
            distance = length(center[..., leaves, :] - center[..., node, :])
            groups = np.cumsum(below[nodes]) - below[nodes]
            farthest = np.maximum.reduceat(distance + radius[..., leaves], groups, axis=-1)
            reach[..., nodes] = farthest * (1 + 16 * _EPS)
            core[..., nodes] = np.maximum.reduceat(radius[..., leaves] - distance, groups, axis=-1)
    return reach, core


def _as_indices(values: ArrayLike, what: str) -> Ints:
    array: NDArray[Any] = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InvalidShapeError(f"{what}: whole numbers are needed, not {array.dtype}")
    return array.astype(np.int64)


def _require_breadth_first(children: Ints) -> None:
    """Raise InvalidShapeError unless the nodes after the root are the children of all nodes, in order."""
    is_inner = children[:, 0] >= 0
    nodes, listed = np.flatnonzero(is_inner), children[is_inner].ravel()
    bad = np.flatnonzero((children[~is_inner] != -1).any(axis=1))
    if len(bad):
        raise InvalidShapeError(
            f"tree children: element {int(np.flatnonzero(~is_inner)[bad[0]])} has one child or none"
        )
    if not np.array_equal(listed, np.arange(1, len(children))) or (listed[::2] <= nodes).any():
        raise InvalidShapeError("tree children: the nodes are not breadth-first from node 0")
