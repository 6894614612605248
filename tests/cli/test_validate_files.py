"""`validate` answers in one sentence, whatever the file is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from addon.formats import dumps
from tests.formats import samples
from tests.paths import TOP

POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows has no FIFOs and no /dev")
TOOL = TOP / "scripts" / "collision_bounds.py"
CONTENTS = {
    "empty.json": b"",
    "utf16.json": dumps(samples.document()).encode("utf-16"),
    "nul.json": b"\0" * 100,
    "deep.json": b"[" * 200_000,
    "twice.json": b'{"format": 1, "format": 2}',
    "large.json": dumps(samples.document()).encode(),
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Exit code and standard error of `validate` for each file, with a limit of 1 KB for one of them."""
    folder = tmp_path_factory.mktemp("files")
    for name, content in CONTENTS.items():
        (folder / name).write_bytes(content)
    names = [*CONTENTS, ".", "missing.json"]
    if os.name == "posix":
        os.mkfifo(folder / "pipe.json")
        names += ["/dev/zero", "pipe.json"]

    def answer(name):
        limit = ["--max-size", "0.001"] if name == "large.json" else []
        command = [sys.executable, TOOL, "validate", name, *limit]
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        return ended.returncode, ended.stderr

    return {name: answer(name) for name in names}


def test_files_that_are_no_document_are_refused_in_one_sentence(answers):
    for name, (code, message) in answers.items():
        assert code == 2, name
        assert message.startswith(f"collision_bounds: {name}: ") and message.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (".", "is not a regular file"),
        ("utf16.json", "is not a UTF-8 text file"),
        ("deep.json", "nested too deeply"),
        ("twice.json", "the key 'format' is used twice in one object"),
        ("large.json", "is larger than 0.001 MB; raise the limit with --max-size"),
        pytest.param("/dev/zero", "is not a regular file", marks=POSIX),
        pytest.param("pipe.json", "is not a regular file", marks=POSIX),
    ],
)
def test_sentence_says_what_is_wrong(answers, name, words):
    assert words in answers[name][1]


@POSIX
def test_standard_input_can_be_a_pipe(tmp_path):
    command = [sys.executable, TOOL, "validate", "/dev/stdin"]
    ended = subprocess.run(
        command, input=dumps(samples.document()), capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "/dev/stdin: valid (3 objects, 1 contact)\n")
