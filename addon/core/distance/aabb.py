"""Distances between two axis-aligned boxes.

Space: results are in the space and unit of the boxes, (...) for batches that broadcast.

Sign: separation is the Euclidean distance where boxes are apart, and minus the depth along the shallowest
axis where they overlap.

Guarantee: exact up to float64 rounding of the coordinates. For concentric boxes the normal is the first axis
of least depth, in its positive direction.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Bools, Floats, length, normalized
from ..shapes import Aabb
from .witness import WitnessPoints


def separation_aabb_aabb(a: Aabb, b: Aabb) -> Floats:
    """Euclidean gap (...) where apart; minus the overlap on the shallowest axis where overlapping."""
    return signed_distance_from_gaps(aabb_gaps(a, b))


def overlaps_aabb_aabb(a: Aabb, b: Aabb) -> Bools:
    """Compare the faces, (...) bool. Exact, without rounding."""
    return np.asarray(((a.min <= b.max) & (b.min <= a.max)).all(axis=-1))


def aabb_gaps(a: Aabb, b: Aabb) -> Floats:
    """Signed gaps (..., 3) on each axis; minus the shortest translation along the axis where they overlap."""
    return np.maximum(a.min - b.max, b.min - a.max)


def witness_points_aabb_aabb(a: Aabb, b: Aabb) -> WitnessPoints:
    """Closest points where apart; points on the two faces of the shallowest axis where overlapping.

    Where faces or edges are parallel, the points are in the middle of their common part.
    """
    gaps = aabb_gaps(a, b)
    b_is_above = b.min - a.max >= a.min - b.max
    shared = np.maximum(a.min, b.min) * 0.5 + np.minimum(a.max, b.max) * 0.5
    facing_a, facing_b = np.where(b_is_above, a.max, a.min), np.where(b_is_above, b.min, b.max)
    deepest = gaps.max(axis=-1, keepdims=True)
    on_shallowest = np.arange(3) == gaps.argmax(axis=-1)[..., None]
    at_faces = (gaps > 0) | on_shallowest
    on_a, on_b = np.where(at_faces, facing_a, shared), np.where(at_faces, facing_b, shared)
    along_axis = np.where(on_shallowest, np.where(b_is_above, 1.0, -1.0), 0.0)
    return WitnessPoints(on_a, on_b, np.where(deepest > 0, normalized(on_b - on_a), along_axis))


def signed_distance_from_gaps(gaps: Floats) -> Floats:
    """Signed distance (...) of boxes from their gaps (..., 3) on each axis: Euclidean, or minus the least
    overlap.
    """
    # Several times as fast as a reduction over so short an axis.
    deepest = np.maximum(np.maximum(gaps[..., 0], gaps[..., 1]), gaps[..., 2])
    return np.where(deepest > 0, length(np.maximum(gaps, 0)), deepest)
