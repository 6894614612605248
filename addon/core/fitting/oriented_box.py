"""Oriented boxes around points: with given axes, or with axes searched for the least volume.

The search starts from boxes flush with a face or two edges of the convex hull, and improves them by rotating
calipers about each axis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..numeric.arrays import (
    CHUNK_ROWS,
    Floats,
    Ints,
    as_floats,
    as_point_sets,
    as_points,
    cross,
    dot,
    length,
    normalized,
    perpendicular,
)
from ..numeric.tolerances import CHAIN_ROUNDING
from ..shapes import Obb
from ..shapes.boxes import local_points, world_points
from .quickhull import edges_of_surface, extreme_points, face_planes, quickhull

_FEW_POINTS = 400
"""Up to this many points, the hull of all of them is used."""
_FEW_EDGES = 100
"""Up to this many edges of the hull, each pair of edges is tried for a face of the box."""
_STARTS = 8
"""Best boxes of the search that are improved further."""
_MAX_TURNS = 30
_CHUNK_VALUES = 500_000
"""Values in one temporary array."""


def obb_from_points(points: ArrayLike, rotation: ArrayLike | None = None) -> Obb:
    """Fit an oriented box to points.

    Every point is inside, exactly as `Obb.contains` computes it, for any axes. Without `rotation`, the
    volume is approximately the least: boxes with a face along a face of the convex hull, or along two of
    its edges, are compared, and the best are rotated about their own axes until that gains nothing. No box
    of that kind is smaller; others may be slightly. Of more than 400 points, about 400 extreme ones
    determine the axes. Never larger than the axis-aligned box, to rounding.

    Parameters
    ----------
    points : (n, 3) array_like
        With `rotation` also (..., n, 3), for a batch of boxes.
    rotation : (3, 3) or (..., 3, 3) array_like, optional
        Axes of the box as columns, for instance those of an object. The box is the smallest with these
        axes, to rounding.

    Returns
    -------
    box : Obb, batch (...)

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
        With the index of the first bad element.
    """
    if rotation is None:
        p = as_points(points)
        return _tight_box(p, _best_axes(p))
    p = as_floats(as_point_sets(points), "points")
    return _tight_box(p, Obb([0, 0, 0], [0, 0, 0], rotation).rotation)


def _tight_box(points: Floats, rotation: Floats) -> Obb:
    """Fit the smallest box with axes (..., 3, 3) to points (..., n, 3)."""
    low, high = points.min(axis=-2), points.max(axis=-2)
    middle = low * 0.5 + high * 0.5
    frame = Obb.unchecked(middle, np.zeros_like(middle), rotation)
    lowest, highest = _local_min_max(points, frame)
    center = world_points(frame, lowest * 0.5 + highest * 0.5)
    batch = np.broadcast_shapes(center.shape[:-1], rotation.shape[:-2])
    center, rotation = np.broadcast_to(center, (*batch, 3)), np.broadcast_to(rotation, (*batch, 3, 3))
    # Measure again from the rounded center, because `Obb.contains` compares with that.
    lowest, highest = _local_min_max(points, Obb.unchecked(center, np.zeros_like(center), rotation))
    return Obb.unchecked(center, np.maximum(-lowest, highest), rotation)


def _local_min_max(points: Floats, frames: Obb) -> tuple[Floats, Floats]:
    """Least and greatest coordinates (..., 3) of points (..., n, 3) in the axes of boxes (...)."""
    boxes = Obb.unchecked(
        frames.center[..., None, :], frames.half_extents[..., None, :], frames.rotation[..., None, :, :]
    )
    lows, highs = [], []
    for start in range(0, points.shape[-2], CHUNK_ROWS):
        local = local_points(boxes, points[..., start : start + CHUNK_ROWS, :])
        lows.append(local.min(axis=-2))
        highs.append(local.max(axis=-2))
    return np.minimum.reduce(lows), np.maximum.reduce(highs)


def _best_axes(points: Floats) -> Floats:
    """Search the axes (3, 3) of the smallest box around points (n, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high * 0.5 - low * 0.5).max())
    if extent == 0.0:
        return np.eye(3)
    scaled = (points - (low * 0.5 + high * 0.5)) / extent
    if len(scaled) > _FEW_POINTS:
        scaled = extreme_points(scaled)
    faces = quickhull(scaled)
    if faces is None:
        return _flat_axes(scaled)
    corners = scaled[np.unique(faces)]
    starts = [np.eye(3), *_flush_axes(scaled, faces)]
    candidates = [_improved_axes(corners, axes) for axes in starts]
    sizes = [_box_volume(corners, axes) for axes in candidates]
    return candidates[int(np.argmin(sizes))]


def _flush_axes(points: Floats, faces: Ints) -> list[Floats]:
    """Return the best axes (3, 3) of boxes flush with a face of the hull, or two edges of a small hull."""
    edges, sides = edges_of_surface(faces, len(points))
    directions = points[edges[:, 1]] - points[edges[:, 0]]
    outward = normals = face_planes(points, faces)[0]
    if len(directions) <= _FEW_EDGES:
        i, j = np.triu_indices(len(directions), 1)
        crossings = cross(normalized(directions[i]), normalized(directions[j]))
        normals = np.concatenate([normals, normalized(crossings[length(crossings) > 1e-6])])
    corners = points[np.unique(faces)]
    heights = np.ptp(np.einsum("vi,ni->nv", corners, normals), axis=1)
    candidates: list[tuple[float, Floats]] = []
    step = max(1, _CHUNK_VALUES // max(1, len(directions)))
    for start in range(0, len(normals), step):
        row, normal, side = _silhouette_sides(outward, sides, directions, normals[start : start + step])
        other = cross(normal, side)
        volume = _rectangle_areas(corners, side, other) * heights[start + row]
        for k in np.argsort(volume, kind="stable")[:_STARTS]:
            candidates.append((float(volume[k]), np.column_stack([side[k], other[k], normal[k]])))
    candidates.sort(key=lambda candidate: candidate[0])
    return [axes for _, axes in candidates[:_STARTS]]


def _silhouette_sides(
    outward: Floats, sides: Ints, directions: Floats, normals: Floats
) -> tuple[Ints, Floats, Floats]:
    """Find the sides of silhouettes along normals (n, 3): rows (k,), normals (k, 3), and unit vectors (k, 3).

    Seen along a normal, the silhouette consists of the edges between front and back faces. The smallest
    rectangle around it has a side along one of them.

    outward : (f, 3) float64. Normals of the faces of the hull.
    sides, directions : (e, 2) int64 and (e, 3) float64. Faces on both sides of its edges, and their vectors.
    """
    facing = np.einsum("fi,ni->nf", outward, normals)
    row, edge = np.nonzero(facing[:, sides[:, 0]] * facing[:, sides[:, 1]] <= CHAIN_ROUNDING)
    normal = normals[row]
    side = directions[edge] - normal * dot(directions[edge], normal)[:, None]
    has_length = length(side) > 1e-9
    return row[has_length], normal[has_length], normalized(side[has_length])


def _rectangle_areas(corners: Floats, side: Floats, other: Floats) -> Floats:
    """Compute areas (k,) of rectangles with two sides (k, 3) around points (v, 3)."""
    areas = np.empty(len(side))
    rows = max(1, _CHUNK_VALUES // len(corners))
    for first in range(0, len(side), rows):
        chunk = slice(first, first + rows)
        spans = [np.ptp(np.einsum("vi,ni->nv", corners, axis[chunk]), axis=1) for axis in (side, other)]
        areas[chunk] = spans[0] * spans[1]
    return areas


def _improved_axes(corners: Floats, axes: Floats) -> Floats:
    """Rotate axes (3, 3) about each of them to the smallest rectangle, as long as the box gets smaller."""
    volume = _box_volume(corners, axes)
    for _ in range(_MAX_TURNS):
        before = volume
        for k in range(3):
            first, second = axes[:, (k + 1) % 3], axes[:, (k + 2) % 3]
            flat = np.column_stack([(corners * first).sum(axis=1), (corners * second).sum(axis=1)])
            along = _rectangle_side(flat)
            turned = np.empty((3, 3))
            turned[:, k] = axes[:, k]
            turned[:, (k + 1) % 3] = normalized(first * along[0] + second * along[1])
            turned[:, (k + 2) % 3] = cross(turned[:, k], turned[:, (k + 1) % 3])
            size = _box_volume(corners, turned)
            if size < volume * (1 - CHAIN_ROUNDING):
                axes, volume = turned, size
        if volume >= before * (1 - CHAIN_ROUNDING):
            break
    return axes


def _rectangle_side(points: Floats) -> Floats:
    """Return the direction (2,) of a side of the smallest rectangle around points (n, 2)."""
    outline = hull_of_flat(points)
    sides = np.roll(outline, -1, axis=0) - outline
    lengths = np.sqrt((sides * sides).sum(axis=1))
    if not (lengths > 0).any():
        return np.array([1.0, 0.0])
    sides = sides[lengths > 0] / lengths[lengths > 0, None]
    along = np.einsum("vi,ni->nv", outline, sides)
    across = np.einsum("vi,ni->nv", outline, np.column_stack([-sides[:, 1], sides[:, 0]]))
    best: Floats = sides[(np.ptp(along, axis=1) * np.ptp(across, axis=1)).argmin()]
    return best


def hull_of_flat(points: Floats) -> Floats:
    """Return the convex hull (m, 2) of points (n, 2), counter-clockwise, to rounding (Andrew 1979)."""
    ordered = sorted(set(map(tuple, points.tolist())))
    if len(ordered) < 3:
        return np.array(ordered)

    def half(along: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
        chain: list[tuple[float, ...]] = []
        for x, y in along:
            while len(chain) > 1:
                (x0, y0), (x1, y1) = chain[-2:]
                if (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))


def _flat_axes(points: Floats) -> Floats:
    """Axes (3, 3) for points in one plane, on one line, or all equal."""
    offset = points - points[int(points[:, 0].argmin())]
    along = normalized(offset[int(length(offset).argmax())])
    from_line = cross(offset, np.broadcast_to(along, offset.shape))
    farthest = from_line[int(length(from_line).argmax())]
    if length(farthest) <= 1e-10:
        second = perpendicular(along)
        return np.column_stack([along, second, cross(along, second)])
    normal = normalized(farthest)
    second = cross(normal, along)
    side = _rectangle_side(np.column_stack([dot(offset, along[None]), dot(offset, second[None])]))
    x = normalized(along * side[0] + second * side[1])
    return np.column_stack([x, cross(normal, x), normal])


def _box_volume(corners: Floats, axes: Floats) -> float:
    """Volume of the box with these axes around corners (v, 3)."""
    return float(np.ptp(np.einsum("vi,ij->vj", corners, axes), axis=0).prod())
