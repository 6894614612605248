"""The smallest capsules and cylinders around points, along any axis or a given one.

To find the axis, many are compared first: the smallest circle around the points, seen along each of a few
hundred directions, gives a line. The best lines are then improved together, by trying steps of random
direction and shrinking length. Deterministic: the random numbers are always the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arrays import (
    CHUNK_ROWS,
    Floats,
    Table,
    as_floats,
    as_points,
    cross,
    length,
    normalized,
    perpendicular,
)
from ..numeric.geodesic import geodesic_directions
from ..shapes import Capsule, Cylinder
from ..shapes.axial import axial_coordinates
from .minimal_sphere_batch import minimal_spheres
from .quickhull import extreme_points

_Shape = TypeVar("_Shape", bound=Capsule | Cylinder)
_FEW_POINTS = 64
"""Up to this many points, all of them are used."""
_MANY_POINTS = 2000
"""More points are first reduced to some hundred, at a cost that is proportional to their number."""
_EXTREMES_FREQUENCY = 6
"""Of the geodesic sphere in whose 362 directions the farthest points are used."""
_FREQUENCY = 4
"""Of the geodesic sphere whose directions are compared first: 81 axes."""
_STARTS = 8
_SAME_DIRECTION = 0.98
"""Cosine of the angle below which two directions lead to the same line."""
_STEPS = 12
"""Random steps tried at once for each line, and as many in the opposite directions."""
_ROUNDS = 60
_NEAR_MIDDLE = 1.05
"""Radius of points around a line, relative to half of their width, up to which no other line is tried."""
_FAR_OUTSIDE = 4.0
"""The same ratio from which that line is not tried at all."""
_REPEATED = 3
"""Searches with more points, at most."""
_LARGER_BY_OTHERS = 1.01
"""Volume around all points, relative to that around some, up to which the search used enough of them."""
_HALVED_AFTER = (6, 14)
"""Rounds after which the worse half of the lines is dropped."""
_FIRST_STEP, _LAST_STEP = 0.12, 1e-4
"""Lengths of the steps, in radians, and in units of half the extent of the points."""


class Lines(Table):
    """Lines (k,) with a growth of the radius beyond the least that reaches all points.

    direction : (k, 3) float64. Unit vectors.
    point : (k, 3) float64. A point on each line.
    growth : (k,) float64, >= 0. Relative to the least radius: a wider capsule may be shorter and smaller.
    """

    direction: Floats
    point: Floats
    growth: Floats


class Volume(NamedTuple, Generic[_Shape]):
    """A kind of shapes around lines, and their volumes.

    of : Volumes (k,) from the coordinates of points along the lines (k, n), their squared distances from the
        lines (k, n), and the growths (k,).
    ends : Ends (k,) of the shortest axes of shapes that reach the points, from the same coordinates and
        squared radii (k,).
    growths : Those to compare first.
    is_centered : Whether the best line of a direction is in the middle of the smallest circle around the
        points.
    """

    kind: type[_Shape]
    of: Callable[[Floats, Floats, Floats], Floats]
    ends: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
    growths: tuple[float, ...]
    is_centered: bool


def capsule_from_points(points: ArrayLike, axis: ArrayLike | None = None) -> Capsule:
    """Fit a capsule to points.

    Every point is inside, exactly as `Capsule.contains` computes it. The volume is approximately the least;
    docs/math.md has the factor. With `axis`, it is the least among capsules along it, also approximately.

    Parameters
    ----------
    points : (n, 3) array_like
        In the caller's unit.
    axis : (3,) array_like, optional
        Direction of the capsule, of any length but 0.

    Returns
    -------
    capsule : Capsule, batch ()

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    return _fit(points, axis, _CAPSULES)


def capsule_along(points: ArrayLike, axis: ArrayLike, line_point: ArrayLike) -> Capsule:
    """Fit a capsule along an axis to points that have moved since a line for them was found.

    Every point is inside, exactly as `Capsule.contains` computes it. No line is searched: it is the smallest
    of capsules of a few radii along that line. Where this line is not in the middle of the points, that
    through the middle of the smallest circle around them is tried, too.

    line_point : (3,) array_like. A point of the line, in the space of the points. The other arguments, and
        errors, are as those of `capsule_from_points`.
    """
    return _fit(points, axis, _CAPSULES, as_floats(line_point, "line_point", (3,)))


def cylinder_from_points(points: ArrayLike, axis: ArrayLike | None = None) -> Cylinder:
    """Fit a cylinder to points.

    Every point is inside, exactly as `Cylinder.contains` computes it. The volume is approximately the least;
    docs/math.md has the factor. With `axis`, it is about the least among cylinders along it. Points in one
    plane have a cylinder without length or without radius.

    Parameters
    ----------
    points : (n, 3) array_like
        In the caller's unit.
    axis : (3,) array_like, optional
        Direction of the cylinder, of any length but 0.

    Returns
    -------
    cylinder : Cylinder, batch ()

    Raises
    ------
    EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    return _fit(points, axis, _CYLINDERS)


def _fit(
    points: ArrayLike, axis: ArrayLike | None, volume: Volume[_Shape], line_point: Floats | None = None
) -> _Shape:
    """Fit a shape to points of any size; see `capsule_along` for `line_point`."""
    direction = None
    if axis is not None:
        direction = as_floats(axis, "axis", (3,))
        if direction.shape != (3,) or not direction.any():
            raise InvalidShapeError("axis: must be a direction, three numbers that are not all zero")
        direction = normalized(direction)
    unit = as_points(points)
    # A power of two scales without rounding, but for numbers that become less than 1e-308. Coordinates up to
    # 1 have squares in range.
    exponent = int(np.frexp(np.abs(unit).max())[1])
    unit = np.ldexp(unit, -exponent)
    low, high = unit.min(axis=0), unit.max(axis=0)
    middle = low * 0.5 + high * 0.5
    scale = float((high * 0.5 - low * 0.5).max())
    if scale == 0.0:
        shape: Capsule | Cylinder = volume.kind(
            middle, direction if direction is not None else [0.0, 0.0, 1.0], 0.0, 0.0
        )
    else:
        local = (unit - middle) / scale
        if line_point is None:
            line = best_line(local, volume, direction)
        else:
            assert direction is not None, "of the line"
            line = better_line(local, volume, direction, (np.ldexp(line_point, -exponent) - middle) / scale)
        guess = volume.kind(line.point[0], line.direction[0], 0.0, 0.0)
        along, across = axial_coordinates(guess, local)
        radius = across.max() * (1 + line.growth)
        low, high = volume.ends(along[None], (across * across)[None], radius * radius)
        center = middle + (guess.center + guess.axis * (low[0] + high[0]) / 2) * scale
        half = np.maximum(high[0] - low[0], 0) / 2 * scale
        shape = volume.kind(center, guess.axis, half, 0.0)._around(unit)
    with np.errstate(over="ignore"):  # the constructor finds infinity
        scaled = (shape.center, shape.half_length, shape.radius)
        center, *sizes = (np.ldexp(values, exponent) for values in scaled)
    return volume.kind(center, shape.axis, *sizes)


def _capsule_volumes(along: Floats, across_squared: Floats, growth: Floats) -> Floats:
    """Volumes (k,) of capsules, which are as short as their radius allows; see `Volume`."""
    squared = across_squared.max(axis=1) * (1 + growth) ** 2
    low, high = _ends(along, across_squared, squared)
    volumes: Floats = np.pi * squared * (np.maximum(high - low, 0) + 4 / 3 * np.sqrt(squared))
    return volumes


def _ends(along: Floats, across_squared: Floats, squared_radius: Floats) -> tuple[Floats, Floats]:
    """Return the ends (k,) of the shortest segments whose capsules reach points (k, n).

    They are crossed where a ball reaches them.
    """
    # A point is inside the half ball of an end that is at most this far from it along the axis.
    reach = np.sqrt(np.maximum(squared_radius[:, None] - across_squared, 0))
    return (along + reach).min(axis=1), (along - reach).max(axis=1)


_CAPSULES = Volume(Capsule, _capsule_volumes, _ends, growths=(0.0, 0.02, 0.06, 0.15), is_centered=False)


def _cylinder_volumes(along: Floats, across_squared: Floats, growth: Floats) -> Floats:
    """Volumes (k,) of cylinders; flat ones are compared by their extent, too."""
    radius, extent = np.sqrt(across_squared.max(axis=1)), np.ptp(along, axis=1)
    # Without the last term, all cylinders of points in one plane that have no length would be equal.
    volumes: Floats = np.pi * radius * radius * extent + 1e-9 * (radius + extent)
    return volumes


def _extremes(along: Floats, across_squared: Floats, squared_radius: Floats) -> tuple[Floats, Floats]:
    """Return the ends (k,) of cylinders around points (k, n)."""
    return along.min(axis=1), along.max(axis=1)


_CYLINDERS = Volume(Cylinder, _cylinder_volumes, _extremes, growths=(0.0,), is_centered=True)


def best_line(points: Floats, volume: Volume[Any], direction: Floats | None = None) -> Lines:
    """Find the line (1,) with about the least volume of the shape around points (n, 3).

    Approximate: docs/math.md has the factor. The points are of a size and a distance from the origin around
    1. With a unit vector `direction`, only lines in this direction are compared.
    """
    selected = _extreme_points(points)
    line = _searched_line(selected, volume, direction)
    for _ in range(_REPEATED):
        # The volume around all points is at least that around some, so a line is about the best of all points
        # if it is the best of some and no other point needs a much larger shape.
        if _volumes(points, line, volume)[0] <= _LARGER_BY_OTHERS * _volumes(selected, line, volume)[0]:
            break
        selected = np.concatenate([selected, _outermost_points(points, line)])
        line = _searched_line(selected, volume, direction)
    return line


def _searched_line(points: Floats, volume: Volume[Any], direction: Floats | None) -> Lines:
    """Search the best line (1,) for all of points (n, 3); see `best_line`."""
    if direction is None:
        axes = _principal_axes(points)
        directions = geodesic_directions(_FREQUENCY).vectors
        # One of each pair of opposite directions.
        half = directions[directions @ np.array([1.0, 1e-3, 1e-6]) > 0]
        directions = np.concatenate([half, np.eye(3), axes.T])
    else:
        directions = direction[None]
    lines = _with_growths(directions, _circle_centers(points, directions), volume)
    sizes = _volumes(points, lines, volume)
    # The best lines, none of which is in nearly the direction of a better one.
    rows: list[int] = []
    for row in np.argsort(sizes, kind="stable").tolist():
        if len(rows) == _STARTS:
            break
        if not rows or np.abs(lines.direction[rows] @ lines.direction[row]).max() < _SAME_DIRECTION:
            rows.append(row)
    if volume.is_centered and direction is not None:
        return lines.take(rows)
    return _improved(points, lines.take(rows), sizes[rows], volume, direction is not None)


def better_line(points: Floats, volume: Volume[Any], direction: Floats, point: Floats) -> Lines:
    """Choose between a line and another in its direction, without a search.

    The line goes through `point`, and the other one through the middle of the smallest circle around the
    points, seen along the direction. Arguments and result are as those of `best_line`; the result has the
    better one of the growths to compare.
    """
    points, centers = _extreme_points(points), point[None]
    ratio = _radius_to_half_width(points, direction, point)
    if ratio > _NEAR_MIDDLE:
        middle = _circle_centers(points, direction[None])
        # A line far away is surely worse, and rounding would hide that.
        centers = np.concatenate([centers, middle]) if ratio < _FAR_OUTSIDE else middle
    lines = _with_growths(np.broadcast_to(direction, centers.shape), centers, volume)
    best = int(_volumes(points, lines, volume).argmin())
    return lines.take(slice(best, best + 1))


def _radius_to_half_width(points: Floats, direction: Floats, point: Floats) -> float:
    """Ratio of the radius of points (n, 3) around a line to half of their width, seen along the line.

    The smallest circle around them is at least as wide as the points are in any direction. So with a ratio of
    1, the line is in its middle.
    """
    side = perpendicular(direction)
    across = np.stack([side, cross(direction, side)])
    flat = np.einsum("ki,ni->kn", across, points - point)
    widths = np.ptp(np.concatenate([flat, [flat[0] + flat[1], flat[0] - flat[1]] / np.sqrt(2)]), axis=1)
    radius = np.sqrt((flat * flat).sum(axis=0).max())
    return float(radius / max(widths.max() / 2, 1e-300))


def _with_growths(directions: Floats, centers: Floats, volume: Volume[Any]) -> Lines:
    """Lines (g k,) of directions and points (k, 3), with each of the growths to compare."""
    compared = [Lines(directions, centers, np.full(len(centers), growth)) for growth in volume.growths]
    return Lines.concatenate(compared)


def _improved(points: Floats, lines: Lines, sizes: Floats, volume: Volume[Any], is_fixed: bool) -> Lines:
    """Improve lines (k,) of `sizes` (k,) and return the best (1,); with `is_fixed`, in their directions."""
    random = np.random.default_rng(0)
    step = np.full(len(sizes), _FIRST_STEP)
    for count in range(_ROUNDS):
        # Centered lines have two coordinates to search, others five.
        tries = random.normal(size=(_STEPS // 2 if volume.is_centered else _STEPS, 5))
        if is_fixed:
            tries[:, :2] = 0
        if volume.is_centered:
            tries[:, 2:] = 0
        tries /= length(tries[:, :3])[:, None] + np.abs(tries[:, 3:]).sum(axis=1)[:, None]
        # (k, tries, 5)
        offsets = np.concatenate([tries, -tries]) * step[:, None, None]
        side = perpendicular(lines.direction)[:, None]
        other = cross(lines.direction[:, None], side)
        turned = normalized(lines.direction[:, None] + offsets[..., :1] * side + offsets[..., 1:2] * other)
        turned = turned.reshape(-1, 3)
        moved = lines.point[:, None] + offsets[..., 2:3] * side + offsets[..., 3:4] * other
        grown = np.maximum(lines.growth[:, None] + offsets[..., 4], 0)
        centers = _circle_centers(points, turned) if volume.is_centered else moved.reshape(-1, 3)
        tried = Lines(turned, centers, grown.ravel())
        tried_sizes = _volumes(points, tried, volume).reshape(len(sizes), -1)
        best = tried_sizes.argmin(axis=1) + np.arange(len(sizes)) * tried_sizes.shape[1]
        is_better = tried_sizes.ravel()[best] < sizes
        chosen = np.where(is_better, best + len(sizes), np.arange(len(sizes)))
        lines = Lines.concatenate([lines, tried]).take(chosen)
        sizes = np.concatenate([sizes, tried_sizes.ravel()])[chosen]
        step = np.where(is_better, step * 1.3, step * 0.6)
        if count in _HALVED_AFTER:
            kept = np.argsort(sizes, kind="stable")[: max(1, len(sizes) // 2)]
            lines, sizes, step = lines.take(kept), sizes[kept], step[kept]
        if (step < _LAST_STEP).all():
            break
    best_row = int(sizes.argmin())
    return lines.take(slice(best_row, best_row + 1))


def _volumes(points: Floats, lines: Lines, volume: Volume[Any]) -> Floats:
    """Volumes (k,) of the shapes around lines."""
    direction, point, growth = lines
    along = np.einsum("ki,ni->kn", direction, points) - (direction * point).sum(axis=1)[:, None]
    squared = (points * points).sum(axis=1) - 2 * np.einsum("ki,ni->kn", point, points)
    squared += (point * point).sum(axis=1)[:, None]
    return volume.of(along, np.maximum(squared - along * along, 0), growth)


def _circle_centers(points: Floats, directions: Floats) -> Floats:
    """Centers (k, 3) of the smallest circles around points (n, 3), seen along directions (k, 3)."""
    side = perpendicular(directions)
    other = cross(directions, side)
    flat = np.zeros((len(directions), len(points), 3))
    flat[..., 0] = np.einsum("ki,ni->kn", side, points)
    flat[..., 1] = np.einsum("ki,ni->kn", other, points)
    bounds = np.arange(len(directions) + 1, dtype=np.int64) * len(points)
    centers, _ = minimal_spheres(flat.reshape(-1, 3), bounds)
    result: Floats = centers[:, :1] * side + centers[:, 1:2] * other
    return result


def _outermost_points(points: Floats, line: Lines) -> Floats:
    """Points (m, 3) that are farthest of points (n, 3) in directions spread evenly around a cylinder.

    The directions are spread evenly after scaling the cylinder along the line (1,) to one as long as wide.
    """
    axis = line.direction[0]
    side = perpendicular(axis)
    frame = np.stack([side, cross(axis, side), axis], axis=1)
    local = np.einsum("ni,ij->nj", points - line.point[0], frame)
    radius = np.sqrt((local[:, :2] ** 2).sum(axis=1).max())
    extents = np.array([radius, radius, np.ptp(local[:, 2]) / 2])
    return _farthest_points(points, frame, extents)


def _extreme_points(points: Floats) -> Floats:
    """Points (m, 3) that are farthest of points (n, 3) in one of several hundred directions.

    The directions are spread evenly after scaling the points to equal extents along their main axes. With
    equal variances, many vertices in a small place, such as the hub of a wheel, would make the variance
    small, and all points of the rim would lie in the same few directions.
    """
    if len(points) <= _FEW_POINTS:
        return points
    if len(points) > _MANY_POINTS:
        points = extreme_points(points)
    axes = _principal_axes(points)
    half = np.ptp(np.einsum("ni,ij->nj", points, axes), axis=0) / 2
    return _farthest_points(points, axes, half)


def _farthest_points(points: Floats, axes: Floats, half_extents: Floats) -> Floats:
    """Points (m, 3) that are farthest of points (n, 3) in one of 362 directions.

    The directions are spread evenly after scaling the points by their half extents (3,) along axes, the
    columns of a matrix (3, 3).
    """
    # Flat directions stay flat, because scaling them up would make noise of them.
    scaled_axes = axes / np.maximum(half_extents, 1e-6 * max(float(half_extents.max()), 1e-300))
    directions = np.einsum("ij,kj->ki", scaled_axes, geodesic_directions(_EXTREMES_FREQUENCY).vectors)
    farthest = np.zeros(len(directions), dtype=np.int64)
    heights = np.full(len(directions), -np.inf)
    for start in range(0, len(points), CHUNK_ROWS):
        along = np.einsum("ki,ni->kn", directions, points[start : start + CHUNK_ROWS])
        rows = along.argmax(axis=1)
        higher = along[np.arange(len(rows)), rows] > heights
        heights[higher] = along[higher, rows[higher]]
        farthest[higher] = start + rows[higher]
    selected: Floats = points[np.unique(farthest)]
    return selected


def _principal_axes(points: Floats) -> Floats:
    """Axes of least to greatest variance of points (n, 3), as columns (3, 3)."""
    offset = points - points.mean(axis=0)
    axes: Floats = np.linalg.eigh(np.einsum("ni,nj->ij", offset, offset) / len(points))[1]
    return axes
