"""Cells of pairs and intervals that spheres decide: each one that may matter is left to be solved."""

from __future__ import annotations

import numpy as np

from addon.core.scan.candidates import Candidates, undecided_cells
from addon.core.scan.rounds import PROVEN


def decided(low, ends, deviation=0.0, clearance=0.0, open_least=np.inf):
    """Masks (k,) of a pair of size 1 in successive intervals: apart, or in contact, and not the least there.

    low, ends, deviation : (k,) bounds of the separations of linear motion, at ends (k, 2), and from it
    """
    count = len(low)
    ends, deviation = np.array(ends, dtype=float), np.broadcast_to(deviation, count).astype(float)
    low, nearer, farther = np.array(low, dtype=float), ends.min(axis=1), ends.max(axis=1)
    bounds = low, nearer, farther, deviation, np.ones(count, dtype=bool)
    candidate = Candidates(
        np.array([[0, 1]]),
        np.array([1]),
        np.array([1.0]),
        np.array([PROVEN]),
        np.array([max(1.0, clearance)]),
        np.array([open_least < np.inf]),
        np.array([open_least]),
    )
    apart, within = undecided_cells(np.arange(count), candidate, bounds, clearance, count)
    return apart.tolist(), within.tolist()


def test_only_the_row_where_a_pair_comes_nearest_is_solved():
    apart, within = decided([0.5, 0.1, 0.5], [(0.6, 0.5), (0.5, 0.1), (0.1, 0.9)])
    assert apart == [True, False, False] and not any(within)


def test_pair_that_its_deviation_may_bring_into_contact_is_solved():
    rows = [0.5, 0.1, 0.5, 0.5], [(0.6, 0.5), (0.5, 0.1), (0.6, 0.7), (0.6, 0.9)]
    assert decided(*rows, deviation=[0.0, 0.0, 0.49, 0.5])[0] == [True, False, False, False]


def test_pair_that_its_deviation_may_bring_nearer_is_solved():
    rows = [0.5, 0.2, 0.5], [(0.6, 0.5), (0.5, 0.2), (0.5, 0.6)]
    assert decided(*rows, deviation=[0.0, 0.0, 0.29])[0] == [True, False, True]
    assert decided(*rows, deviation=[0.0, 0.0, 0.35])[0] == [True, False, False]


def test_contact_is_solved_where_it_begins_and_where_it_is_deepest():
    low = [-0.2, -0.4, -0.9, -0.4, -0.2]
    ends = [(0.1, -0.2), (-0.2, -0.4), (-0.4, -0.9), (-0.5, -0.3), (-0.3, -0.1)]
    assert decided(low, ends)[1] == [False, True, False, True, True]


def test_contact_that_may_be_new_in_the_first_interval_is_solved():
    rows = [-0.3, -0.4, -0.3], [(-0.2, -0.3), (-0.3, -0.4), (-0.3, -0.2)]
    assert decided(*rows)[1] == [False, False, True]
    assert decided(*rows, open_least=-0.5)[1] == [True, True, True]


def test_contact_that_its_deviation_may_end_is_solved():
    rows = [-0.4, -0.3, -0.3], [(-0.4, -0.3), (-0.3, -0.2), (-0.2, -0.3)]
    assert decided(*rows, deviation=0.0, open_least=-0.9)[1] == [True, True, True]
    # What follows may be another contact, and has its own greatest depth.
    assert decided(*rows, deviation=[0.0, 0.25, 0.0], open_least=-0.9)[1] == [True, False, False]
