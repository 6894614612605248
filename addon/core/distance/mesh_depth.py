"""Depths of pairs of meshes that overlap: how far vertices of either are inside the other.

The vertices that may be deepest come first. A vertex is no deeper than its distance from any vertex of the
other mesh, and from the sides of the box around that, so few are measured.
"""

from __future__ import annotations

import numpy as np

from ..mesh.meshes import Meshes, are_points_inside, distinct_objects, moving_nodes, points_within_boxes
from ..numeric.arrays import Floats, Ints, chunks_by_cost, length, transform_points
from ..numeric.floating_point import largest_singular_value, smallest_singular_value
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .mesh_mesh import closest_triangles

_AT_ONCE = 8
"""Vertices of each pair that are measured together."""
_VERTICES_AT_ONCE = 1 << 18
_SAMPLED, _DISTANCES_AT_ONCE = 256, 1 << 16
"""Vertices of a surface, about, whose distances bound the depth of a vertex within; and distances at once."""
_RESOLUTION = 2e-3
"""Part of the size of the smaller mesh by which another vertex may be deeper."""


def depths_of_meshes(a: Meshes, b: Meshes, known: Floats) -> Floats:
    """Measure how deep meshes (m,) overlap: by vertices inside the other, the farthest from its surface.

    Surfaces that are not closed have no inside. Where edges alone cross, the depth is 0.

    a, b : Meshes, (m,). In one space and unit.
    known : (m,) float64, >= 0. Depths that are known already.
    Returns depth : (m,) float64. The larger one of both, within 0.002 of the radius of the smaller mesh.
    """
    depth = known.copy()
    for one, other in ((a, b), (b, a)):
        rows = np.flatnonzero(other.have_inside)
        kinds, which = distinct_objects(one.nodes[rows])
        counts = np.array([each.vertex_count for each in kinds], np.int64)[which]
        for chunk in chunks_by_cost(counts, _VERTICES_AT_ONCE) if len(counts) else ():
            part = rows[chunk]
            depth[part] = _deepest_vertices(one[part], other[part], depth[part])
    return depth


def separations_by_depth(a: Meshes, b: Meshes, cutoff: Floats, both_sides: bool = False) -> Floats:
    """Measure the separations (m,) of meshes (m,): the distance of the surfaces, or minus the depth.

    cutoff : (m,) float64. Only smaller separations are measured.
    both_sides : Whether one-sided triangles count from both sides.
    Returns separation : (m,) float64. The cutoff where there is no smaller one. Margins reduce it. Without
        them it is 0 where edges alone cross.
    """
    margin = a.margin + b.margin
    depth = depths_of_meshes(a, b, np.maximum(-cutoff - margin, 0.0))
    separation, rows = -depth - margin, np.flatnonzero((depth == 0) & (cutoff > -margin))
    if len(rows):
        nodes = moving_nodes((a[rows], a[rows]), (b[rows], b[rows]))
        if both_sides:
            nodes = nodes[0].two_sided(), nodes[1].two_sided()
        separation[rows] += closest_triangles(*nodes, (cutoff + margin)[rows])[0]
    return separation


def _deepest_vertices(a: Meshes, b: Meshes, known: Floats) -> Floats:
    """Measure how deep vertices of the first meshes (m,) are inside the second ones."""
    depth = known.copy()
    row, points, local = points_within_boxes(a, b, lambda nodes: nodes.points)
    if not len(row):
        return depth
    most = _largest_depths(b, row, local)
    slack = _RESOLUTION * np.minimum(a.around()[1], b.around()[1])[row]
    order = np.lexsort((-most, row))
    order = order[(most - slack)[order] > depth[row[order]]]
    while len(order):
        first = np.searchsorted(row[order], row[order])
        is_now = np.arange(len(order)) - first < _AT_ONCE
        now, order = order[is_now], order[~is_now]
        now = now[are_points_inside(b, row[now], local[now])]
        np.maximum.at(depth, row[now], _distances(b, row[now], points[now], local[now], most[now]))
        order = order[(most - slack)[order] > depth[row[order]]]
    return depth


def _largest_depths(meshes: Meshes, row: Ints, points: Floats) -> Floats:
    """Bound the depths (n,) of points (n, 3) in the spaces of meshes in rows (n,)."""
    stretch = np.asarray(largest_singular_value(meshes.matrix[:, :3, :3]))
    kinds, which = distinct_objects(meshes.nodes)
    boxes = np.array([each.box for each in kinds])[which[row]]
    most = np.minimum(points - boxes[:, 0], boxes[:, 1] - points).min(axis=1)
    for number, kind in enumerate(kinds):
        vertices = kind.points[:: max(1, len(kind.vertices) // _SAMPLED)]
        of_kind = np.flatnonzero(which[row] == number)
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(vertices) // _DISTANCES_AT_ONCE):
            squared = _squared_distances(points[chunk], vertices).min(axis=1)
            most[chunk] = np.minimum(most[chunk], np.sqrt(np.maximum(squared, 0.0)))
    return np.asarray(most * stretch[row])


def _distances(meshes: Meshes, row: Ints, points: Floats, local: Floats, most: Floats) -> Floats:
    """Measure the distances (n,) of points (n, 3) from the surfaces of meshes in rows (n,).

    local : (n, 3) the points in the spaces of the meshes
    most : (n,) upper bounds of the distances
    """
    nearest = most.copy()
    kinds, which = distinct_objects(meshes.nodes[row])
    within = most / np.asarray(smallest_singular_value(meshes.matrix[:, :3, :3]))[row]
    for number, kind in enumerate(kinds):
        of_kind, corners = np.flatnonzero(which == number), kind.corners
        center = corners.mean(axis=1)
        radius = length(corners - center[:, None]).max(axis=1)
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(center) // _DISTANCES_AT_ONCE):
            reach = within[chunk, None] + radius
            point, triangle = np.nonzero(_squared_distances(local[chunk], center) <= reach * reach)
            world = transform_points(meshes.matrix[row[chunk[point]], None], corners[triangle])
            at = points[chunk[point]]
            distance = length(closest_on_triangle(at, triangles_from_corners(world)) - at)
            np.minimum.at(nearest, chunk[point], distance)
    return nearest


def _squared_distances(points: Floats, places: Floats) -> Floats:
    """Compute the squared distances (n, k) of points (n, 3) from places (k, 3), up to rounding."""
    middle = places.mean(axis=0)
    points, places = points - middle, places - middle
    squared = (points**2).sum(axis=1)[:, None] + (places**2).sum(axis=1) - 2 * (points @ places.T)
    return np.asarray(squared)
