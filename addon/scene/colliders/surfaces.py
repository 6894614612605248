"""Surfaces of colliders: whether they are closed, convex, and the kind of shape that their name says.

Kinds are decided as Unreal's importer does (`AddBoxGeomFromTris`, `AddSphereGeomFromVerts` and
`AddCapsuleGeomFromVerts` of `StaticMeshImportUtils`), in world space, because exporters and importers apply
all transforms to colliders.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...core import Capsule, Sphere
from ...core.fitting.quickhull import extreme_points
from ...core.messages import counted, message, template
from ...core.numeric.arrays import Floats, Ints, cross, length, transform_points
from ...core.numeric.components import connected_components

SINGLE = float(np.finfo(np.float32).eps)
ROUNDINGS = 4
"""Roundings of the largest number that a coordinate is computed from, by which it may be wrong."""
_THINNEST = 1e-6
"""Thickness below which a collider is flat, as a part of its size."""
_PARALLEL = 1e-3
"""Unreal: difference of a dot product from 1 below which normals are parallel."""
_PLANE_METERS = 1e-5
"""Unreal: distance of planes, 0.001 cm, below which they are one."""
_ROUND = 0.05
"""Unreal: largest relative difference of radii of a sphere, and of the sides of the box around it."""
_MOST_PAIRS = 3000
"""Most vertices of a capsule of which all pairs are compared."""


class WorldSurface(NamedTuple):
    """Surface of a collider, without duplicate vertices.

    local, points : (v, 3) float64, the vertices in object space and in world space
    triangles : (t, 3) int64, without triangles that have a corner twice
    edges : (e, 2) int64, at the edges of its polygons
    matrix : (4, 4) float64, the world matrix
    """

    local: Floats
    points: Floats
    triangles: Ints
    edges: Ints
    matrix: Floats

    @property
    def size(self) -> float:
        """Largest side of the box around it along the world's axes."""
        return float(np.ptp(self.points, axis=0).max()) if len(self.points) else 0.0

    @property
    def rounding(self) -> float:
        """Largest error of a world coordinate that Blender computes in single precision."""
        return rounding_of(self.matrix, self.local)


def rounding_of(matrix: Floats, points: Floats) -> float:
    """Return the largest error of world coordinates of points (n, 3) that single precision causes."""
    if not len(points):
        return 0.0
    largest = np.abs(matrix[:3, :3]) @ np.abs(points).max(axis=0) + np.abs(matrix[:3, 3])
    return ROUNDINGS * SINGLE * float(largest.max())


def world_surface(points: Floats, triangles: Ints, edges: Ints, matrix: Floats) -> WorldSurface:
    """Merge vertices (n, 3) in the same position, and transform them by a world matrix (4, 4)."""
    distinct, index = np.unique(points.astype(np.float64), axis=0, return_inverse=True)
    index = index.reshape(-1)
    corners = index[triangles]
    is_proper = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    return WorldSurface(
        distinct, transform_points(matrix, distinct), corners[is_proper], index[edges], matrix
    )


def open_defect(surface: WorldSurface) -> str:
    """Describe why a surface is not closed; empty if it is. Orientation of faces does not matter."""
    count = len(surface.points)
    if not len(surface.triangles):
        return message("has no faces")
    used = np.bincount(surface.triangles.reshape(-1), minlength=count) > 0
    edges = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    keys = edges.min(axis=1) * count + edges.max(axis=1)
    faces_at_edge = np.unique(keys, return_counts=True)[1]
    defects = (
        (
            faces_at_edge == 1,
            template("is not closed: there is {count} edge with one face only"),
            template("is not closed: there are {count} edges with one face only"),
        ),
        (
            faces_at_edge > 2,
            template("is not closed: there is {count} edge with more than two faces"),
            template("is not closed: there are {count} edges with more than two faces"),
        ),
        (
            ~used,
            template("is not closed: there is {count} vertex without faces"),
            template("is not closed: there are {count} vertices without faces"),
        ),
    )
    for is_wrong, one, many in defects:
        if is_wrong.any():
            return counted(int(is_wrong.sum()), one, many)
    return ""


def is_flat(surface: WorldSurface) -> bool:
    """Return whether all vertices are nearly in one plane."""
    if len(surface.points) < 4:
        return True
    offset = surface.points - surface.points.mean(axis=0)
    offset /= max(surface.size, 1e-300)
    axes = np.linalg.eigh(offset.T @ offset)[1]
    return bool(np.ptp(offset @ axes, axis=0).min() <= _THINNEST)


def count_pieces(surface: WorldSurface) -> int:
    """Return the number of connected pieces of a surface without loose vertices."""
    edges = surface.triangles[:, [[0, 1], [1, 2]]].reshape(-1, 2)
    return int(connected_components(len(surface.points), edges).max(initial=-1)) + 1


def box_defect(surface: WorldSurface, unit: float) -> str:
    """Describe why Unreal does not accept a surface with triangles as a box; empty if it does.

    unit : length of a Blender unit in meters
    """
    a, b, c = (surface.points[surface.triangles[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    areas = length(normals)
    is_proper = areas > (SINGLE * surface.size) ** 2
    normals = normals[is_proper] / areas[is_proper][:, None]
    corners = surface.triangles[is_proper]
    tolerance = _PLANE_METERS / unit + surface.rounding
    axes: list[Floats] = []
    while len(normals):
        if len(axes) == 3:
            return message("its faces have more than three directions")
        axes.append(normals[0])
        is_along = np.abs(normals @ normals[0]) > 1 - _PARALLEL
        heights = surface.points[corners[is_along]].reshape(-1, 3) @ normals[0]
        low, high = heights.min(), heights.max()
        if (np.minimum(heights - low, high - heights) > tolerance).any():
            return message("its faces of one direction are in more than two planes")
        if high - low <= tolerance:
            return message("a face has no opposite face")
        normals, corners = normals[~is_along], corners[~is_along]
    if len(axes) < 3:
        return message("its faces have less than three directions")
    if abs(float(np.cross(axes[0], axes[1]) @ axes[2])) <= 1 - _PARALLEL:
        return message("its sides are not at right angles")
    return ""


def unreal_sphere(surface: WorldSurface) -> tuple[Sphere, str]:
    """Make the sphere that Unreal makes of a surface, and describe why it makes none.

    Differences that rounding of the coordinates can cause do not count.
    """
    points, slack = surface.points, 2 * surface.rounding
    low, high = points.min(axis=0), points.max(axis=0)
    center, sides = (low + high) / 2, high - low
    sphere = Sphere(center, float(sides.max()) / 2)
    if sides.max() - sides.min() > _ROUND * sides.max() + slack:
        text = "the box around it has sides from {least} to {most}"
        return sphere, message(text, least=_number(sides.min()), most=_number(sides.max()))
    radii = length(points - center)
    # Unreal skips a vertex in the center.
    radii = radii[radii > 1e-4 * radii.max()]
    if radii.max() - radii.min() > _ROUND * float(sphere.radius) + slack:
        least, most = _number(radii.min()), _number(radii.max())
        text = "its vertices are at distances from {least} to {most} from its center"
        return sphere, message(text, least=least, most=most)
    return sphere, ""


def unreal_capsule(surface: WorldSurface) -> tuple[Capsule, str]:
    """Make the capsule that Unreal makes of a surface, and describe why it does not fit the vertices.

    Unreal accepts any vertices: the axis is between the two that are farthest apart, and the radius is the
    largest distance from it. They are those of a capsule if all are about at its surface, to 5 % of the
    radius, which is Unreal's tolerance for spheres.
    """
    points = surface.points
    start, end = _farthest_pair(points)
    middle, axis = (start + end) / 2, end - start
    total = float(length(axis))
    axis /= max(total, 1e-300)
    offset = points - middle
    along = offset @ axis
    radius = float(length(offset - along[:, None] * axis).max())
    half = max(total / 2 - radius, 0.0)
    capsule = Capsule(middle, axis if total else np.array([0.0, 0.0, 1.0]), half, radius)
    distances = length(offset - np.clip(along, -half, half)[:, None] * axis)
    if np.abs(distances - radius).max() > _ROUND * radius + 2 * surface.rounding:
        least, most = _number(distances.min()), _number(distances.max())
        text = "its vertices are at distances from {least} to {most} from its axis"
        return capsule, message(text, least=least, most=most)
    return capsule, ""


def _farthest_pair(points: Floats) -> tuple[Floats, Floats]:
    """Return the two points that are farthest apart; of very many, two of those in different directions."""
    if len(points) > _MOST_PAIRS:
        points = extreme_points(points)
    best, pair = -1.0, (0, 0)
    for index in range(len(points)):
        squares = ((points[index:] - points[index]) ** 2).sum(axis=1)
        other = int(squares.argmax())
        if squares[other] > best:
            best, pair = float(squares[other]), (index, index + other)
    return points[pair[0]], points[pair[1]]


def _number(value: float) -> str:
    return f"{value:.4g}"
