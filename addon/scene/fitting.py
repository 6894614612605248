"""Shapes of one thing's geometry: in world space, and in its own turned axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, InvalidShapeError, Obb, Shape, Sphere, aabb_from_points, sphere_from_points
from ..core.arrays import rotation_matrix, transform_points
from ..core.fitting import SphereMethod, enclosing_radius
from .extraction import Geometry, Modifiers, Placement, placement

BoundShape = Literal["sphere", "aabb", "obb"]
ShapeName = Literal["sphere", "aabb", "obb", "spheres"]
"""What stands in for a thing in a scan; "spheres" are the leaves of a sphere tree."""
SHAPE_NAMES: tuple[ShapeName, ...] = get_args(ShapeName)


@dataclass(frozen=True)
class FitSettings:
    """How shapes are fitted.

    method : where a sphere's centre comes from, see `core.sphere_from_points`
    padding : Blender units added on every side; negative shrinks
    modifiers : see `extraction.read_geometry`
    """

    method: SphereMethod = "minimal"
    padding: float = 0.0
    modifiers: Modifiers = "evaluated"


def fitted_world(
    geometry: Geometry, shapes: tuple[Literal["sphere", "aabb"], ...], settings: FitSettings
) -> tuple[Shape, ...]:
    """Shapes around the world positions of all points.

    Refitted to the moved points rather than moved itself: that stays tight under rotation, scale and shear.
    Raises EmptyGeometryError, NonFiniteGeometryError, or InvalidShapeError for a padding that leaves nothing.
    """
    points = transform_points(geometry.matrix, geometry.points)
    return tuple(_fitted(points, shape, settings) for shape in shapes)


def fitted_both(
    geometry: Geometry, placed: Placement, shapes: tuple[BoundShape, ...], settings: FitSettings
) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
    """Shapes in the thing's own turned and moved axes with its scale baked in, and in world space.

    An oriented box has the thing's own axes. Raises like `fitted_world`.
    """
    world_points = transform_points(geometry.matrix, geometry.points)
    to_local = np.eye(4)
    to_local[:3, :3] = rotation_matrix(placed.rotation).T
    local_points = transform_points(to_local, world_points - placed.translation)
    local: list[Shape] = []
    world: list[Shape] = []
    for name in shapes:
        if name == "obb":
            box = padded(_centered(aabb_from_points(local_points)), settings.padding)
            turn = to_local[:3, :3].T
            local.append(box)
            world.append(Obb(turn @ box.center + placed.translation, box.half_extents, turn))
            continue
        shape = _fitted(world_points, name, settings)
        world.append(shape)
        if isinstance(shape, Sphere) and settings.method == "minimal":
            # Turning and moving does not change which sphere is the smallest.
            center = transform_points(to_local, shape.center - placed.translation)
            local.append(padded(Sphere(center, enclosing_radius(local_points, center)), settings.padding))
        else:
            local.append(_fitted(local_points, name, settings))
    return tuple(local), tuple(world)


def _centered(box: Aabb) -> Obb:
    """The same box, by its middle."""
    middle = box.min + (box.max - box.min) / 2
    # The middle was rounded: from there one side may be farther.
    return Obb(middle, np.maximum(box.max - middle, middle - box.min), np.eye(3))


def fitted(points: NDArray[np.float64], shape: ShapeName, method: SphereMethod) -> Sphere | Aabb:
    """A sphere or the box along the axes around points (n, 3). Raises like `fitted_world`."""
    return sphere_from_points(points, method) if shape == "sphere" else aabb_from_points(points)


def fitted_in_own_axes(points: NDArray[np.float64], linear: NDArray[np.float64]) -> Obb:
    """The box around points (n, 3) along the axes that a thing's linear part (3, 3) turns its own to."""
    matrix = np.eye(4)
    matrix[:3, :3] = linear
    turn = rotation_matrix(placement(matrix).rotation)
    box = _centered(aabb_from_points(points @ turn))
    # The points were turned and rounded: by no more than this of the farthest.
    slack = 8 * np.finfo(np.float64).eps * np.abs(points).max()
    return Obb(turn @ box.center, box.half_extents + slack, turn)


def _fitted(points: NDArray[np.float64], shape: ShapeName, settings: FitSettings) -> Shape:
    return padded(fitted(points, shape, settings.method), settings.padding)


def padded(shape: Shape, padding: float) -> Shape:
    """A shape grown by `padding`. Raises InvalidShapeError for one that leaves nothing of it."""
    try:
        return shape.padded(padding) if padding else shape  # type: ignore[union-attr]
    except InvalidShapeError:
        raise InvalidShapeError(f"a padding of {padding:g} leaves nothing of it") from None
