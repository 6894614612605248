"""The extension's schema validator, compared with the reference implementation."""

from __future__ import annotations

import copy
import random

import pytest

from addon.formats import CONVENTIONS, schema
from addon.formats.validation.strict_json import schema_problems
from tests.formats import samples
from tests.formats.broken import FORM, MEANING, broken, drop, put, with_tracks
from tests.tiers import times

jsonschema = pytest.importorskip("jsonschema")


def reference(rules: dict) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(rules)


def test_shipped_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.smoke
@pytest.mark.parametrize("preset", CONVENTIONS)
def test_both_accept_written_documents(preset):
    for document in (samples.document(preset), with_tracks()):
        assert list(schema_problems(document, schema())) == []
        assert reference(schema()).is_valid(document)


@pytest.mark.parametrize("name", FORM)
def test_both_refuse_broken_form(name):
    document = broken(FORM[name])
    assert not reference(schema()).is_valid(document)
    problems = list(schema_problems(document, schema()))
    assert problems
    # Both report the same paths.
    paths = {".".join(str(key) for key in e.absolute_path) for e in reference(schema()).iter_errors(document)}
    named = {problem.split(":")[0].replace("[", ".").replace("]", "") for problem in problems}
    assert named == {place or "document" for place in paths}


@pytest.mark.parametrize("name", MEANING)
def test_both_accept_form_of_inconsistent_documents(name):
    document = broken(MEANING[name][0])
    assert reference(schema()).is_valid(document)
    assert list(schema_problems(document, schema())) == []


VALUES = [
    None,
    True,
    False,
    0,
    1,
    -1,
    1.0,
    1.5,
    2**60,
    "",
    "a",
    "+Z",
    "1.2.3",
    [],
    [1, 2, 3],
    [1] * 9,
    {},
    {"a": 1},
]


@pytest.mark.parametrize("seed", range(times(6, 2)))
def test_both_agree_on_randomly_broken_documents(seed):
    # One to three random items are replaced, deleted or duplicated.
    chance = random.Random(seed)
    peer, verdicts, count = reference(schema()), [], times(60, 30)
    for _ in range(count):
        document = copy.deepcopy(with_tracks())
        for _ in range(chance.randint(1, 3)):
            part, parent, key = document, None, None
            while isinstance(part, (dict, list)) and part and (parent is None or chance.random() < 0.8):
                parent = part
                key = chance.choice(list(part)) if isinstance(part, dict) else chance.randrange(len(part))
                part = parent[key]
            action = chance.random()
            if action < 0.6:
                parent[key] = copy.deepcopy(chance.choice(VALUES))
            elif action < 0.8:
                del parent[key]
            elif isinstance(parent, list):
                parent.append(copy.deepcopy(part))
            else:
                parent[f"{key}2"] = copy.deepcopy(part)
        valid = peer.is_valid(document)
        assert (not list(schema_problems(document, schema()))) == valid, document
        verdicts.append(valid)
    assert 0 < sum(verdicts) < count


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "kind", ["object", "array", "string", "number", "integer", "boolean", "null", ["null", "number"]]
)
def test_both_agree_on_types(value, kind):
    rules = {"type": kind}
    assert (not list(schema_problems(value, rules))) == reference(rules).is_valid(value)


@pytest.mark.parametrize(
    ("rules", "values"),
    [
        ({"type": "number", "minimum": 0}, [-1e-9, 0, 0.0, -0.0, 1]),
        ({"type": "integer", "maximum": 16}, [16, 16.0, 17, -1, 16.5]),
        ({"type": "number", "exclusiveMinimum": 0}, [-1, 0, 0.0, 1e-300]),
        ({"type": "array", "minItems": 2, "maxItems": 3}, [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]]),
        ({"type": "string", "minLength": 2}, ["", "a", "ab", "é", "\U0001f600", "\U0001f600\U0001f600"]),
        ({"type": "string", "pattern": "^1\\.[0-9]+$"}, ["1.0", "1.x", "x1.0", "1.0x", "11.0", ""]),
        ({"type": "string", "pattern": "b"}, ["abc", "ac"]),
        ({"enum": ["a", "b"]}, ["a", "c", None, ["a"]]),
        ({"const": "a"}, ["a", "b", None]),
        ({"type": "object", "required": ["a"]}, [{}, {"a": None}, {"b": 1}]),
        (
            {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": False},
            [{}, {"a": None}, {"a": 1}, {"b": 1}],
        ),
        (
            {
                "$defs": {"pair": {"type": "array", "minItems": 2}},
                "type": "array",
                "items": {"$ref": "#/$defs/pair"},
            },
            [[], [[1, 2]], [[1, 2], [1]], [1]],
        ),
    ],
)
def test_both_agree_on_keywords(rules, values):
    verdicts = [not list(schema_problems(value, rules)) for value in values]
    assert verdicts == [reference(rules).is_valid(value) for value in values]
    assert True in verdicts
    assert False in verdicts


@pytest.mark.parametrize(
    "keyword", ["oneOf", "exclusiveMaximum", "uniqueItems", "patternProperties", "$dynamicRef", "format"]
)
def test_unknown_keyword_is_refused(keyword):
    with pytest.raises(NotImplementedError, match=keyword.replace("$", r"\$")):
        list(schema_problems(1, {keyword: 1}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("objects.2.world.sphere.center.1", "0"), "center[1]: must be a number, not '0'"),
        (put("objects.2.world.sphere.radius", -0.5), "radius: must be 0 or more, not -0.5"),
        (put("objects.1.parent", 7), "parent: must be a text or null, not 7"),
        (put("objects.1.local", []), "local: must be an object, not a list of 0 items"),
        (put("objects.1.id", ""), "id: has 0 characters, but must have 1 or more"),
        (put("objects.0.transform.scale", [1, 1]), "scale: has 2 items, but must have 3"),
        (put("objects.0.transform.scale", [1] * 4), "scale: has 4 items, but must have 3"),
        (put("contacts.0.intervals", []), "intervals: has 0 items, but must have 1 or more"),
        (put("contacts.0.first.atStart", {}), "atStart: must be true or false, not an object"),
        (put("time.fps", 0), "time.fps: must be more than 0, not 0"),
        (
            put("version", "1.0"),
            "version: must be a version that begins with 1, such as 1.5.0, not '1.0'",
        ),
        (put("space.quaternion", "wxyz"), "space.quaternion: must be 'xyzw', not 'wxyz'"),
        (put("space.handedness", None), "space.handedness: must be one of 'left', 'right', not null"),
        (put("source.file", ["x"]), "source.file: must be a text, not a list of 1 item"),
        (drop("extras"), "document: 'extras' is missing"),
        (put("comment", "hello"), "document: unknown key 'comment'"),
    ],
)
def test_problems_have_path_expectation_and_value(change, message):
    (problem,) = schema_problems(broken(change), schema())
    assert problem.endswith(message)
    # The path starts at the document.
    assert problem.startswith(("objects[", "contacts[0].", message.split(":")[0]))


def test_long_values_are_shortened():
    (problem,) = schema_problems("x" * 1000, {"type": "number"})
    assert len(problem) < 120 and problem.endswith("x...")


def test_nodes_have_two_children_at_most():
    rules = schema()["$defs"]["shapes"]["properties"]["spheres"]["items"]["properties"]["children"]
    assert [*schema_problems([1, 2, 3], rules)] == ["document: has 3 items, but must have 0 to 2"]
