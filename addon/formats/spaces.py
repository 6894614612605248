"""Coordinate systems of engines, the conversion from Blender's, and outward rounding in them.

engine = scale * axes @ blender, where `axes` is a signed permutation. So axis-aligned boxes stay axis-aligned
and exact; on a negated axis min and max swap.

A rounded shape always encloses the exact one. Numbers that have few enough decimals stay as they are, so
rounding twice changes nothing. For formats in single precision, `core.numeric.floating_point` rounds lengths
outward to float32.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..core import Aabb, CollisionBoundsError, ConvexHull, InvalidShapeError, Obb, Shape, SphereTree
from ..core.compound.convex_parts import Compound
from ..core.fitting.convex_hull import HullSteps, hull_steps, rounded_hull_steps, run_together
from ..core.fitting.hull_surface import are_far, box_hull, hull_around_far, hull_defect
from ..core.messages import message
from ..core.numeric.arguments import as_flag, as_number, require_type
from ..core.numeric.arrays import (
    Floats,
    as_floats,
    cross,
    length,
    require_finite,
    rotation_matrix,
    transform_vectors,
)
from ..core.numeric.floating_point import two_difference
from .wording import quoted


class SpaceError(CollisionBoundsError):
    """Axes or a unit that define no coordinate system."""


@dataclass(frozen=True)
class Space:
    """Coordinate system that a document declares; all its numbers are in it.

    preset, up, forward, handedness, unit : As JSON has them. `forward` is the axis that Blender's front
        (-Y) becomes.
    axes : (3, 3) float. Signed permutation; its rows are the engine's axes in Blender's space.
    scale : Engine units for one Blender unit.
    meters_per_unit : Meters for one engine unit.
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
        """Convert positions or displacements (..., 3) from Blender's space. Raises NonFiniteGeometryError."""
        return self._lengths(self.directions(values), f"values in {self.preset} units")

    def directions(self, values: ArrayLike) -> Floats:
        """Convert unit vectors (..., 3) from Blender's space: rotated, not scaled."""
        return np.asarray(self.scale_factors(values) * self.axes.sum(axis=1))

    def quaternion(self, wxyz: ArrayLike) -> Floats:
        """Convert quaternions (..., 4) from Blender's space, w first, to (x, y, z, w)."""
        q = as_floats(wxyz, "wxyz", (4,))
        # A mirror reverses the direction of rotation, about the mirrored axis.
        mirror = round(float(np.linalg.det(self.axes)))
        return np.concatenate([self.directions(q[..., 1:]) * mirror, q[..., :1]], axis=-1)

    def scale_factors(self, values: ArrayLike) -> Floats:
        """Convert scale factors (..., 3) along Blender's axes to factors along this space's."""
        # The index of the Blender axis that each axis of this space is, up to sign.
        return as_floats(values, "values", (3,))[..., np.abs(self.axes).argmax(axis=1)]

    def shape(self, shape: Any) -> Any:
        """Convert shapes, a hull, a compound or a sphere tree from Blender's space.

        Boxes along the axes enclose all converted points of the given ones: rounding is monotonic, and points
        are converted with the same product. Rotations and axes of other shapes are not normalized again, so
        that they do not change when a document is read and written.
        """
        require_type(shape, (*get_args(Shape), Compound, ConvexHull, SphereTree), "shape")
        if isinstance(shape, Compound):
            return Compound(tuple(map(self.shape, shape.parts)))
        if isinstance(shape, ConvexHull):
            # A mirror reverses the orientation of faces.
            is_mirror = np.linalg.det(self.axes) < 0
            faces = shape.faces[:, ::-1] if is_mirror else shape.faces
            return ConvexHull(self.vectors(shape.vertices), faces)
        if isinstance(shape, SphereTree):
            spheres = self.shape(shape.spheres)
            return SphereTree(spheres.center, spheres.radius, shape.children)
        fields = []
        for name, tail in shape.field_shapes.items():
            values = getattr(shape, name)
            if name == "axis":
                fields.append(self.directions(values))
            elif name == "rotation":
                fields.append(self.axes @ values @ self.axes.T)
            elif not tail or name == "half_extents":
                in_order = self.scale_factors(values) if name == "half_extents" else values
                fields.append(self._lengths(in_order, name))
            else:
                fields.append(self.vectors(values))
        if isinstance(shape, Aabb):
            fields = [np.minimum(*fields), np.maximum(*fields)]
        return type(shape).unchecked(*fields)

    def _lengths(self, values: Floats, name: str) -> Floats:
        with np.errstate(over="ignore"):
            converted = values * self.scale
        require_finite(converted, name)
        return converted

    @classmethod
    def from_document(cls, declared: Mapping[str, Any]) -> Space:
        """Return the space of a correct document from its "space" object. Raises SpaceError."""
        keys = ("preset", "up", "forward", "handedness", "unit", "fromBlender", "metersPerUnit")
        if not isinstance(declared, Mapping) or not set(keys) <= set(declared):
            raise SpaceError(f'declared: the "space" of a document is needed, with {", ".join(keys)}')
        preset, up, forward, handedness, unit = (declared[key] for key in keys[:5])
        numbers = as_floats(declared["fromBlender"], "fromBlender")
        if numbers.shape != (9,) or not numbers.any():
            raise SpaceError("fromBlender: nine numbers are needed, of which three are not zero")
        matrix = numbers.reshape(3, 3)
        scale = float(np.abs(matrix).max())
        meters = as_number(declared["metersPerUnit"], "metersPerUnit", 0.0, is_open=True)
        # Other programs may write tiny numbers instead of zeros.
        return cls(preset, up, forward, handedness, unit, np.around(matrix / scale), scale, meters)

    def inverse(self) -> Space:
        """Return the space that converts this space's numbers to Blender's."""
        meters = self.scale * self.meters_per_unit
        return Space("blender", "+Z", "-Y", "right", "blender unit", self.axes.T, 1 / self.scale, meters)

    @property
    def joint_axes(self) -> Floats:
        """Signs (3, 3), a diagonal, of the axes of a joint, compared with those of its bone in Blender.

        A joint has the axes of its bone. Left-handed engines mirror one axis of all local coordinates when
        they import a file: Unreal, whose Z axis is up, the Y axis, and Unity the X axis.
        """
        signs = np.ones(3)
        if np.linalg.det(self.axes) < 0:
            is_z_up = abs(self.axes[2, 2]) > 0.5
            signs[1 if is_z_up else 0] = -1.0
        return np.diag(signs)


def quaternion_from_matrix(rotations: Floats) -> Floats:
    """Convert rotation matrices to quaternions of either sign.

    Shepperd's method: sums over the matrix are four times the products of the quaternion's components. The
    row with the largest square has no cancellation.

    rotations : (..., 3, 3) float. Orthonormal, determinant 1.
    Returns quaternions : (..., 4) float. (x, y, z, w), of unit length.
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
    return np.asarray(row / np.sqrt((row**2).sum(axis=-1, keepdims=True)))


def matrix_from_quaternion(quaternions: ArrayLike) -> Floats:
    """Convert quaternions (..., 4), (x, y, z, w), of any length but 0, to rotation matrices (..., 3, 3)."""
    return rotation_matrix(np.asarray(quaternions, dtype=np.float64)[..., [3, 0, 1, 2]])


@dataclass(frozen=True)
class Convention:
    """Axes, handedness and unit of an engine, independent of the scene.

    preset : Its name in documents.
    up, forward : Signed axes such as "+Y". `forward` is the axis that Blender's front (-Y) becomes.
    handedness : "right" or "left".
    per_meter : Units per meter; None for Blender's unit, whose size depends on the scene.
    applies_unit_scale : Whether the scene's unit scale applies. Otherwise, a Blender unit is always a
        meter, as in glTF files of Blender's exporter.
    Raises SpaceError: for unknown or parallel axes, an unknown handedness, or a unit beyond 1e-9 to 1e9 per
        meter.
    """

    preset: str
    up: str
    forward: str
    handedness: str
    per_meter: float | None = 1.0
    applies_unit_scale: bool = True

    def __post_init__(self) -> None:
        for name, axis in (("up", self.up), ("forward", self.forward)):
            if not isinstance(axis, str) or axis not in AXES:
                raise SpaceError(f"{name} {_shown(axis)}: must be one of {', '.join(AXES)}")
        if self.up[1] == self.forward[1]:
            text = "up {up}, forward {forward}: must be different axes"
            raise SpaceError(message(text, up=self.up, forward=self.forward))
        if not isinstance(self.handedness, str) or self.handedness not in HANDEDNESS:
            raise SpaceError(f"handedness {_shown(self.handedness)}: must be {' or '.join(HANDEDNESS)}")
        is_number = isinstance(self.per_meter, float | int)
        if self.per_meter is not None and not (is_number and 1e-9 <= self.per_meter <= 1e9):
            raise SpaceError(f"scale {_shown(self.per_meter)}: must be from 1e-9 to 1e9 units per meter")
        if not isinstance(self.preset, str):
            raise SpaceError(f"preset: a text is needed, not {_shown(self.preset)}")
        as_flag(self.applies_unit_scale, "applies_unit_scale")


AXES = ("+X", "-X", "+Y", "-Y", "+Z", "-Z")
HANDEDNESS = ("right", "left")

CONVENTIONS = {
    convention.preset: convention
    for convention in (
        Convention("blender", "+Z", "-Y", "right", None),
        Convention("gltf", "+Y", "+Z", "right", applies_unit_scale=False),
        Convention("unity", "+Y", "+Z", "left"),
        Convention("unreal", "+Z", "+Y", "left", 100.0),
    )
}
"""Blender; glTF, also for three.js and Godot; Unity, also for Babylon.js; Unreal."""

PRESETS = (*CONVENTIONS, "custom")

UNITS = {"m": 1.0, "dm": 10.0, "cm": 100.0, "mm": 1000.0}
"""Units with a name, and how many of them are one meter."""


def space_for(convention: str | Convention, scale_length: float = 1.0) -> Space:
    """Return the space of a convention for a scene.

    convention : A name in CONVENTIONS, or the convention itself.
    scale_length : Meters for one Blender unit in the scene.
    Raises SpaceError: for an unknown name, and for units of which one has no size in the other.
    """
    engine = CONVENTIONS.get(convention) if isinstance(convention, str) else convention
    if not isinstance(engine, Convention):
        raise SpaceError(f"convention {_shown(convention)}: must be one of {', '.join(CONVENTIONS)}")
    scale_length = as_number(scale_length, "scale_length", 0.0, is_open=True)
    if engine.per_meter is None:
        scale, meters = 1.0, scale_length
        unit = "m" if scale_length == 1 else "blender unit"
    else:
        meters = 1 / engine.per_meter
        scale = engine.per_meter * (scale_length if engine.applies_unit_scale else 1.0)
        if not 0 < scale < math.inf:
            raise SpaceError(f"scale_length {scale_length:g}: one unit is {scale:g} units of the other space")
        unit = next((name for name, per_meter in UNITS.items() if per_meter == engine.per_meter), "unit")
    signed = np.concatenate([np.eye(3), -np.eye(3)]) + 0.0
    up, forward = (
        signed["XYZ".index(name[1]) + 3 * (name[0] == "-")] for name in (engine.up, engine.forward)
    )
    # In Blender, which is right-handed, the cross product of up and front is the X axis.
    side = np.cross(up, forward) * (1 if engine.handedness == "right" else -1)
    axes = np.stack([side, -forward, up], axis=1)
    return Space(engine.preset, engine.up, engine.forward, engine.handedness, unit, axes, scale, meters)


def _shown(value: object) -> str:
    """Text in quotes, a float, or the type of another value, for a message."""
    if isinstance(value, float):
        return f"{value:g}"
    return quoted(value) if isinstance(value, str) else type(value).__name__


def rounded_up(values: ArrayLike, decimals: int) -> Floats:
    """Round numbers (...) to the smallest with so many decimals that is not less.

    Numbers so large that float64 has no decimals left stay unchanged.
    """
    x = np.asarray(values, dtype=np.float64)
    grid = 10.0**decimals
    result = x.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.ceil(x * grid)
        # The product is rounded, so the correct step can be one to either side.
        for offset in (1, 0, -1):
            candidate = (steps + offset) / grid
            result = np.where(np.isfinite(candidate) & (candidate >= x), candidate, result)
    return result


def rounded_down(values: ArrayLike, decimals: int) -> Floats:
    """Round numbers (...) to the largest with so many decimals that is not more."""
    return -rounded_up(-np.asarray(values, dtype=np.float64), decimals)


def rounded_obb(box: Obb, rotation: ArrayLike, decimals: int) -> Obb:
    """Round oriented boxes outward, with a rounded rotation.

    Centers are rounded to nearest; half extents are enlarged to enclose the given box, and rounded up.

    box : Obb, batch (...). In the space in which it is written.
    rotation : (..., 3, 3) float. Axes of the result as columns, nearly those of `box`.
    decimals : Of the centers and half extents.
    Returns enclosing : Obb, batch (...). Its axes are `rotation`, unchanged.
    Raises NonFiniteGeometryError: when the rounded numbers overflow.
    """
    center = np.around(box.center, decimals)
    axes = np.asarray(rotation, dtype=np.float64)
    to_axes = axes.swapaxes(-1, -2)
    shift = transform_vectors(to_axes, box.center - center)
    # Rows of the product are the box's axes, along the new ones.
    turned = transform_vectors(to_axes[..., None, :, :], box.rotation.swapaxes(-1, -2))
    projection = np.abs(turned).swapaxes(-1, -2)
    reach = np.abs(shift) + transform_vectors(projection, box.half_extents)
    # Both matrices, and the reader's, have columns of unit length to a few ulps.
    slack = 16 * np.finfo(np.float64).eps * reach.max(axis=-1, keepdims=True)
    is_unchanged = (shift == 0).all(axis=-1) & (axes == box.rotation).all(axis=(-2, -1))
    half = rounded_up(np.where(is_unchanged[..., None], box.half_extents, reach + slack), decimals)
    require_finite(center, "center")
    require_finite(half, "half_extents")
    return Obb.unchecked(center, half, axes)


def rounded_around_center(shape: Any, axis: Floats | None, decimals: int) -> Any:
    """Round spheres, or shapes with an axis, outward, with rounded axes.

    Centers are rounded to nearest; the shapes grow to enclose the given ones, and lengths are rounded up.
    Half lengths of capsules are only rounded up, because their larger radii enclose their ends.

    shape : Sphere, Capsule, Cylinder or another volume of a center and lengths, batch (...). In the space in
        which it is written.
    axis : (..., 3) float. Axes of the result: nearly those of `shape`, in either direction, and nearly of
        length 1. None for shapes without an axis.
    decimals : Of the centers and lengths.
    Returns enclosing : Of the same type, batch (...). For readers that normalize the axis and for those that
        do not.
    Raises NonFiniteGeometryError: when the rounded numbers overflow.
    """
    fields = {"center": np.around(shape.center, decimals)}
    moved = length(shape.center - fields["center"])
    is_unchanged = moved == 0
    if axis is not None:
        fields["axis"], axis_length = axis, length(axis)
        turn = length(cross(shape.axis, axis)) / axis_length
        # The chord of a small angle is a little longer than its sine. A point moves with the center, and by
        # the turn and the length of the axis.
        moved = moved + (turn * (1 + turn) + np.abs(axis_length - 1)) * shape.arm
        is_unchanged &= (axis == shape.axis).all(axis=-1) | (axis == -shape.axis).all(axis=-1)
    lengths = {name: getattr(shape, name) for name, tail in shape.field_shapes.items() if not tail}
    grown = shape._grown(lengths, moved)
    # Roundings of the reader's distances, too.
    grown = shape._grown(grown, 16 * np.finfo(np.float64).eps * sum(grown.values()))
    for name, values in lengths.items():
        fields[name] = rounded_up(np.where(is_unchanged, values, grown[name]), decimals)
    for name, values in fields.items():
        require_finite(values, name)
    return shape.unchecked(*(fields[name] for name in shape.field_shapes))


def center_and_half_extents(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Centers and half extents (..., 3) of boxes from `low` to `high`, half extents exact or rounded up."""
    center = low / 2 + high / 2
    return center, half_extents_around(center, low, high)


def half_extents_around(center: Floats, low: Floats, high: Floats) -> Floats:
    """Half extents (..., 3) from `center` that reach `low` and `high`, exact or rounded up."""
    above, above_error = two_difference(high, center)
    below, below_error = two_difference(center, low)
    above = np.where(above_error > 0, np.nextafter(above, np.inf), above)
    below = np.where(below_error > 0, np.nextafter(below, np.inf), below)
    return np.maximum(above, below)


def interval_around(center: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """Low and high (..., 3) of the interval `center` +- `reach`, exact or rounded outward."""
    low, low_error = two_difference(center, reach)
    high, high_error = two_difference(center, -reach)
    low = np.where(low_error < 0, np.nextafter(low, -np.inf), low)
    return low, np.where(high_error > 0, np.nextafter(high, np.inf), high)


def rounded_hulls(hulls: Sequence[ConvexHull], decimals: int) -> list[ConvexHull]:
    """Round hulls outward: all given vertices of each are below all faces of the result.

    A hull is built again from its vertices in few decimals, because rounding the vertices would bend faces.
    A hull too thin for these decimals becomes a box. So does one that is too far away: then float64 has no
    decimals left, and only a few numbers within the size of the hull.

    hulls : In the space in which they are written.
    decimals : Of the vertices.
    Returns enclosing : list of ConvexHull. A hull itself if its vertices have so many decimals already.
    """
    rounded = []
    for hull in run_together([_rounded(hull, decimals) for hull in hulls]):
        if isinstance(hull, CollisionBoundsError):
            raise hull
        rounded.append(hull)
    return rounded


def _rounded(hull: ConvexHull, decimals: int) -> HullSteps:
    """Round a hull outward, as `rounded_hulls`."""
    vertices, step = hull.vertices, 10.0**-decimals
    spacing = float(np.spacing(np.abs(vertices).max()))
    is_far, has_no_decimals = are_far(vertices), spacing >= step
    if has_no_decimals or np.array_equal(np.around(vertices, decimals), vertices):
        if not (is_far and hull_defect(*hull)):
            return hull
        if has_no_decimals:
            return hull_around_far(vertices)
    try:
        rounded = yield from rounded_hull_steps(hull, decimals)
        if rounded is None:
            rounded = yield from hull_steps(vertices, max(len(vertices), 8), decimals)
        return rounded
    except InvalidShapeError:
        reach = max(step, 8 * spacing) / 2
        low = rounded_down(vertices.min(axis=0) - reach, decimals)
        return box_hull(low, rounded_up(vertices.max(axis=0) + reach, decimals))


def to_lists(values: ArrayLike) -> Any:
    """Convert an array to nested lists of floats, with 0.0 for -0.0."""
    return (np.asarray(values, dtype=np.float64) + 0.0).tolist()


def json_number(value: float) -> float:
    """Return a number as JSON should show it: 24 instead of 24.0, 0 instead of -0.0."""
    return int(value) if math.isfinite(value) and value == int(value) and abs(value) < 2**53 else float(value)
