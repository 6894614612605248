"""Loaders for three.js and Babylon.js reject broken documents with one sentence that names the key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engines import broken_documents
from tests.node.node import run_program
from tests.paths import TOP

LOADERS = {"collision-bounds.three.mjs": "gltf", "collision-bounds.babylon.mjs": "unity"}
UNREAD = ("space.metersPerUnit", "time.referenceFrame")

Read = Callable[[list[str]], list[str | None]]


@pytest.fixture(params=LOADERS, scope="module")
def loader(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def read(loader: str, tmp_path_factory) -> Read:
    """Return a function that reads texts with the loader, and returns the message of each, or None."""

    def read_texts(texts: list[str]) -> list[str | None]:
        path: Path = tmp_path_factory.mktemp("texts") / "texts.json"
        path.write_text(json.dumps(texts), "utf-8")
        module = TOP / "docs" / "loaders" / loader
        return run_program("load_documents.mjs", loader, path, modules=[module])

    return read_texts


@pytest.mark.long
def test_message_names_the_broken_key(loader, read):
    cases = [*broken_documents.cases(LOADERS[loader], *UNREAD)]
    messages = read([broken_documents.text_of(case.document) for case in cases])
    assert broken_documents.unclear_messages(cases, messages) == {}
    assert len(cases) > 400


@pytest.mark.long
def test_later_versions_with_other_keys_are_read(loader, read):
    documents = broken_documents.other_versions(LOADERS[loader])
    assert read([*map(json.dumps, documents)]) == [None] * 3
