"""Oriented boxes around points, and sphere trees around triangles."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from addon.core import obb_from_points, sphere_tree_from_triangles

from .minimal_sphere import blob, torus
from .shapes import random_rotations
from .tables import THIS_PROJECT, Call, Competitor, Row, Table

Floats = NDArray[np.float64]


def _this_project(points: Floats) -> Call:
    return lambda: float(8 * obb_from_points(points).half_extents.prod())


def _trimesh(points: Floats) -> Call:
    from trimesh.bounds import oriented_bounds

    return lambda: float(np.prod(oriented_bounds(points)[1]))


def _compare_volumes(_: Floats, volumes: Mapping[str, Any]) -> str:
    if not {THIS_PROJECT, "trimesh"} <= volumes.keys():
        return ""
    return f"volume {volumes[THIS_PROJECT] / volumes['trimesh']:.4f} x trimesh"


def _make_points(kind: str, count: int) -> Floats:
    rng = np.random.default_rng(count)
    if kind == "box":
        points = rng.uniform(-1, 1, (count, 3))
        points[:8] = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    else:
        points = {"blob": blob, "torus": torus}[kind](count, rng)
    rotated: Floats = (points * [3, 2, 1]) @ random_rotations(1, rng)[0].T
    return rotated


ORIENTED_BOX = Table(
    "oriented-box",
    "points",
    (Competitor(THIS_PROJECT, _this_project), Competitor("trimesh", _trimesh)),
    [
        Row(f"10^{power}, {name}", partial(_make_points, kind, 10**power), 10**power)
        for kind, name in (("box", "rotated box"), ("blob", "blob"), ("torus", "torus"))
        for power in (2, 4, 6)
    ],
    _compare_volumes,
)


def _tree(triangles: Floats, depth: int) -> Call:
    return lambda: sphere_tree_from_triangles(triangles, depth=depth)


def _torus_mesh(around: int) -> Floats:
    """Return triangles (around^2, 3, 3) of a torus: `around` squares along the ring, half as many across."""
    u, v = np.meshgrid(np.arange(around), np.arange(around // 2), indexing="ij")

    def corner(i: Floats, j: Floats) -> Floats:
        a, b = 2 * np.pi * i / around, 4 * np.pi * j / around
        radius = 1 + 0.3 * np.cos(b)
        return np.stack([radius * np.cos(a), radius * np.sin(a), 0.3 * np.sin(b)], axis=-1).reshape(-1, 3)

    p, q, r, s = corner(u, v), corner(u + 1, v), corner(u + 1, v + 1), corner(u, v + 1)
    return np.concatenate([np.stack([p, q, r], axis=1), np.stack([p, r, s], axis=1)])


SPHERE_TREE = Table(
    "sphere-tree",
    "triangles",
    tuple(Competitor(f"depth {depth}", partial(_tree, depth=depth)) for depth in (4, 12)),
    [
        Row(
            f"{around * around}, torus",
            partial(_torus_mesh, around),
            around * around,
            around * around,
            series="torus",
        )
        for around in (32, 100, 316, 1000)
    ],
)
