"""Scans of motions given by formulas: times of contact from closed forms, and the generator."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import (
    Aabb,
    ContactReport,
    InvalidShapeError,
    NonFiniteGeometryError,
    ScanSettings,
    Sphere,
    scan_contacts,
)
from tests.core.scan.scans import Formula, ball_meets_wall, run, spans, two_crossing, zigzags

# --- the time of first contact ---------------------------------------------------------------------------


@pytest.mark.smoke
def test_projectile_through_thin_plate_is_found_between_frames():
    # x(t) = -5 + 20 t per frame; the plate's faces are at -0.01 and 0.01, the bullet reaches 0.05 ahead:
    # contact from t = (5 - 0.06) / 20 to (5 + 0.06) / 20.
    def shapes(t):
        x = -5 + 20 * t
        return Aabb(
            [[-0.01, -2, -2], [x - 0.05, -0.05, -0.05]],
            [[0.01, 2, 2], [x + 0.05, 0.05, 0.05]],
        )

    (contact,) = run(shapes, [0, 1]).contacts
    assert (contact.a, contact.b) == (0, 1)
    assert spans(contact) == [(pytest.approx(4.94 / 20, abs=1e-14), pytest.approx(5.06 / 20, abs=1e-14))]
    assert contact.first.frame == contact.intervals[0].start
    assert contact.first.tunnelling
    assert not contact.first.at_start
    np.testing.assert_allclose(contact.first.point, [-0.01, 0, 0], atol=1e-12)
    np.testing.assert_allclose(contact.first.normal, [-1, 0, 0], atol=1e-12)
    # Deepest where the centers coincide: 0.06 on the plate's thin axis, first reached at x = 0.
    assert contact.depth == pytest.approx(0.06, abs=1e-12)
    assert contact.deepest_frame == pytest.approx(0.25, abs=1e-12)


def test_contact_at_a_fraction_of_a_later_frame():
    # x = 20 - 3 (t - 10): 2 at t = 16, -2 at 17 + 1/3; 0 at 16 + 2/3.
    (contact,) = run(ball_meets_wall(lambda t: 20 - 3 * (t - 10)), range(10, 31)).contacts
    assert spans(contact) == [(pytest.approx(16, abs=1e-12), pytest.approx(52 / 3, abs=1e-12))]
    assert not contact.first.tunnelling
    assert contact.depth == pytest.approx(2, abs=1e-12)
    assert contact.deepest_frame == pytest.approx(50 / 3, abs=1e-12)
    assert contact.first.point.tolist() == pytest.approx([1, 0, 0], abs=1e-12)
    assert contact.first.normal.tolist() == pytest.approx([1, 0, 0], abs=1e-12)


def test_contact_exactly_at_a_whole_frame_is_no_tunnelling():
    # Touching at x = 2 only at frame 5: x falls to 2 and rises again, with a kink at the sample.
    (contact,) = run(ball_meets_wall(lambda t: 2 + abs(t - 5)), range(0, 11)).contacts
    assert spans(contact) == [(5.0, 5.0)]
    assert not contact.first.tunnelling
    assert contact.depth == 0


@pytest.mark.parametrize("start", [-7, -1, 0, 3])
def test_tunnelling_is_a_contact_without_a_whole_frame_also_below_zero(start):
    # Within 2 from start + 0.3 to start + 0.7.
    (contact,) = run(ball_meets_wall(lambda t: 10 * (t - start - 0.5)), [start, start + 1]).contacts
    assert spans(contact) == [(pytest.approx(start + 0.3), pytest.approx(start + 0.7))]
    assert contact.first.tunnelling
    # Slower, from start + 0.5 - 1 to start + 0.5 + 1: two whole frames show it.
    (contact,) = run(ball_meets_wall(lambda t: 2 * (t - start - 0.5)), range(start - 3, start + 4)).contacts
    assert spans(contact) == [(pytest.approx(start - 0.5), pytest.approx(start + 1.5))]
    assert not contact.first.tunnelling


def test_contact_at_start_is_marked_and_has_no_uncertainty():
    # x = t - 2 is 1 at the first frame, 3, and 2 at frame 4.
    (contact,) = run(ball_meets_wall(lambda t: t - 2), range(3, 9)).contacts
    assert contact.first.at_start
    assert contact.first.frame == 3
    assert contact.first.uncertainty == 0
    assert spans(contact) == [(3.0, pytest.approx(4.0, abs=1e-12))]
    assert contact.depth == 1
    assert contact.deepest_frame == 3


def test_touching_at_the_first_frame_only_is_a_contact_at_the_start():
    (contact,) = run(ball_meets_wall(lambda t: 2 + t), range(0, 5)).contacts
    assert spans(contact) == [(0.0, 0.0)]
    assert contact.first.at_start
    assert not contact.first.tunnelling


def test_contact_still_going_on_ends_with_the_scan():
    # 7 - t is 2 at t = 5.
    (contact,) = run(ball_meets_wall(lambda t: max(7 - t, 1)), range(0, 13)).contacts
    assert spans(contact) == [(5.0, 12.0)]


def test_first_contact_at_the_very_last_frame_is_found():
    (contact,) = run(ball_meets_wall(lambda t: 12 - t), range(0, 11)).contacts
    assert spans(contact) == [(10.0, 10.0)]
    assert not contact.first.at_start


def test_several_contacts_of_a_pair_are_separate_intervals():
    # A zigzag between 1 and 5 with corners at whole frames: period 8 frames, x = 1 + |4 - (t mod 8)|.
    def x(t):
        return 1 + abs(4 - t % 8)

    report = run(ball_meets_wall(x), range(0, 25))
    (contact,) = report.contacts
    # x <= 2 around t = 4, 12, 20, one frame either side.
    assert spans(contact) == [(3.0, 5.0), (11.0, 13.0), (19.0, 21.0)]
    assert contact.first.frame == 3
    assert contact.depth == 1
    assert contact.deepest_frame == 4  # the first of three equally deep ones


def test_single_frame_is_scanned():
    report = run(lambda t: Sphere([[0, 0, 0], [1.5, 0, 0], [9, 0, 0]], [1, 1, 1]), [7])
    (contact,) = report.contacts
    assert (contact.a, contact.b) == (0, 1)
    assert spans(contact) == [(7.0, 7.0)]
    assert contact.first.at_start
    assert not contact.first.tunnelling
    assert contact.depth == 0.5


def test_samples_several_frames_apart_are_interpolated_linearly():
    # Samples at 0, 10, 20: x falls from 30 to 10 to -10. It is 2 at 14 and -2 at 16.
    (contact,) = run(ball_meets_wall(lambda t: 30 - 2 * t), [0, 10, 20]).contacts
    assert spans(contact) == [(pytest.approx(14, abs=1e-12), pytest.approx(16, abs=1e-12))]
    assert not contact.first.tunnelling  # frames 14, 15 and 16 show it
    # Fractional steps too: from 7 / 6 to 11 / 6 no whole frame.
    (contact,) = run(ball_meets_wall(lambda t: 9 - 6 * t), [0.25, 0.75, 1.05, 1.95, 2.2]).contacts
    assert spans(contact) == [(pytest.approx(7 / 6, abs=1e-12), pytest.approx(11 / 6, abs=1e-12))]
    assert contact.first.tunnelling


def test_growing_spheres_are_swept():
    # Centers 10 apart, radii 1 + t each: 2 + 2 t = 10.
    (contact,) = run(lambda t: Sphere([[0, 0, 0], [10, 0, 0]], 1 + t), range(0, 6)).contacts
    assert spans(contact) == [(pytest.approx(4, abs=1e-12), 5.0)]


def test_contacts_are_ordered_by_time_then_indices():
    # Balls at 10, 6 and 8 come at speed 1 towards the one at rest: they touch when x = 2.
    def shapes(t):
        return Sphere([[0, 0, 0], [10 - t, 0, 0], [0, 6 - t, 0], [0, 0, 8 - t], [0, t - 6, 0]], 1)

    report = run(shapes, range(0, 9))
    with_rest = [(c.first.frame, c.a, c.b) for c in report.contacts if c.a == 0]
    assert with_rest == [(4, 0, 2), (4, 0, 4), (6, 0, 3), (8, 0, 1)]
    keys = [(c.first.frame, c.a, c.b) for c in report.contacts]
    assert keys == sorted(keys)


# --- the generator ---------------------------------------------------------------------------------------


def test_progress_is_yielded_per_sample_and_samples_are_taken_once_in_order():
    sampled = []

    def shapes(t):
        sampled.append(t)
        return two_crossing(t)

    scan = scan_contacts(Formula(shapes), range(0, 11))
    progress = list(scan)  # also yielded between the parts of a block
    samples = list(dict.fromkeys(entry[:4] for entry in progress))
    assert samples == [(i + 1, 11, float(i), "frames") for i in range(11)]
    assert len({entry.share for entry in progress}) > len(samples)
    assert sampled == [float(i) for i in range(11)]


def test_scan_can_be_closed_early_and_takes_no_more_samples():
    sampled = []

    def shapes(t):
        sampled.append(t)
        return two_crossing(t)

    scan = scan_contacts(Formula(shapes), range(0, 1000))
    assert sampled == []  # nothing happens before the first step
    while len(sampled) < 2:
        next(scan)
    scan.close()
    with pytest.raises(StopIteration):
        next(scan)
    assert sampled == [0.0, 1.0]


@pytest.mark.smoke
def test_no_subjects_give_empty_report():
    for count in (0, 1):
        report = run(lambda t, n=count: Sphere(np.zeros((n, 3)), 1), range(3))
        assert report == ContactReport()


@pytest.mark.smoke
def test_repeated_scan_gives_same_report():
    path = zigzags(np.random.default_rng(5), 60, 5)

    def summary():
        report = run(lambda t: Sphere(path[int(t)], 1), range(5))
        return [(c.a, c.b, c.first.frame, c.intervals, c.depth) for c in report.contacts], report.clearances

    assert summary() == summary()
    assert summary()[0]


@pytest.mark.parametrize(
    ("frames", "settings", "error", "words"),
    [
        ([], None, InvalidShapeError, "frames"),
        ([1, 1], None, InvalidShapeError, "growing"),
        ([2, 1], None, InvalidShapeError, "growing"),
        ([[1, 2]], None, InvalidShapeError, "frames"),
        ([1, math.nan], None, NonFiniteGeometryError, r"frames: element \(1,\) is nan"),
        ([1, 2], ScanSettings(clearance=-0.1), InvalidShapeError, "clearance: -0.1"),
        ([1, 2], ScanSettings(clearance=math.nan), InvalidShapeError, "clearance: nan"),
        ([1, 2], ScanSettings(clearance=math.inf), InvalidShapeError, "clearance: inf"),
        (
            [1, 2],
            ScanSettings(group_a=np.ones(3, bool)),
            InvalidShapeError,
            r"group_a: .* \(2,\)",
        ),
        (
            [1, 2],
            ScanSettings(group_b=np.ones(1, bool)),
            InvalidShapeError,
            r"group_b: .* \(2,\)",
        ),
        ([1, 2], ScanSettings(ignored=[(0, 2)]), InvalidShapeError, "ignored does not fit 2"),
        ([1, 2], ScanSettings(ignored=[(-1, 0)]), InvalidShapeError, "ignored does not fit 2"),
    ],
)
def test_invalid_settings_raise_with_name(frames, settings, error, words):
    with pytest.raises(error, match=words):
        run(two_crossing, frames, settings)


def test_changing_number_of_subjects_raises_with_time():
    with pytest.raises(InvalidShapeError, match=r"sample at 3.0: 4 subjects instead of 3"):
        run(lambda t: Sphere(np.zeros((3 + (t >= 3), 3)), 1), range(6))
    with pytest.raises(InvalidShapeError, match=r"sample at 0.0: the batch must be \(n,\)"):
        run(lambda t: Sphere([0, 0, 0], 1), range(6))
