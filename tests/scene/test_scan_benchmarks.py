"""Benchmarks of scans find wrong contacts of what they have timed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.scenes import evaluated_scans, scans
from benchmarks.scenes.evaluated_scans import Driven
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.shape}-{case.motion}")
def test_right_contacts_pass_and_a_contact_that_is_dropped_is_found(case):
    result = scans._scan(case)()
    assert scans._check(case, {"scan": result}) == ""
    longest = max(
        result.report.contacts, key=lambda contact: contact.intervals[0].end - contact.intervals[0].start
    )
    fewer = tuple(each for each in result.report.contacts if each is not longest)
    planted = replace(result, report=replace(result.report, contacts=fewer))
    message = scans._check(case, {"scan": planted})
    assert message.startswith(f"missed contact of {longest.a} and {longest.b} at frame ")


def test_a_contact_of_drivers_that_begins_late_is_found():
    case = Driven(12, 0, True, 6.0)
    result = evaluated_scans._scan(case)()
    assert evaluated_scans._check_driven(case, {"scan": result}) == ""
    late = []
    for contact in result.report.contacts:
        first, *rest = contact.intervals
        is_long = 1 < first.start < first.end - 4
        late.append(replace(contact, intervals=(first._replace(start=first.start + 2 * is_long), *rest)))
    planted = replace(result, report=replace(result.report, contacts=tuple(late)))
    assert evaluated_scans._check_driven(case, {"scan": planted}).startswith("missed contact of ")
