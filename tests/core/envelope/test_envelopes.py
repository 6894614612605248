"""Envelopes: they enclose every vertex at any time, and are hardly larger than necessary.

Expected values are the vertices themselves, moved by a formula, at many times between samples.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Envelopes,
    InvalidShapeError,
    Sphere,
    envelopes_over,
    sphere_from_points,
)
from addon.core.numeric.geodesic import geodesic_directions
from tests.core.scenes import random_directions
from tests.finished import finished
from tests.tiers import times

Points = Callable[[float], np.ndarray]

CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
ROD = CUBE * (2, 0.1, 0.1)


def turned(points: np.ndarray, angle: float) -> np.ndarray:
    cosine, sine = np.cos(angle), np.sin(angle)
    return points @ np.array([(cosine, sine, 0), (-sine, cosine, 0), (0, 0, 1)])


class Moving:
    """Bounds of vertices, which are a function of time; counts the times of queries."""

    def __init__(self, *each: Points, refinable: bool = True) -> None:
        self.each = each
        self.grain = np.full(len(each), 0.0 if refinable else np.inf)
        self.costs = np.ones(len(each))
        self.sample_count = 0

    def points(self, subjects: np.ndarray, times: np.ndarray) -> list[np.ndarray]:
        return [self.each[k](time) for k, time in zip(subjects.tolist(), times.tolist(), strict=True)]

    def at(self, subjects: np.ndarray, times: np.ndarray) -> Aabb:
        self.sample_count += len(set(times.tolist()))
        points = self.points(subjects, times)
        return Aabb(*(np.stack([pick(vertices, axis=0) for vertices in points]) for pick in (np.min, np.max)))

    def spheres_at(self, subjects: np.ndarray, times: np.ndarray) -> Sphere:
        balls = [sphere_from_points(vertices) for vertices in self.points(subjects, times)]
        return Sphere([ball.center for ball in balls], [ball.radius for ball in balls])

    def are_present(self, subjects: np.ndarray, times: np.ndarray) -> np.ndarray:
        return np.ones(len(subjects), dtype=bool)


def enveloped(motion: Moving, frames: object) -> Envelopes:
    return finished(envelopes_over(motion, motion.spheres_at, frames))


def at(points: Points, time: float) -> tuple[Aabb, Sphere]:
    motion, one = Moving(points), (np.array([0]), np.array([time]))
    return motion.at(*one), motion.spheres_at(*one)


def swept(points: Points, frames: np.ndarray, parts: int = 256) -> np.ndarray:
    return np.concatenate([points(t) for t in np.linspace(frames[0], frames[-1], len(frames) * parts)])


FRAMES = np.arange(13.0)

MOTIONS: dict[str, Points] = {
    "at rest": lambda t: turned(CUBE, 0.3) + np.array((1, 2, 3)),
    "straight": lambda t: turned(CUBE, 0.3) + np.array([1, 2, 3]) * t,
    "rod sideways": lambda t: ROD + np.array((0, t, 0)),
    "eased": lambda t: CUBE + np.array((10 * np.clip((t - 3) / 8, 0, 1) ** 2, 0, 0)),
    "thrown, with its top between two frames": lambda t: CUBE + np.array((t, 0, 9 - 0.3 * (t - 6.4) ** 2)),
    "orbit": lambda t: CUBE + np.array((10 * np.cos(t / 10), 10 * np.sin(t / 10), 0)),
    "orbit, tumbling": lambda t: (
        turned(ROD, t / 3) + np.array((10 * np.cos(t / 10), 10 * np.sin(t / 10), np.sin(t)))
    ),
    "rod that turns": lambda t: turned(ROD, t * np.pi / 18),
    "a quarter turn a frame": lambda t: turned(CUBE, t * np.pi / 2),
    "a whole turn a frame": lambda t: turned(ROD + np.array([2, 0, 0]), t * np.pi * 2),
    "two turns a frame": lambda t: turned(ROD + np.array([2, 0, 0]), t * np.pi * 4),
    "breathing": lambda t: CUBE * (1 + 0.3 * np.sin(t * 0.9)),
    "bulging": lambda t: CUBE * (1, 1, 1 + 0.5 * np.sin(t)) + np.array((np.sin(t / 7), 0, 0)),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_envelope_encloses_all_times_and_is_tight(name):
    points = MOTIONS[name]
    # Fast rotations take long, and all intervals are equal.
    frames = FRAMES[: times(len(FRAMES), 2)] if name.endswith("a frame") else FRAMES
    found = enveloped(Moving(points), frames)
    everything = swept(points, frames)
    low, high = everything.min(axis=0), everything.max(axis=0)
    rounding = 1e-12
    assert (found.boxes.min[0] <= low + rounding).all()
    assert (found.boxes.max[0] >= high - rounding).all()
    room = max((low - found.boxes.min[0]).max(), (found.boxes.max[0] - high).max())
    assert room <= 0.0025 * (high - low).max() / 2
    center, radius = found.spheres.center[0], found.spheres.radius[0]
    assert np.linalg.norm(everything - center, axis=1).max() <= radius + rounding
    # The directions cost two percent; the rest is the room of box and ball around a slanted rod.
    assert radius <= (1.15 if name == "orbit, tumbling" else 1.06) * sphere_from_points(everything).radius


@pytest.mark.smoke
def test_envelope_at_rest_is_the_bound_itself():
    at_rest = MOTIONS["at rest"]
    found = enveloped(Moving(at_rest), FRAMES)
    box, ball = at(at_rest, 0)
    assert np.array_equal(found.boxes.min, box.min)
    assert np.array_equal(found.boxes.max, box.max)
    assert np.array_equal(found.spheres.center, ball.center)
    assert np.array_equal(found.spheres.radius, ball.radius)


@pytest.mark.smoke
def test_linear_motion_needs_one_sample_per_interval_and_gives_smallest_sphere():
    ball = random_directions(np.random.default_rng(3), 200)
    motion = Moving(lambda t: ball + np.array((t, 0, 0)))
    found = enveloped(motion, FRAMES)
    assert motion.sample_count == 2 * len(FRAMES) - 1
    single = sphere_from_points(ball)
    # From 0 to 12: half of it, plus the radius of a ball.
    assert found.spheres.radius[0] == pytest.approx(6 + single.radius, rel=1e-12)
    assert found.spheres.center[0] == pytest.approx(single.center + np.array([6, 0, 0]), abs=1e-9)


def test_envelope_of_single_frame_is_its_sample():
    found = enveloped(Moving(MOTIONS["orbit"]), [7])
    box, ball = at(MOTIONS["orbit"], 7)
    assert np.array_equal(found.boxes.max, box.max)
    assert found.spheres.radius[0] == ball.radius[0]


def test_envelope_of_subject_that_is_not_refinable_encloses_linear_motion():
    points = MOTIONS["rod that turns"]
    motion = Moving(points, refinable=False)
    found = enveloped(motion, FRAMES)
    assert motion.sample_count == len(FRAMES)
    at_frames = np.concatenate([points(t) for t in FRAMES])
    assert np.array_equal(found.boxes.max[0], at_frames.max(axis=0))
    assert found.spheres.contains(at_frames).all()


def test_refinable_and_other_subjects_can_be_mixed():
    motion = Moving(MOTIONS["orbit"], MOTIONS["a quarter turn a frame"])
    motion.grain = np.array([0.0, np.inf])
    found = enveloped(motion, FRAMES)
    # The cube has the same pose at every frame; halfway it reaches the square root of 2.
    assert found.boxes.max[1] == pytest.approx([1, 1, 1])
    alone = enveloped(Moving(MOTIONS["orbit"]), FRAMES)
    assert np.array_equal(found.boxes.max[0], alone.boxes.max[0])


def test_many_subjects_are_enclosed_like_single_ones():
    selected = [points for name, points in MOTIONS.items() if "turn" not in name]
    together = enveloped(Moving(*selected), FRAMES)
    for index, points in enumerate(selected):
        everything = swept(points, FRAMES, 32)
        assert (together.boxes.min[index] <= everything.min(axis=0) + 1e-12).all()
        assert (together.boxes.max[index] >= everything.max(axis=0) - 1e-12).all()
        offset = np.linalg.norm(everything - together.spheres.center[index], axis=1).max()
        assert offset <= together.spheres.radius[index] + 1e-12


def test_absent_subject_counts_only_while_present():
    class Visiting(Moving):
        def are_present(self, subjects: np.ndarray, times: np.ndarray) -> np.ndarray:
            return (times >= 5) & (times <= 9) & (subjects == 0)

    found = enveloped(Visiting(MOTIONS["straight"], MOTIONS["straight"]), FRAMES)
    assert found.present.tolist() == [True, False]
    seen = swept(MOTIONS["straight"], np.arange(5.0, 10.0), 8)
    assert found.boxes.min[0] == pytest.approx(seen.min(axis=0))
    assert found.boxes.max[0] == pytest.approx(seen.max(axis=0))


def test_envelope_far_from_origin_encloses_all_times():
    offset = np.array([1e6, -1e6, 1e6])
    found = enveloped(Moving(lambda t: MOTIONS["orbit"](t) + offset), FRAMES)
    everything = swept(MOTIONS["orbit"], FRAMES) + offset
    assert (found.boxes.max[0] >= everything.max(axis=0)).all()
    assert np.linalg.norm(everything - found.spheres.center[0], axis=1).max() <= found.spheres.radius[0]


def test_memory_does_not_grow_with_number_of_frames():
    def peak(count: int) -> int:
        motion = Moving(*[MOTIONS["orbit"]] * times(20))
        tracemalloc.start()
        enveloped(motion, np.linspace(0, 20, count))
        highest = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return highest

    peak(times(30, 10))
    assert peak(times(160, 60)) < 1.2 * peak(times(40, 10))


@pytest.mark.parametrize("frames", [[], [1, 1], [2, 1], [[1, 2]]])
def test_times_that_do_not_increase_raise(frames):
    with pytest.raises(InvalidShapeError, match="growing times"):
        enveloped(Moving(MOTIONS["at rest"]), frames)


@pytest.mark.parametrize("frequency", [1, 2, 4])
def test_covering_cosine_holds_for_random_directions(frequency):
    spread = geodesic_directions(frequency)
    assert len(spread.vectors) == 10 * frequency**2 + 2
    assert len(spread.triangles) == 20 * frequency**2
    assert (np.linalg.det(spread.vectors[spread.triangles]) > 0).all()
    anything = random_directions(np.random.default_rng(1), 20_000)
    nearest = (anything @ spread.vectors.T).max(axis=1)
    assert spread.covering_cosine - 0.002 < nearest.min()
    assert nearest.min() >= spread.covering_cosine
    # Each direction has its opposite, and all are different.
    assert np.abs((spread.vectors @ spread.vectors.T).min(axis=1) + 1).max() < 1e-12
    assert all(not np.allclose(a, b) for a, b in combinations(spread.vectors[:42], 2))
