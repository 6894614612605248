"""Begin and deepest overlap of all intervals of random keyed pairs, against samples of Blender's evaluation.

Rates are differences of gaps over 1/1024 frame and less. No code of the product computes the expected values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
import numpy as np
import pytest

from addon.scene.motion.scene_motion import SceneMotion
from tests.scene.motion.keyed_pairs.building import Pair, add_pairs
from tests.scene.motion.keyed_pairs.truth import gaps_of_matrices
from tests.scene.sampling import (
    NEAR_KEY,
    add_box,
    contacts_by_names,
    curves_of,
    is_near_key,
    key,
    matrices_of,
    scan_scene,
)
from tests.tiers import is_full

STEP = 1 / 1024
SEEDS, PAIRS = (range(12), 30) if is_full() else (range(1), 16)
SHAPES = ("aabb", "obb", "sphere")


class Interval(NamedTuple):
    """One interval of a pair; `sign` is -1 if the second object of the pair is the first of the contact."""

    pair: Pair
    sign: float
    start: float
    end: float
    details: Any


def intervals_of(pairs: list[Pair], shape: str) -> list[Interval]:
    """Scan the scene, and return the intervals of all pairs that no key is near to."""
    result = scan_scene(shape=shape, static_pairs=True)
    names, found = [subject.name for subject in result.subjects], contacts_by_names(result)
    intervals = []
    for pair in pairs:
        contact = found.get(frozenset(pair.names))
        if contact is None:
            continue
        sign = 1.0 if names[contact.a] == pair.names[0] else -1.0
        for span, details in zip(contact.intervals, contact.details, strict=True):
            if not is_near_key(span.start - STEP, span.start + 2 * NEAR_KEY):
                intervals.append(Interval(pair, sign, span.start, span.end, details))
    return intervals


def gaps_at(shape: str, interval: Interval, times: Any, shift: Any = (0, 0, 0)) -> np.ndarray:
    """Gaps (t,) of a pair, whose second object is shifted."""
    matrices = matrices_of(interval.pair.names, np.asarray(times))
    matrices[interval.pair.names[1]][:, :3, 3] += shift
    return gaps_of_matrices([interval.pair], shape, matrices)[0]


def touch_of(shape: str, interval: Interval) -> float:
    """Time within the uncertainty at which the pair touches: before, another corner may be the nearest."""
    times = np.linspace(interval.start, interval.start + interval.details.uncertainty, 33)
    return float(times[np.abs(gaps_at(shape, interval, times)).argmin()])


def check_speed(shape: str, interval: Interval, tolerance: float) -> None:
    """Compare the closing speed with the rates at which the gap shrinks just before, over several spans.

    The axis along which the boxes are apart may change in the last moment, and the rate with it.
    """
    steps = np.array([1, 0.5, 0.25, 0.125, 0.0625, 0.0]) * STEP
    gaps = gaps_at(shape, interval, touch_of(shape, interval) - steps)
    with np.errstate(divide="ignore"):
        rates = np.concatenate([-np.diff(gaps) / -np.diff(steps), (gaps[:-1] - gaps[-1]) / steps[:-1]])
    # Blender rounds coordinates of about 50 to 4e-6, and times to 2e-7.
    noise = 2 * 4e-6 / (0.0625 * STEP)
    # The normal turns while the contact is not certain, so the whole velocity counts.
    speed, velocity = interval.details.closing_speed, interval.details.velocity
    slack = tolerance * max(np.abs(rates).max(), np.linalg.norm(velocity)) + noise
    assert rates.min() - slack <= speed <= rates.max() + slack, (interval, rates)


def check_velocity_of_boxes(interval: Interval, tolerance: float) -> None:
    """Compare the velocity of oriented boxes with that of points that are fixed to the objects."""
    matrices = matrices_of(interval.pair.names, np.array([interval.start - STEP, interval.start]))
    point = np.append(interval.details.point, 1)
    moved = []
    for name in interval.pair.names:
        before, after = matrices[name]
        moved.append(point - before @ np.linalg.solve(after, point))
    velocity = interval.sign * (moved[1] - moved[0])[:3] / STEP
    error = np.linalg.norm(velocity - interval.details.velocity)
    assert error <= tolerance * np.linalg.norm(velocity) + 0.02, (interval, velocity)


def check_normal(shape: str, interval: Interval) -> None:
    """Move the second object along the normal at the touch: then it is apart by as much."""
    distance = 0.01
    shift = interval.sign * distance * interval.details.normal
    touch = touch_of(shape, interval)
    (before,), (after,) = (gaps_at(shape, interval, [touch], each) for each in ((0, 0, 0), shift))
    # The pair may be apart by its speed times the uncertainty already, and Blender rounds.
    assert after - before == pytest.approx(distance, abs=1e-4), interval


def check_deepest(shape: str, interval: Interval) -> None:
    """Compare the depth with dense samples, and end the overlap by it."""
    details, size = interval.details, min(np.linalg.norm(half) for half in interval.pair.halves)
    # Depths of oriented boxes that rotate come from a few samples.
    # The size of a box along the axes is that of the box, up to twice that of the object.
    tolerance = {"sphere": 0.011, "aabb": 0.02, "obb": 0.06}[shape] * size
    assert interval.start - 1e-9 <= details.deepest_frame <= interval.end + 1e-9
    if is_near_key(details.deepest_frame - STEP, details.deepest_frame + STEP):
        return
    dense = np.linspace(interval.start, interval.end, 60)
    keys = [time for time in dense if is_near_key(time, time)]
    gaps = gaps_at(shape, interval, np.setdiff1d(dense, keys))
    assert -gaps.min() <= details.depth + tolerance, interval
    shift = interval.sign * details.depth * details.direction
    (left,) = gaps_at(shape, interval, [details.deepest_frame], shift)
    assert abs(left) <= tolerance, interval


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", SEEDS)
def test_intervals_of_proven_motion_agree_with_samples(seed):
    shape = SHAPES[seed % len(SHAPES)]
    intervals = intervals_of(add_pairs(seed, PAIRS, shape), shape)
    with_speed = [interval for interval in intervals if interval.details.velocity is not None]
    assert len(with_speed) >= len(intervals) / 2 > 2
    for interval in intervals:
        check_deepest(shape, interval)
        check_normal(shape, interval)
    for interval in with_speed:
        check_speed(shape, interval, 0.03)
        if shape == "obb":
            check_velocity_of_boxes(interval, 0.05)


@pytest.mark.long
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("seed", SEEDS)
def test_speeds_of_sampled_motion_agree_with_samples(seed, monkeypatch):
    # Without a comparison of sources the scene is played, and nothing is known between samples.
    monkeypatch.setattr(SceneMotion, "comparing", lambda self, times, home: iter(()))
    shape = SHAPES[seed % len(SHAPES)]
    intervals = intervals_of(add_pairs(seed, PAIRS, shape), shape)
    # Boxes that make whole turns between samples seem to touch where they do not.
    touching = [each for each in intervals if abs(gaps_at(shape, each, [each.start])[0]) < 0.05]
    with_speed = [interval for interval in touching if interval.details.velocity is not None]
    assert len(with_speed) >= len(intervals) / 4 > 1
    for interval in with_speed:
        check_speed(shape, interval, 0.1)


@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize(("origin", "tolerance"), [(0, 2e-5), (100, 5e-4), (1000, 5e-3)])
def test_speed_of_an_accelerating_box_is_right_far_from_the_origin_too(origin, tolerance):
    mover, target = (add_box(name, (1, 1, 1)) for name in ("Mover", "Target"))
    target.location = origin + 10, 0, 0
    # At frame t, the mover is at 10 (t / 40)^2 from its origin.
    key(mover, "location", [(0, (origin, 0, 0)), (40, (origin + 10, 0, 0))], "QUAD")
    curves_of(mover)[0].keyframe_points[0].easing = "EASE_IN"
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 39
    (contact,) = scan_scene(shape="aabb").report.contacts
    speed = 20 * np.sqrt(8 / 10) / 40
    assert contact.intervals[0].start == pytest.approx(40 * np.sqrt(8 / 10), abs=1e-2)
    assert contact.details[0].closing_speed == pytest.approx(speed, rel=tolerance)
