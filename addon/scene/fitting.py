"""Shapes of one thing's geometry: in world space, and in its own turned axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from ..core import Aabb, InvalidShapeError, Obb, Shape, Sphere, aabb_from_points, sphere_from_points
from ..core.arrays import rotation_matrix, transform_points
from ..core.fitting import SphereMethod, enclosing_radius
from .extraction import Geometry, Modifiers, Placement
from .walk import Key

ShapeName = Literal["sphere", "aabb"]
BoundShape = Literal["sphere", "aabb", "obb"]
SHAPE_NAMES: tuple[ShapeName, ...] = get_args(ShapeName)

_Padded = TypeVar("_Padded", Sphere, Aabb, Obb)


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
    geometry: Geometry, shapes: tuple[ShapeName, ...], settings: FitSettings
) -> tuple[Shape, ...]:
    """Shapes around the world positions of all points.

    Refitted to the moved points rather than moved itself: that stays tight under rotation, scale and shear.
    Raises EmptyGeometryError, NonFiniteGeometryError, or InvalidShapeError for a padding that leaves nothing.
    """
    points = transform_points(geometry.matrix, geometry.points)
    return tuple(_fitted(points, shape, settings) for shape in shapes)


class SteadyFit:
    """Fits one shape to the same thing again and again, and notices when it only moved in a straight line.

    Then the shape before is moved along instead of being fitted again: the same box, to the bit where there
    is no padding, and the same sphere to a rounding.
    """

    def __init__(self, shape: ShapeName, settings: FitSettings) -> None:
        self._shape: tuple[ShapeName, ...] = (shape,)
        self._settings = settings
        self._last: dict[Key, tuple[Geometry, Shape]] = {}

    def fitted(self, key: Key, geometry: Geometry) -> Shape:
        """The shape around the world positions of all points. Raises like `fitted_world`."""
        at_origin = geometry.matrix.copy()
        at_origin[:3, 3] = 0
        turned = Geometry(geometry.points, at_origin)
        last = self._last.get(key)
        if last and _same(last[0], turned):
            fit = last[1]
        else:
            (fit,) = fitted_world(turned, self._shape, self._settings)
            self._last[key] = turned, fit
        offset = geometry.matrix[:3, 3]
        if isinstance(fit, Sphere):
            return Sphere(fit.center + offset, fit.radius)
        return Aabb(fit.min + offset, fit.max + offset)


def _same(a: Geometry, b: Geometry) -> bool:
    return np.array_equal(a.matrix, b.matrix) and np.array_equal(a.points, b.points)


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
            box = _padded(_centered(aabb_from_points(local_points)), settings.padding)
            turn = to_local[:3, :3].T
            local.append(box)
            world.append(Obb(turn @ box.center + placed.translation, box.half_extents, turn))
            continue
        shape = _fitted(world_points, name, settings)
        world.append(shape)
        if isinstance(shape, Sphere) and settings.method == "minimal":
            # Turning and moving does not change which sphere is the smallest.
            center = transform_points(to_local, shape.center - placed.translation)
            local.append(_padded(Sphere(center, enclosing_radius(local_points, center)), settings.padding))
        else:
            local.append(_fitted(local_points, name, settings))
    return tuple(local), tuple(world)


def _centered(box: Aabb) -> Obb:
    """The same box, by its middle."""
    middle = box.min + (box.max - box.min) / 2
    # The middle was rounded: from there one side may be farther.
    return Obb(middle, np.maximum(box.max - middle, middle - box.min), np.eye(3))


def _fitted(points: NDArray[np.float64], shape: ShapeName, settings: FitSettings) -> Shape:
    if shape == "sphere":
        return _padded(sphere_from_points(points, settings.method), settings.padding)
    return _padded(aabb_from_points(points), settings.padding)


def _padded(shape: _Padded, padding: float) -> _Padded:
    try:
        return shape.padded(padding) if padding else shape
    except InvalidShapeError:
        raise InvalidShapeError(f"a padding of {padding:g} leaves nothing of it") from None
