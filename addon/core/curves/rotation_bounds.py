"""Rotations over an interval: deviation of animated angles, axes and quaternions from simple motions.

The distance of two rotations is the largest distance of the two images of a unit vector, at most 2. The chord
of a rotation is the straight path of each image; the arc is the rotation at a constant rate about one axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numeric.arrays import Floats, Ints
from .rotation import AXIS_ANGLE, QUATERNION

_LARGEST = 2.0
"""Distance of two rotations about one axis that differ by half a turn."""


class RotationBounds(NamedTuple):
    """Deviations (m,) of rotations over an interval, for points at distance 1.

    from_chord : from the straight paths between both ends
    from_arc : from the rotation at a constant rate between both ends, along the shorter arc
    """

    from_chord: Floats
    from_arc: Floats


def rotation_bounds(modes: Ints, begin: Floats, end: Floats, deviation: Floats) -> RotationBounds:
    """Bound the deviation of rotations from chord and arc over an interval.

    Conservative. If each angle followed its chord, a product of rotations would turn by at most the sum W of
    all changes of angles, and with it the path of a unit vector had a second derivative of at most W^2: so it
    deviates by at most W^2 / 8 from its chord. Deviations of the angles themselves are added.

    Parameters
    ----------
    modes : (m,) int64
        See `rotation.rotation_matrices`.
    begin, end : (m, 4) float64
        Components at both ends.
    deviation : (m, 4) float64
        Deviation of each component from its chord.

    Returns
    -------
    bounds : RotationBounds
    """
    turn, error, is_single = np.zeros(len(modes)), np.zeros(len(modes)), np.zeros(len(modes), dtype=bool)
    change = np.abs(end - begin)
    rows = np.flatnonzero(modes < QUATERNION)
    turn[rows], error[rows] = change[rows, :3].sum(axis=1), deviation[rows, :3].sum(axis=1)
    is_single[rows] = ((change[rows, :3] > 0) | (deviation[rows, :3] > 0)).sum(axis=1) <= 1
    rows = np.flatnonzero(modes == QUATERNION)
    if len(rows):
        speed, wobble = _speed_on_sphere(begin[rows], end[rows], deviation[rows])
        # It turns by twice the angle of the quaternion, at a rate r that changes by at most r^2 / 2.
        turn[rows], error[rows] = np.sqrt(6) * speed, 2 * wobble
    rows = np.flatnonzero(modes == AXIS_ANGLE)
    if len(rows):
        speed, wobble = _speed_on_sphere(begin[rows, 1:], end[rows, 1:], deviation[rows, 1:])
        # Rotations by one angle about axes at a small angle d differ by at most 2 d. The second derivative
        # along the path of the axis is below 7 times the square of its speed.
        turn[rows], error[rows] = change[rows, 0] + 3 * speed, deviation[rows, 0] + 2 * wobble
        is_single[rows] = speed + wobble == 0
    from_chord = np.minimum(error + turn * turn / 8, _LARGEST)
    sagitta = np.minimum(turn * turn / 8, 1.0)
    # An angle that follows its chord about one axis turns at a constant rate: along the shorter arc only if
    # it turns by less than half a turn.
    from_arc = np.where(is_single & (turn < np.pi), error, from_chord + sagitta)
    return RotationBounds(from_chord, np.minimum(from_arc, _LARGEST))


def _speed_on_sphere(begin: Floats, end: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Bound the paths (m,) on the unit sphere of normalized vectors (m, k) that follow their chords.

    Returns the largest speed on the path, per interval, and the angles (m,) that deviations add; inf where
    the vectors may pass through 0.
    """
    change, error = np.linalg.norm(end - begin, axis=-1), np.linalg.norm(deviation, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.clip(-(begin * (end - begin)).sum(axis=-1) / (change * change), 0, 1)
        closest = begin + np.nan_to_num(part)[:, None] * (end - begin)
        nearest = np.linalg.norm(closest, axis=-1)
        speed, angle = change / nearest, np.pi / 2 * error / nearest
    is_safe, is_still = nearest > error, change + error == 0
    speed, angle = (np.where(is_safe, bound, np.inf) for bound in (speed, angle))
    return np.where(is_still, 0.0, speed), np.where(is_still, 0.0, angle)
