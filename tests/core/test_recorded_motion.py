"""A motion that is recorded, and gives its shapes later, several times at once: the same report."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Obstacle, Sample, ScanSettings, Sphere, Triangle, TriangleMesh, scan_contacts
from tests.core.test_scan_stopped import COUNT, FRAMES, Wandering, after, told

TIMES = np.arange(FRAMES, dtype=float)


class Recording:
    """What wanders, or is not there for some frames, written down and told together."""

    def __init__(self, kind="sphere", gone=(), places=None):
        self.motion = Wandering(kind)
        self.refinable = self.motion.refinable
        self.sample_between = self.motion.sample_between
        self.gone, self.places = gone, places
        self.waiting: list[Sample] = []
        self.told: list[int] = []

    def sample(self, time):
        present = np.ones(COUNT, dtype=bool)
        present[:10] = time not in self.gone
        # Said of some samples only: None stands for all, and for where obstacles rest.
        places = self.places(time) if self.places else None
        return Sample(self.motion.sample(time), None if present.all() else present, places)

    def record(self, time):
        self.waiting.append(self.sample(time).as_batch())

    def recorded(self):
        self.told.append(len(self.waiting))
        waiting, self.waiting = self.waiting, []
        return Sample.joined(waiting)


class Sampled:
    """The same, sample by sample."""

    def __init__(self, recording):
        self.sample = recording.sample


@pytest.mark.parametrize("kind", ["sphere", "aabb", "obb"])
@pytest.mark.parametrize("gone", [(), (0, 1), (11, 12, 13), (FRAMES - 1,)])
def test_recorded_and_sampled_motion_meet_alike(kind, gone):
    recording = Recording(kind, gone)
    linear = ScanSettings(motion="linear")
    assert told(recording, TIMES, linear) == told(Sampled(recording), TIMES, linear)
    assert sum(recording.told) == FRAMES
    assert max(recording.told) > 1


def test_all_that_was_recorded_before_a_stop_is_looked_at():
    for frames in (3, 4, 17, FRAMES - 1):
        stopped = told(Recording(), TIMES, ScanSettings(motion="linear"), after(frames))
        assert stopped[:2] == told(Recording(), TIMES[:frames], ScanSettings(motion="linear"))[:2]
        assert stopped[2] == frames - 1


def test_obstacles_see_every_recorded_time_at_its_place():
    def places(time):
        # At rest to begin with, then off and turning.
        if time < 7:
            return None
        turn = np.eye(4)
        angle = 0.05 * (time - 6)
        turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        turn[2, 3] = 0.1 * (time - 6)
        return np.stack([turn, np.eye(4)])

    floor = Triangle([[-20, -20, 2.0]], [[30, -20, 2.0]], [[0, 40, 2.0]])
    obstacles = [Obstacle(COUNT, TriangleMesh(floor)), Obstacle(COUNT + 1, TriangleMesh(floor))]
    settings = ScanSettings(motion="linear", obstacles=obstacles)
    recording = Recording(places=places)
    contacts, *rest = told(recording, TIMES, settings)
    expected, *others = told(Sampled(recording), TIMES, settings)
    assert (contacts, rest) == (expected, others)
    assert {COUNT, COUNT + 1} <= {contact[1] for contact in contacts}
    assert sum(recording.told) == FRAMES


@pytest.mark.smoke
def test_no_more_is_recorded_than_the_longest_block_takes():
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
    assert motion.most <= 131


@pytest.mark.smoke
@pytest.mark.parametrize("motion", ["linear", "adaptive"])
def test_bodies_meet_where_they_do_whatever_an_obstacle_does(motion):
    class Meeting:
        """Two balls of radius 1 that touch at x = 0 at frame 3, on eased ways, and a plate that goes off."""

        refinable = np.ones(3, dtype=bool)

        def sample(self, time):
            return self.sample_between(time, np.arange(3))

        def sample_between(self, time, subjects):
            away = 1 + (3 - time) * (1 + 0.1 * time)
            balls = Sphere([[-away, 0, 9], [away, 0, 9]], [1.0, 1.0])
            place = np.eye(4)
            place[:3, 3] = 5 * time, 0, -time
            return Sample(balls[[index for index in subjects if index < 2]], places=place[None])

    plate = Triangle([[-20, -20, 0.0]], [[30, -20, 0.0]], [[0, 40, 0.0]])
    settings = ScanSettings(motion=motion, obstacles=[Obstacle(2, TriangleMesh(plate))])
    contacts, *_ = told(Meeting(), np.arange(8.0), settings)
    first = next(contact for contact in contacts if contact[:2] == (0, 1))
    np.testing.assert_allclose(first[-6:], [0, 0, 9, 1, 0, 0], atol=1e-6)
