"""Motion that can only be sampled, and moves in steps, or more than once between two frames.

Expected times follow from the formulas of the motions.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Contact,
    Obb,
    Sample,
    Shape,
    Sphere,
    Triangle,
    TriangleMesh,
    scan_contacts,
)
from addon.core.scan import scan
from addon.core.scan.scan import probed_times
from tests.core.scan.surfaces import balls_and_surfaces, pose_at
from tests.finished import finished
from tests.tiers import times

KINDS = (Sphere, Aabb, Obb)
SHORT = 2.0**-13
"""Frames within which a jump is found."""
ENDS = 5e-3
"""Frames by which a contact may end earlier or later."""


class Sampled:
    """Subjects of which nothing but samples is known."""

    def __init__(self, shapes: Callable[[float], Shape | Sample], count: int) -> None:
        self._shapes = shapes
        self.refinable = np.ones(count, dtype=bool)

    def sample(self, time: float) -> Shape | Sample:
        return self._shapes(time)

    def sample_between(self, time: float, subjects: np.ndarray) -> Shape | Sample:
        return self._shapes(time)[subjects]


def bodies(kind: type, centers: object, half: float) -> Shape:
    """Return spheres or boxes at rest in their orientation, of one size."""
    centers = np.asarray(centers, dtype=float)
    if kind is Sphere:
        return Sphere(centers, half)
    sides = np.full(centers.shape, half)
    if kind is Aabb:
        return Aabb(centers - sides, centers + sides)
    return Obb(centers, sides, np.tile(np.eye(3), (len(centers), 1, 1)))


def contacts_on_line(kind: type, places: list[Callable[[float], float]], frames: range) -> dict[int, Contact]:
    """Return contacts by the number of the body, on the X axis; each has a wall of its own at x = 0.

    Bodies and walls have a size of 1 to either side, so they touch while a body is at -2 to 2.
    """
    rows = 10.0 * np.arange(len(places))

    def shapes(time: float) -> Shape:
        moving = [(place(time), row, 0) for place, row in zip(places, rows, strict=True)]
        return bodies(kind, [*moving, *((0, row, 0) for row in rows)], 1.0)

    found = finished(scan_contacts(Sampled(shapes, 2 * len(places)), frames)).contacts
    assert all(contact.b == contact.a + len(places) for contact in found)
    return {contact.a: contact for contact in found}


@pytest.mark.parametrize("kind", KINDS)
def test_body_that_steps_at_whole_frames_touches_from_a_frame_on(kind):
    # -5.3, -3.9, -2.5, -1.1, 0.3, 1.7, 3.1: whole frames alone show a constant speed.
    places = [lambda time: 1.4 * math.floor(time) - 5.3]
    contact = contacts_on_line(kind, places, range(10))[0]
    (span,) = contact.intervals
    assert contact.first.frame == 3 and contact.first.uncertainty <= SHORT
    assert abs(span.end - 6) <= SHORT
    assert contact.details[0].velocity is None
    assert contact.depth == pytest.approx(1.7, abs=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_over_a_wall_are_no_contacts_and_leave_their_real_gap(kind):
    jumps = np.random.default_rng(3).uniform(2, 8, times(20, 10, full=100))
    places = [lambda time, jump=jump: 4.0 if time >= jump else -2.7 for jump in [*jumps, 3.0, 5.5]]
    assert not contacts_on_line(kind, places, range(11))


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_over_a_wall_while_it_is_nearly_touched_are_no_contacts(kind):
    # The gap is 0.02 to 0.98 before and after the jump, so samples are taken for its least value, too.
    jumps = np.random.default_rng(4).uniform(2, 8, times(24, 16, full=60))

    def place(time: float, jump: float) -> float:
        return math.copysign(2.5 + 0.48 * math.sin(4 * time), time - jump + 1e-12)

    places = [lambda time, jump=jump: place(time, jump) for jump in [*jumps, 4.5, 6.0]]
    assert not contacts_on_line(kind, places, range(11))


@pytest.mark.parametrize("kind", KINDS)
def test_jumps_into_and_out_of_a_wall_are_found_at_their_times(kind):
    rng, count = np.random.default_rng(5), times(20, 10, full=100)
    ins, lasts = rng.uniform(1, 5, count), rng.uniform(0.05, 4, count)
    # At whole frames, too.
    ins[:4], lasts[:4] = [2, 3, 4, 2.5], [1, 2, 0.75, 1.5]
    places = [
        lambda time, begin=begin, end=end, rest=rest: rest if begin <= time < end else 9.0
        for begin, end, rest in zip(ins, ins + lasts, rng.uniform(-1.9, 1.9, count), strict=True)
    ]
    found = contacts_on_line(kind, places, range(11))
    seen = [number for number in range(count) if shows_step(ins[number], ins[number] + lasts[number])]
    assert found.keys() >= set(seen) and len(seen) > count / 2
    for number, contact in found.items():
        (span,) = contact.intervals
        assert abs(span.start - ins[number]) <= contact.first.uncertainty + 1e-9
        assert contact.first.uncertainty <= SHORT
        assert abs(span.end - ins[number] - lasts[number]) <= SHORT


def shows_step(begin: float, end: float) -> bool:
    """Return whether a sample of a scan of frames 0 to 10 is within a span: shorter ones may not be seen."""
    samples = probed_times(np.arange(11.0), Sampled(lambda _: Sphere([[0, 0, 0]], 1), 1))
    return bool(((samples >= begin) & (samples < end)).any())


@pytest.mark.parametrize("kind", KINDS)
def test_random_stairs_touch_exactly_while_a_step_does(kind):
    rng, count, last = np.random.default_rng(9), times(12, 6, full=60), 12
    # Steps of 0.7 to 3 frames: a shorter one may be over before it is sampled.
    lengths, phases = rng.uniform(0.7, 3, count), rng.uniform(0, 1, count)
    heights = rng.uniform(-6, 6, (count, 60))
    starts = np.arange(60) - 10

    def number_of(time: float, row: int) -> int:
        return math.floor(time / lengths[row] + phases[row]) + 10

    places = [lambda time, row=row: heights[row, number_of(time, row)] for row in range(count)]
    found = contacts_on_line(kind, places, range(last + 1))
    compared = 0
    for row in range(count):
        begins = (starts - phases[row]) * lengths[row]
        expected: list[list[float]] = []
        for begin, height in zip(begins, heights[row], strict=True):
            end = begin + lengths[row]
            if abs(height) > 2 or end <= 0 or begin > last:
                continue
            if expected and abs(expected[-1][1] - begin) < 1e-9:
                expected[-1][1] = min(end, last)
            else:
                expected.append([max(begin, 0), min(end, last)])
        contact = found.get(row)
        spans = [(span.start, span.end) for span in contact.intervals] if contact else []
        np.testing.assert_allclose(np.reshape(spans, (-1, 2)), np.reshape(expected, (-1, 2)), atol=2 * SHORT)
        for number, (begin, _) in enumerate(expected):
            assert abs(spans[number][0] - begin) <= contact.details[number].uncertainty + 1e-9
        compared += len(spans)
    assert compared > count


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_found_in_scans_with_a_body_that_cannot_be_sampled_between_frames(kind):
    # As at whole frames; and a body that is near the wall at whole frames, and touches it between them.
    def shapes(time: float) -> Shape:
        stair, stroke = 1.4 * math.floor(time) - 5.3, -2.4 + 1e-6 * time + abs(math.sin(math.pi * time))
        return bodies(kind, [(stair, 0, 0), (stroke, 10, 0), (0, 0, 0), (0, 10, 0), (0, 20, 0)], 1.0)

    motion = Sampled(shapes, 5)
    motion.refinable[4] = False
    found = {contact.a: contact for contact in finished(scan_contacts(motion, range(10))).contacts}
    (span,) = found[0].intervals
    assert found[0].first.frame == 3 and abs(span.end - 6) <= SHORT
    half = 0.5 - math.asin(0.4) / math.pi
    assert len(found[1].intervals) == 9
    for number, (span, details) in enumerate(zip(found[1].intervals, found[1].details, strict=True)):
        assert abs(span.start - (number + 0.5 - half)) <= details.uncertainty + 1e-5
        assert abs(span.end - (number + 0.5 + half)) <= ENDS


def test_contact_at_the_last_frame_is_cut_there_with_a_body_that_cannot_be_sampled():
    # The centers are nearer than 2 from 7.5 on. The last frame has no length, and so no speed.
    def shapes(time: float) -> Aabb:
        return bodies(Aabb, [(9.5 - time, 0, 0), (0, 0, 0), (0, 20, 0)], 1.0)

    motion = Sampled(shapes, 3)
    motion.refinable[2] = False
    (contact,) = finished(scan_contacts(motion, range(10))).contacts
    (span,) = contact.intervals
    assert abs(span.start - 7.5) <= contact.details[0].uncertainty + 1e-9 and span.end == 9


def test_step_of_a_surface_is_found_at_its_time():
    # A floor jumps into the lower half of a ball at 4.3, and past it at 7.
    floor = TriangleMesh(Triangle([(-50, -50, 0)], [(50, -50, 0)], [(0, 80, 0)]))

    def shapes(time: float) -> Shape:
        height = 0.0 if time < 4.3 else 2.8 if time < 7 else 6.0
        return balls_and_surfaces(Sphere([(0, 0, 3)], 1.0), [floor], pose_at(0, 0, height)[None])

    (contact,) = finished(scan_contacts(Sampled(shapes, 2), range(11))).contacts
    (span,) = contact.intervals
    assert abs(span.start - 4.3) <= contact.first.uncertainty <= SHORT
    assert abs(span.end - 7) <= SHORT
    assert contact.depth == pytest.approx(0.8, abs=0.01)


def wave_spans(period: float, phase: float, last: int) -> np.ndarray:
    """Spans (k, 2) in which 3 + 2 sin(2 pi time / period + phase) is below 2."""
    # The sine is below -0.5 from 7/6 pi to 11/6 pi of each turn.
    turns = np.arange(-1, 2 + math.ceil(last / period)) * 2 * math.pi
    spans = np.stack(
        [(turns + part * math.pi - phase) * period / (2 * math.pi) for part in (7 / 6, 11 / 6)], 1
    )
    return np.clip(spans[(spans[:, 1] > 0) & (spans[:, 0] < last)], 0, last)


def waves(period: float) -> tuple[np.ndarray, dict[int, Contact]]:
    """Return phases, and the contacts of bodies that move between 1 and 5 in frames 0 to 8."""
    phases = np.linspace(0, 2 * math.pi, times(8, 4, full=40), endpoint=False) + 0.1
    rate = 2 * math.pi / period
    places = [lambda time, phase=phase: 3 + 2 * math.sin(rate * time + phase) for phase in phases]
    return phases, contacts_on_line(Sphere, places, range(9))


@pytest.mark.parametrize("period", [1.2, 1.35, 1.5, 1.8, 1.9, 2.0, 2.1, 2.2])
def test_waves_of_about_two_frames_touch_in_all_their_intervals(period):
    phases, found = waves(period)
    for number, phase in enumerate(phases):
        expected, contact = wave_spans(period, phase, 8), found[number]
        assert len(contact.intervals) == len(expected)
        for span, details, (begin, end) in zip(contact.intervals, contact.details, expected, strict=True):
            assert abs(span.start - begin) <= details.uncertainty + 1e-6
            assert details.uncertainty <= ENDS
            assert abs(span.end - end) <= ENDS


@pytest.mark.parametrize("period", [1.0, 1.1])
def test_waves_of_one_frame_touch_in_nearly_all_their_intervals_and_in_no_others(period):
    # Where the sample within a frame is as far from the wall as those at both ends, nothing shows a wave.
    phases, found = waves(period)
    for number, phase in enumerate(phases):
        expected, contact = wave_spans(period, phase, 8), found[number]
        assert len(expected) - 1 <= len(contact.intervals) <= len(expected)
        for span, details in zip(contact.intervals, contact.details, strict=True):
            begin, end = expected[np.abs(expected[:, 0] - span.start).argmin()]
            assert abs(span.start - begin) <= details.uncertainty + 1e-6
            assert abs(span.end - end) <= ENDS


@pytest.mark.parametrize("turns", [0.4615, 0.5, 0.97, 1.0, 1.03, 1.5, 2.0])
def test_bar_that_spins_up_to_two_turns_a_frame_hits_a_post_at_each_pass(turns):
    # A bar of no thickness, 3 long to either side, passes a ball of radius 0.5 that is 2 away: each half turn
    # it touches while its angle is within arcsin(0.5 / 2) of that of the ball.
    last, rate, reach = 3, 2 * math.pi * turns, math.asin(0.25)

    def shapes(time: float) -> Obb:
        angle = rate * time + 0.4
        cos, sin = math.cos(angle), math.sin(angle)
        bar = [[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]
        return Obb([(0, 0, 0), (2, 0, 0)], [(3, 0, 1), (0.5, 0.5, 0.5)], [bar, np.eye(3)])

    # A square post of half side 0.5 at (2, 0): its corners (1.5, +-0.5) have the largest angle.
    reach = math.atan2(0.5, 1.5)
    (contact,) = finished(scan_contacts(Sampled(shapes, 2), range(last + 1))).contacts
    passes = np.arange(0, 2 * turns * last + 2) * math.pi
    begins, ends = ((passes + side * reach - 0.4) / rate for side in (-1, 1))
    expected = [
        (max(begin, 0), min(end, last))
        for begin, end in zip(begins, ends, strict=True)
        if end > 0 and begin < last
    ]
    assert len(contact.intervals) == len(expected)
    for span, details, (begin, end) in zip(contact.intervals, contact.details, expected, strict=True):
        assert abs(span.start - begin) <= details.uncertainty + 1e-6
        assert abs(span.end - end) <= ENDS


@pytest.mark.parametrize("rate", [0.7, 1.6, 2.9])
def test_box_that_turns_by_radians_a_frame_leaves_a_wall_between_its_corners(rate):
    # A square of half side 1 turns above a floor whose surface is 1.2 below its center: its corners, at a
    # distance of 1.414, touch while they are within arccos(1.2 / 1.414) of straight down.
    last, reach = 6, math.acos(1.2 / math.sqrt(2))

    def shapes(time: float) -> Obb:
        cos, sin = math.cos(rate * time), math.sin(rate * time)
        turned = [[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]]
        return Obb([(0, 0, 0), (0, 0, -2.2)], [(1, 1, 1), (9, 9, 1)], [turned, np.eye(3)])

    (contact,) = finished(scan_contacts(Sampled(shapes, 2), range(last + 1))).contacts
    middles = np.arange(-1, 2 * rate * last / math.pi + 2) * math.pi / 2 + math.pi / 4
    spans = np.clip(np.column_stack([middles - reach, middles + reach]) / rate, 0, last)
    spans = spans[spans[:, 1] > spans[:, 0]]
    assert len(contact.intervals) == len(spans)
    for span, details, (begin, end) in zip(contact.intervals, contact.details, spans, strict=True):
        assert abs(span.start - begin) <= details.uncertainty + 1e-6
        assert abs(span.end - end) <= ENDS


@pytest.mark.parametrize("kind", [Sphere, Aabb, pytest.param(Obb, marks=pytest.mark.long)])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_contact_that_a_jump_ends_is_over_whichever_intervals_are_solved_together(kind, length, monkeypatch):
    # All bodies rest but for a jump at a frame.
    monkeypatch.setattr(scan, "_SHORTEST_BLOCK", length)
    monkeypatch.setattr(scan, "_LONGEST_BLOCK", length)
    places = [lambda time, jump=jump: 0.5 if time < jump else 9.0 for jump in range(1, 20)]
    found = contacts_on_line(kind, places, range(25))
    for row, jump in enumerate(range(1, 20)):
        (span,) = found[row].intervals
        assert abs(span.end - jump) <= SHORT
