"""What operators say at the end: short, and with a reason for all that is missing."""

from __future__ import annotations

from addon.formats import Skipped
from addon.scene.subjects import HIDDEN
from addon.ui.messages import left_out, nothing_to_do

FENCE = Skipped("Fence", "no vertices")


def test_each_reason_is_told_once_with_the_first_it_is_about():
    skipped = [FENCE, *(Skipped(f"Post.{i}", "is an instance") for i in range(8)), Skipped("Wall", HIDDEN)]
    told = left_out(skipped)
    assert told == ", 9 left out (Fence: no vertices; Post.0 and 7 more: is an instance)"
    assert left_out([FENCE]) == ", 1 left out (Fence: no vertices)"
    assert left_out([Skipped("Wall", HIDDEN)]) == ""


def test_nothing_at_all_says_why_and_what_to_do():
    assert nothing_to_do(1, [FENCE], "SELECTED") is None
    assert nothing_to_do(0, [FENCE], "SELECTED") == "Fence: no vertices"
    assert "select a mesh" in nothing_to_do(0, [], "SELECTED")
    assert "shows nothing" in nothing_to_do(0, [], "VISIBLE")
