"""Distances by which vertices are outside of all colliders of a mesh, in world units.

A collider encloses what its engine makes of it: the convex hull of its vertices, or the sphere or capsule
that Unreal's importer makes of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...core import Capsule, Sphere
from ...core.fitting.quickhull import IndexedHull, extreme_points, max_height_above, quickhull
from ...core.numeric.arrays import Floats, Ints, dot, length, transform_points
from ...core.shapes.primitives import closest_on_triangle, triangles_from_corners
from .surfaces import WorldSurface, is_flat

_TOLERANCES = (1e-10, 1e-12, 1e-13, 1e-9, 1e-8, 1e-7, 1e-6)
"""Tolerances of hulls, in units of the size, tried in turn until no point is outside by much more."""
_NOISE = 1e-7
"""Largest displacement of points that have no hull otherwise, because many are nearly in one plane."""
_TRIALS = 10
_MOST_VERTICES = 1000
"""Most vertices of an exact hull. Of more, extreme ones are used, and the tolerance is larger by as much."""
_CONVEX = 1e-4
"""Largest depth of an edge inside of the hull of a convex surface, as a part of the size."""
_ROWS = 512
"""Number of points whose distances to all faces are computed at once."""


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


class ConvexVolume(ABC):
    """A convex volume in world space; `slack` is by how much it may be too small."""

    slack: float = 0.0

    @abstractmethod
    def heights(self, points: Floats) -> Floats:
        """Lower bounds (n,) of the signed distances of points (n, 3), exact in sign."""

    @abstractmethod
    def upper_bounds(self, points: Floats) -> Floats:
        """Upper bounds (n,) of the distances of points (n, 3) that are outside."""

    @abstractmethod
    def distances(self, points: Floats) -> Floats:
        """Distances (n,) of points (n, 3), 0 inside."""


class _Round(ConvexVolume):
    """A capsule, or a sphere, which is a capsule without length."""

    def __init__(self, center: Floats, offset: Floats, radius: float) -> None:
        """Store the center (3,), the offset (3,) of an end of the axis from it, and the radius."""
        self._center, self._offset, self._radius = center, offset, radius

    def heights(self, points: Floats) -> Floats:
        relative = points - self._center
        square = float(self._offset @ self._offset)
        along = np.clip(relative @ self._offset / square, -1.0, 1.0) if square else np.zeros(len(points))
        heights: Floats = length(relative - along[:, None] * self._offset) - self._radius
        return heights

    def upper_bounds(self, points: Floats) -> Floats:
        return self.distances(points)

    def distances(self, points: Floats) -> Floats:
        return np.maximum(self.heights(points), 0.0)


class _Hull(ConvexVolume):
    """The convex hull of a collider's vertices.

    Planes are computed in object space, where vertices are the numbers that Blender stores, so that a mesh
    and its collider with the same matrix are compared almost exactly.
    """

    def __init__(self, surface: WorldSurface) -> None:
        """Build the hull. Raises ValueError if it has no volume."""
        middle = surface.local.mean(axis=0)
        size = float(np.ptp(surface.local, axis=0).max())
        linear = surface.matrix[:3, :3]
        if is_flat(surface) or not size or abs(np.linalg.det(linear)) < 1e-300:
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
        local = (points - self._origin) @ self._to_local.T - self._middle
        return max_height_above(local, self._normals, self._offsets)

    def upper_bounds(self, points: Floats) -> Floats:
        # Distance to the surface on the way to the center, which is below all planes by their offsets.
        local = (points - self._origin) @ self._to_local.T - self._middle
        offsets = np.maximum(self._offsets, 1e-300)
        parts = max_height_above(local, self._normals / offsets[:, None], np.zeros(len(offsets)))
        bounds: Floats = length(points - self._center) * np.maximum(1 - 1 / np.maximum(parts, 1e-300), 0.0)
        return bounds

    def distances(self, points: Floats) -> Floats:
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


def hull_volume(surface: WorldSurface) -> ConvexVolume | None:
    """Make the convex hull of a collider's vertices; None if it has no volume.

    Conservative: no vertex is outside by more than a millionth of the size, which `slack` has.
    """
    try:
        return _Hull(surface)
    except ValueError:
        return None


def concave_depth(surface: WorldSurface, hull: ConvexVolume) -> float:
    """Return how deep an edge or vertex of a surface is inside of its convex hull; 0 for a convex surface.

    The edges of polygons count, not those of the triangles that they are divided into, because the polygons
    of round shapes need not be flat.
    """
    middles = surface.points[surface.edges].mean(axis=1)
    depth = -float(hull.heights(np.concatenate([surface.points, middles])).min())
    return depth if depth > _CONVEX * surface.size + surface.rounding + hull.slack else 0.0


def round_volume(shape: Sphere | Capsule) -> ConvexVolume:
    """Make the volume of a sphere or capsule, batch ()."""
    if isinstance(shape, Sphere):
        return _Round(shape.center, np.zeros(3), float(shape.radius))
    return _Round(shape.center, shape.axis * float(shape.half_length), float(shape.radius))


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
