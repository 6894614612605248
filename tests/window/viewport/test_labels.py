"""Names next to bounds: legible, never over the middle of a box, never below the sidebar."""

from __future__ import annotations

import numpy as np
import pytest

from tests.window.harness import Mask, Recording

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def new_pixels(recording: Recording) -> Mask:
    """Return the pixels of the window that the names changed."""
    before, after = recording.screenshot("without names"), recording.screenshot("names")
    return np.abs(after - before).max(axis=2) > 0.03


def test_names_are_drawn_in_the_viewport_alone(recording: Recording, new_pixels: Mask) -> None:
    assert recording.notes["names"]["show_names"]
    regions = recording.notes["names"]["regions"]
    left, bottom, _, height = regions["WINDOW"]
    sidebar, tools = regions["UI"], regions["TOOLS"]
    top = recording.notes["names"]["height"] - bottom - height
    view = new_pixels[top : top + height]
    between = view[:, tools[0] + tools[2] : sidebar[0]]
    assert between.sum() > 60_000, "names of most of 36 objects"
    assert view[:, left : tools[0] + tools[2]].sum() == 0


def test_names_leave_the_middles_of_boxes_free(recording: Recording, new_pixels: Mask) -> None:
    notes = recording.notes["names"]
    for x, y in notes["middles"]:
        row, column = notes["height"] - round(y), round(x)
        assert not new_pixels[row - 1 : row + 2, column - 1 : column + 2].any()
