"""World matrices of objects from their location, rotation and scale channels, and those of their parents."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..numeric.arrays import Bools, Floats, Ints, Singles
from ..numeric.tolerances import CHAIN_ROUNDING
from .keyframes import Curves, Numbers

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
"""Rotation modes by number; then QUATERNION and AXIS_ANGLE."""
QUATERNION, AXIS_ANGLE = 6, 7
_AXES = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
"""Axes of each Euler order; odd permutations turn the other way round."""

LOCATION, ROTATION, SCALE = slice(0, 3), slice(3, 7), slice(7, 10)
DELTA_LOCATION, DELTA_ROTATION, DELTA_SCALE = slice(10, 13), slice(13, 17), slice(17, 20)
CHANNELS = 20
"""Numbers of an object's transform; rotations have three or four, depending on their mode."""


class Hierarchy(NamedTuple):
    """Objects (m,), and the parent of each among them: one object can be there several times.

    objects : (m,) int64. Indices of objects.
    parents : (m,) int64. Position of each one's parent among these; -1 for none.
    """

    objects: Ints
    parents: Ints

    def generations(self) -> list[Ints]:
        """Positions of objects without parents, then of their children, and so on."""
        rows, above = np.arange(len(self.objects)), self.parents
        depth = np.zeros(len(rows), dtype=np.int64)
        while len(rows):
            rows, above = rows[above >= 0], above[above >= 0]
            depth[rows] += 1
            above = self.parents[above]
        return [np.flatnonzero(depth == level) for level in range(int(depth.max(initial=-1)) + 1)]


@dataclass(frozen=True, eq=False)
class Transforms:
    """Objects (n,), parents before their children, whose transforms follow curves or expressions.

    rest : (n, CHANNELS) float32. Values of channels that nothing animates.
    curve_of : (n, CHANNELS) int64. Animated value of each channel; -1 for none.
    modes : (n,) int64. Rotation mode of each object: see `rotation_matrices`.
    parent : (n,) int64. Index of the parent; -1 for none.
    parent_inverse : (n, 4, 4) float32
    curves : Curves. Those of all channels, with expressions after them.
    """

    rest: Singles
    curve_of: Ints
    modes: Ints
    parent: Ints
    parent_inverse: Singles
    curves: Curves

    def world_matrices(self, times: Floats) -> Singles:
        """Compute the world matrices (t, n, 4, 4) of all objects at times (t,) in frames, rounded to float32.

        Equal to those of Blender except for the last bit of a few numbers.
        """
        count, steps = len(self.rest), np.arange(len(times))[:, None]
        channels = np.tile(self.rest, (len(times), 1, 1))
        item, channel = np.nonzero(self.curve_of >= 0)
        channels[:, item, channel] = self.curves.values_at(times)[self.curve_of[item, channel]].T
        parents = np.where(self.parent >= 0, self.parent + count * steps, -1)
        every = Hierarchy(np.tile(np.arange(count), len(times)), parents.ravel())
        world = self._composed(every, channels.reshape(-1, CHANNELS))
        return world.reshape(len(times), count, 4, 4)

    def matrices_of(self, objects: Ints, times: Floats) -> Singles:
        """Compute the world matrices (m, 4, 4) of objects (m,), each at its own time (m,) in frames."""
        hierarchy, row, places = self.hierarchy_of(objects, np.arange(len(objects)))
        return self.hierarchy_matrices(hierarchy, times[row])[places]

    def hierarchy_matrices(self, hierarchy: Hierarchy, times: Floats) -> Singles:
        """Compute the world matrices (m, 4, 4) of a hierarchy (m,), each object's at its own time (m,).

        The time of an object is that of its parent. The same as `matrices_of`, but each parent once.
        """
        channels, curve = self.rest[hierarchy.objects], self.curve_of[hierarchy.objects]
        row, channel = np.nonzero(curve >= 0)
        channels[row, channel] = self.curves.values_of(curve[row, channel], times[row])
        return self._composed(hierarchy, channels)

    def _composed(self, hierarchy: Hierarchy, channels: Singles) -> Singles:
        """World matrices (m, 4, 4) of a hierarchy (m,) with channels (m, CHANNELS)."""
        objects, parents = hierarchy
        linear, turns = self.rest_rotations[objects], self.turns[objects]
        if turns.any():
            linear[turns] = _rotations(self.modes[objects[turns]], channels[turns])
        # Without parents first.
        world = np.zeros((len(objects), 4, 4), dtype=np.float32)
        world[:, :3, :3] = linear * (channels[:, SCALE] * channels[:, DELTA_SCALE])[:, None, :]
        world[:, :3, 3] = channels[:, LOCATION] + channels[:, DELTA_LOCATION]
        world[:, 3, 3] = 1
        for rows in hierarchy.generations()[1:] if (parents >= 0).any() else ():
            above = _product(world[parents[rows]], self.parent_inverse[objects[rows]])
            world[rows] = _product(above, world[rows])
        return world

    def hierarchy_of(self, objects: Ints, moments: Ints) -> tuple[Hierarchy, Ints, Ints]:
        """Return the hierarchy (m,) of objects (k,) and their parents at moments (k,), each once in a moment.

        Also the moment (m,) of each, which is that of its parent, and where (k,) each of `objects` is.
        """
        # Numbers of objects at moments. A table of all would be large where there are many objects.
        count = max(1, len(self.parent))
        keys = new = np.unique(moments * count + objects)
        while len(new):
            above = self.parent[new % count]
            new = (new - new % count + above)[above >= 0]
            new = np.unique(new[np.append(keys, -1)[np.searchsorted(keys, new)] != new])
            keys = np.sort(np.append(keys, new))
        moment_of, members = np.divmod(keys, count)
        parents = self.parent[members]
        parents = np.where(parents >= 0, np.searchsorted(keys, moment_of * count + parents), -1)
        return Hierarchy(members, parents), moment_of, np.searchsorted(keys, moments * count + objects)

    def keeps_form(self) -> Bools:
        """Mask (n,) of objects that move and turn, but are neither stretched nor sheared in any new way.

        No scale in their chain of parents is animated, and those of the parents are uniform.
        """
        is_animated: Any = (self.curve_of[:, SCALE] >= 0).any(axis=1).tolist()
        size = np.abs(self.rest[:, SCALE] * self.rest[:, DELTA_SCALE])
        is_uniform: Any = (size == size[:, :1]).all(axis=1).tolist()
        linear = self.parent_inverse[:, :3, :3].astype(np.float64)
        gram = np.einsum("nki,nkj->nij", linear, linear)
        square = np.einsum("nii->n", gram)[:, None, None] / 3
        is_similar: Any = (np.abs(gram - square * np.eye(3)) <= 1e-6 * square).all(axis=(1, 2)).tolist()
        result: list[Any] = []
        for row, parent in enumerate(self.parent.tolist()):
            is_carried = parent < 0 or (result[parent] and is_uniform[parent] and is_similar[row])
            result.append(is_carried and not is_animated[row])
        return np.array(result, dtype=bool)

    @cached_property
    def turns(self) -> Bools:
        """Mask (n,) of objects of which curves change the rotation."""
        is_curve: Bools = self.curve_of[:, np.r_[ROTATION, DELTA_ROTATION]] >= 0
        return np.asarray(is_curve.any(axis=1))

    @cached_property
    def rest_rotations(self) -> Singles:
        """Rotations (n, 3, 3) of the values that no curve changes."""
        return _rotations(self.modes, self.rest)

    @cached_property
    def precise_rest(self) -> tuple[Floats, Floats]:
        """Delta rotations and linear parts (n, 3, 3) of values that no curve changes, without parents."""
        rest = self.rest.astype(np.float64)
        delta = rotation_matrices(self.modes, rest[:, DELTA_ROTATION])
        rotation = rotation_matrices(self.modes, rest[:, ROTATION])
        linear = delta @ rotation * (rest[:, SCALE] * rest[:, DELTA_SCALE])[:, None, :]
        return delta, np.asarray(linear)

    @cached_property
    def changes_form(self) -> Bools:
        """Mask (n,) of objects of which curves change the rotation or the scale."""
        return np.asarray(self.turns | (self.curve_of[:, SCALE] >= 0).any(axis=1))

    @cached_property
    def precise_parent_inverse(self) -> tuple[Floats, Floats]:
        """Inverses (n, 4, 4) of the parents, and bounds (n,) of how much longer they make a vector."""
        inverse = self.parent_inverse.astype(np.float64)
        return inverse, np.linalg.norm(inverse[:, :3, :3], 2, axis=(1, 2)) * (1 + CHAIN_ROUNDING)


def _rotations(modes: Ints, channels: Singles) -> Singles:
    """Rotations (m, 3, 3) of rotation modes (m,) and channels (m, CHANNELS)."""
    turn = rotation_matrices(modes, channels[:, ROTATION])
    return _product(rotation_matrices(modes, channels[:, DELTA_ROTATION]), turn)


def _product(a: Singles, b: Singles) -> Singles:
    """Multiply matrices (..., 3, 3) or (..., 4, 4), with the sums in Blender's order."""
    terms = [a[..., :, k, None] * b[..., k, None, :] for k in range(a.shape[-1])]
    first = terms[0] + terms[1]
    return np.asarray(first + terms[2] if len(terms) == 3 else first + (terms[2] + terms[3]))


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
    sine = np.where(has_axis, np.sin(angle), 0).astype(components.dtype)
    cosine = np.where(has_axis, np.cos(angle), 1).astype(components.dtype)
    rest = np.float32(1) - cosine
    matrix = np.empty((3, 3, len(x)), dtype=components.dtype)
    matrix[0, 0], matrix[1, 1], matrix[2, 2] = (a * a * rest + cosine for a in (x, y, z))
    for i, j, a, b, c in ((0, 1, x, y, z), (1, 2, y, z, x), (2, 0, z, x, y)):
        matrix[i, j], matrix[j, i] = a * b * rest - c * sine, a * b * rest + c * sine
    return np.moveaxis(matrix, -1, 0)
