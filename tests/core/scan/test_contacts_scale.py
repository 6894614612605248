"""Long and large scans, subjects with several parts, subjects at rest, and samples of adaptive motion."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from addon.core import (
    ContactReport,
    InvalidShapeError,
    Obb,
    Sample,
    ScanSettings,
    Shape,
    Sphere,
    overlaps,
    scan_contacts,
)
from tests.finished import finished
from tests.tiers import times


class Played:
    """A motion from a function of time, which can be sampled between frames."""

    def __init__(self, shapes, count: int) -> None:
        self._shapes = shapes
        self.refinable = np.ones(count, dtype=bool)
        self.between: list[float] = []

    def sample(self, time: float) -> Shape | Sample:
        return self._shapes(time)

    def sample_between(self, time: float, subjects) -> Shape:
        self.between.append(time)
        return self._shapes(time)[subjects]


def run(motion, frames, settings: ScanSettings | None = None) -> ContactReport:
    return finished(scan_contacts(motion, frames, settings))


def peak(frames: int) -> int:
    """Peak memory in bytes of a scan of balls that roll past each other, each at most once."""
    rng = np.random.default_rng(3)
    start, velocity = rng.uniform(-80, 80, (2, 1000, 3))

    def shapes(time: float) -> Sphere:
        # Faster balls are scanned in shorter blocks of frames, which take less memory.
        return Sphere(start + velocity * (time / max(frames, 1000)), 1.0)

    tracemalloc.start()
    report = run(Played(shapes, 1000), np.arange(frames + 1.0))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.contacts
    return most


@pytest.mark.long
def test_memory_does_not_grow_with_number_of_frames():
    peak(20)  # late imports must not count
    # Both motions are so slow that blocks have their largest length, and so long that one of the blocks has
    # about the most contacts that any has.
    assert peak(times(2500, 300, full=10_000)) < 1.1 * peak(times(1000, 100, full=2000))


def test_thousands_of_subjects_match_brute_force():
    rng = np.random.default_rng(4)
    count = times(1500, 1000, full=10_000)
    # The number of contacts of each ball does not depend on the number of balls.
    start = rng.uniform(0, 60 * (count / 10_000) ** (1 / 3), (count, 3))
    velocity = rng.normal(size=(count, 3))
    radius = rng.uniform(0.2, 0.6, count)

    def shapes(time: float) -> Sphere:
        return Sphere(start + velocity * time, radius)

    found = {(c.a, c.b) for c in run(Played(shapes, count), [0, 1, 2]).contacts}
    expected = set()
    # Linear motion: a pair touches in [0, 2] if its least distance there is at most the radii's sum.
    for i in range(0, count, 50):
        p, v = start - start[i], velocity - velocity[i]
        with np.errstate(invalid="ignore"):
            nearest = np.clip(np.nan_to_num(-(p * v).sum(axis=1) / (v * v).sum(axis=1)), 0, 2)
        gap = np.linalg.norm(p + nearest[:, None] * v, axis=1) - radius - radius[i]
        expected |= {(min(i, j), max(i, j)) for j in np.flatnonzero(gap <= 0).tolist() if j != i}
    of_sampled_rows = {pair for pair in found if pair[0] % 50 == 0 or pair[1] % 50 == 0}
    assert of_sampled_rows == expected
    assert len(expected) > count / 200


@pytest.mark.smoke
def test_parts_of_one_subject_are_one_subject_in_report():
    # Two dumbbells with balls of radius 1 at -3 and 3 along Y. The second flies along X from 10 towards the
    # first: the balls touch at x = 2.
    ends = np.array([[0, -3, 0], [0, 3, 0]], dtype=float)

    def shapes(time: float) -> Sphere:
        return Sphere(np.concatenate([ends, ends + np.array([10 - time, 0, 0])]), 1.0)

    class Parts(Played):
        def sample_between(self, time, subjects):
            return shapes(time)[np.isin([0, 0, 1, 1], subjects)]

    motion = Parts(shapes, 2)
    settings = ScanSettings(owners=np.array([0, 0, 1, 1]))
    (contact,) = run(motion, range(0, 20), settings).contacts
    assert (contact.a, contact.b) == (0, 1)
    assert contact.first.frame == pytest.approx(8, abs=1e-9)
    assert [(s.start, s.end) for s in contact.intervals] == [(pytest.approx(8), pytest.approx(12))]
    assert contact.depth == pytest.approx(2)
    assert abs(contact.first.point[1]) == pytest.approx(3)


def test_motion_that_samples_parts_gives_the_same_report():
    # A row of balls, two lengths apart, falls onto a floor of balls, faster and faster, and is tilted: one
    # end of it touches first.
    row = np.stack([np.arange(0, 16, 2.0), np.zeros(8), np.arange(8) * 0.5], axis=1)
    owners = np.repeat([0, 1], 8)

    def shapes(time: float) -> Sphere:
        falling = row + np.array([0, 0, 6 - 0.05 * time**2])
        return Sphere(np.concatenate([row * [1, 1, 0], falling]), 1.0)

    class Whole(Played):
        def sample_between(self, time, subjects):
            self.between.append(time)
            return shapes(time)[np.isin(owners, subjects)]

    class Parts(Whole):
        def sample_parts(self, time, subjects, wanted):
            counts.append(len(wanted))
            assert set(owners[wanted]) == set(subjects)
            return Sample(shapes(time)[wanted])

    settings, counts = ScanSettings(owners=owners), []
    whole, parts = Whole(shapes, 2), Parts(shapes, 2)
    expected, found = (run(motion, range(0, 13), settings) for motion in (whole, parts))
    assert repr(found.contacts) == repr(expected.contacts)
    assert len(found.contacts) == 1
    assert whole.between
    assert not parts.between
    assert min(counts) < 16


def test_invalid_owners_raise():
    shapes = Sphere(np.zeros((3, 3)), 1.0)
    for owners in ([0, 0], [1, 0, 0], [-1, 0, 0]):
        with pytest.raises(InvalidShapeError, match="owners"):
            run(Played(lambda time: shapes, 2), [0, 1], ScanSettings(owners=np.array(owners)))


def test_static_pairs_are_reported_on_request():
    def shapes(time: float) -> Sphere:
        return Sphere([[0, 0, 0], [1, 0, 0], [time, 50, 0]], 1.0)

    assert run(Played(shapes, 3), range(40)).contacts == ()
    (contact,) = run(Played(shapes, 3), range(40), ScanSettings(static_pairs=True)).contacts
    assert [(s.start, s.end) for s in contact.intervals] == [(0.0, 39.0)]


def test_pair_at_rest_in_contact_that_moves_later_is_in_contact_at_start():
    # At rest, one and a half apart, for thirty frames; then apart at two, four frames later.
    def shapes(time: float) -> Sphere:
        return Sphere([[0, 0, 0], [1.5 + 0.125 * max(0, time - 30), 0, 0]], 1.0)

    (contact,) = run(Played(shapes, 2), range(60)).contacts
    assert contact.first.at_start
    assert [(s.start, s.end) for s in contact.intervals] == [(0.0, pytest.approx(34, abs=1e-9))]


def test_pairs_with_equal_label_are_skipped():
    def shapes(time: float) -> Sphere:
        return Sphere([[time - 5, 0, 0], [0, 0, 0], [0.5, 0, 0], [1, 0, 0]], 1.0)

    settings = ScanSettings(separate=np.array([7, 7, -1, -1]), static_pairs=True)
    found = {(c.a, c.b) for c in run(Played(shapes, 4), range(10), settings).contacts}
    assert found == {(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}


def test_no_subframe_samples_where_linear_motion_settles_all_pairs():
    # Linear motion at constant speed: neighboring samples show it.
    motion = Played(lambda time: Sphere([[0, 0, 0], [10 - time, 0, 0]], 1.0), 2)
    (contact,) = run(motion, range(20)).contacts
    assert motion.between == []
    assert contact.first.motion == "sampled"
    assert contact.first.frame == pytest.approx(8, abs=1e-12)


@pytest.mark.smoke
def test_kink_between_two_frames_is_detected():
    # Down to 1.9 at frame 5.5, halfway between two samples of 2.4, and up again. Apart at 2.
    motion = Played(lambda time: Sphere([[0, 0, 0], [1.9 + abs(time - 5.5), 0, 0]], 1.0), 2)
    (contact,) = run(motion, range(12)).contacts
    assert contact.first.frame == pytest.approx(5.4, abs=1e-3)
    assert contact.first.tunnelling
    # A hundredth of the radius is promised: no sample is at the kink itself.
    assert contact.depth == pytest.approx(0.1, abs=1e-2)
    assert run(motion, range(12), ScanSettings(motion="linear")).contacts == ()


def test_single_interval_is_sampled_within():
    # A half circle in one frame: a linear path would go through the ball in the middle.
    def shapes(time: float) -> Sphere:
        return Sphere([[0, 0, 0], [5 * np.cos(np.pi * time), 5 * np.sin(np.pi * time), 0]], 1.0)

    assert run(Played(shapes, 2), [0, 1]).contacts == ()
    assert len(run(Played(shapes, 2), [0, 1], ScanSettings(motion="linear")).contacts) == 1


def test_box_rotating_at_constant_rate_needs_no_subframe_samples_until_it_touches():
    # A rod of 8 by 0.2 turns about its middle, six degrees a frame, towards a box that its end reaches.
    def shapes(time: float | np.ndarray) -> Obb:
        """Shapes (2,) at one time, or (t, 2) at several."""
        batch = (*np.shape(time), 2)
        turn = np.broadcast_to(np.eye(3), (*batch, 3, 3)).copy()
        c, s = np.cos(np.radians(6 * time)), np.sin(np.radians(6 * time))
        turn[..., 0, :2, :2] = np.moveaxis(np.array([[c, -s], [s, c]]), (0, 1), (-2, -1))
        center, half = [[0, 0, 0], [0, 3.5, 0]], [[4, 0.1, 0.1], [0.5, 0.5, 0.5]]
        return Obb(np.broadcast_to(center, (*batch, 3)), np.broadcast_to(half, (*batch, 3)), turn)

    motion = Played(shapes, 2)
    (contact,) = run(motion, range(31)).contacts
    # Dense samples of the same motion, by the test of overlap.
    moments = np.linspace(0, 30, 30_001)
    sampled = shapes(moments)
    hit = moments[overlaps(sampled[:, 0], sampled[:, 1])][0]
    assert hit - 2e-3 < contact.first.frame <= hit
    assert contact.first.uncertainty < 1e-3
    assert len(motion.between) <= 4


def test_results_of_one_motion_are_equal_and_of_another_are_not():
    def crossing(speed: float) -> ContactReport:
        return run(Played(lambda time: Sphere([[speed * time - 5, 0, 0], [0, 0, 0]], 1.0), 2), range(11))

    one, same, other = crossing(1.0), crossing(1.0), crossing(0.9)
    assert len(one.contacts) == 1
    assert one.contacts == same.contacts and one.clearances == same.clearances
    assert one.contacts != other.contacts and one.contacts != ()
