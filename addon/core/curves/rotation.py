"""Rotations of the rotation modes of objects: matrices as Blender computes and rounds them, and bounds.

The distance of two rotations is the largest distance of the two images of a unit vector, at most 2. The chord
of a rotation is the straight path of each image; the arc is the rotation at a constant rate about one axis.
"""

from __future__ import annotations

import numpy as np

from ..numeric.arrays import Floats, Ints
from .segments import Numbers

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
"""Rotation modes by number; then QUATERNION and AXIS_ANGLE."""
QUATERNION, AXIS_ANGLE = 6, 7
_AXES = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""Axes of each Euler order; odd permutations turn the other way round."""
_LARGEST = 2.0
"""Distance of two rotations about one axis that differ by half a turn."""


def rotation_matrices(modes: Ints, components: Numbers) -> Numbers:
    """Convert rotations to matrices.

    modes : (m,) int64. Index in EULER_ORDERS, QUATERNION or AXIS_ANGLE.
    components : (m, 4) float32 or float64. Angles about X, Y and Z in radians; or W, X, Y, Z of a
        quaternion of any length; or angle and axis.
    Returns matrices : (m, 3, 3) of the same type. That multiply column vectors. Identity for a quaternion
        or an axis of length 0.
    """
    result = np.empty((len(modes), 3, 3), dtype=components.dtype)
    for mode in np.unique(modes).tolist():
        rows = np.flatnonzero(modes == mode)
        chosen = components if len(rows) == len(modes) else components[rows]
        if mode == QUATERNION:
            result[rows] = _from_quaternions(chosen)
        elif mode == AXIS_ANGLE:
            result[rows] = _from_axis_angles(chosen)
        else:
            result[rows] = _from_eulers(chosen, mode)
    return result


def _from_eulers(angles: Numbers, order: int) -> Floats:
    """Matrices (m, 3, 3) of Euler angles (m, 3 or 4) about X, Y and Z in an order."""
    i, j, k = axes = _AXES[order]
    is_odd = order in (1, 2, 5)
    radians = angles.T.astype(np.float64)
    turns = [-radians[axis] if is_odd else radians[axis] for axis in axes]
    (ci, si), (cj, sj), (ch, sh) = ((np.cos(turn), np.sin(turn)) for turn in turns)
    cc, cs, sc, ss = ci * ch, ci * sh, si * ch, si * sh
    matrix = np.empty((3, 3, angles.shape[0]))
    matrix[i, i], matrix[i, j], matrix[i, k] = cj * ch, sj * sc - cs, sj * cc + ss
    matrix[j, i], matrix[j, j], matrix[j, k] = cj * sh, sj * ss + cc, sj * cs - sc
    matrix[k, i], matrix[k, j], matrix[k, k] = -sj, cj * si, cj * ci
    return np.moveaxis(matrix, -1, 0)


def _from_quaternions(quaternions: Numbers) -> Floats:
    """Matrices (m, 3, 3) of quaternions (m, 4)."""
    w, x, y, z = quaternions.T
    norm = np.sqrt(w * w + x * x + y * y + z * z)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = quaternions * (np.float32(1) / norm)[:, None]
    unit = np.where((norm != 0)[:, None], unit, np.array([1, 0, 0, 0], dtype=np.float32))
    w, x, y, z = np.sqrt(2) * unit.T.astype(np.float64)
    matrix = np.empty((3, 3, len(w)))
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = 1 - y * y - z * z, 1 - x * x - z * z, 1 - x * x - y * y
    matrix[1, 0], matrix[2, 0], matrix[2, 1] = w * z + x * y, -w * y + x * z, w * x + y * z
    matrix[0, 1], matrix[0, 2], matrix[1, 2] = -w * z + x * y, w * y + x * z, -w * x + y * z
    return np.moveaxis(matrix, -1, 0)


def _from_axis_angles(components: Numbers) -> Numbers:
    """Matrices (m, 3, 3) of angles and axes (m, 4)."""
    angle, axis = components[:, 0].astype(np.float64), components[:, 1:]
    x, y, z = axis.T
    squared = x * x + y * y + z * z
    has_axis = squared > np.float32(1e-35)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y, z = np.where(has_axis[:, None], axis * (np.float32(1) / np.sqrt(squared))[:, None], 0).T
    sine, cosine = (
        np.where(has_axis, f(angle), rest).astype(components.dtype) for f, rest in ((np.sin, 0), (np.cos, 1))
    )
    rest = np.float32(1) - cosine
    matrix = np.empty((3, 3, len(x)), dtype=components.dtype)
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = (a * a * rest + cosine for a in (x, y, z))
    for i, j, a, b, c in ((0, 1, x, y, z), (1, 2, y, z, x), (2, 0, z, x, y)):
        matrix[i, j], matrix[j, i] = a * b * rest - c * sine, a * b * rest + c * sine
    return np.moveaxis(matrix, -1, 0)


def rotation_bounds(modes: Ints, begin: Floats, end: Floats, deviation: Floats) -> tuple[Floats, Floats]:
    """Bound the deviation of rotations from chord and arc over an interval.

    Conservative. If each angle followed its chord, a product of rotations would turn by at most the sum W of
    all changes of angles, and with it the path of a unit vector had a second derivative of at most W^2: so it
    deviates by at most W^2 / 8 from its chord. Deviations of the angles themselves are added.

    modes : (m,) int64. See `rotation.rotation_matrices`.
    begin, end : (m, 4) float64. Components at both ends.
    deviation : (m, 4) float64. Deviation of each component from its chord.
    Returns from_chord : (m,) float64. For points at distance 1: deviation from the straight paths between
        both ends.
    Returns from_arc : (m,) float64. From the rotation at a constant rate between both ends, along the
        shorter arc.
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
    return from_chord, np.minimum(from_arc, _LARGEST)


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
