"""Adaptive scans of shapes without size, and of small and fast ones: samples, and uncertainty without them.

Expected values are formulas of the motions. Coordinates are rounded to single precision, as Blender's are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from addon.core import Aabb, Contact, Obb, Sample, Shape, Sphere, scan_contacts
from tests.finished import finished
from tests.tiers import times

MOST = 60
"""Samples of one pair within one interval."""

Path = Callable[[float], np.ndarray]


def shaped(kind: type, centers: np.ndarray, size: float) -> Shape:
    half = np.full((len(centers), 3), size)
    if kind is Sphere:
        return Sphere(centers, half[:, 0])
    if kind is Aabb:
        return Aabb(centers - half, centers + half)
    return Obb(centers, half, np.tile(np.eye(3), (len(centers), 1, 1)))


class Counted:
    """Bodies on paths, in single precision; counts samples by interval between two frames."""

    def __init__(self, kind: type, paths: list[Path], size: float) -> None:
        self.kind, self.paths, self.size = kind, paths, size
        self.refinable = np.ones(len(paths), dtype=bool)
        self.samples: Counter[int] = Counter()

    def sample(self, time: float) -> Sample:
        centers = np.array([path(time) for path in self.paths]).astype(np.float32).astype(np.float64)
        return Sample(shaped(self.kind, centers, self.size))

    def sample_between(self, time: float, subjects: np.ndarray) -> Sample:
        self.samples[int(np.floor(time))] += 1
        return Sample(self.sample(time).shapes[subjects])


def curved(time: float) -> np.ndarray:
    return np.array([20 * np.sin(time / 7), 20 * np.cos(time / 7), 0.01 * time * time])


def straight(time: float) -> np.ndarray:
    return np.array([1.7 * time - 20, 0.3 * time, 0.1])


def contacts_of(motion: Counted, frames: range) -> tuple[Contact, ...]:
    return finished(scan_contacts(motion, frames)).contacts


@pytest.mark.parametrize("kind", [Aabb, Obb, Sphere])
def test_points_carried_along_a_curve_take_at_most_sixty_samples_per_interval(kind):
    motion = Counted(kind, [curved, curved], 0.0)
    (contact,) = contacts_of(motion, range(1, 4))
    assert contact.first.at_start
    assert contact.first.uncertainty == 0
    assert 0 < max(motion.samples.values()) <= MOST


@pytest.mark.parametrize("size", [1e-3, 1e-6, 0.0])
@pytest.mark.parametrize("kind", [Aabb, Obb])
def test_sliding_exactly_along_a_face_takes_at_most_sixty_samples_per_interval(kind, size):
    # The lower face of the body moves along the upper face of another one, at z = 0, in a curve.
    def slides(time: float) -> np.ndarray:
        return np.array([*curved(time)[:2], size])

    class OnFloor(Counted):
        def sample(self, time: float) -> Sample:
            body = super().sample(time).shapes
            floor = shaped(kind, np.array([[0.0, 0, -50]]), 50.0)
            fields = [np.concatenate([getattr(s, name) for s in (body, floor)]) for name in body.field_shapes]
            return Sample(type(body)(*fields))

    motion = OnFloor(kind, [slides], size)
    motion.refinable = np.ones(2, dtype=bool)
    contacts_of(motion, range(1, 4))
    assert max(motion.samples.values(), default=0) <= MOST


@pytest.mark.parametrize("far", [1.0, 1000.0])
@pytest.mark.parametrize("kind", [Aabb, Obb, Sphere])
def test_rounding_of_a_linear_motion_takes_hardly_a_sample(kind, far):
    # The paths are straight: all that deviates is the rounding of their coordinates.
    def path(time: float) -> np.ndarray:
        return far * straight(time)

    motion = Counted(kind, [path, path], 0.0)
    assert contacts_of(motion, range(1, 16))
    # A few in the first interval and in the last, which have one neighbor each.
    assert sum(motion.samples.values()) <= 8


@pytest.mark.parametrize("seed", range(times(15, 10, full=60)))
def test_uncertainty_covers_a_brief_contact_that_samples_cannot_resolve(seed):
    # Two small bodies fly side by side along a curve, a fortieth of their size apart. They touch for a five
    # hundredth of a frame or less at `brief`, and again from `later` on.
    rng = np.random.default_rng(seed)
    size = 1e-3
    gap, depth = size / 40, size / 40
    brief, width = rng.uniform(2.1, 2.9), rng.uniform(1e-4, 1e-3)
    later = rng.uniform(brief + 0.05, 4.5)
    rate = rng.uniform(0.3, 3) * size

    def distance(time: float) -> float:
        bump = (gap + depth) * max(0.0, 1 - abs(time - brief) / width)
        return 2 * size + gap - bump - (gap + rate * (time - later) if time > later - gap / rate else 0.0)

    def first(time: float) -> np.ndarray:
        return np.array([np.cos(time), np.sin(time), 0.0])

    def second(time: float) -> np.ndarray:
        return first(time) + np.array([0, 0, distance(time)])

    motion = Counted(Sphere, [first, second], size)
    contacts = contacts_of(motion, range(1, 7))
    assert max(motion.samples.values()) <= MOST
    touches = brief - width * depth / (gap + depth)
    assert abs(contacts[0].first.frame - touches) <= contacts[0].first.uncertainty + 1e-5
