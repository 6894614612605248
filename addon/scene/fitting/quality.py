"""Fit statistics of one object: volumes of its bounds, and vertices that touch them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import Aabb, Capsule, Cylinder, InvalidShapeError, Obb, Sphere
from ...core.fitting.quickhull import is_closed_surface
from ...core.messages import message, template
from ...core.numeric.arrays import Floats, cross, dot, length, transform_points
from ...core.numeric.tolerances import DISTANCE_ROUNDING
from ..blender.instances import name_of
from ..blender.mesh_data import UNPLACED, Geometry, decompose_matrices
from ..blender.object_settings import object_fit_settings, points_outside, read_overrides
from ..blender.parts.weights import reason_without_vertices
from ..errors import SceneError, describe_error
from ..settings import AXIAL_SHAPES, DEFAULT_SHAPES, BoundShape, FitSettings
from ..subjects.reader import read_vertices_of_fit
from .fit import plain_shapes
from .fit_cache import new_fits

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
    reason = "" if decompose_matrices(matrix[None])[1].all() else UNPLACED
    if (group := settings.vertex_group) and (overrides or not len(points)):
        reason = reason_without_vertices(group, bool(overrides))
    geometry = Geometry(points, matrix)
    if len(overrides) == 1:
        geometry = Geometry(overrides[0].points, matrix, overrides[0].radius)
    elif overrides:
        geometry = Geometry(np.concatenate([each.enclosing_points for each in overrides]), matrix)
    fitted = []
    for name in (*plain_shapes(shapes, settings), *(name for name in AXIAL_SHAPES if name in shapes)):
        fits = new_fits(1, name, settings, None)
        errors = {} if reason else fits.fit([0], [geometry])
        if not (reason or errors):
            shape, errors = fits.shapes_at(np.array([0]), matrix[None])
            fitted.append(shape[0])
        reason = next(map(describe_error, errors.values()), reason)
    if reason:
        raise SceneError(message("{name}: {reason}", name=name_of(original), reason=reason))
    world = transform_points(matrix, points)
    return FitQuality(
        closed_volume(world, triangles),
        len(points),
        int(points_outside(overrides, points).sum()) if overrides else 0,
        tuple(_shape_quality(shape, world) for shape in fitted),
    )


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


_LABELS: dict[type[Any], str] = {
    Sphere: "Sphere",
    Aabb: template("Box"),
    Obb: template("Own Box"),
    Capsule: template("Capsule"),
    Cylinder: template("Cylinder"),
}


def _shape_quality(shape: Any, points: Floats) -> ShapeQuality:
    """Statistics of a shape around points (n, 3) in the same space."""
    # Fits grow by the rounding of their place. Never 0, so that a point has no inside.
    rounding = DISTANCE_ROUNDING * np.abs(points).max(initial=0.0) + np.finfo(np.float64).tiny
    tolerance = float(_TOUCHES * length(shape.aabb().half_extents) + rounding)
    is_touching = shape.padded(tolerance).contains(points)
    with suppress(InvalidShapeError):  # nothing is left of a flat box, or of a point: all points touch it
        is_touching &= ~shape.padded(-tolerance).contains(points)
    size: Any = 2 * shape.half_extents if isinstance(shape, (Aabb, Obb)) else float(shape.radius)
    whole = None
    if isinstance(shape, (Capsule, Cylinder)):
        ends = size if isinstance(shape, Capsule) else 0.0
        whole, volume = 2 * (float(shape.half_length) + ends), float(shape.volume)
    else:
        volume = 4 / 3 * math.pi * size**3 if isinstance(shape, Sphere) else float(np.prod(size))
    return ShapeQuality(_LABELS[type(shape)], shape.center, size, volume, int(is_touching.sum()), whole)
