"""Results become stale and up to date again while objects are dragged in the window."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long


def test_undone_or_canceled_drag_keeps_results_up_to_date(run_drive_script: Callable[..., Recording]) -> None:
    note = run_drive_script("results/drive_freshness.py", size=SMALL).notes["end"]
    assert note["dragged_x"] != 0 and note["undone_x"] == 0, "dragged, and undone"
    assert note["stale"] == {
        "found": False,
        "sorted": False,
        "row hidden": False,
        "Crate canceled at once": False,
        "Dragged canceled at once": False,
        "during drag": True,
        "dragged": True,
        "undone": False,
        "redone": True,
        "undone again": False,
        "during second drag": True,
        "canceled": False,
        # With Auto Keying the object would have a new keyframe, which cannot be distinguished from this case.
        "confirmed without motion": True,
    }
