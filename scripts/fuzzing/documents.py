"""Target: parser, validator, reader and writers of documents, with documents that are broken at random."""

from __future__ import annotations

import functools
import random
import tempfile
from pathlib import Path

from addon.core import CollisionBoundsError
from addon.formats import (
    CONVENTIONS,
    FILE_FORMATS,
    DocumentError,
    dumps,
    file_text,
    load_document,
    make_document,
    parse_document,
    read_document,
    space_for,
)
from addon.formats.spaces import Space

from .json_mutations import mutated_json
from .sample_documents import document_texts
from .target import Target


def make_document_bytes(random: random.Random) -> bytes:
    """Return the bytes of a document with a few changes."""
    return mutated_json(random, random.choice(_texts()))


def check_document(content: bytes) -> str | None:
    """Read a file. If it is a correct document, write it again, and validate what was written.

    To save time, the space, decimals and file format are chosen by the content.
    """
    path = _folder() / "document.json"
    path.write_bytes(content)
    try:
        document = load_document(path)
    except DocumentError as error:
        return None if "\n" not in str(error) and len(str(error)) < 2000 else "the message is too long"
    # From here on, no error is expected except for numbers that the other space or format does not have.
    loaded = read_document(document)
    choice = random.Random(content)
    space = choice.choice(
        [
            Space.from_document(document["space"]),
            *(space_for(name, loaded.scale_length) for name in CONVENTIONS),
        ]
    )
    decimals = choice.choice((3, 6, 9))
    each = choice.choice(FILE_FORMATS)
    in_format = space_for(each.convention or CONVENTIONS["unreal"], loaded.scale_length)
    try:
        text = dumps(make_document(loaded, space, decimals))
        "".join(file_text(make_document(loaded, in_format, decimals), each.name))
    except CollisionBoundsError:
        return None
    try:
        parse_document(text)
    except DocumentError as error:
        return f"written in space {space.preset} with {decimals} decimals, is refused: {error}"
    return None


@functools.cache
def _texts() -> list[str]:
    return document_texts()


@functools.cache
def _folder() -> Path:
    """Return a folder that is removed when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="fuzz-")
    _folders.append(folder)
    return Path(folder.name)


_folders: list[tempfile.TemporaryDirectory[str]] = []

DOCUMENTS = Target("documents", make_document_bytes, check_document, ".json")
