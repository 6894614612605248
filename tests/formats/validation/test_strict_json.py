"""Files and texts that are no document are refused in one short sentence, whatever their bytes."""

from __future__ import annotations

import os
import time

import pytest

from addon.formats import (
    DocumentError,
    DocumentSizeError,
    document_problems,
    dumps,
    load_document,
    parse_document,
    read_document,
    read_file,
)
from tests.formats import samples

TEXT = dumps(samples.document())


def load(tmp_path, content, **options):
    path = tmp_path / "document.json"
    path.write_bytes(content)
    return load_document(path, **options)


@pytest.mark.smoke
def test_byte_order_mark_of_utf8_is_accepted(tmp_path):
    assert load(tmp_path, b"\xef\xbb\xbf" + TEXT.encode()) == parse_document(TEXT)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1"])
def test_other_encodings_are_refused(tmp_path, encoding):
    assert not TEXT.isascii()
    with pytest.raises(DocumentError, match=r"not a UTF-8 text file|not JSON"):
        load(tmp_path, TEXT.encode(encoding))


@pytest.mark.parametrize(
    "content", [b"", b"\0", TEXT.encode()[:-40], b"\0" * 1000, TEXT.replace("Ball", "B\0ll").encode()]
)
def test_nul_and_truncation_are_refused(tmp_path, content):
    with pytest.raises(DocumentError, match="not JSON"):
        load(tmp_path, content)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"a": "a"', '"a": "a", "a": "c"', "the key 'a' is used twice"),
        ('"extras": {}', '"extras": {"x": {"k": 1, "l": 2, "k": 1}}', "the key 'k' is used twice"),
        ('"extras": {}', '"extras": {"x": "\\ud800"}', r"extras.x: '.ud800' has half a surrogate"),
        ('"extras": {}', '"extras": {"\\udfff": 1}', r"extras.'.udfff': '.udfff' has half a surrogate"),
        ('"extras": {}', '"extras": {"\\u001b[31m": 1e999}', r"extras.'.x1b\[31m': is beyond the range"),
    ],
)
def test_what_other_programs_read_otherwise_or_cannot_write_is_refused(before, after, words):
    assert before in TEXT
    with pytest.raises(DocumentError, match=words):
        parse_document(TEXT.replace(before, after, 1))


def test_long_keys_and_names_are_shortened():
    long = "x" * 100_000
    for text in (
        TEXT.replace('"extras": {}', f'"extras": {{"{long}": 1, "{long}": 1}}'),
        TEXT.replace('"extras": {}', f'"extras": {{"{long}": 1e999}}'),
        TEXT.replace('"extras": {}', f'"extras": {{}}, "{long}": 1'),
        TEXT.replace('"id": "b"', f'"id": "{long}"').replace('"id": "a"', f'"id": "{long}"'),
        TEXT.replace('"parent": "a"', f'"parent": "{long}"'),
        TEXT.replace('"a": "a"', f'"a": "{long}"'),
    ):
        assert len(text) > 100_000
        with pytest.raises(DocumentError) as caught:
            parse_document(text)
        assert len(str(caught.value)) < 200


@pytest.mark.smoke
@pytest.mark.parametrize("depth", [50, 99, 101, 500, 900, 100_000])
def test_depth_of_extras_is_limited_wherever_it_is_read(depth):
    text = TEXT.replace('"extras": {}', '"extras": {"x": ' + "[" * depth + "]" * depth + "}")
    if depth < 100:
        parse_document(text)
        return
    with pytest.raises(DocumentError, match="nested too deeply"):
        parse_document(text)


def test_larger_files_are_refused_without_reading_them(tmp_path):
    path = tmp_path / "sparse.json"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(DocumentSizeError, match="is larger than 128 MB"):
        load_document(path)
    with pytest.raises(DocumentError, match=r"^sparse\.json: is larger than 128 MB"):
        read_file(path)


def test_limit_of_size_is_the_number_of_bytes(tmp_path):
    content = TEXT.encode()
    assert load(tmp_path, content, max_megabytes=len(content) / 1e6)
    with pytest.raises(DocumentSizeError):
        load(tmp_path, content, max_megabytes=(len(content) - 1) / 1e6)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs and no /dev")
def test_devices_pipes_and_folders_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, tmp_path / "link.json"):
        if path.name == "link.json":
            path.symlink_to("/dev/zero")
        with pytest.raises(DocumentError, match="is not a regular file"):
            load_document(path)


@pytest.mark.smoke
def test_chain_of_parents_takes_linear_time():
    document = samples.document()
    first = document["objects"][0]
    document["contacts"] = document["clearances"] = []

    def seconds(count):
        document["objects"] = [
            {**first, "id": f"{index:06}", "parent": f"{index - 1:06}" if index else None}
            for index in range(count)
        ]
        begin = time.process_time()
        assert list(document_problems(document)) == []
        return time.process_time() - begin

    seconds(100)
    # Quadratic time is 64 times as much.
    assert seconds(800) < 24 * max(seconds(100), 0.01)


def test_indices_can_be_written_as_floats():
    from tests.formats.validation.test_hulls_and_trees import document

    text = dumps(document())
    as_floats = text.replace('"children": [1, 2]', '"children": [1.0, 2.0]').replace("[0, ", "[0.0, ")
    assert as_floats != text
    assert parse_document(as_floats) == parse_document(text)
    nodes = parse_document(as_floats)["objects"][0]["world"]["spheres"]
    assert all(type(child) is int for node in nodes for child in node["children"])
    read_document(parse_document(as_floats))
