"""Deviation of shapes from linear motion between two samples, estimated from neighboring samples.

A path whose second derivative is at most c deviates from its chord over a time h by at most c h^2 / 8, the
error bound of linear interpolation. The derivative is estimated from the change of the velocity between
neighboring intervals, with a safety factor of four or more: smooth motion stays within a few percent of the
estimate without it, and a kink half way through an interval needs all of it. Approximate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ..numeric.arrays import Floats, length
from ..numeric.batch import method_of_kind
from ..shapes import Aabb, Capsule, Obb, Shape, Sphere
from ..sweep.interpolation import arc, rotation_angle, rotation_axis_angle

Velocities: TypeAlias = Floats
"""(..., c) change per frame of the numbers of a shape that linear motion interpolates."""


def velocities(start: Shape, end: Shape, step: Floats | float) -> Velocities:
    """Compute the change per frame of the numbers of a shape that linear motion interpolates.

    start, end : Sphere, Aabb, Obb or Capsule, batch (...). Samples at both ends of the interval.
    step : (...) float. Length of the interval, in frames.
    Returns velocities : (..., c) float64. Lengths per frame: of centers and radii, of both corners of a
        box, or of center, half extents and rotation vector times size of an oriented box; of a capsule,
        half length and radius are in the place of half extents, times the square root of 2, so that their
        norm is not less than their sum.
    """
    per_frame = 1.0 / np.asarray(step, dtype=np.float64)[..., None]
    return np.asarray(method_of_kind(_CHANGES, start)(start, end) * per_frame)


def _change_of_spheres(start: Sphere, end: Sphere) -> Floats:
    return np.concatenate([end.center - start.center, (end.radius - start.radius)[..., None]], axis=-1)


def _change_of_boxes(start: Aabb, end: Aabb) -> Floats:
    return np.concatenate([end.min - start.min, end.max - start.max], axis=-1)


def _change_of_oriented_boxes(start: Obb, end: Obb) -> Floats:
    change = np.zeros((*start.shape, 9))
    change[..., :3] = end.center - start.center
    change[..., 3:6] = end.half_extents - start.half_extents
    turns = (start.rotation != end.rotation).any(axis=(-2, -1))
    if turns.any():
        axis, angle = rotation_axis_angle(start.rotation[turns], end.rotation[turns])
        radius = np.maximum(length(start.half_extents[turns]), length(end.half_extents[turns]))
        change[turns, 6:] = axis * (angle * radius)[..., None]
    return change


def _change_of_capsules(start: Capsule, end: Capsule) -> Floats:
    change = np.zeros((*start.shape, 9))
    change[..., :3] = end.center - start.center
    change[..., 3] = np.sqrt(2) * (end.half_length - start.half_length)
    change[..., 4] = np.sqrt(2) * (end.radius - start.radius)
    axis, angle = arc(start.axis, end.axis)
    change[..., 6:] = axis * (angle * np.maximum(start.half_length, end.half_length))[..., None]
    return change


_CHANGES: dict[type, Callable[[Any, Any], Floats]] = {
    Sphere: _change_of_spheres,
    Aabb: _change_of_boxes,
    Obb: _change_of_oriented_boxes,
    Capsule: _change_of_capsules,
}


def velocity_change(before: Velocities, after: Velocities) -> Floats:
    """Bound the change in speed of any surface point from one interval to the next. Conservative.

    before, after : (..., c) float64. `velocities` of both intervals.
    Returns change : (...) float64. Lengths per frame.
    """
    change = np.abs(after - before)
    if change.shape[-1] == 6:  # the faces of an Aabb move independently
        return np.asarray(change.max(axis=-1))
    total = length(change[..., :3])
    if change.shape[-1] == 4:
        return np.asarray(total + change[..., 3])
    return np.asarray(total + length(change[..., 3:6]) + length(change[..., 6:]))


def max_deviation(change: Floats, step: Floats | float, both_steps: Floats | float) -> Floats:
    """Estimate the largest deviation from linear motion over an interval. Approximate: see the module.

    change : (...) float64. Change of velocity to or from a neighboring interval, in lengths per frame.
    step : (...) float. Length of the interval, in frames.
    both_steps : (...) float. Length of the interval and that neighbor together, in frames.
    Returns deviation : (...) float64
    """
    # A kink changes the velocity at once: so a longer neighbor counts as no longer than the interval itself.
    return np.asarray(change * np.asarray(step) ** 2 / np.minimum(both_steps, 2 * np.asarray(step)))


def interval_deviations(changes: Floats, steps: Floats, unknown: float) -> Floats:
    """Estimate deviations over successive intervals: the larger estimate of both neighbors. Approximate.

    changes : (k - 1, ...) float64. Changes of velocity between successive intervals; NaN where not known.
    steps : (k, ...) float64. Length of each interval, in frames.
    unknown : Value for an interval without a known neighbor.
    Returns deviations : (k, ...) float64
    """
    both_steps = steps[:-1] + steps[1:]
    result = np.full((len(steps), *changes.shape[1:]), unknown)
    result[1:] = max_deviation(changes, steps[1:], both_steps)
    result[:-1] = np.fmax(result[:-1], max_deviation(changes, steps[:-1], both_steps))
    return result


def rotation_sagitta(start: Shape, end: Shape) -> Floats:
    """Compute the sagitta of rotation: the largest distance of corners or ends of axes from their chords.

    Exact up to float64 rounding for a rotation at a constant rate.

    start, end : Shape, batch (...). Samples at both ends of the interval.
    Returns sagitta : (...) float64, or 0 for spheres and boxes along the axes. In the unit of the shapes.
    """
    reach, angle = method_of_kind(_ROTATIONS, start)(start, end)
    return np.asarray(reach * (1 - np.cos(angle / 2)))


_ROTATIONS: dict[type, Callable[[Any, Any], tuple[Floats | float, Floats | float]]] = {
    Sphere: lambda start, end: (0.0, 0.0),
    Aabb: lambda start, end: (0.0, 0.0),
    Obb: lambda start, end: (
        np.maximum(length(start.half_extents), length(end.half_extents)),
        rotation_angle(start, end),
    ),
    Capsule: lambda start, end: (
        np.maximum(start.half_length, end.half_length),
        arc(start.axis, end.axis)[1],
    ),
}
"""By kind, the largest distance of a corner or an end from the center, and the angle of rotation."""


def parabola_overshoot(rise: Floats, sagitta: Floats) -> Floats:
    """Compute the height by which a parabola exceeds both ends of its chord. Exact up to float64 rounding.

    A steep parabola, whose sagitta is at most a quarter of the rise, does not exceed its higher end: then 0.

    rise : (...) float64. Absolute difference of both ends.
    sagitta : (...) float64. Height of the parabola above the middle of the chord.
    Returns overshoot : (...) float64
    """
    excess = np.maximum(4 * sagitta - rise, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(excess > 0, excess * excess / (16 * sagitta), 0.0)
