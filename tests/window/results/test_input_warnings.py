"""A blocked driver while both buttons are pressed in the window: a warning of the results in the panel."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


@pytest.mark.parametrize("note", ["bounds", "contacts"])
def test_blocked_driver_is_in_the_warnings_of_the_results(recording: Recording, note: str) -> None:
    assert recording.notes[note]["warnings"] == ["Warehouse_Gate_With_A_Long_Name"]
