"""A sphere and another shape at rest.

Exact up to float64 rounding of the coordinates. A sphere touches where the distance of its centre is its
radius. Where the centre lies on or in the other shape there is no direction to it, and a stated one is taken.
"""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats, dot, length, perpendicular, transform_vectors, unit
from .closest_points import closest_on_segment, closest_on_triangle
from .shapes import Aabb, Obb, Segment, Sphere, Triangle
from .witness import WitnessPoints


def separation_sphere_sphere(a: Sphere, b: Sphere) -> Floats:
    """Distance of the centres less both radii, (...)."""
    result: Floats = length(b.center - a.center) - (a.radius + b.radius)
    return result


def overlaps_sphere_sphere(a: Sphere, b: Sphere) -> Bools:
    """By squared distance, which needs no root."""
    return _within(b.center - a.center, a.radius + b.radius)


def witness_points_sphere_sphere(a: Sphere, b: Sphere) -> WitnessPoints:
    """The points of both surfaces on the line of the centres; spheres with one centre are parted along X."""
    normal = unit(b.center - a.center)
    return WitnessPoints(
        a.center + normal * a.radius[..., None], b.center - normal * b.radius[..., None], normal
    )


def separation_sphere_segment(a: Sphere, b: Segment) -> Floats:
    """Distance from the centre to the segment, less the radius, (...)."""
    result: Floats = length(closest_on_segment(a.center, b) - a.center) - a.radius
    return result


def overlaps_sphere_segment(a: Sphere, b: Segment) -> Bools:
    """By squared distance of the centre."""
    return _within(closest_on_segment(a.center, b) - a.center, a.radius)


def witness_points_sphere_segment(a: Sphere, b: Segment) -> WitnessPoints:
    """A centre on the segment is parted from it at a right angle to the segment."""
    return _witness_of_point(a, closest_on_segment(a.center, b), perpendicular(b.end - b.start))


def separation_sphere_triangle(a: Sphere, b: Triangle) -> Floats:
    """Distance from the centre to the triangle, less the radius, (...); inf behind a one-sided triangle."""
    distance = length(closest_on_triangle(a.center, b) - a.center) - a.radius
    return np.where(_is_behind(a, b), np.inf, distance)


def overlaps_sphere_triangle(a: Sphere, b: Triangle) -> Bools:
    """By squared distance of the centre; never behind a one-sided triangle."""
    return np.asarray(_within(closest_on_triangle(a.center, b) - a.center, a.radius) & ~_is_behind(a, b))


def witness_points_sphere_triangle(a: Sphere, b: Triangle) -> WitnessPoints:
    """A centre on the triangle is parted from it towards the front.

    Behind a one-sided triangle the points are the closest ones all the same, though nothing collides there.
    """
    normal = b.normal
    # Without a face, away from the longest side, which is the segment that the triangle has shrunk to.
    sides = np.stack(np.broadcast_arrays(b.b - b.a, b.c - b.b, b.a - b.c))
    longest = np.take_along_axis(sides, length(sides).argmax(axis=0)[None, ..., None], axis=0)[0]
    into = np.where((normal == 0).all(axis=-1)[..., None], perpendicular(longest), -normal)
    return _witness_of_point(a, closest_on_triangle(a.center, b), into)


def separation_sphere_aabb(a: Sphere, b: Aabb) -> Floats:
    """Distance from the centre to the box, less the radius, (...); inside, minus the way out of the box."""
    result: Floats = signed_distance(_face_gaps(a.center, b)) - a.radius
    return result


def overlaps_sphere_aabb(a: Sphere, b: Aabb) -> Bools:
    """By squared distance of the centre."""
    return _within(np.maximum(_face_gaps(a.center, b), 0), a.radius)


def witness_points_sphere_aabb(a: Sphere, b: Aabb) -> WitnessPoints:
    """A centre inside leaves through the nearest face, of equals the first positive one."""
    to_min, to_max = b.min - a.center, a.center - b.max
    outside = np.maximum(np.maximum(to_min, to_max), 0)
    closest = np.minimum(np.maximum(a.center, b.min), b.max)
    # The way through the nearest face, in the order of +X, +Y, +Z, -X, -Y, -Z.
    face = np.concatenate([to_max, to_min], axis=-1).argmax(axis=-1)[..., None]
    on_face = np.arange(3) == face % 3
    through = np.where(on_face, np.where(face < 3, b.max, b.min), a.center)
    into = np.where(on_face, np.where(face < 3, -1.0, 1.0), 0.0)
    is_outside = (outside > 0).any(axis=-1, keepdims=True)
    normal = np.where(is_outside, unit(closest - a.center), into)
    return WitnessPoints(
        a.center + normal * a.radius[..., None], np.where(is_outside, closest, through), normal
    )


def separation_sphere_obb(a: Sphere, b: Obb) -> Floats:
    """As `separation_sphere_aabb`, along the axes of the oriented box."""
    return separation_sphere_aabb(_seen_from(b, a), _own_box(b))


def overlaps_sphere_obb(a: Sphere, b: Obb) -> Bools:
    """By squared distance of the centre."""
    return overlaps_sphere_aabb(_seen_from(b, a), _own_box(b))


def witness_points_sphere_obb(a: Sphere, b: Obb) -> WitnessPoints:
    """As `witness_points_sphere_aabb`, along the axes of the oriented box."""
    local = witness_points_sphere_aabb(_seen_from(b, a), _own_box(b))
    normal = unit(transform_vectors(b.rotation, local.normal))
    return WitnessPoints(a.center + normal * a.radius[..., None], b.to_world(local.on_b), normal)


def signed_distance(gaps: Floats) -> Floats:
    """Gaps per axis (..., 3) -> (...): the Euclidean gap, or the shallowest overlap where no axis has one."""
    deepest = gaps.max(axis=-1)
    return np.where(deepest > 0, length(np.maximum(gaps, 0)), deepest)


def _within(offset: Floats, reach: Floats) -> Bools:
    """Whether vectors (..., 3) are at most `reach` (...) long."""
    with np.errstate(over="ignore", under="ignore"):
        squared, limit = dot(offset, offset), reach * reach
    odd = ~((limit > 1e-270) & (limit < 1e300))
    if odd.any():
        # Squares out of range: compare lengths, which are not.
        return np.where(odd, length(offset) <= reach, squared <= limit)
    return np.asarray(squared <= limit)


def _witness_of_point(a: Sphere, closest: Floats, otherwise: Floats) -> WitnessPoints:
    """For a shape without a volume; `otherwise` is the normal where the centre lies on it."""
    offset = closest - a.center
    normal = np.where((offset == 0).all(axis=-1)[..., None], otherwise, unit(offset))
    return WitnessPoints(a.center + normal * a.radius[..., None], closest, normal)


def _is_behind(a: Sphere, b: Triangle) -> Bools:
    if not b.one_sided:
        return np.zeros(np.broadcast_shapes(a.shape, b.shape), dtype=bool)
    return np.asarray(dot(a.center - b.a, b.normal) < 0)


def _face_gaps(points: Floats, box: Aabb) -> Floats:
    """(..., 3) how far points are outside of the box on each axis; inside, minus the way to the face."""
    return np.maximum(box.min - points, points - box.max)


def _seen_from(box: Obb, sphere: Sphere) -> Sphere:
    center = box.to_local(sphere.center)
    return Sphere.trusted(center, np.broadcast_to(sphere.radius, center.shape[:-1]))


def _own_box(box: Obb) -> Aabb:
    return Aabb.trusted(-box.half_extents, box.half_extents)
