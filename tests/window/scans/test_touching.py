"""The panel of what touches now, by clicks."""

from __future__ import annotations

import pytest

from tests.window.harness import SMALL, Recording

pytestmark = pytest.mark.long
OPTIONS = {"size": SMALL}


def test_click_on_a_pair_selects_it(recording: Recording) -> None:
    selected = recording.notes["clicked"]["selected"]
    assert len(selected) == 2 and selected[1].endswith("Cart")


def test_meshes_touch_where_their_bounds_do_and_they_do(recording: Recording) -> None:
    """A box in the notch of an L is in the box around that."""
    assert len(recording.notes["clicked mesh"]["selected"]) == 2
    assert "In Notch" not in recording.notes["clicked mesh"]["selected"]
