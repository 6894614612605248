"""Volumes of colliders in world space: vertices of a mesh that are outside of all, and holes that they fill.

A collider encloses what its engine makes of it: the convex hull of its vertices, or the sphere or capsule
that Unreal's importer makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import bmesh
import numpy as np
from mathutils.bvhtree import BVHTree

from ...core.fitting.quickhull import IndexedHull, extreme_points, max_height_above, quickhull
from ...core.numeric.arrays import Bools, Floats, Ints, cross, dot, length, transform_points
from ...core.shapes.primitives import closest_on_triangle, triangles_from_corners
from .reading import ObjectSurface

_TOLERANCES = (1e-10, 1e-12, 1e-13, 1e-9, 1e-8, 1e-7, 1e-6)
"""Tolerances of hulls, in units of the size, tried in turn until no point is outside by much more."""
_NOISE = 1e-7
"""Largest displacement of points that have no hull otherwise, because many are nearly in one plane."""
_TRIALS = 10
_MOST_VERTICES = 1000
"""Most vertices of an exact hull. Of more, extreme ones are used, and the tolerance is larger by as much."""
_ROWS = 512
"""Number of points whose distances to all faces are computed at once."""
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


class Outside(NamedTuple):
    """Vertices of a mesh that are outside of all its colliders.

    vertices : number of those outside by more than the tolerance
    distance : largest distance of a vertex from the nearest collider, in world units; 0 if none is outside
    vertex : index of that vertex; -1 if none is outside
    tolerance : distance that rounding in single precision can cause
    """

    vertices: int
    distance: float
    vertex: int
    tolerance: float


@dataclass(frozen=True)
class RoundVolume:
    """A capsule, or a sphere, which is a capsule without length. Its methods are those of `HullVolume`.

    center : (3,) float64
    offset : (3,) float64, an end of the axis, from the center
    """

    center: Floats
    offset: Floats
    radius: float
    slack: float = 0.0

    def heights(self, points: Floats) -> Floats:
        """Signed distances (n,)."""
        relative = points - self.center
        square = float(self.offset @ self.offset)
        along = np.clip(relative @ self.offset / square, -1.0, 1.0) if square else np.zeros(len(points))
        heights: Floats = length(relative - along[:, None] * self.offset) - self.radius
        return heights

    def distances(self, points: Floats) -> Floats:
        """Distances (n,), 0 inside."""
        return np.maximum(self.heights(points), 0.0)

    upper_bounds = distances


class HullVolume:
    """The convex hull of a collider's vertices.

    Conservative: no vertex is outside by more than `slack`, at most a millionth of the size, or about 3 % of
    it for more than 1,000 vertices. Planes are computed in object space, where vertices are the numbers that
    Blender stores, so that a mesh and its collider with the same matrix are compared almost exactly.
    """

    def __init__(self, surface: ObjectSurface) -> None:
        """Build the hull. Raises ValueError if it has no volume."""
        middle = surface.local.mean(axis=0)
        size = float(np.ptp(surface.local, axis=0).max())
        linear = surface.matrix[:3, :3]
        if surface.is_flat or not size or abs(np.linalg.det(linear)) < 1e-300:
            raise ValueError("no volume")
        local = (surface.local - middle) / size
        if len(local) > _MOST_VERTICES:
            local = extreme_points(local)
        local, hull = _enclosing_hull(local)
        self._middle, self._origin = middle, surface.matrix[:3, 3]
        self._to_local = np.linalg.inv(linear)
        normals = hull.normals
        offsets = dot(normals, local[hull.faces[:, 0]]) * size
        # In the world, heights are those in object space divided by these lengths.
        lengths = length(normals @ self._to_local)
        self._normals, self._offsets = normals / lengths[:, None], offsets / lengths
        world = transform_points(surface.matrix, local * size + middle)
        self._center = transform_points(surface.matrix, middle)
        self._triangles = triangles_from_corners(world[hull.faces])
        heights = max_height_above(surface.local - middle, self._normals, self._offsets)
        self.slack = max(float(heights.max()), 0.0)

    def heights(self, points: Floats) -> Floats:
        """Lower bounds (n,) of the signed distances of points (n, 3) in world space, exact in sign."""
        local = (points - self._origin) @ self._to_local.T - self._middle
        return max_height_above(local, self._normals, self._offsets)

    def upper_bounds(self, points: Floats) -> Floats:
        """Upper bounds (n,) of the distances of points (n, 3) that are outside."""
        # Distance to the surface on the way to the center, which is below all planes by their offsets.
        local = (points - self._origin) @ self._to_local.T - self._middle
        offsets = np.maximum(self._offsets, 1e-300)
        parts = max_height_above(local, self._normals / offsets[:, None], np.zeros(len(offsets)))
        bounds: Floats = length(points - self._center) * np.maximum(1 - 1 / np.maximum(parts, 1e-300), 0.0)
        return bounds

    def distances(self, points: Floats) -> Floats:
        """Distances (n,) of points (n, 3), 0 inside."""
        distances = np.zeros(len(points))
        outside = np.flatnonzero(self.heights(points) > 0)
        for start in range(0, len(outside), _ROWS):
            rows = outside[start : start + _ROWS]
            closest = closest_on_triangle(points[rows][:, None], self._triangles)
            distances[rows] = length(points[rows][:, None] - closest).min(axis=1)
        return distances


def _enclosing_hull(points: Floats) -> tuple[Floats, IndexedHull]:
    """Build the hull of points (n, 3) of unit size; returns the points that it consists of, and the hull.

    Raises ValueError if there is none.
    """
    for tolerance in _TOLERANCES:
        hull = quickhull(points, tolerance)
        if hull is not None and _height_above(points, points, hull) <= max(4 * tolerance, 1e-12):
            return points, hull
    for trial in range(_TRIALS):
        noise = np.random.default_rng(trial).uniform(-_NOISE, _NOISE, points.shape)
        displaced = points + noise
        hull = quickhull(displaced, _TOLERANCES[1])
        if hull is not None and _height_above(points, displaced, hull) <= _TOLERANCES[-1]:
            return displaced, hull
    raise ValueError("no hull")


def _height_above(points: Floats, vertices: Floats, hull: IndexedHull) -> float:
    """Return the largest height of points (n, 3) above the faces of a hull of other ones."""
    offsets = dot(hull.normals, vertices[hull.faces[:, 0]])
    return float(max_height_above(points, hull.normals, offsets).max())


ConvexVolume: TypeAlias = RoundVolume | HullVolume


def vertices_outside(points: Floats, volumes: Sequence[ConvexVolume], tolerance: float) -> Outside:
    """Find the vertices (n, 3) in world space that are in none of several convex volumes, at least one.

    Exact up to float64 rounding: the distance is that from the surface of the nearest volume. Vertices up to
    `tolerance` outside count as inside.
    """
    tolerance += max(volume.slack for volume in volumes)
    heights = np.min([volume.heights(points) for volume in volumes], axis=0)
    rows: Ints = np.flatnonzero(heights > tolerance)
    if not len(rows):
        return Outside(0, 0.0, -1, tolerance)
    bounds = np.min([volume.upper_bounds(points[rows]) for volume in volumes], axis=0)
    order = np.argsort(-bounds, kind="stable")
    best, vertex = -1.0, -1
    for start in range(0, len(rows), _ROWS):
        # All later ones are nearer.
        if best >= bounds[order[start]]:
            break
        part = np.sort(rows[order[start : start + _ROWS]])
        distances = np.min([volume.distances(points[part]) for volume in volumes], axis=0)
        farthest = int(distances.argmax())
        if distances[farthest] > best:
            best, vertex = float(distances[farthest]), int(part[farthest])
    return Outside(len(rows), best, vertex, tolerance)


def filled_distances(source: ObjectSurface, volumes: Mapping[str, ConvexVolume]) -> dict[str, float]:
    """Measure how far from the surface of a mesh its colliders fill notches and holes.

    Points are taken on the convex hull of the mesh. Where a collider covers one, everything that is nearer to
    the point than the surface of the mesh is space that the mesh leaves open. A convex mesh has none. What a
    collider covers outside of the convex hull does not count: that is the fit of its kind.

    Approximate: holes that are small compared with the mesh may be missed or measured too small, because
    the points are 2,000.

    Returns the largest distance for each volume, in world units; 0 where it fills nothing. Empty for a mesh
    without faces, whose holes are unknown.
    """
    if not len(source.triangles) or not volumes:
        return {}
    middle = source.points.mean(axis=0)
    points, size = source.points - middle, source.size
    samples = _hull_samples(points)
    if not size or samples is None:
        return {}
    rounding = source.rounding + 1e-6 * size
    covered: Bools = np.array(
        [volume.heights(samples + middle) <= volume.slack + rounding for volume in volumes.values()]
    )
    distances = np.zeros(len(samples))
    rows = np.flatnonzero(covered.any(axis=0))
    # The types of Blender 4.2 declare that this returns None.
    tree: Any = BVHTree.FromPolygons(points.tolist(), source.triangles.tolist(), all_triangles=True)
    distances[rows] = [tree.find_nearest(sample)[3] for sample in samples[rows].tolist()]
    distances[distances <= _NEGLIGIBLE * size] = 0.0
    return dict(zip(volumes, np.where(covered, distances, 0.0).max(axis=1).tolist(), strict=True))


def is_noticeable(distance: float, source: ObjectSurface, unit: float) -> bool:
    """Return whether a filled hole is large compared with its mesh, or for a person.

    `distance` is that to the surface of the mesh, and `unit` is the length of a Blender unit in meters.
    """
    return distance > min(_NOTICEABLE * source.size, _NOTICEABLE_METERS / unit)


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
