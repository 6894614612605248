"""Meshes split into convex parts whose hulls together hold every triangle."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Generator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..fitting.convex_hull import ConvexHull
from ..numeric.arguments import LARGEST_LENGTH, as_number, as_whole_number
from ..numeric.arrays import Floats, Ints, dot
from ..numeric.geodesic import geodesic_directions
from ..progress import run_to_end
from ..shapes import Capsule, Obb, Sphere, Triangle
from ..trees.builder import as_corners
from .hull_estimate import (
    COARSE,
    FINEST,
    flat_hull_area,
    hull_measure,
    inner_products,
    measure_between,
    points_in_directions,
    prefix_extremes,
)
from .part_surface import Notches, PartSurface

MOST_PARTS = 256
"""Largest number of parts."""

_GAIN = 1e-3
"""Part of the measure of the whole that a split must gain, or that the notches of its part must have."""
CompoundPart: TypeAlias = ConvexHull | Obb | Sphere | Capsule
_FREE = 5e-3
"""Part of the measure of two parts by which joining them may raise it although there are few enough parts."""
_QUANTILES = 15
_GAPS = 3
_EDGE_POSITIONS = 24
_EDGE_DIRECTIONS = 6
_DISTINCT = 0.97
"""Cosine above which two directions count as one."""
_TRIED = 5
"""Splits that are tried on the whole surface."""
_AT_EDGES = 0.95
"""Factor of the cost of splits through notches: samples do not show the sections of other splits."""
_BALANCE = 1e-4
"""Part of a measure that a split in two unequal halves costs, so that equal splits are preferred."""
_NOTCHES = 0.3
"""Part of the volume of the notches, as far as they can be estimated, that counts as waste of a split."""


class Compound(NamedTuple):
    """A union of convex shapes, each around one part of a mesh.

    parts : At least one; oriented boxes, spheres and capsules have the batch shape ().
    """

    parts: tuple[CompoundPart, ...]


class _Part(NamedTuple):
    """A part, ordered by how much its split would gain; `number` makes parts comparable.

    priority : minus the gain
    split : None for a part that stays whole
    """

    priority: float
    number: int
    surface: PartSurface
    split: Split | None


def convex_parts(triangles: Triangle | ArrayLike, count: int, tolerance: float = 0.0) -> list[Floats]:
    """Split a mesh by planes into parts, each of which stands for its convex hull.

    Conservative: the convex hulls of the parts together hold every triangle, up to float64 rounding of the
    size of the mesh. Triangles are cut at the planes, and both sides have the points where their edges are
    cut. The volume of all hulls together is approximately small: each plane is the best of thousands.

    Parameters
    ----------
    triangles : Triangle, batch (t,), or (t, 3, 3) float
        The triangles or their corners, t >= 1; counter-clockwise from outside on closed surfaces.
    count : int
        Largest number of parts, from 1 to 256. A convex mesh stays one part.
    tolerance : float
        Parts are not split further if no notch is deeper than this. Approximate: at 320 points of the part.

    Returns
    -------
    parts : list of (k, 3) float64
        Points of each part.

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    return run_to_end(convex_parts_in_steps(triangles, count, tolerance))


def convex_parts_in_steps(
    triangles: Triangle | ArrayLike, count: int, tolerance: float = 0.0
) -> Generator[float, None, list[Floats]]:
    """Split a mesh as `convex_parts` does, in steps of about a tenth of the time for eight parts.

    Yields the part of the largest possible number of splits that is done.
    """
    corners = as_corners(triangles)
    count = as_whole_number(count, "count", 1, MOST_PARTS)
    tolerance = as_number(tolerance, "tolerance", 0.0, most=LARGEST_LENGTH)
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    size = float(np.linalg.norm(high / 2 - low / 2)) * 2
    if count == 1 or not size > 0:
        return [np.unique(corners.reshape(-1, 3), axis=0)]
    # Around the origin and of unit size, so that squares stay in range.
    middle = low / 2 + high / 2
    whole = PartSurface.of_mesh((corners - middle) / size)
    measure = hull_measure(whole.points)
    least_gain = _GAIN * measure
    numbers = itertools.count()
    most = count + max(2, count // 2)
    parts = [_searched(whole, measure, next(numbers), tolerance / size, least_gain)]
    while len(parts) < most and parts[0].split is not None:
        split = heapq.heappop(parts).split
        assert split is not None
        for side, of_side in ((split.below, split.measure_below), (split.above, split.measure_above)):
            yield len(parts) / most
            heapq.heappush(parts, _searched(side, of_side, next(numbers), tolerance / size, least_gain))
    surfaces = [part.surface.points for part in sorted(parts, key=lambda part: part.number)]
    merged = merge_parts(surfaces, count)
    area = flat_hull_area(whole.points)
    # Estimates of flat hulls are up to a fifth too large, so that disks are split, too.
    if (
        area is not None
        and len(merged) > 1
        and (sum(flat_hull_area(part) or 0.0 for part in merged) >= (1 - _GAIN) * area)
    ):
        return [np.unique(corners.reshape(-1, 3), axis=0)]
    return [np.unique(joined, axis=0) * size + middle for joined in merged]


def _searched(
    surface: PartSurface, measure: float, number: int, tolerance: float, least_gain: float
) -> _Part:
    """Search the best split of a part with this measure of its hull."""
    notches = surface.notches()
    volume, split = notches.volume(), None
    if not (tolerance and notches.depths().max(initial=0.0) <= tolerance) and not (
        notches.is_solid.all() and volume < least_gain
    ):
        split = best_split(surface, notches)
    if split is not None:
        gain = measure - split.measure_below - split.measure_above
        # The first cuts through a ring gain nothing, and later ones do.
        if max(gain, volume) >= least_gain:
            return _Part(-max(gain, 0.1 * volume), number, surface, split)
    return _Part(0.0, number, surface, None)


class Split(NamedTuple):
    """A split of a part, and the measures of its sides; see `hull_measure`."""

    below: PartSurface
    above: PartSurface
    measure_below: float
    measure_above: float
    cost: float


def best_split(surface: PartSurface, notches: Notches) -> Split | None:
    """Find the plane that splits a part of a mesh of unit size so that the hulls of both sides are small.

    Approximate. None for a part that no plane splits.
    """
    points, _ = surface.samples()
    found = [
        (cost, _NOTCHES * notches.volume_of_sides(direction, offset), direction, offset)
        for each in _directions(points, surface)
        for cost, direction, offset in _splits_along(each, points, surface)
    ]
    found.sort(key=lambda entry: entry[0] + entry[1])
    best: Split | None = None
    tried = 0
    for _, waste, direction, offset in found:
        if tried == _TRIED:
            break
        below, above = surface.cut(direction, offset)
        if not len(below.corners) or not len(above.corners):
            continue
        tried += 1
        measures = [hull_measure(side.points) for side in (below, above)]
        cost = sum(measures) + waste
        if best is None or cost < best.cost:
            best = Split(below, above, measures[0], measures[1], cost)
    return best


def _directions(points: Floats, surface: PartSurface) -> Floats:
    """Directions (d, 3) of planes to try: of faces at notches, principal axes, and evenly spread ones."""
    offset = points - points.mean(axis=0)
    principal = np.linalg.eigh(np.einsum("ni,nj->ij", offset, offset))[1].T
    spread = geodesic_directions(1).vectors
    edges = surface.edges
    normals = edges.normals.reshape(-1, 3)
    weights = np.repeat(edges.weight, 2)
    at_notches: list[Floats] = []
    while len(at_notches) < _EDGE_DIRECTIONS and weights.any():
        direction = normals[int(weights.argmax())]
        is_same = np.abs(dot(normals, direction)) > _DISTINCT
        mean = (normals[is_same] * np.sign(dot(normals[is_same], direction))[:, None]).mean(axis=0)
        # A single direction of flat faces stays what it is.
        flat = np.abs(dot(normals[is_same], direction)) > 1 - 1e-9
        at_notches.append(direction if flat.mean() > 0.5 else mean / np.linalg.norm(mean))
        weights = np.where(is_same, 0.0, weights)
    distinct: list[Floats] = []
    for each in (*at_notches, *np.eye(3), *principal, *spread):
        if all(abs(float(each @ other)) < _DISTINCT for other in distinct):
            distinct.append(each)
    return np.array(distinct)


def _splits_along(
    direction: Floats, points: Floats, surface: PartSurface
) -> list[tuple[float, Floats, float]]:
    """Costs, directions and offsets of splits perpendicular to a direction."""
    along = dot(points, direction)
    order = np.argsort(along, kind="stable")
    along = along[order]
    low, high = along[0], along[-1]
    if not high > low:
        return []
    spread, at_edges = _offsets(along, direction, surface)
    offsets = np.concatenate([spread, at_edges])
    is_at_edge = np.arange(len(offsets)) >= len(spread)
    is_inside = (offsets > low) & (offsets < high)
    offsets, is_at_edge = offsets[is_inside], is_at_edge[is_inside]
    if not len(offsets):
        return []
    ordered = points[order]
    heights = inner_products(ordered, geodesic_directions(COARSE).vectors)
    # Samples on the plane belong to both sides.
    margin = 1e-9 * (high - low)
    first = np.searchsorted(along, offsets + margin, side="right")
    last = len(along) - np.searchsorted(along, offsets - margin, side="left")
    below = measure_between(ordered[prefix_extremes(heights, first)], COARSE)
    backward = prefix_extremes(heights[::-1], last)
    above = measure_between(ordered[::-1][backward], COARSE)
    costs = below + above
    costs = costs * np.where(is_at_edge, _AT_EDGES, 1.0) * (1 + _BALANCE * np.abs(first - last) / len(along))
    best = [
        rows[costs[rows].argmin()]
        for kind in (False, True)
        if len(rows := np.flatnonzero(is_at_edge == kind))
    ]
    return [(float(costs[k]), direction, float(offsets[k])) for k in best]


def _offsets(along: Floats, direction: Floats, surface: PartSurface) -> tuple[Floats, Floats]:
    """Offsets of planes to try: at even parts of the surface and in gaps (m,), and through notches (e,)."""
    ranks: Ints = np.linspace(0, len(along) - 1, _QUANTILES + 2).astype(np.int64)[1:-1]
    gaps = np.argsort(np.diff(along))[-_GAPS:]
    middles = (along[gaps] + along[gaps + 1]) / 2
    ends = dot(surface.edges.ends.reshape(-1, 3), direction)
    at_edges = ends[np.argsort(-np.repeat(surface.edges.weight, 2), kind="stable")]
    step = (along[-1] - along[0]) * 1e-6
    _, first = np.unique(np.round(at_edges / step), return_index=True)
    at_edges = at_edges[np.sort(first)][:_EDGE_POSITIONS]
    return np.concatenate([along[ranks], middles]), at_edges


def merge_parts(parts: Sequence[Floats], count: int) -> list[Floats]:
    """Join the two parts whose common hull adds least, until `count` are left. Approximate.

    The first cuts of a part are made without knowing the later ones. So more parts than wanted are cut, and
    those are joined whose cut has turned out to be needless. Parts that fit into one hull are always joined.
    """
    points = list(parts)
    extremes = [points_in_directions(each, FINEST) for each in points]
    measures = [float(measure_between(each[None], FINEST)[0]) for each in extremes]
    # A joined part gets the next number, and those it is made of have nothing to add any more.
    added = np.full((2 * len(points), 2 * len(points)), np.inf)
    left = list(range(len(points)))
    for number in left:
        later = left[number + 1 :]
        added[number, later] = _added(number, later, extremes, measures)
    while len(left) > 1:
        first, second = map(int, np.unravel_index(int(added.argmin()), added.shape))
        if len(left) <= count and added[first, second] > _FREE * (measures[first] + measures[second]):
            break
        both = points_in_directions(np.concatenate([extremes[first], extremes[second]]), FINEST)
        number = len(points)
        points.append(np.concatenate([points[first], points[second]]))
        extremes.append(both)
        measures.append(float(measure_between(both[None], FINEST)[0]))
        for part in (first, second):
            left.remove(part)
            added[part], added[:, part] = np.inf, np.inf
        added[left, number] = _added(number, left, extremes, measures)
        left.append(number)
    return [points[part] for part in left]


def _added(index: int, rows: list[int], extremes: Sequence[Floats], measures: Sequence[float]) -> Floats:
    """Measures (m,) that joining a part with each of some parts adds."""
    if not len(rows):
        return np.zeros(0)
    joined = np.stack(
        [points_in_directions(np.concatenate([extremes[index], extremes[each]]), FINEST) for each in rows]
    )
    separate = measures[index] + np.array([measures[each] for each in rows])
    return np.asarray(measure_between(joined, FINEST) - separate)
