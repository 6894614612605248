"""Gaps between spheres and triangles by the exact distance of a point, in Blender's poses."""

from __future__ import annotations

import numpy as np

from tests.scene.motion.obstacle_pairs.building import ObstaclePair
from tests.scene.sampling import Array, Trajectory, box_points, matrices_at


def distances_to_triangles(points: Array, triangles: Array) -> Array:
    """Compute the distances (t,) of points (t, 3) to the nearest of the triangles (t, k, 3, 3)."""
    edges = np.roll(triangles, -1, axis=2) - triangles
    offsets = points[:, None, None] - triangles
    shares = np.clip((offsets * edges).sum(axis=3) / (edges**2).sum(axis=3), 0, 1)
    to_edges = np.linalg.norm(offsets - shares[..., None] * edges, axis=3).min(axis=2)
    normals = np.cross(edges[:, :, 0], edges[:, :, 1])
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    to_planes = np.abs((offsets[:, :, 0] * normals).sum(axis=2))
    is_above = ((np.cross(normals[:, :, None], edges) * offsets).sum(axis=3) >= 0).all(axis=2)
    return np.where(is_above, to_planes, to_edges).min(axis=1)


def gaps_to_obstacles(pairs: list[ObstaclePair], times: Array) -> Array:
    """Compute the gaps (p, t) of the spheres around the first objects to the triangles of the second ones."""
    matrices = matrices_at(times)
    rows = []
    for pair in pairs:
        sphere = Trajectory(matrices[pair.names[0]], box_points(pair.halves[0]))
        matrix = matrices[pair.names[1]]
        triangles = np.einsum("tij,kcj->tkci", matrix[:, :3, :3], pair.triangles)
        triangles += matrix[:, None, None, :3, 3]
        rows.append(distances_to_triangles(sphere.center, triangles) - sphere.radius())
    return np.array(rows)
