"""Collision responses of objects: written, read again, and checked by the schema."""

from __future__ import annotations

import copy
import json

import pytest

from addon.formats import DocumentContents, dumps, make_document, space_for
from addon.formats.document.conversion import read_document
from addon.formats.document.model import CollisionResponse
from addon.formats.validation.strict_json import DocumentError
from addon.formats.validation.validate import parse_document, require_document
from tests.formats import samples

RESPONSES = {
    "b": CollisionResponse("trigger", 16, 0b101, None),
    "c": CollisionResponse("solid", 1, 0xFFFF, 'Ice "thin"'),
}


def written(responses: dict[str, CollisionResponse], preset: str = "unity") -> dict:
    objects = [samples.bounds("c", "Crate"), samples.bounds("b", "Ball"), samples.bounds("a", "Arm")]
    return samples.document_of(objects, space_for(preset), responses=responses)


def test_only_objects_with_a_response_have_the_key():
    document = written(RESPONSES)
    require_document(document)
    found = {entry["id"]: entry.get("collision") for entry in document["objects"]}
    assert found == {
        "a": None,
        "b": {"response": "trigger", "group": 16, "mask": 5, "material": None},
        "c": {"response": "solid", "group": 1, "mask": 65535, "material": 'Ice "thin"'},
    }
    assert '"collision":' not in dumps(written({}))


@pytest.mark.parametrize("preset", ["blender", "unreal"])
def test_text_is_that_of_the_dicts_and_is_the_same_after_reading(preset):
    space = space_for(preset)
    objects = [samples.bounds(id, id.upper()) for id in "abc"]
    contents = DocumentContents(objects, [], samples.ORIGIN, samples.TIME, responses=RESPONSES)
    document = make_document(contents, space)
    text = dumps(document)
    assert json.loads(text)["objects"] == list(document["objects"])
    assert text == dumps({**document, "objects": list(document["objects"])})
    loaded = read_document(json.loads(text))
    assert loaded.responses == RESPONSES
    assert dumps(make_document(loaded, space)) == text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("response", "ghost"),
        ("group", 0),
        ("group", 17),
        ("group", 1.5),
        ("mask", -1),
        ("mask", 65536),
        ("material", 3),
        ("weight", 1),
    ],
)
def test_message_names_the_wrong_key(key, value):
    document = copy.deepcopy(written(RESPONSES))
    document["objects"][1]["collision"][key] = value
    with pytest.raises(DocumentError, match=rf"objects\[1\]\.collision.*{key}"):
        parse_document(json.dumps(document))
