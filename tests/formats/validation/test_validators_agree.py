"""ajv, python-jsonschema and the extension's validator agree on the same documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from addon.formats import CONVENTIONS, document_problems, dumps, schema
from addon.formats.validation.strict_json import schema_problems
from tests.formats import samples
from tests.formats.broken import FORM, MEANING, broken, with_tracks
from tests.node.node import run_program

jsonschema = pytest.importorskip("jsonschema")

# Node compiles the schema in each test, which takes seconds on a slow machine.
pytestmark = pytest.mark.long


def by_ajv(texts: list[str], folder: Path) -> list[list[str] | None]:
    path = folder / "input.json"
    path.write_text(json.dumps({"schema": schema(), "texts": texts}), "utf-8")
    return run_program("validate_schema.mjs", path)


def test_all_accept_written_documents(tmp_path):
    texts = [
        dumps(make(preset, decimals))
        for make in (samples.document, samples.document_with_tracks)
        for preset in CONVENTIONS
        for decimals in (3, 6, 9)
    ]
    assert by_ajv(texts, tmp_path) == [[]] * len(texts)
    reference = jsonschema.Draft202012Validator(schema())
    assert all(reference.is_valid(json.loads(text)) for text in texts)
    assert [problem for text in texts for problem in document_problems(json.loads(text))] == []


def test_all_refuse_broken_forms_at_same_paths(tmp_path):
    documents = {name: broken(change) for name, change in FORM.items()}
    answers = by_ajv([json.dumps(document) for document in documents.values()], tmp_path)
    reference = jsonschema.Draft202012Validator(schema())
    for (name, document), pointers in zip(documents.items(), answers, strict=True):
        assert pointers, name
        paths = {"".join(f"/{key}" for key in e.absolute_path) for e in reference.iter_errors(document)}
        assert paths == {*pointers}, name
        named = {problem.split(":")[0] for problem in schema_problems(document, schema())}
        pointers_of_problems = {
            "" if place == "document" else "/" + place.replace("[", "/").replace("]", "").replace(".", "/")
            for place in named
        }
        assert pointers_of_problems == paths, name


def test_schema_validators_accept_inconsistent_documents(tmp_path):
    """The schema alone does not reject these documents, so the consistency checks are needed."""
    finite = {name: broken(change) for name, (change, _) in MEANING.items() if name != "infinite radius"}
    answers = by_ajv([json.dumps(document) for document in finite.values()], tmp_path)
    assert {name for name, pointers in zip(finite, answers, strict=True) if pointers} == set()
    assert all(list(document_problems(document)) for document in finite.values())


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_invalid_json_is_refused_before_schema(tmp_path, literal):
    text = dumps(with_tracks()).replace('"referenceFrame": 1', f'"referenceFrame": {literal}')
    assert literal in text
    assert by_ajv([text], tmp_path) == [None]
