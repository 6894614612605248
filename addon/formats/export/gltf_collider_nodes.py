"""Colliders of glTF nodes, and boxes, spheres, capsules, cylinders and hulls as such.

A collider is a node below another one, with its shape around its origin. The node compensates all scale and
shear of the nodes above it, so that engines find a rotation and a translation alone in the world. All numbers
of the node and its shape are single-precision numbers, so that every reader gets exactly those that were
written.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ...core import (
    Capsule,
    CollisionBoundsError,
    ConvexHull,
    Cylinder,
    InvalidShapeError,
    Obb,
    Sphere,
    capsule_surface,
    hull_from_points,
)
from ...core.messages import message
from ...core.numeric.arrays import UNIT_BOX_CORNERS, Floats
from ...core.numeric.floating_point import float32_at_least, nearest_float32
from ..spaces import matrix_from_quaternion, quaternion_from_matrix, to_lists

_MINIMUM_THICKNESS = 1e-3
"""In meters."""

_EPSILON = float(np.finfo(np.float64).eps)
_ROUNDING = 16 * _EPSILON
_LEAST_SCALE = 1e-6
"""Relative to the largest scale; below it, a map counts as singular."""

_MOST_VERTICES = 255
"""Indices of so many vertices fit into bytes, whose largest number is reserved."""


class GltfError(CollisionBoundsError):
    """Content that glTF cannot store."""


@dataclass(frozen=True)
class NodeFrame:
    """Rotation (4,), (x, y, z, w), and scale (3,) of a collider's node, both in single precision."""

    rotation: Floats
    scale: Floats


PARENT_FRAME = NodeFrame(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(3))


@dataclass(frozen=True)
class Collider:
    """Node with a shape around its origin.

    translation, rotation, scale : (3,), (4,), (3,) float. Of the node, relative to its parent; the
        quaternion is (x, y, z, w).
    shape : In the form of KHR_implicit_shapes; empty for a hull.
    hull : In the space of the node.
    """

    translation: Floats
    rotation: Floats
    scale: Floats
    shape: dict[str, Any]
    hull: ConvexHull | None = None

    def transform_properties(self) -> dict[str, list[float]]:
        """Return translation, rotation and scale as glTF properties, without those of the identity."""
        written = {"translation": self.translation, "rotation": self.rotation, "scale": self.scale}
        identity = (np.zeros(3), PARENT_FRAME.rotation, PARENT_FRAME.scale)
        pairs = zip(written.items(), identity, strict=True)
        return {key: to_lists(value) for (key, value), same in pairs if not np.array_equal(value, same)}


def collider_node_name(node_name: str, number: int = 0) -> str:
    """Return the name of the collider below a node; `number` counts its colliders from 0."""
    return f"{node_name} collider" + (f" {number + 1}" if number else "")


def node_matrix(translation: ArrayLike, rotation: ArrayLike, scale: ArrayLike) -> Floats:
    """Return the (4, 4) matrix of a glTF node; its rotation (x, y, z, w) is normalized."""
    matrix = np.eye(4)
    matrix[:3, :3] = matrix_from_quaternion(rotation) * np.asarray(scale, dtype=np.float64)
    matrix[:3, 3] = translation
    return matrix


def compensating_frame(linear: Floats) -> NodeFrame:
    """Compute the frame of a child node whose world transform has neither scale nor shear.

    If the columns of the parent's linear part are orthogonal, the frame keeps the parent's axes. Otherwise
    its axes are the right singular vectors: with linear = U S V^T, the child has rotation V and scale 1/S,
    and the rotation U in the world.

    linear : (3, 3) float. Linear part of the parent's world matrix.
    Returns frame : NodeFrame. In single precision.
    Raises GltfError: when `linear` is singular.
    """
    lengths = np.sqrt((linear**2).sum(axis=0))
    if not np.isfinite(lengths).all() or lengths.min() <= _LEAST_SCALE * lengths.max():
        raise GltfError(message("its scale is 0 along an axis, which a child collider cannot compensate"))
    units = linear / lengths
    if np.abs(units.T @ units - np.eye(3)).max() < 1e-6:
        axes = np.eye(3)
    else:
        _, lengths, transposed = np.linalg.svd(linear)
        if lengths.min() <= _LEAST_SCALE * lengths.max():
            raise GltfError(message("its scale is 0 along an axis, which a child collider cannot compensate"))
        axes = transposed.T * (np.sign(np.linalg.det(transposed)) * np.ones(3))
    scale: Floats = 1 / lengths
    if np.linalg.det(linear) < 0:
        scale[0] = -scale[0]
    return NodeFrame(nearest_float32(quaternion_from_matrix(axes)), nearest_float32(scale))


ColliderVolume: TypeAlias = Obb | Sphere | Capsule | Cylinder
"""Shapes that a collider can have."""


def fit_collider(
    parent: Floats, frame: NodeFrame, volume: ColliderVolume, relative_error: float = 0.0
) -> Collider:
    """Fit a collider that encloses a world-space shape, as the child of a node.

    It encloses the shape for readers in double precision, whether they normalize quaternions or not.

    parent : (4, 4) float. World matrix of the parent node.
    frame : Of the collider's node; a box gets its axes, and a capsule or cylinder is along its Y axis.
    volume : ColliderVolume, batch (). In world space.
    relative_error : Relative difference that readers can have in the linear part of `parent`.
    Raises GltfError: when its numbers overflow in single precision.
    """
    local = node_matrix(np.zeros(3), frame.rotation, frame.scale)
    from_parent = volume.center - parent[:3, 3]
    local[:3, 3] = nearest_float32(np.linalg.solve(parent[:3, :3], from_parent))
    world = parent @ local
    linear, origin = world[:3, :3], world[:3, 3]
    offset = volume.center - origin
    is_identity = np.array_equal(linear, np.eye(3))
    # A reader can use the world's rotation without the rest of a scale, or quaternions without normalizing.
    deviation = float(np.abs(linear.T @ linear - np.eye(3)).max())
    relative_slack = relative_error + unit_length_error(frame.rotation) + deviation
    slack = relative_error * math.hypot(*from_parent)
    if not (is_identity and not offset.any()):
        largest = max(float(np.abs(point).max()) for point in (parent[:3, 3], volume.center, origin))
        slack += 16 * _EPSILON * (largest + math.hypot(*from_parent))
    if isinstance(volume, Sphere):
        radius = (float(volume.radius) + math.hypot(*offset)) * (1 + relative_slack) + slack
        shape: dict[str, Any] = {"type": "sphere", "sphere": _ball(radius)}
    elif isinstance(volume, Capsule | Cylinder):
        shape = _axial_shape(volume, offset, linear[:, 1], relative_slack, slack)
    else:
        corners = offset + (UNIT_BOX_CORNERS * volume.half_extents) @ volume.rotation.T
        half = np.abs(corners if is_identity else np.linalg.solve(linear, corners.T).T).max(axis=0)
        sides = _thickened(2 * (half + relative_slack * math.hypot(*half) + slack))
        shape = {"type": "box", "box": {"size": to_lists(2 * float32_at_least(sides / 2))}}
    sizes = [number for values in shape[shape["type"]].values() for number in np.ravel(values).tolist()]
    require_finite_numbers(np.concatenate([local[:3, 3], sizes, frame.scale]))
    return Collider(local[:3, 3], frame.rotation, frame.scale, shape)


def _axial_shape(
    volume: Capsule | Cylinder, offset: Floats, along: Floats, relative_slack: float, slack: float
) -> dict[str, Any]:
    """Shape along the Y axis of a node that encloses a volume; a capsule without length is a sphere.

    offset : (3,) from the origin of the node to the center of the volume, in world space
    along : (3,) Y axis of the node in world space, about a unit vector
    """
    axis = along / math.hypot(*along)
    half, radius = float(volume.half_length), float(volume.radius)
    end = volume.axis if float(volume.axis @ axis) >= 0 else -volume.axis
    # How far the end of a unit vector moves when it turns from the axis of the volume to that of the node.
    turned = math.dist(end, axis)
    moved = math.hypot(*offset)
    growth = relative_slack * (half + radius) + slack
    if isinstance(volume, Capsule):
        radius += moved + turned * half + growth
        if half == 0:
            return {"type": "sphere", "sphere": _ball(radius)}
        kind = "capsule"
    else:
        half, radius = half + moved + turned * radius + growth, radius + moved + turned * half + growth
        kind = "cylinder"
        half, radius = (_thickened(np.array([2 * half, 2 * radius])) / 2).tolist()
    height, wide = 2 * float(float32_at_least(half)), float(float32_at_least(radius))
    return {"type": kind, kind: {"height": height, "radiusBottom": wide, "radiusTop": wide}}


def fit_hull(parent: Floats, vertices: Floats, relative_error: float = 0.0) -> Collider:
    """Fit a convex hull that encloses other points, as the child of a node without scale.

    No point is above any face for readers in double precision, whether they normalize quaternions or not.

    parent : (4, 4) float. World matrix of the parent node, a rotation and a translation.
    vertices : (n, 3) float64. World-space points whose hull has a volume, such as the vertices of a hull.
    relative_error : Relative difference that readers can have in the linear part of `parent`.
    Returns collider : Collider. With a hull; a box along the axes of the parent if there is no such hull in
        single precision.
    Raises GltfError: when its numbers overflow in single precision.
    """
    linear = parent[:3, :3]
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    from_parent = low / 2 + high / 2 - parent[:3, 3]
    translation = nearest_float32(np.linalg.solve(linear, from_parent))
    require_finite_numbers(translation)
    origin = linear @ translation + parent[:3, 3]
    local = np.linalg.solve(linear, (vertices - origin).T).T
    # A reader can use quaternions without normalizing, which scales the node as far as its parent's origin.
    deviation = relative_error + float(np.abs(linear.T @ linear - np.eye(3)).max())
    distance = float(np.linalg.norm(from_parent)) + float(np.linalg.norm(high - low))
    slack = deviation * distance + _ROUNDING * (float(np.abs(vertices).max()) + distance)
    try:
        hull = hull_from_points(local, _MOST_VERTICES, margin=slack)
    except InvalidShapeError:
        half = np.abs(local).max(axis=0)
        return fit_collider(parent, PARENT_FRAME, Obb(origin, half, linear), relative_error)
    require_finite_numbers(hull.vertices)
    return Collider(translation, PARENT_FRAME.rotation, PARENT_FRAME.scale, {}, hull)


def capsule_hull(height: float, radius: float) -> ConvexHull:
    """Make a hull around a capsule along the Y axis, with 202 vertices: up to 2.5 % larger.

    height : Between the centers of the ends.
    radius : Of the ends.
    Raises GltfError: when its numbers overflow in single precision.
    """
    surface = capsule_surface(Capsule(np.zeros(3), np.array([0.0, 1.0, 0.0]), height / 2, radius))
    require_finite_numbers(surface.vertices)
    triangles = [(face[0], *face[k : k + 2]) for face in surface.faces for k in range(1, len(face) - 1)]
    return ConvexHull(surface.vertices, np.array(triangles))


def unit_length_error(rotation: Floats) -> float:
    """Return the largest relative difference of rotations by a quaternion (4,) and by its normalized form."""
    return 2 * abs(float((rotation**2).sum()) - 1)


def minimum_thickness(largest: float) -> float:
    """Return the thickness of a flat shape: 1 mm, or a thousandth of its largest side if that is less.

    largest : Largest side, in world units.
    """
    return min(_MINIMUM_THICKNESS, largest / 1000) if largest > 0 else _MINIMUM_THICKNESS


def _thickened(sides: Floats) -> Floats:
    return np.maximum(sides, minimum_thickness(float(sides.max())))


def _ball(radius: float) -> dict[str, float]:
    sides = _thickened(np.array([2 * radius]))
    return {"radius": float(float32_at_least(sides / 2)[0])}


def require_finite_numbers(numbers: Floats) -> None:
    """Raise GltfError for numbers that are infinite in single precision."""
    if not np.isfinite(numbers).all():
        raise GltfError(message("is too large, or too far from the origin, for glTF"))
