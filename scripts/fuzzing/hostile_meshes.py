"""Meshes with coordinates that break computations: not finite, tiny, huge, flat, equal, far away."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

Point = list[float]

_SIZES = (1.0, 1.0, 1e-3, 1e3, 1e-7, 1e7, 1e-20, 1e-38, 1e-310, 1e12, 1e15, 1e16, 1e30, 1e38, 1e150, 1e300)
_OFFSETS = (0.0, 0.0, 0.0, 1.0, 1e3, 1e6, 1e9, 1e14, 1e20)
_ODD = (
    math.nan,
    math.inf,
    -math.inf,
    5e-324,
    1.5e-45,
    1e-38,
    3.4e38,
    -3.4e38,
    1.7976931348623157e308,
    -0.0,
    1e15,
)


def make_mesh_bytes(random: random.Random) -> bytes:
    """Return the JSON of a mesh: its points, its triangles, a matrix of 4 x 4, and the fit to try."""
    points = _points(random)
    count = len(points)
    triangles = (
        [[random.randrange(count) for _ in range(3)] for _ in range(random.randrange(12))] if count else []
    )
    return json.dumps({"points": points, "triangles": triangles, "matrix": _matrix(random)}).encode()


def _points(random: random.Random) -> list[Point]:
    count = random.choice((0, 1, 1, 2, 3, 4, 5, 8, 12, 20, 40))
    size, place = random.choice(_SIZES), [random.choice(_OFFSETS) * random.uniform(-1, 1) for _ in range(3)]
    make = random.choice(_FORMS)(random)
    points = [
        [value * size + offset for value, offset in zip(make(), place, strict=True)] for _ in range(count)
    ]
    if count and random.random() < 0.3:
        points += [list(random.choice(points)) for _ in range(random.randrange(1, 6))]
    if count and random.random() < 0.2:
        for _ in range(random.randrange(1, 3)):
            random.choice(points)[random.randrange(3)] = random.choice(_ODD)
    return points


def _ball(random: random.Random) -> Callable[[], Point]:
    def on_ball() -> Point:
        values = [random.gauss(0, 1) for _ in range(3)]
        return [value / (math.hypot(*values) or 1) for value in values]

    return on_ball


def _line(random: random.Random) -> Callable[[], Point]:
    direction = [random.uniform(-1, 1) for _ in range(3)]

    def on_line() -> Point:
        along = random.uniform(-1, 1)
        return [along * value for value in direction]

    return on_line


def _plane(random: random.Random) -> Callable[[], Point]:
    one, other = ([random.uniform(-1, 1) for _ in range(3)] for _ in range(2))
    thickness = random.choice((0.0, 0.0, 1e-16, 1e-9, 1e-6))

    def on_plane() -> Point:
        a, b = random.uniform(-1, 1), random.uniform(-1, 1)
        return [a * x + b * y + thickness * random.uniform(-1, 1) for x, y in zip(one, other, strict=True)]

    return on_plane


_FORMS: tuple[Callable[[random.Random], Callable[[], Point]], ...] = (
    _ball,
    _line,
    _plane,
    lambda random: lambda: [random.uniform(-1, 1) for _ in range(3)],
    lambda random: lambda: [float(random.randrange(-1, 2)) for _ in range(3)],
    lambda random: lambda: [random.choice((-1.0, 1.0)) * 10.0 ** random.uniform(-12, 0) for _ in range(3)],
)


def _matrix(random: random.Random) -> list[list[float]]:
    """Return a matrix that rotates, scales unevenly, shears, mirrors or flattens, near or far away."""
    scale = random.choice((1.0, 1.0, 1.0, 1e-3, 1e3, 1e-12, 1e12, 1e-38, 1e30, 0.0, -1.0))
    rows: list[list[Any]] = [[random.uniform(-1, 1) * scale for _ in range(3)] for _ in range(3)]
    kind = random.randrange(5)
    if kind < 2:
        rows = [[scale * (row == column) for column in range(3)] for row in range(3)]
    if kind in (1, 2):
        rows[random.randrange(3)] = [0.0, 0.0, 0.0]
    rows = [[*row, random.choice(_OFFSETS) * random.uniform(-1, 1)] for row in rows]
    if random.random() < 0.05:
        rows[random.randrange(3)][random.randrange(4)] = random.choice(_ODD[:8])
    return [*rows, [0.0, 0.0, 0.0, 1.0]]
