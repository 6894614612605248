"""Benchmarks fail if what they have timed is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bench
from addon.core import Capsule, Obb, separation
from addon.core.scan.report import Contacts
from benchmarks import TABLES
from benchmarks.scenes import scans
from benchmarks.tables import Competitor, Row, Table, WrongResultError, measure
from benchmarks.truth import capsule_distance, oriented_distance, part_gaps


def crowd_and_report():
    """Return a small crowd, and the report of its scan."""
    case = scans.crowd(6.0)
    case = replace(case, centers=[each[:40] for each in case.centers], radius=case.radius[:40])
    return case, scans._scan_crowd(case)()


@pytest.fixture(autouse=True)
def small_crowd(monkeypatch):
    monkeypatch.setattr(scans, "CROWD", 40)


def test_right_contacts_of_a_crowd_pass():
    case, report = crowd_and_report()
    assert len(report.contacts) > 20
    assert scans._check_crowd(case, {"scan": report}) == ""


def test_a_contact_that_is_dropped_is_found():
    case, report = crowd_and_report()
    longest = max(report.contacts, key=lambda contact: contact.intervals[0].end - contact.intervals[0].start)
    kept = [each for each in report.contacts if (each.a, each.b) != (longest.a, longest.b)]
    planted = replace(report, contacts=Contacts.of(kept))
    assert scans._check_crowd(case, {"scan": planted}).startswith(
        f"missed contact of {longest.a} and {longest.b} at frame "
    )


@pytest.mark.parametrize(("begin", "error"), [(0.1, "missed"), (-0.1, "invented")])
def test_a_contact_that_begins_at_another_time_is_found(begin, error):
    case, report = crowd_and_report()
    number, contact = next(
        (number, each)
        for number, each in enumerate(report.contacts)
        if 1 < each.intervals[0].start < each.intervals[0].end - 5
    )
    first, *rest = contact.intervals
    moved = replace(contact, intervals=(first._replace(start=first.start + begin), *rest))
    every = [*report.contacts[:number], moved, *report.contacts[number + 1 :]]
    planted = replace(report, contacts=Contacts.of(every))
    assert scans._check_crowd(case, {"scan": planted}).startswith(
        f"{error} contact of {contact.a} and {contact.b}"
    )


def test_a_table_with_a_wrong_result_has_no_times(tmp_path, monkeypatch, capsys):
    table = Table(
        "planted",
        "case",
        (Competitor("project", lambda case: lambda: case),),
        [Row("one", lambda: 1, 1)],
        check=lambda case, results: "" if results["project"] == 2 else "1 is not 2",
    )
    with pytest.raises(WrongResultError, match="planted: one: wrong result: 1 is not 2"):
        measure(table)
    monkeypatch.setitem(TABLES, "planted", table)
    assert bench.main(["planted", "--into", str(tmp_path / "table.md")]) == 1
    assert "1 is not 2" in capsys.readouterr().err
    assert not (tmp_path / "table.md").exists()
    monkeypatch.setattr(bench, "measure_in_process", lambda name: None)
    assert bench.main(["planted", "--no-write"]) == 1


def test_distances_of_turned_boxes_and_capsules_are_those_of_the_math():
    rng = np.random.default_rng(0)
    count = 200
    axes = np.linalg.qr(rng.normal(size=(count, 3, 3)))[0]
    axes *= np.sign(np.linalg.det(axes))[:, None, None]
    centers, half = rng.uniform(-1, 1, (count, 3)), rng.uniform(0.1, 0.6, (count, 3))
    a, b = rng.integers(0, count, (2, 2000))
    boxes = Obb(centers, half, axes)
    expected = separation(boxes[a], boxes[b])
    assert ((oriented_distance((centers, axes, half), a, b) > 1e-9) == (expected > 1e-9)).all()
    start, end = centers - half[:, :1] * axes[:, 0], centers + half[:, :1] * axes[:, 0]
    capsules = Capsule(centers, axes[:, 0], half[:, 0], half[:, 1])
    expected = separation(capsules[a], capsules[b])
    found = capsule_distance((start, end, half[:, 1]), a, b)
    apart = expected > 0
    assert found[apart] == pytest.approx(expected[apart], abs=1e-9)
    assert (found[~apart] <= 1e-9).all()


def test_distance_of_bodies_is_the_least_of_their_parts():
    places = np.array([0.0, 1.0, 5.0, 2.5])
    gaps = part_gaps(
        lambda time: places + time, np.array([0, 0, 1, 2]), lambda now, a, b: np.abs(now[a] - now[b])
    )
    assert gaps(0.0, np.array([0, 0, 1]), np.array([1, 2, 2])).tolist() == [4.0, 1.5, 2.5]
