"""Meshes that are hard in themselves: thin, single, many, flat against each other, mirrored, sheared."""

from __future__ import annotations

import numpy as np

from tests.scene.mesh_truth.building import Pair, add, easing, key, path_through, place, turn_at_random
from tests.scene.mesh_truth.solids import ball, box, sheet, torus


def thin_plates(rng: np.random.Generator) -> Pair:
    """Add two plates that are thin and fast."""
    a, b = add("A", box(1.0, 0.8, 0.002)), add("B", box(0.7, 1.0, 0.003))
    path_through(rng, b, 0.4 * rng.normal(size=3), rng.uniform(2, 8))
    turn_at_random(rng, b)
    place(rng, a, b)
    return Pair(24)


def single_triangles(rng: np.random.Generator) -> Pair:
    """Add one triangle each."""
    a, b = (add(name, (rng.normal(size=(3, 3)), [(0, 1, 2)])) for name in "AB")
    path_through(rng, b, 0.5 * rng.normal(size=3), 3.0)
    turn_at_random(rng, a)
    turn_at_random(rng, b)
    place(rng, a, b)
    return Pair()


def many_triangles(rng: np.random.Generator) -> Pair:
    """Add a terrain of some thousand triangles, and a stone."""
    return _terrain(rng, 50)


def hundred_thousand_triangles(rng: np.random.Generator) -> Pair:
    """Add a terrain of a hundred thousand triangles, and a stone."""
    return _terrain(rng, 224)


def _terrain(rng: np.random.Generator, cells: int) -> Pair:
    points, faces = sheet(4.0, cells)
    waves = rng.normal(size=(6, 2))
    points[:, 2] = 0.3 * np.sin(points[:, :2] @ waves.T + rng.uniform(0, 6, 6)).sum(axis=1)
    stone, stone_faces = ball(0.6, 12, 20)
    a, b = add("A", (points, faces)), add("B", (stone * rng.uniform(0.9, 1.1, (len(stone), 1)), stone_faces))
    low = rng.uniform(-0.5, 1.6)
    key(
        b,
        "location",
        [(1, (-3, -2, 3.5)), (5, (0, rng.uniform(-1, 1), low + 0.5)), (9, (3, 2, 3.5))],
        "BEZIER",
    )
    turn_at_random(rng, b)
    place(rng, a, b)
    return Pair()


def coplanar_faces(rng: np.random.Generator) -> Pair:
    """Add boxes that slide along one plane, of numbers that are exact in single precision."""
    add("A", box(1.0, 1.0, 0.5))
    b = add("B", box(0.5, 0.5, 0.25))
    side = 0.25 * float(rng.integers(-5, 6))
    top = rng.choice([0.75, 0.75, 0.25])
    stop = 0.25 * float(rng.integers(-6, 7))
    key(b, "location", [(1, (4.0, side, top)), (9, (stop, side, top))], "LINEAR")
    return Pair(8, early=2e-4)


def edges_crossing(rng: np.random.Generator) -> Pair:
    """Add two bars that only reach each other with edges."""
    a, b = add("A", box(2.0, 0.15, 0.15)), add("B", box(0.15, 2.0, 0.15))
    a.rotation_euler = (np.pi / 4 + rng.uniform(-0.2, 0.2), 0, 0)
    b.rotation_euler = (0, np.pi / 4 + rng.uniform(-0.2, 0.2), 0)
    x, y = rng.uniform(-1, 1, 2)
    low = rng.uniform(0.1, 0.55)
    key(b, "location", [(1, (x, y, 1.5)), (5, (x, y, low)), (9, (y, x, 1.5))], easing(rng))
    place(rng, a, b)
    return Pair()


def mirrored(rng: np.random.Generator) -> Pair:
    """Add meshes with scales of which some are negative, and a hollow one among them."""
    a, b = add("A", torus(1.2, 0.3, 18, 8)), add("B", ball(0.5))
    a.scale = rng.choice([-1, 1], 3) * rng.uniform(0.5, 1.5, 3)
    b.scale = (-1, *rng.uniform(0.5, 1.5, 2))
    path_through(rng, b, 0.5 * rng.normal(size=3), 2.5)
    turn_at_random(rng, a)
    place(rng, a, b, scale=(-1, 1, 1))
    return Pair()


def sheared(rng: np.random.Generator) -> Pair:
    """Add meshes that turn below a parent with different scales."""
    a, b = add("A", torus(1.0, 0.25, 18, 8)), add("B", box(0.4, 0.5, 0.6))
    path_through(rng, b, 0.5 * rng.normal(size=3), 2.5)
    turn_at_random(rng, a)
    turn_at_random(rng, b)
    place(rng, a, b, scale=rng.uniform(0.4, 1.8, 3))
    return Pair()


FAMILIES = (
    thin_plates,
    single_triangles,
    many_triangles,
    hundred_thousand_triangles,
    coplanar_faces,
    edges_crossing,
    mirrored,
    sheared,
)
