"""Subjects that appear and disappear between samples, of which nothing but samples is known."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Obb, Sample, Sphere, Triangle, TriangleMesh, scan_contacts
from tests.core.scan.evaluated.test_steps import bodies
from tests.core.scan.surfaces import balls_and_surfaces
from tests.finished import finished
from tests.tiers import times

SHORT = 2.0**-15
"""Frames within which a body is found to appear or disappear, and reported to."""
KINDS = (Sphere, Aabb, Obb)


class Shown:
    """Bodies of half size 1 that move along X, and are present within spans; each has a wall at x = 0."""

    def __init__(self, kind, speeds, spans, height=0.0):
        self.kind, self.speeds, self.spans, self.height = kind, speeds, spans, height
        self.refinable = np.ones(2 * len(speeds), dtype=bool)
        self.rows = 10.0 * np.arange(len(speeds))
        self.evaluated = 0

    def shapes_at(self, time):
        moving = np.column_stack([self.speeds * (time - 5) - 1.5, self.rows, 0 * self.rows])
        walls = np.column_stack([0 * self.rows, self.rows, 0 * self.rows + self.height])
        return bodies(self.kind, np.concatenate([moving, walls]), 1.0)

    def present_at(self, time):
        self.evaluated += 1
        shown = (self.spans[:, 0] <= time) & (time < self.spans[:, 1])
        return np.append(shown, np.ones(len(shown), dtype=bool))

    def sample(self, time):
        return Sample(self.shapes_at(time), self.present_at(time))

    def sample_between(self, time, subjects):
        return Sample(self.shapes_at(time)[subjects], self.present_at(time)[subjects])

    def find_present(self, time, subjects):
        return self.present_at(time)[subjects]


@pytest.mark.parametrize("kind", KINDS)
def test_contacts_begin_and_end_when_bodies_appear_and_disappear(kind):
    rng, count = np.random.default_rng(7), times(12, 6, full=60)
    spans = np.sort(rng.uniform(0.5, 9.5, (count, 2)), axis=1)
    spans[:, 1] = np.maximum(spans[:, 1], spans[:, 0] + 1.1)
    speeds = rng.uniform(-1, 1, count)
    found = {each.a: each for each in finished(scan_contacts(Shown(kind, speeds, spans), range(11))).contacts}
    compared = 0
    for row, (speed, (begin, end)) in enumerate(zip(speeds, spans, strict=True)):
        # The centers are within 2.
        near = np.sort((np.array([-2.0, 2.0]) + 1.5) / speed + 5)
        begin, end = max(begin, near[0], 0), min(end, near[1], 10)
        if begin >= end:
            assert row not in found
            continue
        (span,) = found[row].intervals
        assert abs(span.start - begin) <= found[row].first.uncertainty + SHORT
        assert abs(span.end - end) <= SHORT
        centers = np.abs(speed * (np.array([begin, end]) - 5) - 1.5)
        is_through = (speed * (begin - 5) - 1.5) * (speed * (end - 5) - 1.5) < 0
        least = 0.0 if is_through else centers.min()
        assert found[row].depth == pytest.approx(2 - least, abs=0.02)
        compared += 1
    assert compared > count / 3


def test_body_that_is_shown_once_between_others_costs_few_samples():
    motion = Shown(Aabb, np.zeros(4), np.array([[0, 20.0], [0, 20], [0, 4.37], [0, 20]]))
    motion.speeds[2] = 0.1
    contact = {each.a: each for each in finished(scan_contacts(motion, range(11))).contacts}[2]
    (span,) = contact.intervals
    assert abs(span.end - 4.37) <= SHORT
    # 21 samples, and one for each halving of half a frame to the shortest part.
    assert motion.evaluated < 21 + 16 + 30


def test_many_bodies_far_from_all_others_are_not_searched():
    motion = Shown(Aabb, np.zeros(12), np.column_stack([np.zeros(12), np.full(12, 4.2)]), height=50.0)
    assert not finished(scan_contacts(motion, range(11))).contacts
    assert motion.evaluated == 21


class Floor:
    """A ball that falls through a floor from 3 to 5, which is present until some time."""

    refinable = np.ones(2, dtype=bool)
    mesh = TriangleMesh(Triangle([(-50, -50, 0)], [(50, -50, 0)], [(0, 80, 0)]))

    def __init__(self, until):
        self.until = until

    def shapes_at(self, time):
        return balls_and_surfaces(Sphere([(0, 0, 4 - time)], 1.0), [self.mesh])

    def find_present(self, time, subjects):
        return np.array([True, time < self.until])[subjects]

    def sample(self, time):
        return Sample(self.shapes_at(time), self.find_present(time, [0, 1]))

    def sample_between(self, time, subjects):
        return Sample(self.shapes_at(time)[subjects])


@pytest.mark.parametrize(("until", "end"), [(6.3, 5.0), (4.3, 4.3)])
def test_contact_with_a_surface_ends_when_that_disappears(until, end):
    (contact,) = finished(scan_contacts(Floor(until), range(11))).contacts
    (span,) = contact.intervals
    assert abs(span.start - 3) <= 1e-6 and abs(span.end - end) <= SHORT
