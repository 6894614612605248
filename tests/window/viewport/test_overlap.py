"""How the meshes of the active pair overlap, drawn in the window."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_click_on_a_row_shows_the_overlap_instead_of_bounds(recording: Recording) -> None:
    for frame in (22, 26, 30):
        note = recording.notes[f"at {frame}"]
        assert note["depth"] > 0 and note["lines"] > 100 and note["faces"] > 300
