"""Poses of links as readers compute them: products of the transforms that a file has."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....core.numeric.arrays import Floats
from ...spaces import matrix_from_quaternion, quaternion_from_matrix

NO_ROTATION: Floats = np.array([0.0, 0.0, 0.0, 1.0])
"""Quaternion (x, y, z, w)."""

DECIMALS = 12
"""Lengths are rounded to picometers, because more digits would only show rounding errors."""

_NO_TURN = 1e-12
"""Rotations differ from the identity by less than this through rounding alone."""
_ERROR = 64 * float(np.finfo(np.float64).eps)
"""Bound of a reader's error in one transform, relative to the largest coordinate: its products and sums, and
the conversion of angles or of a quaternion to a matrix."""


class LinkFrame(NamedTuple):
    """Pose of a link in the world, and the transform to it from its parent.

    translation, rotation : (3,), (3, 3) float. In the world, as a reader computes them from the transforms
        in the file.
    level : Number of ancestors.
    reach : Largest coordinate of the origins of the link and its ancestors in the world.
    offset, quaternion : (3,), (4,) float. Relative to the parent, as they are written; the quaternion is
        (x, y, z, w), of unit length.
    """

    translation: Floats
    rotation: Floats
    level: int
    reach: float
    offset: Floats
    quaternion: Floats

    def to_link(self, point: Floats, size: float) -> tuple[Floats, float]:
        """Convert a point of the world to the link's frame.

        point : (3,) float. In the world.
        size : Largest distance from the point of anything that is placed with it.
        Returns converted : (3,) float. Rounded to DECIMALS.
        Returns error : float. Bound of the distance by which a reader's results are off. 0 where they are
            exact.
        """
        from_origin = point - self.translation
        exact = self.rotation.T @ from_origin
        converted = tidied(exact)
        is_unturned = self.level == 0 and np.array_equal(self.rotation, np.eye(3))
        if is_unturned and np.array_equal(self.translation + converted, point):
            return converted, 0.0
        largest = self.reach + float(np.abs(point).max()) + float(np.abs(from_origin).max()) + size
        shift = float(np.sqrt(((converted - exact) ** 2).sum()))
        return converted, shift + _ERROR * (self.level + 1) * largest


def root_frame(translation: Floats, quaternion: Floats) -> LinkFrame:
    """Make the frame of a link without a parent.

    translation, quaternion : (3,), (4,) float. In the world; the quaternion is (x, y, z, w), of any length
        but 0.
    """
    unit = quaternion / np.sqrt((quaternion**2).sum())
    return LinkFrame(
        translation, matrix_from_quaternion(unit), 0, float(np.abs(translation).max()), translation, unit
    )


def child_frame(parent: LinkFrame, translation: Floats, quaternion: Floats) -> LinkFrame:
    """Make the frame of a link below another.

    parent : Frame of the link above.
    translation, quaternion : (3,), (4,) float. In the world, as for `root_frame`.
    Returns frame : LinkFrame. Its world pose differs from the given one by rounding errors.
    """
    offset = tidied(parent.rotation.T @ (translation - parent.translation))
    relative = unit_quaternion(parent.rotation.T @ matrix_from_quaternion(quaternion), _NO_TURN)
    world = parent.translation + parent.rotation @ offset
    rotation = parent.rotation @ matrix_from_quaternion(relative)
    reach = max(parent.reach, float(np.abs(world).max()))
    return LinkFrame(world, rotation, parent.level + 1, reach, offset, relative)


def unit_quaternion(rotation: Floats, tolerance: float) -> Floats:
    """Convert a rotation (3, 3) to a quaternion (4,), (x, y, z, w), w >= 0.

    Rotations that differ from the identity by at most `tolerance` in each entry are no rotation.
    """
    if np.abs(rotation - np.eye(3)).max() <= tolerance:
        return NO_ROTATION
    quaternion = quaternion_from_matrix(rotation)
    return quaternion if quaternion[3] >= 0 else -quaternion


def tidied(values: Floats) -> Floats:
    """Round lengths (...) to DECIMALS; those too large for decimals stay unchanged."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.around(values, DECIMALS)
    return np.where(np.isfinite(rounded), rounded, values)


def roll_pitch_yaw(rotation: Floats) -> Floats:
    """Convert a rotation to angles about X, then about the fixed Y axis, then about the fixed Z axis.

    The rotation by the angles differs from the given one by a few float64 ulps, near a pitch of 90 degrees
    too, because roll follows from the rotation that is left after yaw.

    rotation : (3, 3) float. Orthonormal.
    Returns angles : (3,) float. In radians.
    """
    (a, _, c), (d, e, f), (g, _, _) = rotation.tolist()
    b = rotation.item(0, 1)
    yaw = math.atan2(d, a)
    sine, cosine = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-g, cosine * a + sine * d)
    roll = math.atan2(sine * c - cosine * f, cosine * e - sine * b)
    return np.array([roll, pitch, yaw])
