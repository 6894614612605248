"""Adaptive subdivision of many pairs at once, and of fast ones. Expected values by formula."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from addon.core import Aabb, ContactReport, Obb, Sample, ScanSettings, Shape, Sphere, scan_contacts
from tests.finished import finished
from tests.tiers import times

Array = np.ndarray


class Formula:
    """Subjects as a function of time, which returns the shapes of all."""

    def __init__(self, shapes: Callable[[float], Shape], count: int) -> None:
        self.shapes = shapes
        self.refinable = np.ones(count, dtype=bool)

    def sample(self, time: float) -> Sample:
        return Sample(self.shapes(time))

    def sample_between(self, time: float, subjects: Array) -> Sample:
        return Sample(self.shapes(time)[subjects])


def scanned(shapes: Callable[[float], Shape], count: int, frames: range) -> ContactReport:
    return finished(scan_contacts(Formula(shapes, count), frames, ScanSettings()))


@pytest.mark.smoke
def test_many_contacts_within_one_interval_are_exact_to_a_thousandth():
    # Balls of radius 0.4 start to fall at frame 4 by 4 (t - 4)^2, each onto another ball that is at
    # rest; they touch when their centers are 0.8 apart.
    count = 200
    touches = np.linspace(4.02, 4.98, count)
    place = np.zeros((count, 3))
    place[:, 0], place[:, 1] = 3.0 * (np.arange(count) % 20), 3.0 * (np.arange(count) // 20)

    def shapes(time: float) -> Sphere:
        falling = place.copy()
        falling[:, 2] = 0.8 + 4 * (touches - 4) ** 2 - 4 * max(time - 4, 0) ** 2
        return Sphere(np.concatenate([place, falling]), np.full(2 * count, 0.4))

    contacts = scanned(shapes, 2 * count, range(1, 8)).contacts
    firsts = {contact.a: contact.first for contact in contacts if contact.b == contact.a + count}
    assert len(firsts) == count
    late = np.array([firsts[k].frame for k in range(count)]) - touches
    assert np.abs(late).max() < 1e-3
    assert (late <= [firsts[k].uncertainty + 1e-9 for k in range(count)]).all()


def corner_past_corner(least: float, kind: type) -> Callable[[float], Shape]:
    """Return the motion of a cube of side 2 past another, along a slightly curved diagonal.

    It moves sixteen lengths per frame. Their corners are nearest at frame 10.37, `least` apart; the chord of
    the path over a frame overlaps.
    """

    def shapes(time: float) -> Shape:
        t = time - 10.37
        least_here = least - 2e-3 * t * t
        centers = np.array([[0.0, 0, 0], [2 + least_here + 16 * t, 2 + least_here - 16 * t, 0.5]])
        half = np.ones((2, 3))
        return (
            Aabb(centers - 1, centers + 1)
            if kind is Aabb
            else Obb(centers, half, np.tile(np.eye(3), (2, 1, 1)))
        )

    return shapes


@pytest.mark.parametrize("kind", [Aabb, Obb])
@pytest.mark.parametrize("least", [3e-4, -3e-4])
def test_fast_near_miss_is_distinguished_from_fast_graze(kind, least):
    contacts = scanned(corner_past_corner(least, kind), 2, range(1, 21)).contacts
    if least > 0:
        assert not contacts
    else:
        # Both offsets, 2 - 3e-4 +- 16 t, are at most 2 from t = -3e-4 / 16 on.
        late = contacts[0].first.frame - (10.37 - 3e-4 / 16)
        assert abs(late) < 1e-3
        assert late <= contacts[0].first.uncertainty + 1e-9


@pytest.mark.parametrize("least", [3e-4, -3e-4])
def test_bouncing_ball_is_distinguished_from_ball_that_stops_short(least):
    # Ball by ball of radius 0.4 comes in straight at `rate`, turns at its own time when the gap is `least`,
    # and goes back slower: it first touches 3e-4 / rate before that time, if at all.
    rng = np.random.default_rng(4)
    count = times(50, 30, full=100)
    turns, rate, back = rng.uniform(4, 5, count), rng.uniform(1, 8, count), rng.uniform(0, 3, count)
    place = np.zeros((count, 3))
    place[:, 0], place[:, 1] = 3.0 * (np.arange(count) % 10), 3.0 * (np.arange(count) // 10)

    def shapes(time: float) -> Sphere:
        coming = place.copy()
        coming[:, 2] = 0.8 + least + np.where(time < turns, rate * (turns - time), back * (time - turns))
        return Sphere(np.concatenate([place, coming]), np.full(2 * count, 0.4))

    contacts = scanned(shapes, 2 * count, range(1, 8)).contacts
    firsts = {contact.a: contact.first for contact in contacts if contact.b == contact.a + count}
    if least > 0:
        assert not firsts
    else:
        assert len(firsts) == count
        late = np.array([firsts[k].frame - turns[k] + 3e-4 / rate[k] for k in range(count)])
        assert np.abs(late).max() < 1e-3
        assert (late <= [firsts[k].uncertainty + 1e-9 for k in range(count)]).all()


@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb])
def test_contacts_that_begin_or_end_next_to_either_end_of_a_scan_are_in_time(kind):
    # Balls or cubes swing by a sine of 1.8 rad per frame, each past one at rest that is 1 wide, like itself.
    rng, count, last = np.random.default_rng(3), times(80, 50, full=400), 4
    reach, phase = rng.uniform(0.5, 6, count), rng.uniform(0, 7, count)
    place = np.column_stack([reach * rng.uniform(0, 1.1, count), 3.0 * np.arange(count), np.zeros(count)])

    def swinging(time) -> Array:
        return reach * np.sin(1.8 * time + phase)

    def shapes(time: float) -> Shape:
        moved = np.column_stack([swinging(time), place[:, 1:]])
        centers, half = np.concatenate([moved, place]), np.full(2 * count, 0.5)
        if kind is Sphere:
            return Sphere(centers, half)
        sides = np.repeat(half[:, None], 3, axis=1)
        return Aabb(centers - sides, centers + sides) if kind is Aabb else Obb(centers, sides, np.eye(3))

    spans = {contact.a: contact.intervals for contact in scanned(shapes, 2 * count, range(last + 1)).contacts}
    dense = np.linspace(0, last, 40_001)
    touches = np.abs(swinging(dense[:, None]) - place[:, 0]) <= 1
    edges = np.diff(np.pad(touches, ((1, 1), (0, 0))).astype(int), axis=0)
    compared = 0
    for pair in range(count):
        begins, ends = (
            dense[np.flatnonzero(edges[:, pair] == step) + shift] for step, shift in ((1, 0), (-1, -1))
        )
        found = spans.get(pair, ())
        assert len(found) == len(begins)
        for span, begin, end in zip(found, begins, ends, strict=True):
            assert span.start - begin < 5e-3 and abs(span.end - end) < 6e-3
            compared += begin > last - 1
    assert compared > count / 8


@pytest.mark.parametrize(
    "rate", [1.0, *(pytest.param(rate, marks=pytest.mark.long) for rate in (2.5, 3.8, 4.0, 4.4))]
)
def test_waves_of_a_radian_in_a_quarter_of_a_frame_are_not_missed(rate):
    # A ball moves up and down by 2 sin(rate t + phase) above another one that is at rest, alone. Frames show
    # less than two thirds of a wave, and its turn may be in the first or in the last interval.
    found = 0
    for phase in np.linspace(0, 6, times(6, full=17)):
        for place in (2.45, 1.5):

            def shapes(time: float, phase: float = phase, place: float = place) -> Sphere:
                height = place + 2 * np.sin(rate * time + phase)
                return Sphere([[0, 0, 0], [0, 0, height]], [0.25, 0.25])

            # Below a height of 0.5 the balls touch: from an angle of pi + low on, until 2 pi - low.
            low = np.arcsin((place - 0.5) / 2)
            angle = (phase - np.pi - low) % (2 * np.pi)
            expected = 0.0 if angle <= np.pi - 2 * low else (2 * np.pi - angle) / rate
            contacts = scanned(shapes, 2, range(7)).contacts
            if expected <= 6:
                (contact,) = contacts
                assert abs(contact.first.frame - expected) <= contact.first.uncertainty + 1e-9
                assert contact.first.uncertainty < 1e-3
                found += 1
            else:
                assert not contacts
    assert found > times(2, 1, full=4)
