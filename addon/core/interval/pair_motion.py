"""Pairs over one interval: motion from one sample to the next, contacts, and deviation from linear motion.

A path whose second derivative is at most c deviates from its chord over a time h by at most c h^2 / 8, the
error bound of linear interpolation. The derivative is estimated from the change of the velocity between
neighboring intervals, with a safety factor of four or more: smooth motion stays within a few percent of the
estimate without it, and a kink half way through an interval needs all of it. Approximate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..distance.dispatch import Solid, separation, witness_points
from ..mesh.meshes import Meshes, velocities_of_meshes
from ..mesh.vertex_paths import changes_of_paths, paths_of_vertices
from ..numeric.arrays import Floats, Table, cross, dot, length, normalized, transform_vectors
from ..shapes import Aabb, BoundingVolume, Capsule, Obb, Shape, Sphere, concatenated
from ..sweep.dispatch import TIMES_WITHIN
from ..sweep.interpolation import RotationPath, arc, at, rotation_angle, rotation_axis_angle
from ..sweep.mesh_mesh import contacts_of_meshes

_SPEED_INTERVAL = 1e-3
"""Part of an interval over which a closing speed is measured."""


class PairMotion(Table):
    """Pairs of shapes (m,) at the start and at the end of an interval."""

    a_start: Solid
    a_end: Solid
    b_start: Solid
    b_end: Solid

    @classmethod
    def concatenate(cls, parts: Sequence[PairMotion]) -> PairMotion:
        """Join pairs of the same types, at least one part."""
        shapes: list[Any] = [concatenated(*sides) for sides in zip(*parts, strict=True)]
        return cls(*shapes)

    def padded(self, amount: Floats | float) -> PairMotion:
        """Pairs whose separation is smaller by `amount`; oriented boxes touch wherever it would be 0."""
        half, shapes = np.asarray(amount) / 2, []
        for shape in self:
            if isinstance(shape, BoundingVolume):
                fields = {name: getattr(shape, name) for name in shape.field_shapes}
                shapes.append(shape.unchecked(*shape._grown(fields, half).values()))
            else:
                shapes.append(shape.padded(half))
        return PairMotion(*shapes)

    def time_within(self, clearance: Floats | float) -> Floats:
        """First time (m,) in [0, 1] at which pairs are within a Euclidean distance (m,); NaN for never.

        Conservative for shapes that rotate: never late. Exact for others. Defined for pairs of one kind.
        """
        return TIMES_WITHIN[type(self.a_start), type(self.b_start)](*self, clearance)

    def at(self, time: Floats) -> tuple[Solid, Solid]:
        """Both shapes at `time` (..., m) in [0, 1]."""
        return at(self.a_start, self.a_end, time), at(self.b_start, self.b_end, time)

    def separation_at(self, time: Floats) -> Floats:
        """Signed separation (..., m) at `time` (..., m) in [0, 1]."""
        return separation(*self.at(time))

    def impact_at(self, time: Floats) -> PairImpact:
        """Contact of the pairs at `time` (m,) in [0, 1]."""
        a, b = self.at(time)
        a0, a1, b0, b1 = self
        if isinstance(a0, Meshes):
            assert isinstance(a1, Meshes) and isinstance(b0, Meshes) and isinstance(b1, Meshes)
            witness = contacts_of_meshes(a0, a1, b0, b1, time)
        else:
            witness = witness_points(a, b)
        on_a, on_b, normal = witness
        of_a = MOTIONS_OF_SHAPES[type(a)].velocity(self.a_start, self.a_end, a, on_a)
        of_b = MOTIONS_OF_SHAPES[type(b)].velocity(self.b_start, self.b_end, b, on_b)
        return PairImpact(witness.middle, normal, of_b - of_a, dot(on_b - on_a, normal))

    def closing_speed(self, time: Floats) -> Floats:
        """Speed (m,) at which the separation shrinks just before `time` (m,), in lengths per interval."""
        earlier = np.maximum(time - _SPEED_INTERVAL, 0)
        before, after = self.separation_at(np.stack([earlier, time]))
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = np.where(time > earlier, (before - after) / (time - earlier), 0.0)
        # Of triangles that come to the front of one-sided ones.
        rows = np.flatnonzero(~np.isfinite(speed))
        if len(rows):
            impact = self.take(rows).impact_at(time[rows])
            speed[rows] = np.abs(dot(impact.velocity, impact.normal))
        return speed


class PairImpact(NamedTuple):
    """Contact of pairs (m,) at one time of each.

    point, normal : (m, 3) float. Contact point, and unit vector from the first to the second shape.
    velocity : (m, 3) float. Velocity of the second surface at the contact point, relative to the first, in
        lengths per interval.
    separation : (m,) float. Signed separation.
    """

    point: Floats
    normal: Floats
    velocity: Floats
    separation: Floats


class IntervalContacts(Table):
    """Contacts and separations of pairs (m,) within an interval; times are in [0, 1].

    enter, leave : (m,) float. Begin and end of the contact; NaN for none.
    least, least_time : (m,) float. Least separation and its time. For oriented boxes and meshes only what
        is known without a search: see `dispatch.with_minimum_separation`.
    low, high : (m,) float. Bounds of the separation over the whole interval: it is never below `low` and
        never above `high`.
    closing, parting : (m,) float. Speeds at which pairs come closer at the begin and part at the end, in
        lengths per interval; NaN where they are not known.
    """

    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    low: Floats
    high: Floats
    closing: Floats
    parting: Floats

    @classmethod
    def without_speeds(cls, *columns: Floats) -> IntervalContacts:
        """Make contacts from all columns but the speeds, which are not known."""
        return cls(*columns, *np.full((2, len(columns[0])), np.nan))


def raised_lower_bounds(
    pairs: PairMotion, enter: Floats, low: Floats, clearance: float, deviation: Floats
) -> Floats:
    """`low` (m,), raised to clearance + deviation for pairs that stay farther apart than that.

    enter, low : (m,) as in IntervalContacts. Pairs whose deviation (m,) from linear motion is 0 are skipped.
    """
    rows = np.flatnonzero(np.isnan(enter) & (deviation > 0) & (low <= clearance + deviation))
    if not len(rows):
        return low
    # Samples bound the least separation from above only. So sweep padded shapes: if those do not touch, the
    # pair is never nearer than the padding.
    padding = (clearance + deviation[rows]) * (1 + 1e-9)
    never = np.isnan(pairs.take(rows).padded(padding).time_within(0.0))
    low = low.copy()
    low[rows[never]] = padding[never]
    return low


def _velocity_on_sphere(start: Sphere, end: Sphere, now: Sphere, point: Floats) -> Floats:
    growth = (end.radius - start.radius)[:, None]
    return np.asarray(end.center - start.center + growth * normalized(point - now.center))


def _velocity_on_box(start: Aabb, end: Aabb, now: Aabb, point: Floats) -> Floats:
    part = _part(point - now.min, now.max - now.min)
    return (end.min - start.min) * (1 - part) + (end.max - start.max) * part


def _velocity_on_oriented_box(start: Obb, end: Obb, now: Obb, point: Floats) -> Floats:
    path = RotationPath.between(start.rotation, end.rotation)
    arm = point - now.center
    local = transform_vectors(np.swapaxes(now.rotation, -1, -2), arm)
    part = 2 * _part(local + now.half_extents, 2 * now.half_extents) - 1
    growth = transform_vectors(now.rotation, part * (end.half_extents - start.half_extents))
    return end.center - start.center + cross(path.axis * path.angle[:, None], arm) + growth


def _velocity_on_capsule(start: Capsule, end: Capsule, now: Capsule, point: Floats) -> Floats:
    arm = point - now.center
    about, angle = arc(start.axis, end.axis)
    along = np.clip(dot(arm, now.axis), -now.half_length, now.half_length)
    outward = normalized(arm - along[:, None] * now.axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(now.half_length > 0, along / now.half_length, 0.0)
    growth = (part * (end.half_length - start.half_length))[:, None] * now.axis
    growth = growth + (end.radius - start.radius)[:, None] * outward
    return np.asarray(end.center - start.center + cross(about * angle[:, None], arm) + growth)


def _change_of_meshes(start: Meshes, end: Meshes) -> Floats:
    if start.deforms.any() or end.deforms.any():
        return paths_of_vertices(start, end)[..., None]
    change = end.corners_of_boxes() - start.corners_of_boxes()
    return change.reshape(*change.shape[:-2], 24)


def _part(offset: Floats, size: Floats) -> Floats:
    """Part (m, 3) of a size along each axis, in [0, 1]; the middle where the size is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.where(size > 0, offset / size, 0.5)
    return np.clip(part, 0.0, 1.0)


def velocities(start: Shape, end: Shape, step: Floats | float) -> Floats:
    """Compute the change per frame of the numbers of a shape that linear motion interpolates.

    start, end : Sphere, Aabb, Obb or Capsule, batch (...). Samples at both ends of the interval.
    step : (...) float. Length of the interval, in frames.
    Returns velocities : (..., c) float64. Lengths per frame: of centers and radii, of both corners of a
        box, or of center, half extents and rotation vector times size of an oriented box; of a capsule,
        half length and radius are in the place of half extents, times the square root of 2, so that their
        norm is not less than their sum.
    """
    per_frame = 1.0 / np.asarray(step, dtype=np.float64)[..., None]
    return np.asarray(MOTIONS_OF_SHAPES[type(start)].change(start, end) * per_frame)


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


def velocity_change(before: Floats, after: Floats) -> Floats:
    """Bound the change in speed of any surface point from one interval to the next. Conservative.

    before, after : (..., c) float64. `velocities` of both intervals.
    Returns change : (...) float64. Lengths per frame.
    """
    if object in (before.dtype, after.dtype):
        return changes_of_paths(before, after)
    change = np.abs(after - before)
    if change.shape[-1] == 24:  # corners around a mesh, of which one moves fastest
        return np.asarray(length(change.reshape(*change.shape[:-1], 8, 3)).max(axis=-1))
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


def rotation_sagitta(start: Shape, end: Shape) -> Floats:
    """Compute the sagitta of rotation: the largest distance of corners or ends of axes from their chords.

    Exact up to float64 rounding for a rotation at a constant rate.

    start, end : Shape, batch (...). Samples at both ends of the interval.
    Returns sagitta : (...) float64, or 0 for spheres and boxes along the axes. In the unit of the shapes.
    """
    rotation = MOTIONS_OF_SHAPES[type(start)].rotation
    if rotation is None:
        return np.zeros(())
    reach, angle = rotation(start, end)
    return np.asarray(reach * (1 - np.cos(angle / 2)))


class ShapeMotion(NamedTuple):
    """Motion of shapes of one type from sample to sample.

    velocity : Velocities (m, 3) of points that move and grow with shapes, in lengths per interval, from
        shapes (m,) at both ends of an interval and now, and points (m, 3) on the latter. Exact for linear
        motion.
    change : Change of the numbers of a shape, as `velocities` has it.
    rotation : Largest distance of a corner or an end from the center, and angle of rotation; None for shapes
        without axes that turn.
    radii : Radii of the spheres about the center of a shape that hold it, and that are within it.
    """

    velocity: Callable[[Any, Any, Any, Floats], Floats]
    change: Callable[[Any, Any], Floats]
    rotation: Callable[[Any, Any], tuple[Floats, Floats]] | None
    radii: Callable[[Any], tuple[Floats, Floats]]


def _radii_of_boxes(boxes: Aabb | Obb) -> tuple[Floats, Floats]:
    half = boxes.half_extents
    return length(half), half.min(axis=-1)


MOTIONS_OF_SHAPES: dict[type, ShapeMotion] = {
    Meshes: ShapeMotion(
        velocities_of_meshes,
        _change_of_meshes,
        None,
        lambda meshes: (meshes.around()[1], meshes.inner_radii() + meshes.margin),
    ),
    Sphere: ShapeMotion(
        _velocity_on_sphere, _change_of_spheres, None, lambda shapes: (shapes.radius, shapes.radius)
    ),
    Aabb: ShapeMotion(_velocity_on_box, _change_of_boxes, None, _radii_of_boxes),
    Obb: ShapeMotion(
        _velocity_on_oriented_box,
        _change_of_oriented_boxes,
        lambda start, end: (
            np.maximum(length(start.half_extents), length(end.half_extents)),
            rotation_angle(start, end),
        ),
        _radii_of_boxes,
    ),
    Capsule: ShapeMotion(
        _velocity_on_capsule,
        _change_of_capsules,
        lambda start, end: (np.maximum(start.half_length, end.half_length), arc(start.axis, end.axis)[1]),
        lambda shapes: (shapes.half_length + shapes.radius, shapes.radius),
    ),
}
"""Oriented boxes and the axes of capsules rotate at a constant rate. Spheres do not rotate, whatever they
enclose, nor do capsules about their axes.
"""


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
