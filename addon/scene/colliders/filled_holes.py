"""Notches and holes of a mesh that its colliders fill, such as the doorway of a wall within one hull."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bmesh
import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.numeric.arrays import Bools, Floats, Ints, cross, length, transform_points
from .containment import ConvexVolume
from .reading import ReadObject
from .surfaces import rounding_of

_SAMPLES = 2000
"""Points on the convex hull of a mesh at which its holes are measured."""
_STEPS = np.array([0.7548776662466927, 0.5698402909980532])
"""Steps of a sequence of points that covers a square evenly (Roberts 2018)."""
_NOTICEABLE = 0.05
"""Distance to the surface beyond which a hole is reported, as a part of the largest side of the mesh."""
_NOTICEABLE_METERS = 0.2
"""The same in meters, for large meshes: half of the width through which a person fits."""
_NEGLIGIBLE = 1e-3
"""Distance below which there is no hole, as a part of the largest side of the mesh."""


def filled_distances(source: ReadObject, volumes: Sequence[ConvexVolume]) -> Floats | None:
    """Measure how far from the surface of a mesh its colliders fill notches and holes.

    Points are taken on the convex hull of the mesh. Where a collider covers one, everything that is nearer to
    the point than the surface of the mesh is space that the mesh leaves open. A convex mesh has none. What a
    collider covers outside of the convex hull does not count: that is the fit of its kind.

    Approximate: holes that are small compared with the mesh may be missed or measured too small, because
    the points are 2,000.

    Returns the largest distance (k,) for each of k volumes, in world units; 0 where it fills nothing. None
    for a mesh without faces, whose holes are unknown.
    """
    if not len(source.triangles):
        return None
    points = transform_points(source.matrix, source.points)
    middle = points.mean(axis=0)
    points -= middle
    size = float(np.ptp(points, axis=0).max())
    samples = _hull_samples(points)
    if not size or samples is None:
        return None
    rounding = rounding_of(source.matrix, source.points)
    covered: Bools = np.array(
        [volume.heights(samples + middle) <= volume.slack + rounding + 1e-6 * size for volume in volumes]
    )
    distances = np.zeros(len(samples))
    rows = np.flatnonzero(covered.any(axis=0))
    distances[rows] = _distances_to_surface(samples[rows], points, source.triangles)
    distances[distances <= _NEGLIGIBLE * size] = 0.0
    largest: Floats = np.where(covered, distances, 0.0).max(axis=1)
    return largest


def is_noticeable(distance: float, source: ReadObject, unit: float) -> bool:
    """Return whether a filled hole is large compared with its mesh, or for a person.

    `distance` is that to the surface of the mesh, and `unit` is the length of a Blender unit in meters.
    """
    size = float(np.ptp(transform_points(source.matrix, source.points), axis=0).max())
    return distance > min(_NOTICEABLE * size, _NOTICEABLE_METERS / unit)


def _hull_samples(points: Floats) -> Floats | None:
    """Return points spread evenly over the convex hull of points (n, 3); None without an area.

    Blender's hull is less exact than that of `core`, but fast, and one of a flat mesh has both its sides.
    """
    mesh = bmesh.new()
    try:
        vertices: list[Any] = [mesh.verts.new(point) for point in np.unique(points, axis=0).tolist()]
        bmesh.ops.convex_hull(mesh, input=vertices, use_existing_faces=False)
        corners = np.array([[vertex.co[:] for vertex in face.verts] for face in mesh.faces])
    finally:
        mesh.free()
    if not len(corners):
        return None
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    areas = length(cross(b - a, c - a))
    ends = np.cumsum(areas)
    if not ends[-1] > 0:
        return None
    numbers = np.arange(_SAMPLES)
    face = np.minimum(np.searchsorted(ends, (numbers + 0.5) / _SAMPLES * ends[-1]), len(areas) - 1)
    u, v = ((numbers[:, None] + 1) * _STEPS % 1).T
    is_beyond = u + v > 1
    u, v = np.where(is_beyond, 1 - u, u)[:, None], np.where(is_beyond, 1 - v, v)[:, None]
    samples: Floats = a[face] + u * (b - a)[face] + v * (c - a)[face]
    return samples


def _distances_to_surface(samples: Floats, points: Floats, triangles: Ints) -> Floats:
    """Return the distances of samples (n, 3) to the nearest of the triangles (t, 3) of points."""
    # The types of Blender 4.2 declare that this returns None.
    tree: Any = BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True)
    return np.array([tree.find_nearest(sample)[3] for sample in samples.tolist()], dtype=np.float64)
