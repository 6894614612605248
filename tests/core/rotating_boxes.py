"""Rotating boxes for tests, and their gaps along separating axes, independent of the code under test."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from addon.core import ImpactStatus, Obb, first_impact
from tests.core import scenes
from tests.core.motions import (
    rotation_about,
)

CORNERS = np.array(list(product((-1, 1), repeat=3)), dtype=float)


class Movers(NamedTuple):
    """Boxes (n,) in linear motion with linear growth, rotating about an axis by less than half a turn."""

    center: np.ndarray
    shift: np.ndarray
    half: np.ndarray
    growth: np.ndarray
    rotation: np.ndarray
    axis: np.ndarray
    angle: np.ndarray

    @classmethod
    def random(cls, rng: np.random.Generator, count: int, half, angle, spread: float = 3.0) -> Movers:
        center, end = rng.uniform(-spread, spread, (2, count, 3))
        return cls(
            center,
            end - center,
            np.broadcast_to(half, (count, 3)),
            np.zeros((count, 3)),
            scenes.random_rotations(rng, count),
            scenes.random_directions(rng, count),
            np.broadcast_to(angle, count),
        )

    def rotation_at(self, time: float) -> np.ndarray:
        return rotation_about(self.axis, self.angle * time) @ self.rotation

    def samples(self) -> list[Obb]:
        """Boxes at the start and at the end."""
        return [
            Obb(self.center + self.shift * t, self.half + self.growth * t, self.rotation_at(t))
            for t in (0.0, 1.0)
        ]


def separations_at(a: Movers, b: Movers, time: float, rows: np.ndarray) -> np.ndarray:
    """Signed gaps (k,) of pairs at `rows` along the best of 15 axes, from projections of the corners.

    Cross products of edges that are parallel up to 1e-6 are skipped: their direction is rounding noise.
    """
    axes, corners = [], []
    for mover in (a, b):
        mover = Movers(*(field[rows] for field in mover))
        rotation = mover.rotation_at(time)
        axes.append(np.swapaxes(rotation, 1, 2))
        sides = CORNERS * (mover.half + mover.growth * time)[:, None]
        corners.append(sides @ axes[-1])
    offset = (b.center - a.center)[rows] + (b.shift - a.shift)[rows] * time
    crossed = np.cross(axes[0][:, :, None], axes[1][:, None]).reshape(-1, 9, 3)
    directions = np.concatenate([*axes, crossed], axis=1)
    lengths = np.linalg.norm(directions, axis=2)
    on_a, on_b = (np.swapaxes(points @ np.swapaxes(directions, 1, 2), 1, 2) for points in corners)
    along = (directions @ offset[:, :, None])[..., 0]
    gaps = np.maximum(
        on_b.min(axis=2) + along - on_a.max(axis=2), on_a.min(axis=2) - along - on_b.max(axis=2)
    )
    gaps = np.divide(gaps, lengths, out=np.full_like(gaps, -np.inf), where=lengths > 1e-6)
    return gaps.max(axis=1)


def first_sampled(a: Movers, b: Movers, samples: int, depth: float) -> np.ndarray:
    """First sampled times (n,) at which the boxes overlap by `depth` or more; NaN for none."""
    first = np.full(len(a.center), np.nan)
    around = [np.linalg.norm(np.maximum(m.half, m.half + m.growth), axis=1) for m in (a, b)]
    for time in np.linspace(0, 1, samples + 1):
        offset = (b.center - a.center) + (b.shift - a.shift) * time
        rows = np.flatnonzero(np.isnan(first) & (np.linalg.norm(offset, axis=1) <= around[0] + around[1]))
        if len(rows):
            deep = separations_at(a, b, time, rows) <= -depth
            first[rows[deep]] = time
    return first


def assert_never_late_and_touching(a: Movers, b: Movers, samples: int, size: float = 1.0) -> np.ndarray:
    """Assert that no sample overlaps before the time of impact, and boxes touch at it; return the times."""
    found = first_impact(*a.samples(), *b.samples())
    first = first_sampled(a, b, samples, 1e-9 * size)
    hit = ~np.isnan(first)
    assert not np.isnan(found.time[hit]).any()
    assert (found.time[hit] <= first[hit] + 1e-12).all()
    assert (found.status != ImpactStatus.UNRESOLVED).all()
    moving = np.flatnonzero(found.time > 0)
    apart = [separations_at(a, b, found.time[i], np.array([i]))[0] for i in moving[:400]]
    assert np.abs(apart).max(initial=0) <= 1e-12 * size
    started = np.flatnonzero(found.time == 0)
    assert (separations_at(a, b, 0.0, started) <= 1e-12 * size).all()
    turns = (a.angle > 0) | (b.angle > 0)
    hits = ~np.isnan(found.time)
    assert (found.status == np.where(hits & turns, ImpactStatus.CONSERVATIVE, ImpactStatus.EXACT)).all()
    assert np.isfinite(found.point[hits]).all()
    assert np.isnan(found.point[~hits]).all()
    return found.time


def growing(rng, count):
    made = []
    for _ in "ab":
        mover = Movers.random(rng, count, rng.uniform(0, 1, (count, 3)), rng.uniform(0, 3, count), 3)
        made.append(mover._replace(growth=rng.uniform(0, 1, (count, 3)) - mover.half))
    return tuple(made)
