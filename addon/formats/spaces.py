"""Engine spaces: axes, handedness and unit, and how Blender's numbers become theirs.

Engine = scale x axes x Blender, where `axes` is a signed permutation. That keeps axis-aligned boxes exact and
axis-aligned; on a negated axis min and max trade places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Aabb, Obb, Sphere

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Space:
    """A space that a document declares and keeps to.

    preset, up, forward, handedness, unit : as written; `forward` is what Blender's front (-Y) becomes
    axes : (3, 3) signed permutation, rows are the engine's axes in Blender's
    scale : engine units for one Blender unit
    meters_per_unit : metres for one engine unit
    """

    preset: str
    up: str
    forward: str
    handedness: str
    unit: str
    axes: Floats
    scale: float
    meters_per_unit: float

    def vectors(self, values: ArrayLike) -> Floats:
        """Positions or displacements (..., 3) of Blender in this space."""
        return self.directions(values) * self.scale

    def directions(self, values: ArrayLike) -> Floats:
        """Unit vectors (..., 3) of Blender in this space: turned, not scaled."""
        v = np.asarray(values, dtype=np.float64)
        return v[..., self._source] * self._signs

    def quaternion(self, wxyz: ArrayLike) -> Floats:
        """A rotation (..., 4) of Blender, w first, as (x, y, z, w) of this space."""
        q = np.asarray(wxyz, dtype=np.float64)
        # A mirrored space turns the other way round its mirrored axis.
        mirror = round(float(np.linalg.det(self.axes)))
        return np.concatenate([self.directions(q[..., 1:]) * mirror, q[..., :1]], axis=-1)

    def factors(self, values: ArrayLike) -> Floats:
        """Scale factors (..., 3) along Blender's axes, along this space's."""
        return np.asarray(values, dtype=np.float64)[..., self._source]

    def sphere(self, sphere: Sphere) -> Sphere:
        """Spheres of Blender in this space."""
        return Sphere(self.vectors(sphere.center), sphere.radius * self.scale)

    def aabb(self, box: Aabb) -> Aabb:
        """Boxes of Blender in this space, with min and max in order again."""
        low, high = self.vectors(box.min), self.vectors(box.max)
        return Aabb(np.minimum(low, high), np.maximum(low, high))

    def obb(self, box: Obb) -> Obb:
        """Oriented boxes of Blender in this space, each axis of theirs named as this space names it."""
        turned = self.axes @ box.rotation @ self.axes.T
        return Obb(self.vectors(box.center), self.factors(box.half_extents) * self.scale, turned)

    @property
    def _source(self) -> NDArray[np.intp]:
        return np.asarray(np.abs(self.axes).argmax(axis=1))

    @property
    def _signs(self) -> Floats:
        signs: Floats = self.axes.sum(axis=1)
        return signs


def quaternion_of(rotation: Floats) -> Floats:
    """The quaternion (4,), (x, y, z, w), of a rotation matrix (3, 3). Its sign is free.

    Shepperd's method: the products of a quaternion's parts, times four, are sums over the matrix. The row of
    the largest square is the one that loses no digits.
    """
    ((a, b, c), (d, e, f), (g, h, i)) = rotation.tolist()
    products = np.array(
        [
            [1 + a - e - i, b + d, c + g, h - f],
            [b + d, 1 - a + e - i, f + h, c - g],
            [c + g, f + h, 1 - a - e + i, d - b],
            [h - f, c - g, d - b, 1 + a + e + i],
        ]
    )
    row = products[np.diag(products).argmax()]
    quaternion: Floats = row / np.sqrt((row**2).sum())
    return quaternion


PRESETS = ("blender", "gltf")


def space_for(preset: str, scale_length: float = 1.0) -> Space:
    """The space of a preset for a scene in which one Blender unit is `scale_length` metres.

    blender  Blender's own numbers: Z up, right-handed, Blender units
    gltf     glTF, three.js, Godot: Y up, right-handed, metres; (x, y, z) becomes (x, z, -y)

    Raises KeyError for an unknown preset.
    """
    if preset == "blender":
        unit = "m" if scale_length == 1 else "blender unit"
        return Space("blender", "+Z", "-Y", "right", unit, np.eye(3), 1.0, scale_length)
    if preset == "gltf":
        axes = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
        return Space("gltf", "+Y", "+Z", "right", "m", axes, scale_length, 1.0)
    raise KeyError(preset)
