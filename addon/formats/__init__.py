"""Documents: what the math found, written for other programs. Standard library and NumPy only."""

from .carriers import CARRIERS, Carrier, carrier_of, convention_of, text_of
from .contents import (
    Confirmation,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    TimeSettings,
    Track,
)
from .document import DEFAULT_DECIMALS, LEAST_DECIMALS, MOST_DECIMALS, make_document
from .files import OutputError, require_writable, write_text
from .gltf import DEFAULT_DIALECTS, DIALECTS, gltf
from .gltf_colliders import GltfError
from .json_text import chunks, dumps
from .reading import Reading, read_document, read_file
from .spaces import AXES, CONVENTIONS, PRESETS, Convention, Space, SpaceError, space_for
from .table import bounds_table, contacts_table
from .validation import DocumentError, document_problems, parse_document, schema

__all__ = [
    "AXES",
    "CARRIERS",
    "CONVENTIONS",
    "DEFAULT_DECIMALS",
    "DEFAULT_DIALECTS",
    "DIALECTS",
    "LEAST_DECIMALS",
    "MOST_DECIMALS",
    "PRESETS",
    "Carrier",
    "Confirmation",
    "Convention",
    "DocumentError",
    "GltfError",
    "ObjectBounds",
    "Origin",
    "OutputError",
    "Partial",
    "Reading",
    "ScannedContacts",
    "Skipped",
    "Space",
    "SpaceError",
    "TimeSettings",
    "Track",
    "bounds_table",
    "carrier_of",
    "chunks",
    "contacts_table",
    "convention_of",
    "document_problems",
    "dumps",
    "gltf",
    "make_document",
    "parse_document",
    "read_document",
    "read_file",
    "require_writable",
    "schema",
    "space_for",
    "text_of",
    "write_text",
]
