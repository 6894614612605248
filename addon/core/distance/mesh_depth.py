"""Depths of pairs of meshes that overlap: how far vertices of either are inside the other.

The vertices that may be deepest come first. A vertex is no deeper than its distance from any vertex of the
other mesh, and from the sides of the box around that, so few are measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..mesh.mesh_bvh import MeshBvh
from ..mesh.meshes import Meshes, moving_nodes
from ..mesh.near_triangles import near_triangles
from ..mesh.node_pool import distinct_objects
from ..mesh.points_inside import are_points_inside, points_within
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    chunks_by_cost,
    concatenated_ranges,
    length,
    normalized,
    transform_points,
    transform_vectors,
)
from ..progress import pause
from ..shapes.primitives import closest_on_triangle, triangles_from_corners
from .depth_cells import cluster_count, deeper_vertices, has_depth_cells
from .mesh_mesh import closest_triangles

_AT_ONCE, _GROWTH = 8, 4
"""Vertices of each pair that are measured together at first, and the factor by which they become more."""
_MORE_REACH = 1e-6
"""Part of a distance that is added to bounds of it, because differences of squares are rounded."""
_FEW_VERTICES = 1 << 12
"""Vertices of a mesh up to which all are compared with a box."""
_VERTICES_AT_ONCE = 1 << 18
_MANY_TRIANGLES = 1 << 12
"""Triangles of a surface from which on samples of it bound no distance well."""
_SAMPLED, _DISTANCES_AT_ONCE = 256, 1 << 16
"""Vertices of a surface, about, whose distances bound the depth of a vertex within; and distances at once."""
_RESOLUTION = 2e-3
"""Part of the size of the smaller mesh by which another vertex may be deeper."""


class DeepestVertices(Table):
    """The deepest vertices of pairs of meshes (m,) that overlap.

    depth : (m,) float64. Their distances from the surfaces around them.
    on_a, on_b : (m, 3) float64. The vertex of either, and the nearest point of the other; NaN for none.
    nodes : (m, 2) int64. Nodes of triangles that they are on; -1 for none.
    """

    depth: Floats
    on_a: Floats
    on_b: Floats
    nodes: Ints

    @classmethod
    def unknown(cls, depth: Floats) -> DeepestVertices:
        """Return depths (m,) without the vertices."""
        nowhere = np.full((len(depth), 3), np.nan)
        return cls(depth, nowhere, nowhere.copy(), np.full((len(depth), 2), -1))

    @property
    def normal(self) -> Floats:
        """Unit vectors (m, 3) along which the second meshes leave the first ones; +X for none."""
        return normalized(self.on_a - self.on_b)


def deepest_vertices(a: Meshes, b: Meshes, known: Floats) -> DeepestVertices:
    """Find how deep meshes (m,) overlap: by vertices inside the other, the farthest from its surface.

    Surfaces that are not closed have no inside. Where edges alone cross, the depth is 0.

    a, b : Meshes, (m,). In one space and unit.
    known : (m,) float64, >= 0. Depths that are known already.
    Returns deepest : DeepestVertices, (m,). Of both meshes, within 0.002 of the radius of the smaller one.
        The depths that are known where no vertex is deeper.
    """
    deepest = DeepestVertices.unknown(known.copy())
    for one, other, is_first in ((a, b, True), (b, a, False)):
        rows = np.flatnonzero(other.have_inside)
        for chunk in chunks_by_cost(_costs(one[rows], other[rows]), _VERTICES_AT_ONCE) if len(rows) else ():
            pause()
            part = rows[chunk]
            deeper, found = _deepest_vertices(one[part], other[part], deepest.depth[part])
            if not is_first:
                found = DeepestVertices(found.depth, found.on_b, found.on_a, found.nodes[:, ::-1])
            deepest.assign(part[deeper], found)
    return deepest


def separations_by_depth(a: Meshes, b: Meshes, cutoff: Floats) -> Floats:
    """Measure the separations (m,) of meshes (m,): the distance of the surfaces, or minus the depth.

    cutoff : (m,) float64. Only smaller separations are measured.
    Returns separation : (m,) float64. The cutoff where there is no smaller one. Margins reduce it. Without
        them it is 0 where edges alone cross.
    """
    margin = a.margin + b.margin
    depth = deepest_vertices(a, b, np.maximum(-cutoff - margin, 0.0)).depth
    separation, rows = -depth - margin, np.flatnonzero((depth == 0) & (cutoff > -margin))
    if len(rows):
        nodes = moving_nodes((a[rows], a[rows]), (b[rows], b[rows]))
        separation[rows] += closest_triangles(*nodes, (cutoff + margin)[rows])[0]
    return separation


def _costs(a: Meshes, b: Meshes) -> Ints:
    """Estimate how many vertices of the first meshes (m,) are compared with the second ones."""
    kinds, which = distinct_objects(a.nodes)
    counts = np.array([(each.vertex_count, cluster_count(each)) for each in kinds]).reshape(-1, 2)[which]
    return np.where(_have_cells(b), counts[:, 1], counts[:, 0])


class _Vertices(Table):
    """Vertices (n,) of first meshes that may be inside second ones.

    row, vertex : (n,) int64. Pair of meshes of each, and its index in the first.
    points, local : (n, 3) float64. In world space, and in the spaces of the second meshes.
    most : (n,) float64. Upper bounds of the depths.
    are_inside : (n,) bool. Vertices that are inside for certain.
    """

    row: Ints
    vertex: Ints
    points: Floats
    local: Floats
    most: Floats
    are_inside: Bools

    @classmethod
    def unbounded(cls, row: Ints, vertex: Ints, points: Floats, local: Floats) -> _Vertices:
        """Return vertices whose depths are not known yet."""
        return cls(row, vertex, points, local, np.full(len(row), np.inf), np.zeros(len(row), dtype=bool))


def _deepest_vertices(a: Meshes, b: Meshes, known: Floats) -> tuple[Ints, DeepestVertices]:
    """Find vertices of the first meshes (m,) deeper in the second ones than is known, and their rows (k,)."""
    depth, deepest = known.copy(), np.full(len(known), -1)
    slack = _RESOLUTION * np.minimum(a.around()[1], b.around()[1])
    inside = _vertices_inside(a, b, known + slack)
    are_inside = inside.are_inside.copy()
    on_surface, triangle = inside.points.copy(), np.zeros(len(inside.row), dtype=np.int64)
    order, at_once = np.arange(len(inside.row)), _AT_ONCE
    while len(order):
        pause()
        row = inside.row[order]
        is_now = np.arange(len(order)) - np.searchsorted(row, row) < at_once
        now, order = order[is_now], order[~is_now]
        unknown = now[~are_inside[now]]
        are_inside[unknown] = are_points_inside(b, inside.row[unknown], inside.local[unknown])
        now = now[are_inside[now]]
        distance, on_surface[now], triangle[now] = _distances(b, inside.take(now))
        better = np.flatnonzero(distance > depth[inside.row[now]])
        # The last one of each pair is the deepest.
        better = better[np.argsort(distance[better], kind="stable")]
        row = inside.row[now[better]]
        depth[row], deepest[row] = distance[better], now[better]
        order = order[inside.most[order] > (depth + slack)[inside.row[order]]]
        at_once *= _GROWTH
    rows = np.flatnonzero(deepest >= 0)
    place = deepest[rows]
    nodes = np.empty((len(rows), 2), dtype=np.int64)
    for kind, of_kind in _by_kind(a, rows):
        nodes[of_kind, 0] = kind.leaves[kind.triangle_of_vertex[inside.vertex[place[of_kind]]]]
    for kind, of_kind in _by_kind(b, rows):
        nodes[of_kind, 1] = kind.leaves[triangle[place[of_kind]]]
    return rows, DeepestVertices(depth[rows], inside.points[place], on_surface[place], nodes)


def are_middles_inside(a: Meshes, b: Meshes, least: Floats) -> Bools:
    """Decide for which meshes (m,) the middle of an edge or a triangle of the first is inside the second.

    The middle of the box around the first one counts too.

    a, b : Meshes, (m,). In one space and unit.
    least : (m,) float64. Distance from the surface of the second above which a point counts.
    Returns are_inside : (m,) bool
    """
    result = np.zeros(len(least), dtype=bool)
    row, points = _middles_near(a, b, np.flatnonzero(b.have_inside))
    place, world, local = points_within(a, b, row, points)
    if not len(place):
        return result
    found = _Vertices.unbounded(row[place], place, world, local)
    found.most[:] = _largest_depths(b, found.row, found.local)
    found = found.take(np.flatnonzero(found.most > least[found.row]))
    found = found.take(np.flatnonzero(are_points_inside(b, found.row, found.local)))
    result[found.row[_distances(b, found)[0] > least[found.row]]] = True
    return result


def are_vertices_within(a: Meshes, b: Meshes, slack: Floats) -> Bools:
    """Decide for which meshes (m,) all vertices of the first are inside the second, or near its surface.

    a, b : Meshes, (m,). In one space and unit.
    slack : (m,) float64. Distance up to which a point is near a surface.
    Returns are_within : (m,) bool
    """
    result = np.asarray(b.have_inside & (np.linalg.matrix_rank(b.matrix[:, :3, :3]) == 3))
    rows = np.flatnonzero(result)
    kinds, which = distinct_objects(a.nodes[rows])
    if not len(rows):
        return result
    counts = np.array([each.vertex_count for each in kinds])
    row, first = rows.repeat(counts[which]), (np.cumsum(counts) - counts)[which]
    every = np.concatenate([each.points for each in kinds])[concatenated_ranges(first, counts[which])]
    world = transform_points(a.matrix[row], every)
    offset = (world - b.matrix[row, :3, 3])[..., None]
    local = np.asarray(np.linalg.solve(b.matrix[row, :3, :3], offset)[..., 0], np.float64)
    outside = np.flatnonzero(~are_points_inside(b, row, local))
    row = row[outside]
    vertices = _Vertices.unbounded(row, outside, world[outside], local[outside])
    vertices.most[:] = slack[row]
    result[row[_distances(b, vertices)[0] > slack[row]]] = False
    return result


def _middles_near(a: Meshes, b: Meshes, rows: Ints) -> tuple[Ints, Floats]:
    """Middles (n, 3) of the first meshes of pairs (r,), of triangles near the second ones, and their rows."""
    kinds, which = distinct_objects(a.nodes[rows])
    box, stretch = b.aabb(), a.stretches[1]
    row, points = [rows], [np.array([each.box.mean(axis=0) for each in kinds]).reshape(-1, 3)[which]]
    for number, kind in enumerate(kinds):
        of_kind = rows[which == number]
        center, radius = kind.spheres.triangle_center, kind.spheres.triangle_radius
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(center) // _DISTANCES_AT_ONCE):
            middle = transform_points(a.matrix[chunk, None], center)
            reach = (stretch[chunk, None] * radius)[..., None]
            is_near = (middle + reach >= box.min[chunk, None]) & (middle - reach <= box.max[chunk, None])
            place, triangle = np.nonzero(is_near.all(axis=2))
            corners = np.asarray(kind.vertices[kind.triangles[triangle]], dtype=np.float64)
            edges = (corners + np.roll(corners, 1, axis=1)) / 2
            points.append(np.concatenate([edges, corners.mean(axis=1, keepdims=True)], axis=1).reshape(-1, 3))
            row.append(chunk[place].repeat(4))
    return np.concatenate(row), np.concatenate(points)


def _vertices_inside(a: Meshes, b: Meshes, least: Floats) -> _Vertices:
    """Find vertices of the first meshes (m,) that may be deeper inside the second ones than `least` (m,).

    In the order of the pairs, and for each the one first that may be the deepest.
    """
    have_cells = _have_cells(b)
    rows, rest = np.flatnonzero(have_cells), np.flatnonzero(~have_cells)
    found = _vertices_within_boxes(a[rest], b[rest])
    if len(found.row):
        found = found.replaced(row=rest[found.row])
        found.most[:] = _largest_depths(b, found.row, found.local)
        found = found.take(np.flatnonzero(found.most > least[found.row]))
        found = found.take(np.flatnonzero(are_points_inside(b, found.row, found.local)))
        found.are_inside[:] = True
        _lower_largest_depths(b, found)
        found = found.take(np.flatnonzero(found.most > least[found.row]))
    result = _Vertices.concatenate([found, *_vertices_by_cells(a, b, rows, least)])
    return result.take(np.lexsort((-result.most, result.row)))


def _have_cells(meshes: Meshes) -> Bools:
    """Mask (m,) of meshes in which depths are bounded by cells."""
    kinds, which = distinct_objects(meshes.nodes)
    return np.array([has_depth_cells(each) for each in kinds], dtype=bool)[which]


def _vertices_by_cells(a: Meshes, b: Meshes, rows: Ints, least: Floats) -> Iterator[_Vertices]:
    """Find vertices as `_vertices_inside`, for pairs in rows (r,), of which the second mesh has cells."""
    # A flat image of a mesh has nothing inside.
    rows = rows[np.linalg.matrix_rank(b.matrix[rows, :3, :3]) == 3]
    inverse = np.asarray(np.linalg.inv(b.matrix[rows, :3, :3]), np.float64)
    local = np.tile(np.eye(4), (len(rows), 1, 1))
    local[:, :3, :3] = inverse @ a.matrix[rows, :3, :3]
    local[:, :3, 3] = transform_vectors(inverse, a.matrix[rows, :3, 3] - b.matrix[rows, :3, 3])
    scale = b.stretches[1][rows]
    kinds, which = distinct_objects(np.append(a.nodes[rows], b.nodes[rows]))
    which = which[: len(rows)] * len(kinds) + which[len(rows) :]
    for pair in np.unique(which).tolist():
        of_kind = np.flatnonzero(which == pair)
        first, second = divmod(pair, len(kinds))
        found = deeper_vertices(kinds[first], kinds[second], local[of_kind], (least[rows] / scale)[of_kind])
        place = of_kind[found.row]
        world = transform_points(a.matrix[rows[place]], kinds[first].points[found.vertex])
        yield _Vertices(
            rows[place], found.vertex, world, found.points, found.most * scale[place], found.are_inside
        )


def _vertices_within_boxes(a: Meshes, b: Meshes) -> _Vertices:
    """Find the vertices of the first meshes (m,) in the boxes around the second ones, without their depths.

    Of large meshes, those of clusters whose spheres touch the boxes.
    """
    kinds, which = distinct_objects(a.nodes)
    box, stretch = b.aabb(), a.stretches[1]
    rows, vertices = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    points = [np.empty((0, 3))]
    for number, kind in enumerate(kinds):
        of_kind = np.flatnonzero(which == number)
        if kind.deforms or len(kind.vertices) <= _FEW_VERTICES:
            rows.append(of_kind.repeat(len(kind.vertices)))
            vertices.append(np.tile(np.arange(len(kind.vertices)), len(of_kind)))
            points.append(np.tile(kind.points, (len(of_kind), 1)))
            continue
        center = transform_points(a.matrix[of_kind, None], kind.spheres.center)
        reach = (stretch[of_kind, None] * kind.spheres.radius)[..., None]
        is_near = (center + reach >= box.min[of_kind, None]) & (center - reach <= box.max[of_kind, None])
        place, cluster = np.nonzero(is_near.all(axis=2))
        begins = kind.nodes.first_vertex
        sizes = np.diff(np.append(begins, len(kind.nodes.vertices)))[cluster]
        rows.append(of_kind[place].repeat(sizes))
        vertices.append(kind.nodes.vertices[concatenated_ranges(begins[cluster], sizes)])
        points.append(kind.points[vertices[-1]])
    row, vertex = np.concatenate(rows), np.concatenate(vertices)
    place, world, local = points_within(a, b, row, np.concatenate(points))
    return _Vertices.unbounded(row[place], vertex[place], world, local)


def _lower_largest_depths(meshes: Meshes, vertices: _Vertices) -> None:
    """Lower the upper bounds of the depths of vertices (n,), by triangles near them, in place."""
    for kind, rows in _by_kind(meshes, vertices.row):
        if len(kind.triangles) > _MANY_TRIANGLES:
            found = _near_triangles(kind, meshes, vertices.take(rows))[2]
            vertices.most[rows] = np.minimum(vertices.most[rows], found)


def _largest_depths(meshes: Meshes, row: Ints, points: Floats) -> Floats:
    """Bound the depths (n,) of points (n, 3) in the spaces of meshes in rows (n,)."""
    kinds, which = distinct_objects(meshes.nodes)
    boxes = np.array([each.box for each in kinds])[which[row]]
    most = np.minimum(points - boxes[:, 0], boxes[:, 1] - points).min(axis=1)
    for number, kind in enumerate(kinds):
        vertices = kind.points[:: max(1, len(kind.vertices) // _SAMPLED)]
        of_kind = np.flatnonzero(which[row] == number)
        for chunk in np.array_split(of_kind, 1 + len(of_kind) * len(vertices) // _DISTANCES_AT_ONCE):
            pause()
            squared = _squared_distances(points[chunk], vertices).min(axis=1)
            most[chunk] = np.minimum(most[chunk], np.sqrt(np.maximum(squared, 0.0)))
    return np.asarray(most * meshes.stretches[1][row])


def _distances(meshes: Meshes, vertices: _Vertices) -> tuple[Floats, Floats, Ints]:
    """Measure the distances (n,) of vertices (n,) from the surfaces of meshes.

    Also returns the nearest points (n, 3) and triangles (n,).
    """
    row, points = vertices.row, vertices.points
    # A little more, so that rounding does not hide the triangle of the bound itself.
    nearest, on_surface = vertices.most * (1 + _MORE_REACH), points.copy()
    nearest_triangle = np.zeros(len(row), dtype=np.int64)
    for kind, of_kind in _by_kind(meshes, row):
        place, triangle, _ = _near_triangles(kind, meshes, vertices.take(of_kind))
        place = of_kind[place]
        corners = np.asarray(kind.vertices[kind.triangles[triangle]], dtype=np.float64)
        world = triangles_from_corners(transform_points(meshes.matrix[row[place], None], corners))
        closest = closest_on_triangle(points[place], world)
        apart = length(closest - points[place])
        np.minimum.at(nearest, place, apart)
        is_nearest = np.flatnonzero(apart == nearest[place])
        on_surface[place[is_nearest]] = closest[is_nearest]
        nearest_triangle[place[is_nearest]] = triangle[is_nearest]
    return nearest, on_surface, nearest_triangle


def _by_kind(meshes: Meshes, row: Ints) -> Iterator[tuple[MeshBvh, Ints]]:
    """Iterate over the distinct trees of meshes in rows (n,), with the places of each in that."""
    kinds, which = distinct_objects(meshes.nodes[row])
    for number, kind in enumerate(kinds):
        yield kind, np.flatnonzero(which == number)


def _near_triangles(kind: MeshBvh, meshes: Meshes, vertices: _Vertices) -> tuple[Ints, Ints, Floats]:
    """Find triangles (k,) that may be the nearest ones of vertices (n,) in meshes of one tree, and these.

    Also returns upper bounds (n,) of the distances.
    """
    least, most = (each[vertices.row] for each in meshes.stretches)
    within = vertices.most * (1 + _MORE_REACH) / least
    place, triangle, within = near_triangles(kind, vertices.local, within, most / least)
    return place, triangle, within * most


def _squared_distances(points: Floats, places: Floats) -> Floats:
    """Compute the squared distances (n, k) of points (n, 3) from places (k, 3), up to rounding."""
    middle = places.mean(axis=0)
    points, places = points - middle, places - middle
    squared = (points**2).sum(axis=1)[:, None] + (places**2).sum(axis=1) - 2 * (points @ places.T)
    return np.asarray(squared)
