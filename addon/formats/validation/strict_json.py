"""JSON from files that anyone can have written: limited in size, without duplicate keys, NaN and infinity."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

from ...core.errors import CollisionBoundsError
from ...core.messages import message
from ...core.numeric.arguments import as_number, require_type
from ..wording import quoted

MAX_MEGABYTES = 128.0
"""Larger files are refused by default. A document takes up to 25 times its size in memory."""


class DocumentError(CollisionBoundsError):
    """A file cannot be read as a document, or a document is wrong; the message has the problem's path."""


class DocumentSizeError(DocumentError):
    """A file is larger than the limit."""


def read_text(path: Path, max_megabytes: float = MAX_MEGABYTES) -> str:
    """Read a text file in UTF-8, with or without a byte order mark.

    path : Of a regular file, or of the pipe that is the standard input. Devices, other pipes and folders
        are refused, because they can have no end.
    max_megabytes : Limit of the size, in units of 1,000,000 bytes.
    Raises DocumentSizeError: for a larger file. At most the limit is read.
    Raises DocumentError: for anything else that cannot be read. The message does not name the file.
    """
    require_type(path, Path, "path")
    megabytes = as_number(max_megabytes, "max_megabytes", 0.0)
    limit = int(min(megabytes * 1e6, sys.maxsize - 1))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not _is_standard_input(status):
            raise DocumentError(message("is not a regular file"))
        if status.st_size > limit:
            raise DocumentSizeError(message("is larger than {size:g} MB", size=max_megabytes))
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise DocumentError(message("cannot be read ({reason})", reason=error.strerror)) from None
    if len(content) > limit:
        raise DocumentSizeError(message("is larger than {size:g} MB", size=max_megabytes))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentError(message("is not a UTF-8 text file")) from None


def parse_json(text: str) -> Any:
    """Parse JSON, without duplicate keys, NaN and infinity.

    text : JSON.
    Returns value : Any. Integers that Python does not convert are infinite floats.
    Raises DocumentError
    """
    if not isinstance(text, str):
        raise DocumentError(f"text: JSON is needed, not {type(text).__name__}")
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            # Python does not convert very long integers; infinity is reported as too large later.
            parse_int=lambda digits: int(digits) if len(digits) < 400 else float(digits),
            object_pairs_hook=_with_unique_keys,
        )
    except json.JSONDecodeError as error:
        text = "not JSON (line {line}: {reason})"
        raise DocumentError(message(text, line=error.lineno, reason=error.msg)) from None
    except RecursionError:
        raise DocumentError(message("not a document (nested too deeply)")) from None


def _is_standard_input(status: os.stat_result) -> bool:
    """Return whether the status is that of a pipe which is the standard input."""
    try:
        return stat.S_ISFIFO(status.st_mode) and os.path.samestat(status, os.fstat(0))
    except OSError:  # closed
        return False


def _refuse_constant(name: str) -> float:
    raise DocumentError(f"{name} is not a valid JSON number")


def _with_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its keys and values. Other programs read either value of a duplicate key."""
    value = dict(pairs)
    if len(value) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DocumentError(f"the key {quoted(key)} is used twice in one object")
            seen.add(key)
    return value
