"""Polygon meshes with float32 vertices around boxes, balls, capsules and cylinders, which they enclose."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..numeric.arguments import as_number, require_type
from ..numeric.arrays import Bools, Floats, as_floats, cross, perpendicular
from ..numeric.floating_point import float32_at_least, float32_at_most, nearest_float32
from ..numeric.geodesic import geodesic_directions
from ..numeric.tolerances import SINGLE_EPS
from ..shapes import Capsule, Cylinder

Faces: TypeAlias = tuple[tuple[int, ...], ...]

_BOX: Faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
_RINGS = 10
"""Bands of faces from pole to pole of the ends of a capsule, an even number; twice as many around."""
_SIDES = 32
"""Sides of the prism around a cylinder."""
_ULPS = 8
"""Roundings of the largest coordinate by which round surfaces grow: rounding moves a face by fewer."""


class Surface(NamedTuple):
    """A closed convex surface.

    Attributes
    ----------
    vertices : (v, 3) float64
        Of values that float32 has.
    faces : tuple of tuple of int
        Indices of polygons, counter-clockwise from outside.
    """

    vertices: Floats
    faces: Faces


def box_surface(low: ArrayLike, high: ArrayLike) -> Surface:
    """Make a mesh of a box: eight vertices and six faces.

    Conservative: rounded outward to float32.

    Parameters
    ----------
    low, high : (3,) array_like
        The least and the greatest corner.

    Returns
    -------
    surface : Surface

    Raises
    ------
    NonFiniteGeometryError, InvalidShapeError
    """
    least, most = as_floats(low, "low", (3,)), as_floats(high, "high", (3,))
    if least.ndim != 1 or most.ndim != 1:
        raise InvalidShapeError(f"low and high: (3,) is needed, not {least.shape} and {most.shape}")
    if (least > most).any():
        raise InvalidShapeError("low: is not below high")
    ends = np.stack([float32_at_most(least), float32_at_least(most)])
    corners = np.array([(x, y, z) for x in ends[:, 0] for y in ends[:, 1] for z in ends[:, 2]])
    return Surface(_rounded(corners), _BOX)


def ball_surface(center: ArrayLike, radius: float) -> Surface:
    """Make a mesh around a ball: a geodesic sphere with 162 vertices.

    Conservative: faces are outside of the ball. Vertices are 1.8 % farther from the center than `radius`;
    six of them are along the axes.

    Parameters
    ----------
    center : (3,) array_like
        In the space and unit of the surface.
    radius : float, > 0
        In the same unit.

    Returns
    -------
    surface : Surface

    Raises
    ------
    NonFiniteGeometryError, InvalidShapeError
    """
    sphere = geodesic_directions(4)
    middle = as_floats(center, "center", (3,))
    if middle.ndim != 1:
        raise InvalidShapeError(f"center: the shape must be (3,), not {middle.shape}")
    outer = _padded_radius(radius, middle) / sphere.covering_cosine
    return Surface(_rounded(middle + outer * sphere.vectors), tuple(map(tuple, sphere.triangles.tolist())))


def capsule_surface(capsule: Capsule) -> Surface:
    """Make a mesh around a capsule: 202 vertices (202, 3), or 182 around one without length, a ball.

    Conservative: faces are outside of the capsule. Vertices are 2.5 % farther from the segment than the
    radius. Where the capsule is along an axis of coordinates, the poles and four vertices on the rim of each
    end are along the axes.

    Parameters
    ----------
    capsule : Capsule, batch ()
        In the space and unit of the surface.

    Returns
    -------
    surface : Surface

    Raises
    ------
    NonFiniteGeometryError, InvalidShapeError
    """
    axis = _single_axis(capsule, Capsule)
    ends = np.stack([capsule.start, capsule.end])
    directions, is_upper, faces = _globe(not capsule.half_length)
    # The center of a face is half a step from its vertices, along a meridian and around.
    outer = _padded_radius(float(capsule.radius), ends) / np.cos(np.pi / _RINGS / 2) ** 2
    directions = _aligned(directions, axis)
    ends = ends if axis @ capsule.axis > 0 else ends[::-1]
    return Surface(_rounded(np.where(is_upper[:, None], ends[1], ends[0]) + outer * directions), faces)


def cylinder_surface(cylinder: Cylinder) -> Surface:
    """Make a mesh around a cylinder: a prism with 32 sides, 66 vertices (66, 3).

    Conservative: faces are outside of the cylinder. Vertices are 0.5 % farther from the axis than the radius.

    Parameters
    ----------
    cylinder : Cylinder, batch ()
        In the space and unit of the surface; with a length and a radius.

    Returns
    -------
    surface : Surface

    Raises
    ------
    NonFiniteGeometryError, InvalidShapeError
    """
    axis = _single_axis(cylinder, Cylinder)
    half = as_number(float(cylinder.half_length), "cylinder half length", 0.0, is_open=True)
    turn = 2 * np.pi / _SIDES * np.arange(_SIDES)
    circle = np.stack([np.cos(turn), np.sin(turn), np.zeros(_SIDES)], axis=-1)
    circle[np.abs(circle) < 1e-15] = 0.0
    ends = np.stack([cylinder.start, cylinder.end])
    outer = _padded_radius(float(cylinder.radius), ends) / np.cos(np.pi / _SIDES)
    rim = outer * _aligned(circle, axis)
    far = axis * (half + _padded_radius(outer, ends) - outer)
    low, high = cylinder.center - far, cylinder.center + far
    vertices = np.concatenate([low + rim, high + rim, [low, high]])
    column = np.arange(_SIDES)
    after = (column + 1) % _SIDES
    sides = np.stack([column, after, after + _SIDES, column + _SIDES], axis=-1)
    # Triangles around a center: three neighbors on the rim are nearly in line, so that rounding tilts them.
    middle = np.full(_SIDES, 2 * _SIDES)
    caps = np.concatenate(
        [np.stack([middle, after, column]), np.stack([middle + 1, column + _SIDES, after + _SIDES])], axis=1
    )
    return Surface(_rounded(vertices), (*map(tuple, caps.T.tolist()), *map(tuple, sides.tolist())))


def _single_axis(shape: Capsule | Cylinder, kind: type[Capsule | Cylinder]) -> Floats:
    """Axis (3,) of a single shape, in that of both directions whose largest coordinate is positive."""
    require_type(shape, kind, kind.name)
    if shape.shape:
        raise InvalidShapeError(f"{kind.name}: a single one is needed, not a batch {shape.shape}")
    axis = shape.axis
    return axis if axis[np.abs(axis).argmax()] > 0 else -axis


def _aligned(vectors: Floats, axis: Floats) -> Floats:
    """Vectors (n, 3) rotated, so that +Z becomes an axis (3,); exact for the axes of coordinates."""
    index = int(axis.argmax())
    if axis[index] == 1:
        return np.roll(vectors, index + 1, axis=1)
    side = perpendicular(axis)
    turned: Floats = np.einsum("ij,nj->ni", np.stack([side, cross(axis, side), axis], axis=-1), vectors)
    return turned


@cache
def _globe(is_ball: bool) -> tuple[Floats, Bools, Faces]:
    """Return unit vectors (v, 3) from the north pole (+Z) to the south, a mask (v,) of the upper half, and
    the faces.

    The equator is there twice, once for each end of a capsule, unless `is_ball`.
    """
    around = 2 * _RINGS
    polar = np.pi / _RINGS * np.array([*range(1, _RINGS // 2 + 1), *range(_RINGS // 2 + is_ball, _RINGS)])
    turn = np.pi / _RINGS * np.arange(around)
    x, y = np.sin(polar)[:, None] * np.cos(turn), np.sin(polar)[:, None] * np.sin(turn)
    rings = np.stack([x, y, np.broadcast_to(np.cos(polar)[:, None], x.shape)], axis=-1).reshape(-1, 3)
    vectors = np.concatenate([[(0.0, 0.0, 1.0)], rings, [(0.0, 0.0, -1.0)]])
    vectors[np.abs(vectors) < 1e-15] = 0.0
    last = len(vectors) - 1
    faces: list[tuple[int, ...]] = []
    for column in range(around):
        following = (column + 1) % around
        faces.append((0, 1 + column, 1 + following))
        for ring in range(len(polar) - 1):
            top, below = 1 + ring * around, 1 + (ring + 1) * around
            faces.append((top + column, below + column, below + following, top + following))
        lowest = last - around
        faces.append((lowest + following, lowest + column, last))
    is_upper = np.arange(len(vectors)) < 1 + _RINGS // 2 * around
    return vectors, is_upper, tuple(faces)


def _padded_radius(radius: float, around: Floats) -> float:
    """Add what rounding to float32 may move faces around centers (..., 3)."""
    radius = as_number(radius, "radius", 0.0, is_open=True)
    if radius > float(np.finfo(np.float32).max):
        raise InvalidShapeError(f"radius: {radius:g} is out of the range of single precision")
    reach = float(np.abs(around).max()) + radius
    return radius + _ULPS * SINGLE_EPS * reach


def _rounded(vertices: Floats) -> Floats:
    """Round vertices (v, 3) to float32. Raises InvalidShapeError where one is too large."""
    rounded = nearest_float32(vertices)
    if not np.isfinite(rounded).all():
        raise InvalidShapeError("vertices: center and radius are out of the range of single precision")
    return rounded
