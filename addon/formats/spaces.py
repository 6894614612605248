"""Engine spaces: axes, handedness and unit, and how Blender's numbers become theirs.

Engine = scale x axes x Blender, where `axes` is a signed permutation. That keeps axis-aligned boxes exact and
axis-aligned; on a negated axis min and max trade places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Aabb, CollisionBoundsError, ConvexHull, Obb, Sphere, SphereTree
from ..core.arrays import require_finite, rotation_matrix

Floats = NDArray[np.float64]


class SpaceError(CollisionBoundsError):
    """Axes or a unit that make no space."""


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

    def shape(self, shape: Any) -> Any:
        """Spheres, boxes, a hull or a tree of spheres of Blender in this space."""
        kinds: dict[type, Callable[[Any], Any]] = {
            Aabb: self.aabb,
            ConvexHull: self.hull,
            Obb: self.obb,
            Sphere: self.sphere,
            SphereTree: self.tree,
        }
        return kinds[type(shape)](shape)

    def sphere(self, sphere: Sphere) -> Sphere:
        """Spheres of Blender in this space."""
        return Sphere(self.vectors(sphere.center), sphere.radius * self.scale)

    def aabb(self, box: Aabb) -> Aabb:
        """Boxes of Blender in this space, with min and max in order again.

        They hold what they held, as the same product takes it over: rounding keeps the order of numbers.
        """
        low, high = self.vectors(box.min), self.vectors(box.max)
        return Aabb(np.minimum(low, high), np.maximum(low, high))

    def obb(self, box: Obb) -> Obb:
        """Oriented boxes of Blender in this space, each axis of theirs named as this space names it."""
        turned = self.axes @ box.rotation @ self.axes.T
        center, half = self.vectors(box.center), self.factors(box.half_extents) * self.scale
        require_finite(center, "center")
        require_finite(half, "half_extents")
        # Not made orthonormal again: axes that are written and read stay what they are, to the last digit.
        return Obb.trusted(center, half, turned)

    def hull(self, hull: ConvexHull) -> ConvexHull:
        """A hull of Blender in this space."""
        # A mirror turns faces inside out.
        is_mirror = np.linalg.det(self.axes) < 0
        return ConvexHull(self.vectors(hull.vertices), hull.faces[:, ::-1] if is_mirror else hull.faces)

    def tree(self, tree: SphereTree) -> SphereTree:
        """A tree of spheres of Blender in this space."""
        balls = self.sphere(tree.spheres)
        return SphereTree(balls.center, balls.radius, tree.children)

    @classmethod
    def of_document(cls, told: Mapping[str, Any]) -> Space:
        """The space that a correct document declares, its `space` object."""
        matrix = np.array(told["fromBlender"], dtype=np.float64).reshape(3, 3)
        scale = float(np.abs(matrix).max())
        preset, up, forward, handedness, unit = (
            told[key] for key in ("preset", "up", "forward", "handedness", "unit")
        )
        # What other programs write may have noise instead of its zeros.
        axes = np.around(matrix / scale)
        return cls(preset, up, forward, handedness, unit, axes, scale, float(told["metersPerUnit"]))

    def backwards(self) -> Space:
        """What takes this space's numbers to Blender's."""
        meters = self.scale * self.meters_per_unit
        return Space("blender", "+Z", "-Y", "right", "blender unit", self.axes.T, 1 / self.scale, meters)

    @property
    def _source(self) -> NDArray[np.intp]:
        return np.asarray(np.abs(self.axes).argmax(axis=1))

    @property
    def _signs(self) -> Floats:
        signs: Floats = self.axes.sum(axis=1)
        return signs


def quaternion_of(rotations: Floats) -> Floats:
    """The quaternions (..., 4), (x, y, z, w), of rotation matrices (..., 3, 3). Their signs are free.

    Shepperd's method: the products of a quaternion's parts, times four, are sums over the matrix. The row of
    the largest square is the one that loses no digits.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.moveaxis(rotations, (-2, -1), (0, 1))
    rows = [
        [1 + a - e - i, b + d, c + g, h - f],
        [b + d, 1 - a + e - i, f + h, c - g],
        [c + g, f + h, 1 - a - e + i, d - b],
        [h - f, c - g, d - b, 1 + a + e + i],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.diagonal(products, axis1=-2, axis2=-1).argmax(axis=-1)
    row = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    quaternion: Floats = row / np.sqrt((row**2).sum(axis=-1, keepdims=True))
    return quaternion


def matrix_of(quaternions: ArrayLike) -> Floats:
    """The matrices (..., 3, 3) that turn column vectors by quaternions (..., 4), (x, y, z, w), not all 0."""
    return rotation_matrix(np.asarray(quaternions, dtype=np.float64)[..., [3, 0, 1, 2]])


@dataclass(frozen=True)
class Convention:
    """How an engine counts: which way is up, where fronts look, handedness, and its unit.

    preset : the name that documents give it
    up, forward : signed axes such as "+Y"; `forward` is what Blender's front (-Y) becomes
    handedness : "right" or "left"
    per_meter : its units in a metre; None for Blender's own unit, whatever that is in the scene

    Raises SpaceError for what is no space.
    """

    preset: str
    up: str
    forward: str
    handedness: str
    per_meter: float | None = 1.0

    def __post_init__(self) -> None:
        for name, axis in (("up", self.up), ("forward", self.forward)):
            if axis not in AXES:
                raise SpaceError(f"{name} {axis!r}: is none of {', '.join(AXES)}")
        if self.up[1] == self.forward[1]:
            raise SpaceError(f"up {self.up}, forward {self.forward}: must be different axes")
        if self.handedness not in ("right", "left"):
            raise SpaceError(f"handedness {self.handedness!r}: is neither right nor left")
        if self.per_meter is not None and not 1e-9 <= self.per_meter <= 1e9:
            raise SpaceError(f"scale {self.per_meter:g}: must be from 1e-9 to 1e9 units a metre")

    @property
    def axes(self) -> Floats:
        """(3, 3) signed permutation, rows are the engine's axes in Blender's."""
        up, forward = _axis(self.up), _axis(self.forward)
        # In Blender, which is right-handed, up x front is the X axis.
        side = np.cross(up, forward) * (1 if self.handedness == "right" else -1)
        return np.stack([side, -forward, up], axis=1)


AXES = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")

CONVENTIONS = {
    each.preset: each
    for each in (
        Convention("blender", "+Z", "-Y", "right", None),
        Convention("gltf", "+Y", "+Z", "right"),
        Convention("unity", "+Y", "+Z", "left"),
        Convention("unreal", "+Z", "+Y", "left", 100.0),
    )
}
"""Blender itself; glTF, with three.js and Godot; Unity, with Babylon.js; Unreal."""

PRESETS = (*CONVENTIONS, "custom")

UNITS = {"m": 1.0, "dm": 10.0, "cm": 100.0, "mm": 1000.0}
"""Units that have a name, and how many of them make a metre."""


def space_for(convention: str | Convention, scale_length: float = 1.0) -> Space:
    """The space of a convention, or of one that is named, where a Blender unit is `scale_length` metres.

    Raises KeyError for a name that is not in CONVENTIONS.
    """
    told = CONVENTIONS[convention] if isinstance(convention, str) else convention
    if told.per_meter is None:
        scale, meters = 1.0, scale_length
        unit = "m" if scale_length == 1 else "blender unit"
    else:
        scale, meters = scale_length * told.per_meter, 1 / told.per_meter
        unit = next((name for name, per_meter in UNITS.items() if per_meter == told.per_meter), "unit")
    return Space(told.preset, told.up, told.forward, told.handedness, unit, told.axes, scale, meters)


def _axis(name: str) -> Floats:
    """(3,) unit vector of a signed axis."""
    axis = np.zeros(3)
    axis["XYZ".index(name[1])] = -1.0 if name[0] == "-" else 1.0
    return axis
