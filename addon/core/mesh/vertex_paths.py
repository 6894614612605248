"""Paths of the vertices of meshes that deform, from one sample to the next, to compare their velocities.

A batch has an object for each mesh instead of the velocities of all its vertices, which would not fit the
memory. They are computed mesh by mesh when two intervals are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..numeric.arrays import Floats, length, transform_points, transform_vectors
from ..shapes import Aabb
from .mesh_bvh import MeshBvh
from .meshes import Meshes

_AT_REST = np.zeros(3)


@dataclass(frozen=True, eq=False)
class VertexPath:
    """The straight paths of the vertices of one mesh over an interval.

    start, end : MeshBvh. At both ends.
    matrices : (2, 4, 4) float64. To the world, at both ends.
    rate : Factor that makes velocities of paths: 1 divided by the length of the interval in frames.
    """

    start: MeshBvh
    end: MeshBvh
    matrices: Floats
    rate: float = 1.0

    def __mul__(self, rate: float) -> VertexPath:
        """Return the paths over an interval of another length."""
        return replace(self, rate=self.rate * rate)

    def velocities(self, has_vertices: bool) -> Floats:
        """Velocities (v, 3) of all vertices, or (8, 3) of the corners of the box around the mesh."""
        before, after = (
            nodes.points if has_vertices else Aabb.unchecked(*nodes.box).corners()
            for nodes in (self.start, self.end)
        )
        start, end = self.matrices
        if not (start[:3, :3] == end[:3, :3]).all():
            return (transform_points(end, after) - transform_points(start, before)) * self.rate
        # A mesh that does not turn saves most of the products.
        change = after - before
        if not (start[:3, :3] == np.eye(3)).all():
            change = transform_vectors(start[:3, :3], change)
        return np.asarray((change + (end[:3, 3] - start[:3, 3])) * self.rate)

    def speed_of_change(self) -> float:
        """Largest speed of a surface where other triangles replace those of the start; 0 for none."""
        if self.start.first is self.end.first:
            return 0.0
        first, second = self.start.given, self.end.given
        vertices = transform_points(self.matrices[1], self.end.points)
        if first.shape != second.shape or self.start.vertices.shape != self.end.vertices.shape:
            return float(length(np.ptp(vertices, axis=0))) * self.rate
        corners = vertices[second[(first != second).any(axis=1)]]
        sides = length(corners - np.roll(corners, 1, axis=1))
        return float(sides.max(initial=0.0)) * self.rate


def paths_of_vertices(start: Meshes, end: Meshes) -> Floats:
    """Return the paths (...) of meshes from start to end, as objects that can be scaled.

    Of rigid meshes these are the paths (8, 3) of the corners of the boxes around them.
    """
    batch = np.broadcast_shapes(start.shape, end.shape)
    first, last = start.broadcast_to(batch), end.broadcast_to(batch)
    corners, deforms = last.corners_of_boxes() - first.corners_of_boxes(), first.deforms | last.deforms
    paths = np.empty(batch, dtype=object)
    for index in np.ndindex(batch):
        if deforms[index]:
            nodes: tuple[Any, Any] = first.nodes[index], last.nodes[index]
            paths[index] = VertexPath(*nodes, np.stack([first.matrix[index], last.matrix[index]]))
        else:
            paths[index] = corners[index]
    return paths


def changes_of_paths(before: Floats, after: Floats) -> Floats:
    """Bound the changes in speed (...) of any point of meshes from one interval to the next.

    before, after : (..., 1) paths as objects, or (..., 24) velocities of corners of boxes; 0 for rest.
    """
    result = np.empty((after if after.ndim else before).shape[:-1])
    # Of one mesh after the other, so that the velocities of successive intervals are computed once.
    velocities_of = lru_cache(maxsize=2)(VertexPath.velocities)
    for reverse in np.ndindex(result.shape[::-1]):
        index = reverse[::-1]
        sides: list[Any] = [each[index] if each.ndim else _AT_REST for each in (before, after)]
        sides = [side[0] if side.dtype == object else side for side in sides]
        paths = [side for side in sides if isinstance(side, VertexPath)]
        counts = {len(mesh.vertices) for path in paths for mesh in (path.start, path.end)}
        # Where vertices come or go, the boxes around them are compared.
        has_vertices = len(counts) == 1 and len(paths) == sum(side is not _AT_REST for side in sides)
        first, last = (
            velocities_of(side, has_vertices) if isinstance(side, VertexPath) else side.reshape(-1, 3)
            for side in sides
        )
        fastest = float(length(last - first).max())
        result[index] = fastest + sum(path.speed_of_change() for path in paths)
    return result
