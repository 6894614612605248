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
    over_face = (normal != 0).any(axis=-1)
    nearest: Floats | None = None
    for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
        on_edge = closest_on_segment(points, Segment.trusted(start, end))
        if nearest is None:
            nearest = on_edge
        else:
            is_nearer = length(points - on_edge) < length(points - nearest)
            nearest = np.where(is_nearer[..., None], on_edge, nearest)
        over_face = over_face & (dot(cross(end - start, points - start), normal) >= 0)
    assert nearest is not None, "a triangle has edges"
    # Seen from the closest edge a thin triangle's normal may be off without harm: there is hardly any face
    # to cover between the two points.
    height = dot(points - nearest, normal)[..., None]
    return np.where(over_face[..., None], points - height * normal, nearest)
