"""Text of objects from columns, compared with the text of plain dicts."""

from __future__ import annotations

import json

import numpy as np
import pytest

from addon.formats.document.json_writer import Column, object_texts, object_values, value_text
from tests.tiers import times

STRINGS = ["", "%s %d %%", '"quoted" \\ \n', "Würfel 立方体", "x" * 90, "plain", "y" * 40]


@pytest.mark.parametrize("seed", range(times(40)))
def test_text_matches_that_of_plain_dicts(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 40))
    names = [STRINGS[index] for index in rng.integers(0, len(STRINGS), count)]
    kinds = [[None, "MESH", "%"][index] for index in rng.integers(0, 3, count)]
    vectors = np.around(rng.normal(size=(count, 3)) * 10.0 ** rng.integers(0, 9, (count, 1)), 6)
    radii = np.around(rng.uniform(0, 9, count), 6)
    has_shape, has_long = (np.flatnonzero(rng.random(count) < share) for share in (0.5, rng.random()))
    long_lists = [[float(number) for number in range(rng.integers(1, 60))] for _ in has_long]
    shape = {"center": Column(vectors[has_shape], None, 6), "radius": Column(radii[has_shape], None, 6)}
    rows = Column([{"rows": [row, row]} for row in long_lists])
    members = {
        "100 % name": names,
        "kind": kinds,
        "at": Column(vectors, None, 6),
        "shapes": Column(
            {
                "sphere": Column(shape, has_shape),
                "long": rows._replace(rows=has_long),
            },
        ),
    }
    expected = []
    for row in range(count):
        shapes = {}
        if row in has_shape:
            shapes["sphere"] = {"center": vectors[row].tolist(), "radius": float(radii[row])}
        if row in has_long:
            rows = long_lists[has_long.tolist().index(row)]
            shapes["long"] = {"rows": [rows, rows]}
        entry = {"100 % name": names[row], "kind": kinds[row], "at": vectors[row].tolist()}
        expected.append({**entry, "shapes": shapes})
    assert object_values(members, count) == expected
    texts = object_texts(members, count, " ")
    assert [json.loads(text) for text in texts] == expected
    assert texts == [value_text(entry, " ") for entry in expected]


def test_objects_without_a_member_are_written_without_it():
    column = Column({"a": ["x"], "b": ["y"]}, np.array([1]))
    whole = {"id": ["1", "2", "3"], "both": column}
    assert object_values(whole, 3) == [{"id": "1"}, {"id": "2", "both": {"a": "x", "b": "y"}}, {"id": "3"}]
    assert object_texts(whole, 3, "") == [
        '{"id": "1"}',
        '{"id": "2", "both": {"a": "x", "b": "y"}}',
        '{"id": "3"}',
    ]
