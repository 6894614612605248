"""Outward rounding in decimals and in float64: a rounded shape always encloses the exact one.

For formats in single precision, `core.numeric.floating_point` rounds lengths outward to float32.

A number that already has few enough decimals stays as it is, so rounding twice changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..core import CollisionBoundsError, ConvexHull, InvalidShapeError, Obb
from ..core.fitting.convex_hull import HullSteps, hull_steps, rounded_hull_steps, run_together
from ..core.fitting.hull_surface import are_far, box_hull, hull_around_far, hull_defect
from ..core.numeric.arrays import Floats, cross, length, require_finite, transform_vectors
from ..core.numeric.floating_point import two_difference


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
