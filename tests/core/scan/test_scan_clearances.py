"""Clearances, depths and near misses of scans, from closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Obb,
    Sample,
    ScanSettings,
    Shape,
    Sphere,
    scan_contacts,
)
from tests.core.scan.scans import ball_meets_wall, run, spans
from tests.finished import finished
from tests.tiers import times


def test_clearance_starts_a_contact_early_and_reports_a_negative_depth():
    # Nearest 2.5 at t = 4: a gap of 0.5. Within 0.75 while |t - 4| <= 0.25.
    motion = ball_meets_wall(lambda t: 2.5 + abs(t - 4))
    (contact,) = run(motion, range(0, 9), ScanSettings(clearance=0.75)).contacts
    assert spans(contact) == [(pytest.approx(3.75, abs=1e-12), pytest.approx(4.25, abs=1e-12))]
    assert contact.depth == pytest.approx(-0.5, abs=1e-12)
    assert contact.deepest_frame == 4
    assert run(motion, range(0, 9), ScanSettings(clearance=0.49)).contacts == ()


def test_gap_of_a_contact_is_not_that_of_an_interval_without_contact():
    # The least gap within the clearance is 0.5, at t = 2. At t = 4 the gap is 0.78, because all faces have
    # gaps of 0.45.
    places = np.array([(2.5, 9, 0), (2.5, 9, 0), (2.5, 0, 0), (2.5, 2.5, 2.5), (2.45, 2.45, 2.45), (9, 9, 9)])

    def shapes(t):
        return Obb([(0, 0, 0), places[int(t)]], [1, 1, 1], [np.eye(3)] * 2)

    (contact,) = run(shapes, range(6), ScanSettings(clearance=0.6, motion="linear")).contacts
    (details,) = contact.details
    assert contact.depth == details.depth == pytest.approx(-0.5, abs=1e-9)
    assert spans(contact)[0][0] <= contact.deepest_frame == details.deepest_frame <= spans(contact)[0][1]


def test_clearance_larger_than_subjects_finds_contact():
    # Radii of 0.1 leave gaps of 2.8 at height 3: within 2.9 while x^2 + 9 <= 3.1^2, |x| <= 0.781.
    def shapes(t):
        return Sphere([[0, 0, 0], [t - 4.5, 3, 0]], 0.1)

    (contact,) = run(shapes, range(10), ScanSettings(clearance=2.9)).contacts
    reach = math.sqrt(3.1**2 - 9)
    assert spans(contact) == [(pytest.approx(4.5 - reach, abs=1e-12), pytest.approx(4.5 + reach, abs=1e-12))]
    assert contact.depth == pytest.approx(-2.8, abs=1e-12)


def test_clearance_between_boxes_is_euclidean():
    # The corner gap is (3, 4, 0) (5 - t) / 5: it is 1 at t = 4.
    def shapes(t):
        low = np.array([1, 1, 0]) + np.array([3, 4, 0]) * (5 - t) / 5
        return Aabb([[0, 0, 0], low], [[1, 1, 1], low + 1])

    (contact,) = run(shapes, range(0, 6), ScanSettings(clearance=1.0)).contacts
    assert spans(contact) == [(pytest.approx(4, abs=1e-12), 5.0)]


def test_near_miss_has_the_closed_form_gap_and_time():
    # A ball flies by at height 2.7 with speed 4, nearest at x = 0: t = 10.3 / 4, gap 0.7.
    def shapes(t):
        return Sphere([[0, 0, 0], [-10.3 + 4 * t, 2.7, 0]], 1)

    report = run(shapes, range(0, 7))
    assert report.contacts == ()
    (near,) = report.clearances
    assert near.frame == pytest.approx(10.3 / 4, abs=1e-12)
    assert near.gap == pytest.approx(0.7, abs=1e-12)


def test_near_miss_of_boxes_between_frames_is_at_the_corner():
    # The gaps on x and y are 3 - 4 t and 4 t - 2: nearest where both are 0.5, at t = 5 / 8.
    def shapes(t):
        low = np.array([4 - 4 * t, 4 * t - 1, 0])
        return Aabb([[0, 0, 0], low], [[1, 1, 1], low + 1])

    (near,) = run(shapes, [0, 2]).clearances
    assert near.frame == pytest.approx(0.625, abs=1e-12)
    assert near.gap == pytest.approx(math.sqrt(0.5), abs=1e-12)


def test_near_misses_are_sorted_by_gap():
    def shapes(t):
        return Sphere([[0, 0, 0], [3 - 1e-3 * t, 0, 0], [0, 2.2 + t * 1e-3, 0], [0, 0, 2.6 + t * 1e-3]], 1)

    gaps = [near.gap for near in run(shapes, range(3)).clearances]
    assert gaps == sorted(gaps)
    assert gaps[:3] == pytest.approx([0.2, 0.6, 0.998])


def test_near_miss_is_at_most_as_wide_as_the_smaller_one():
    # Radii 5 and 1: gaps of 0.99 are listed, of 1.01 are not.
    for gap, listed in ((0.99, 1), (1.01, 0)):
        report = run(lambda t, g=gap: Sphere([[0, 0, 0], [6 + g + abs(t - 2), 0, 0]], [5, 1]), range(5))
        assert len(report.clearances) == listed


def test_pairs_at_rest_are_no_near_misses_but_their_contacts_count():
    def shapes(t):
        return Sphere([[0, 0, 0], [2.1, 0, 0], [0, 1, 0], [50, 0, t]], 1)

    report = run(shapes, range(5), ScanSettings(static_pairs=True))
    assert report.clearances == ()
    assert [(c.a, c.b) for c in report.contacts] == [(0, 2)]
    assert spans(report.contacts[0]) == [(0.0, 4.0)]


@pytest.mark.parametrize("kind", ["obb", "aabb", "sphere"])
def test_depth_is_known_for_clearance_larger_than_shapes(kind):
    # Passing by at 1 to the side and 0.8 above, nearest at 2.25; half a side, or a radius, of 0.05.
    def shapes(t):
        centers = np.array([[0, 0, 0], [t - 2.25, 1, 0.8]])
        if kind == "obb":
            return Obb(centers, np.full((2, 3), 0.05), np.eye(3))
        return Aabb(centers - 0.05, centers + 0.05) if kind == "aabb" else Sphere(centers, 0.05)

    (contact,) = run(shapes, range(6), ScanSettings(clearance=2.0)).contacts
    gap = math.hypot(1, 0.8) - 0.1 if kind == "sphere" else math.hypot(0.9, 0.7)
    assert contact.depth == pytest.approx(-gap, abs=1e-6)


def test_corner_rotating_past_within_one_frame_is_near_miss_at_closest_time():
    # A box rotated by 0.6 rad per frame about its center: at frame 0.5 its corner points along X, at sqrt(2).
    def shapes(t):
        angle = 0.6 * (t - 0.5) + math.pi / 4
        turn = np.eye(3)
        turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        return Obb([[0, 0, 0], [3.6, 0, 0]], [[1, 1, 1], [2, 2, 2]], np.stack([turn, np.eye(3)]))

    (near,) = run(shapes, [0, 1]).clearances
    assert near.gap == pytest.approx(1.6 - math.sqrt(2), abs=1e-4)
    assert near.frame == pytest.approx(0.5, abs=0.02)


class Swings:
    """Balls or cubes 1 wide that swing along X, each past one at rest."""

    def __init__(self, kind: type, pace: float) -> None:
        rng, count = np.random.default_rng(7), times(120, 40, full=300)
        self.kind, self.pace = kind, pace
        self.reach, self.phase = rng.uniform(0.5, 6, count), rng.uniform(0, 7, count)
        self.place = np.column_stack(
            [self.reach + rng.uniform(-0.8, 1.6, count), 4.0 * np.arange(count), 0 * self.reach]
        )
        self.refinable = np.ones(2 * count, dtype=bool)

    def gaps(self, time: np.ndarray) -> np.ndarray:
        """Gap (t, n) of each pair."""
        moved = self.reach * np.sin(self.pace * np.asarray(time)[..., None] + self.phase)
        return np.abs(moved - self.place[:, 0]) - 1

    def shapes(self, time: float) -> Shape:
        moved = np.column_stack([self.reach * np.sin(self.pace * time + self.phase), self.place[:, 1:]])
        centers = np.concatenate([moved, self.place])
        half = np.full(centers.shape, 0.5)
        if self.kind is Sphere:
            return Sphere(centers, half[:, 0])
        return Aabb(centers - half, centers + half) if self.kind is Aabb else Obb(centers, half, np.eye(3))

    def sample(self, time: float) -> Sample:
        return Sample(self.shapes(time))

    def sample_between(self, time: float, subjects: np.ndarray) -> Sample:
        return Sample(self.shapes(time)[subjects])


@pytest.mark.parametrize("pace", [0.3, 1.0])
@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb])
def test_depths_and_gaps_between_samples_are_within_a_hundredth_of_the_size(kind, pace):
    motion = Swings(kind, pace)
    report = finished(scan_contacts(motion, range(9), ScanSettings()))
    least = motion.gaps(np.linspace(0, 8, 20_001)).min(axis=0)
    size = 0.5 if kind is Sphere else 0.5 * np.sqrt(3)
    depths = {contact.a: contact.depth for contact in report.contacts}
    gaps = {near_miss.a: near_miss.gap for near_miss in report.clearances}
    assert len(depths) > len(least) / 3 and len(gaps) > len(least) / 10
    for pair, expected in enumerate(least):
        if pair in depths:
            assert depths[pair] == pytest.approx(-expected, abs=0.01 * size + 1e-6)
        elif expected < 0.9 * size:
            assert gaps[pair] == pytest.approx(expected, abs=0.01 * size + 1e-6)
