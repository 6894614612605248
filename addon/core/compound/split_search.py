"""The plane that splits a part so that the hulls of both sides are small."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints, dot
from ..numeric.geodesic import geodesic_directions
from .hull_estimate import COARSE, heights_of, hull_measure, measure_between, prefix_extremes
from .part_surface import Notches, PartSurface

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


class Split(NamedTuple):
    """A split of a part, and the measures of its sides; see `hull_measure`."""

    below: PartSurface
    above: PartSurface
    measure_below: float
    measure_above: float
    cost: float


def best_split(surface: PartSurface, notches: Notches, thickness: float) -> Split | None:
    """Find the plane that splits a part so that the hulls of both sides are small. Approximate.

    surface : Surface of the part, of a mesh of unit size.
    notches : Its notches.
    thickness : Thickness of the layer around hulls that counts, too.
    Returns split : Split or None. None for a part that no plane splits.
    """
    points, _ = surface.samples()
    found = [
        (cost, _NOTCHES * notches.volume_of_sides(direction, offset), direction, offset)
        for each in _directions(points, surface)
        for cost, direction, offset in _splits_along(each, points, surface, thickness)
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
        measures = [hull_measure(side.points, thickness) for side in (below, above)]
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
    direction: Floats, points: Floats, surface: PartSurface, thickness: float
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
    heights = heights_of(points[order], COARSE)
    # Samples on the plane belong to both sides.
    margin = 1e-9 * (high - low)
    first = np.searchsorted(along, offsets + margin, side="right")
    last = len(along) - np.searchsorted(along, offsets - margin, side="left")
    ordered = points[order]
    below = measure_between(ordered[prefix_extremes(heights, first)], COARSE, thickness)
    backward = prefix_extremes(heights[::-1], last)
    above = measure_between(ordered[::-1][backward], COARSE, thickness)
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
