"""Groups of the contact list, opened and ignored by clicks."""

from __future__ import annotations

import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long

CONVEYOR, ROBOT, FIXTURE = ["Conveyor", "Crates"], ["Crates", "Robot"], ["Fixtures", "Robot"]


def test_contacts_of_a_cell_are_grouped_and_a_group_is_ignored_and_restored(recording: Recording) -> None:
    found = [group[:2] for group in recording.notes["found"]["groups"]]
    # The robot only comes near the conveyor: that group is not shown.
    assert sorted(found) == [CONVEYOR, ["Conveyor", "Robot"], ROBOT, FIXTURE]
    assert recording.notes["opened"]["groups"][found.index(CONVEYOR)] == [*CONVEYOR, True]
    # What is left is too little for groups.
    assert recording.notes["ignored"]["groups"] == []
    assert [group[:2] for group in recording.notes["not ignored"]["groups"]] == found
