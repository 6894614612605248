"""Poses of links as readers compute them, and shapes in the frames of links.

Poses are products of the transforms that a file has. Shapes enclose what the shapes of the objects enclose.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ....core import Capsule, ConvexHull, Cylinder, InvalidShapeError, Obb, Sphere, hull_from_points
from ....core.numeric.arrays import Floats
from ...shape_members import preferred_shapes, read_normalized_shape, read_placement, read_shape
from ...spaces import center_and_half_extents, matrix_from_quaternion, quaternion_from_matrix, rounded_up
from ..gltf_collider_nodes import minimum_thickness

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
        return converted, math.dist(converted, exact) + _ERROR * (self.level + 1) * largest


def frame_below(parent: LinkFrame | None, translation: Floats, quaternion: Floats) -> LinkFrame:
    """Make the frame of a link.

    parent : Frame of the link above, if any.
    translation, quaternion : (3,), (4,) float. In the world; the quaternion is (x, y, z, w), of any length
        but 0.
    Returns frame : LinkFrame. Below another, its world pose differs from the given one by rounding errors.
    """
    if parent is None:
        unit, reach = quaternion / math.hypot(*quaternion), float(np.abs(translation).max())
        return LinkFrame(translation, matrix_from_quaternion(unit), 0, reach, translation, unit)
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


_ROTATION_ERROR = 2e-9
"""Largest angle in radians by which the decimals of a document's quaternion rotate an object."""
_SAME_AXES = 1e-5
"""Shapes whose axes differ from those of their link by less than this get the axes of the link. MuJoCo does
that for differences below 1e-6."""
_SMALLEST_HULL = 1e-5
"""In meters. MuJoCo refuses smaller meshes, and flat ones a tenth as large."""


class LinkFormat(NamedTuple):
    """Name of a format, and what it needs of shapes.

    label : For messages.
    shapes : Keys of the shapes of a document that it can store.
    hull_margin, relative_hull_margin : Least distance of a hull's faces from all points of the given hull:
        in meters, plus this part of its size.
    """

    label: str
    shapes: frozenset[str]
    hull_margin: float = 0.0
    relative_hull_margin: float = 0.0


class LinkHull(NamedTuple):
    """A convex hull around a point of the link's frame; its vertices, from there, are float32 numbers."""

    center: Floats
    hull: ConvexHull


LinkShape: TypeAlias = Sphere | Obb | Capsule | Cylinder | LinkHull


def shapes_in_link(entry: dict[str, Any], frame: LinkFrame, format: LinkFormat) -> tuple[LinkShape, ...]:
    """Convert the shape of an object to the frame of its link.

    Returns shapes : tuple of LinkShape. One; several for a sphere tree, whose leaves they are, and for a
        compound; none for an object without such a shape. No size is 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # infinity is found later
        return tuple(
            _hull(np.array(numbers["vertices"], np.float64), frame, format)
            if kind == "hull"
            else _converted(
                _box_along_object(entry) if kind == "aabb" else read_normalized_shape(kind, numbers), frame
            )
            for kind, numbers in preferred_shapes(entry, format.shapes)
        )


def geometry_of(shape: LinkShape) -> tuple[str, Floats, Floats, Any]:
    """Return a shape in the frame of its link as formats write it.

    Returns kind : str. "sphere", "box", "capsule", "cylinder" or "mesh".
    Returns center : (3,) float
    Returns quaternion : (4,) float, (x, y, z, w). Capsules and cylinders are along the Z axis before it.
    Returns sizes : The radius (1,), half extents (3,), or radius and half length (2,); of a mesh its
        ConvexHull around the center.
    Raises TypeError: for other types.
    """
    if isinstance(shape, LinkHull):
        return "mesh", shape.center, NO_ROTATION, shape.hull
    if isinstance(shape, Sphere):
        return "sphere", shape.center, NO_ROTATION, shape.radius[None]
    if isinstance(shape, Obb):
        return "box", shape.center, unit_quaternion(shape.rotation, 0.0), shape.half_extents
    if isinstance(shape, Capsule | Cylinder):
        x, y, z = shape.axis if shape.axis[2] >= 0 else -shape.axis
        quaternion = np.array([-y, x, 0.0, 1 + z])
        sizes = np.array([shape.radius, shape.half_length])
        return shape.name, shape.center, quaternion / math.hypot(*quaternion), sizes
    raise TypeError(f"no geometry of {type(shape).__name__}")


def _box_along_object(entry: dict[str, Any]) -> Obb:
    """Box along the object's own axes, in the world."""
    translation, quaternion = read_placement(entry)
    is_turned = not np.array_equal(quaternion, NO_ROTATION)
    box = read_shape("aabb", entry["local" if is_turned else "world"]["aabb"])
    center, half = center_and_half_extents(box.min, box.max)
    if not is_turned:
        return Obb(center, half, np.eye(3))
    axes = matrix_from_quaternion(quaternion)
    error = _ROTATION_ERROR * (math.hypot(*center) + math.hypot(*half))
    return Obb(translation + axes @ center, half + error, axes)


def _converted(shape: Sphere | Obb | Capsule | Cylinder, frame: LinkFrame) -> LinkShape:
    if isinstance(shape, Sphere):
        center, error = frame.to_link(shape.center, float(shape.radius))
        return Sphere(center, rounded_up(_thickened(shape.radius) + error, DECIMALS))
    if isinstance(shape, Obb):
        return _box(shape, frame)
    return _axial(shape, frame)


def _box(box: Obb, frame: LinkFrame) -> Obb:
    center, error = frame.to_link(box.center, math.hypot(*box.half_extents))
    turned = frame.rotation.T @ box.rotation
    axes = matrix_from_quaternion(unit_quaternion(turned, _SAME_AXES))
    half = box.half_extents
    if not np.array_equal(turned, np.eye(3)):
        half = np.abs(axes.T @ turned) @ half
    return Obb.unchecked(center, rounded_up(_thickened(half) + error, DECIMALS), axes)


def _axial(shape: Capsule | Cylinder, frame: LinkFrame) -> Capsule | Cylinder:
    half_length = float(shape.half_length)
    center, error = frame.to_link(shape.center, half_length + float(shape.radius))
    axis = frame.rotation.T @ shape.axis
    turned = float(np.hypot(axis[0], axis[1]))
    if turned > _SAME_AXES:
        axis, turned = axis / math.hypot(*axis), 0.0
    else:
        axis, turned = np.array([0.0, 0.0, 1.0]), turned * (1 + _SAME_AXES)
    sizes = np.array([half_length, float(shape.radius)])
    sizes = _thickened(sizes) + error + turned * float(sizes.sum())
    half_length, radius = rounded_up(sizes, DECIMALS).tolist()
    return type(shape)(center, axis, half_length, radius)


def _hull(vertices: Floats, frame: LinkFrame, format: LinkFormat) -> LinkHull | Obb:
    """Hull of vertices (v, 3) of the world; a box where single precision has no hull."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    size = math.dist(high, low)
    middle, error = frame.to_link(low / 2 + high / 2, size)
    local = (vertices - frame.translation) @ frame.rotation - middle
    margin = error + format.hull_margin + format.relative_hull_margin * size
    if size > _SMALLEST_HULL:
        try:
            return LinkHull(middle, hull_from_points(local, max(len(vertices), 255), margin=margin))
        except InvalidShapeError:
            pass
    center, half = center_and_half_extents(local.min(axis=0) - margin, local.max(axis=0) + margin)
    moved = tidied(middle + center)
    half = half + np.abs(moved - middle - center) + error
    return Obb.unchecked(moved, rounded_up(half, DECIMALS), np.eye(3))


def _thickened(half_sizes: Floats) -> Floats:
    """Half sizes (...) without zeros, see `minimum_thickness`."""
    return np.maximum(half_sizes, minimum_thickness(2 * float(np.max(half_sizes))) / 2)
