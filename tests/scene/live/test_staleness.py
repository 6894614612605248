"""States of a result after edits, undo and redo. A result is valid only if nothing has changed."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.live.contact_state import FrameSnapshot, LiveReading
from addon.scene.live.staleness import Staleness, StalenessMachine
from addon.scene.settings import FitSettings

LAYER = (1, "ViewLayer")
FRESH, RESTORABLE, RESTORED, STALE = Staleness


def at(x: float, frame: float = 1.0, padding: float = 0.0) -> FrameSnapshot:
    """Return one subject at a position on the x axis, at a frame, with its settings."""
    matrix = np.eye(4)
    matrix[0, 3] = x
    reading = LiveReading(np.zeros((1, 3), dtype=np.float32), 0.0, FitSettings(padding, "evaluated"), ())
    return FrameSnapshot(frame, matrix[None], {0: reading})


@pytest.fixture
def machine() -> StalenessMachine:
    """Return the state machine after a scan with the subject at the origin."""
    machine = StalenessMachine()
    machine.record(LAYER, at(0))
    return machine


def state_after_undo(machine: StalenessMachine, now: FrameSnapshot) -> Staleness:
    """Return the state after an undo or redo that leads to `now`."""
    machine.on_undo({LAYER: now})
    return machine.state


def test_result_is_stale_in_all_states_but_fresh_and_restored():
    assert [state for state in Staleness if not state.is_stale] == [FRESH, RESTORED]


def test_drag_that_is_cancelled_before_anything_moves_is_no_edit(machine):
    machine.on_edit(LAYER, at(0), True, 7)
    assert machine.state is FRESH
    machine.on_edit(LAYER, at(0), False, 7)
    assert machine.state is FRESH
    # What comes after it is an edit again.
    machine.on_edit(LAYER, at(0), False, 7)
    assert machine.state is STALE


def test_drag_that_is_confirmed_before_anything_moves_is_an_edit(machine):
    machine.on_edit(LAYER, at(0), True, 7)
    machine.on_edit(LAYER, at(0), False, 8)
    assert machine.state is STALE


def test_undo_without_edit_changes_nothing(machine):
    assert state_after_undo(machine, at(0)) is FRESH
    assert state_after_undo(machine, at(1)) is FRESH


@pytest.mark.parametrize("edit", [at(1), at(0, padding=0.5)], ids=["moved", "padded"])
def test_undo_of_edit_restores_result_and_redo_makes_it_stale_again(machine, edit):
    machine.record_edit(LAYER, edit)
    assert machine.state is RESTORABLE
    assert state_after_undo(machine, at(0)) is RESTORED
    assert state_after_undo(machine, edit) is RESTORABLE
    assert state_after_undo(machine, at(0)) is RESTORED


def test_restored_result_keeps_what_was_recorded_before_first_edit(machine):
    machine.record_edit(LAYER, at(1))
    machine.on_undo({LAYER: at(0)})
    machine.record(LAYER, at(7))
    assert machine.is_unmoved(LAYER, at(0))


def test_edit_without_change_at_its_frame_is_final(machine):
    # For example a key at another frame: nothing changes at this frame, before or after undo.
    machine.record_edit(LAYER, at(0))
    assert machine.state is STALE
    assert state_after_undo(machine, at(0)) is STALE


def test_edit_at_another_frame_is_final(machine):
    machine.record_edit(LAYER, at(1, frame=5))
    assert state_after_undo(machine, at(0)) is STALE


def test_undo_at_another_frame_leaves_result_stale(machine):
    machine.record_edit(LAYER, at(1))
    assert state_after_undo(machine, at(0, frame=5)) is RESTORABLE


def test_edit_with_unknown_outcome_is_final(machine):
    machine.invalidate()
    assert state_after_undo(machine, at(0)) is STALE


def test_undo_in_view_layer_that_is_not_drawn_leaves_result_stale(machine):
    machine.record_edit(LAYER, at(1))
    machine.on_undo({})
    assert machine.state is RESTORABLE


@pytest.mark.parametrize(("x", "last_operator", "is_cancelled"), [(0, 7, True), (1, 7, False), (1, 8, False)])
def test_drag_is_cancelled_if_nothing_moved_and_no_operator_finished(machine, x, last_operator, is_cancelled):
    machine.on_edit(LAYER, at(3), is_dragging=True, last_operator=7)
    assert machine.state is RESTORABLE
    machine.on_edit(LAYER, at(x), is_dragging=False, last_operator=last_operator)
    assert machine.state is (FRESH if is_cancelled else RESTORABLE)
    # A confirmed drag is an edit, which undo may take back.
    assert state_after_undo(machine, at(0)) is (FRESH if is_cancelled else RESTORED)


def test_edits_during_drag_end_with_drag(machine):
    for x in (0, 2, 3):
        machine.on_edit(LAYER, at(x), is_dragging=True, last_operator=7)
        assert machine.state is (RESTORABLE if x else FRESH), "at first the object has not moved"
    machine.on_edit(LAYER, at(0), is_dragging=False, last_operator=7)
    assert machine.state is FRESH, "cancelled"
    machine.on_edit(LAYER, at(3), is_dragging=True, last_operator=7)
    machine.on_edit(LAYER, at(3), is_dragging=False, last_operator=8)
    assert machine.state is RESTORABLE, "confirmed"


def test_drag_confirmed_at_its_start_is_final(machine):
    # With automatic keys the object may have a key now.
    machine.on_edit(LAYER, at(3), is_dragging=True, last_operator=7)
    machine.on_edit(LAYER, at(0), is_dragging=False, last_operator=8)
    assert machine.state is STALE


def test_undo_right_after_confirmed_drag_restores_result(machine):
    machine.on_edit(LAYER, at(3), is_dragging=True, last_operator=7)
    assert state_after_undo(machine, at(0)) is RESTORED


def test_cancelled_drag_of_restored_result_leaves_it_restored(machine):
    machine.record_edit(LAYER, at(1))
    machine.on_undo({LAYER: at(0)})
    machine.on_edit(LAYER, at(3), is_dragging=True, last_operator=7)
    assert machine.state is RESTORABLE
    machine.on_edit(LAYER, at(0), is_dragging=False, last_operator=7)
    assert machine.state is RESTORED
