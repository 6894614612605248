"""Compute Envelope by its button: it can be stopped, comes to its end, is seen, and is undone and redone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.window.harness import Told, count

pytestmark = pytest.mark.long

GREEN = (0.55, 0.9, 0.35)
"""Of envelopes."""


@pytest.fixture(scope="module")
def told(told_by: Callable[..., Told]) -> Told:
    return told_by("results/drive_envelope.py")


def test_esc_ends_it_and_nothing_is_kept(told: Told) -> None:
    assert told.notes["stopped"] == {"running": True, "after": False, "frame": 1, "envelopes": 0}


def test_everything_has_one_and_the_playhead_is_back(told: Told) -> None:
    assert told.notes["done"]["envelopes"] > 15
    assert told.notes["done"]["frame"] == 1


def test_they_are_seen_until_they_are_switched_off(told: Told) -> None:
    shown, hidden = (count(told.viewport(name), GREEN) for name in ("shown", "hidden"))
    assert shown > 600
    assert hidden < shown / 10


def test_undo_and_redo(told: Told) -> None:
    assert told.notes["undone"]["envelopes"] == 0
    assert told.notes["redone"]["envelopes"] == told.notes["done"]["envelopes"]
