"""Surfaces of colliders: whether they are closed, convex, and the kind of shape that their name says.

Kinds are decided as Unreal's importer does (`AddBoxGeomFromTris`, `AddSphereGeomFromVerts` and
`AddCapsuleGeomFromVerts` of `StaticMeshImportUtils`), in world space, because exporters and importers apply
all transforms to colliders.
"""

from __future__ import annotations

import numpy as np

from ...core.fitting.quickhull import extreme_points
from ...core.messages import counted, message, template
from ...core.numeric.arrays import Floats, cross, dot, length
from ...core.numeric.components import connected_components
from .containment import HullVolume, RoundVolume
from .reading import SINGLE, ObjectSurface

_DOUBLE = float(np.finfo(np.float64).eps)
_CONVEX = 1e-4
"""Largest depth of an edge inside of the hull of a convex surface, as a part of the size."""
_PARALLEL = 1e-3
"""Unreal: difference of a dot product from 1 below which normals are parallel."""
_PLANE_METERS = 1e-5
"""Unreal: distance of planes, 0.001 cm, below which they are one."""
_ROUND = 0.05
"""Unreal: largest relative difference of radii of a sphere, and of the sides of the box around it."""
_MOST_PAIRS = 3000
"""Most vertices of a capsule of which all pairs are compared."""


def open_defect(surface: ObjectSurface) -> str:
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


def count_pieces(surface: ObjectSurface) -> int:
    """Return the number of connected pieces of a surface without loose vertices."""
    edges = surface.triangles[:, [[0, 1], [1, 2]]].reshape(-1, 2)
    return int(connected_components(len(surface.points), edges).max(initial=-1)) + 1


def concave_depth(surface: ObjectSurface, hull: HullVolume) -> float:
    """Return how deep an edge or vertex of a surface is inside of its convex hull; 0 for a convex surface.

    The edges of polygons count, not those of the triangles that they are divided into, because the polygons
    of round shapes need not be flat.
    """
    middles = surface.points[surface.edges].mean(axis=1)
    depth = -float(hull.heights(np.concatenate([surface.points, middles])).min())
    return depth if depth > _CONVEX * surface.size + surface.rounding + hull.slack else 0.0


def box_defect(surface: ObjectSurface, unit: float) -> str:
    """Describe why Unreal does not accept a surface with triangles as a box; empty if it does.

    unit : length of a Blender unit in meters
    """
    a, b, c = (surface.points[surface.triangles[:, corner]] for corner in range(3))
    normals = cross(b - a, c - a)
    areas = length(normals)
    # Normals of faces with vertices in line are due to rounding: in object space, or in the world.
    rounding = 8 * _DOUBLE / SINGLE * surface.rounding
    is_proper = areas > ((SINGLE * surface.size) ** 2 + rounding * surface.size)
    normals = normals[is_proper] / areas[is_proper][:, None]
    corners = surface.triangles[is_proper]
    tolerance = _PLANE_METERS / unit + surface.rounding
    directions: list[tuple[Floats, Floats]] = []  # each with the heights of all vertices of its faces
    while len(normals):
        if len(directions) == 3:
            return message("its faces have more than three directions")
        axis = normals[0]
        is_along = np.abs(dot(normals, axis)) > 1 - _PARALLEL
        directions.append((axis, dot(surface.points, axis)[corners[is_along]]))
        normals, corners = normals[~is_along], corners[~is_along]
    # After all directions are known, so that the order of the faces does not matter.
    for _, heights in directions:
        low, high = heights.min(), heights.max()
        if (np.minimum(heights - low, high - heights) > tolerance).any():
            return message("its faces of one direction are in more than two planes")
        if high - low <= tolerance:
            return message("a face has no opposite face")
    if len(directions) < 3:
        return message("its faces have less than three directions")
    a, b, c = (axis for axis, _ in directions)
    if abs(float(dot(cross(a, b), c))) <= 1 - _PARALLEL:
        return message("its sides are not at right angles")
    return ""


def unreal_sphere(surface: ObjectSurface) -> tuple[RoundVolume, str]:
    """Make the sphere that Unreal makes of a surface, and describe why it makes none.

    Differences that rounding of the coordinates can cause do not count.
    """
    points, slack = surface.points, 2 * surface.rounding
    low, high = points.min(axis=0), points.max(axis=0)
    center, sides = (low + high) / 2, high - low
    sphere = RoundVolume(center, np.zeros(3), float(sides.max()) / 2)
    if sides.max() - sides.min() > _ROUND * sides.max() + slack:
        text = "the box around it has sides from {least} to {most}"
        return sphere, message(text, least=_number(sides.min()), most=_number(sides.max()))
    radii = length(points - center)
    # Unreal skips a vertex in the center.
    radii = radii[radii > 1e-4 * radii.max()]
    if radii.max() - radii.min() > _ROUND * sphere.radius + slack:
        least, most = _number(radii.min()), _number(radii.max())
        text = "its vertices are at distances from {least} to {most} from its center"
        return sphere, message(text, least=least, most=most)
    return sphere, ""


def unreal_capsule(surface: ObjectSurface) -> tuple[RoundVolume, str]:
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
    capsule = RoundVolume(middle, half * axis, radius)
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
