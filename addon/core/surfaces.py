"""Boxes, balls and capsules as polygons with single-precision corners that hold all of them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, Ints, as_floats
from .capsule import Capsule
from .directions import geodesic
from .errors import InvalidShapeError
from .single_precision import single, single_down, single_up

Faces: TypeAlias = tuple[tuple[int, ...], ...]

_BOX: Faces = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
_RINGS = 10
"""From pole to pole of a capsule's ends; twice as many corners around. The equator is one of them."""
_ULPS = 8
"""Roundings of the largest coordinate that a round surface is larger by: rounding moves a face by few."""


class Surface(NamedTuple):
    """A closed convex surface.

    vertices : (v, 3), single-precision numbers
    faces : indices of polygons, counter-clockwise from outside
    """

    vertices: Floats
    faces: Faces


def box_surface(low: ArrayLike, high: ArrayLike) -> Surface:
    """The box between corners `low` and `high`, (3,) each, rounded outward: eight corners and six faces.

    Conservative. Raises NonFiniteGeometryError or InvalidShapeError.
    """
    least, most = as_floats(low, "low", (3,)), as_floats(high, "high", (3,))
    if (least > most).any():
        raise InvalidShapeError("low: is not below high")
    ends = np.stack([single_down(least), single_up(most)])
    corners = np.array([(x, y, z) for x in ends[:, 0] for y in ends[:, 1] for z in ends[:, 2]])
    return Surface(_checked(corners), _BOX)


def ball_surface(center: ArrayLike, radius: float) -> Surface:
    """A geodesic sphere with 162 corners whose faces lie outside of a ball.

    Its corners are 1.8 % farther from the center (3,) than `radius`, six of them along the axes.
    Conservative. Raises NonFiniteGeometryError or InvalidShapeError.
    """
    sphere = geodesic(4)
    middle = as_floats(center, "center", (3,))
    outer = _grown(radius, middle) / sphere.nearness
    faces = tuple(map(tuple, _turned_outward(sphere.vectors, sphere.triangles).tolist()))
    return Surface(_checked(middle + outer * sphere.vectors), faces)


def capsule_surface(capsule: Capsule) -> Surface:
    """A capsule with 202 corners, (202, 3), whose faces lie outside of it; of a ball, without length, 182.

    Corners are 2.5 % farther from the segment than the radius; poles and four corners of the ends' rims lie
    along the axes. Conservative. Raises NonFiniteGeometryError or InvalidShapeError.
    """
    ends = as_floats([capsule.start, capsule.end], "capsule", (3,))
    is_ball = bool((ends[0] == ends[1]).all())
    unit, upper, faces = _globe(is_ball)
    # Half a step off on a meridian, and half a step around from the next.
    outer = _grown(capsule.radius, ends) / np.cos(np.pi / _RINGS / 2) ** 2
    turned = np.roll(unit, capsule.axis + 1, axis=1)
    return Surface(_checked(np.where(upper[:, None], ends[1], ends[0]) + outer * turned), faces)


@cache
def _globe(is_ball: bool) -> tuple[Floats, Bools, Faces]:
    """Unit vectors from the north pole to the south, Z up, which of them are the upper half, and the faces.

    The equator is there twice unless it is a ball's.
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
    for here in range(around):
        there = (here + 1) % around
        faces.append((0, 1 + here, 1 + there))
        for ring in range(len(polar) - 1):
            top, below = 1 + ring * around, 1 + (ring + 1) * around
            faces.append((top + here, below + here, below + there, top + there))
        lowest = last - around
        faces.append((lowest + there, lowest + here, last))
    upper = np.arange(len(vectors)) < 1 + _RINGS // 2 * around
    return vectors, upper, tuple(faces)


def _grown(radius: float, around: Floats) -> float:
    if not radius > 0:
        raise InvalidShapeError(f"radius: must be more than 0, not {radius:g}")
    reach = float(np.abs(around).max()) + radius
    return radius + _ULPS * float(np.finfo(np.float32).eps) * reach


def _turned_outward(vectors: Floats, triangles: Ints) -> Ints:
    a, b, c = (vectors[column] for column in triangles.T)
    inward = (np.cross(b - a, c - a) * a).sum(axis=1) < 0
    return np.where(inward[:, None], triangles[:, ::-1], triangles)


def _checked(corners: Floats) -> Floats:
    found = single(corners)
    if not np.isfinite(found).all():
        raise InvalidShapeError("corners: are out of single precision's reach")
    return found
