"""Overlaps of objects that never move: listed where nothing moves, otherwise counted, never drawn free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.window.harness import CONTACT_COLOR, FREE_COLOR, Recording

pytestmark = pytest.mark.long

BOXES = {"Warehouse Floor Left", "Warehouse Floor Right"}
PAIR = {"Mover", "Post"}


def count_of_color(recording: Recording, note: str, color: tuple[float, float, float]) -> int:
    """Count the pixels of the 3D view that are near a color."""
    distance = np.abs(recording.viewport(note) - np.array(color)).max(axis=-1)
    return int((distance < 0.2).sum())


def test_overlap_at_rest_is_listed_or_counted_and_never_drawn_free(
    run_drive_script: Callable[..., Recording],
) -> None:
    recording = run_drive_script("contact_list/drive_static_overlaps.py")
    counts = [len(recording.notes.pop(name)["rows"]) for name in ("dropped", "ignored", "not ignored")]
    assert counts == [10, 0, 10], "pairs with the floor are ignored by one click, and by undo no longer"
    rows = {name: [{row["a"], row["b"]} for row in note["rows"]] for name, note in recording.notes.items()}
    assert rows == {
        "computed": [],
        "nothing moves": [BOXES],
        "mover added": [],
        "included": [BOXES],
        "found among all": [PAIR],
        "included among all": [PAIR, BOXES],
        "found among some": [],
        "included among some": [BOXES],
    }
    assert recording.notes["included"]["static_pairs"]
    for name, selected in (("all", ["Mover", "Post"]), ("some", ["Post"])):
        note = recording.notes[f"included among {name}"]
        assert (note["selected"], note["scope"]) == (selected, "SELECTED")
    for note in ("computed", "nothing moves", "mover added", "included"):
        in_contact, free = (count_of_color(recording, note, color) for color in (CONTACT_COLOR, FREE_COLOR))
        assert in_contact > 50 > free, note
