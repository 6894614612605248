"""Scans of motions given by formulas, whose contacts follow from closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from addon.core import (
    Aabb,
    ContactReport,
    InvalidShapeError,
    NonFiniteGeometryError,
    Obb,
    Sample,
    ScanSettings,
    Shape,
    Sphere,
    overlaps,
    scan_contacts,
    separation,
)
from tests.finished import finished


@dataclass
class Formula:
    """A motion given as a function of time."""

    shapes: Callable[[float], Shape | Sample]

    def sample(self, time: float) -> Shape | Sample:
        return self.shapes(time)


def run(
    motion: Callable[[float], Shape | Sample], frames, settings: ScanSettings | None = None
) -> ContactReport:
    return finished(scan_contacts(Formula(motion), frames, settings))


def ball_meets_wall(x: Callable[[float], float]) -> Callable[[float], Sphere]:
    """Ball 0 at rest in the origin, ball 1 at x(t) on the X axis; both of radius 1: they touch at |x| = 2."""
    return lambda t: Sphere([[0, 0, 0], [x(t), 0, 0]], [1, 1])


def spans(contact) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in contact.intervals]


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
    # Touching at 2 for one instant, the whole frame 5: down to it and up again, with a kink at the sample.
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
    # And slower, from start + 0.5 - 1 to start + 0.5 + 1: two whole frames show it.
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


# --- which pairs are tested --------------------------------------------------------------------------------


def two_crossing(t: float) -> Sphere:
    """Ball 1 crosses ball 0 from right to left: contact from t = 3 to 7."""
    return Sphere([[0, 0, 0], [5 - t, 0, 0]], 1)


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
    # They sit in one another all the time, but ball 1 is only there at frames 4, 5, 6 and 9.
    there = {4, 5, 6, 9}

    def shapes(t):
        x = 0.5 if t in there else 0.0
        return Sample(Sphere([[0, 0, 0], [x, 0, 0]], 1), np.array([True, t in there]))

    (contact,) = run(shapes, range(0, 13)).contacts
    # It is there until the sample that does not have it.
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
    # Ball 1 leaves at x = 9 (last seen at frame 2) and is back at x = -9 (frame 4): it did not fly through 0.
    def shapes(t):
        return Sample(Sphere([[0, 0, 0], [9 if t < 3 else -9, 0, 0]], 1), np.array([True, t != 3]))

    report = run(shapes, range(0, 7))
    assert report.contacts == ()
    assert report.clearances == ()


# --- clearance and near misses ---------------------------------------------------------------------------


def test_clearance_starts_a_contact_early_and_reports_a_negative_depth():
    # Nearest 2.5 at t = 4: a gap of 0.5. Within 0.75 while |t - 4| <= 0.25.
    motion = ball_meets_wall(lambda t: 2.5 + abs(t - 4))
    (contact,) = run(motion, range(0, 9), ScanSettings(clearance=0.75)).contacts
    assert spans(contact) == [(pytest.approx(3.75, abs=1e-12), pytest.approx(4.25, abs=1e-12))]
    assert contact.depth == pytest.approx(-0.5, abs=1e-12)
    assert contact.deepest_frame == 4
    assert run(motion, range(0, 9), ScanSettings(clearance=0.49)).contacts == ()


def test_clearance_larger_than_subjects_finds_contact():
    # Radii of 0.1 leave gaps of 2.8 at height 3: within 2.9 while x^2 + 9 <= 3.1^2, |x| <= 0.781.
    def shapes(t):
        return Sphere([[0, 0, 0], [t - 4.5, 3, 0]], 0.1)

    (contact,) = run(shapes, range(10), ScanSettings(clearance=2.9)).contacts
    reach = math.sqrt(3.1**2 - 9)
    assert spans(contact) == [(pytest.approx(4.5 - reach, abs=1e-12), pytest.approx(4.5 + reach, abs=1e-12))]
    assert contact.depth == pytest.approx(-2.8, abs=1e-12)


def test_clearance_between_boxes_is_euclidean():
    # The corner gap is (3, 4, 0) (5 - t) / 5: it is 1 at t = 4.
    def shapes(t):
        low = np.array([1, 1, 0]) + np.array([3, 4, 0]) * (5 - t) / 5
        return Aabb([[0, 0, 0], low], [[1, 1, 1], low + 1])

    (contact,) = run(shapes, range(0, 6), ScanSettings(clearance=1.0)).contacts
    assert spans(contact) == [(pytest.approx(4, abs=1e-12), 5.0)]


def test_near_miss_has_the_closed_form_gap_and_time():
    # A ball flies by at height 2.7 with speed 4, nearest at x = 0: t = 10.3 / 4, gap 0.7.
    def shapes(t):
        return Sphere([[0, 0, 0], [-10.3 + 4 * t, 2.7, 0]], 1)

    report = run(shapes, range(0, 7))
    assert report.contacts == ()
    (near,) = report.clearances
    assert near.frame == pytest.approx(10.3 / 4, abs=1e-12)
    assert near.gap == pytest.approx(0.7, abs=1e-12)


def test_near_miss_of_boxes_between_frames_is_at_the_corner():
    # The gaps on x and y are 3 - 4 t and 4 t - 2: nearest where both are 0.5, at t = 5 / 8.
    def shapes(t):
        low = np.array([4 - 4 * t, 4 * t - 1, 0])
        return Aabb([[0, 0, 0], low], [[1, 1, 1], low + 1])

    (near,) = run(shapes, [0, 2]).clearances
    assert near.frame == pytest.approx(0.625, abs=1e-12)
    assert near.gap == pytest.approx(math.sqrt(0.5), abs=1e-12)


def test_near_misses_are_sorted_by_gap():
    def shapes(t):
        return Sphere([[0, 0, 0], [3 - 1e-3 * t, 0, 0], [0, 2.2 + t * 1e-3, 0], [0, 0, 2.6 + t * 1e-3]], 1)

    gaps = [near.gap for near in run(shapes, range(3)).clearances]
    assert gaps == sorted(gaps)
    assert gaps[:3] == pytest.approx([0.2, 0.6, 0.998])


def test_near_miss_is_at_most_as_wide_as_the_smaller_one():
    # Radii 5 and 1: gaps of 0.99 are listed, of 1.01 are not.
    for gap, listed in ((0.99, 1), (1.01, 0)):
        report = run(lambda t, g=gap: Sphere([[0, 0, 0], [6 + g + abs(t - 2), 0, 0]], [5, 1]), range(5))
        assert len(report.clearances) == listed


def test_pairs_at_rest_are_no_near_misses_but_their_contacts_count():
    def shapes(t):
        return Sphere([[0, 0, 0], [2.1, 0, 0], [0, 1, 0], [50, 0, t]], 1)

    report = run(shapes, range(5), ScanSettings(static_pairs=True))
    assert report.clearances == ()
    assert [(c.a, c.b) for c in report.contacts] == [(0, 2)]
    assert spans(report.contacts[0]) == [(0.0, 4.0)]


# --- against brute force ---------------------------------------------------------------------------------


def zigzags(rng: np.random.Generator, count: int, frames: int):
    """Positions at whole frames, straight lines in between; a tenth of the subjects are at rest."""
    steps = rng.normal(size=(frames, count, 3)) * np.where(rng.random((count, 1)) < 0.1, 0, 1.5)
    return rng.random((count, 3)) * 20 + np.cumsum(steps, axis=0)


def brute_force(shapes_at: Callable[[float], Shape], frames: int, steps: int, clearance: float):
    """For all pairs at all of `steps` times a frame: (times, gaps (times, n, n))."""
    times = np.arange((frames - 1) * steps + 1) / steps
    gaps = []
    for time in times:
        batch = shapes_at(time)
        gaps.append(separation(batch[:, None], batch[None]) - clearance)
    return times, np.array(gaps)


@pytest.mark.parametrize("kind", ["spheres", "boxes"])
@pytest.mark.parametrize("clearance", [0.0, 0.4])
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
def test_scan_matches_brute_force(kind, clearance, seed):
    rng = np.random.default_rng(seed)
    count, frames, steps = 110, 7, 24
    path, sizes = zigzags(rng, count, frames), rng.random((count, 3)) + 0.2

    def shapes_at(time: float) -> Shape:
        whole = min(int(time), frames - 2)
        t = time - whole
        middle = path[whole] * (1 - t) + path[whole + 1] * t
        return Sphere(middle, sizes[:, 0]) if kind == "spheres" else Aabb(middle - sizes, middle + sizes)

    report = run(shapes_at, range(frames), ScanSettings(clearance=clearance))
    times, gaps = brute_force(shapes_at, frames, steps, clearance)
    found = {(c.a, c.b): c for c in report.contacts}
    tunnelling = 0
    for i in range(count):
        for j in range(i + 1, count):
            gap, contact = gaps[:, i, j], found.get((i, j))
            if contact is None:
                assert gap.min() > -1e-9
                continue
            inside = np.zeros(len(times), dtype=bool)
            for start, end in spans(contact):
                inside |= (start <= times) & (times <= end)
            sure = np.abs(gap) > 1e-9
            assert np.array_equal(inside[sure], gap[sure] <= 0)
            # The deepest is at least as deep as any sample, and real.
            assert -contact.depth <= gap.min() + clearance + 1e-9
            batch = shapes_at(contact.deepest_frame)
            assert separation(batch[i], batch[j]) == pytest.approx(-contact.depth, abs=1e-9)
            assert contact.first.tunnelling == (
                not any(start <= f <= end for start, end in spans(contact)[:1] for f in range(frames))
            )
            tunnelling += contact.first.tunnelling
            # The witness point is as far from both surfaces as they are from each other.
            at_first = shapes_at(contact.first.frame)
            reach = clearance / 2 + 1e-6
            for shape in (at_first[i], at_first[j]):
                probe = (
                    Sphere(contact.first.point, reach)
                    if kind == "spheres"
                    else Aabb(contact.first.point - reach, contact.first.point + reach)
                )
                assert overlaps(probe, shape)
            assert np.linalg.norm(contact.first.normal) == pytest.approx(1)
    assert len(found) > 40
    assert tunnelling > 5

    # Near misses: every pair that moves, never touches, and comes within the smaller size; the gap is real.
    size = sizes[:, 0] if kind == "spheres" else np.sqrt((sizes**2).sum(axis=1))
    at_rest = (path == path[0]).all(axis=(0, 2))
    near = {(n.a, n.b): n for n in report.clearances}
    listed = 0
    for i in range(count):
        for j in range(i + 1, count):
            least = gaps[:, i, j].min() + clearance
            if (i, j) in near:
                entry = near[i, j]
                assert (i, j) not in found
                assert not (at_rest[i] and at_rest[j])
                assert entry.gap <= least + 1e-9
                batch = shapes_at(entry.frame)
                assert separation(batch[i], batch[j]) == pytest.approx(entry.gap, abs=1e-9)
                listed += 1
            elif (i, j) not in found and not (at_rest[i] and at_rest[j]):
                assert least > min(size[i], size[j])
    assert listed > 10


# --- uncertainty -----------------------------------------------------------------------------------------


def test_linear_motion_with_neighbors_has_no_uncertainty():
    (contact,) = run(ball_meets_wall(lambda t: 9.3 - t), range(0, 11)).contacts
    assert contact.first.frame == pytest.approx(7.3, abs=1e-12)
    assert 0 <= contact.first.uncertainty < 1e-12


def test_single_interval_has_uncertainty_of_whole_interval():
    (contact,) = run(ball_meets_wall(lambda t: 6 - t), [0, 8]).contacts
    assert contact.first.uncertainty == 8


@pytest.mark.parametrize("acceleration", [0.4, -0.1])
@pytest.mark.parametrize("phase", np.linspace(0, 1, 9))
def test_uncertainty_covers_the_error_of_an_accelerated_ball(acceleration, phase):
    # x = 30 - 4 t - a t^2 / 2 reaches 2 where a t^2 / 2 + 4 t = 28; the frames are shifted by a phase.
    a = acceleration
    true = (-4 + math.sqrt(16 + 56 * a)) / a
    frames = np.arange(0, 12) + phase - 1
    (contact,) = run(ball_meets_wall(lambda t: 30 - 4 * t - a * t * t / 2), frames).contacts
    error = abs(contact.first.frame - true)
    # Off by nothing only where the contact is at a sample.
    assert error <= contact.first.uncertainty + 1e-12
    assert contact.first.uncertainty < 0.05


def test_linear_scan_of_curved_motion_is_late_or_early():
    # Without this the test above could pass with any error of zero: halfway between samples it is not.
    (contact,) = run(ball_meets_wall(lambda t: 30 - 4 * t - 0.2 * t * t), range(12)).contacts
    true = (-4 + math.sqrt(16 + 56 * 0.4)) / 0.4
    assert abs(contact.first.frame - true) > 1e-4


@pytest.mark.parametrize("kind", ["sphere", "box"])
@pytest.mark.parametrize("phase", np.linspace(0, 1, 9))
def test_uncertainty_covers_the_error_of_a_ball_on_a_circle(kind, phase):
    # On a circle of radius 10 in steps of 6 degrees towards a ball standing on it: the straight distance is
    # 20 sin(angle / 2), and 2 at an angle of 2 asin(0.1). The circle's second difference falls short of its
    # second derivative by (w h)^2 / 12 = 0.1 %.
    step = math.radians(6)

    def shapes(t):
        x, y = 10 * math.cos(t * step), 10 * math.sin(t * step)
        if kind == "sphere":
            return Sphere([[10, 0, 0], [x, y, 0]], 1)
        return Aabb([[9, -1, -1], [x - 1, y - 1, -1]], [[11, 1, 1], [x + 1, y + 1, 1]])

    # The boxes meet in y, since in x they overlap by then: 10 sin(angle) = 2.
    angle = 2 * math.asin(0.1) if kind == "sphere" else math.asin(0.2)
    true = -angle / step
    (contact,) = run(shapes, np.arange(-9, 1) + phase).contacts
    assert abs(contact.first.frame - true) <= contact.first.uncertainty * 1.002 + 1e-12
    assert contact.first.uncertainty < 0.3


# --- the generator ---------------------------------------------------------------------------------------


def test_progress_is_yielded_per_sample_and_samples_are_taken_once_in_order():
    sampled = []

    def shapes(t):
        sampled.append(t)
        return two_crossing(t)

    scan = scan_contacts(Formula(shapes), range(0, 11))
    progress = list(dict.fromkeys(scan))  # again and again between the parts of a block
    assert progress == [(i + 1, 11, float(i), "frames") for i in range(11)]
    assert sampled == [float(i) for i in range(11)]


def test_scan_can_be_closed_early_and_takes_no_more_samples():
    sampled = []

    def shapes(t):
        sampled.append(t)
        return two_crossing(t)

    scan = scan_contacts(Formula(shapes), range(0, 1000))
    assert sampled == []  # nothing happens before the first step
    next(scan)
    next(scan)
    scan.close()
    assert sampled == [0.0, 1.0]
    with pytest.raises(StopIteration):
        next(scan)


@pytest.mark.smoke
def test_no_subjects_give_empty_report():
    for count in (0, 1):
        report = run(lambda t, n=count: Sphere(np.zeros((n, 3)), 1), range(3))
        assert report == ContactReport((), ())


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
        ([1, 2], ScanSettings(group_a=np.ones(3, bool)), InvalidShapeError, "group_a does not fit 2"),
        ([1, 2], ScanSettings(group_b=np.ones(1, bool)), InvalidShapeError, "group_b does not fit 2"),
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


# --- regressions --------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", [1, 2, 3, 5, 8])
def test_contact_at_rest_ends_when_subject_disappears(gone):
    # Only the third moves, which keeps the scan looking.
    def shapes(t):
        spheres = Sphere([[0, 0, 0], [0.5, 0, 0], [10 + t, 0, 0]], [1, 1, 1])
        return Sample(spheres, np.array([True, t < gone, True]))

    (contact,) = run(shapes, range(9), ScanSettings(static_pairs=True)).contacts
    assert spans(contact) == [(0, gone)]


@pytest.mark.parametrize("kind", ["obb", "aabb", "sphere"])
def test_depth_is_known_for_clearance_larger_than_shapes(kind):
    # Passing by at 1 to the side and 0.8 above, nearest at 2.25; half a side, or a radius, of 0.05.
    def shapes(t):
        centers = np.array([[0, 0, 0], [t - 2.25, 1, 0.8]])
        if kind == "obb":
            return Obb(centers, np.full((2, 3), 0.05), np.eye(3))
        return Aabb(centers - 0.05, centers + 0.05) if kind == "aabb" else Sphere(centers, 0.05)

    (contact,) = run(shapes, range(6), ScanSettings(clearance=2.0)).contacts
    gap = math.hypot(1, 0.8) - 0.1 if kind == "sphere" else math.hypot(0.9, 0.7)
    assert contact.depth == pytest.approx(-gap, abs=1e-6)


def test_corner_rotating_past_within_one_frame_is_near_miss_at_closest_time():
    # A box turned by 0.6 rad a frame about its middle: at frame 0.5 its corner points along X, at sqrt(2).
    def shapes(t):
        angle = 0.6 * (t - 0.5) + math.pi / 4
        turn = np.eye(3)
        turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        return Obb([[0, 0, 0], [3.6, 0, 0]], [[1, 1, 1], [2, 2, 2]], np.stack([turn, np.eye(3)]))

    (near,) = run(shapes, [0, 1]).clearances
    assert near.gap == pytest.approx(1.6 - math.sqrt(2), abs=1e-4)
    assert near.frame == pytest.approx(0.5, abs=0.02)
