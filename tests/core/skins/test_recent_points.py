"""Outermost points at the latest times."""

from __future__ import annotations

import numpy as np

from addon.core.skins import blended_points
from addon.core.skins.blended_points import RecentPoints


def points_at(times):
    """Points (t, 6) that differ by time."""
    return np.asarray(times)[:, None].astype(np.int64) * 10 + np.arange(6)


def test_points_are_found_at_their_times_alone():
    recent = RecentPoints()
    assert (recent.at(np.array([1.0])) == -1).all()
    recent.add(np.array([3.0, 1.0]), points_at([3, 1]))
    recent.add(np.array([2.0]), points_at([2]))
    found = recent.at(np.array([0.0, 1.0, 1.5, 2.0, 3.0, 4.0]))
    assert (found[[1, 3, 4]] == points_at([1, 2, 3])).all()
    assert (found[[0, 2, 5]] == -1).all()


def test_later_points_of_a_time_replace_the_earlier_ones():
    recent = RecentPoints()
    recent.add(np.array([1.0, 2.0]), points_at([1, 2]))
    recent.add(np.array([2.0]), points_at([7]))
    assert (recent.at(np.array([1.0, 2.0])) == points_at([1, 7])).all()


def test_earliest_points_are_forgotten(monkeypatch):
    monkeypatch.setattr(blended_points, "_MOST_TIMES", 10)
    recent = RecentPoints()
    for time in range(100):
        recent.add(np.array([float(time)]), points_at([time]))
    known = (recent.at(np.arange(100.0)) >= 0).all(axis=1)
    assert known[-10:].all()
    assert known.sum() < 25
