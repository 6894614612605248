"""Texts that all formats share: numbers, and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from ...rounding import to_lists

_LONGEST = 200
"""Characters of a comment."""


def decimal_text(value: float) -> str:
    """Return the shortest text of a number that every reader reads as this number.

    YAML 1.1 needs a point before an exponent: 1e-09 would be a text there, 1.0e-09 is a number.
    """
    text = repr(float(value) + 0.0)
    mantissa, separator, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if separator and "." not in mantissa else text


def decimals_text(values: ArrayLike, separator: str = " ") -> str:
    """Return the texts of numbers (n,), separated."""
    return separator.join(decimal_text(value) for value in to_lists(values))


def comment_text(text: str) -> str:
    """Return a text on one line that can end no comment of XML, YAML or USD."""
    shown = "".join(character if character.isprintable() else "?" for character in text[:_LONGEST])
    return re.sub("-(?=-|$)", "- ", shown)


def generator_text(document: dict[str, Any]) -> str:
    """Return the name and version of the program that made a document, for a comment."""
    generator = document["generator"]
    return comment_text(f"{generator['name']} {generator['version']}")


def indented(lines: Iterable[str], levels: int) -> str:
    """Return lines, each with a line break at its end, indented by two spaces for each level."""
    return "".join(f"{'  ' * levels}{line}\n" for line in lines)
