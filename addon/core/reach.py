"""How far things reach along fixed directions: up and down the axes, and along those of a geodesic sphere."""

from __future__ import annotations

import numpy as np

from .arrays import Bools, Floats, transform_vectors
from .directions import geodesic
from .fitting import spheres_from_groups
from .shapes import Sphere
from .straightness import stray

DIRECTIONS = geodesic(4)

_ROUNDING = 16 * float(np.finfo(np.float64).eps)


def reach_of(boxes: Floats, balls: Floats) -> Floats:
    """(k, m, 6 + directions) how far what is in boxes (k, m, 6) and balls (k, m, 4) reaches.

    First up and down the axes, where the box alone counts.
    """
    low, high = boxes[..., :3], boxes[..., 3:]
    middle, half = (low + high) / 2, (high - low) / 2
    # Rounded up by what the sums may have lost.
    lost = _ROUNDING * np.maximum(np.abs(low), np.abs(high)).max(axis=-1)[..., None]
    box = _along(middle) + _along(half, np.abs(DIRECTIONS.vectors))
    ball = _along(balls[..., :3]) + balls[..., 3:]
    return np.concatenate([high, -low, np.minimum(box, ball) + lost], axis=-1)


def _along(points: Floats, directions: Floats = DIRECTIONS.vectors) -> Floats:
    """(..., k) how far points (..., 3) are along the directions (k, 3)."""
    # No matrix product, as everywhere.
    x, y, z = points[..., 0:1], points[..., 1:2], points[..., 2:3]
    result: Floats = x * directions[:, 0] + y * directions[:, 1] + z * directions[:, 2]
    return result


def strays_of(numbers: Floats, times: Floats, there: Bools) -> Floats:
    """(k - 1, m, c) how far numbers (k, m, c) may be off the straight way; 0 where nothing tells."""
    steps = np.diff(times)[:, None, None]
    speeds = np.diff(numbers, axis=0) / steps
    known = there[:-2] & there[1:-1] & there[2:]
    bends = np.where(known[..., None], np.abs(np.diff(speeds, axis=0)), 0.0)
    together = steps[:-1] + steps[1:]
    result = np.zeros_like(speeds)
    result[1:] = stray(bends, steps[1:], together)
    result[:-1] = np.maximum(result[:-1], stray(bends, steps[:-1], together))
    return result


def most_between(start: Floats, end: Floats, strays: Floats) -> Floats:
    """The most that numbers can come to on their way from `start` to `end`.

    The way is below a parabola through both that is `strays` above the straight line in the middle: where
    that line is steep, the parabola does not rise above its higher end.
    """
    rise = np.abs(end - start)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.maximum(4 * strays - rise, 0) ** 2 / (16 * strays)
    return np.asarray(np.maximum(start, end) + np.where(strays > 0, above, 0.0))


def sphere_around(reach: Floats) -> Sphere:
    """Spheres (m,) around whatever reaches no farther than `reach` (m, k) along the directions.

    The centre is that of the smallest sphere around the corners that neighbouring limits have together, or
    nearly the best one. From there everything in the cone of a triangle is within its limits over the cosine.
    """
    _, triangles, nearness = DIRECTIONS
    middle: Floats = (reach[:, _AXES] - reach[:, _OPPOSITES]) / 2
    local: Floats = reach - _along(middle)
    limits = local[:, triangles]
    corners = transform_vectors(_CORNERS, limits)
    offsets = np.arange(len(reach) + 1) * len(triangles)
    center = spheres_from_groups(corners.reshape(-1, 3), offsets).center
    farthest = (local - _along(center)).max(axis=1)
    lost = _ROUNDING * np.abs(reach).max(axis=1)
    return Sphere.trusted(center + middle, (farthest + lost) / nearness + lost)


_AXES = DIRECTIONS.vectors.argmax(axis=0)
_OPPOSITES = DIRECTIONS.vectors.argmin(axis=0)
"""The directions along the axes, and their opposites."""

_CORNERS = np.asarray(np.linalg.inv(DIRECTIONS.vectors[DIRECTIONS.triangles]), dtype=np.float64)
"""(t, 3, 3) what makes of three limits the corner that they have together."""
