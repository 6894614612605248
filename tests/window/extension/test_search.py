"""Blender's search finds the operators under the words that people type."""

from __future__ import annotations

import pytest

from tests.window.harness import Told

pytestmark = pytest.mark.long

FOUND = {
    "bounding sphere": "COLLISION_BOUNDS_OT_compute_bounds",
    "bounding boxes": "COLLISION_BOUNDS_OT_compute_bounds",
    "contacts": "COLLISION_BOUNDS_OT_find_contacts",
    "find collisions": "COLLISION_BOUNDS_OT_find_contacts",
    "overlaps": "COLLISION_BOUNDS_OT_find_contacts",
}


@pytest.mark.parametrize("words", FOUND)
def test_the_first_answer_is_the_operator(searched: Told, words: str) -> None:
    names = list(searched.notes)
    before = searched.notes[names[names.index(words) - 1]]["operators"] if names.index(words) else []
    after = searched.notes[words]["operators"]
    assert len(after) > len(before) and after[-1] == FOUND[words]
