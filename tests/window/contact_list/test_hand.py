"""An animator's way: a hand goes through a table; it is found, seen, mended, and checked again."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording, is_reddish

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_hand_in_a_table_is_found_seen_mended_and_checked_again_in_five_clicks(recording: Recording) -> None:
    inside = {float(frame): count for frame, count in recording.notes["before"]["inside"].items()}
    first = min(frame for frame, count in inside.items() if count)
    (row,) = recording.notes["found"]["rows"]
    # The first of the vertices, all of which Blender deforms, cannot be in the table before the contact.
    assert first - 1 < row["frame"] <= first
    assert is_reddish(recording.screenshot("clicked")).sum() > is_reddish(recording.screenshot("found")).sum()
    assert all(row["is_near_miss"] for row in recording.notes["checked again"]["rows"])
    assert not any(recording.notes["after"]["inside"].values())
