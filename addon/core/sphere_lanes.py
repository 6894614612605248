"""The smallest spheres of many small groups of points at once, a lane for each group.

All lanes make the pivots of `sphere_support` together; a lane that has converged drops out.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .arrays import Bools, Floats, Ints, length
from .distances import LARGEST_SAFE_SQUARE, SMALLEST_SAFE_SQUARE
from .sphere_support import FLAT, MAX_PIVOTS, MAX_STALLS, TOLERANCE

# Lanes whose support is replaced at a time: more would fall out of the cache.
_LANES_AT_ONCE = 2048


class Groups:
    """Columns (3, n) of points that lie group by group; `counts` (g,) says how many each has, at least 1."""

    def __init__(self, columns: Floats, counts: Ints) -> None:
        self.columns = columns
        self.counts = counts
        self.starts: Ints = np.cumsum(counts) - counts

    def farthest(self, centers: Floats) -> tuple[Ints, Floats]:
        """Of each group the point farthest from its centre (3, g): index among all, squared distance."""
        offset = self.columns - centers.repeat(self.counts, axis=1)
        np.multiply(offset, offset, out=offset)
        squared = np.add(offset[0], offset[1], out=offset[0])
        np.add(squared, offset[2], out=squared)
        largest = np.maximum.reduceat(squared, self.starts)
        reached = (squared == largest.repeat(self.counts)).nonzero()[0]
        # The first in each group.
        return reached[np.searchsorted(reached, self.starts)], largest

    def normalised(self) -> tuple[Groups, Floats, Floats]:
        """Each group around its middle in units of its extent, and those: (3, g) and (g,)."""
        low = np.minimum.reduceat(self.columns, self.starts, axis=1)
        high = np.maximum.reduceat(self.columns, self.starts, axis=1)
        middle = low * 0.5 + high * 0.5
        extent = (high * 0.5 - low * 0.5).max(axis=0)
        extent = np.where(extent > 0, extent, 1.0)
        local = self.columns - middle.repeat(self.counts, axis=1)
        local /= extent.repeat(self.counts)
        return Groups(local, self.counts), middle, extent

    def largest_distances(self, centers: Floats) -> Floats:
        """Each group's largest distance from its centre (g, 3), computed as `Sphere.contains` does."""
        offset = self.columns - centers.T.repeat(self.counts, axis=1)
        with np.errstate(over="ignore", under="ignore"):
            squared: Floats = np.maximum.reduceat(_dot(offset, offset), self.starts)
        if squared.min() > SMALLEST_SAFE_SQUARE and squared.max() < LARGEST_SAFE_SQUARE:
            return np.sqrt(squared)
        result: Floats = np.maximum.reduceat(length(offset.T), self.starts)
        return result

    def only(self, lanes: Bools) -> Groups:
        """The groups where `lanes` is true."""
        kept = lanes.repeat(self.counts)
        # A row at a time: masks are slow along a second axis.
        return Groups(np.stack([row[kept] for row in self.columns]), self.counts[lanes])


def minimal_centers(groups: Groups) -> Floats:
    """Centres (g, 3) of the smallest spheres around groups of points.

    Exact like `sphere_support.pivoted`: radii are within about 1e-14 of the smallest there are.
    """
    groups, middle, extent = groups.normalised()
    lanes = len(groups.counts)
    best, least = np.zeros((3, lanes)), np.full(lanes, np.inf)
    first, _ = groups.farthest(best)
    second, squared = groups.farthest(groups.columns[:, first])
    # A support of fewer than four is filled up with its first point, which adds no condition.
    support = groups.columns[:, np.stack([first, second, first, first])]
    size = np.full(lanes, 2)
    center = (support[:, 0] + support[:, 1]) * 0.5
    radius_squared = squared * 0.25
    stalls = np.zeros(lanes, dtype=np.int64)
    lane = np.arange(lanes)
    for _ in range(MAX_PIVOTS):
        index, squared = groups.farthest(center)
        better = squared < least[lane]
        least[lane[better]] = squared[better]
        best[:, lane[better]] = center[:, better]
        point = groups.columns[:, index]
        held = (support == point[:, None]).all(axis=0).any(axis=0)
        going = (squared > radius_squared * (1 + TOLERANCE)) & ~held & (stalls <= MAX_STALLS)
        if not going.all():
            if not going.any():
                break
            groups, lane, stalls = groups.only(going), lane[going], stalls[going]
            support, size, point = support[:, :, going], size[going], point[:, going]
            radius_squared = radius_squared[going]
        support, size, center, grown = _smallest_through(point, support, size)
        stalls = np.where(grown > radius_squared, 0, stalls + 1)
        radius_squared = grown
    centers: Floats = (middle + best * extent).T
    return centers


def _smallest_through(point: Floats, support: Floats, size: Ints) -> tuple[Floats, Ints, Floats, Floats]:
    """The smallest spheres around `support` (3, 4, g) and `point` (3, g) that pass through `point`.

    Of all spheres through the point and a part of the support, the one whose farthest point is nearest.
    Returns supports, their sizes, centres and squared radii.
    """
    new_support, new_size = np.empty_like(support), np.empty_like(size)
    center, squared = np.empty_like(point), np.empty(len(size))
    for corners in (2, 3, 4):
        those = (size == corners).nonzero()[0]
        for start in range(0, len(those), _LANES_AT_ONCE):
            some = those[start : start + _LANES_AT_ONCE]
            edges = support[:, :corners, some] - point[:, None, some]
            offset, squared[some], choice = _nearest_circumcenter(edges)
            center[:, some] = point[:, some] + offset
            members, sizes = _MEMBERS[corners]
            new_size[some] = sizes[choice] + 1
            new_support[:, 0, some] = point[:, some]
            new_support[:, 1:, some] = support[:, members[choice].T, some]
    # Unused places repeat the newest point.
    unused = np.arange(4)[:, None] >= new_size
    new_support = np.where(unused, new_support[:, :1], new_support)
    return new_support, new_size, center, squared


def _subsets(corners: int) -> list[tuple[int, ...]]:
    return [subset for size in (1, 2, 3) for subset in combinations(range(corners), size)]


_MEMBERS = {
    corners: (
        np.array([(*subset, 0, 0)[:3] for subset in _subsets(corners)]),
        np.array([len(subset) for subset in _subsets(corners)]),
    )
    for corners in (2, 3, 4)
}
"""For each number of corners the subsets that may hold a sphere: members, filled up to three, and sizes."""


def _nearest_circumcenter(edges: Floats) -> tuple[Floats, Floats, Ints]:
    """Of edges (3, k, g) from the origin: the circumcentre (3, g) of a subset of the corners and the origin
    that has the farthest of them all nearest, its squared distance from the origin, and which subset it is.
    """
    corners = edges.shape[1]
    squared = _dot(edges, edges)
    candidates = [edges * 0.5]
    with np.errstate(all="ignore"):
        pairs = np.array(list(combinations(range(corners), 2)))
        candidates.append(_through_two(edges[:, pairs.T], squared[pairs.T]))
        if corners > 2:
            triples = np.array(list(combinations(range(corners), 3)))
            candidates.append(_through_three(edges[:, triples.T], squared[triples.T]))
        offsets = np.concatenate(candidates, axis=1)
        own = _dot(offsets, offsets)
        violation = np.zeros_like(own)
        for index in range(corners):
            np.maximum(violation, squared[index] - 2 * _dot(offsets, edges[:, index, None]), out=violation)
        reach = own + violation
    # Corners in line or in one plane have no circumcentre.
    reach[~(reach < np.inf)] = np.inf
    choice = reach.argmin(axis=0)
    lane = np.arange(len(choice))
    return offsets[:, choice, lane], own[choice, lane], choice


def _dot(a: Floats, b: Floats) -> Floats:
    result: Floats = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return result


def _cross(a: Floats, b: Floats) -> Floats:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _through_two(edges: Floats, squared: Floats) -> Floats:
    """Circumcentres (3, m, g) of the origin and two corners, (3, 2, m, g); infinite or NaN if in line."""
    a, b = edges[:, 0], edges[:, 1]
    normal = _cross(a, b)
    twice = 2 * _dot(normal, normal)
    between = a - b
    # Differences of the corners, not of their squares: close corners keep their digits.
    u = squared[1] * _dot(a, between) / twice
    v = -squared[0] * _dot(b, between) / twice
    result: Floats = u * a + v * b
    return result


def _through_three(edges: Floats, squared: Floats) -> Floats:
    """Circumcentres (3, m, g) of the origin and three corners, (3, 3, m, g); infinite or NaN if flat."""
    a, b, c = edges[:, 0], edges[:, 1], edges[:, 2]
    u, v, w = _cross(b, c), _cross(c, a), _cross(a, b)
    twice = 2 * _dot(a, u)
    center: Floats = (squared[0] * u + squared[1] * v + squared[2] * w) / twice
    flat = twice * twice < FLAT * squared[0] * squared[1] * squared[2]
    if flat.any():
        # A flat corner loses digits along its own plane; what the result misses by regains them.
        missed = [squared[k] - 2 * _dot(center, edges[:, k]) for k in range(3)]
        center += np.where(flat, (missed[0] * u + missed[1] * v + missed[2] * w) / twice, 0.0)
    return center
