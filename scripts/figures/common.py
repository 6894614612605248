# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes and labels that several figures share."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from addon.core import Aabb, Obb, Sphere, minimum_translation

from .svg_drawing import BLUE, ORANGE, RED, View

Floats = NDArray[np.float64]

DEEP = 9.0
"""Half the depth of boxes along z, so large that every result stays in the plane z = 0."""


def flat(points: ArrayLike) -> Floats:
    """Return points (n, 2) as points (n, 3) with z = 0."""
    p = np.asarray(points, dtype=np.float64)
    return np.concatenate([p, np.zeros((*p.shape[:-1], 1))], axis=-1)


def rotation(degrees: float) -> Floats:
    """Return the rotation (3, 3) about z by an angle."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def ball(x: float, y: float, radius: float) -> Sphere:
    """Make a sphere with its center in the plane z = 0."""
    return Sphere([x, y, 0], radius)


def upright(x: float, y: float, half_x: float, half_y: float) -> Aabb:
    """Make an axis-aligned box from its center and half extents."""
    return Aabb([x - half_x, y - half_y, -DEEP], [x + half_x, y + half_y, DEEP])


def slanted(x: float, y: float, half_x: float, half_y: float, degrees: float) -> Obb:
    """Make an oriented box from its center, half extents and angle about z."""
    return Obb([x, y, 0], [half_x, half_y, DEEP], rotation(degrees))


def scattered(count: int, start: int = 1) -> Floats:
    """Spread points (count, 2) evenly over the unit square by the R2 sequence."""
    g = 1.32471795724474602596
    steps = np.arange(start, start + count)[:, None]
    points: Floats = steps * np.array([1 / g, 1 / g**2]) % 1
    return points


def draw_pair(view: View, a: Any, b: Any) -> None:
    """Draw two shapes with their centers, labeled a and b."""
    for shape, color, name in ((a, BLUE, "a"), (b, ORANGE, "b")):
        (view.ball if isinstance(shape, Sphere) else view.box)(shape, color)
        view.dots(shape.center, color)
        view.label(shape.center, name, color, -14, -6)


def draw_translated(view: View, a: Any, b: Any) -> None:
    """Draw the first shape after its minimum translation, and the translation as an arrow."""
    move = minimum_translation(a, b)
    if isinstance(a, Sphere):
        view.ball(Sphere(a.center + move, a.radius), BLUE, dash="4 3", fill="none", width=1)
    else:
        view.box(Obb(a.center + move, a.half_extents, a.rotation), BLUE, dash="4 3", fill="none", width=1)
    view.arrow(a.center, a.center + move, RED, 2.5)


def signed(value: Any) -> str:
    """Return a number with two decimals and a typographic minus sign."""
    return f"{float(value):.2f}".replace("-", "−")
