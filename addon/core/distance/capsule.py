"""Distances between a capsule and a sphere, a box or another capsule.

A capsule is a segment with a radius around it, and a segment is a box without width: each pair is solved as a
pair of boxes, and the radii are subtracted.

Space: results are in the space and unit of the shapes, (...) for batches that broadcast.

Sign: separation is the gap between the surfaces; where they overlap, minus the length of the shortest
translation that ends the overlap.

Guarantee: exact up to float64 rounding of the size of a pair.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ..numeric.arrays import Bools, Floats, cross, perpendicular
from ..shapes import Aabb, Capsule, Obb, Sphere
from .obb import separation_obb_obb, witness_points_obb_obb
from .witness import WitnessPoints

Rounded: TypeAlias = Capsule | Sphere | Aabb | Obb
"""Shapes that are a box, which may have no width, with a radius around it."""


def separation_capsule_shape(a: Capsule, b: Rounded) -> Floats:
    """Separation of the boxes within the shapes minus the radii, (...)."""
    (first, reach), (second, more) = box_and_radius(a), box_and_radius(b)
    result: Floats = separation_obb_obb(first, second) - (reach + more)
    return result


def overlaps_capsule_shape(a: Capsule, b: Rounded) -> Bools:
    """Compare the separation with 0, (...) bool."""
    return np.asarray(separation_capsule_shape(a, b) <= 0)


def witness_points_capsule_shape(a: Capsule, b: Rounded) -> WitnessPoints:
    """Closest points of the boxes within the shapes, moved out to the surfaces.

    Where segments cross, the normal is perpendicular to both.
    """
    (first, reach), (second, more) = box_and_radius(a), box_and_radius(b)
    within = witness_points_obb_obb(first, second)
    return WitnessPoints(
        within.on_a + within.normal * np.asarray(reach)[..., None],
        within.on_b - within.normal * np.asarray(more)[..., None],
        within.normal,
    )


def box_and_radius(shape: Rounded) -> tuple[Obb, Floats]:
    """Split a shape into a box and a radius around it. Exact up to float64 rounding.

    shape : Capsule, Sphere, Aabb or Obb, batch (...). In any space and unit.
    Returns box : Obb, batch (...). Without width for capsules, and without any size for spheres.
    Returns radius : (...) float64. 0 for boxes.
    """
    if isinstance(shape, Aabb | Obb):
        return shape.oriented(), np.zeros(shape.shape)
    if isinstance(shape, Sphere):
        axes = np.broadcast_to(np.eye(3), (*shape.shape, 3, 3))
        return Obb.unchecked(shape.center, np.zeros_like(shape.center), axes), shape.radius
    side = perpendicular(shape.axis)
    axes = np.stack([side, cross(shape.axis, side), shape.axis], axis=-1)
    half = np.zeros_like(shape.center)
    half[..., 2] = shape.half_length
    return Obb.unchecked(shape.center, half, axes), shape.radius
