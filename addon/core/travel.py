"""Bounds on where shapes can be between one sample and the next."""

from __future__ import annotations

import numpy as np

from .arrays import length
from .shapes import Aabb, Obb, Shape, Sphere

_UP = 1 + 8 * np.finfo(np.float64).eps


def swept_aabb(start: Shape, end: Shape) -> Aabb:
    """Boxes (...) around shapes on their way from one sample to the next. Conservative.

    What turns is taken as the sphere around it.
    """
    if isinstance(start, Obb) and isinstance(end, Obb) and not np.array_equal(start.rotation, end.rotation):
        start, end = (Sphere.trusted(box.center, length(box.half_extents) * _UP) for box in (start, end))
    box = start.aabb().merged(end.aabb())
    # Sides of spheres and oriented boxes have been rounded.
    slack = 4 * np.finfo(np.float64).eps * np.maximum(np.abs(box.min), np.abs(box.max))
    return Aabb.trusted(box.min - slack, box.max + slack)
