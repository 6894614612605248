"""One step of conservative advancement of oriented boxes: an axis with a gap, and how long it stays open.

While two boxes are disjoint, an axis shows a gap between them: a face normal or the cross product of two
edges, rotating with its boxes. The gap is evaluated exactly at both ends of a stretch of time. In between, a
bound on its second derivative limits how far it can sag below the chord, so the root of a parabola is a safe
step.

Arrays have the batch last, (3, n), because sums over three numbers of many pairs are then sums of whole rows.
Each pair is in units of its size, so that tolerances are absolute and squares neither overflow nor underflow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..distance.obb import separation_in_frame
from ..distance.separating_axis import BoxPair, batch_last, separating_axis
from ..numeric.arrays import Bools, Floats, Ints, Table, cross, cross_first, length_first, power_of_two_scale
from ..numeric.tolerances import LENGTH_ROUNDING
from ..shapes import Obb
from .interpolation import RotationPath

_PARALLEL = 0.05
"""Length of the cross product of two edges below which its direction rotates too fast to follow. Such an axis
is kept fixed in world directions."""
_MAX_REFINEMENTS = 2

_FIXED, _OF_A, _OF_B, _EDGES = range(4)


class BoxPairMotion(Table, last=True):
    """Pairs of boxes in motion, batch last, in units of their own size; an axis of 2 is that of the boxes.

    offset, offset_change : (3, n) float64. Center of the second box relative to the first, in world
        directions, and its change over the interval.
    half, half_change : (2, 3, n) float64. Half extents, and their change.
    angle : (2, n) float64. Radians of rotation over the interval.
    angular_velocity : (2, 3, n) float64. The angles as vectors along the axes of rotation, in world
        directions.
    constant, sine, cosine : (2, 3, 3, n) float64. Terms of the rotations, see RotationPath.
    radius, radius_change : (n,) float64. Radius around the boxes, of both together, and its change; 0 for
        boxes alone.
    """

    offset: Floats
    offset_change: Floats
    half: Floats
    half_change: Floats
    angle: Floats
    angular_velocity: Floats
    constant: Floats
    sine: Floats
    cosine: Floats
    radius: Floats
    radius_change: Floats

    def at(self, time: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Offset (3, n), half extents (2, 3, n), rotations (2, 3, 3, n) and radius (n,) at `time` (n,)."""
        rotation = self.constant
        if self.has_rotation:
            angle = self.angle * time
            sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
            rotation = rotation + sine * self.sine
            rotation += cosine * self.cosine
        offset, half = self.offset + self.offset_change * time, self.half + self.half_change * time
        return offset, np.maximum(half, 0), rotation, self.radius + self.radius_change * time

    @property
    def has_rotation(self) -> bool:
        """True if any box rotates."""
        return bool(self.angle.any())

    @classmethod
    def of(cls, boxes: Sequence[Obb], radius_start: Floats, radius_end: Floats) -> BoxPairMotion:
        """Motion of pairs: the first box at times 0 and 1, then the second; and the radii, (n,) each."""
        a0, a1, b0, b1 = boxes
        start, end = batch_last(b0.center - a0.center), batch_last(b1.center - a1.center)
        size = np.maximum(np.abs(start), np.abs(end)).max(axis=0)
        extents = (box.half_extents.max(axis=-1) for box in boxes)
        scale = power_of_two_scale(np.max([size, *extents, radius_start, radius_end], axis=0))
        offset = start / scale
        half, half_end = (
            np.stack([batch_last(box.half_extents) / scale for box in pair]) for pair in ((a0, b0), (a1, b1))
        )
        paths = (RotationPath.between(first.rotation, last.rotation) for first, last in ((a0, a1), (b0, b1)))
        axis, angle, constant, sine, cosine = (
            np.stack([batch_last(column) for column in both]) for both in zip(*paths, strict=True)
        )
        return cls(
            offset,
            end / scale - offset,
            half,
            half_end - half,
            angle,
            axis * angle[:, None],
            constant,
            sine,
            cosine,
            radius_start / scale,
            (radius_end - radius_start) / scale,
        )


class GapAxis(NamedTuple):
    """One axis for each pair, along which its gap is followed over a stretch of time.

    gap : (n,) float64. Gap along the axis at the time at which the axis was chosen, times the length of the
        axis.
    world : (3, n) float64. Direction of the axis at that time, in world directions.
    kind : (n,) int64. _FIXED: `fixed` in world directions. _OF_A, _OF_B: `fixed` in the frame of that box,
        rotating with it. _EDGES: cross product of edge i of the first box and edge j of the second, times
        `sign`. Its length varies.
    fixed : (3, n) float64. See `kind`.
    i, j : (n,) int64. Edges of an axis of kind _EDGES.
    sign : (n,) float64. 1 or -1, so that the axis points from the first box to the second.
    """

    gap: Floats
    world: Floats
    kind: Ints
    fixed: Floats
    i: Ints
    j: Ints
    sign: Floats

    @classmethod
    def in_world(cls, gap: Floats, axis: Floats) -> GapAxis:
        """Axes (3, n) that are fixed in world directions, with their gaps (n,)."""
        unused = np.zeros(len(gap), dtype=np.int64)
        return cls(gap, axis, unused + _FIXED, axis, unused, unused, np.ones(len(gap)))

    def at(self, rotation: Floats) -> Floats:
        """Axes (3, n) in world directions, for rotations (2, 3, 3, n) of the boxes."""
        result = self.fixed.copy()
        for kind, box in ((_OF_A, 0), (_OF_B, 1)):
            rows = np.flatnonzero(self.kind == kind)
            if len(rows):
                result[:, rows] = (rotation[box][:, :, rows] * self.fixed[:, rows]).sum(axis=1)
        rows = np.flatnonzero(self.kind == _EDGES)
        if len(rows):
            first, second = rotation[0][:, self.i[rows], rows], rotation[1][:, self.j[rows], rows]
            result[:, rows] = cross(first.T, second.T).T * self.sign[rows]
        return result


def largest_gap(motion: BoxPairMotion, time: Floats, is_rounded: bool) -> tuple[Floats, GapAxis]:
    """Largest gap (n,) at `time` (n,) and its axis: a separating axis, or any direction for rounded boxes."""
    offset, half, rotation, radius = motion.at(time)
    relative = [(rotation[0][:, i, None] * rotation[1]).sum(axis=0) for i in range(3)]
    pair = BoxPair((rotation[0] * offset[:, None]).sum(axis=0), np.stack(relative), half[0], half[1])
    if is_rounded:
        gap, in_frame_of_a = separation_in_frame(pair)
        gap -= radius
        axis = GapAxis.in_world(gap, (rotation[0] * in_frame_of_a).sum(axis=1))
        # What is closest to a point turns with the box.
        return gap, axis if half[1].any() else axis._replace(kind=axis.kind + _OF_A, fixed=in_frame_of_a)
    gap, in_frame_of_a, best = separating_axis(pair)
    world = (rotation[0] * in_frame_of_a).sum(axis=1)
    if not motion.has_rotation:
        return gap, GapAxis.in_world(gap, world)
    # A face normal rotates with its own box, a cross product of edges with both.
    kind = np.where(best < 3, _OF_A, np.where(best < 6, _OF_B, _EDGES))
    first, second = np.divmod(np.maximum(best - 6, 0), 3)
    every = np.arange(len(time))
    edges = cross(rotation[0][:, first, every].T, rotation[1][:, second, every].T).T
    along = (edges * world).sum(axis=0)
    kind[(kind == _EDGES) & (np.abs(along) < _PARALLEL)] = _FIXED
    fixed = np.where(kind == _OF_A, in_frame_of_a, world)
    of_b = np.flatnonzero(kind == _OF_B)
    fixed[:, of_b] = (pair.rotation[..., of_b] * in_frame_of_a[:, None, of_b]).sum(axis=0)
    scaled = np.where(kind == _EDGES, gap * np.abs(along), gap)
    return gap, GapAxis(scaled, world, kind, fixed, first, second, np.where(along < 0, -1.0, 1.0))


def safe_step(motion: BoxPairMotion, time: Floats, axis: GapAxis, trial: Floats) -> tuple[Floats, Bools]:
    """Time (n,) in which the gap along `axis` stays open, and whether it may close within `trial` (n,).

    A function that goes from g0 to g1 over a stretch D, with a second derivative of at most M, stays above
    its chord less M d (D - d) / 2, a parabola in d. Its root over the whole stretch gives a shorter stretch,
    over which the same bound is tighter, and so on.
    """
    curvature = gap_curvature_bound(motion, axis, trial) if motion.has_rotation else np.zeros_like(time)

    def gap_at(t: Floats) -> Floats:
        offset, half, rotation, radius = motion.at(t)
        n = axis.at(rotation)
        gap = (n * offset).sum(axis=0) - radius
        for box in range(2):
            gap -= (half[box] * np.abs((n[:, None] * rotation[box]).sum(axis=0))).sum(axis=0)
        return np.asarray(gap)

    start = np.maximum(axis.gap, 0)
    stretch, best = trial, np.zeros_like(time)
    crosses = np.ones(time.shape, dtype=bool)
    for index in range(_MAX_REFINEMENTS if motion.has_rotation else 1):
        end = gap_at(time + stretch)
        slope = (end - start) / np.where(stretch > 0, stretch, 1) - 0.5 * curvature * stretch
        discriminant = slope * slope - 2 * curvature * start
        has_root = (slope < 0) & (discriminant >= 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.where(has_root, 2 * start / (np.sqrt(discriminant) - slope), np.inf)
        if index == 0:
            # A gap that ends within rounding errors of contact may have closed.
            crosses = (root <= stretch) | (end <= 2 * LENGTH_ROUNDING)
        best = np.maximum(best, np.minimum(root, stretch))
        stretch = np.minimum(stretch, 2 * best)
    return best, crosses


def gap_curvature_bound(motion: BoxPairMotion, axis: GapAxis, trial: Floats) -> Floats:
    """Upper bound (n,) of the second derivative of the gap along `axis`, over the time `trial` (n,) from now.

    A vector n that rotates at the angular velocity c changes at |c x n|, and that changes at up to |c| |c x
    n|. Its dot product with a unit vector that rotates at w is the same as if n were fixed and the other
    rotated at W = w - c, where W rotates with -c: it changes at up to |W x n|, and its second derivative is
    at most |c x w| + |W| |W x n|. So a box that spins about the separating axis does not curve the gap. Times
    a length that changes at rate k, the second derivative grows by 2 k times the rate of the product.
    """
    is_edges = axis.kind == _EDGES
    of_b = np.where(axis.kind == _OF_B, motion.angular_velocity[1], 0.0)
    axis_velocity = np.where(axis.kind == _OF_A, motion.angular_velocity[0], of_b)
    # A cross product of edges rotates with both boxes.
    both = motion.angle.sum(axis=0)
    rate = np.where(is_edges, both, _cross_length(axis_velocity, axis.world))
    offset = np.maximum(np.abs(motion.offset), np.abs(motion.offset + motion.offset_change))
    bound: Floats = rate * (
        np.where(is_edges, both, length_first(axis_velocity)) * length_first(offset)
        + 2 * length_first(motion.offset_change)
    )
    largest = np.maximum(motion.half, motion.half + motion.half_change).sum(axis=1)
    change = np.abs(motion.half_change).sum(axis=1)
    for box, velocity in enumerate(motion.angular_velocity):
        # In the frame of either box, the cross product is that of a fixed and a rotating direction.
        carrier = np.where(is_edges, motion.angular_velocity[1 - box], axis_velocity)
        relative = velocity - carrier
        speed = length_first(relative)
        first = np.where(
            is_edges, speed, np.minimum(speed, _cross_length(relative, axis.world) + speed * rate * trial)
        )
        bound += (_cross_length(carrier, velocity) + speed * first) * largest[box] + 2 * first * change[box]
    return bound


def _cross_length(a: Floats, b: Floats) -> Floats:
    """Lengths (n,) of the cross products of vectors (3, n) of about size 1."""
    return length_first(cross_first(a, b))
