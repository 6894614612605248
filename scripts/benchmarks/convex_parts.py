"""Meshes split into convex parts: volumes and times, compared with CoACD and V-HACD."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from addon.core import convex_parts
from addon.core.numeric.arrays import Floats

from .tables import THIS_PROJECT, Call, Competitor, Row, Table, Target

_PARTS = 8


def _surface(points: Floats) -> Floats:
    """Triangles (t, 3, 3) of a grid (m, n, 3) that is closed in both directions."""
    next_u, next_v = np.roll(points, -1, axis=0), np.roll(points, -1, axis=1)
    both = np.roll(next_u, -1, axis=1)
    corners = ((points, next_u, both), (points, both, next_v))
    faces = [np.stack(each, axis=2).reshape(-1, 3, 3) for each in corners]
    return np.asarray(np.concatenate(faces), dtype=np.float64)


def _tube(path: Callable[[Floats], Floats], radius: float, around: int, across: int) -> Floats:
    """Tube about a closed path."""
    t: Floats = np.arange(around, dtype=np.float64) * (2 * np.pi / around)
    middle = path(t)
    along = np.roll(middle, -1, axis=0) - np.roll(middle, 1, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    side = np.cross(along, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, along)
    v = np.arange(across) * (2 * np.pi / across)
    circle = np.cos(v)[:, None] * side[:, None] + np.sin(v)[:, None] * up[:, None]
    return _surface(middle[:, None] + radius * circle)


def _ring(t: Floats) -> Floats:
    return np.stack([np.cos(t), np.sin(t), 0 * t], axis=1)


def _trefoil(t: Floats) -> Floats:
    return np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1)


def _box(low: Sequence[float], high: Sequence[float]) -> Floats:
    corners = np.array([[(low, high)[i >> k & 1][k] for k in range(3)] for i in range(8)])
    quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    return corners[[each for a, b, c, d in quads for each in ((a, b, c), (a, c, d))]]


def _chair() -> Floats:
    legs = [_box((x, y, 0), (x + 0.1, y + 0.1, 1)) for x in (0, 0.9) for y in (0, 0.9)]
    return np.concatenate([_box((0, 0, 1), (1, 1, 1.1)), _box((0, 0.9, 1.1), (1, 1, 2.2)), *legs])


def _indexed(triangles: Floats) -> tuple[Floats, Any]:
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    return points, index.reshape(-1, 3)


def _this_project(triangles: Floats) -> Call:
    return lambda: convex_parts(triangles, _PARTS)


def _coacd(triangles: Floats) -> Call:
    import coacd

    coacd.set_log_level("off")
    mesh = coacd.Mesh(*_indexed(triangles))
    return lambda: [points for points, _ in coacd.run_coacd(mesh, max_convex_hull=_PARTS)]


def _vhacd(triangles: Floats) -> Call:
    import vhacdx

    points, faces = _indexed(triangles)
    flat = np.column_stack([np.full(len(faces), 3), faces]).astype(np.uint32).ravel()
    return lambda: [each for each, _ in vhacdx.compute_vhacd(points, flat, maxConvexHulls=_PARTS)]


def _volumes(triangles: Floats, results: Mapping[str, Any]) -> str:
    """Describe the volumes of all hulls together, as parts of that of the hull of the mesh."""
    from scipy.spatial import ConvexHull, QhullError

    def volume(points: Any) -> float:
        try:
            return float(ConvexHull(np.asarray(points)).volume)
        except QhullError:  # flat
            return 0.0

    a, b, c = np.moveaxis(triangles, 1, 0)
    solid = abs(float(np.einsum("ti,ti->t", a, np.cross(b, c)).sum())) / 6
    parts = [f"mesh {solid:.3f}", f"one hull {volume(triangles.reshape(-1, 3)):.3f}"]
    parts += [f"{name} {sum(map(volume, found)):.3f} in {len(found)}" for name, found in results.items()]
    return "volumes: " + ", ".join(parts)


def _row(label: str, make: Callable[[], Floats], targets: Sequence[Target] = ()) -> Row:
    return Row(label, make, 1, 1, targets)


CONVEX_PARTS = Table(
    "convex-parts",
    f"up to {_PARTS} parts of",
    (Competitor(THIS_PROJECT, _this_project), Competitor("CoACD", _coacd), Competitor("V-HACD", _vhacd)),
    [
        _row("a chair of 6 boxes", _chair),
        _row("a ring, 9,216 triangles", lambda: _tube(_ring, 0.35, 96, 48)),
        _row("a ring, 20,480 triangles", lambda: _tube(_ring, 0.35, 160, 64), [Target(2.0)]),
        _row("a trefoil knot, 12,800 triangles", lambda: _tube(_trefoil, 0.5, 200, 32)),
    ],
    compare=_volumes,
    # CoACD uses all cores.
    clock=perf_counter,
    seconds_each=0.5,
)
