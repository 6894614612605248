"""Depth of two bodies at a time: how far a vertex of either is inside the closed surface of the other."""

from __future__ import annotations

import numpy as np
from mathutils.bvhtree import BVHTree

from tests.scene.mesh_truth.evaluation import Sample, components, is_closed
from tests.scene.mesh_truth.triangles import winding_number

Array = np.ndarray


class Depths:
    """Measures depths at any times, and keeps which triangles are closed."""

    def __init__(self) -> None:
        self._closed: dict[bytes, Array] = {}
        self._known: dict[float, float | None] = {}

    def at(self, sample: Sample) -> float | None:
        """Return the depth, 0 where no vertex is inside; None where neither surface is closed."""
        if sample.time not in self._known:
            first, second = zip(sample.corners, sample.indices, strict=True)
            found = [self._depth(*first, *second), self._depth(*second, *first)]
            self._known[sample.time] = max((each for each in found if each is not None), default=None)
        return self._known[sample.time]

    def _depth(self, corners: Array, indices: Array, around: Array, shell: Array) -> float | None:
        """Depth of the deepest vertex of the first triangles within the others; None if those are open."""
        closed = self._closed_rows(shell)
        if not len(closed):
            return None
        _, first = np.unique(indices, return_index=True)
        points, solid = corners.reshape(-1, 3)[first], around[closed]
        low, high = solid.min(axis=(0, 1)), solid.max(axis=(0, 1))
        points = points[((points > low) & (points < high)).all(axis=1)]
        if not len(points):
            return 0.0
        # Near the origin, because the tree is in single precision.
        middle = (low + high) / 2
        vertices = (around - middle).reshape(-1, 3)
        faces = np.arange(len(vertices)).reshape(-1, 3)
        tree = BVHTree.FromPolygons(vertices.tolist(), faces.tolist(), all_triangles=True)
        distance = np.array([tree.find_nearest(point)[3] for point in (points - middle).tolist()])
        for row in np.argsort(-distance).tolist():
            if abs(winding_number(points[row], solid)) > 0.5:
                return float(distance[row])
        return 0.0

    def _closed_rows(self, indices: Array) -> Array:
        """Rows of the triangles of closed components."""
        key = indices.tobytes()
        if key not in self._closed:
            parts = [part for part in components(indices) if is_closed(indices[part])]
            self._closed[key] = np.concatenate(parts or [np.empty(0)]).astype(int)
        return self._closed[key]
