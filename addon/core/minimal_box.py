"""Oriented boxes around points: with given axes, or with those that make the box smallest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .arrays import CHUNK_ROWS, Floats, as_floats, cross, dot, length, perpendicular, unit
from .convex_hull import Hull, convex_hull, representatives
from .errors import EmptyGeometryError, InvalidShapeError
from .shapes import Obb

_FEW_POINTS = 400
"""Up to this many points the hull is that of all of them."""
_FEW_EDGES = 40
"""Up to this many edges of the hull, every pair of them is tried for a face of the box."""
_STARTS = 8
_MAX_TURNS = 30
_NO_GAIN = 1e-12
_CHUNK_VALUES = 500_000


def obb_from_points(points: ArrayLike, rotation: ArrayLike | None = None) -> Obb:
    """An oriented box around points.

    Every point is inside, exactly as `Obb.contains` computes it, whatever the axes are.

    Parameters
    ----------
    points : (n, 3), with a rotation also (..., n, 3) for a batch of boxes
    rotation : (3, 3) or (..., 3, 3), optional
        The axes of the box as columns, for instance an object's own. The box is then the smallest one with
        these axes, to rounding. Without it the axes are searched for.

    The smallest box is looked for among those with a face along a face of the convex hull or along two of its
    edges, and improved by turning it about its own axes until that gains nothing. Approximate: no box of that
    kind is smaller, others may be by a little. Of more than 400 points, about 400 that reach farthest choose
    the axes. Never larger than the axis-aligned box, rounding aside.

    Raises EmptyGeometryError, NonFiniteGeometryError or InvalidShapeError, naming the element.
    """
    p = as_floats(points, "points", (3,))
    if p.ndim < 2:
        raise InvalidShapeError(f"points: the shape must be (..., n, 3), not {p.shape}")
    if p.shape[-2] == 0:
        raise EmptyGeometryError("no points")
    if rotation is not None:
        axes = Obb([0, 0, 0], [0, 0, 0], rotation).rotation
        return _fitted(p, axes)
    if p.ndim != 2:
        raise InvalidShapeError(f"points: without a rotation the shape must be (n, 3), not {p.shape}")
    return _fitted(p, _best_axes(p))


def _fitted(points: Floats, rotation: Floats) -> Obb:
    """The tight box with these axes around (..., n, 3) points."""
    low, high = points.min(axis=-2), points.max(axis=-2)
    middle = low * 0.5 + high * 0.5
    seen = Obb.trusted(middle, np.zeros_like(middle), rotation)
    lowest, highest = _extremes(points, seen)
    center = seen.to_world(lowest * 0.5 + highest * 0.5)
    batch = np.broadcast_shapes(center.shape[:-1], rotation.shape[:-2])
    center, rotation = np.broadcast_to(center, (*batch, 3)), np.broadcast_to(rotation, (*batch, 3, 3))
    # Measured again from the rounded centre: this is what a point is compared with.
    lowest, highest = _extremes(points, Obb.trusted(center, np.zeros_like(center), rotation))
    return Obb.trusted(center, np.maximum(-lowest, highest), rotation)


def _extremes(points: Floats, seen: Obb) -> tuple[Floats, Floats]:
    """(..., 3) the least and the largest coordinates of (..., n, 3) points along the axes of boxes."""
    boxes = Obb.trusted(
        seen.center[..., None, :], seen.half_extents[..., None, :], seen.rotation[..., None, :, :]
    )
    lows, highs = [], []
    for start in range(0, points.shape[-2], CHUNK_ROWS):
        local = boxes.to_local(points[..., start : start + CHUNK_ROWS, :])
        lows.append(local.min(axis=-2))
        highs.append(local.max(axis=-2))
    return np.minimum.reduce(lows), np.maximum.reduce(highs)


def _best_axes(points: Floats) -> Floats:
    """(3, 3) the axes of the smallest box that was found around (n, 3) points."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high * 0.5 - low * 0.5).max())
    if extent == 0.0:
        return np.eye(3)
    few = (points - (low * 0.5 + high * 0.5)) / extent
    if len(few) > _FEW_POINTS:
        few = representatives(few)
    hull = convex_hull(few)
    if hull is None:
        return _flat_axes(few)
    corners = few[hull.vertices]
    best = [np.eye(3), *_flush_axes(few, hull)]
    turned = [_turned_smaller(corners, axes) for axes in best]
    sizes = [_volume(corners, axes) for axes in turned]
    return turned[int(np.argmin(sizes))]


def _flush_axes(points: Floats, hull: Hull) -> list[Floats]:
    """A few of the best sets of axes (3, 3) with a face on the hull, or on two edges of a small hull."""
    directions = points[hull.edges[:, 1]] - points[hull.edges[:, 0]]
    normals = hull.normals
    if len(directions) <= _FEW_EDGES:
        i, j = np.triu_indices(len(directions), 1)
        crossings = cross(unit(directions[i]), unit(directions[j]))
        normals = np.concatenate([normals, unit(crossings[length(crossings) > 1e-6])])
    corners = points[hull.vertices]
    heights = np.einsum("vi,ni->nv", corners, normals)
    height = heights.max(axis=1) - heights.min(axis=1)
    # Seen along a normal, the outline is made of the edges between faces that look forwards and backwards;
    # the smallest rectangle around it has a side along one of them.
    found: list[tuple[float, Floats]] = []
    step = max(1, _CHUNK_VALUES // max(1, len(directions)))
    for start in range(0, len(normals), step):
        part = normals[start : start + step]
        facing = np.einsum("fi,ni->nf", hull.normals, part)
        outline = facing[:, hull.sides[:, 0]] * facing[:, hull.sides[:, 1]] <= 1e-12
        which, edge = np.nonzero(outline)
        n = part[which]
        side = directions[edge] - n * dot(directions[edge], n)[:, None]
        keep = length(side) > 1e-9
        which, n, side = which[keep], n[keep], unit(side[keep])
        other = cross(n, side)
        volume = np.empty(len(n))
        rows = max(1, _CHUNK_VALUES // len(corners))
        for first in range(0, len(n), rows):
            chunk = slice(first, first + rows)
            spans = [np.ptp(np.einsum("vi,ni->nv", corners, axis[chunk]), axis=1) for axis in (side, other)]
            volume[chunk] = spans[0] * spans[1] * height[start + which[chunk]]
        for index in np.argsort(volume, kind="stable")[:_STARTS]:
            found.append((float(volume[index]), np.column_stack([side[index], other[index], n[index]])))
    found.sort(key=lambda entry: entry[0])
    return [axes for _, axes in found[:_STARTS]]


def _turned_smaller(corners: Floats, axes: Floats) -> Floats:
    """Axes turned about each of themselves to the smallest rectangle, as long as the box gets smaller."""
    volume = _volume(corners, axes)
    for _ in range(_MAX_TURNS):
        before = volume
        for k in range(3):
            first, second = axes[:, (k + 1) % 3], axes[:, (k + 2) % 3]
            flat = np.column_stack([(corners * first).sum(axis=1), (corners * second).sum(axis=1)])
            along = _rectangle_side(flat)
            turned = np.empty((3, 3))
            turned[:, k] = axes[:, k]
            turned[:, (k + 1) % 3] = unit(first * along[0] + second * along[1])
            turned[:, (k + 2) % 3] = cross(turned[:, k], turned[:, (k + 1) % 3])
            size = _volume(corners, turned)
            if size < volume * (1 - _NO_GAIN):
                axes, volume = turned, size
        if volume >= before * (1 - _NO_GAIN):
            break
    return axes


def _rectangle_side(points: Floats) -> Floats:
    """(2,) the direction of a side of the smallest rectangle around (n, 2) points."""
    outline = _outline(points)
    sides = np.roll(outline, -1, axis=0) - outline
    lengths = np.sqrt((sides * sides).sum(axis=1))
    if not (lengths > 0).any():
        return np.array([1.0, 0.0])
    sides = sides[lengths > 0] / lengths[lengths > 0, None]
    along = np.einsum("vi,ni->nv", outline, sides)
    across = np.einsum("vi,ni->nv", outline, np.column_stack([-sides[:, 1], sides[:, 0]]))
    best: Floats = sides[(np.ptp(along, axis=1) * np.ptp(across, axis=1)).argmin()]
    return best


def _outline(points: Floats) -> Floats:
    """The convex outline of (n, 2) points, counter-clockwise (Andrew's monotone chain)."""
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
    """Axes for points in one plane, on one line, or at one place."""
    first = points[int(points[:, 0].argmin())]
    offset = points - first
    along = unit(offset[int(length(offset).argmax())])
    from_line = cross(offset, np.broadcast_to(along, offset.shape))
    farthest = from_line[int(length(from_line).argmax())]
    if length(farthest) <= 1e-10:
        second = perpendicular(along)
        return np.column_stack([along, second, cross(along, second)])
    normal = unit(farthest)
    second = cross(normal, along)
    side = _rectangle_side(np.column_stack([dot(offset, along[None]), dot(offset, second[None])]))
    x = unit(along * side[0] + second * side[1])
    return np.column_stack([x, cross(normal, x), normal])


def _volume(corners: Floats, axes: Floats) -> float:
    return float(np.ptp(np.einsum("vi,ij->vj", corners, axes), axis=0).prod())
