"""Top-down construction of sphere trees.

Parts of the triangles are split in two, level by level, until they are small or have few triangles. Splits
are binned, as for BVHs of ray tracers (Wald 2007), with Otsu's criterion (1979) in place of surface areas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import EmptyGeometryError, InvalidShapeError
from ..fitting.enclosing import spheres_from_groups
from ..numeric.arguments import as_number, as_whole_number
from ..numeric.arrays import Bools, Floats, Ints, as_floats, concatenated_ranges, row_codes
from ..progress import pause
from ..shapes import Sphere, Triangle, concatenated
from .sphere_tree import SphereTree

_BINS = 16
"""Bins along each axis, between which a part may be split. Twice as many make no tighter trees; half as many
made 20 % more volume on the meshes tried."""


def sphere_tree_from_triangles(
    triangles: Triangle | ArrayLike, depth: int = 4, tightness: float = 0.0, leaf_triangles: int = 1
) -> SphereTree:
    """Build a sphere tree around triangles, top down.

    At every level each triangle is inside the sphere of its node. The spheres are the smallest around the
    corners of each part, to 1e-12 of the radius, and enclose every corner in float64. Parts are split in two
    by the centroids of their triangles, at that one of 16 positions along each axis which leaves the least
    scatter around the means of both halves (Otsu's criterion in space). Median splits made spheres of up to
    30 times the volume on meshes of uneven density.

    Parameters
    ----------
    triangles : Triangle, batch (t,), or (t, 3, 3) float
        The triangles or their corners, t >= 1.
    depth : int
        Maximum number of levels below the root; 0 is the root alone. The default of 4 makes 16 leaves, few
        enough to draw, to write to a file and to test in a few microseconds.
    tightness : float
        Parts with a radius of at most this fraction of the root's are not split.
    leaf_triangles : int
        Parts of at most this many triangles are not split. Neither are parts with equal centroids.

    Returns
    -------
    tree : SphereTree, batch ()
        In the space and unit of the triangles.

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    corners = as_corners(triangles)
    depth = as_whole_number(depth, "depth", 0)
    tightness = as_number(tightness, "tightness", 0.0)
    leaf_triangles = as_whole_number(leaf_triangles, "leaf_triangles", 1)
    points = corners.reshape(-1, 3)
    vertices = _equal_rows(np.ascontiguousarray(points.T).view(np.uint64)).reshape(-1, 3)
    order = np.arange(len(corners))
    levels: list[Sphere] = []

    def is_split(parts: Ints) -> Bools:
        spheres = _enclosing_spheres(points, vertices, order, parts)
        levels.append(spheres)
        is_large: Bools = np.diff(parts)[:, 0] > leaf_triangles
        if len(levels) > depth:
            return np.zeros_like(is_large)
        # The root is split unless no part would be.
        least = tightness * levels[0].radius[0] if len(levels) > 1 or tightness >= 1 else -np.inf
        return is_large & (spheres.radius > least)

    children, parts = _split(_centroids(corners), order, is_split)
    spheres = concatenated(*levels)
    return SphereTree(spheres.center, spheres.radius, children, parts, order)


class TrianglePartition(NamedTuple):
    """Nodes and triangles of a sphere tree without its spheres, in arrays as those of `SphereTree`."""

    children: Ints
    parts: Ints
    order: Ints


def partition_triangles(triangles: Triangle | ArrayLike, leaf_triangles: int = 1) -> TrianglePartition:
    """Split triangles as `sphere_tree_from_triangles` does at any depth, without fitting spheres. Exact.

    Arguments and errors are as those of that function.
    """
    corners = as_corners(triangles)
    leaf_triangles = as_whole_number(leaf_triangles, "leaf_triangles", 1)
    order = np.arange(len(corners))
    children, parts = _split(_centroids(corners), order, lambda parts: np.diff(parts)[:, 0] > leaf_triangles)
    return TrianglePartition(children, parts, order)


def _split(centroids: Floats, order: Ints, is_split: Callable[[Ints], Bools]) -> tuple[Ints, Ints]:
    """Split triangles (t,) level by level, reordering them in place; return children and parts (m, 2).

    is_split : which parts (p, 2) of a level to split
    """
    parts = np.array([[0, len(order)]])
    all_children, all_parts = [], []
    count = 0
    while len(parts):
        pause()
        count += len(parts)
        split = np.flatnonzero(is_split(parts))
        sizes, is_separable = _reorder_halves(centroids, order, parts[split])
        split = split[is_separable]
        children = np.full((len(parts), 2), -1)
        children[split] = count + np.arange(2 * len(split)).reshape(-1, 2)
        all_children.append(children)
        all_parts.append(parts)
        low, high = parts[split].T
        middle = low + sizes[is_separable]
        parts = np.stack([low, middle, middle, high], axis=1).reshape(-1, 2)
    return np.concatenate(all_children), np.concatenate(all_parts)


def as_corners(triangles: Triangle | ArrayLike) -> Floats:
    """Corners (t, 3, 3), finite, t >= 1; raises the errors of `sphere_tree_from_triangles`."""
    if isinstance(triangles, Triangle):
        corners = np.stack([triangles.a, triangles.b, triangles.c], axis=-2)
    else:
        corners = as_floats(triangles, "triangles")
    if corners.size == 0:
        raise EmptyGeometryError("no triangles")
    if corners.ndim != 3 or corners.shape[1:] != (3, 3):
        raise InvalidShapeError(f"triangles: the shape must be (t, 3, 3), not {corners.shape}")
    return np.ascontiguousarray(corners)


def _centroids(corners: Floats) -> Floats:
    """Three eighths (3, t) of the centroids of triangles, which give the same splits and do not overflow."""
    scaled = corners * 0.125
    # The order of a sum over the axis, at a tenth of its time.
    return np.ascontiguousarray((scaled[:, 0] + scaled[:, 1] + scaled[:, 2]).T)


def _enclosing_spheres(points: Floats, vertices: Ints, order: Ints, parts: Ints) -> Sphere:
    """Smallest spheres, batch (p,), around the corners of parts (p, 2) of the triangles in `order`.

    `vertices` (t, 3) are indices of the corners into `points` (3 t, 3), mostly the same for equal points, so
    that a corner that triangles of a part share is used once.
    """
    sizes = np.diff(parts)[:, 0]
    corners = vertices[order[concatenated_ranges(parts[:, 0], sizes)]].ravel()
    part = np.arange(len(parts)).repeat(3 * sizes)
    keys = (corners + part * len(points)).view(np.uint64)
    unique = np.flatnonzero(_equal_rows(keys[None]) == np.arange(len(corners)))
    offsets = np.searchsorted(unique, np.concatenate([[0], np.cumsum(3 * sizes)]))
    return spheres_from_groups(points[corners[unique]], offsets)


def _reorder_halves(centroids: Floats, order: Ints, parts: Ints) -> tuple[Ints, Bools]:
    """Reorder the triangles of parts (p, 2) in `order`, so that each part begins with its first half.

    Returns the sizes (p,) of the first halves, and which parts (p,) can be split: those with
    different centroids.
    """
    count = len(parts)
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=bool)
    sizes = np.diff(parts)[:, 0]
    rows = concatenated_ranges(parts[:, 0], sizes)
    starts = np.cumsum(sizes) - sizes
    part = np.arange(count).repeat(sizes)
    # Scale each part to a unit cube, so that nothing overflows or underflows.
    x = centroids[:, order[rows]]
    low = np.minimum.reduceat(x, starts, axis=1)
    extent = np.maximum.reduceat(x, starts, axis=1) - low
    size = extent.max(axis=0)
    x = (x - low.repeat(sizes, axis=1)) / np.where(size > 0, size, 1.0).repeat(sizes)
    relative = extent / np.where(size > 0, size, 1.0)
    bins = np.divide(_BINS, relative, out=np.zeros_like(relative), where=relative > 1e-300)
    bin_of = np.minimum((x * bins.repeat(sizes, axis=1)).astype(np.int64), _BINS - 1)
    keys = bin_of + part * _BINS
    scatter = [_between_class_scatter(keys[axis], x, count) for axis in range(3)]
    best = np.stack(scatter, axis=1).reshape(count, -1).argmax(axis=1)
    axis, cut = np.divmod(best, _BINS - 1)
    is_first = bin_of[axis.repeat(sizes), np.arange(len(rows))] <= cut.repeat(sizes)
    # Stable: triangles keep their order within each half.
    order[rows] = order[rows[np.argsort(2 * part + ~is_first, kind="stable")]]
    return np.add.reduceat(is_first.astype(np.int64), starts), size > 0


def _between_class_scatter(keys: Ints, x: Floats, count: int) -> Floats:
    """Between-class scatter (count, bins - 1) of splits after each bin; -1 where a half is empty.

    `keys` (n,) are the bins of the triangles, numbered through all parts, and `x` (3, n) their centroids.
    """

    def sums(weights: Floats | None) -> tuple[Floats, Floats]:
        total = np.bincount(keys, weights, count * _BINS).reshape(count, _BINS)
        first = total.cumsum(axis=1)
        return first[:, :-1], first[:, -1:] - first[:, :-1]

    first, second = sums(None)
    scatter = np.zeros_like(first, dtype=np.float64)
    for coordinate in x:
        sum_first, sum_second = sums(coordinate)
        scatter += sum_first**2 / np.maximum(first, 1) + sum_second**2 / np.maximum(second, 1)
    return np.where((first > 0) & (second > 0), scatter, -1.0)


def _equal_rows(columns: NDArray[np.uint64]) -> Ints:
    """For each of n rows, in columns (k, n), the index (n,) of an equal row: mostly one for all equal rows.

    A hash table without probing: the last row with a code stays in its slot. If a different row holds the
    slot, a row gets its own index.
    """
    # Up to four slots for each row, with 32-bit indices, so that the table fits the cache.
    bits = 1 + max(3, columns.shape[1].bit_length())
    slot = (row_codes(columns) >> np.uint64(64 - bits)).view(np.int64)
    indices = np.arange(columns.shape[1], dtype=np.int32)
    table = np.empty(1 << bits, dtype=np.int32)
    table[slot] = indices
    winner = table[slot]
    is_equal = np.logical_and.reduce([column[winner] == column for column in columns])
    return np.where(is_equal, winner, indices)
