"""Group A chosen with the eyedropper."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_eyedropper_picks_the_object_and_all_rows_are_of_it(recording: Recording) -> None:
    assert recording.notes["chosen"]["chosen"] == "Plate"
    rows = recording.notes["found"]["rows"]
    assert rows and all("Plate" in (row["a"], row["b"]) for row in rows)
