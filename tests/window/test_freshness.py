"""Whether results count, while objects are moved by hand."""

from __future__ import annotations

from collections.abc import Callable

from tests.window.harness import Told


def test_undo_of_a_drag_makes_results_fresh_again(told_by: Callable[..., Told]) -> None:
    told = told_by("drive_freshness.py").notes["end"]
    assert told["places"][0] != 0 and told["places"][1] == 0, "dragged, and back"
    assert told["steps"] == {
        "found": False,
        "while dragged": True,
        "dragged": True,
        "undone": False,
        "redone": True,
        "undone again": False,
    }
