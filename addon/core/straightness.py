"""How far shapes may be from the straight way between two samples, told by the samples next to those.

A path whose second derivative is at most c strays from its chord over a time h by at most c h^2 / 8. The
derivative is taken from the change of the slope between neighbouring samples, four times over or more: smooth
motion has it within a few per cent, and a kink half way through an interval takes all four. Approximate.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .arrays import Floats, length
from .interpolation import axis_and_angle, turned_angle
from .shapes import Aabb, Obb, Shape, Sphere

Slopes: TypeAlias = Floats
"""(..., k) numbers of shapes that change linearly on the way, per frame."""


def slopes(start: Shape, end: Shape, step: Floats | float) -> Slopes:
    """How fast the numbers of shapes change: centres, radii or sides, and the vector of an Obb's turn."""
    per_frame = 1.0 / np.asarray(step, dtype=np.float64)[..., None]
    if isinstance(start, Sphere) and isinstance(end, Sphere):
        change = np.concatenate([end.center - start.center, (end.radius - start.radius)[..., None]], axis=-1)
    elif isinstance(start, Aabb) and isinstance(end, Aabb):
        change = np.concatenate([end.min - start.min, end.max - start.max], axis=-1)
    else:
        assert isinstance(start, Obb) and isinstance(end, Obb)
        change = np.zeros((*start.shape, 9))
        change[..., :3] = end.center - start.center
        change[..., 3:6] = end.half_extents - start.half_extents
        turns = (start.rotation != end.rotation).any(axis=(-2, -1))
        if turns.any():
            axis, angle = axis_and_angle(start.rotation[turns], end.rotation[turns])
            reach = np.maximum(length(start.half_extents[turns]), length(end.half_extents[turns]))
            change[turns, 6:] = axis * (angle * reach)[..., None]
    return np.asarray(change * per_frame)


def bend(before: Slopes, after: Slopes) -> Floats:
    """(...) how much faster, at most, a surface is in one interval than in the one before."""
    change = np.abs(after - before)
    if change.shape[-1] == 6:  # the faces of a box move each on its own
        return np.asarray(change.max(axis=-1))
    total = length(change[..., :3])
    if change.shape[-1] == 4:
        return np.asarray(total + change[..., 3])
    return np.asarray(total + length(change[..., 3:6]) + length(change[..., 6:]))


def stray(bends: Floats, step: Floats | float, steps: Floats | float) -> Floats:
    """(...) how far surfaces may be from straight over an interval of `step` frames.

    bends : what the speed changes by to or from the interval beside it
    steps : frames that both intervals take together
    """
    # A kink changes the speed at once: the interval beside it counts as no longer than this one.
    return np.asarray(bends * np.asarray(step) ** 2 / np.minimum(steps, 2 * np.asarray(step)))


def sagitta(start: Shape, end: Shape) -> Floats | float:
    """(...) how far corners that turn at a constant rate stray from the straight way."""
    if not (isinstance(start, Obb) and isinstance(end, Obb)):
        return 0.0
    reach = np.maximum(length(start.half_extents), length(end.half_extents))
    return np.asarray(reach * (1 - np.cos(turned_angle(start, end) / 2)))
