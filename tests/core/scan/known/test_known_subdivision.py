"""Scans of motion that is known between samples: bumps and jumps within a frame, against exact pieces."""

from itertools import pairwise

import numpy as np
import pytest

from addon.core import Sample, ScanSettings, Triangle, TriangleMesh, scan_contacts
from addon.core.motion import steps
from addon.core.scan import scan, subdivision
from tests.core.scan.known.paths import Polylines, PolylinesAroundMesh, random_polylines
from tests.finished import finished
from tests.tiers import times


def report_of(motion, frames, **settings):
    return finished(scan_contacts(motion, np.arange(frames), ScanSettings(static_pairs=True, **settings)))


@pytest.mark.parametrize("seed", range(times(2, full=6)))
@pytest.mark.parametrize("length", [2, 256])
def test_no_contact_is_missed_invented_or_late(seed, length, monkeypatch):
    monkeypatch.setattr(scan, "_SHORTEST_BLOCK", length)
    monkeypatch.setattr(scan, "_LONGEST_BLOCK", length)
    frames, count = 8, 11
    motion = random_polylines(np.random.default_rng(seed), count, frames - 1, 2.5)
    found = {(contact.a, contact.b): contact.first for contact in report_of(motion, frames).contacts}
    compared = 0
    for a in range(count):
        for b in range(a + 1, count):
            expected = motion.first_contact(a, b, 0, frames - 1)
            assert ((a, b) in found) == (not np.isnan(expected)), (a, b, expected)
            if (a, b) in found:
                first = found[a, b]
                assert first.uncertainty <= 1e-3
                assert abs(first.frame - expected) <= first.uncertainty + 1e-9, (a, b, first, expected)
                compared += 1
    assert compared > 5


class WithoutLongBounds(Polylines):
    """Spheres of which the first three may be anywhere in long intervals."""

    def bound(self, shapes, begin, end):
        deviation, may_jump = super().bound(shapes, begin, end)
        return np.where((shapes < 3) & (end - begin > 1 / 8), np.inf, deviation), may_jump


def test_infinite_deviations_leave_all_to_shorter_intervals():
    frames, count = 8, 11
    motion = WithoutLongBounds(random_polylines(np.random.default_rng(1), count, frames - 1, 2.5).knots)
    found = {(contact.a, contact.b): contact.first for contact in report_of(motion, frames).contacts}
    assert sum(a < 3 for a, _ in found) > 5
    for a in range(count):
        for b in range(a + 1, count):
            expected = motion.first_contact(a, b, 0, frames - 1)
            assert ((a, b) in found) == (not np.isnan(expected)), (a, b, expected)
            if (a, b) in found:
                assert abs(found[a, b].frame - expected) <= found[a, b].uncertainty + 1e-9


SEVERAL_CONTACTS = {
    # In linear motion between frames 1 and 2, the ball does not touch.
    "within an interval": (
        [(0, 3), (1, 3), (1.2, 0.3), (1.32, 2), (1.5, 0.7), (1.6, 2), (1.81, 0.85), (1.9, 3), (2, 3)],
        {1.2: 0.7, 1.5: 0.3, 1.81: 0.15},
    ),
    "with a gap that is found late": (
        [
            (0, 3),
            (1, 0.2),
            (1.38, 1.04),
            (1.42, 1.04),
            (1.5, 0.93),
            (1.6, 0.87),
            (1.75, 0.93),
            (2, 0.99),
            (3, 3),
        ],
        {1: 0.8, 1.6: 0.13},
    ),
    "of one contact in linear motion": (
        [(0, 3), (1, 0.5), (1.2, 2), (1.8, 2), (2, 0.8), (2.002, 0.74), (3, 23)],
        {1: 0.5, 2.002: 0.26},
    ),
}


@pytest.mark.parametrize("name", SEVERAL_CONTACTS)
def test_each_of_several_contacts_has_its_depth(name):
    # A ball is nearest to another one at some of its knots, as far as they overlap there.
    path, deepest = SEVERAL_CONTACTS[name]
    frames = path[-1][0]
    moments, places = [time for time, _ in path], [(x, 0.0, 0.0) for _, x in path]
    motion = Polylines([([0, frames], [(0, 0, 0)] * 2), (moments, places)])
    (contact,) = report_of(motion, frames + 1).contacts
    assert [details.depth for details in contact.details] == pytest.approx([*deepest.values()], abs=0.01)
    assert [details.deepest_frame for details in contact.details] == pytest.approx([*deepest], abs=0.01)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(times(2, full=6)))
def test_no_contact_with_a_surface_at_rest_is_missed_invented_or_late(seed):
    rng, frames, count = np.random.default_rng(seed), 8, 11
    mesh = TriangleMesh(Triangle(*rng.uniform(-1.5, 1.5, (3, 5, 3))))
    motion = PolylinesAroundMesh(random_polylines(rng, count, frames - 1, 2.5).knots, mesh)
    report = report_of(motion, frames)
    found = {contact.a: contact for contact in report.contacts if contact.b == count}
    compared = 0
    for sphere in range(count):
        expected = motion.first_contact_with_mesh(sphere, 0, frames - 1)
        assert (sphere in found) == (not np.isnan(expected)), (sphere, expected)
        if sphere in found:
            assert found[sphere].first.motion == "proven"
            first = found[sphere].first
            assert first.uncertainty <= 1e-3
            assert abs(first.frame - expected) <= first.uncertainty + 1e-9, (sphere, first, expected)
            compared += 1
    assert compared > 4


@pytest.mark.parametrize("has_surface", [False, pytest.param(True, marks=pytest.mark.long)])
def test_report_is_the_same_for_chunks_of_any_size(has_surface, monkeypatch):
    rng, frames, count = np.random.default_rng(3), 6, 11
    mesh = TriangleMesh(Triangle(*rng.uniform(-1.5, 1.5, (3, 5, 3))))
    motion = random_polylines(rng, count, frames - 1, 2.5)
    if has_surface:
        motion = PolylinesAroundMesh(motion.knots, mesh)
    whole = report_of(motion, frames)
    assert len(whole.contacts) > 5
    for rows in (1, 3):
        monkeypatch.setattr(subdivision, "_SPLIT_AT_ONCE", rows)
        monkeypatch.setattr(steps, "_PLACED_AT_ONCE", rows * count)
        monkeypatch.setattr(steps, "_BOUNDED_AT_ONCE", rows * count)
        assert repr(report_of(motion, frames)) == repr(whole)


@pytest.mark.parametrize("time", [3, 3.5])
def test_contact_that_begins_with_a_jump_is_described(time):
    balls = [([0, time, time, 9], [(-9, 0, 0), (-9, 0, 0), (0.25, 0, 0), (0.25, 0, 0)]), ([0], [(0, 0, 0)])]
    (contact,) = report_of(Polylines(balls), 10).contacts
    assert (contact.first.frame, contact.first.uncertainty, contact.first.motion) == (time, 0, "proven")
    assert contact.first.normal.tolist() == [-1, 0, 0]


def hide(motion, absences):
    """Hide subjects (n,) of a motion from a frame of `absences` (n, 2) until the other."""
    sample = motion.sample

    def sample_of_shown(time):
        is_hidden = (absences[:, 0] <= time) & (time < absences[:, 1])
        return Sample(sample(time).shapes, ~is_hidden)

    def are_present(shapes, times):
        begin, end = absences[shapes].T
        return (times < begin) | (times >= end)

    motion.sample, motion.are_present = sample_of_shown, are_present


def first_while_shown(first_contact, absences, last):
    """First time at which a pair touches while both are shown; NaN for never."""
    cuts = np.unique([0, last, *absences.ravel()])
    for begin, end in pairwise(cuts[cuts <= last].tolist()):
        is_shown = ((absences[:, 1] <= begin) | (absences[:, 0] >= end)).all()
        found = first_contact(begin, end) if is_shown else np.nan
        if not np.isnan(found):
            return found
    return np.nan


@pytest.mark.parametrize("seed", range(times(2, full=6)))
@pytest.mark.parametrize("has_surface", [False, pytest.param(True, marks=pytest.mark.long)])
@pytest.mark.parametrize("length", [2, 256])
def test_subjects_that_disappear_and_come_back_touch_while_they_are_there(
    seed, has_surface, length, monkeypatch
):
    monkeypatch.setattr(scan, "_SHORTEST_BLOCK", length)
    monkeypatch.setattr(scan, "_LONGEST_BLOCK", length)
    rng, last, count = np.random.default_rng(seed), 7, 11
    motion, partners = random_polylines(rng, count, last, 2.5), range(count)
    # Pieces do not show what is there at the last frame alone.
    frames = np.setdiff1d(np.arange(1, 10), last)
    absences = np.sort(rng.choice(frames, (count + has_surface, 2)), axis=1)
    if has_surface:
        mesh = TriangleMesh(Triangle(*rng.uniform(-1.5, 1.5, (3, 5, 3))))
        motion, partners = PolylinesAroundMesh(motion.knots, mesh), (count,)
    hide(motion, absences)
    report = report_of(motion, last + 1)
    found = {(contact.a, contact.b): contact.first for contact in report.contacts}
    compared = 0
    for a in range(count):
        for b in partners:
            if b <= a:
                continue

            def first_contact(begin, end, a=a, b=b):
                if has_surface:
                    return motion.first_contact_with_mesh(a, begin, end)
                return motion.first_contact(a, b, begin, end)

            expected = first_while_shown(first_contact, absences[[a, b]], last)
            assert ((a, b) in found) == (not np.isnan(expected)), (a, b, expected)
            if (a, b) in found:
                first = found[a, b]
                assert abs(first.frame - expected) <= first.uncertainty + 1e-9, (a, b, first, expected)
                assert first.uncertainty <= 1e-3
                compared += 1
    assert compared > 1


@pytest.mark.parametrize("length", [1, 2, 3, 256])
@pytest.mark.parametrize("hidden", [(1, 9), (2, 5), (3, 4), (6, 9)])
def test_contact_at_rest_ends_where_a_subject_disappears_and_begins_where_it_comes_back(
    length, hidden, monkeypatch
):
    monkeypatch.setattr(scan, "_SHORTEST_BLOCK", length)
    monkeypatch.setattr(scan, "_LONGEST_BLOCK", length)
    motion = Polylines([([0], [(0, 0, 0)]), ([0], [(0.25, 0, 0)])])
    hide(motion, np.array([[20, 21], hidden]))
    (contact,) = report_of(motion, 9).contacts
    spans = [(0, hidden[0])] + [(hidden[1], 8)] * (hidden[1] < 9)
    assert [tuple(span) for span in contact.intervals] == spans


def test_motion_around_a_surface_that_is_not_certain_is_sampled():
    mesh = TriangleMesh(Triangle([[0.0, -5, -5]], [[0.0, 5, -5]], [[0.0, 0, 5]]))
    motion = PolylinesAroundMesh([([0, 7], [(-5, 0, 0), (5, 0, 0)])], mesh)
    motion.is_certain = np.array([True, False])
    (contact,) = report_of(motion, 8).contacts
    assert contact.first.motion == "sampled"
    assert contact.first.frame == pytest.approx(4.5 * 7 / 10, abs=1e-9)


def test_shapes_that_take_long_are_computed_in_shorter_steps_with_the_same_report():
    frames, most, reports = 40, [], []
    for cost in (1.0, 400.0):
        motion, rows = random_polylines(np.random.default_rng(1), 9, frames - 1, 2.5), []
        motion.costs[2] = cost

        def counted(shapes, *span, compute=motion.bound, rows=rows, motion=motion):
            # Of each call: how long it takes.
            rows.append(motion.costs[shapes].sum())
            return compute(shapes, *span)

        motion.bound = counted
        reports.append(report_of(motion, frames).contacts)
        most.append((len(rows), max(rows)))
    (steps, _), (more_steps, longest) = most
    assert more_steps > steps
    # A split has up to four parts of two shapes for each row, of which 512 are split at once at a cost of 1.
    assert longest <= 8 * 512 + 2 * 4 * 400
    found = [[(each.a, each.b, each.first.frame, each.intervals) for each in report] for report in reports]
    assert found[0] == found[1]


@pytest.mark.parametrize("turns", [40, 150, pytest.param(300, marks=pytest.mark.long)])
def test_first_contact_of_fast_motion_to_and_fro_is_not_late(turns):
    # A ball moves up and down many times a frame while it approaches a target, and hits on its passage.
    knots = np.linspace(0, 2, 4 * turns + 1)
    height = np.where(np.arange(len(knots)) % 2, 6.0, -6.0)
    path = np.column_stack([4 - 2.4 * knots, height, 0 * knots])
    motion = Polylines([(knots, path), ([0, 2], [(0, 0, 0), (0, 0, 0)])])
    (contact,) = report_of(motion, 3).contacts
    expected = motion.first_contact(0, 1, 0, 2)
    assert contact.first.uncertainty <= 1e-3
    assert abs(contact.first.frame - expected) <= contact.first.uncertainty + 1e-9


def least_distance(motion: Polylines, a: int, b: int, begin: float, end: float) -> float:
    """Least distance of two centers, from the straight pieces of both paths."""
    times_of_both = np.unique(np.concatenate([[begin, end], *(motion.knots[ball][0] for ball in (a, b))]))
    times_of_both = times_of_both[(times_of_both >= begin) & (times_of_both <= end)]
    found = []
    for first, last in pairwise(times_of_both):
        start = motion.center(b, first) - motion.center(a, first)
        path = motion.center(b, last, True) - motion.center(a, last, True) - start
        part = np.clip(-start @ path / max(path @ path, 1e-30), 0, 1)
        found.append(np.linalg.norm(start + part * path))
    return min(found)


@pytest.mark.parametrize("seed", range(times(8, 4, full=20)))
def test_depths_of_known_motion_are_within_a_hundredth_of_the_size(seed):
    # Bumps of 1/64 frame, and jumps.
    frames, count = 8, 11
    motion = random_polylines(np.random.default_rng(seed), count, frames - 1, 2.5)
    report = report_of(motion, frames)
    assert report.contacts
    for contact in report.contacts:
        expected = 1 - least_distance(motion, contact.a, contact.b, 0, frames - 1)
        assert contact.depth == pytest.approx(expected, abs=0.01 * 0.5 + 1e-6)
