"""Velocities of points on the surfaces of shapes in motion, of which the speed of an impact is made."""

from __future__ import annotations

import numpy as np

from ..distance.dispatch import Solid
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arrays import Floats, cross, dot, normalized, transform_vectors
from ..shapes import Aabb, Capsule, Obb, Sphere
from ..sweep.interpolation import RotationPath, arc


def surface_velocity(start: Solid, end: Solid, now: Solid, point: Floats) -> Floats:
    """Velocity of a point that moves and grows with its shape. Exact for linear motion, up to rounding.

    Oriented boxes and the axes of capsules rotate at a constant rate. Spheres do not rotate, whatever they
    enclose, nor do capsules about their axes.

    start, end : Sphere, Aabb, Obb, Capsule or TriangleMesh, batch (m,). Shapes at both ends of an interval;
        a mesh is at rest.
    now : Shapes at the time of the velocity.
    point : (m, 3) float64. Points on the surface of `now`.
    Returns velocity : (m, 3) float64. In lengths per interval.
    """
    if isinstance(start, Sphere) and isinstance(end, Sphere) and isinstance(now, Sphere):
        growth = (end.radius - start.radius)[:, None]
        return np.asarray(end.center - start.center + growth * normalized(point - now.center))
    if isinstance(start, Aabb) and isinstance(end, Aabb) and isinstance(now, Aabb):
        part = _part(point - now.min, now.max - now.min)
        return (end.min - start.min) * (1 - part) + (end.max - start.max) * part
    if isinstance(start, Obb) and isinstance(end, Obb) and isinstance(now, Obb):
        path = RotationPath.between(start.rotation, end.rotation)
        arm = point - now.center
        local = transform_vectors(np.swapaxes(now.rotation, -1, -2), arm)
        part = 2 * _part(local + now.half_extents, 2 * now.half_extents) - 1
        growth = transform_vectors(now.rotation, part * (end.half_extents - start.half_extents))
        return end.center - start.center + cross(path.axis * path.angle[:, None], arm) + growth
    if isinstance(start, Capsule) and isinstance(end, Capsule) and isinstance(now, Capsule):
        arm = point - now.center
        about, angle = arc(start.axis, end.axis)
        along = np.clip(dot(arm, now.axis), -now.half_length, now.half_length)
        outward = normalized(arm - along[:, None] * now.axis)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(now.half_length > 0, along / now.half_length, 0.0)
        growth = (part * (end.half_length - start.half_length))[:, None] * now.axis
        growth = growth + (end.radius - start.radius)[:, None] * outward
        return np.asarray(end.center - start.center + cross(about * angle[:, None], arm) + growth)
    assert isinstance(now, TriangleMesh), "scans have no other shapes"
    return np.zeros(point.shape)


def _part(offset: Floats, size: Floats) -> Floats:
    """Part (m, 3) of a size along each axis, in [0, 1]; the middle where the size is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(size > 0, offset / size, 0.5)
    return np.clip(part, 0.0, 1.0)
