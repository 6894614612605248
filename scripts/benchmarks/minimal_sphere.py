"""The minimal enclosing sphere of points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import sphere_from_points

from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target

_CHUNK = 16_384

Points = NDArray[Any]


def blob(count: int, rng: np.random.Generator) -> Points:
    """Return points on a bumpy ball, similar to a sculpted mesh."""
    directions = on_sphere(count, rng)
    bumps = np.sin(directions * 5).sum(axis=1) * 0.1 + rng.normal(size=count) * 0.02
    points: Points = directions * (1 + bumps[:, None])
    return points


def torus(count: int, rng: np.random.Generator) -> Points:
    """Return points on a ring, many of them at about the same distance from the center."""
    around, across = rng.uniform(0, 2 * np.pi, (2, count))
    radius = 1 + 0.3 * np.cos(across)
    return np.column_stack([radius * np.cos(around), radius * np.sin(around), 0.3 * np.sin(across)])


def gaussian(count: int, rng: np.random.Generator) -> Points:
    """Return a point cloud with few points far from the center."""
    points: Points = rng.normal(size=(count, 3))
    return points


def on_sphere(count: int, rng: np.random.Generator) -> Points:
    """Return points at about the same distance from the center, which is the worst case."""
    directions = rng.normal(size=(count, 3))
    unit: Points = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return unit


def farthest_point_pass(points: Points) -> Call:
    """Find the point farthest from the origin. Every method does this at least once."""
    center = np.zeros((3, 1), dtype=points.dtype)
    rows = min(_CHUNK, len(points))
    offset, squared = np.empty((3, rows), dtype=points.dtype), np.empty(rows, dtype=points.dtype)

    def farthest() -> int:
        best, best_squared = 0, -1.0
        for start in range(0, len(points), _CHUNK):
            chunk = points[start : start + _CHUNK]
            o, s = offset[:, : len(chunk)], squared[: len(chunk)]
            np.subtract(chunk.T, center, out=o)
            np.multiply(o, o, out=o)
            np.add(o[0], o[1], out=s)
            np.add(s, o[2], out=s)
            index = int(s.argmax())
            if s[index] > best_squared:
                best, best_squared = start + index, float(s[index])
        return best

    return farthest


def corners(count: int, rng: np.random.Generator) -> Points:
    """Return the corners of a box, as in `Object.bound_box`."""
    assert count == 8
    points: Points = np.array(list(product((-1.0, 1.0), repeat=3))) * rng.uniform(0.5, 2, 3)
    return points


SETS = 40
"""Number of small point sets per row. The number of pivots differs from set to set, so many are timed."""


def _each(prepare: Callable[[Points], Call]) -> Callable[[list[Points]], Call]:
    """Combine the calls for several point sets into one call that returns all results."""

    def prepared(sets: list[Points]) -> Call:
        calls = [prepare(points) for points in sets]
        return calls[0] if len(calls) == 1 else lambda: [call() for call in calls]

    return prepared


@_each
def _this_project(points: Points) -> Call:
    return lambda: float(sphere_from_points(points).radius)


@_each
def _cyminiball(points: Points) -> Call:
    import cyminiball

    return lambda: float(np.sqrt(cyminiball.compute(points)[1]))


@_each
def _trimesh(points: Points) -> Call:
    from trimesh.nsphere import minimum_nsphere

    return lambda: float(minimum_nsphere(points)[1])


def _compare(sets: list[Points], radii: Mapping[str, Any]) -> str:
    """Report the relative excess of each radius over this project's radius.

    Differences within the precision of the points are not reported.
    """
    slack = 50 * float(np.finfo(sets[0].dtype).eps)
    excess = {
        name: float(np.max(np.array(radius) / np.array(radii[THIS_PROJECT]) - 1))
        for name, radius in radii.items()
        if name not in (THIS_PROJECT, "one pass")
    }
    return "; ".join(f"{name} radius {value:+.1e}" for name, value in excess.items() if abs(value) > slack)


def _make_sets(
    kind: Callable[[int, np.random.Generator], Points], count: int, dtype: type, sets: int = 1
) -> list[Points]:
    rng = np.random.default_rng(count)
    return [kind(count, rng).astype(dtype) for _ in range(sets)]


def _rows() -> list[Row]:
    rows = []
    for kind, name, count, limit in (
        (corners, "corners of a box", 8, 40e-6),
        (gaussian, "cloud", 8, 40e-6),
        (gaussian, "cloud", 100, None),
        (gaussian, "cloud", 500, 60e-6),
        (blob, "blob", 500, 60e-6),
    ):
        targets = [Target(limit)] if limit else []
        make = partial(_make_sets, kind, count, np.float64, SETS)
        rows.append(Row(f"{count}, {name}, float64", make, count, SETS, targets))
    for kind, name in ((blob, "blob"), (torus, "torus"), (gaussian, "cloud"), (on_sphere, "on a sphere")):
        for dtype in (np.float32, np.float64):
            for power in (4, 5, 6):
                count = 10**power
                targets = []
                if power == 6:
                    on_float32_sphere = kind is on_sphere and dtype is np.float32
                    targets.append(Target(4 if on_float32_sphere else 1.6, "one pass"))
                if power >= 5 and kind is not on_sphere:
                    targets.append(Target(3, "cyminiball", faster=True))
                label, series = f"10^{power}, {name}, {dtype.__name__}", f"{name} {dtype.__name__}"
                rows.append(Row(label, partial(_make_sets, kind, count, dtype), count, 1, targets, series))
    count = 4_000_000
    rows.append(
        Row(
            "4 x 10^6, blob, float32",
            partial(_make_sets, blob, count, np.float32),
            count,
            series="blob float32",
        )
    )
    return rows


MINIMAL_SPHERE = Table(
    "minimal-sphere",
    "points",
    (
        Competitor(THIS_PROJECT, _this_project),
        Competitor("one pass", _each(farthest_point_pass)),
        Competitor("cyminiball", _cyminiball),
        Competitor("trimesh", _trimesh),
    ),
    _rows(),
    _compare,
)
