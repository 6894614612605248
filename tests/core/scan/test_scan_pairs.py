"""Pairs that a scan tests: ignored pairs, groups, and subjects that appear or disappear."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    InvalidShapeError,
    Sample,
    ScanSettings,
    Sphere,
)
from addon.core.interval.dispatch import INTERVALS
from addon.core.scan.candidates import PairFilter
from tests.core.scan.scans import ball_meets_wall, run, spans, two_crossing
from tests.tiers import times


@pytest.mark.parametrize("pair", [(0, 1), (1, 0)])
def test_ignored_pairs_are_skipped_in_either_order(pair):
    report = run(two_crossing, range(0, 11), ScanSettings(ignored=[pair]))
    assert report.contacts == ()
    assert report.clearances == ()


def test_ignoring_one_pair_keeps_the_others():
    def shapes(t):
        return Sphere(np.tile([0.0, 0, t], (4, 1)), 1)

    report = run(shapes, [0, 1], ScanSettings(ignored=[(2, 1), (0, 3)]))
    assert [(c.a, c.b) for c in report.contacts] == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_group_a_is_the_first_of_a_pair_and_the_normal_points_away_from_it():
    as_listed = run(two_crossing, range(0, 11)).contacts[0]
    settings = ScanSettings(group_a=np.array([False, True]), group_b=np.array([True, False]))
    (contact,) = run(two_crossing, range(0, 11), settings).contacts
    assert (as_listed.a, as_listed.b) == (0, 1)
    assert (contact.a, contact.b) == (1, 0)
    assert as_listed.first.normal.tolist() == [1, 0, 0]
    assert contact.first.normal.tolist() == [-1, 0, 0]
    assert contact.first.point.tolist() == as_listed.first.point.tolist()
    assert spans(contact) == spans(as_listed) == [(3.0, 7.0)]


def test_only_pairs_between_groups_are_tested():
    def shapes(t):
        return Sphere(np.tile([t, 0.0, 0], (4, 1)), 1)

    settings = ScanSettings(
        group_a=np.array([True, True, False, False]), group_b=np.array([False, True, True, False])
    )
    # 0 with 1 and 2, 1 with 2; 1 with itself is no pair, 3 is in no group.
    report = run(shapes, [0, 1], settings)
    assert [(c.a, c.b) for c in report.contacts] == [(0, 1), (0, 2), (1, 2)]


def test_near_misses_are_ordered_by_group():
    settings = ScanSettings(group_a=np.array([False, True]), group_b=np.array([True, False]))
    report = run(ball_meets_wall(lambda t: 2.5 + abs(t - 4)), range(0, 9), settings)
    assert [(near.a, near.b) for near in report.clearances] == [(1, 0)]


def test_absent_subject_has_no_contacts():
    # The balls overlap at all times, but ball 1 is present only at frames 4, 5, 6 and 9.
    there = {4, 5, 6, 9}

    def shapes(t):
        x = 0.5 if t in there else 0.0
        return Sample(Sphere([[0, 0, 0], [x, 0, 0]], 1), np.array([True, t in there]))

    (contact,) = run(shapes, range(0, 13)).contacts
    # It is present until the first sample without it.
    assert spans(contact) == [(4.0, 7.0), (9.0, 10.0)]
    assert not contact.first.at_start
    assert contact.depth == 1.5  # the shape of an absent subject is ignored: never 2


def test_subject_appearing_at_last_frame_is_found():
    def shapes(t):
        return Sample(Sphere(np.zeros((2, 3)), 1), np.array([True, t == 5]))

    (contact,) = run(shapes, range(0, 6)).contacts
    assert spans(contact) == [(5.0, 5.0)]


def test_subject_that_is_never_present_is_never_reported():
    report = run(
        lambda t: Sample(Sphere(np.zeros((3, 3)), 1), np.array([True, False, True])),
        range(4),
        ScanSettings(static_pairs=True),
    )
    assert [(c.a, c.b) for c in report.contacts] == [(0, 2)]


def test_subject_that_jumps_while_absent_does_not_sweep_across():
    # Ball 1 disappears at x = 9 (last present at frame 2) and reappears at x = -9 (frame 4): it does not pass
    # through 0.
    def shapes(t):
        return Sample(Sphere([[0, 0, 0], [9 if t < 3 else -9, 0, 0]], 1), np.array([True, t != 3]))

    report = run(shapes, range(0, 7))
    assert report.contacts == ()
    assert report.clearances == ()


@pytest.mark.parametrize("gone", [1, 2, 3, 5, 8])
def test_contact_at_rest_ends_when_subject_disappears(gone):
    # Only the third ball moves, so that the scan goes on.
    def shapes(t):
        spheres = Sphere([[0, 0, 0], [0.5, 0, 0], [10 + t, 0, 0]], [1, 1, 1])
        return Sample(spheres, np.array([True, t < gone, True]))

    (contact,) = run(shapes, range(9), ScanSettings(static_pairs=True)).contacts
    assert spans(contact) == [(0, gone)]


# --- subjects that move without a change of their shapes --------------------------------------------------


def test_pairs_at_rest_are_solved_once_and_not_in_each_interval(monkeypatch):
    methods, solved = INTERVALS[Aabb, Aabb], []

    def counted(motion, clearance, deviation):
        solved.append(len(deviation))
        return methods.first(motion, clearance, deviation)

    monkeypatch.setitem(INTERVALS, (Aabb, Aabb), methods._replace(first=counted))
    rng, frames = np.random.default_rng(0), 100
    low = rng.uniform(0, 3, (30, 3))

    def shapes(t):
        # One box leaves.
        moved = low + [t, 0, 0] * (np.arange(30) == 29)[:, None]
        return Aabb(moved, moved + 1)

    boxes = shapes(0)
    gaps = np.maximum(boxes.min[:, None] - boxes.max, boxes.min - boxes.max[:, None]).max(axis=-1)
    touching = np.triu(gaps <= 0, 1).sum()
    report = run(shapes, range(frames), ScanSettings(static_pairs=True, motion="linear"))
    assert len(report.contacts) == touching > 30
    # Once in the first interval, and once at the last frame.
    assert sum(solved) < 3 * 30 * 29 / 2 < frames * touching


def spinning(t: float, first: float, last: float) -> Sample:
    """Two spheres at rest that overlap, and one that moves; the first rotates from `first` to `last`."""
    spheres = Sphere([[0, 0, 0], [1.5, 0, 0], [9 + t, 0, 0]], 1)
    return Sample(spheres, moved=np.array([first < t <= last, False, True]))


@pytest.mark.parametrize(("first", "last"), [(0, 40), (0, 1), (17, 18), (39, 40)])
def test_pair_is_tested_if_a_subject_rotates_within_its_shape(first, last):
    report = run(lambda t: spinning(t, first, last), range(41))
    assert [(contact.a, contact.b, *spans(contact)) for contact in report.contacts] == [(0, 1, (0, 40))]
    assert report.contacts[0].first.at_start
    # Whether it moved before the first frame does not matter.
    report = run(lambda t: spinning(t, -1, 0), range(41))
    assert (report.contacts, report.static_overlaps) == ((), ((0, 1),))


@pytest.mark.parametrize("clearance", [0, 0.25])
def test_where_nothing_moves_all_pairs_count(clearance):
    def shapes(_):
        return Sphere([[0, 0, 0], [1.5, 0, 0], [3.7, 0, 0]], 1)

    report = run(shapes, range(9), ScanSettings(clearance=clearance))
    pairs = [(0, 1), (1, 2)] if clearance else [(0, 1)]
    assert [(contact.a, contact.b, *spans(contact)) for contact in report.contacts] == [
        (*pair, (0, 8)) for pair in pairs
    ]
    assert report.static_overlaps == ()


def test_pairs_that_never_move_are_listed_although_they_do_not_count():
    def shapes(t):
        return Sphere([[0, 0, 0], [1.5, 0, 0], [1.2, 1.2, 0], [50 + t, 0, 0]], 1)

    ignored = ScanSettings(ignored=[(0, 2)])
    assert run(shapes, range(9)).static_overlaps == ((0, 1), (0, 2), (1, 2))
    assert run(shapes, range(9), ignored).static_overlaps == ((0, 1), (1, 2))
    requested = run(shapes, range(9), ScanSettings(static_pairs=True))
    assert (len(requested.contacts), requested.static_overlaps) == (3, ())


def test_subject_that_rotates_within_its_shape_has_near_misses():
    def shapes(t):
        return Sample(Sphere([[0, 0, 0], [2.25, 0, 0]], 1), moved=np.array([False, t == 3]))

    (near,) = run(shapes, range(9)).clearances
    assert near.gap == 0.25


def test_mask_of_moved_subjects_must_have_all_subjects():
    with pytest.raises(InvalidShapeError, match="moved has 1 subjects, too few"):
        run(lambda t: Sample(Sphere(np.zeros((2, 3)), 1), moved=np.array([True])), range(4))


@pytest.mark.parametrize("seed", range(times(60)))
def test_count_of_pairs_is_that_of_a_look_at_each_pair(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 9))
    group_a, group_b = (rng.random(count) < 0.6 if rng.random() < 0.6 else None for _ in range(2))
    ignored = rng.integers(0, count, (int(rng.integers(0, 12)), 2)).tolist() if count else []
    separate = rng.integers(-1, 3, count) if rng.random() < 0.6 else None
    mask = rng.random(count) < 0.7 if rng.random() < 0.6 else None
    every = np.ones(count, dtype=bool)
    a, b = (every if group is None else group for group in (group_a, group_b))
    expected = sum(
        bool((a[i] and b[j]) or (a[j] and b[i]))
        and (separate is None or separate[i] < 0 or separate[i] != separate[j])
        and [i, j] not in ignored
        and [j, i] not in ignored
        and (mask is None or bool(mask[i] and mask[j]))
        for i, j in combinations(range(count), 2)
    )
    assert PairFilter(count, group_a, group_b, ignored, separate).count_pairs(mask) == expected
