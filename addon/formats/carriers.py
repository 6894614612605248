"""Files that a document becomes: JSON, tables, tiles, glTF with colliders, bounds as engines spell them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias, get_args

from .engine_bounds import unity_bounds, unreal_bounds
from .gltf import DEFAULT_DIALECTS, Dialect, gltf
from .json_text import chunks
from .spaces import CONVENTIONS, Convention
from .spreadsheet import bounds_csv, contacts_csv
from .tileset import TILES_SPACE, tileset

Carrier: TypeAlias = Literal["json", "csv", "3dtiles", "gltf", "unity", "unreal"]

CARRIERS: tuple[Carrier, ...] = get_args(Carrier)

_BY_SUFFIX: dict[str, Carrier] = {".csv": "csv", ".gltf": "gltf"}
_OWN_SPACES = {"3dtiles": TILES_SPACE, **{name: CONVENTIONS[name] for name in ("gltf", "unity", "unreal")}}


def carrier_of(name: str) -> Carrier:
    """What a file of that name is, unless told."""
    return next((own for suffix, own in _BY_SUFFIX.items() if name.lower().endswith(suffix)), "json")


def convention_of(carrier: Carrier, asked: Convention) -> Convention:
    """The space that a document must be in to become such a file."""
    return _OWN_SPACES.get(carrier, asked)


def text_of(
    document: dict[str, Any],
    carrier: Carrier,
    about_contacts: bool,
    dialects: Sequence[Dialect] = DEFAULT_DIALECTS,
) -> Iterable[str]:
    """The file, in pieces.

    Raises TilesetError, GltfError or EngineBoundsError for a document that makes none.

    about_contacts : whether a table has a line a contact, and not a line an object
    dialects : how glTF tells of colliders
    """
    if carrier == "json":
        return chunks(document)
    if carrier == "csv":
        return [contacts_csv(document) if about_contacts else bounds_csv(document)]
    return chunks(gltf(document, dialects) if carrier == "gltf" else _MADE[carrier](document))


_MADE = {"3dtiles": tileset, "unity": unity_bounds, "unreal": unreal_bounds}
