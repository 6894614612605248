"""Pairs of oriented boxes in motion, in the layout that conservative advancement evaluates.

Arrays have the batch last, (3, n), because sums over three numbers of many pairs are then sums of whole rows.
Each pair is in units of its own size, so that tolerances are absolute and squares neither overflow nor
underflow.
"""

from __future__ import annotations

import numpy as np

from ..distance.separating_axis import batch_last
from ..numeric.arrays import Floats, power_of_two_scale
from ..numeric.table import Table
from ..shapes import Obb
from .interpolation import RotationPath


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
        half = np.maximum(self.half + self.half_change * time, 0)
        return (
            self.offset + self.offset_change * time,
            half,
            rotation,
            self.radius + self.radius_change * time,
        )

    @property
    def has_rotation(self) -> bool:
        """True if any box rotates."""
        return bool(self.angle.any())

    @classmethod
    def of(cls, boxes: tuple[Obb, Obb, Obb, Obb], radius_start: Floats, radius_end: Floats) -> BoxPairMotion:
        """Motion of pairs: the first box at times 0 and 1, then the second; and the radii, (n,) each."""
        a0, a1, b0, b1 = boxes
        start, end = batch_last(b0.center - a0.center), batch_last(b1.center - a1.center)
        size = np.maximum(np.abs(start), np.abs(end)).max(axis=0)
        extents = (box.half_extents.max(axis=-1) for box in boxes)
        scale = power_of_two_scale(np.max([size, *extents, radius_start, radius_end], axis=0))
        offset = start / scale
        change = end / scale - offset
        half, half_end = (
            np.stack([batch_last(box.half_extents) / scale for box in pair]) for pair in ((a0, b0), (a1, b1))
        )
        paths = [_rotation_path(a0, a1), _rotation_path(b0, b1)]
        angle = np.stack([path.angle for path in paths])
        angular_velocity = np.stack([batch_last(path.axis) for path in paths]) * angle[:, None]
        terms = [(path.constant, path.sine, path.cosine) for path in paths]
        constant, sine, cosine = (np.stack(list(map(batch_last, both))) for both in zip(*terms, strict=True))
        return cls(
            offset,
            change,
            half,
            half_end - half,
            angle,
            angular_velocity,
            constant,
            sine,
            cosine,
            radius_start / scale,
            (radius_end - radius_start) / scale,
        )


def _rotation_path(start: Obb, end: Obb) -> RotationPath:
    """Rotation paths of boxes (n,), with a shortcut for a batch without rotation."""
    if np.array_equal(start.rotation, end.rotation):
        zero = np.zeros_like(start.rotation)
        return RotationPath(start.center, np.zeros(start.shape), start.rotation, zero, zero)
    return RotationPath.between(start.rotation, end.rotation)
