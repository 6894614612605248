"""Signed separation, overlap, closest points and depth of pairs of meshes at one time.

Sign: positive for the distance of the surfaces. Meshes overlap where surfaces touch or cross, or a closed
component of one mesh holds a component of the other. Then the separation is negative: no depth, but by how
much the corners of both may be elsewhere so that they still overlap. Of balls within both it is their
overlap; of surfaces that cross, what a crossing of an edge allows; of components inside, the distance of the
surfaces. Margins around surfaces reduce it.

Guarantee: the sign is exact up to float64 rounding of the largest coordinate. Surfaces that touch without
crossing have the separation 0.
"""

from __future__ import annotations

import numpy as np

from ..mesh.meshes import Meshes, chunks_by_vertices, moving_nodes
from ..mesh.node_pool import MovingNodes
from ..mesh.points_inside import are_inside
from ..numeric.arguments import require_type
from ..numeric.arrays import Floats, Ints, length
from ..numeric.batch import common_batch
from .crossings import crossing_margins
from .mesh_depth import deepest_vertices
from .mesh_mesh import (
    closest_on_any_side,
    closest_points_of_nodes,
    closest_triangles,
)
from .separating_axis import WitnessPoints
from .triangle_triangle import separation_triangle_triangle


def separation_meshes(a: Meshes, b: Meshes) -> Floats:
    """Compute the signed separations (...) of meshes whose batches broadcast. See the module."""
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = (each.broadcast_to(batch).reshaped((-1,)) for each in (a, b))
    chunks = chunks_by_vertices(first, second)
    if len(chunks) > 1:
        parts = [separation_meshes(first[chunk], second[chunk]) for chunk in chunks]
        return np.concatenate(parts).reshape(batch)
    count = len(first.margin)
    nodes = moving_nodes((first, first), (second, second))
    inner = balls_overlap(first, second)
    result, rows = -inner, np.flatnonzero(~(inner > 0))
    if len(rows):
        limit = np.full(count, np.inf)
        distance, triangles = closest_triangles(*nodes, limit, rows)
        result[rows] = distance[rows]
        crossing = rows[distance[rows] == 0]
        result[crossing] = -np.maximum(margins_of_crossings(*nodes, crossing, triangles[:, crossing]), 0.0)
        apart = rows[distance[rows] > 0]
        inside = apart[are_inside(first[apart], second[apart])]
        result[inside] *= -1
    return (result - first.margin - second.margin).reshape(batch)


def witness_points_meshes(a: Meshes, b: Meshes) -> WitnessPoints:
    """Closest points of meshes whose batches broadcast, and the normals from the first to the second.

    Where surfaces touch or cross, a shared point of two triangles, and the axis along which these overlap
    least. Margins move the points of each along the normal.
    """
    batch = np.broadcast_shapes(a.shape, b.shape)
    first, second = (each.broadcast_to(batch).reshaped((-1,)) for each in (a, b))
    nodes = moving_nodes((first, first), (second, second))
    rows, triangles = np.arange(len(first.margin)), closest_on_any_side(*nodes)
    on_a, on_b, normal = closest_points_of_nodes(*nodes, rows, triangles)
    on_a, on_b = on_a + normal * first.margin[:, None], on_b - normal * second.margin[:, None]
    return WitnessPoints(*(each.reshape(*batch, 3) for each in (on_a, on_b, normal)))


def overlap_depth(a: Meshes, b: Meshes) -> tuple[Floats, WitnessPoints]:
    """Find how deep meshes overlap: how far a vertex of either is inside the other, and where.

    Scans report this depth. It is a distance of the surfaces, not the shortest translation that separates
    them. Closed components have an inside, unless `is_solid` is false.

    Within 0.002 of the radius of the smaller mesh, and never too large: few vertices are measured.

    Parameters
    ----------
    a, b : Meshes
        In one space and unit. Batches broadcast.

    Returns
    -------
    depth : (...) float64
        In the unit of the meshes. Positive for the distance of the deepest vertex from the surface around
        it, 0 where edges alone cross, negative for the gap of meshes that are apart. Margins add to it. NaN
        for surfaces that touch or cross where neither mesh has an inside or is a ball.
    witness : WitnessPoints, (..., 3) each
        In the space of the meshes: the vertex and the nearest point of the surface, and the direction along
        which `b` leaves `a`; closest points for other meshes. `on_b - on_a` is `-depth * normal`.

    Raises
    ------
    InvalidShapeError
        For other shapes, and for batches that do not broadcast.
    """
    require_type(a, Meshes, "a")
    require_type(b, Meshes, "b")
    batch = common_batch("shapes", a.shape, b.shape)
    first, second = (each.broadcast_to(batch).reshaped((-1,)) for each in (a, b))
    depth, points = np.zeros(len(first.margin)), np.zeros((3, len(first.margin), 3))
    for rows in chunks_by_vertices(first, second) if len(depth) else ():
        depth[rows], points[:, rows] = _depths_and_points(first[rows], second[rows])
    return depth.reshape(batch), WitnessPoints(*points.reshape(3, *batch, 3))


def _depths_and_points(a: Meshes, b: Meshes) -> tuple[Floats, Floats]:
    """Depths (m,) of meshes (m,) as `overlap_depth`, and the points and normals (3, m, 3)."""
    found = deepest_vertices(a, b, np.zeros(len(a.margin)))
    depth, points = found.depth, np.stack([found.on_a, found.on_b, found.normal])
    rows = np.flatnonzero(found.nodes[:, 0] < 0)
    if len(rows):
        nodes = moving_nodes((a[rows], a[rows]), (b[rows], b[rows]))
        places, triangles = np.arange(len(rows)), closest_on_any_side(*nodes)
        points[:, rows] = closest_points_of_nodes(*nodes, places, triangles)
        corners = [
            each.corners_at_once(each.start, places, node)
            for each, node in zip(nodes, triangles, strict=True)
        ]
        depth[rows] = 0.0 - separation_triangle_triangle(*corners)
    depth = depth + a.margin + b.margin
    have_depth = (depth < 0) | a.are_balls | b.are_balls | a.have_inside | b.have_inside
    points[0] += points[2] * a.margin[:, None]
    points[1] -= points[2] * b.margin[:, None]
    return np.where(have_depth, depth, np.nan), points


def margins_of_crossings(a: MovingNodes, b: MovingNodes, rows: Ints, triangles: Ints) -> Floats:
    """Compute `crossing_margins` (r,) of triangles (2, r) of pairs of meshes in rows (r,)."""
    corners = [each.corners(rows, node) for each, node in zip((a, b), triangles, strict=True)]
    return crossing_margins(*corners[0], *corners[1])


def balls_overlap(a: Meshes, b: Meshes) -> Floats:
    """Compute by how much balls within the meshes (m,) overlap: then the meshes do, too; -inf for unknown."""
    first, second = a.inner_radii(), b.inner_radii()
    overlap = first + second - length(b.center - a.center)
    return np.where((first > 0) & (second > 0), overlap, -np.inf)
