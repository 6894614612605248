"""Whether results count, while objects are moved by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import Told

pytestmark = pytest.mark.long


def test_a_drag_that_is_undone_or_called_off_leaves_results_fresh(told_by: Callable[..., Told]) -> None:
    told = told_by("results/drive_freshness.py").notes["end"]
    assert told["places"][0] != 0 and told["places"][1] == 0, "dragged, and back"
    assert told["steps"] == {
        "found": False,
        "while dragged": True,
        "dragged": True,
        "undone": False,
        "redone": True,
        "undone again": False,
        "dragged again": True,
        "called off": False,
        # With automatic keys it has one now, so nobody can tell.
        "confirmed where it was": True,
    }
