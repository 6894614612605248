"""Benchmarks of scans find wrong contacts of what they have timed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from addon.core.scan.report import Contacts
from benchmarks.scenes import evaluated_scans, scans
from benchmarks.scenes.evaluated_scans import Driven, Walk
from benchmarks.scenes.scans import Keyed

CASES = [
    Keyed(30, shape, motion, room=2.0, keys=(1, 10, 20), rotates=True)
    for shape, motion in (
        ("sphere", "linear"),
        ("aabb", "adaptive"),
        ("obb", "adaptive"),
        ("capsule", "linear"),
    )
]


def with_contacts(result, contacts):
    """Copy a result with other contacts, none of them verified on meshes."""
    report = replace(result.report, contacts=Contacts.of(contacts))
    return replace(result, scanned=replace(result.scanned, report=report, confirmed=()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.shape}-{case.motion}")
def test_right_contacts_pass_and_a_contact_that_is_dropped_is_found(case):
    result = scans.scan(case)()
    assert scans._check(case, {"scan": result}) == ""
    longest = max(
        result.report.contacts, key=lambda contact: contact.intervals[0].end - contact.intervals[0].start
    )
    fewer = [each for each in result.report.contacts if (each.a, each.b) != (longest.a, longest.b)]
    planted = with_contacts(result, fewer)
    message = scans._check(case, {"scan": planted})
    assert message.startswith(f"missed contact of {longest.a} and {longest.b} at frame ")


def test_a_contact_of_drivers_that_begins_late_is_found():
    case = Driven(12, 0, True, 6.0)
    result = scans.scan(case)()
    assert evaluated_scans._check_driven(case, {"scan": result}) == ""
    late = []
    for contact in result.report.contacts:
        first, *rest = contact.intervals
        is_long = 1 < first.start < first.end - 4
        late.append(replace(contact, intervals=(first._replace(start=first.start + 2 * is_long), *rest)))
    planted = with_contacts(result, late)
    assert evaluated_scans._check_driven(case, {"scan": planted}).startswith("missed contact of ")


@pytest.mark.long
def test_wrong_answers_about_meshes_of_characters_are_found():
    case = Walk(1, 1000, 40, confirm=True, props=30)
    result = scans.scan(case)()
    assert evaluated_scans._check_walk(case, {"scan": result}) == ""
    touched = [row for row, each in enumerate(result.confirmed) if each.first and each.first.time > 2]
    apart = [row for row, each in enumerate(result.confirmed) if each.first is None]
    assert touched and apart

    def planted(row, first):
        answers = list(result.confirmed)
        answers[row] = replace(answers[row], first=first)
        return evaluated_scans._check_walk(
            case, {"scan": replace(result, scanned=replace(result.scanned, confirmed=tuple(answers)))}
        )

    first = result.confirmed[touched[0]].first
    assert planted(touched[0], None).startswith("late or denied contact of the meshes of ")
    assert planted(touched[0], first._replace(time=first.time + 0.5)).startswith("late or denied ")
    assert planted(touched[0], first._replace(time=first.time - 0.5)).startswith("invented ")
    assert planted(apart[0], first).startswith("invented ")
    # A scan that finds nothing is not right.
    fewer = with_contacts(result, ())
    assert evaluated_scans._check_walk(case, {"scan": fewer}).startswith("missed contact of ")
