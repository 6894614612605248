"""Shapes of a document, moved as their objects are, and their distances. No code of the product is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Solids:
    """The shapes (k,) of one object in world space: what is within radii of boxes, segments or points.

    Attributes
    ----------
    center : (k, 3) float64
    axes : (k, 3, 3) float64
        Of boxes, as columns; the first is the axis of a segment.
    half : (k, 3) float64
        Half sizes along the axes; zeros for points.
    radius : (k,) float64
    """

    center: Array
    axes: Array
    half: Array
    radius: Array


def rotation_of(quaternion: list[float]) -> Array:
    """Matrix (3, 3) of a quaternion (x, y, z, w)."""
    *vector, w = quaternion
    x, y, z = vector
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def parts_of(shapes: dict, kind: str) -> list[dict]:
    """Convex shapes that the shape of one kind consists of: leaves of a tree, parts of a compound."""
    if kind == "spheres":
        return [{"sphere": node} for node in shapes[kind] if not node["children"]]
    return shapes[kind] if kind == "compound" else [{kind: shapes[kind]}]


def solid(shape: dict) -> tuple[Array, Array, Array, float]:
    """Center, axes, half sizes and radius of a sphere, box or capsule of a document."""
    ((kind, values),) = shape.items()
    center, axes = np.array(values["center"]), np.eye(3)
    if kind == "obb":
        return center, rotation_of(values["rotation"]), np.array(values["halfExtents"]), 0.0
    if kind == "capsule":
        axes = np.tile(np.array(values["axis"])[:, None], 3)
        return center, axes, np.array([values["halfLength"], 0, 0]), values["radius"]
    return center, axes, np.zeros(3), values["radius"]


def placed_solids(entry: dict, kind: str) -> Solids:
    """Local shapes of an object, placed by its transform as the documentation of the format says."""
    turn = rotation_of(entry["transform"]["rotation"])
    center, axes, half, radius = map(
        np.array, zip(*(solid(part) for part in parts_of(entry["local"], kind)), strict=True)
    )
    return Solids(center @ turn.T + entry["transform"]["translation"], turn @ axes, half, radius)


def moved(solids: Solids, motions: Array) -> Solids:
    """Shapes (t, k) under similarities (t, 4, 4)."""
    linear = motions[:, :3, :3]
    scale = np.cbrt(np.linalg.det(linear))
    center = np.einsum("tij,kj->tki", linear, solids.center) + motions[:, None, :3, 3]
    axes = np.einsum("tij,kjl->tkil", linear / scale[:, None, None], solids.axes)
    return Solids(center, axes, scale[:, None, None] * solids.half, scale[:, None] * solids.radius)


def least_gaps(kind: str, a: Solids, b: Solids) -> Array:
    """Least distances (t,) of the shapes of two objects: 0 where they touch, negative where they overlap.

    Exact up to its sign: the distance of two boxes is that along the axis which separates them most.
    """
    between = _box_gaps if kind in ("obb", "compound") else _segment_gaps
    return between(_paired(a, np.s_[:, :, None]), _paired(b, np.s_[:, None])).min(axis=(1, 2))


def _paired(solids: Solids, index: tuple) -> Solids:
    return Solids(*(values[index] for values in (solids.center, solids.axes, solids.half, solids.radius)))


def _box_gaps(a: Solids, b: Solids) -> Array:
    """Largest distances of pairs of boxes along one of fifteen axes."""
    offset = b.center - a.center
    shape = offset.shape[:-1]
    one, other = (np.broadcast_to(each.axes.swapaxes(-1, -2), (*shape, 3, 3)) for each in (a, b))
    edges = np.cross(one[..., :, None, :], other[..., None, :, :]).reshape(*shape, 9, 3)
    size = np.linalg.norm(edges, axis=-1, keepdims=True)
    # Nearly parallel edges give no axis of their own.
    edges = np.where(size > 1e-6, edges / np.maximum(size, 1e-6), one[..., :1, :])
    axes = np.concatenate([one, other, edges], axis=-2)
    reach = sum((np.abs(axes @ each.axes) * each.half[..., None, :]).sum(axis=-1) for each in (a, b))
    return (np.abs(np.einsum("...ij,...j->...i", axes, offset)) - reach).max(axis=-1)


def _segment_gaps(a: Solids, b: Solids) -> Array:
    """Distances of pairs of segments, less the radii: at an end of one, or of their lines in between."""
    along_a, along_b = a.axes[..., 0] * a.half[..., :1], b.axes[..., 0] * b.half[..., :1]
    distances = [
        _distance_to_segment(center + sign * end - to, along)
        for center, end, to, along in (
            (a.center, along_a, b.center, along_b),
            (b.center, along_b, a.center, along_a),
        )
        for sign in (-1, 1)
    ]
    # Both lines are closest where the difference is perpendicular to each.
    offset = b.center - a.center
    aa, bb, ab = _dot(along_a, along_a), _dot(along_b, along_b), _dot(along_a, along_b)
    oa, ob = _dot(offset, along_a), _dot(offset, along_b)
    determinant = aa * bb - ab * ab
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = (oa * bb - ob * ab) / determinant, (oa * ab - ob * aa) / determinant
        apart = offset + t[..., None] * along_b - s[..., None] * along_a
        is_inside = (np.abs(s) <= 1) & (np.abs(t) <= 1)
    distances.append(np.where(is_inside, np.linalg.norm(apart, axis=-1), np.inf))
    return np.min(distances, axis=0) - a.radius - b.radius


def _distance_to_segment(points: Array, along: Array) -> Array:
    """Distances of points from segments from -along to along."""
    squared = _dot(along, along)
    share = np.clip(_dot(points, along) / np.maximum(squared, 1e-300), -1, 1)
    return np.linalg.norm(points - share[..., None] * along, axis=-1)


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("...i,...i->...", a, b)


def world_box_gaps(a: Array, b: Array, padding: float) -> Array:
    """Distances (t,) of the boxes along the world's axes around points (t, n, 3), each grown by a padding."""
    apart = np.maximum(a.min(axis=1) - b.max(axis=1), b.min(axis=1) - a.max(axis=1))
    return apart.max(axis=1) - 2 * padding
