"""Texts that the command line, the tables and the user interface share; version of the extension."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cache
from pathlib import Path

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, line separators, characters that change the writing direction, and surrogates."""

_LONGEST_MESSAGE = 1000
_LONGEST_QUOTE = 60


def quoted(text: str) -> str:
    """Return a text in quotes for a message: on one line, without control characters, shortened if long."""
    marked = repr(text[: _LONGEST_QUOTE + 1])
    return marked if len(marked) <= _LONGEST_QUOTE else marked[:_LONGEST_QUOTE] + "..."


def pluralized(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 object" or "3 objects"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def single_line(text: str) -> str:
    r"""Return a text for one line of a terminal: Blender allows line breaks and escapes in names.

    Control characters, characters that change the writing direction, and surrogates are shown as in Python:
    \n, \x1b, \u202e. Python represents a byte that is not UTF-8 by a surrogate; it is shown as \xe9.
    """
    return text if text.isprintable() else _CONTROLS.sub(_escaped, text)


def valid_text(text: str) -> str:
    r"""Return the text of a file name, an argument or a full name, with bytes that are not UTF-8 as \xe9.

    Python represents such bytes by surrogates, which can be neither encoded nor passed to Blender.
    """
    if text.isascii():
        return text
    try:
        return os.fsencode(text).decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        # A surrogate that stands for no byte, or a text beyond the encoding of file names.
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def message_line(text: str) -> str:
    """Return a message as `single_line`, without the middle if it has more than 1,000 characters."""
    if len(text) > _LONGEST_MESSAGE:
        kept = _LONGEST_MESSAGE // 2
        text = f"{text[:kept]} ... {text[-kept:]}"
    return single_line(text)


def _escaped(match: re.Match[str]) -> str:
    character = match[0]
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def format_duration(seconds: float) -> str:
    """Return a duration such as 1:05 or 2:00:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


@cache
def extension_version() -> str:
    """Return the version in the manifest, which is in the package, or above the package in a checkout."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package, package.parent):
        manifest = folder / "blender_manifest.toml"
        if manifest.is_file():
            return str(tomllib.loads(manifest.read_text("utf-8"))["version"])
    raise FileNotFoundError(f"blender_manifest.toml is neither in {package} nor above it")
