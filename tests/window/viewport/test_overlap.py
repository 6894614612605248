"""The overlap of the meshes of the active pair, drawn in the window."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Pixels, Recording, count_pixels, is_reddish

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}
YELLOW = (1.0, 0.85, 0.1)
"""Color of markers, from the preferences."""


def left_part(recording: Recording, name: str) -> Pixels:
    """Return the part of a picture left of the sidebar: both meshes are at its right."""
    return recording.screenshot(name)[60:720, :530]


def test_overlap_of_the_clicked_pair_is_drawn_at_each_frame(recording: Recording) -> None:
    apart = left_part(recording, "apart")
    assert recording.notes["apart"]["depth"] < 0
    for frame in (22, 26, 30):
        note, picture = recording.notes[f"at {frame}"], left_part(recording, f"at {frame}")
        assert note["depth"] > 0 and note["lines"] > 100 and note["faces"] > 300
        # Outlines of selected objects are reddish, too.
        assert is_reddish(picture).sum() > 10 * is_reddish(apart).sum()
        assert count_pixels(picture, YELLOW) > 3 * count_pixels(apart, YELLOW)
