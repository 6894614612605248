"""Curves along which the surfaces of two meshes cross, as segments of pairs of triangles.

Each pair of triangles that cross shares one segment, of which both are cut. A corner in the plane of the
other triangle counts as above it, so that curves of closed surfaces are closed. Triangles in one plane share
no segment.
"""

from __future__ import annotations

import numpy as np

from ..broad_phase.overlapping_pairs import overlapping_pairs_between
from ..mesh.mesh_bvh import MeshBvh
from ..mesh.meshes import Meshes
from ..numeric.arrays import (
    Bools,
    Floats,
    Ints,
    Table,
    concatenated_ranges,
    cross,
    dot,
    normalized,
    transform_points,
)
from ..shapes import Aabb
from ..shapes.primitives import triangles_from_corners

_NEXT = np.array([1, 2, 0])
_GROUP = 16
"""Successive triangles of a tree, whose boxes are compared before those of the triangles."""


class NearTriangles(Table):
    """Triangles (t,) of a mesh that may reach into the box around another one.

    numbers : (t,) int64. In the order of the tree.
    corners : (t, 3, 3) float64. In the space of both meshes.
    """

    numbers: Ints
    corners: Floats

    @classmethod
    def of(cls, mesh: Meshes, other: Meshes) -> NearTriangles:
        """Select the triangles of a mesh (1,) near another one (1,)."""
        kind: MeshBvh = mesh.nodes[0]
        matrix, box, numbers = mesh.matrix[0], other.aabb(), np.arange(len(kind.given))
        if kind.is_large and not kind.deforms:
            # Not all triangles, because transforming millions takes longer than a redraw.
            center = transform_points(matrix, kind.spheres.center)
            reach = kind.spheres.radius[:, None] * mesh.stretches[1][0]
            is_near = ((center + reach >= box.min) & (center - reach <= box.max)).all(axis=1)
            clusters = kind.nodes.clusters[is_near]
            numbers = concatenated_ranges(
                kind.nodes.first_triangle[clusters], kind.nodes.triangle_count[clusters]
            )
            vertices = np.asarray(kind.vertices[kind.triangles[numbers]], dtype=np.float64)
            corners = transform_points(matrix, vertices)
        else:
            corners = transform_points(matrix, kind.points)[kind.triangles]
        boxes = triangles_from_corners(corners).aabb()
        is_near = ((boxes.min <= box.max) & (boxes.max >= box.min)).all(axis=1)
        return cls(numbers[is_near], corners[is_near])


class CrossingSegments(Table):
    """Segments (k,) along which triangles of two meshes cross.

    ends : (k, 2, 3) float64. Ends of each, in the space of both.
    a, b : (k,) int64. The triangles, as indices of those near the other mesh.
    """

    ends: Floats
    a: Ints
    b: Ints


def crossing_segments(a: NearTriangles, b: NearTriangles) -> CrossingSegments:
    """Find the segments along which two meshes cross. Exact up to float64 rounding of the coordinates.

    a, b : NearTriangles, (t,) and (u,). Of both meshes, in one space and unit.
    """
    i, j = _overlapping_triangles(a.corners, b.corners).T
    # Relative to one corner, because crossings far from the origin would be lost in rounding.
    origin = a.corners[0, 0] if len(i) else np.zeros(3)
    first, second = a.corners[i] - origin, b.corners[j] - origin
    normals, heights, sides = [], [], []
    for face, other in ((first, second), (second, first)):
        normal = cross(face[:, 1] - face[:, 0], face[:, 2] - face[:, 0])
        height = dot(other - face[:, :1], normal[:, None])
        normals.append(normal)
        heights.append(height)
        sides.append(height >= 0)
    rows = np.flatnonzero(np.logical_and.reduce([each.any(axis=1) & ~each.all(axis=1) for each in sides]))
    line = normalized(cross(normals[0][rows], normals[1][rows]))
    # Each triangle meets the line in which both planes cross in a segment: what both share remains.
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    ends = np.zeros((len(rows), 2, 3))
    for corners, height, side in ((second, heights[0], sides[0]), (first, heights[1], sides[1])):
        points = _where_planes_are_crossed(corners[rows], height[rows], side[rows])
        along = dot(points, line[:, None])
        order = np.argsort(along, axis=1)
        points = np.take_along_axis(points, order[..., None], axis=1)
        along = np.take_along_axis(along, order, axis=1)
        is_later, is_sooner = along[:, 0] > low, along[:, 1] < high
        ends[is_later, 0], low[is_later] = points[is_later, 0], along[is_later, 0]
        ends[is_sooner, 1], high[is_sooner] = points[is_sooner, 1], along[is_sooner, 1]
    shared = np.flatnonzero(low < high)
    return CrossingSegments(ends[shared] + origin, i[rows[shared]], j[rows[shared]])


def are_inside_mesh(mesh: Meshes, points: Floats) -> Bools:
    """Decide which points (n, 3), in the space of a mesh (1,), are inside it: (n,) bool."""
    kind, matrix = mesh.nodes[0], mesh.matrix[0]
    if np.linalg.matrix_rank(matrix[:3, :3]) < 3:
        return np.zeros(len(points), dtype=bool)
    local = np.linalg.solve(matrix[:3, :3], (points - matrix[:3, 3]).T).T
    return np.asarray(kind.contains(np.ascontiguousarray(local)))


def _where_planes_are_crossed(corners: Floats, heights: Floats, sides: Bools) -> Floats:
    """Return the two points (k, 2, 3) where the sides of triangles (k, 3, 3) go through planes.

    heights, sides : (k, 3) of the corners above the planes, of which one is on another side than two
    """
    row, edge = np.nonzero(sides != sides[:, _NEXT])
    after = _NEXT[edge]
    start, end = corners[row, edge], corners[row, after]
    part = heights[row, edge] / (heights[row, edge] - heights[row, after])
    return np.asarray((start + part[:, None] * (end - start)).reshape(-1, 2, 3))


def _overlapping_triangles(a: Floats, b: Floats) -> Ints:
    """Find the pairs (k, 2) of triangles (t, 3, 3) and (u, 3, 3) whose boxes overlap."""
    if not len(a) or not len(b):
        return np.empty((0, 2), dtype=np.int64)
    boxes = [triangles_from_corners(each).aabb() for each in (a, b)]
    groups = [_grouped(each) for each in boxes]
    near = overlapping_pairs_between(*groups)
    chosen = []
    for each, column in zip(boxes, near.T, strict=True):
        triangles = (np.unique(column)[:, None] * _GROUP + np.arange(_GROUP)).ravel()
        chosen.append(triangles[triangles < len(each.min)])
    found = overlapping_pairs_between(*(each[rows] for each, rows in zip(boxes, chosen, strict=True)))
    return np.stack([rows[column] for rows, column in zip(chosen, found.T, strict=True)], axis=1)


def _grouped(boxes: Aabb) -> Aabb:
    """Return the boxes around each `_GROUP` successive boxes (t,)."""
    # By coordinates, because reductions over the first axis of three columns take five times as long.
    starts, low, high = np.arange(0, len(boxes.min), _GROUP), boxes.min.T, boxes.max.T
    return Aabb.unchecked(
        np.minimum.reduceat(np.ascontiguousarray(low), starts, axis=1).T,
        np.maximum.reduceat(np.ascontiguousarray(high), starts, axis=1).T,
    )
