"""Pairs of moving shapes for tests: two samples of the first shape, then two of the second."""

from __future__ import annotations

import numpy as np

from addon.core import Aabb, Capsule, Obb, Shape, Sphere, Triangle, at, separation
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


def take_rows(motion: list, index) -> list:
    """Index all shapes of a motion."""
    return [shape[index] for shape in motion]


def separation_at(motion: list, time) -> np.ndarray:
    """Signed separations (n,) at one time, or at times (n,), one for each pair."""
    a_start, a_end, b_start, b_end = motion
    return separation(at(a_start, a_end, time), at(b_start, b_end, time))


def rigidly_moved(motion: list, rotation: np.ndarray, offset: np.ndarray) -> list:
    """Rotate and translate all shapes of a motion: spheres and oriented boxes."""
    return [_rigidly_moved(shape, rotation, offset) for shape in motion]


def _rigidly_moved(shape: Shape, rotation: np.ndarray, offset: np.ndarray) -> Shape:
    center = shape.center @ rotation.T + offset
    if isinstance(shape, Sphere):
        return Sphere(center, shape.radius)
    return Obb(center, shape.half_extents, rotation @ shape.rotation)


def spheres_passing(x_start: float, x_end: float, y: float, radius: float = 1.0) -> list[Sphere]:
    """Sphere of radius 1 at rest at the origin, and another sphere that moves along x at height y."""
    return spheres(([0, 0, 0], 1), ([0, 0, 0], 1), ([x_start, y, 0], radius), ([x_end, y, 0], radius))


UNIT = ([0, 0, 0], [1, 1, 1])


def boxes_passing(start: list[float], end: list[float]) -> list[Aabb]:
    """Box from 0 to 1 at rest, and another unit box whose minimum corner moves."""
    return aabbs(UNIT, UNIT, (start, np.add(start, 1)), (end, np.add(end, 1)))


def random_spheres(rng: np.random.Generator, count: int) -> list[Sphere]:
    """Pairs of spheres that approach, pass, hit or miss; half of the spheres change their radius."""
    radii = rng.random((4, count))
    radii[1::2] = np.where(rng.random(count) < 0.5, radii[::2], radii[1::2])
    return [Sphere(c, r) for c, r in zip(_random_centers(rng, count), radii, strict=True)]


def random_boxes(rng: np.random.Generator, count: int) -> list[Aabb]:
    """Pairs of boxes that approach, pass, hit or miss; half of the boxes change their size."""
    halves = _random_halves(rng, count)
    return [Aabb(c - h, c + h) for c, h in zip(_random_centers(rng, count), halves, strict=True)]


def random_sphere_and_box(rng: np.random.Generator, count: int) -> list[Shape]:
    return [*random_spheres(rng, count)[:2], *random_boxes(rng, count)[2:]]


def random_sphere_and_triangle(rng: np.random.Generator, count: int, one_sided: bool = False) -> list[Shape]:
    """Spheres that fly at triangles at rest, pass them, or come from behind."""
    start, end = random_spheres(rng, count)[:2]
    corners = rng.normal(size=(3, count, 3)) * 1.5
    triangle = Triangle(*corners, one_sided)
    # Half of the spheres aim at a point of the triangle, and pass it or stop short of it.
    weights = rng.dirichlet([1, 1, 1], count).T[..., None]
    target = (corners * weights).sum(axis=0) + rng.normal(size=(count, 3)) * 0.3
    aimed = start.center + (target - start.center) * rng.uniform(0.5, 2, (count, 1))
    end = Sphere(np.where(rng.random((count, 1)) < 0.5, aimed, end.center), end.radius)
    return [start, end, triangle, triangle]


def random_oriented_boxes(
    rng: np.random.Generator, count: int, max_rotation: float = np.pi - 0.01
) -> list[Obb]:
    """Pairs of oriented boxes, rotated by up to `max_rotation` radians within the interval."""
    first, last = scenes.random_rotations(rng, 2 * count).reshape(2, count, 3, 3), []
    for rotation in first:
        change = rotation_about(scenes.random_directions(rng, count), rng.uniform(0, max_rotation, count))
        last.append(change @ rotation if max_rotation else rotation)
    rotations = (first[0], last[0], first[1], last[1])
    parts = zip(_random_centers(rng, count), _random_halves(rng, count), rotations, strict=True)
    return [Obb(*part) for part in parts]


def random_sphere_and_oriented_box(
    rng: np.random.Generator, count: int, max_rotation: float = np.pi - 0.01
) -> list[Shape]:
    return [*random_spheres(rng, count)[:2], *random_oriented_boxes(rng, count, max_rotation)[2:]]


def random_capsules(rng: np.random.Generator, count: int) -> list[Capsule]:
    """Pairs of capsules that turn by any angle within the interval."""
    parts = zip(_random_centers(rng, count), _random_halves(rng, count), strict=True)
    return [
        Capsule(center, scenes.random_directions(rng, count), half[:, 0], half[:, 1] / 2)
        for center, half in parts
    ]


def rotation_about(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rotations (..., 3, 3) by angles (...) about unit axes (..., 3), through quaternions."""
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
    """Centers, four arrays (count, 3): half of the second shapes fly at the first."""
    a0, b0, a1 = rng.normal(size=(3, count, 3)) * 1.5
    aim = rng.random((count, 1)) < 0.5
    b1 = np.where(aim, a1 + (a0 - b0) * rng.random((count, 1)) + rng.normal(size=(count, 3)), b0 + a1 - a0)
    return a0, a1, b0, b1


def _random_halves(rng: np.random.Generator, count: int) -> tuple[np.ndarray, ...]:
    """Half extents, four arrays (count, 3), half of which change."""
    start, end = rng.random((2, 2, count, 3))
    end = np.where(rng.random((2, count, 1)) < 0.5, start, end)
    return start[0], end[0], start[1], end[1]


BATCHES = {
    "spheres": random_spheres,
    "boxes": random_boxes,
    "sphere and box": random_sphere_and_box,
    "sphere and triangle": random_sphere_and_triangle,
    "sphere and one-sided triangle": lambda rng, count: random_sphere_and_triangle(rng, count, True),
    "oriented boxes": random_oriented_boxes,
    "sphere and oriented box": random_sphere_and_oriented_box,
    "box and oriented box": lambda rng, count: [
        *random_boxes(rng, count)[:2],
        *random_oriented_boxes(rng, count)[2:],
    ],
}
"""Random batches of moving pairs by kind."""

WITH_TRIANGLES = ["sphere and triangle", "sphere and one-sided triangle"]
WITH_SINGLE_SPANS = ["spheres", "boxes", "sphere and box", *WITH_TRIANGLES]
WITH_CLOSEST = ["spheres", "boxes", *WITH_TRIANGLES]
"""The kinds that a query supports."""
