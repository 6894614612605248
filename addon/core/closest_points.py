"""The point of a shape that is closest to a given point. Batches broadcast; all of it exact to rounding."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, cross, dot, length
from .shapes import Segment, Triangle


def closest_on_segment(points: Floats, segment: Segment) -> Floats:
    """(..., 3) the closest point on each segment: the one on its line, clamped to the ends."""
    along, offset = segment.end - segment.start, points - segment.start
    squared = dot(along, along)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        t = dot(offset, along) / squared
    # A segment shorter than 1e-160 is a point: its square underflows.
    t = np.where(np.isfinite(t), np.clip(t, 0, 1), 0.0)[..., None]
    # From the nearer end, so that both ends come back as they are.
    return np.where(t <= 0.5, segment.start + t * along, segment.end - (1 - t) * along)


def closest_on_triangle(points: Floats, triangle: Triangle) -> Floats:
    """(..., 3) the closest point on each triangle: on its face if the point is over it, else on an edge."""
    corners = triangle.a, triangle.b, triangle.c
    normal = triangle.normal
    # Twice the areas, seen along the normal, that the point spans with the sides; all of them over the face.
    areas = []
    nearest, distance = triangle.a, np.array(np.inf)
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        areas.append(dot(cross(end - start, points - start), normal))
        on_edge = closest_on_segment(points, Segment.trusted(start, end))
        to_edge = length(points - on_edge)
        nearest = np.where((to_edge < distance)[..., None], on_edge, nearest)
        distance = np.minimum(to_edge, distance)
    offset = points - nearest
    height = dot(offset, normal)[..., None] * normal
    # A point of a triangle is no farther from its sides than its area over the longest of them. What claims
    # to be is off by the rounding of a thin triangle's normal, and then hardly any face is missed.
    box = triangle.aabb()
    reach = length(offset - height) * (box.max - box.min).max(axis=-1)
    over_face = (np.min(areas, axis=0) >= 0) & (reach < sum(areas))
    return np.where(over_face[..., None], points - height, nearest)
