"""Scans that are cut into sections: contacts over a cut are one, and shares give the same report."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count, pairwise

import numpy as np
import pytest

from addon.core import (
    InvalidShapeError,
    Sample,
    ScanSettings,
    Shape,
    Sphere,
    Triangle,
    TriangleMesh,
    scan_contacts,
)
from addon.core.scan import scan
from addon.core.scan.scan import joined_shares, scan_share, sections_of, share_of
from addon.core.scan.sections import share_as_json, share_from_json
from tests.core.scan.scans import ball_meets_wall, run, spans, zigzags
from tests.core.scan.surfaces import balls_and_surfaces
from tests.finished import finished
from tests.tiers import times


class Divisible:
    """A motion given as a function of time, which can be read section by section."""

    is_divisible = True

    def __init__(self, shapes: Callable[[float], Shape | Sample], subjects: int = 0) -> None:
        self.shapes = shapes
        self.refinable = np.ones(subjects, dtype=bool)
        self.starts: list[float | None] = []
        self._last: float | None = None

    def restart(self) -> None:
        self.starts.append(None)
        self._last = None

    def sample(self, time: float) -> Shape | Sample:
        assert self._last is None or time > self._last, "times of a section increase"
        self._last = time
        if self.starts and self.starts[-1] is None:
            self.starts[-1] = time
        return self.shapes(time)


class Sampled(Divisible):
    """A divisible motion that can be sampled between frames."""

    def sample_between(self, time: float, subjects) -> Shape | Sample:
        return self.shapes(time)[subjects]


@pytest.fixture
def short(monkeypatch) -> None:
    """Cut after five intervals."""
    monkeypatch.setattr(scan, "SECTION_INTERVALS", 5)


def sectioned(motion, frames, settings: ScanSettings | None = None, *ends):
    return finished(scan_contacts(motion, frames, settings, *ends))


def plain(report):
    """Return all of a report as plain values."""
    contacts = [
        (
            c.a,
            c.b,
            c.intervals,
            c.depth,
            c.deepest_frame,
            c.first.frame,
            c.first.uncertainty,
            c.first.at_start,
        )
        for c in report.contacts
    ]
    vectors = [[*c.first.point, *c.first.normal] for c in report.contacts]
    details = [(d.depth, d.uncertainty, *d.normal, *d.direction) for c in report.contacts for d in c.details]
    contacts = [contacts, vectors, details]
    return contacts, report.clearances, report.static_overlaps, report.stopped_at


@pytest.mark.parametrize("samples", [1, 2, 5, 6, 7, 11, 12, 251, 252, 2001])
def test_sections_cover_all_samples_and_share_their_ends(samples):
    sections = sections_of(samples)
    assert sections[0].begin == 0 and sections[-1].end == samples - 1
    assert all(a.end == b.begin for a, b in pairwise(sections))
    assert len(sections) == max(1, -(-(samples - 1) // scan.SECTION_INTERVALS))
    for shares in range(1, 12):
        assert [each for k in range(shares) for each in share_of(sections, k, shares)] == sections


@pytest.mark.usefixtures("short")
def test_contact_over_cuts_is_one_with_its_begin_end_and_greatest_depth():
    # The ball comes from x = 10, touches at t = 8, is deepest at 14, and leaves at 20: three cuts.
    motion = Divisible(ball_meets_wall(lambda t: 0.5 + abs(t - 14) / 4))
    (contact,) = sectioned(motion, range(30)).contacts
    assert spans(contact) == [(8.0, 20.0)]
    assert (contact.deepest_frame, contact.depth) == (14.0, 1.5)
    assert motion.starts == [4, 9, 14, 19, 24], "each section reads the sample before it"


@pytest.mark.usefixtures("short")
def test_contact_that_ends_or_begins_at_a_cut_keeps_its_time():
    # Frames 5 and 15 are cuts. Between the contacts the balls are apart.
    path = [4, 3, 2, 1.5, 1.5, 2, 3, 4, 4, 3, 3, 3, 3, 3, 3, 2, 1, 2, 3, 3, 3]
    motion = Divisible(ball_meets_wall(lambda t: path[int(t)]))
    (contact,) = sectioned(motion, range(21)).contacts
    assert spans(contact) == [(2.0, 5.0), (15.0, 17.0)]


@pytest.mark.usefixtures("short")
def test_pairs_that_never_move_are_no_contacts_in_any_section():
    def shapes(t: float) -> Sphere:
        return Sphere([[0, 0, 0], [1, 0, 0], [20 + t, 0, 0]], 1)

    report = sectioned(Divisible(shapes), range(20))
    assert (report.contacts, report.static_overlaps) == ((), ((0, 1),))
    (contact,) = sectioned(Divisible(shapes), range(20), ScanSettings(static_pairs=True)).contacts
    assert spans(contact) == [(0.0, 19.0)]


@pytest.mark.usefixtures("short")
def test_near_miss_is_measured_by_the_size_at_the_first_sample():
    # The gap of 1.5 at t = 12 is at most the first size of the ball, 2, but not its later size, 1.
    def shapes(t: float) -> Sphere:
        return Sphere([[0, 0, 0], [0, 3.5 + abs(t - 12), 0]], [1, 2 if t < 3 else 1])

    def only_large(t: float) -> Sphere:
        return Sphere([[0, 0, 0], [0, 3.5 + abs(t - 12), 0]], [1, 0.5 if t < 3 else 1])

    for motion in (shapes, only_large):
        sizes = motion(0).radius
        gap = 1.5
        found = sectioned(Divisible(motion), range(20)).clearances
        assert bool(found) == (gap <= min(sizes))
        assert [near.gap for near in found] == [near.gap for near in run(motion, range(20)).clearances]


def wall() -> TriangleMesh:
    square = np.array([[-9.0, -9, 10], [30, -9, 10], [30, 30, 10], [-9, 30, 10]])
    return TriangleMesh(Triangle(square[[0, 0]], square[[1, 2]], square[[2, 3]]))


@pytest.mark.parametrize("seed", range(times(5, full=40)))
@pytest.mark.parametrize("kind", ["bodies", pytest.param("surface", marks=pytest.mark.long), "clearance"])
def test_linear_sections_give_the_contacts_of_a_scan_without_sections(seed, kind, monkeypatch):
    rng = np.random.default_rng(seed)
    frames, bodies = 40, 12
    monkeypatch.setattr(scan, "SECTION_INTERVALS", int(rng.integers(2, 12)))
    # In a small room, so that some of the balls touch in each motion.
    path = zigzags(rng, bodies, frames) / 2
    present = rng.random((frames, bodies)) < 0.9
    settings = ScanSettings(motion="linear", clearance=0.4 if kind == "clearance" else 0.0)
    across = wall()

    def shapes(t: float) -> Sample:
        balls, there = Sphere(path[int(t)], 1.0), present[int(t)]
        if kind == "surface":
            return Sample(balls_and_surfaces(balls, [across]), np.append(there, True))
        return Sample(balls, there)

    whole = finished(scan_contacts(_Undivided(shapes), range(frames), settings))
    cut = sectioned(Divisible(shapes), range(frames), settings)
    assert whole.contacts and plain_numbers(cut) == pytest.approx(plain_numbers(whole), abs=1e-9)
    # Each is within half a hundredth of the radius, if there are surfaces.
    error = 0.01 if kind == "surface" else 1e-9
    assert depths_and_gaps(cut) == pytest.approx(depths_and_gaps(whole), abs=error)


class _Undivided(Divisible):
    is_divisible = False


def plain_numbers(report) -> list[float]:
    """Numbers of a report that do not depend on cuts: with equal depths, any time is right."""
    return [
        number
        for c in sorted(report.contacts, key=lambda c: (c.a, c.b))
        for number in (c.a, c.b, *(time for span in spans(c) for time in span), *c.first.point)
    ] + [number for pair in sorted((near.a, near.b) for near in report.clearances) for number in pair]


def depths_and_gaps(report) -> list[float]:
    return [c.depth for c in sorted(report.contacts, key=lambda c: (c.a, c.b))] + [
        near.gap for near in sorted(report.clearances, key=lambda n: (n.a, n.b))
    ]


def swaying(seed: int) -> Callable[[float], Sphere]:
    rng = np.random.default_rng(seed)
    home, sway = rng.uniform(0, 9, (12, 3)), rng.normal(size=(12, 3)) * 3
    pace = rng.uniform(0.1, 0.9, (12, 1))
    return lambda t: Sphere(home + sway * np.sin(pace * t), 1.0)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("motion_kind", [pytest.param("adaptive", marks=pytest.mark.long), "linear"])
@pytest.mark.parametrize(
    "shares", [2, *(pytest.param(shares, marks=pytest.mark.long) for shares in (1, 3, 7))]
)
def test_shares_that_are_stored_and_joined_give_the_same_report(motion_kind, shares):
    settings, frames = ScanSettings(motion=motion_kind), range(27)
    expected = plain(sectioned(Sampled(swaying(3), 12), frames, settings))
    parts = []
    for number in range(shares):
        share = share_of(sections_of(len(frames)), number, shares)
        if share:
            records = finished(scan_share(Sampled(swaying(3), 12), frames, settings, share))
            parts.append(share_from_json(json.loads(json.dumps(share_as_json(records)))))
    assert plain(joined_shares(frames, settings, parts)) == expected
    assert expected[0][0] and expected[1]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("samples", [1, 3, 5, 6, 7, 8, 11, 12, 20])
def test_scan_that_is_stopped_anywhere_is_that_of_its_frames(samples):
    calls = count(1)
    stopped = sectioned(Sampled(swaying(5), 12), range(25), None, lambda: next(calls) >= samples)
    alone = sectioned(Sampled(swaying(5), 12), range(samples))
    assert stopped.stopped_at == samples - 1
    if samples > 2:
        assert plain(stopped)[:3] == plain(alone)[:3]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("steps", [1, 9, 25, 60, 120])
def test_scan_that_drops_frames_has_the_contacts_until_then_and_its_progress_never_falls(steps):
    calls, shares = count(1), []
    scanning = scan_contacts(
        Sampled(swaying(5), 12), range(40), None, lambda: False, lambda: next(calls) >= steps
    )
    while True:
        try:
            shares.append(next(scanning).share)
        except StopIteration as stop:
            dropped = stop.value
            break
    assert shares == sorted(shares)
    whole = sectioned(Sampled(swaying(5), 12), range(40))
    end = dropped.stopped_at
    assert end is not None and end < 39
    before = {(c.a, c.b): c.first.frame for c in whole.contacts if c.first.frame <= end}
    assert {(c.a, c.b): c.first.frame for c in dropped.contacts} == before


@pytest.mark.usefixtures("short")
def test_adaptive_contacts_over_cuts_begin_and_end_within_a_thousandth():
    # Ball 1 swings through ball 0: |x| = 2 at known times.
    motion = Sampled(ball_meets_wall(lambda t: 6 * np.cos(t / 3)), 2)
    (contact,) = sectioned(motion, range(31)).contacts
    half = 3 * (np.pi / 2 - np.arccos(1 / 3))
    middles = [3 * np.pi * (k + 0.5) for k in range(4)]
    expected = [(m - half, m + half) for m in middles if m - half < 30]
    assert np.allclose(spans(contact), [(a, min(b, 30)) for a, b in expected], atol=5e-3)
    assert contact.first.frame == pytest.approx(expected[0][0], abs=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.pop("pairs"),
        lambda data: data.pop("spans"),
        lambda data: data.pop("has_moved"),
        lambda data: data["pairs"].pop("keys"),
        lambda data: data["pairs"].update(least="not base64"),
        lambda data: data["pairs"].update(least="AAAA"),
        lambda data: data["spans"].update(enter=""),
        lambda data: data.update(pairs="x"),
        lambda data: data.update(spans=[7]),
        lambda data: data.update(has_moved=7),
    ],
)
def test_damaged_records_raise_an_error_of_the_project(change):
    motion = Divisible(ball_meets_wall(lambda t: abs(t - 5)))
    records = finished(scan_share(motion, range(11), ScanSettings(), sections_of(11)))
    data = json.loads(json.dumps(share_as_json(records)))
    share_from_json(data)
    change(data)
    with pytest.raises(InvalidShapeError, match="records of a scan"):
        share_from_json(data)
