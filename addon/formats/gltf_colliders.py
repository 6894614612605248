"""Boxes and spheres as colliders of glTF nodes.

A collider is a node of its own below another: its shape sits at that node's origin, and what the nodes above
do beside turning and moving, the node undoes, so that engines find no scale on it in the world. All numbers
of the node and the shape are single-precision numbers: every reader gets the very ones that are written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import CollisionBoundsError, Obb, Sphere
from ..core.single_precision import single, single_up
from .rounding import plain
from .spaces import Floats, matrix_of, quaternion_of

_LEAST_THICKNESS = 1e-3
"""Metres. What has no extent gets this one, or a thousandth of its largest side if that is less."""

_EPSILON = float(np.finfo(np.float64).eps)
_CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_LEAST_SCALE = 1e-6


class GltfError(CollisionBoundsError):
    """Something that glTF has no place for."""


@dataclass(frozen=True)
class Turn:
    """The rotation (4,), (x, y, z, w), and the scale (3,) of a collider's node, in single precision."""

    rotation: Floats
    scale: Floats


@dataclass(frozen=True)
class Collider:
    """A node with a shape around its origin.

    translation (3,), rotation (4,) (x, y, z, w), scale (3,) : of the node, below its parent
    shape : as OMI_physics_shape and KHR_implicit_shapes both write it
    """

    translation: Floats
    rotation: Floats
    scale: Floats
    shape: dict[str, Any]

    def placement(self) -> dict[str, list[float]]:
        """Translation, rotation and scale as properties of a node; those that change nothing are left out."""
        written = {"translation": self.translation, "rotation": self.rotation, "scale": self.scale}
        return {key: plain(own) for key, own in written.items() if not np.array_equal(own, _NOTHING[key])}


_NOTHING: dict[str, Floats] = {
    "translation": np.zeros(3),
    "rotation": np.array([0.0, 0.0, 0.0, 1.0]),
    "scale": np.ones(3),
}


def node_matrix(translation: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> Floats:
    """The (4, 4) matrix of a glTF node, its rotation (x, y, z, w) taken as one of length 1."""
    matrix = np.eye(4)
    matrix[:3, :3] = matrix_of(rotation) * np.asarray(scale, dtype=np.float64)
    matrix[:3, 3] = translation
    return matrix


def straightened(linear: Floats) -> Turn:
    """The turn below a linear part (3, 3) that leaves a plain rotation of it, whatever it scales and shears.

    Along the own axes where these are at right angles, else along those in which it stretches most and least.
    Raises GltfError where it flattens.
    """
    lengths = np.sqrt((linear**2).sum(axis=0))
    if not np.isfinite(lengths).all() or lengths.min() <= _LEAST_SCALE * lengths.max():
        raise GltfError("its scale is zero along an axis, which no collider below it can undo")
    units = linear / lengths
    if np.abs(units.T @ units - np.eye(3)).max() < 1e-6:
        axes = np.eye(3)
    else:
        _, lengths, transposed = np.linalg.svd(linear)
        if lengths.min() <= _LEAST_SCALE * lengths.max():
            raise GltfError("its scale is zero along an axis, which no collider below it can undo")
        axes = transposed.T * (np.sign(np.linalg.det(transposed)) * np.ones(3))
    scale: Floats = 1 / lengths
    if np.linalg.det(linear) < 0:
        scale[0] = -scale[0]
    return Turn(single(quaternion_of(axes)), single(scale))


def collider_below(parent: Floats, turn: Turn, volume: Obb | Sphere, unsure: float = 0.0) -> Collider:
    """The collider that holds a volume, a single one, below a node whose world matrix (4, 4) is `parent`.

    The volume is in the world. A box gets the axes of the turned node. Holds it for readers in double
    precision, whether they make quaternions unit length before use or not.

    unsure : by how much, relatively, such readers may differ about the linear part of `parent`

    Raises GltfError where single precision has no such numbers.
    """
    there = node_matrix(np.zeros(3), turn.rotation, turn.scale)
    beside = volume.center - parent[:3, 3]
    there[:3, 3] = single(np.linalg.solve(parent[:3, :3], beside))
    world = parent @ there
    linear, origin = world[:3, :3], world[:3, 3]
    away = volume.center - origin
    rigid = np.array_equal(linear, np.eye(3))
    # A reader may take the world's rotation alone, without the rest of a scale, or quaternions as they are.
    loose = unsure + off_unit(turn.rotation) + float(np.abs(linear.T @ linear - np.eye(3)).max())
    slack = unsure * _length(beside)
    if not (rigid and not away.any()):
        farthest = max(float(np.abs(each).max()) for each in (parent[:3, 3], volume.center, origin))
        slack += 16 * _EPSILON * (farthest + _length(beside))
    if isinstance(volume, Sphere):
        radius = (float(volume.radius) + _length(away)) * (1 + loose) + slack
        sides = _not_flat(np.array([2 * radius]))
        return _finite(there, turn, {"type": "sphere", "sphere": {"radius": float(single_up(sides / 2)[0])}})
    corners = away + (_CORNERS * volume.half_extents) @ volume.rotation.T
    half = np.abs(corners if rigid else np.linalg.solve(linear, corners.T).T).max(axis=0)
    sides = _not_flat(2 * (half + loose * _length(half) + slack))
    return _finite(there, turn, {"type": "box", "box": {"size": plain(2 * single_up(sides / 2))}})


def off_unit(rotation: Floats) -> float:
    """By how much readers that make a quaternion unit length and those that do not may turn differently."""
    return 2 * abs(float((rotation**2).sum()) - 1)


def least_thickness(largest: float) -> float:
    """What a side of nothing gets, of a thing whose largest side is so long, in the world's unit."""
    return min(_LEAST_THICKNESS, largest / 1000) if largest > 0 else _LEAST_THICKNESS


def _not_flat(sides: Floats) -> Floats:
    return np.maximum(sides, least_thickness(float(sides.max())))


def _length(vector: Floats) -> float:
    return float(np.sqrt((vector**2).sum()))


def _finite(there: Floats, turn: Turn, shape: dict[str, Any]) -> Collider:
    numbers = np.append(there[:3, 3], shape[shape["type"]].get("size") or shape[shape["type"]]["radius"])
    if not np.isfinite(np.append(numbers, turn.scale)).all():
        raise GltfError("is too large, or too far away, for glTF")
    return Collider(there[:3, 3], turn.rotation, turn.scale, shape)
