"""Shapes set by hand, that stand for the vertices of an object."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core import aabb_from_points, sphere_from_points
from ..core.arrays import Bools, length
from ..core.directions import geodesic
from .extraction import points_of
from .fitting import FitSettings
from .own_settings import PROPERTY, fit_of
from .walk import visible

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float32)


@cache
def _globe() -> NDArray[np.float32]:
    """(642, 3) points whose hull holds a ball of radius 1, 0.5 % farther out."""
    sphere = geodesic(8)
    return (sphere.vectors / sphere.nearness * (1 + 1e-6)).astype(np.float32)


OverrideShape: TypeAlias = Literal["box", "sphere"]


class Override(NamedTuple):
    """A shape set by hand, in an object's own space, that stands for its vertices.

    center : (3,)
    half_extents : (3,), of a box; of a sphere all three are the radius
    """

    shape: OverrideShape
    center: NDArray[np.float32]
    half_extents: NDArray[np.float32]

    @property
    def points(self) -> NDArray[np.float32]:
        """(n, 3) what bounds are fitted to: the corners of the box, or the sphere's centre."""
        if self.shape == "sphere":
            return self.center[None]
        return self.center + _CORNERS * self.half_extents

    @property
    def radius(self) -> float:
        """Of the balls around those points: 0 for a box."""
        return float(self.half_extents[0]) if self.shape == "sphere" else 0.0

    @property
    def surroundings(self) -> NDArray[np.float32]:
        """(n, 3) points whose hull holds the shape: corners of a box, or a globe 0.5 % around a sphere."""
        return self.corners if self.shape == "box" else self.center + _globe() * self.half_extents

    @property
    def corners(self) -> NDArray[np.float32]:
        """(8, 3) of the box, or of the box around the sphere."""
        return self.center + _CORNERS * self.half_extents


def override_of(item: bpy.types.Object) -> Override | None:
    """The shape that was set by hand for an original object."""
    own: Any = getattr(item, PROPERTY, None)
    if own is None or own.override == "none":
        return None
    center = np.array(own.center, dtype=np.float32)
    if own.override == "sphere":
        return Override("sphere", center, np.full(3, own.radius, dtype=np.float32))
    return Override("box", center, np.array(own.half_extents, dtype=np.float32))


def fitted_override(evaluated: bpy.types.Object, shape: OverrideShape, fit: FitSettings) -> Override:
    """The shape, as tight as it can be, around an object's vertices in its own space, without padding.

    Rounded outward to single precision. Raises EmptyGeometryError or NonFiniteGeometryError.
    """
    fit = fit_of(evaluated.original, fit)
    points = points_of(evaluated, fit.modifiers)
    if shape == "sphere":
        center = sphere_from_points(points, fit.method).center.astype(np.float32)
        beside = points.astype(np.float64) - center
        reach = np.full(3, length(beside).max())
    else:
        box = aabb_from_points(points)
        center = box.center.astype(np.float32)
        reach = np.maximum(box.max - center, center - box.min)
    half = reach.astype(np.float32)
    return Override(shape, center, np.where(half < reach, np.nextafter(half, np.float32(np.inf)), half))


def outside(override: Override, points: NDArray[np.float32]) -> Bools:
    """Which points (n, 3) of an object's own space are not in its override, by more than rounding."""
    beside = points.astype(np.float64) - override.center
    slack = 1e-6 * float(np.abs(override.corners).max())
    if override.shape == "sphere":
        return np.asarray(length(beside) > override.radius + slack)
    return np.asarray((np.abs(beside) > override.half_extents + slack).any(axis=1))


def sticking_out(depsgraph: bpy.types.Depsgraph, fit: FitSettings) -> frozenset[str]:
    """Full names of visible objects that have vertices outside of the shape set by hand for them."""
    names = set()
    for item in visible(depsgraph):
        override = override_of(item.instance.object.original)
        if override is not None and not item.key[2]:
            modifiers = fit_of(item.instance.object.original, fit).modifiers
            if outside(override, points_of(item.instance.object, modifiers)).any():
                names.add(item.key[0])
    return frozenset(names)
