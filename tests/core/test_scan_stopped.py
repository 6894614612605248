"""A scan that is stopped tells of the frames so far what a scan of just those tells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product

import numpy as np
import pytest

from addon.core import Aabb, Obb, ScanSettings, Shape, Sphere, scan_contacts
from tests.core.test_contacts import ball_meets_wall
from tests.finished import finished
from tests.tiers import times

COUNT, FRAMES = times(40, 20), 30


class Wandering:
    """Shapes on paths of sines that meet now and then; may be asked between frames."""

    def __init__(self, kind: str) -> None:
        rng = np.random.default_rng(5)
        self.kind = kind
        self.home, self.sway = rng.uniform(0, 12, (COUNT, 3)), rng.normal(size=(COUNT, 3)) * 3
        self.pace, self.half = rng.uniform(0.1, 0.9, (COUNT, 1)), rng.uniform(0.4, 1, (COUNT, 3))
        self.refinable = np.ones(COUNT, dtype=bool)
        self.asked: list[float] = []

    def sample(self, time: float) -> Shape:
        self.asked.append(time)
        return self.sample_between(time, np.arange(COUNT))

    def sample_between(self, time: float, subjects) -> Shape:
        center = (self.home + self.sway * np.sin(self.pace * time))[subjects]
        half = self.half[subjects]
        if self.kind == "sphere":
            return Sphere(center, half[:, 0])
        if self.kind == "aabb":
            return Aabb(center - half, center + half)
        return Obb(center, half, np.eye(3))


def told(motion, frames, settings=None, stops=None):
    """The report as plain values, and when it was stopped."""
    report = finished(scan_contacts(motion, frames, settings, *([stops] if stops else [])))
    contacts = [(c.a, c.b, c.intervals, c.depth, c.deepest_frame, *flat(c.first)) for c in report.contacts]
    return contacts, report.clearances, report.stopped_at


def flat(first):
    about = first.frame, first.uncertainty, first.at_start, first.tunnelling, first.motion
    return *about, *first.point, *first.normal


def after(samples: int):
    """Says stop from that question on; the first comes before the second sample."""
    number = count(1)
    return lambda: next(number) >= samples


def scans() -> Iterator[object]:
    """Yield shapes, ways and samples; to look between frames takes long, most of all for turning boxes."""
    for kind, way, samples in product(["sphere", "aabb", "obb"], ["linear", "adaptive"], [1, 3, 4, 17, 29]):
        is_long = way == "adaptive" and samples > (3 if kind == "obb" else 17)
        yield pytest.param(kind, way, samples, marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize(("kind", "way", "samples"), list(scans()))
def test_what_is_told_of_frames_is_what_a_scan_of_them_alone_tells(kind, way, samples):
    settings, frames = ScanSettings(motion=way), range(1, FRAMES + 1)
    contacts, near, stopped_at = told(Wandering(kind), frames, settings, after(samples))
    whole = told(Wandering(kind), frames[:samples], settings)
    assert (contacts, near) == whole[:2]
    assert (stopped_at, whole[2]) == (samples, None)
    if samples > 10:
        assert len(contacts) > 5 * (COUNT / 40) ** 2 and near


def test_no_sample_is_taken_after_the_stop_and_the_end_is_no_stop():
    motion = Wandering("sphere")
    told(motion, range(FRAMES), stops=after(7))
    assert motion.asked == list(range(7))
    # The question after the last sample is not asked: all was looked at.
    assert told(Wandering("sphere"), range(7), stops=after(7))[2] is None


@pytest.mark.smoke
def test_a_contact_after_the_stop_is_not_told_and_one_before_it_is():
    # Within 2 from t = 3 on: x = 5 - t.
    class Approach:
        sample = staticmethod(ball_meets_wall(lambda t: 5 - t))

    frames = range(11)
    assert told(Approach(), frames, stops=after(3))[0] == []
    ((_, _, spans, *_),) = told(Approach(), frames, stops=after(6))[0]
    assert [(span.start, span.end) for span in spans] == [(pytest.approx(3), 5)]
