"""Stopped scans: the report equals that of a scan of the frames before the stop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count, pairwise, product

import numpy as np
import pytest

from addon.core import (
    Aabb,
    ContactReport,
    Obb,
    ScanSettings,
    Shape,
    Sphere,
    Triangle,
    TriangleMesh,
    scan_contacts,
)
from tests.core.scan.scans import ball_meets_wall
from tests.core.scan.surfaces import balls_and_surfaces, surfaces_apart
from tests.finished import finished
from tests.tiers import times

COUNT, FRAMES = times(22, 20, full=40), 30


class Wandering:
    """Shapes on sine paths that touch occasionally; can be sampled between frames.

    walls : Surfaces at rest among spheres, after these.
    """

    def __init__(self, kind: str, walls: Sequence[TriangleMesh] = ()) -> None:
        rng = np.random.default_rng(5)
        self.kind, self.walls = kind, walls
        self.home, self.sway = rng.uniform(0, 12, (COUNT, 3)), rng.normal(size=(COUNT, 3)) * 3
        self.pace, self.half = rng.uniform(0.1, 0.9, (COUNT, 1)), rng.uniform(0.4, 1, (COUNT, 3))
        self.refinable = np.ones(COUNT + len(walls), dtype=bool)
        self.sampled: list[float] = []

    def sample(self, time: float) -> Shape:
        self.sampled.append(time)
        return self.sample_between(time, np.arange(len(self.refinable)))

    def sample_between(self, time: float, subjects) -> Shape:
        walls = [self.walls[row - COUNT] for row in subjects if row >= COUNT]
        subjects = subjects[subjects < COUNT]
        center = (self.home + self.sway * np.sin(self.pace * time))[subjects]
        half = self.half[subjects]
        if self.kind == "sphere":
            balls = Sphere(center, half[:, 0])
            return balls_and_surfaces(balls, walls) if self.walls else balls
        if self.kind == "aabb":
            return Aabb(center - half, center + half)
        return Obb(center, half, np.eye(3))


def plain_report(motion, frames, settings=None, stops=None):
    """Return the report as plain values, and when it was stopped."""
    report = finished(scan_contacts(motion, frames, settings, *([stops] if stops else [])))
    contacts = [(c.a, c.b, c.intervals, c.depth, c.deepest_frame, *flat(c.first)) for c in report.contacts]
    return contacts, report.clearances, report.stopped_at


def flat(first):
    description = first.frame, first.uncertainty, first.at_start, first.tunnelling, first.motion
    return *description, *first.point, *first.normal


def after(samples: int):
    """Return a function that stops the scan after this many samples."""
    number = count(1)
    return lambda: next(number) >= samples


def scans() -> Iterator[object]:
    """Yield shapes, motion kinds and samples; adaptive scans take long, those of oriented boxes most."""
    for kind, motion_kind, samples in product(
        ["sphere", "aabb", "obb"], ["linear", "adaptive"], [1, 3, 4, 17, 29]
    ):
        is_long = motion_kind == "adaptive" and samples > (3 if kind == "obb" else 17)
        yield pytest.param(kind, motion_kind, samples, marks=pytest.mark.long if is_long else [])


@pytest.mark.parametrize(("kind", "motion_kind", "samples"), list(scans()))
def test_stopped_scan_reports_same_as_scan_of_its_frames_alone(kind, motion_kind, samples):
    settings, frames = ScanSettings(motion=motion_kind), range(1, FRAMES + 1)
    contacts, near, stopped_at = plain_report(Wandering(kind), frames, settings, after(samples))
    whole = plain_report(Wandering(kind), frames[:samples], settings)
    assert (contacts, near) == whole[:2]
    assert (stopped_at, whole[2]) == (samples, None)
    if samples > 10:
        assert len(contacts) > 5 * (COUNT / 40) ** 2 and near


def test_no_sample_is_taken_after_stop_and_complete_scan_is_not_stopped():
    motion = Wandering("sphere")
    plain_report(motion, range(FRAMES), stops=after(7))
    assert [time for time in motion.sampled if time == int(time)] == list(range(7))
    assert max(motion.sampled) == 6
    # `stops` is not called after the last sample, because the scan is complete.
    assert plain_report(Wandering("sphere"), range(7), stops=after(7))[2] is None


def wall(size: float) -> TriangleMesh:
    """Return two triangles across the middle of the shapes."""
    low, high = 6 - size, 6 + size
    square = np.array([[low, low, 6], [high, low, 6], [high, high, 6], [low, high, 6]])
    return TriangleMesh(Triangle(square[[0, 0]], square[[1, 2]], square[[2, 3]]))


def share_steps(motion, frames, settings=None):
    """Return the shares of the progress of a scan."""
    return [progress.share for progress in scan_contacts(motion, frames, settings)]


@pytest.mark.parametrize("kind", ["sphere", "aabb", "obb"])
def test_progress_grows_with_each_step_and_ends_near_one(kind):
    shares = share_steps(Wandering(kind), range(12))
    assert all(a < b or a > 0.99 for a, b in pairwise(shares))
    assert shares == sorted(shares) and 0.9 < shares[-1] <= 1
    # Refinement is counted: no jump is a large part of the whole.
    assert np.diff(shares).max() < 0.2


def dropping_scan(motion, frames, settings, steps: int):
    """Return the report of a scan that is stopped and drops what is not solved after some steps of work."""
    scan = scan_contacts(motion, frames, settings, lambda: False, after(steps))
    return finished(scan)


def first_contacts(report, until: float):
    return {(c.a, c.b): c.first.frame for c in report.contacts if c.first.frame <= until}


def wandering_spheres(with_walls: bool) -> tuple[Wandering, ScanSettings]:
    """Return a motion of spheres and settings, with a small and a large wall if these are requested."""
    if not with_walls:
        return Wandering("sphere"), ScanSettings()
    walls = [wall(size) for size in (1.0, 8.0)]
    return Wandering("sphere", walls), ScanSettings(separate=surfaces_apart(COUNT, len(walls)))


@cache
def whole_report(with_walls: bool) -> ContactReport:
    motion, settings = wandering_spheres(with_walls)
    return finished(scan_contacts(motion, range(FRAMES), settings))


@pytest.mark.parametrize(
    ("steps", "with_walls"),
    [
        *((steps, False) for steps in (1, 4, 40, 90, times(200, 150, full=300))),
        *(pytest.param(steps, True, marks=pytest.mark.long) for steps in (4, times(90, full=300))),
    ],
)
def test_dropping_scan_ends_at_once_with_the_contacts_up_to_its_last_frame(steps, with_walls):
    motion, settings = wandering_spheres(with_walls)
    whole = whole_report(with_walls)
    report = dropping_scan(motion, range(FRAMES), settings, steps)
    end = report.stopped_at
    assert end is not None and end < FRAMES - 1 and end <= motion.sampled[-1]
    found, wanted = first_contacts(report, np.inf), first_contacts(whole, end)
    assert all(frame <= end for frame in found.values())
    # The last interval has no sample after it to estimate deviations from.
    assert found.keys() ^ wanted.keys() <= {
        pair for pair, frame in {**found, **wanted}.items() if frame > end - 1
    }
    for pair in found.keys() & wanted.keys():
        assert found[pair] == pytest.approx(wanted[pair], abs=2e-3)
    assert all(span.end <= end for contact in report.contacts for span in contact.intervals)
    if steps >= 90:
        assert found


@pytest.mark.smoke
def test_contact_before_stop_is_reported_and_later_one_is_not():
    # Within 2 from t = 3 on: x = 5 - t.
    class Approach:
        sample = staticmethod(ball_meets_wall(lambda t: 5 - t))

    frames = range(11)
    assert plain_report(Approach(), frames, stops=after(3))[0] == []
    ((_, _, spans, *_),) = plain_report(Approach(), frames, stops=after(6))[0]
    assert [(span.start, span.end) for span in spans] == [(pytest.approx(3), 5)]
