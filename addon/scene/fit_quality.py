"""How well bounds fit an object."""

from __future__ import annotations

import math
from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, CollisionBoundsError, Obb, Shape, Sphere
from ..core.arrays import Floats, Ints, cross, dot, length, transform_points
from .errors import SceneError, reason_of
from .extraction import Geometry, placement, points_of, triangles_of
from .fitting import FitSettings, fitted_both, own_shapes
from .overrides import outside, override_of
from .own_settings import fit_of

_TOUCHES = 1e-5
"""A vertex this near to a bound's surface touches it, as a part of the bound's size."""


@dataclass(frozen=True)
class ShapeQuality:
    """One bound: its volume, and how many of the vertices touch it; padding keeps all of them away."""

    label: str
    volume: float
    touching: int


@dataclass(frozen=True)
class FitQuality:
    """Bounds of one object at one frame, in the world's units.

    volume : of the mesh; None when it is not closed
    vertices : how many the mesh has
    outside : how many of them are not in the shape set by hand; 0 without one
    """

    volume: float | None
    vertices: int
    outside: int
    shapes: tuple[ShapeQuality, ...]


def measured(evaluated: bpy.types.Object, fit: FitSettings) -> FitQuality:
    """Fit an evaluated object as a whole and measure what comes out. `fit` is the scene's.

    Raises SceneError, naming the object, when it cannot be fitted.
    """
    original = evaluated.original
    own = fit_of(original, fit)
    points = points_of(evaluated, own.modifiers)
    triangles = triangles_of(evaluated, own.modifiers)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    override = override_of(original)
    geometry = Geometry(points, matrix)
    if override is not None:
        geometry = Geometry(override.points, matrix, override.radius)
    try:
        found = fitted_both([geometry], [placement(matrix)], own_shapes(("sphere", "aabb"), own), own)[0]
    except CollisionBoundsError as error:
        found = error
    if isinstance(found, CollisionBoundsError):
        raise SceneError(f"{original.name}: {reason_of(found)}")
    world = transform_points(matrix, points)
    return FitQuality(
        closed_volume(world, triangles),
        len(points),
        0 if override is None else int(outside(override, points).sum()),
        tuple(_quality(shape, world) for shape in found[1]),
    )


def closed_volume(points: Floats, triangles: NDArray[np.int32]) -> float | None:
    """The volume within a closed mesh; None for one that is not.

    Closed is a mesh whose edges all have two triangles, that run along it in opposite directions.
    """
    if not len(triangles):
        return None
    a, b = triangles.astype(np.int64), np.roll(triangles, -1, axis=1).astype(np.int64)
    forth, back = np.sort((a * len(points) + b).ravel()), np.sort((b * len(points) + a).ravel())
    if not np.array_equal(forth, back) or (np.diff(forth) == 0).any():
        return None
    corners = (points - points.mean(axis=0))[triangles]
    return abs(float(dot(corners[:, 0], cross(corners[:, 1], corners[:, 2])).sum())) / 6


def _quality(shape: Shape, points: Floats) -> ShapeQuality:
    if isinstance(shape, Sphere):
        radius = float(shape.radius)
        gap = radius - length(points - shape.center)
        return ShapeQuality("Sphere", 4 / 3 * math.pi * radius**3, _touching(gap, radius))
    assert isinstance(shape, (Aabb, Obb))
    box = shape.oriented()
    gap = (box.half_extents - np.abs(box.to_local(points))).min(axis=1)
    label = "Box" if isinstance(shape, Aabb) else "Own Box"
    volume = float(np.prod(2 * box.half_extents))
    return ShapeQuality(label, volume, _touching(gap, float(length(box.half_extents))))


def _touching(gap: Floats, size: float) -> int:
    touches: Ints = np.flatnonzero(np.abs(gap) <= _TOUCHES * size)
    return len(touches)
