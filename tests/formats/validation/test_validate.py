from __future__ import annotations

import json

import pytest

from addon.formats import CONVENTIONS, DocumentError, document_problems, dumps, parse_document
from tests.formats import samples
from tests.formats.broken import FORM, MEANING, broken, with_tracks


@pytest.mark.parametrize("preset", CONVENTIONS)
def test_written_documents_are_correct(preset):
    assert list(document_problems(samples.document(preset))) == []


def test_consistent_tracks_and_envelopes_are_accepted():
    assert list(document_problems(with_tracks())) == []


@pytest.mark.parametrize("name", MEANING)
def test_inconsistency_is_found_with_its_path(name):
    change, words = MEANING[name]
    problems = list(document_problems(broken(change)))
    assert problems
    with pytest.raises(DocumentError, match=words):
        raise DocumentError("\n".join(problems))


@pytest.mark.parametrize("name", FORM)
def test_broken_form_raises_document_error(name):
    with pytest.raises(DocumentError):
        parse_document(json.dumps(broken(FORM[name])))


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_nan_and_infinity_are_refused_by_name(literal):
    text = dumps(samples.document()).replace('"frameEnd": 20', f'"frameEnd": {literal}')
    with pytest.raises(DocumentError, match=f"{literal} is not a valid JSON number"):
        parse_document(text)


@pytest.mark.smoke
@pytest.mark.parametrize("literal", ["1e999", "-1e999", "1" + "0" * 400, "9" * 5000])
def test_too_large_numbers_are_refused_with_their_path(literal):
    # The last has more digits than Python converts to an integer.
    text = dumps(samples.document()).replace('"referenceFrame": 1', f'"referenceFrame": {literal}')
    assert literal in text
    with pytest.raises(DocumentError, match=r"time\.referenceFrame: is beyond the range"):
        parse_document(text)


@pytest.mark.parametrize("literal", ["1e308", "1" + "0" * 308])
def test_large_numbers_that_can_be_read_are_accepted(literal):
    text = dumps(samples.document()).replace('"referenceFrame": 1', f'"referenceFrame": {literal}')
    assert float(parse_document(text)["time"]["referenceFrame"]) == 1e308


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"a": 1,}', "not JSON"),
        ("{}\n\n{}", "not JSON .line 3"),
        ("\ufeff{}", "not JSON"),
        ("null", "document: is not a Collision Bounds document"),
        ("[]", "document: is not a Collision Bounds document"),
        ('"text"', "document: is not a Collision Bounds document"),
        ('{"asset": {"version": "2.0"}, "scenes": []}', "document: is not a Collision Bounds document"),
    ],
)
def test_other_text_is_refused_in_one_line(text, words):
    with pytest.raises(DocumentError, match=words) as caught:
        parse_document(text)
    assert "\n" not in str(caught.value)


@pytest.mark.smoke
@pytest.mark.parametrize("depth", [2_000, 8_000, 200_000])
def test_deep_nesting_is_refused(depth):
    text = dumps(samples.document()).replace(
        '"extras": {}', '"extras": {"x": ' + "[" * depth + "]" * depth + "}"
    )
    assert len(text) > 2 * depth
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse_document(text)


@pytest.mark.parametrize("version", ["2.0.0", "10.0.0", "0.9.0"])
def test_other_version_is_the_only_problem_reported(version):
    document = samples.document()
    document["version"] = version
    document["added"] = document.pop("clearances")
    expected = f"version: {version} is not supported (supported: 1.x)"
    assert list(document_problems(document)) == [expected]


def test_version_is_quoted_on_one_line():
    document = samples.document()
    document["version"] = "2.0\nfoo\x1b[31m"
    assert list(document_problems(document)) == [
        "version: 2.0\\nfoo\\x1b[31m is not supported (supported: 1.x)"
    ]


def test_first_problem_and_number_of_others_are_reported():
    document = samples.document()
    document["objects"][0]["parent"] = "z"
    document["contacts"][0]["a"] = document["contacts"][0]["b"] = "z"
    with pytest.raises(DocumentError, match=r"^objects\[0\].parent: 'z'.* \(and 3 more\)$"):
        parse_document(json.dumps(document))


def test_adjacent_and_instantaneous_intervals_are_accepted():
    document = samples.document(contacts=(samples.contact(0, 1, (3.0, 3.0), (4.0, 5.0), (5.0, 6.0)),))
    assert list(document_problems(document)) == []
