"""Rotation matrices of the rotation modes of objects, as Blender computes and rounds them."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from ..numeric.arrays import Floats, Ints
from .bezier import Singles

Numbers = TypeVar("Numbers", Singles, Floats)

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
"""Rotation modes by number; then QUATERNION and AXIS_ANGLE."""
QUATERNION, AXIS_ANGLE = 6, 7
_AXES = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""Axes of each Euler order; odd permutations turn the other way round."""


def rotation_matrices(modes: Ints, components: Numbers) -> Numbers:
    """Convert rotations to matrices.

    Parameters
    ----------
    modes : (m,) int64
        Index in EULER_ORDERS, QUATERNION or AXIS_ANGLE.
    components : (m, 4) float32 or float64
        Angles about X, Y and Z in radians; or W, X, Y, Z of a quaternion of any length; or angle and axis.

    Returns
    -------
    matrices : (m, 3, 3) of the same type
        That multiply column vectors. Identity for a quaternion or an axis of length 0.
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
