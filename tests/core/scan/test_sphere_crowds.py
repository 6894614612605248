"""Crowds of spheres: contacts and near misses are those that dense samples show."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from addon.core import ContactReport, Sample, ScanSettings, Sphere, scan_contacts
from tests.finished import finished

COUNT, FRAMES, FINE = 60, 40, 32


class Crowd:
    """Spheres on random paths in a small room, linear from frame to frame; some appear and disappear."""

    def __init__(self, seed: int, *, grows: bool, leaves: bool, scale: float) -> None:
        rng = np.random.default_rng(seed)
        steps = rng.normal(size=(FRAMES, COUNT, 3)) * 0.08
        steps[0] = rng.uniform(0, 4, (COUNT, 3))
        self.centers = np.cumsum(steps, axis=0) * scale
        radii = rng.uniform(0.3, 0.6, COUNT) * (1 + 0.2 * grows * rng.random((FRAMES, COUNT)))
        self.radii = radii * scale
        self.present = rng.random((FRAMES, COUNT)) > 0.1 * leaves

    def sample(self, time: float) -> Sample:
        frame = int(time)
        return Sample(Sphere(self.centers[frame], self.radii[frame]), self.present[frame])

    def separations(self, i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return times (t,), and separations (t, pairs) at them; NaN where one is absent."""
        part = np.linspace(0, 1, FINE + 1)[:, None]
        times, values = [], []
        for k in range(FRAMES):
            # A sphere that disappears keeps its position; the last sample is an interval without duration.
            after = min(k + 1, FRAMES - 1)
            ends = np.where(self.present[after], after, k), np.arange(COUNT)
            offset, offset_end = (
                self.centers[k, j] - self.centers[k, i],
                self.centers[ends][j] - self.centers[ends][i],
            )
            reach = self.radii[k, i] + self.radii[k, j]
            reach_end = self.radii[ends][i] + self.radii[ends][j]
            offsets = offset * (1 - part[..., None]) + offset_end * part[..., None]
            gaps = np.linalg.norm(offsets, axis=-1) - (reach * (1 - part) + reach_end * part)
            times.append(k + part[:, 0] * (after - k))
            values.append(np.where(self.present[k, i] & self.present[k, j], gaps, np.nan))
        return np.concatenate(times), np.concatenate(values)


def run(motion: Crowd, settings: ScanSettings) -> ContactReport:
    return finished(scan_contacts(motion, np.arange(float(FRAMES)), settings))


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("grows", "leaves", "clearance", "scale"),
    [
        (False, False, 0.0, 1.0),
        (True, False, 0.05, 1.0),
        (True, True, 0.0, 1.0),
        (False, True, 0.05, 1e-3),
        (False, False, 1.5, 1.0),
    ],
)
def test_crowd_matches_dense_samples_of_linear_motion(seed, grows, leaves, clearance, scale):
    motion = Crowd(seed, grows=grows, leaves=leaves, scale=scale)
    clearance *= scale
    report = run(motion, ScanSettings(clearance=clearance, motion="linear"))
    contacts = {(c.a, c.b): c for c in report.contacts}
    misses = {(c.a, c.b): c for c in report.clearances}
    # Between two of the fine steps a separation may be this much less than at both.
    between = 0.004 * scale
    exact = 1e-12 * scale
    first, second = np.triu_indices(COUNT, 1)
    times, values = motion.separations(first, second)
    for i, j, gaps in zip(first.tolist(), second.tolist(), values.T, strict=True):
        least = np.nanmin(np.append(gaps, np.inf))
        contact, miss = contacts.get((i, j)), misses.get((i, j))
        if contact is None:
            assert least > clearance - exact
            if miss is None:
                assert least > motion.radii[:, [i, j]].min() - between
            else:
                assert least - between <= miss.gap <= least + exact
            continue
        assert miss is None
        assert all(a.end < b.start for a, b in pairwise(contact.intervals))
        assert contact.first.frame == contact.intervals[0].start
        assert np.isfinite([contact.first.point, contact.first.normal]).all()
        inside = np.zeros(len(times), dtype=bool)
        for start, end in contact.intervals:
            inside |= (start <= times) & (times <= end)
        sure = np.abs(gaps - clearance) > 1e-9 * scale
        # A time at which a sphere appears or disappears is listed twice, with and without the sphere.
        sure &= (not leaves) | (times % 1 > 0)
        assert np.array_equal(inside[sure], gaps[sure] < clearance)
        assert least - between <= -contact.depth <= least + exact
    assert len(contacts) > 100


@pytest.mark.smoke
@pytest.mark.parametrize("power", [-550, 550])
def test_crowd_whose_squares_overflow_or_underflow_gives_same_report(power):
    scale = 2.0**power
    plain, other = (
        run(Crowd(3, grows=True, leaves=True, scale=factor), ScanSettings(motion="linear"))
        for factor in (1.0, scale)
    )
    assert len(plain.contacts) > 100
    reported = [(c.a, c.b, c.intervals, c.deepest_frame) for c in plain.contacts]
    assert [(c.a, c.b, c.intervals, c.deepest_frame) for c in other.contacts] == reported
    assert [c.depth for c in other.contacts] == [c.depth * scale for c in plain.contacts]
    assert [(c.a, c.b, c.gap) for c in other.clearances] == [
        (c.a, c.b, c.gap * scale) for c in plain.clearances
    ]
