"""Fifty rounds of adding, deleting, renaming, undoing, loading: nothing breaks, nothing piles up."""

from __future__ import annotations

import pytest

from tests.window.harness import FREE, Told, count

pytestmark = pytest.mark.long


def test_nothing_that_users_do_raises(rounds: Told) -> None:
    assert len(rounds.notes["ended"]["order"]) == 50
    assert "Traceback" not in rounds.log, rounds.log[-3000:]
    assert "Error in" not in rounds.log and "rna_uiItem" not in rounds.log


def test_handlers_are_there_once(rounds: Told) -> None:
    before, after = rounds.notes["ended"]["handlers_before"], rounds.notes["ended"]["handlers_after"]
    assert before == after and before and set(before.values()) == {1}


def test_nothing_piles_up(rounds: Told) -> None:
    """Undo keeps 32 steps: no more results than that are held, and one overlay a scene."""
    note = rounds.notes["ended"]
    assert all(number <= 64 for number in note["kept"].values()), note["kept"]
    late = note["memory"][25:]
    assert max(late) - late[0] < 80, note["memory"]


def test_the_overlay_still_shows(rounds: Told) -> None:
    assert count(rounds.viewport("loaded again"), FREE) > 3000
