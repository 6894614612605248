"""Recorded motion, which returns the shapes of several times in one batch: same report as sampled motion."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Sample, ScanSettings, Sphere, Triangle, TriangleMesh, scan_contacts
from tests.core.scan.surfaces import balls_and_surfaces, pose_at, surfaces_apart
from tests.core.scan.test_scan_stopped import COUNT, FRAMES, Wandering, after, plain_report

TIMES = np.arange(FRAMES, dtype=float)


class Recording:
    """Wandering shapes, the first ten absent for some frames, recorded and returned in batches.

    surfaces, poses : Surfaces among spheres, and their matrices as a function of time.
    """

    def __init__(self, kind="sphere", gone=(), surfaces=(), poses=None):
        self.motion = Wandering(kind)
        self.refinable = self.motion.refinable
        self.sample_between = self.motion.sample_between
        self.gone, self.surfaces, self.poses = gone, surfaces, poses
        self.waiting: list[Sample] = []
        self.batch_lengths: list[int] = []

    def sample(self, time):
        shapes = self.motion.sample(time)
        if self.surfaces:
            shapes = balls_and_surfaces(shapes, self.surfaces, self.poses(time))
        present = np.ones(len(shapes.center), dtype=bool)
        present[:10] = time not in self.gone
        # None where all are present: so batches mix None and arrays.
        return Sample(shapes, None if present.all() else present)

    def record(self, time):
        self.waiting.append(self.sample(time).as_batch())

    def recorded(self):
        self.batch_lengths.append(len(self.waiting))
        waiting, self.waiting = self.waiting, []
        return Sample.concatenate(waiting)


class SampledMotion:
    """A recording as a motion that is sampled time by time."""

    def __init__(self, recording):
        self.sample = recording.sample


@pytest.mark.parametrize("kind", ["sphere", "aabb", "obb"])
@pytest.mark.parametrize("gone", [(), (0, 1), (11, 12, 13), (FRAMES - 1,)])
def test_recorded_motion_gives_same_report_as_sampled_motion(kind, gone):
    recording = Recording(kind, gone)
    linear = ScanSettings(motion="linear")
    assert plain_report(recording, TIMES, linear) == plain_report(SampledMotion(recording), TIMES, linear)
    assert sum(recording.batch_lengths) == FRAMES
    assert max(recording.batch_lengths) > 1


def test_all_frames_recorded_before_stop_are_scanned():
    for frames in (3, 4, 17, FRAMES - 1):
        stopped = plain_report(Recording(), TIMES, ScanSettings(motion="linear"), after(frames))
        assert stopped[:2] == plain_report(Recording(), TIMES[:frames], ScanSettings(motion="linear"))[:2]
        assert stopped[2] == frames - 1


@pytest.mark.parametrize("gone", [(), (11, 12, 13)])
def test_each_recorded_time_uses_its_pose_of_a_surface(gone):
    def poses(time):
        # At rest first, then translating and rotating.
        since = max(time - 6, 0)
        return np.stack([pose_at(0, 0, 0.1 * since, turn=0.05 * since), np.eye(4)])

    floor = TriangleMesh(Triangle([[-20, -20, 2.0]], [[30, -20, 2.0]], [[0, 40, 2.0]]))
    settings = ScanSettings(motion="linear", separate=surfaces_apart(COUNT, 2))
    recording = Recording(gone=gone, surfaces=[floor, floor], poses=poses)
    contacts, *rest = plain_report(recording, TIMES, settings)
    expected, *expected_rest = plain_report(SampledMotion(recording), TIMES, settings)
    assert (contacts, rest) == (expected, expected_rest)
    assert {COUNT, COUNT + 1} <= {contact[1] for contact in contacts}
    assert sum(recording.batch_lengths) == FRAMES


@pytest.mark.smoke
def test_at_most_longest_block_is_recorded_at_once():
    class Still:
        def __init__(self):
            self.waiting, self.most = 0, 0

        def record(self, time):
            self.waiting += 1
            self.most = max(self.most, self.waiting)

        def recorded(self):
            count, self.waiting = self.waiting, 0
            return Sample(Sphere(np.zeros((count, 2, 3)), np.ones((count, 2))))

    motion = Still()
    scan = scan_contacts(motion, np.arange(2000.0))
    assert sum(1 for progress in scan if progress.done) >= 2000
    assert motion.most <= 259


@pytest.mark.smoke
@pytest.mark.parametrize("motion", ["linear", "adaptive"])
def test_moving_surface_does_not_change_contacts_of_bodies(motion):
    class BallsAndPlate:
        """Two accelerated balls of radius 1 that touch at x = 0 at frame 3, and a plate that moves away."""

        refinable = np.ones(3, dtype=bool)

        def sample(self, time):
            return self.sample_between(time, np.arange(3))

        def sample_between(self, time, subjects):
            away = 1 + (3 - time) * (1 + 0.1 * time)
            balls = Sphere([[-away, 0, 9], [away, 0, 9]], [1.0, 1.0])
            return balls_and_surfaces(balls, [plate], pose_at(5 * time, 0, -time)[None])[subjects]

    plate = TriangleMesh(Triangle([[-20, -20, 0.0]], [[30, -20, 0.0]], [[0, 40, 0.0]]))
    contacts, *_ = plain_report(BallsAndPlate(), np.arange(8.0), ScanSettings(motion=motion))
    first = next(contact for contact in contacts if contact[:2] == (0, 1))
    np.testing.assert_allclose(first[-6:], [0, 0, 9, 1, 0, 0], atol=1e-6)
