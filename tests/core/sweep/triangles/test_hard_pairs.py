"""Sweeps of triangles that slide, graze, are coplanar or degenerate, compared with exact rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.core.sweep.triangle_triangle import MAX_STEPS, MovingTriangles, first_impacts_of_triangles
from tests.core.exact import square_root
from tests.core.sweep.triangles.exact_triangle_sweeps import (
    Enclosed,
    corners_at,
    depth,
    exact_squared_distance,
    first_contact,
)
from tests.core.sweep.triangles.hard_triangle_pairs import (
    FAMILIES,
    coplanar,
    far_corners,
    far_moves,
    pairs,
    random,
)
from tests.tiers import times

COUNT = times(50, quick=5, full=840)
EARLY = 1e-9
"""Distance at a time of contact, as a part of the size of the triangles, at most."""
ROUNDING = 1e-15
"""Overlap before a time of contact, as a part of the coordinates, at most: rounding errors of the corners."""


def distance_at(pair: np.ndarray, time: float) -> float:
    return square_root(exact_squared_distance(*(corners_at(pair[:, k], time) for k in (0, 1))))


def deepest_between(pair: np.ndarray, begin: Fraction, end: float) -> float:
    """Largest depth at eight times from one to another."""
    times = [begin + (Fraction(end) - begin) * k / 8 for k in range(1, 9)]
    return max(depth(*(corners_at(pair[:, k], time) for k in (0, 1))) for time in times)


def assert_first(pair: np.ndarray, time: float, exact: Enclosed | None) -> None:
    """Assert that triangles touch at a time, or nearly, and by no more than rounding before."""
    assert not np.isnan(time), "missed"
    if exact and time > exact.end:
        # Rounding moves corners. What touches by less than that may touch much later otherwise.
        assert deepest_between(pair, exact.end, time) <= ROUNDING * np.abs(pair).max()
    if exact is None or time < exact.begin:
        assert distance_at(pair, time) <= EARLY * np.ptp(pair, axis=2).max()


def assert_first_contacts(found: np.ndarray, times_found: np.ndarray) -> None:
    """Assert that times of pairs are those of first contacts; NaN where there is none."""
    for pair, time in zip(found, times_found, strict=True):
        exact = first_contact(pair[:, 0], pair[:, 1])
        if exact or not np.isnan(time):
            assert_first(pair, time, exact)


@pytest.mark.parametrize("family", FAMILIES)
def test_first_contact_is_neither_missed_nor_far_from_exact_one(family):
    # What is not resolved counts as contact too.
    found = pairs(family, COUNT, 0)
    a, b = (MovingTriangles(found[:, 0, k], found[:, 1, k]) for k in (0, 1))
    assert_first_contacts(found, first_impacts_of_triangles(a, b)[0])


@pytest.mark.parametrize("family", [far_moves, far_corners, random])
def test_search_that_is_continued_after_each_step_finds_the_first_contact(family):
    found = pairs(family, COUNT, 1)
    a, b = (MovingTriangles(found[:, 0, k], found[:, 1, k]) for k in (0, 1))
    time, rest = np.zeros(len(found)), np.arange(len(found))
    for number in range(MAX_STEPS):
        sides = a.take(rest), b.take(rest)
        steps = range(number, number + 2)  # the last one is not taken
        time[rest], is_resolved = first_impacts_of_triangles(*sides, begin=time[rest], steps=steps)
        rest = rest[~is_resolved]
    assert_first_contacts(found, time)


def test_contact_of_triangles_in_one_plane_is_not_passed_by_a_step_across_that_plane():
    # Rounding moves them out of the plane by 1e-17: a gap that closes slowly, while others open.
    found = pairs(coplanar, 1000, 1)[[245, 333]]
    a, b = (MovingTriangles(found[:, 0, k], found[:, 1, k]) for k in (0, 1))
    assert_first_contacts(found, first_impacts_of_triangles(a, b)[0])
