"""How far shapes get from one sample to the next: bounds on where they can be, and on how far they can go."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, length
from .interpolation import Turn
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


def travelled(start: Shape, end: Shape) -> Floats:
    """The length (...) that no point of a shape's surface exceeds on its way. Conservative.

    Two shapes that are a distance apart cannot meet before they have together travelled that far.
    """
    if isinstance(start, Sphere) and isinstance(end, Sphere):
        far = length(end.center - start.center) + np.abs(end.radius - start.radius)
    elif isinstance(start, Obb) and isinstance(end, Obb):
        reach = np.maximum(length(start.half_extents), length(end.half_extents))
        far = length(end.center - start.center) + length(end.half_extents - start.half_extents)
        if not np.array_equal(start.rotation, end.rotation):
            far = far + reach * Turn.between(start.rotation, end.rotation).angle
    else:
        # Corners move in straight lines, and what is between them no farther.
        moves = [np.abs(getattr(end, name) - getattr(start, name)) for name in start.tails]
        far = length(np.max(moves, axis=0))
    return np.asarray(far * _UP)
