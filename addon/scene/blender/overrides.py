"""Overrides: boxes and spheres that the user sets, and that replace the vertices of an object."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core import aabb_from_points, sphere_from_points
from ...core.numeric.arrays import UNIT_BOX_CORNERS, Bools, length
from ...core.numeric.geodesic import geodesic_directions
from ..settings import FitSettings
from .instances import visible_instances
from .mesh_data import vertex_positions
from .object_settings import SETTINGS_PROPERTY, object_fit_settings


@cache
def _enclosing_geodesic() -> NDArray[np.float32]:
    """Points (642, 3) whose hull encloses a ball of radius 1; they are 0.5 % farther out."""
    sphere = geodesic_directions(8)
    return (sphere.vectors / sphere.covering_cosine * (1 + 1e-6)).astype(np.float32)


OverrideShape: TypeAlias = Literal["box", "sphere"]


class Override(NamedTuple):
    """A shape in object space that replaces the vertices of an object.

    center : (3,) float32
    half_extents : (3,) float32. Half sizes of a box; of a sphere all three are the radius.
    """

    shape: OverrideShape
    center: NDArray[np.float32]
    half_extents: NDArray[np.float32]

    @property
    def points(self) -> NDArray[np.float32]:
        """Points (n, 3) that bounds are fitted to: corners of the box, or center of the sphere."""
        return self.center[None] if self.shape == "sphere" else self.corners

    @property
    def radius(self) -> float:
        """Radius of the balls around these points; 0 for a box."""
        return float(self.half_extents[0]) if self.shape == "sphere" else 0.0

    @property
    def enclosing_points(self) -> NDArray[np.float32]:
        """Points (n, 3) whose hull encloses the shape; around a sphere they are 0.5 % farther out."""
        return (
            self.corners if self.shape == "box" else self.center + _enclosing_geodesic() * self.half_extents
        )

    @property
    def corners(self) -> NDArray[np.float32]:
        """Corners (8, 3) of the box, or of the box around the sphere."""
        return self.center + UNIT_BOX_CORNERS.astype(np.float32) * self.half_extents


def read_overrides(item: bpy.types.Object) -> tuple[Override, ...]:
    """Read all overrides of an original object. If there are several, each is a subject."""
    settings: Any = getattr(item, SETTINGS_PROPERTY, None)
    if settings is None or settings.override == "none":
        return ()
    overrides = []
    entries = [(settings.override, settings), *((entry.shape, entry) for entry in settings.more_shapes)]
    for shape, entry in entries:
        half_extents = (entry.radius,) * 3 if shape == "sphere" else entry.half_extents
        overrides.append(Override(shape, *np.array([entry.center, half_extents], dtype=np.float32)))
    return tuple(overrides)


def fit_override(evaluated: bpy.types.Object, shape: OverrideShape, fit: FitSettings) -> Override:
    """Fit an override to the vertices of an object, without padding.

    All vertices are inside: the size is rounded outward to single precision.

    evaluated : Evaluated mesh-like object.
    shape : Kind of the override.
    fit : Settings of the scene; those of the object take precedence.
    Returns override : In object space.
    Raises EmptyGeometryError, NonFiniteGeometryError.
    """
    fit = object_fit_settings(evaluated.original, fit)
    return override_around(vertex_positions(evaluated, fit.modifiers), shape)


def override_around(points: NDArray[np.float32], shape: OverrideShape) -> Override:
    """Fit an override to points (n, 3) in object space, without padding.

    All points are inside: the size is rounded outward to single precision.

    Raises EmptyGeometryError or NonFiniteGeometryError.
    """
    if shape == "sphere":
        center = sphere_from_points(points).center.astype(np.float32)
        extent = np.full(3, length(points.astype(np.float64) - center).max())
    else:
        box = aabb_from_points(points)
        center = box.center.astype(np.float32)
        extent = np.maximum(box.max - center, center - box.min)
    half = extent.astype(np.float32)
    return Override(shape, center, np.where(half < extent, np.nextafter(half, np.float32(np.inf)), half))


def points_outside(overrides: Sequence[Override], points: NDArray[np.float32]) -> Bools:
    """Return which points (n, 3) in object space are outside all overrides, by more than rounding."""
    is_outside = np.ones(len(points), dtype=bool)
    for override in overrides:
        offset = points.astype(np.float64) - override.center
        slack = 1e-6 * float(np.abs(override.corners).max())
        if override.shape == "sphere":
            is_outside &= length(offset) > override.radius + slack
        else:
            is_outside &= (np.abs(offset) > override.half_extents + slack).any(axis=1)
    return is_outside


def objects_outside_override(depsgraph: bpy.types.Depsgraph, fit: FitSettings) -> frozenset[str]:
    """Full names of visible objects that have vertices outside their overrides."""
    names = set()
    for item in visible_instances(depsgraph):
        overrides = read_overrides(item.instance.object.original)
        if overrides and not item.key[2]:
            modifiers = object_fit_settings(item.instance.object.original, fit).modifiers
            if points_outside(overrides, vertex_positions(item.instance.object, modifiers)).any():
                names.add(item.key[0])
    return frozenset(names)
