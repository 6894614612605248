"""Target: parser, validator, reader and writers of documents, with documents that are broken at random."""

from __future__ import annotations

import random

from addon.formats import DocumentError, parse_document, read_document

from .target import Target


def make_document_bytes(random: random.Random) -> bytes:
    """Return the bytes of a broken document."""
    return bytes(random.randrange(256) for _ in range(random.randrange(30)))


def check_document(content: bytes) -> str | None:
    """Try to parse and read a document."""
    try:
        document = parse_document(content.decode("utf-8", "replace"))
    except DocumentError:
        return None
    read_document(document)
    return None


DOCUMENTS = Target("documents", make_document_bytes, check_document, ".json")
