"""Layout of documents, compared with a slow reference implementation of the same rule."""

from __future__ import annotations

import json

import pytest

from addon.formats import dumps
from tests.formats import samples

WIDTH = 100


def line_of(value):
    return json.dumps(value, ensure_ascii=False)


def value_text(value, depth):
    """Lay out a value on one line if it fits or is a list of scalars, else with one line per entry."""
    line = line_of(value)
    has_parts = isinstance(value, (dict, list)) and any(
        isinstance(item, (dict, list)) for item in (value.values() if isinstance(value, dict) else value)
    )
    always_one = not isinstance(value, dict) and not has_parts
    if not value or always_one or len(line) <= WIDTH:
        return line
    if isinstance(value, dict):
        parts = [f"{line_of(key)}: {value_text(item, depth + 1)}" for key, item in value.items()]
    else:
        parts = [value_text(item, depth + 1) for item in value]
    inner = (",\n" + " " * (depth + 1)).join(parts)
    return f"{line[0]}\n{' ' * (depth + 1)}{inner}\n{' ' * depth}{line[-1]}"


def expected(document):
    parts = [f" {line_of(key)}: {value_text(value, 1)}" for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


@pytest.mark.parametrize("width", range(90, 110))
def test_lines_longer_than_hundred_are_broken(width):
    word = "x" * (width - 10)
    document = {
        "object": {"of": {"a": word}},
        "words": [word, "y"],
        "objects": [{"a": word}],
        "more": [{"a": "short"}, {"a": word}, {"a": [1, {"b": word}]}],
        "mixed": [1, 2, [3], word],
    }
    assert dumps(document) == expected(document)


@pytest.mark.parametrize("count", [1, 10, 20, 24, 25, 26, 27, 60])
def test_rows_get_one_line_each_unless_all_fit_one_line(count):
    document = {"rows": [[1, 2.5]] * count, "deep": {"rows": [[1, 2.5]] * count, "empty": [[], []]}}
    assert dumps(document) == expected(document)


def test_brackets_and_commas_in_strings_are_kept():
    odd = '], [ {"x", [1'
    document = {"rows": [[odd, odd]] * 20, odd: {odd: [[odd] * 30, [1]]}, "list": [odd] * 30}
    assert dumps(document) == expected(document)
    assert json.loads(dumps(document)) == document


@pytest.mark.parametrize("length", [1, 200])
def test_keys_that_are_no_texts_are_written_as_by_json(length):
    for key in (1, True, 1.5, None):
        document = {"a": {key: "x" * length}}
        assert json.loads(dumps(document)) == json.loads(json.dumps(document))


@pytest.mark.parametrize("value", [{}, [], None, True, "", 0, {"a": {}}, [[]], [{}] * 60])
def test_small_and_empty_values(value):
    assert dumps({"a": value}) == expected({"a": value})


@pytest.mark.smoke
@pytest.mark.parametrize("decimals", [3, 9])
def test_document_with_tracks_matches_reference(decimals):
    for document in (samples.document("unity", decimals), samples.document_with_tracks("unity", decimals)):
        as_lists = {**document, "tracks": list(document["tracks"])}
        assert dumps(document) == expected(as_lists)
