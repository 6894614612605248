"""Triangles in, a hierarchy of spheres out: parts are split in two until they are small or few."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, Ints, as_floats
from .errors import EmptyGeometryError, InvalidShapeError
from .fitting import spheres_from_groups
from .shapes import Sphere, Triangle
from .sphere_tree import SphereTree, ranges

_BINS = 16
"""Places at which a part may be cut along each axis. Twice as many make no tighter trees, half as many do
worse: 20 % more volume on the meshes tried."""

_MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number whose bits look random: products with it spread keys over a table (Knuth)."""


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
