"""Texts that all formats share: numbers, comments, and names of links.

Names are identifiers in ASCII, which every reader of URDF, MJCF, USD and YAML accepts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike

from ...spaces import to_lists

_LONGEST_COMMENT = 200
"""In characters."""

RESERVED_NAMES = frozenset({"world", "collision", "collision_groups", "physics_materials"})
"""The root of a URDF and the body around an MJCF, and prims in USD: of a link's shapes, all groups and all
materials."""

_LONGEST_NAME = 120
"""Characters of a name; some simulators cut names off at 128 or 256."""


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
    shown = "".join(character if character.isprintable() else "?" for character in text[:_LONGEST_COMMENT])
    return re.sub("-(?=-|$)", "- ", shown)


def generator_text(document: dict[str, Any]) -> str:
    """Return the name and version of the program that made a document, for a comment."""
    generator = document["generator"]
    return comment_text(f"{generator['name']} {generator['version']}")


def indented(lines: Iterable[str], levels: int) -> str:
    """Return lines, each with a line break at its end, indented by two spaces for each level."""
    return "".join(f"{'  ' * levels}{line}\n" for line in lines)


def link_names(names: Iterable[str]) -> list[str]:
    """Convert names of objects to names of links.

    Accents are dropped, and every other character but letters, digits and the underscore becomes an
    underscore. A name that begins with a digit gets an underscore in front. Equal names are numbered from 2.
    The first object with a name that is valid already keeps it.

    names : Of any characters, in the order of the objects.
    Returns names : list of str. Unique; each matches ``[A-Za-z_][A-Za-z0-9_]*``, and none is in
        RESERVED_NAMES.
    """
    originals = list(names)
    plain = [identifier_from(name) for name in originals]
    valid = {name for name, identifier in zip(originals, plain, strict=True) if name == identifier}
    kept, used = valid - RESERVED_NAMES, valid | RESERVED_NAMES
    unique = []
    numbers: dict[str, int] = {}
    for original, identifier in zip(originals, plain, strict=True):
        name = identifier
        while name in used and (name != original or name not in kept):
            numbers[identifier] = numbers.get(identifier, 1) + 1
            name = f"{identifier}_{numbers[identifier]}"
        kept.discard(name)
        used.add(name)
        unique.append(name)
    return unique


def identifier_from(name: str) -> str:
    """Convert a text to an identifier in ASCII, which need not be unique; "_" for an empty text."""
    decomposed = unicodedata.normalize("NFKD", name)
    letters = "".join(character for character in decomposed if not unicodedata.combining(character))
    plain = re.sub(r"[^A-Za-z0-9_]", "_", letters)[:_LONGEST_NAME]
    return plain if plain and not plain[0].isdigit() else f"_{plain}"
