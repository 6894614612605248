"""Two shapes at rest: how far apart, whether they overlap, where they are closest.

Separation is signed: positive is the gap between the surfaces, negative the depth of the overlap. Touching
(0) counts as overlap. All functions broadcast the batches of their arguments.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Bools, Floats, dot, length, unit
from .errors import InvalidShapeError
from .shapes import Aabb, Shape, Sphere


class WitnessPoints(NamedTuple):
    """Closest points of two shapes, or of their surfaces where they are deepest in one another.

    on_a, on_b : (..., 3)
    normal : (..., 3) unit vector from the first shape to the second
    """

    on_a: Floats
    on_b: Floats
    normal: Floats

    @property
    def middle(self) -> Floats:
        """(..., 3) halfway between the two points."""
        middle: Floats = self.on_a * 0.5 + self.on_b * 0.5
        return middle


def separation(a: Shape, b: Shape) -> Floats:
    """Signed distance between the surfaces; (...) float64, <= 0 where the shapes overlap.

    Exact up to float64 rounding. Raises InvalidShapeError for a pair of kinds without a method.
    """
    if isinstance(a, Sphere) and isinstance(b, Sphere):
        return separation_sphere_sphere(a, b)
    if isinstance(a, Aabb) and isinstance(b, Aabb):
        return separation_aabb_aabb(a, b)
    raise unsupported_pair("separation", a, b)


def overlaps(a: Shape, b: Shape) -> Bools:
    """Whether the shapes share a point; touching counts. Decided without a square root.

    Raises InvalidShapeError for a pair of kinds without a method.
    """
    if isinstance(a, Sphere) and isinstance(b, Sphere):
        offset, reach = b.center - a.center, a.radius + b.radius
        return np.asarray(dot(offset, offset) <= reach * reach)
    if isinstance(a, Aabb) and isinstance(b, Aabb):
        return np.asarray(((a.min <= b.max) & (b.min <= a.max)).all(axis=-1))
    raise unsupported_pair("overlap", a, b)


def witness_points(a: Shape, b: Shape) -> WitnessPoints:
    """Closest points and the normal from `a` to `b`.

    Concentric spheres and boxes with one centre take the first positive axis that serves, never NaN.
    Raises InvalidShapeError for a pair of kinds without a method.
    """
    if isinstance(a, Sphere) and isinstance(b, Sphere):
        return witness_points_sphere_sphere(a, b)
    if isinstance(a, Aabb) and isinstance(b, Aabb):
        return witness_points_aabb_aabb(a, b)
    raise unsupported_pair("witness points", a, b)


def separation_sphere_sphere(a: Sphere, b: Sphere) -> Floats:
    """Distance of the centres less both radii."""
    result: Floats = length(b.center - a.center) - (a.radius + b.radius)
    return result


def separation_aabb_aabb(a: Aabb, b: Aabb) -> Floats:
    """The Euclidean gap when apart; when overlapping, minus the overlap on the shallowest axis."""
    return signed_distance(aabb_gaps(a, b))


def aabb_gaps(a: Aabb, b: Aabb) -> Floats:
    """(..., 3) signed gap on each axis; negative is the shortest way out along that axis."""
    return np.maximum(a.min - b.max, b.min - a.max)


def signed_distance(gaps: Floats) -> Floats:
    """(..., 3) gaps per axis -> (...) signed distance of two boxes."""
    deepest = gaps.max(axis=-1)
    return np.where(deepest > 0, length(np.maximum(gaps, 0)), deepest)


def witness_points_sphere_sphere(a: Sphere, b: Sphere) -> WitnessPoints:
    """The points of both surfaces on the line of the centres."""
    normal = unit(b.center - a.center)
    return WitnessPoints(
        a.center + normal * a.radius[..., None], b.center - normal * b.radius[..., None], normal
    )


def witness_points_aabb_aabb(a: Aabb, b: Aabb) -> WitnessPoints:
    """Apart: the closest points. Overlapping: on the two faces of the shallowest axis.

    Where faces or edges lie side by side, the points are in the middle of what they share.
    """
    gaps = aabb_gaps(a, b)
    b_is_above = b.min - a.max >= a.min - b.max
    shared = np.maximum(a.min, b.min) * 0.5 + np.minimum(a.max, b.max) * 0.5
    facing_a, facing_b = np.where(b_is_above, a.max, a.min), np.where(b_is_above, b.min, b.max)
    deepest = gaps.max(axis=-1, keepdims=True)
    on_shallowest = np.arange(3) == gaps.argmax(axis=-1)[..., None]
    at_faces = np.where(deepest > 0, gaps > 0, on_shallowest)
    on_a, on_b = np.where(at_faces, facing_a, shared), np.where(at_faces, facing_b, shared)
    along_axis = np.where(on_shallowest, np.where(b_is_above, 1.0, -1.0), 0.0)
    return WitnessPoints(on_a, on_b, np.where(deepest > 0, unit(on_b - on_a), along_axis))


def unsupported_pair(what: str, a: object, b: object) -> InvalidShapeError:
    """The error for two kinds of shapes that no method pairs."""
    return InvalidShapeError(f"no {what} of {type(a).__name__} and {type(b).__name__}")
