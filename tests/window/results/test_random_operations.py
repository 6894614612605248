"""Fifty random operations, such as adding, deleting, renaming, undoing, loading: no errors, no leaks."""

from __future__ import annotations

import pytest

from tests.window.harness import FREE_COLOR, Recording, count_pixels

pytestmark = pytest.mark.long


def test_random_operations_raise_no_error(recording: Recording) -> None:
    assert len(recording.notes["ended"]["order"]) == 50
    assert "Traceback" not in recording.log, recording.log[-3000:]
    assert "Error in" not in recording.log and "rna_uiItem" not in recording.log


def test_handlers_are_registered_exactly_once(recording: Recording) -> None:
    before, after = recording.notes["ended"]["handlers_before"], recording.notes["ended"]["handlers_after"]
    assert before == after and before and set(before.values()) == {1}


def test_caches_and_memory_do_not_grow_without_limit(recording: Recording) -> None:
    """Check that at most the results of Blender's 32 undo steps are held, and one overlay for each scene."""
    note = recording.notes["ended"]
    assert all(size <= 64 for size in note["dict_sizes"].values()), note["dict_sizes"]
    late = note["memory"][25:]
    assert max(late) - late[0] < 80, note["memory"]


def test_overlay_is_shown_after_random_operations(recording: Recording) -> None:
    assert count_pixels(recording.viewport("file reloaded"), FREE_COLOR) > 2000
