"""Bodies on paths given by formulas, their shapes, and their gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from addon.core import Aabb, Capsule, Obb, Shape, Sphere

FIRST, LAST = 3, 19

Array = np.ndarray


@dataclass(frozen=True)
class Body:
    """One shape on a path.

    Attributes
    ----------
    path : function (t,) -> (t, 3)
        Positions relative to `anchor`.
    turn : function (t,) -> (t, 3, 3)
        Rotations.
    growth : function (t,) -> (t,)
        Factors of the size.
    half : (3,) float
        Half extents; the first is the radius of a sphere.
    anchor : (3,) float
    """

    path: Callable[[Array], Array]
    turn: Callable[[Array], Array]
    growth: Callable[[Array], Array]
    half: Array
    anchor: Array

    def center(self, times: Array) -> Array:
        return self.anchor + self.path(times)

    def halves(self, times: Array) -> Array:
        return self.growth(times)[:, None] * self.half


def about(axis: Array, angle: Array) -> Array:
    """Rotations (t, 3, 3) about a unit axis, by Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * k + (1 - c) * (k @ k)


def direction(rng: np.random.Generator) -> Array:
    vector = rng.normal(size=3)
    return vector / np.linalg.norm(vector)


def any_turn(rng: np.random.Generator) -> Array:
    return about(direction(rng), rng.uniform(0, 2 * math.pi, 1))[0]


def spinning(rng: np.random.Generator, most: float) -> Callable[[Array], Array]:
    axis, rate, start = direction(rng), rng.uniform(0, most), any_turn(rng)
    return lambda t: about(axis, rate * t) @ start


def steady(t: Array) -> Array:
    return np.ones_like(t)


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(math.log(low), math.log(high))))


def smoothstep(t: Array) -> Array:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3 - 2 * t)


Draw = Callable[[np.random.Generator, float, Array], Body]


def straight(rng: np.random.Generator, speed: float, half: Array) -> Body:
    velocity, start = direction(rng) * speed, any_turn(rng)
    still = np.broadcast_to
    return Body(
        lambda t: t[:, None] * velocity, lambda t: still(start, (len(t), 3, 3)), steady, half, np.zeros(3)
    )


def eased(rng: np.random.Generator, speed: float, half: Array) -> Body:
    """Make a body that eases from rest to rest, at any times, also between two samples."""
    begin, long = rng.uniform(FIRST - 4, LAST - 8), rng.uniform(3, 16)
    offset = direction(rng) * speed * long
    axis, start, angle = direction(rng), any_turn(rng), rng.uniform(-2, 2)
    return Body(
        lambda t: smoothstep((t - begin) / long)[:, None] * offset,
        lambda t: about(axis, angle * smoothstep((t - begin) / long)) @ start,
        steady,
        half,
        np.zeros(3),
    )


def circular(rng: np.random.Generator, speed: float, half: Array) -> Body:
    """Make a body that orbits a center with the same side towards it."""
    rate = log_uniform(rng, 0.05, 0.8)
    radius, axis, start = speed / rate, direction(rng), any_turn(rng)
    arm = np.cross(axis, direction(rng))
    arm *= radius / np.linalg.norm(arm)
    return Body(
        lambda t: about(axis, rate * t) @ arm,
        lambda t: about(axis, rate * t) @ start,
        steady,
        half,
        np.zeros(3),
    )


def pendulum(rng: np.random.Generator, speed: float, half: Array) -> Body:
    """Make a pendulum, whose angle is a sine of time, and which rotates with its rod."""
    rate, swing, phase = log_uniform(rng, 0.1, 0.8), rng.uniform(0.2, 1.2), rng.uniform(0, 2 * math.pi)
    length, axis, start = speed / (rate * swing), direction(rng), any_turn(rng)
    rod = np.cross(axis, direction(rng))
    rod *= length / np.linalg.norm(rod)

    def turn(t: Array) -> Array:
        return about(axis, swing * np.sin(rate * t + phase))

    return Body(lambda t: turn(t) @ rod, lambda t: turn(t) @ start, steady, half, np.zeros(3))


def screw(rng: np.random.Generator, speed: float, half: Array) -> Body:
    """Make a body on a helix, which rotates with it."""
    body = circular(rng, 0.7 * speed, half)
    along = direction(rng) * 0.7 * speed
    return replace(body, path=lambda t: body.path(t) + t[:, None] * along)


def accelerating(rng: np.random.Generator, speed: float, half: Array) -> Body:
    pull = direction(rng) * speed / 10
    velocity = -pull * rng.uniform(FIRST, LAST) + direction(rng) * speed * 0.3
    return Body(
        lambda t: t[:, None] * velocity + (t * t)[:, None] * pull / 2,
        spinning(rng, 0.5),
        steady,
        half,
        np.zeros(3),
    )


def scaling(rng: np.random.Generator, speed: float, half: Array) -> Body:
    """Make a body on a straight path, whose size oscillates."""
    body = straight(rng, speed, half)
    rate, amount, phase = rng.uniform(0.1, 0.8), rng.uniform(0.1, 0.6), rng.uniform(0, 2 * math.pi)
    return replace(body, turn=spinning(rng, 0.5), growth=lambda t: 1 + amount * np.sin(rate * t + phase))


MOTIONS: dict[str, Draw] = {
    draw.__name__: draw for draw in (straight, eased, circular, pendulum, screw, accelerating, scaling)
}


def segment_distance(offset: Array, along_a: Array, along_b: Array, half_a: Array, half_b: Array) -> Array:
    """Distances (t,) of segments about the origin and about `offset` (t, 3), along unit vectors (t, 3)."""

    def product(u: Array, v: Array) -> Array:
        return (u * v).sum(axis=1)

    cosine, of_a, of_b = product(along_a, along_b), product(offset, along_a), product(offset, along_b)
    slope = np.maximum(1 - cosine**2, 1e-300)
    tries = []
    # Closest points of the lines, where they are on both segments; else of an end and the other segment.
    s, t = (of_a - cosine * of_b) / slope, (cosine * of_a - of_b) / slope
    tries.append((np.clip(s, -half_a, half_a), np.clip(t, -half_b, half_b)))
    for sign in (-1, 1):
        end = sign * half_a
        tries.append((end, np.clip(end * cosine - of_b, -half_b, half_b)))
        end = sign * half_b
        tries.append((np.clip(of_a + end * cosine, -half_a, half_a), end))
    distances = [
        np.sqrt(((offset + t[:, None] * along_b - s[:, None] * along_a) ** 2).sum(axis=1)) for s, t in tries
    ]
    return np.min(distances, axis=0)


def gap(shape: str, a: Body, b: Body, times: Array) -> Array:
    """Gaps (t,) of two bodies: positive where they are apart, negative where they overlap."""
    offset = b.center(times) - a.center(times)
    half_a, half_b = a.halves(times), b.halves(times)
    if shape == "sphere":
        return np.sqrt((offset**2).sum(axis=1)) - half_a[:, 0] - half_b[:, 0]
    turn_a, turn_b = a.turn(times), b.turn(times)
    if shape == "capsule":
        axes = turn_a[:, :, 2], turn_b[:, :, 2]
        return segment_distance(offset, *axes, half_a[:, 2], half_b[:, 2]) - half_a[:, 0] - half_b[:, 0]
    if shape == "aabb":
        reach = (np.abs(turn_a) * half_a[:, None]).sum(axis=2) + (np.abs(turn_b) * half_b[:, None]).sum(
            axis=2
        )
        return (np.abs(offset) - reach).max(axis=1)
    axes_a, axes_b = turn_a.transpose(0, 2, 1), turn_b.transpose(0, 2, 1)
    edges = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(-1, 9, 3)
    length = np.sqrt((edges**2).sum(axis=2, keepdims=True))
    # The cross product of nearly parallel edges is rounding noise: use a face normal instead.
    edges = np.where(length > 1e-6, edges / np.maximum(length, 1e-6), axes_a[:, :1])
    axes = np.concatenate([axes_a, axes_b, edges], axis=1)
    reach = (np.abs(axes @ turn_a) * half_a[:, None]).sum(axis=2)
    reach += (np.abs(axes @ turn_b) * half_b[:, None]).sum(axis=2)
    return (np.abs((axes * offset[:, None]).sum(axis=2)) - reach).max(axis=1)


def batch(shape: str, bodies: list[Body], time: float) -> Shape:
    """Make the shapes of all bodies at one time."""
    now = np.array([time])
    centers = np.concatenate([body.center(now) for body in bodies])
    halves = np.concatenate([body.halves(now) for body in bodies])
    if shape == "sphere":
        return Sphere(centers, halves[:, 0])
    turns = np.concatenate([body.turn(now) for body in bodies])
    if shape == "obb":
        return Obb(centers, halves, turns)
    if shape == "capsule":
        return Capsule(centers, turns[:, :, 2], halves[:, 2], halves[:, 0])
    reach = (np.abs(turns) * halves[:, None]).sum(axis=2)
    return Aabb(centers - reach, centers + reach)
