"""Loaders for C++, Unity and Unreal reject broken documents with one sentence that names the key."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.engines import broken_documents
from tests.engines.native.test_unreal_loader import import_loader

PRESETS = {"cpp": "gltf", "unity": "unity", "unreal": "unreal"}
UNREAD = {
    "cpp": ("clearances",),
    "unity": (
        "space.metersPerUnit",
        "time.referenceFrame",
        "objects.1.type",
        "contacts",
        "clearances",
    ),
    "unreal": ("space.metersPerUnit", "time", "objects.1.type", "contacts", "clearances"),
}
"""Keys that a loader does not read."""

Read = Callable[[Sequence[Path]], list[str | None]]


@pytest.fixture(params=PRESETS)
def loader(request) -> str:
    return request.param


@pytest.fixture
def read(loader: str, request, monkeypatch) -> Read:
    """Return a function that reads files with the loader, and returns the message of each, or None."""
    if loader == "unreal":
        module = import_loader(monkeypatch)

        def read_with_module(paths: Sequence[Path]) -> list[str | None]:
            messages = []
            for path in paths:
                try:
                    module.read_tracks(path)
                except module.DocumentError as error:
                    messages.append(str(error))
                else:
                    messages.append(None)
            return messages

        return read_with_module
    command = {
        "cpp": lambda: [request.getfixturevalue("cpp_program"), "--messages", PRESETS[loader]],
        "unity": lambda: [*request.getfixturevalue("unity_program"), "--messages"],
    }[loader]()

    def read_with_program(paths: Sequence[Path]) -> list[str | None]:
        done = subprocess.run([*command, *paths], capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return [line or None for line in done.stdout.splitlines()]

    return read_with_program


def written_texts(texts: Sequence[str], folder: Path) -> list[Path]:
    """Write texts to files and return their paths."""
    paths = [folder / f"{number}.json" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, "utf-8")
    return paths


def test_message_names_the_broken_key(loader, read, tmp_path):
    cases = [*broken_documents.cases(PRESETS[loader], *UNREAD[loader])]
    assert len(cases) > 400
    texts = [broken_documents.text_of(case.document) for case in cases]
    messages = read(written_texts(texts, tmp_path))
    assert broken_documents.unclear_messages(cases, messages) == {}


def test_later_versions_with_other_keys_are_read(loader, read, tmp_path):
    texts = [json.dumps(document) for document in broken_documents.other_versions(PRESETS[loader])]
    assert read(written_texts(texts, tmp_path)) == [None] * 3
