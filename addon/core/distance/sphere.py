"""Distances between a sphere and each other shape, or the nearest leaf of a sphere tree.

Space: results are in the space and unit of the shapes, (...) for batches that broadcast.

Sign: separation is the distance from the center to the other shape minus the radius; negative where they
overlap. For boxes the distance of a center inside is negative too: minus the depth below the nearest face.

Guarantee: exact up to float64 rounding of the coordinates. Where the center lies on or in the other shape
the normal is undefined, and each function documents its choice. Of leaves that tie by rounding, any may be
found.

A sphere tree is the union of its leaves, so its distance is that of one leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..numeric.arrays import (
    CHUNK_ROWS,
    Bools,
    Floats,
    Ints,
    dot,
    length,
    normalized,
    perpendicular,
    transform_vectors,
)
from ..shapes import Aabb, Obb, Segment, Sphere, Triangle, concatenated
from ..shapes.boxes import local_points, world_points
from ..shapes.primitives import closest_on_segment, closest_on_triangle
from ..trees.sphere_tree import SphereTree
from .separating_axis import WitnessPoints, separation_aabb_aabb


def separation_sphere_sphere(a: Sphere, b: Sphere) -> Floats:
    """Distance between the centers minus both radii, (...)."""
    return length(b.center - a.center) - (a.radius + b.radius)


def overlaps_sphere_sphere(a: Sphere, b: Sphere) -> Bools:
    """Compare the squared distance of the centers, (...) bool."""
    return _within(b.center - a.center, a.radius + b.radius)


def witness_points_sphere_sphere(a: Sphere, b: Sphere) -> WitnessPoints:
    """Points of both surfaces on the line through the centers; concentric spheres have the normal +X."""
    normal = normalized(b.center - a.center)
    return WitnessPoints(
        a.center + normal * a.radius[..., None], b.center - normal * b.radius[..., None], normal
    )


def separation_sphere_segment(a: Sphere, b: Segment) -> Floats:
    """Distance from the center to the segment minus the radius, (...)."""
    return length(closest_on_segment(a.center, b) - a.center) - a.radius


def overlaps_sphere_segment(a: Sphere, b: Segment) -> Bools:
    """Compare the squared distance of the center, (...) bool."""
    return _within(closest_on_segment(a.center, b) - a.center, a.radius)


def witness_points_sphere_segment(a: Sphere, b: Segment) -> WitnessPoints:
    """Closest points; for a center on the segment the normal is perpendicular to the segment."""
    return _witness_of_point(a, closest_on_segment(a.center, b), perpendicular(b.end - b.start))


def separation_sphere_triangle(a: Sphere, b: Triangle) -> Floats:
    """Compute the distance from the center to the triangle minus the radius. Exact up to float64 rounding.

    a : In any space and unit.
    b : In the space of the sphere; batches broadcast.
    Returns separation : (...) float64. Infinite behind a one-sided triangle.
    """
    distance = length(closest_on_triangle(a.center, b) - a.center) - a.radius
    return np.where(_is_behind(a, b), np.inf, distance)


def overlaps_sphere_triangle(a: Sphere, b: Triangle) -> Bools:
    """Compare the squared distance of the center with the squared radius. Exact up to float64 rounding.

    a : In any space and unit.
    b : In the space of the sphere; batches broadcast.
    Returns overlaps : (...) bool. False behind a one-sided triangle.
    """
    return np.asarray(_within(closest_on_triangle(a.center, b) - a.center, a.radius) & ~_is_behind(a, b))


def witness_points_sphere_triangle(a: Sphere, b: Triangle) -> WitnessPoints:
    """Closest points; for a center on the triangle the normal points from the front to the back.

    Behind a one-sided triangle the points are those of the two-sided one, though nothing collides there.
    """
    normal = b.normal
    # A triangle without area is a segment: use a perpendicular of its longest side.
    sides = np.stack(np.broadcast_arrays(b.b - b.a, b.c - b.b, b.a - b.c))
    longest = np.take_along_axis(sides, length(sides).argmax(axis=0)[None, ..., None], axis=0)[0]
    into = np.where((normal == 0).all(axis=-1)[..., None], perpendicular(longest), -normal)
    return _witness_of_point(a, closest_on_triangle(a.center, b), into)


def separation_sphere_aabb(a: Sphere, b: Aabb) -> Floats:
    """Signed distance from the center to the box minus the radius, (...)."""
    return separation_aabb_aabb(Aabb.unchecked(a.center, a.center), b) - a.radius


def overlaps_sphere_aabb(a: Sphere, b: Aabb) -> Bools:
    """Compare the squared distance of the center, (...) bool."""
    return _within(np.maximum(np.maximum(b.min - a.center, a.center - b.max), 0), a.radius)


def witness_points_sphere_aabb(a: Sphere, b: Aabb) -> WitnessPoints:
    """Closest points; a center inside exits through the nearest face, on ties in the order +X +Y +Z -X -Y
    -Z.
    """
    to_min, to_max = b.min - a.center, a.center - b.max
    outside = np.maximum(np.maximum(to_min, to_max), 0)
    closest = np.minimum(np.maximum(a.center, b.min), b.max)
    # The nearest face, in the order +X, +Y, +Z, -X, -Y, -Z.
    face = np.concatenate([to_max, to_min], axis=-1).argmax(axis=-1)[..., None]
    on_face = np.arange(3) == face % 3
    through = np.where(on_face, np.where(face < 3, b.max, b.min), a.center)
    into = np.where(on_face, np.where(face < 3, -1.0, 1.0), 0.0)
    is_outside = (outside > 0).any(axis=-1, keepdims=True)
    normal = np.where(is_outside, normalized(closest - a.center), into)
    return WitnessPoints(
        a.center + normal * a.radius[..., None], np.where(is_outside, closest, through), normal
    )


def separation_sphere_obb(a: Sphere, b: Obb) -> Floats:
    """Signed distance from the center to the oriented box minus the radius, (...)."""
    return separation_sphere_aabb(_to_local(b, a), _local_box(b))


def overlaps_sphere_obb(a: Sphere, b: Obb) -> Bools:
    """Compare the squared distance of the center, (...) bool."""
    return overlaps_sphere_aabb(_to_local(b, a), _local_box(b))


def witness_points_sphere_obb(a: Sphere, b: Obb) -> WitnessPoints:
    """Closest points; ties as in `witness_points_sphere_aabb`, along the axes of the oriented box."""
    local = witness_points_sphere_aabb(_to_local(b, a), _local_box(b))
    normal = normalized(transform_vectors(b.rotation, local.normal))
    return WitnessPoints(a.center + normal * a.radius[..., None], world_points(b, local.on_b), normal)


def _within(offset: Floats, reach: Floats) -> Bools:
    """Decide which vectors (..., 3) are at most `reach` (...) long."""
    with np.errstate(over="ignore", under="ignore"):
        squared, limit = dot(offset, offset), reach * reach
    is_out_of_range = ~((limit > 1e-270) & (limit < 1e300))
    if is_out_of_range.any():
        # Compare lengths where the squares overflow or underflow.
        return np.where(is_out_of_range, length(offset) <= reach, squared <= limit)
    return np.asarray(squared <= limit)


def _witness_of_point(a: Sphere, closest: Floats, fallback: Floats) -> WitnessPoints:
    """Witness points for the closest points (..., 3) of a shape without volume.

    `fallback` (..., 3) is the normal where the center lies on the shape.
    """
    offset = closest - a.center
    normal = np.where((offset == 0).all(axis=-1)[..., None], fallback, normalized(offset))
    return WitnessPoints(a.center + normal * a.radius[..., None], closest, normal)


def _is_behind(a: Sphere, b: Triangle) -> Bools:
    """Decide which centers (...) are behind a one-sided triangle."""
    if not b.one_sided:
        return np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=bool)
    return np.asarray(dot(a.center - b.a, b.normal) < 0)


def _to_local(box: Obb, sphere: Sphere) -> Sphere:
    """Spheres (...) in the local space of oriented boxes."""
    center = local_points(box, sphere.center)
    return Sphere.unchecked(center, np.broadcast_to(sphere.radius, center.shape[:-1]))


def _local_box(box: Obb) -> Aabb:
    """Axis-aligned boxes (...) that oriented boxes are in their local space."""
    return Aabb.unchecked(-box.half_extents, box.half_extents)


def nearest_leaves(tree: SphereTree, shape: Any, separation: Callable[[Any, Any], Floats]) -> Sphere:
    """Find the leaf of minimum separation from a shape; on ties the first.

    tree : Any poses.
    shape : Its batch broadcasts against that of the poses.
    separation : Signed distance of spheres and such shapes.
    Returns leaf : Sphere, batch (...)
    """
    batch = np.broadcast_shapes(tree.shape, shape.shape)
    pose, other = _places(tree.shape, batch), _places(shape.shape, batch)
    leaves = tree.reshaped((-1,)).leaf_spheres
    flat = shape.reshaped((-1,)) if shape.shape else shape
    found = [Sphere.unchecked(np.empty((0, 3)), np.empty(0))]
    step = max(1, CHUNK_ROWS // leaves.shape[1])
    for start in range(0, len(pose), step):
        rows = slice(start, start + step)
        spheres = leaves[pose[rows]]
        near = separation(spheres, flat[other[rows], None] if shape.shape else shape).argmin(axis=1)
        found.append(spheres[np.arange(len(near)), near])
    return concatenated(*found).reshaped(batch)


def nearest_leaf_pairs(a: SphereTree, b: SphereTree) -> tuple[Sphere, Sphere]:
    """Find the leaves of two trees with minimum separation, by comparing all of them.

    a, b : Batches broadcast.
    Returns on_a, on_b : Sphere, batch (...). On ties, the first leaf of `a`, then of `b`.
    """
    leaves = a.leaf_spheres
    nearest = nearest_leaves(b.reshaped((*b.shape, 1)), leaves, separation_sphere_sphere)
    leaves, batch = leaves.broadcast_to(nearest.shape), nearest.shape[:-1]
    first = separation_sphere_sphere(leaves, nearest).argmin(axis=-1).ravel()
    rows = np.arange(len(first))
    on_a, on_b = (each.reshaped((len(rows), -1))[rows, first].reshaped(batch) for each in (leaves, nearest))
    return on_a, on_b


def _places(shape: tuple[int, ...], batch: tuple[int, ...]) -> Ints:
    """Places (n,) in a flat batch of this shape of the elements of the batch to which it broadcasts."""
    return np.broadcast_to(np.arange(math.prod(shape)).reshape(shape), batch).ravel()
