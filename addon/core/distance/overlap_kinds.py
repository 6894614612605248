"""Kinds of overlaps of meshes in contact: surfaces cross, only touch, or one mesh is inside the other.

Surfaces cross where an edge of one goes through a triangle of the other. Where sides of both are in one
plane, as of aligned boxes, edges go along triangles instead; then the middle of an edge or of a triangle is
inside.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from ..mesh.meshes import Meshes, moving_nodes
from ..mesh.node_pool import MovingNodes
from ..mesh.points_inside import are_inside
from ..numeric.arrays import Floats, Ints, largest_component
from ..numeric.tolerances import SINGLE_EPS
from ..shapes import where_shapes
from .crossings import crossing_margins
from .mesh_depth import are_middles_inside, are_vertices_within
from .mesh_mesh import TOUCHING, DistanceSearch, closest_triangles

Overlap: TypeAlias = Literal["touches", "inside", "crosses"]
"""Kind of an overlap: surfaces only touch, up to rounding in single precision; or one mesh, or a component of
it, is inside the other, without crossing its surface; or surfaces cross."""
OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)
TOUCHES, INSIDE, CROSSES = range(3)
"""Indices of `OVERLAPS`."""

_ROUNDING = 4 * SINGLE_EPS
"""Part of the coordinates within which an overlap is a touch: that of the matrices of both, and of a key."""


def overlap_kinds(a: Meshes, b: Meshes, depth: Floats) -> Ints:
    """Classify the overlaps of meshes (m,) that are in contact, by the surfaces that both have at one time.

    One-sided triangles count from both sides.

    a, b : Meshes, (m,). In one space and unit, without margins.
    depth : (m,) float64. How deep they overlap: see `mesh_depth.deepest_vertices`.
    Returns kinds : (m,) int64. Indices of `OVERLAPS`.
    """
    nodes = [each.two_sided() for each in moving_nodes((a, a), (b, b))]
    reach = np.minimum(*(largest_component(center) + radius for center, radius in (a.around(), b.around())))
    rounding, kinds = _ROUNDING * reach, np.full(len(reach), TOUCHES)
    search = _CrossingSearch(nodes[0], nodes[1], rounding)
    search.run(np.arange(len(kinds)))
    is_crossing = search.nodes[0] >= 0
    kinds[is_crossing], rows = CROSSES, np.flatnonzero(~is_crossing)
    if not len(rows):
        return kinds
    distance = closest_triangles(nodes[0], nodes[1], rounding, rows)[0][rows]
    apart = rows[distance >= rounding[rows]]
    kinds[apart[are_inside(a[apart], b[apart])]] = INSIDE
    rows = rows[distance < rounding[rows]]
    a, b, rounding = a[rows], b[rows], rounding[rows]
    overlaps = (depth[rows] > rounding) | are_middles_inside(a, b, rounding)
    overlaps |= are_middles_inside(b, a, rounding)
    rows, a, b, rounding = rows[overlaps], a[overlaps], b[overlaps], rounding[overlaps]
    is_larger = a.around()[1] > b.around()[1]
    inner, outer = where_shapes(is_larger, b, a), where_shapes(is_larger, a, b)
    kinds[rows] = np.where(are_vertices_within(inner, outer, rounding), INSIDE, CROSSES)
    return kinds


class _CrossingSearch(DistanceSearch):
    """Search for triangles that cross, whose corners may be elsewhere by a distance (m,) so that they do."""

    def __init__(self, a: MovingNodes, b: MovingNodes, margin: Floats) -> None:
        super().__init__(a, b, np.full(len(margin), TOUCHING), None)
        self._margin = margin
        # Triangles that only touch do not count, so a node proves nothing.
        self._is_partial = np.ones(len(margin), dtype=bool)

    def values(self, row: Ints, i: Ints, j: Ints, low: Floats, is_quick: bool) -> tuple[Floats, Floats]:
        first, second = (
            nodes.corners_at_once(nodes.start, row, node) for nodes, node in ((self._a, i), (self._b, j))
        )
        is_crossing = crossing_margins(first, first, second, second) > self._margin[row]
        return np.where(is_crossing, 0.0, np.nan), np.full(len(row), np.nan)
