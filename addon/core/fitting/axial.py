"""The smallest capsules and cylinders around points, along any axis or a given one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..errors import EmptyGeometryError, InvalidShapeError
from ..numeric.arrays import Floats, as_floats, normalized
from ..shapes import Capsule, Cylinder
from ..shapes.axial import axial_coordinates, distance_from_segment
from .axis_search import Volume, best_line, better_line

_Shape = TypeVar("_Shape", Capsule, Cylinder)


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
    return _fit(points, axis, _fitted_capsule)


def capsule_along(points: ArrayLike, axis: ArrayLike, line_point: ArrayLike) -> Capsule:
    """Fit a capsule along an axis to points that have moved since a line for them was found.

    Every point is inside, exactly as `Capsule.contains` computes it. No line is searched: it is the smallest
    of capsules of a few radii along that line. Where this line is not in the middle of the points, that
    through the middle of the smallest circle around them is tried, too.

    points : (n, 3) array_like. In the caller's unit.
    axis : (3,) array_like. Direction of the capsule, of any length but 0.
    line_point : (3,) array_like. A point of the line, in the space of the points.
    Returns capsule : Capsule, batch ()
    Raises EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    return _fit(points, axis, partial(_fitted_capsule, line_point=as_floats(line_point, "line_point", (3,))))


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
    return _fit(points, axis, _fitted_cylinder)


def capsule_around(center: Floats, axis: Floats, half_length: float, points: Floats) -> Capsule:
    """Make the capsule with a given segment that encloses points.

    Every point is inside, exactly as `Capsule.contains` computes it.

    center, axis : (3,) float64. Middle of the segment, and a unit vector along it.
    half_length : Half of the length of the segment.
    points : (n, 3) float64. In the same space.
    Returns capsule : Capsule, batch ()
    """
    segment = Capsule(center, axis, half_length, 0.0)
    return Capsule(center, segment.axis, half_length, float(distance_from_segment(segment, points).max()))


def cylinder_around(center: Floats, axis: Floats, points: Floats) -> Cylinder:
    """Make the smallest cylinder with a given center and axis that encloses points.

    Every point is inside, exactly as `Cylinder.contains` computes it.

    center, axis : (3,) float64. The center, and a unit vector.
    points : (n, 3) float64. In the same space.
    Returns cylinder : Cylinder, batch ()
    """
    line = Cylinder(center, axis, 0.0, 0.0)
    along, across = axial_coordinates(line, points)
    return Cylinder(center, line.axis, float(np.abs(along).max()), float(across.max()))


def _fit(
    points: ArrayLike, axis: ArrayLike | None, fit: Callable[[Floats, Floats | None, int], _Shape]
) -> _Shape:
    """Fit a shape to points of any size, by a function for points up to 1 and the exponent of their scale."""
    direction = _as_direction(axis)
    unit, exponent = _scaled_to_unit(points)
    shape = fit(unit, direction, exponent)
    with np.errstate(over="ignore"):  # the constructor finds infinity
        center, half, radius = (
            np.ldexp(values, exponent) for values in (shape.center, shape.half_length, shape.radius)
        )
    return type(shape)(center, shape.axis, half, radius)


def _fitted_capsule(
    points: Floats, direction: Floats | None, exponent: int, line_point: Floats | None = None
) -> Capsule:
    """Fit a capsule to points (n, 3) with coordinates up to 1; see `capsule_along` for `line_point`."""
    local, middle, scale = _centered(points)
    if scale == 0.0:
        return Capsule(middle, direction if direction is not None else [0.0, 0.0, 1.0], 0.0, 0.0)
    if line_point is None:
        line = best_line(local, _CAPSULES, direction)
    else:
        assert direction is not None, "of the line"
        place = (np.ldexp(line_point, -exponent) - middle) / scale
        line = better_line(local, _CAPSULES, direction, place)
    guess = Capsule(line.point[0], line.direction[0], 0.0, 0.0)
    along, across = axial_coordinates(guess, local)
    radius = float(across.max()) * (1 + float(line.growth[0]))
    low, high = _ends(along[None], (across * across)[None], np.array([radius * radius]))
    if low[0] > high[0]:
        low = high = low / 2 + high / 2
    center = middle + (guess.center + guess.axis * (low[0] + high[0]) / 2) * scale
    return capsule_around(center, guess.axis, float(high[0] - low[0]) / 2 * scale, points)


def _capsule_volumes(along: Floats, across_squared: Floats, growth: Floats) -> Floats:
    """Volumes (k,) of capsules, which are as short as their radius allows; see `Volume`."""
    squared = across_squared.max(axis=1) * (1 + growth) ** 2
    low, high = _ends(along, across_squared, squared)
    volumes: Floats = np.pi * squared * (np.maximum(high - low, 0) + 4 / 3 * np.sqrt(squared))
    return volumes


_CAPSULES = Volume(_capsule_volumes, growths=(0.0, 0.02, 0.06, 0.15), is_centered=False)


def _ends(along: Floats, across_squared: Floats, squared_radius: Floats) -> tuple[Floats, Floats]:
    """Return the ends (k,) of the shortest segments whose capsules reach points (k, n).

    They are crossed where a ball reaches them.
    """
    # A point is inside the half ball of an end that is at most this far from it along the axis.
    reach = np.sqrt(np.maximum(squared_radius[:, None] - across_squared, 0))
    return (along + reach).min(axis=1), (along - reach).max(axis=1)


def _fitted_cylinder(points: Floats, direction: Floats | None, _exponent: int) -> Cylinder:
    """Fit a cylinder to points (n, 3) with coordinates up to 1."""
    local, middle, scale = _centered(points)
    if scale == 0.0:
        return Cylinder(middle, direction if direction is not None else [0.0, 0.0, 1.0], 0.0, 0.0)
    line = best_line(local, _CYLINDERS, direction)
    guess = Cylinder(line.point[0], line.direction[0], 0.0, 0.0)
    along, _ = axial_coordinates(guess, local)
    center = middle + (guess.center + guess.axis * (along.min() / 2 + along.max() / 2)) * scale
    return cylinder_around(center, guess.axis, points)


def _cylinder_volumes(along: Floats, across_squared: Floats, growth: Floats) -> Floats:
    """Volumes (k,) of cylinders; flat ones are compared by their extent, too."""
    radius, extent = np.sqrt(across_squared.max(axis=1)), np.ptp(along, axis=1)
    # Without the last term, all cylinders of points in one plane that have no length would be equal.
    volumes: Floats = np.pi * radius * radius * extent + 1e-9 * (radius + extent)
    return volumes


_CYLINDERS = Volume(_cylinder_volumes, growths=(0.0,), is_centered=True)


def _scaled_to_unit(points: ArrayLike) -> tuple[Floats, int]:
    """Scale points by a power of two to coordinates up to 1, so that squares stay in range.

    Exact, because powers of two scale without rounding, but for numbers that become less than 1e-308.

    points : (n, 3) array_like. In the caller's unit.
    Returns unit : (n, 3) float64
    Returns exponent : int. The points are `unit` times two to the power of this.
    Raises EmptyGeometryError, NonFiniteGeometryError, InvalidShapeError
    """
    p = as_floats(points, "points", (3,))
    if p.ndim != 2:
        raise InvalidShapeError(f"points: the shape must be (n, 3), not {p.shape}")
    if not len(p):
        raise EmptyGeometryError("no points")
    exponent = int(np.frexp(np.abs(p).max())[1])
    return np.ldexp(p, -exponent), exponent


def _centered(points: Floats) -> tuple[Floats, Floats, float]:
    """Move points to the origin and scale them to an extent of 2. Exact up to float64 rounding.

    points : (n, 3) float64. From `_scaled_to_unit`.
    Returns centered : (n, 3) float64
    Returns middle : (3,) float64. Center of the box around the points.
    Returns scale : float. Half of their largest extent; 0 for points that are all equal.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    middle = low * 0.5 + high * 0.5
    scale = float((high * 0.5 - low * 0.5).max())
    return (points - middle) / (scale or 1.0), middle, scale


def _as_direction(axis: ArrayLike | None) -> Floats | None:
    """Convert a direction of any length but 0 to a unit vector. Exact up to float64 rounding.

    axis : (3,) array_like or None. Of any length but 0.
    Returns direction : (3,) float64 or None. None for None.
    Raises InvalidShapeError, NonFiniteGeometryError
    """
    if axis is None:
        return None
    direction = as_floats(axis, "axis", (3,))
    if direction.shape != (3,) or not direction.any():
        raise InvalidShapeError("axis: must be a direction, three numbers that are not all zero")
    return normalized(direction)
