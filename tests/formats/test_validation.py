from __future__ import annotations

import json

import pytest

from addon.formats import CONVENTIONS, DocumentError, document_problems, dumps, parse_document
from tests.formats import samples
from tests.formats.broken import FORM, MEANING, broken, with_tracks


@pytest.mark.parametrize("preset", CONVENTIONS)
def test_what_is_written_is_correct(preset):
    assert list(document_problems(samples.document(preset))) == []


def test_tracks_and_envelopes_may_be_correct():
    assert list(document_problems(with_tracks())) == []


@pytest.mark.parametrize("name", MEANING)
def test_broken_meaning_is_found_and_its_place_named(name):
    change, words = MEANING[name]
    problems = list(document_problems(broken(change)))
    assert problems
    with pytest.raises(DocumentError, match=words):
        raise DocumentError("\n".join(problems))


@pytest.mark.parametrize("name", FORM)
def test_broken_form_is_a_document_error(name):
    with pytest.raises(DocumentError):
        parse_document(json.dumps(broken(FORM[name])))


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused_by_name(literal):
    text = dumps(samples.document()).replace('"frameEnd": 20', f'"frameEnd": {literal}')
    with pytest.raises(DocumentError, match=f"{literal} is not a number"):
        parse_document(text)


@pytest.mark.smoke
@pytest.mark.parametrize("literal", ["1e999", "-1e999", "1" + "0" * 400, "9" * 5000])
def test_numbers_too_large_to_read_are_refused_by_place(literal):
    # The last has more digits than Python is ready to read as a whole number.
    text = dumps(samples.document()).replace('"referenceFrame": 1', f'"referenceFrame": {literal}')
    assert literal in text
    with pytest.raises(DocumentError, match=r"time\.referenceFrame: is too large"):
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
def test_text_that_is_no_document_is_refused_in_one_line(text, words):
    with pytest.raises(DocumentError, match=words) as caught:
        parse_document(text)
    assert "\n" not in str(caught.value)


@pytest.mark.smoke
@pytest.mark.parametrize("depth", [2_000, 8_000, 200_000])
def test_nesting_without_end_is_refused(depth):
    text = dumps(samples.document()).replace(
        '"extras": {}', '"extras": {"x": ' + "[" * depth + "]" * depth + "}"
    )
    assert len(text) > 2 * depth
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse_document(text)


@pytest.mark.parametrize("version", ["2.0.0", "10.0.0", "0.9.0"])
def test_of_another_version_nothing_else_is_told(version):
    document = samples.document()
    document["version"] = version
    document["added"] = document.pop("clearances")
    told = f"version: {version} is not one that this program reads (1.x)"
    assert list(document_problems(document)) == [told]


def test_a_version_is_told_on_a_line():
    document = samples.document()
    document["version"] = "2.0\nfoo\x1b[31m"
    assert list(document_problems(document)) == [
        "version: 2.0 foo [31m is not one that this program reads (1.x)"
    ]


def test_first_problem_is_told_and_how_many_more():
    document = samples.document()
    document["objects"][0]["parent"] = "z"
    document["contacts"][0]["a"] = document["contacts"][0]["b"] = "z"
    with pytest.raises(DocumentError, match=r"^objects\[0\].parent: 'z'.* \(and 3 more\)$"):
        parse_document(json.dumps(document))


def test_intervals_may_meet_and_be_instants():
    document = samples.document(contacts=(samples.contact(0, 1, (3.0, 3.0), (4.0, 5.0), (5.0, 6.0)),))
    assert list(document_problems(document)) == []
