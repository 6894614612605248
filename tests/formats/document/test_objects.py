"""Objects of documents: converted in blocks, to dicts and to text."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from addon.core import SphereTree, hull_from_points
from addon.formats import (
    DocumentContents,
    dumps,
    json_parts,
    make_document,
    read_document,
    space_for,
)
from tests.formats import samples


def kinds_of_objects():
    """Return objects with every kind of shape, none, an override, an envelope, and names that need quotes."""
    plain = samples.bounds("plain", "Plain")
    corners = np.random.default_rng(5).normal(size=(30, 3))
    hull = hull_from_points(corners, 255)
    tree = SphereTree(corners[:3], [9.0, 5, 1 / 3], [(1, 2), (-1, -1), (-1, -1)])
    return [
        plain,
        replace(plain, id='"quoted"\n', name="Würfel \\ 立方体", parent="plain", override="box"),
        replace(plain, id="envelope", envelope=samples.ENVELOPE),
        replace(plain, id="empty", local=(), world=()),
        replace(
            plain, id="huge", translation=np.array([1e16, -1e-7, 1 / 3]), scale=np.array([1e-9, 3e15, 1])
        ),
        replace(plain, id="detailed", local=(*plain.local, hull, tree), world=(*plain.world, hull, tree)),
    ]


def document_of(objects, decimals=6, preset="unity"):
    contents = DocumentContents(objects, [], samples.ORIGIN, samples.TIME)
    return make_document(contents, space_for(preset), decimals)


@pytest.mark.smoke
@pytest.mark.parametrize("decimals", [3, 6, 9])
@pytest.mark.parametrize("preset", ["blender", "unity", "unreal"])
def test_text_of_objects_matches_that_of_plain_dicts(decimals, preset):
    document = document_of(kinds_of_objects(), decimals, preset)
    as_lists = {**document, "objects": list(document["objects"])}
    assert dumps(document) == dumps(as_lists)
    assert json.loads(dumps(document)) == as_lists


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 2100])
def test_blocks_of_any_number_of_objects_match_text_of_plain_dicts(count):
    entry = samples.bounds("0", "Same name")
    objects = [replace(entry, id=f"{index * 7919 % count:05}") for index in range(count)]
    document = document_of(objects)
    written = document["objects"]
    as_lists = list(written)
    assert [entry["id"] for entry in as_lists] == sorted(entry.id for entry in objects)
    assert dumps(document) == dumps({**document, "objects": as_lists})
    assert written[-1] == as_lists[-1] and written[count // 2 :] == as_lists[count // 2 :]
    with pytest.raises(IndexError):
        written[count]


def test_objects_that_were_read_keep_their_numbers_next_to_others():
    text = dumps(document_of(kinds_of_objects()))
    reading = read_document(json.loads(text))
    added = samples.bounds("added", "Added")
    written = json.loads(dumps(document_of([*reading.objects, added])))["objects"]
    assert [entry for entry in written if entry["id"] != "added"] == json.loads(text)["objects"]
    assert len(written) == len(reading.objects) + 1


@pytest.mark.long
def test_many_objects_are_written_in_little_memory():
    entry = samples.bounds("0", "Same name")
    objects = [replace(entry, id=f"{index:05}") for index in range(20_000)]
    document = document_of(objects)
    tracemalloc.start()
    size = sum(map(len, json_parts(document)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 20_000 * 500
    assert peak < 8e6  # a block; the text of all is ten times as large
