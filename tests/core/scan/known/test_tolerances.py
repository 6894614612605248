"""Errors of the begins and ends of contacts, against the times of a sine."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Sample, ScanSettings, Sphere, scan_contacts
from tests.finished import finished
from tests.tiers import times


class Wave:
    """A ball of radius 0.5 on a sine of amplitude 3 along X, and one at rest at the origin."""

    def __init__(self, speed, phase, is_known):
        self.speed, self.phase = speed, phase
        self.refinable, self.is_certain = np.ones(2, dtype=bool), np.full(2, is_known)
        self.costs, self.grain = np.ones(2), np.full(2, 2.0**-24)

    def at(self, shapes, times, is_before=False):
        centers = np.zeros((len(shapes), 3))
        centers[:, 0] = np.where(shapes, 0, 3 * np.sin(self.speed * np.asarray(times) + self.phase))
        return Sphere(centers, np.full(len(shapes), 0.5))

    def sample(self, time):
        return Sample(self.sample_between(time, np.arange(2)).shapes)

    def sample_between(self, time, subjects):
        return Sample(self.at(subjects, np.full(len(subjects), time)))

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def bound(self, shapes, begin, end):
        """Bound of the distance from the chord: the largest second derivative times step^2 / 8."""
        deviation = np.where(shapes, 0, 3 * self.speed**2 * (end - begin) ** 2 / 8)
        return (deviation, np.zeros(len(shapes), dtype=bool))

    def breaks(self, shapes, begin, end):
        return np.full(len(shapes), np.inf)

    def crossings(self, last):
        """Begins and ends within the scan: centers are 1 apart where the sine is 1/3."""
        angle, half_turns = np.arcsin(1 / 3), np.pi * np.arange(-2, 40)
        found = [(half_turns + sign * angle - self.phase) / self.speed for sign in (-1, 1)]
        return [each[(each > 0) & (each < last)] for each in found]


@pytest.mark.parametrize("is_known", [False, True])
def test_first_begins_are_within_a_thousandth_and_all_others_within_a_hundredth(is_known):
    rng, last = np.random.default_rng(5), 12
    first, later = [], []
    for _ in range(times(12, full=24)):
        wave = Wave(rng.uniform(0.3, 0.9), rng.uniform(0, 6), is_known)
        (contact,) = finished(scan_contacts(wave, np.arange(last + 1.0), ScanSettings())).contacts
        begins, ends = wave.crossings(last)
        found = [interval.start for interval in contact.intervals if interval.start > 0]
        assert len(found) == len(begins)
        errors = np.array(found) - begins
        uncertainty = [each.uncertainty for each in contact.details][-len(found) :]
        assert (errors <= 1e-9).all() or not is_known
        starts_apart = contact.intervals[0].start > 0
        first += [(abs(errors[0]), uncertainty[0])] if starts_apart else []
        later += list(zip(abs(errors), uncertainty, strict=True))[starts_apart:]
        stops = [interval.end for interval in contact.intervals if interval.end < last]
        assert len(stops) == len(ends) and (abs(np.array(stops) - ends) < 0.01).all()
    assert np.max(first) < 0.001
    errors, uncertainty = np.transpose(later)
    assert errors.max() < 0.01 and uncertainty.max() < (0.0125 if is_known else 0.01)
    assert len(first) > 2 and len(later) > 5
