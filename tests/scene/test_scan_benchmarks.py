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
    """Copy a result with other contacts."""
    report = replace(result.report, contacts=Contacts.of(contacts))
    return replace(result, scanned=replace(result.scanned, report=report))


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
def test_wrong_contacts_of_meshes_of_characters_are_found():
    case = Walk(1, 1000, 40, shape="mesh", props=90)
    result = scans.scan(case)()
    assert evaluated_scans._check_walk(case, {"scan": result}) == ""
    contacts = list(result.report.contacts)
    row = next(row for row, each in enumerate(contacts) if each.first.frame > 2)
    touch = contacts[row]
    near = next(iter(result.report.clearances))

    def planted(*changed):
        return evaluated_scans._check_walk(case, {"scan": with_contacts(result, changed)})

    def at(frame):
        return replace(touch, first=replace(touch.first, frame=frame))

    before, after = contacts[:row], contacts[row + 1 :]
    late, early = (at(touch.first.frame + offset) for offset in (0.5, -0.5))
    assert planted(*before, late, *after).startswith("late contact of the meshes of ")
    assert planted(*before, early, *after).startswith("invented contact of the meshes of ")
    invented = replace(touch, a=near.a, b=near.b)
    assert planted(*contacts, invented).startswith("invented ")
    # A scan that finds nothing is not right.
    assert planted().startswith("missed contact of ")
