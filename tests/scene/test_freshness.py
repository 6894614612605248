"""Results along edits, undo and redo: fresh only where everything is known to be as it was."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.fitting import FitSettings
from addon.scene.freshness import AtFrame, Freshness
from addon.scene.live_shapes import Seen

HERE = (1, "ViewLayer")


def at(x: float, frame: float = 1.0, padding: float = 0.0) -> AtFrame:
    """Return one subject at a place along the x axis, at a frame, with its settings."""
    matrix = np.eye(4)
    matrix[0, 3] = x
    fits = [FitSettings("minimal", padding, "evaluated")]
    return AtFrame(frame, Seen(matrix[None], {}, fits, np.zeros(1)))


@pytest.fixture
def freshness() -> Freshness:
    """Return the state after a scan with the subject at the origin."""
    state = Freshness()
    state.remember(HERE, at(0))
    return state


def test_undo_after_no_edit_changes_nothing(freshness):
    assert freshness.after_undo({HERE: at(0)}) is None


@pytest.mark.parametrize("edit", [at(1), at(0, padding=0.5)], ids=["moved", "padded"])
def test_undo_of_an_edit_makes_results_fresh_and_redo_makes_them_stale_again(freshness, edit):
    freshness.edited(HERE, edit)
    assert freshness.after_undo({HERE: at(0)}) is True
    assert freshness.after_undo({HERE: edit}) is False
    assert freshness.after_undo({HERE: at(0)}) is True


def test_an_edit_that_does_not_show_at_its_frame_is_never_undone_for_sure(freshness):
    # As a key at another frame: nothing differs here, before undo nor after it.
    freshness.edited(HERE, at(0))
    assert freshness.after_undo({HERE: at(0)}) is False


def test_an_edit_at_another_frame_is_never_undone_for_sure(freshness):
    freshness.edited(HERE, at(1, frame=5))
    assert freshness.after_undo({HERE: at(0)}) is False


def test_undo_at_another_frame_leaves_results_stale(freshness):
    freshness.edited(HERE, at(1))
    assert freshness.after_undo({HERE: at(0, frame=5)}) is False


def test_an_edit_without_a_look_at_it_is_never_undone_for_sure(freshness):
    freshness.give_up()
    assert freshness.after_undo({HERE: at(0)}) is False


def test_a_place_that_is_not_shown_any_more_tells_nothing(freshness):
    freshness.edited(HERE, at(1))
    assert freshness.after_undo({}) is False


@pytest.mark.parametrize(
    ("place", "last_done", "is_called_off"), [(at(0), 7, True), (at(1), 7, False), (at(0), 8, False)]
)
def test_a_drag_is_called_off_where_nothing_moved_and_no_operator_ended(
    freshness, place, last_done, is_called_off
):
    freshness.hold(7)
    freshness.edited(HERE, at(3))
    assert freshness.let_go(HERE, place, last_done) is is_called_off
    # What is not called off is an edit, which undo may take back.
    assert freshness.after_undo({HERE: at(0)}) is (None if is_called_off else True)
