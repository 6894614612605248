"""Names of data-blocks, also those in old or damaged files that are not UTF-8: bpy raises errors for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy


def name_of(block: Any) -> str:
    r"""Return the name of a data-block, or of a part of one, with bytes that are not UTF-8 as \xe9."""
    try:
        name: str = block.name
    except UnicodeDecodeError as error:
        name = error.object.decode("utf-8", "backslashreplace")
    return name


def are_names_readable(blocks: Iterable[Any]) -> bool:
    """Return whether the names of all data-blocks, or of parts of one, are UTF-8."""
    try:
        for block in blocks:
            _ = block.name
    except UnicodeDecodeError:
        return False
    return True


def full_name_of(block: bpy.types.ID) -> str:
    """Return the full name of a data-block, which identifies it among those of its type.

    A byte that is not UTF-8 is a surrogate, so that different names stay different. Neither documents nor bpy
    accept surrogates: use `formats.wording.valid_text` to show the name.
    """
    try:
        return block.name_full
    except UnicodeDecodeError as error:
        return error.object.decode("utf-8", "surrogateescape")
