"""Depths of pairs of meshes that overlap: how far vertices of either are inside the other.

The vertices that may be deepest come first. A vertex is no deeper than its distance from any vertex of the
other mesh, and from the sides of the box around that, so few are measured.
"""

from __future__ import annotations

import numpy as np

from ..mesh.meshes import Meshes, are_points_inside, distinct_objects, moving_nodes, points_within
from ..numeric.arrays import Floats, Ints, chunks_by_cost, concatenated_ranges, length, transform_points
from ..numeric.floating_point import largest_singular_value, smallest_singular_value
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .mesh_mesh import closest_triangles

_AT_ONCE, _GROWTH = 8, 4
"""Vertices of each pair that are measured together at first, and the factor by which they become more."""
_MORE_REACH = 1e-6
"""Part of a distance that is added to bounds of it, because differences of squares are rounded."""
_FEW_VERTICES = 1 << 12
"""Vertices of a mesh up to which all are compared with a box."""
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
    row, points, local = _vertices_within_boxes(a, b)
    if not len(row):
        return depth
    most = _largest_depths(b, row, local)
    slack = _RESOLUTION * np.minimum(a.around()[1], b.around()[1])[row]
    order = np.flatnonzero(most - slack > depth[row])
    order = order[are_points_inside(b, row[order], local[order])]
    most[order] = _largest_distances(b, row[order], local[order], most[order])
    order = order[np.lexsort((-most[order], row[order]))]
    order = order[(most - slack)[order] > depth[row[order]]]
    at_once = _AT_ONCE
    while len(order):
        first = np.searchsorted(row[order], row[order])
        is_now = np.arange(len(order)) - first < at_once
        now, order = order[is_now], order[~is_now]
        np.maximum.at(depth, row[now], _distances(b, row[now], points[now], local[now], most[now]))
        order = order[(most - slack)[order] > depth[row[order]]]
        at_once *= _GROWTH
    return depth


def _vertices_within_boxes(a: Meshes, b: Meshes) -> tuple[Ints, Floats, Floats]:
    """Find the vertices of the first meshes (m,) in the boxes around the second ones: see `points_within`.

    Of large meshes, those of clusters whose spheres touch the boxes.
    """
    kinds, which = distinct_objects(a.nodes)
    box, stretch = b.aabb(), np.asarray(largest_singular_value(a.matrix[:, :3, :3]))
    rows, points = [np.empty(0, dtype=np.int64)], [np.empty((0, 3))]
    for number, kind in enumerate(kinds):
        of_kind = np.flatnonzero(which == number)
        if kind.deforms or len(kind.vertices) <= _FEW_VERTICES:
            rows.append(of_kind.repeat(len(kind.vertices)))
            points.append(np.tile(kind.points, (len(of_kind), 1)))
            continue
        center = transform_points(a.matrix[of_kind, None], kind.spheres.center)
        reach = (stretch[of_kind, None] * kind.spheres.radius)[..., None]
        is_near = (center + reach >= box.min[of_kind, None]) & (center - reach <= box.max[of_kind, None])
        place, cluster = np.nonzero(is_near.all(axis=2))
        begins = kind.nodes.first_vertex
        sizes = np.diff(np.append(begins, len(kind.nodes.vertices)))[cluster]
        rows.append(of_kind[place].repeat(sizes))
        points.append(kind.points[kind.nodes.vertices[concatenated_ranges(begins[cluster], sizes)]])
    return points_within(a, b, np.concatenate(rows), np.concatenate(points))


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


def _largest_distances(meshes: Meshes, row: Ints, points: Floats, most: Floats) -> Floats:
    """Bound the distances (n,) of points (n, 3) in the spaces of meshes in rows (n,) from their surfaces.

    most : (n,) upper bounds that are known
    """
    result = most.copy()
    stretch = np.asarray(largest_singular_value(meshes.matrix[:, :3, :3]))[row]
    kinds, which = distinct_objects(meshes.nodes[row])
    for number, kind in enumerate(kinds):
        of_kind, spheres = np.flatnonzero(which == number), kind.spheres
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(spheres.center) // _DISTANCES_AT_ONCE):
            # Each cluster is within its sphere.
            apart = np.sqrt(np.maximum(_squared_distances(points[chunk], spheres.center), 0.0))
            within = (apart + spheres.radius).min(axis=1) * stretch[chunk] * (1 + _MORE_REACH)
            result[chunk] = np.minimum(result[chunk], within)
    return result


def _distances(meshes: Meshes, row: Ints, points: Floats, local: Floats, most: Floats) -> Floats:
    """Measure the distances (n,) of points (n, 3) from the surfaces of meshes in rows (n,).

    local : (n, 3) the points in the spaces of the meshes
    most : (n,) upper bounds of the distances
    """
    nearest = most.copy()
    kinds, which = distinct_objects(meshes.nodes[row])
    within = most / np.asarray(smallest_singular_value(meshes.matrix[:, :3, :3]))[row]
    for number, kind in enumerate(kinds):
        of_kind, spheres = np.flatnonzero(which == number), kind.spheres
        starts, sizes = (each[kind.nodes.clusters] for each in kind.nodes[2:4])
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(starts) // _DISTANCES_AT_ONCE):
            apart = np.sqrt(np.maximum(_squared_distances(local[chunk], spheres.center), 0.0))
            reach = within[chunk] * (1 + _MORE_REACH)
            place, cluster = np.nonzero(apart - spheres.radius <= reach[:, None])
            place = place.repeat(sizes[cluster])
            triangle = concatenated_ranges(starts[cluster], sizes[cluster])
            apart = length(local[chunk[place]] - spheres.triangle_center[triangle])
            is_near = apart - spheres.triangle_radius[triangle] <= reach[place]
            place, triangle = chunk[place[is_near]], triangle[is_near]
            corners = np.asarray(kind.vertices[kind.triangles[triangle]], dtype=np.float64)
            world = transform_points(meshes.matrix[row[place], None], corners)
            distance = length(
                closest_on_triangle(points[place], triangles_from_corners(world)) - points[place]
            )
            np.minimum.at(nearest, place, distance)
    return nearest


def _squared_distances(points: Floats, places: Floats) -> Floats:
    """Compute the squared distances (n, k) of points (n, 3) from places (k, 3), up to rounding."""
    middle = places.mean(axis=0)
    points, places = points - middle, places - middle
    squared = (points**2).sum(axis=1)[:, None] + (places**2).sum(axis=1) - 2 * (points @ places.T)
    return np.asarray(squared)
