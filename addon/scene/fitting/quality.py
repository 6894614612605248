"""Fit statistics of one object: volumes of its bounds, and vertices that touch them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, CollisionBoundsError, Cylinder, Obb, Shape, Sphere
from ...core.fitting.quickhull import is_closed_surface
from ...core.messages import message, template
from ...core.numeric.arrays import Floats, Ints, cross, dot, length, transform_points
from ...core.shapes.axial import axial_coordinates, distance_from_segment
from ..blender.instances import name_of
from ..blender.mesh_data import Geometry, Placement, decompose_matrix
from ..blender.object_settings import object_fit_settings
from ..blender.overrides import points_outside, read_overrides
from ..blender.parts.weights import reason_without_vertices
from ..errors import SceneError, describe_error
from ..settings import AXIAL_SHAPES, DEFAULT_SHAPES, BoundShape, DrawnShape, FitSettings
from ..subjects.reader import SubjectGeometry, read_vertices_of_fit
from .fit import plain_shapes
from .local_and_world import PlacedGeometry, fit_in_world
from .moved_fits import new_fits

_TOUCHES = 1e-5
"""Largest distance from the surface at which a vertex counts as touching, as a part of the bound's size."""


@dataclass(frozen=True)
class ShapeQuality:
    """Statistics of one bound in world space and units.

    size : radius of a sphere, capsule or cylinder, or length (3,) of each edge of a box
    touching : number of vertices on the surface; with padding there are none
    length : of a capsule, its ends included, or of a cylinder; None for other shapes
    """

    label: str
    center: Floats
    size: float | Floats
    volume: float
    touching: int
    length: float | None = None


@dataclass(frozen=True)
class FitQuality:
    """Statistics of the bounds of one object at one frame, in world units.

    volume : of the mesh, or of the faces in a vertex group; None if they are not closed
    vertices : number of vertices of the mesh, or in the vertex group
    outside : number of vertices outside the override; 0 without one
    """

    volume: float | None
    vertices: int
    outside: int
    shapes: tuple[ShapeQuality, ...]


def measure_fit(
    evaluated: bpy.types.Object, fit: FitSettings, shapes: Sequence[BoundShape] = DEFAULT_SHAPES
) -> FitQuality:
    """Fit an evaluated object as a whole and measure its bounds.

    fit : settings of the scene; those of the object take precedence. Of a vertex group, its vertices are
        measured
    shapes : plain shapes, capsules and cylinders

    Raises SceneError, with the name of the object, if it cannot be fitted, or has no vertices of the vertex
    group.
    """
    original = evaluated.original
    settings = object_fit_settings(original, fit)
    points, triangles = read_vertices_of_fit(evaluated, settings, needs_triangles=True)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    overrides = read_overrides(original)
    if (group := settings.vertex_group) and (overrides or not len(points)):
        reason = reason_without_vertices(group, bool(overrides))
        raise SceneError(message("{name}: {reason}", name=name_of(original), reason=reason))
    geometry = Geometry(points, matrix)
    if len(overrides) == 1:
        geometry = Geometry(overrides[0].points, matrix, overrides[0].radius)
    elif overrides:
        geometry = Geometry(np.concatenate([each.enclosing_points for each in overrides]), matrix)
    try:
        placed = Placement(*(values[None] for values in decompose_matrix(matrix)))
        source = PlacedGeometry(SubjectGeometry.of(0, geometry, settings), placed)
        (fitted,) = fit_in_world([source], plain_shapes(shapes, settings))
        axial = [_fit_axial(geometry, name, settings) for name in AXIAL_SHAPES if name in shapes]
    except CollisionBoundsError as error:
        fitted = error
    if isinstance(fitted, CollisionBoundsError):
        raise SceneError(message("{name}: {reason}", name=name_of(original), reason=describe_error(fitted)))
    world = transform_points(matrix, points)
    return FitQuality(
        closed_volume(world, triangles),
        len(points),
        int(points_outside(overrides, points).sum()) if overrides else 0,
        tuple(_QUALITIES[type(shape)](shape, world) for shape in (*fitted, *axial)),
    )


def _fit_axial(geometry: Geometry, shape: DrawnShape, settings: FitSettings) -> Shape:
    """Fit a capsule or cylinder in world space. Raises CollisionBoundsError."""
    fits = new_fits(1, shape, settings, None, np.empty(0, dtype=np.int64))
    errors = fits.fit([0], [geometry])
    if not errors:
        shapes, errors = fits.shapes_at(np.array([0]), geometry.matrix[None])
    for error in errors.values():
        raise error
    return shapes[0]


def closed_volume(points: Floats, triangles: NDArray[np.int32]) -> float | None:
    """Volume enclosed by a closed mesh, by the divergence theorem; None for a mesh that is not closed.

    A mesh is closed if each edge has two triangles, which traverse it in opposite directions.

    points : (n, 3) float64. Vertices, in the space of the volume.
    triangles : (t, 3) int32. Vertex indices.
    """
    if not len(triangles) or not is_closed_surface(triangles, len(points)):
        return None
    corners = (points - points.mean(axis=0))[triangles]
    return abs(float(dot(corners[:, 0], cross(corners[:, 1], corners[:, 2])).sum())) / 6


def _sphere_quality(shape: Sphere, points: Floats) -> ShapeQuality:
    radius = float(shape.radius)
    gap = radius - length(points - shape.center)
    volume = 4 / 3 * math.pi * radius**3
    return ShapeQuality("Sphere", shape.center, radius, volume, _touching(gap, radius))


def _box_quality(label: str, shape: Aabb | Obb, points: Floats) -> ShapeQuality:
    box = shape.oriented()
    gap = (box.half_extents - np.abs(box.to_local(points))).min(axis=1)
    size = 2 * box.half_extents
    volume = float(np.prod(size))
    return ShapeQuality(label, box.center, size, volume, _touching(gap, float(length(box.half_extents))))


def _capsule_quality(shape: Capsule, points: Floats) -> ShapeQuality:
    radius = float(shape.radius)
    gap, whole = radius - distance_from_segment(shape, points), 2 * float(shape.half_length) + 2 * radius
    touching = _touching(gap, max(radius, whole / 2))
    return ShapeQuality(template("Capsule"), shape.center, radius, float(shape.volume), touching, whole)


def _cylinder_quality(shape: Cylinder, points: Floats) -> ShapeQuality:
    radius, whole = float(shape.radius), 2 * float(shape.half_length)
    along, across = axial_coordinates(shape, points)
    gap = np.minimum(shape.half_length - np.abs(along), radius - across)
    touching = _touching(gap, max(radius, whole / 2))
    return ShapeQuality(template("Cylinder"), shape.center, radius, float(shape.volume), touching, whole)


_QUALITIES: dict[type[Shape], Callable[[Any, Floats], ShapeQuality]] = {
    Sphere: _sphere_quality,
    Aabb: partial(_box_quality, template("Box")),
    Obb: partial(_box_quality, template("Own Box")),
    Capsule: _capsule_quality,
    Cylinder: _cylinder_quality,
}
"""Statistics of a shape around points (n, 3) in the same space, by its class."""


def _touching(gap: Floats, size: float) -> int:
    """Count the distances (n,) to a surface that are small for a bound of this size."""
    touches: Ints = np.flatnonzero(np.abs(gap) <= _TOUCHES * size)
    return len(touches)
