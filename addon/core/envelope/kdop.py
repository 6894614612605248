"""k-DOPs: bounding volumes given by support distances along fixed directions (Klosowski et al. 1998).

The directions are the six of the axes, which make a box, and the vertices of a geodesic sphere.
"""

from __future__ import annotations

import numpy as np

from ..fitting.enclosing import spheres_from_groups
from ..interval.linearity import interval_deviations, parabola_overshoot
from ..numeric.arrays import Bools, Floats, transform_vectors
from ..numeric.geodesic import geodesic_directions
from ..numeric.tolerances import GAP_ROUNDING
from ..shapes import Sphere

DIRECTIONS = geodesic_directions(4)

SUPPORT_COUNT = 6 + len(DIRECTIONS.vectors)
"""Support distances of a k-DOP: up the axes, down the axes, then along the directions."""


def supports_of(boxes: Floats, spheres: Floats) -> Floats:
    """Compute support distances of the intersections of boxes and spheres. Conservative: rounded up.

    boxes : (k, m, 6) float64. Both corners, at k times.
    spheres : (k, m, 4) float64. Center and radius.
    Returns supports : (k, m, SUPPORT_COUNT) float64. Along the axes, of the box alone.
    """
    low, high = boxes[..., :3], boxes[..., 3:]
    middle, half = (low + high) / 2, (high - low) / 2
    # Rounded up by the error of the sums.
    lost = GAP_ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=-1)[..., None]
    box = _along(middle) + _along(half, np.abs(DIRECTIONS.vectors))
    sphere = _along(spheres[..., :3]) + spheres[..., 3:]
    return np.concatenate([high, -low, np.minimum(box, sphere) + lost], axis=-1)


def _along(points: Floats, directions: Floats = DIRECTIONS.vectors) -> Floats:
    """Coordinates (..., k) of points (..., 3) along the directions (k, 3)."""
    # No matrix product, because its rounding depends on the machine.
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    result: Floats = x * directions[:, 0] + y * directions[:, 1] + z * directions[:, 2]
    return result


def deviations_from_linear(values: Floats, times: Floats, present: Bools) -> Floats:
    """Estimate deviations of values from linear interpolation. Approximate: see `interval.linearity`.

    values : (k, m, c) float64. At k times.
    times : (k,) float64. Increasing, in frames.
    present : (k, m) bool. Whether the subject of the values is present.
    Returns deviations : (k - 1, m, c) float64. 0 where unknown.
    """
    steps = np.diff(times)[:, None, None]
    speeds = np.diff(values, axis=0) / steps
    is_known = present[:-2] & present[1:-1] & present[2:]
    changes = np.where(is_known[..., None], np.abs(np.diff(speeds, axis=0)), 0.0)
    return interval_deviations(changes, steps, 0.0)


def max_over_interval(start: Floats, end: Floats, deviation: Floats) -> Floats:
    """Bound values over an interval, given their deviation from linear interpolation.

    start, end : (...) float64. Values at both ends.
    deviation : (...) float64. Sagitta of the parabola through both ends, below which the value is assumed.
    Returns largest : (...) float64. Conservative under that assumption.
    """
    return np.asarray(np.maximum(start, end) + parabola_overshoot(np.abs(end - start), deviation))


def spheres_around(supports: Floats) -> Sphere:
    """Spheres (m,) around k-DOPs with supports (m, directions), the six of the axes not included.

    The center is that of the smallest sphere around the corners where neighboring planes meet, which is
    nearly the best one. Seen from there, everything in the cone of a triangle of directions is within the
    largest of its supports, divided by the cosine of the angle to the nearest direction.
    """
    _, triangles, covering_cosine = DIRECTIONS
    middle: Floats = (supports[:, _AXES] - supports[:, _OPPOSITES]) / 2
    local: Floats = supports - _along(middle)
    corners = transform_vectors(_CORNER_SOLVERS, local[:, triangles])
    offsets = np.arange(len(supports) + 1) * len(triangles)
    center = spheres_from_groups(corners.reshape(-1, 3), offsets).center
    farthest = (local - _along(center)).max(axis=1)
    lost = GAP_ROUNDING * np.abs(supports).max(axis=1)
    return Sphere.unchecked(center + middle, (farthest + lost) / covering_cosine + lost)


_AXES = DIRECTIONS.vectors.argmax(axis=0)
_OPPOSITES = DIRECTIONS.vectors.argmin(axis=0)
"""Indices of the directions along the axes, and of their opposites."""

_CORNER_SOLVERS = np.asarray(np.linalg.inv(DIRECTIONS.vectors[DIRECTIONS.triangles]), dtype=np.float64)
"""Matrices (t, 3, 3) that map three supports to the corner where their planes meet."""
