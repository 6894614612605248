"""Blender's operator search finds the operators by common terms."""

from __future__ import annotations

import pytest

from tests.window.harness import Recording

pytestmark = pytest.mark.long

OPERATORS = {
    "compute bounds": "COLLISION_BOUNDS_OT_compute_bounds",
    "find contacts": "COLLISION_BOUNDS_OT_find_contacts",
}


@pytest.mark.parametrize("term", OPERATORS)
def test_first_search_result_is_the_operator(recording: Recording, term: str) -> None:
    terms = list(recording.notes)
    before = recording.notes[terms[terms.index(term) - 1]]["operators"] if terms.index(term) else []
    after = recording.notes[term]["operators"]
    assert len(after) > len(before) and after[-1] == OPERATORS[term]
