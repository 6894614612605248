"""The smallest enclosing spheres of many small groups of points at once.

All groups make the pivots of `minimal_sphere` together, in arrays with one column for each group; a
group that has converged is removed.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..numeric.arrays import Bools, Floats, Ints, concatenated_ranges, cross_first, dot_first, length
from .farthest_point import LARGEST_SAFE_SQUARE, SMALLEST_SAFE_SQUARE
from .minimal_sphere import FLAT_VOLUME_SQUARED, MAX_PIVOTS, MAX_STALLS, TOLERANCE, minimal_sphere

_FEW = 64
"""Points of a group, on average, up to which its first quarter is not worth a look."""
_LARGE_GROUP, _BLOCK = 1024, 1 << 16
"""Groups of more points are solved one by one; smaller ones in blocks of about this many points."""


def minimal_spheres(points: NDArray[Any], bounds: Ints, is_sorted: bool = False) -> tuple[Floats, Floats]:
    """Find the centers (g, 3) and radii (g,) of the smallest spheres around groups of points (n, 3).

    Exact like `minimal_sphere`, without a loop over the groups.

    points : (n, 3) float32 or float64. Finite.
    bounds : (g + 1,) int64. Group k is `points[bounds[k]:bounds[k + 1]]`; strictly increasing.
    is_sorted : Whether the points that determine a sphere are likely to be in the first quarter of the group.
    """
    counts = np.diff(bounds)
    centers, radii = np.empty((len(counts), 3)), np.empty(len(counts))
    # Solve large groups one by one, and the others in blocks that fit the cache.
    for large in (counts > _LARGE_GROUP).nonzero()[0]:
        centers[large], radii[large] = minimal_sphere(points[bounds[large] : bounds[large + 1]])
    small = (counts <= _LARGE_GROUP).nonzero()[0]
    # Of sorted groups, a quarter is read more than once or twice.
    block = np.cumsum(counts[small]) // (4 * _BLOCK if is_sorted else _BLOCK)
    for members in np.split(small, np.diff(block).nonzero()[0] + 1):
        if len(members):
            sizes = counts[members]
            if members[-1] - members[0] == len(members) - 1:
                chosen = points[bounds[members[0]] : bounds[members[-1] + 1]]
            else:
                chosen = points.take(concatenated_ranges(bounds[members], sizes), axis=0)
            # No copy of columns that are laid out like this already.
            groups = PointGroups(np.ascontiguousarray(chosen.T, dtype=np.float64), sizes)
            solve = _from_first_quarters if is_sorted and len(chosen) > _FEW * len(members) else _from_all
            centers[members], radii[members] = solve(groups)
    return centers, radii


def _from_first_quarters(groups: PointGroups) -> tuple[Floats, Floats]:
    """Compute `_from_all` from the first quarter of each group, where no other point is outside.

    The smallest sphere around a part of some points is the smallest around all if it holds them.
    """
    centers, least = _from_all(groups.first(-(-groups.counts // 4)))
    radii = groups.largest_distances(centers)
    is_left = radii * radii > least * least * (1 + TOLERANCE)
    if is_left.any():
        centers[is_left], radii[is_left] = _from_all(groups.selected(is_left))
    return centers, radii


class PointGroups:
    """Groups of points in one array.

    columns : (3, n) float64. Points of all groups, concatenated.
    counts : (g,) int64. Points in each group, at least 1.
    starts : (g,) int64. Index of the first point of each group.
    """

    def __init__(self, columns: Floats, counts: Ints) -> None:
        self.columns = columns
        self.counts = counts
        self.starts: Ints = np.cumsum(counts) - counts

    def farthest(self, centers: Floats) -> tuple[Ints, Floats]:
        """Return indices (g,) of the points farthest from each center (3, g), and squared distances."""
        offset = self.columns - centers.repeat(self.counts, axis=1)
        x, y, z = np.multiply(offset, offset, out=offset)
        squared = np.add(np.add(x, y, out=x), z, out=x)
        largest = np.maximum.reduceat(squared, self.starts)
        reached = (squared == largest.repeat(self.counts)).nonzero()[0]
        # Take the first of each group.
        return reached[np.searchsorted(reached, self.starts)], largest

    def largest_distances(self, centers: Floats) -> Floats:
        """Return the largest distance (g,) of each group from its center (g, 3), computed as in
        `Sphere.contains`.
        """
        offset = self.columns - centers.T.repeat(self.counts, axis=1)
        with np.errstate(over="ignore", under="ignore"):
            squared: Floats = np.maximum.reduceat(dot_first(offset, offset), self.starts)
        if squared.min() > SMALLEST_SAFE_SQUARE and squared.max() < LARGEST_SAFE_SQUARE:
            return np.sqrt(squared)
        result: Floats = np.maximum.reduceat(length(offset.T), self.starts)
        return result

    def first(self, counts: Ints) -> PointGroups:
        """Return the first points of each group, `counts` (g,) of them."""
        return PointGroups(self.columns.take(concatenated_ranges(self.starts, counts), axis=1), counts)

    def selected(self, mask: Bools) -> PointGroups:
        """Return the groups where `mask` (g,) is true."""
        is_kept = mask.repeat(self.counts)
        # Select row by row, because masks are slow along a second axis.
        return PointGroups(np.stack([row[is_kept] for row in self.columns]), self.counts[mask])


def _from_all(groups: PointGroups) -> tuple[Floats, Floats]:
    """Compute centers (g, 3) and radii (g,) of the smallest spheres around groups.

    Exact like `pivot_to_smallest`: before the centers are rounded, radii are within about 1e-14 of the
    smallest.
    """
    # Scaled to the cube from -1 to 1, where nothing over- or underflows.
    low = np.minimum.reduceat(groups.columns, groups.starts, axis=1) * 0.5
    high = np.maximum.reduceat(groups.columns, groups.starts, axis=1) * 0.5
    middle, extent = low + high, (high - low).max(axis=0)
    extent = np.where(extent > 0, extent, 1.0)
    scaled = groups.columns - middle.repeat(groups.counts, axis=1)
    scaled /= extent.repeat(groups.counts)
    left = PointGroups(scaled, groups.counts)
    best, least_squared = np.zeros_like(middle), np.full(len(extent), np.inf)
    index, _ = left.farthest(best)
    other, squared = left.farthest(left.columns[:, index])
    # Fill a support of fewer than four points up with its first point, which adds no condition.
    support = left.columns[:, np.stack([index, other, index, index])]
    size = np.full(len(extent), 2)
    center = (support[:, 0] + support[:, 1]) * 0.5
    radius_squared = squared * 0.25
    stalls = np.zeros_like(size)
    # Index of each remaining group among all.
    remaining = np.arange(len(extent))
    for _ in range(MAX_PIVOTS):
        index, squared = left.farthest(center)
        is_better = squared < least_squared[remaining]
        least_squared[remaining[is_better]] = squared[is_better]
        best[:, remaining[is_better]] = center[:, is_better]
        point = left.columns[:, index]
        is_open = (squared > radius_squared * (1 + TOLERANCE)) & (stalls <= MAX_STALLS)
        is_open &= ~(support == point[:, None]).all(axis=0).any(axis=0)
        if not is_open.all():
            if not is_open.any():
                break
            left, remaining, stalls = left.selected(is_open), remaining[is_open], stalls[is_open]
            support, size, point = support[:, :, is_open], size[is_open], point[:, is_open]
            radius_squared = radius_squared[is_open]
        support, size, center, squared = _smallest_through(point, support, size)
        stalls = np.where(squared > radius_squared, 0, stalls + 1)
        radius_squared = squared
    center = np.asarray((middle + best * extent).T)
    return center, groups.largest_distances(center)


def _smallest_through(point: Floats, support: Floats, size: Ints) -> tuple[Floats, Ints, Floats, Floats]:
    """Find the smallest spheres around `support` (3, 4, g) and `point` (3, g) that pass through `point`.

    Of all spheres through the point and a part of the support, take the one whose farthest point is nearest.
    Return supports (3, 4, g), their sizes (g,), centers (3, g) and squared radii (g,).
    """
    new_support, new_size = np.empty_like(support), np.empty_like(size)
    center, squared = np.empty_like(point), np.empty(len(size))
    for corners in (2, 3, 4):
        groups = (size == corners).nonzero()[0]
        if len(groups):
            edges = support[:, :corners, groups] - point[:, None, groups]
            offset, squared[groups], choice = _nearest_circumcenter(edges)
            center[:, groups] = point[:, groups] + offset
            members, sizes = _MEMBERS[corners]
            new_size[groups] = sizes[choice] + 1
            new_support[:, 0, groups] = point[:, groups]
            new_support[:, 1:, groups] = support[:, members[choice].T, groups]
    # Repeat the newest point in unused columns.
    new_support = np.where(np.arange(4)[:, None] >= new_size, new_support[:, :1], new_support)
    return new_support, new_size, center, squared


def _subsets(corners: int) -> list[tuple[int, ...]]:
    """Return all subsets of one to three of the corners."""
    return [subset for size in (1, 2, 3) for subset in combinations(range(corners), size)]


_MEMBERS = {
    corners: (
        np.array([(*subset, 0, 0)[:3] for subset in _subsets(corners)]),
        np.array([len(subset) for subset in _subsets(corners)]),
    )
    for corners in (2, 3, 4)
}
"""By number of corners, the subsets that can determine a sphere: members, filled up to three, and sizes."""


def _nearest_circumcenter(edges: Floats) -> tuple[Floats, Floats, Ints]:
    """Choose the circumcenter of the origin and a subset of corners (3, k, g) with the least distance to
    the farthest.

    Return the circumcenter (3, g), its squared distance (g,) from the origin, and the index (g,) of the
    subset.
    """
    corners = edges.shape[1]
    squared = dot_first(edges, edges)
    candidates = [edges * 0.5]
    with np.errstate(all="ignore"):
        pairs = np.array(list(combinations(range(corners), 2)))
        candidates.append(_through_two(edges[:, pairs.T], squared[pairs.T]))
        if corners > 2:
            triples = np.array(list(combinations(range(corners), 3)))
            candidates.append(_through_three(edges[:, triples.T], squared[triples.T]))
        offsets = np.concatenate(candidates, axis=1)
        offset_squared = dot_first(offsets, offsets)
        violation = np.zeros_like(offset_squared)
        for index in range(corners):
            of_corner = squared[index] - 2 * dot_first(offsets, edges[:, index, None])
            np.maximum(violation, of_corner, out=violation)
        reach = offset_squared + violation
    # Collinear and coplanar corners have no circumcenter.
    reach[~(reach < np.inf)] = np.inf
    choice = reach.argmin(axis=0)
    column = np.arange(len(choice))
    return offsets[:, choice, column], offset_squared[choice, column], choice


def _through_two(edges: Floats, squared: Floats) -> Floats:
    """Circumcenters (3, m, g) of the origin and two corners, (3, 2, m, g); infinite or NaN if collinear."""
    a, b = edges[:, 0], edges[:, 1]
    normal = cross_first(a, b)
    twice = 2 * dot_first(normal, normal)
    between = a - b
    # Subtract corners, not their squares, because close corners keep their digits then.
    u = squared[1] * dot_first(a, between) / twice
    v = -squared[0] * dot_first(b, between) / twice
    result: Floats = u * a + v * b
    return result


def _through_three(edges: Floats, squared: Floats) -> Floats:
    """Circumcenters (3, m, g) of the origin and three corners, (3, 3, m, g); infinite or NaN if coplanar."""
    a, b, c = edges[:, 0], edges[:, 1], edges[:, 2]
    u, v, w = cross_first(b, c), cross_first(c, a), cross_first(a, b)
    twice = 2 * dot_first(a, u)
    center: Floats = (squared[0] * u + squared[1] * v + squared[2] * w) / twice
    flat = twice * twice < FLAT_VOLUME_SQUARED * squared[0] * squared[1] * squared[2]
    if flat.any():
        # Nearly coplanar corners lose digits: correct the center by the residuals of its equations.
        residuals = [squared[k] - 2 * dot_first(center, edges[:, k]) for k in range(3)]
        center += np.where(flat, (residuals[0] * u + residuals[1] * v + residuals[2] * w) / twice, 0.0)
    return center
