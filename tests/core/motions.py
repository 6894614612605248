"""Pairs of moving shapes that several tests use: two samples of the first, then two of the second."""

from __future__ import annotations

import numpy as np

from addon.core import Aabb, Obb, Shape, Sphere, Triangle, at, separation
from tests.core import scenes


def spheres(*motion) -> list[Sphere]:
    return [Sphere(center, radius) for center, radius in motion]


def aabbs(*motion) -> list[Aabb]:
    return [Aabb(low, high) for low, high in motion]


def swapped(motion: list) -> list:
    a_start, a_end, b_start, b_end = motion
    return [b_start, b_end, a_start, a_end]


def reversed_in_time(motion: list) -> list:
    a_start, a_end, b_start, b_end = motion
    return [a_end, a_start, b_end, b_start]


def scaled(motion: list, factor: float) -> list:
    return [scenes.scaled(shape, factor) for shape in motion]


def picked(motion: list, index) -> list:
    return [shape[index] for shape in motion]


def gaps_at(motion: list, time) -> np.ndarray:
    """Signed separations at a time or at one time a pair."""
    a_start, a_end, b_start, b_end = motion
    return separation(at(a_start, a_end, time), at(b_start, b_end, time))


def rigidly_moved(motion: list, rotation: np.ndarray, offset: np.ndarray) -> list:
    """The same scene elsewhere: spheres and oriented boxes."""
    return [_rigidly_moved(shape, rotation, offset) for shape in motion]


def _rigidly_moved(shape: Shape, rotation: np.ndarray, offset: np.ndarray) -> Shape:
    center = shape.center @ rotation.T + offset
    if isinstance(shape, Sphere):
        return Sphere(center, shape.radius)
    return Obb(center, shape.half_extents, rotation @ shape.rotation)


def passing_by(x_start: float, x_end: float, y: float, radius: float = 1.0) -> list[Sphere]:
    """A unit sphere at rest in the origin, and another that moves along x at height y."""
    return spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([x_start, y, 0], radius), ([x_end, y, 0], radius))


UNIT = ([0, 0, 0], [1, 1, 1])


def box_flying(start: list[float], end: list[float]) -> list[Aabb]:
    """The unit box at rest, and another unit box whose low corner moves."""
    return aabbs(UNIT, UNIT, (start, np.add(start, 1)), (end, np.add(end, 1)))


def random_spheres(rng: np.random.Generator, count: int) -> list[Sphere]:
    """Pairs that approach, pass, hit or miss; half of them change their radius."""
    radii = rng.random((4, count))
    radii[1::2] = np.where(rng.random(count) < 0.5, radii[::2], radii[1::2])
    return [Sphere(c, r) for c, r in zip(_random_centers(rng, count), radii, strict=True)]


def random_boxes(rng: np.random.Generator, count: int) -> list[Aabb]:
    """The same for boxes."""
    halves = _random_halves(rng, count)
    return [Aabb(c - h, c + h) for c, h in zip(_random_centers(rng, count), halves, strict=True)]


def random_sphere_and_box(rng: np.random.Generator, count: int) -> list[Shape]:
    return [*random_spheres(rng, count)[:2], *random_boxes(rng, count)[2:]]


def random_sphere_and_triangle(rng: np.random.Generator, count: int, one_sided: bool = False) -> list[Shape]:
    """Spheres that fly at triangles at rest, pass them by or come from behind."""
    start, end = random_spheres(rng, count)[:2]
    corners = rng.normal(size=(3, count, 3)) * 1.5
    triangle = Triangle(*corners, one_sided)
    # Half of them aim at a point of the triangle, and go on or stop short.
    weights = rng.dirichlet([1, 1, 1], count).T[..., None]
    target = (corners * weights).sum(axis=0) + rng.normal(size=(count, 3)) * 0.3
    aimed = start.center + (target - start.center) * rng.uniform(0.5, 2, (count, 1))
    end = Sphere(np.where(rng.random((count, 1)) < 0.5, aimed, end.center), end.radius)
    return [start, end, triangle, triangle]


def random_oriented_boxes(rng: np.random.Generator, count: int, most_turn: float = np.pi - 0.01) -> list[Obb]:
    """The same for oriented boxes, turned by up to `most_turn` within the interval."""
    first, last = scenes.rotations(rng, 2 * count).reshape(2, count, 3, 3), []
    for rotation in first:
        turn = turned_about(scenes.directions(rng, count), rng.uniform(0, most_turn, count))
        last.append(turn @ rotation if most_turn else rotation)
    rotations = (first[0], last[0], first[1], last[1])
    parts = zip(_random_centers(rng, count), _random_halves(rng, count), rotations, strict=True)
    return [Obb(*part) for part in parts]


def random_sphere_and_oriented_box(
    rng: np.random.Generator, count: int, most_turn: float = np.pi - 0.01
) -> list[Shape]:
    return [*random_spheres(rng, count)[:2], *random_oriented_boxes(rng, count, most_turn)[2:]]


def turned_about(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotations by angles (...) about unit axes (..., 3), by way of quaternions."""
    half = np.asarray(angle)[..., None] / 2
    x, y, z = np.moveaxis(axis * np.sin(half), -1, 0)
    w = np.cos(half[..., 0])
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(np.broadcast_arrays(*row), axis=-1) for row in rows], axis=-2)


def _random_centers(rng: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """(4) times (count, 3): half of the second shapes fly at the first, the rest keep beside them."""
    a0, b0, a1 = rng.normal(size=(3, count, 3)) * 1.5
    aim = rng.random((count, 1)) < 0.5
    b1 = np.where(aim, a1 + (a0 - b0) * rng.random((count, 1)) + rng.normal(size=(count, 3)), b0 + a1 - a0)
    return a0, a1, b0, b1


def _random_halves(rng: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """(4) times (count, 3), half of them changing."""
    start, end = rng.random((2, 2, count, 3))
    end = np.where(rng.random((2, count, 1)) < 0.5, start, end)
    return start[0], end[0], start[1], end[1]
