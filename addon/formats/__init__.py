"""Documents: what the math found, written for other programs. Standard library and NumPy only."""

from .document import (
    DEFAULT_DECIMALS,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    Confirmation,
    ObjectBounds,
    Origin,
    ScannedContacts,
    Skipped,
    TimeSettings,
    dumps,
    make_document,
)
from .files import OutputError, require_writable, write_text
from .spaces import PRESETS, Space, space_for
from .table import bounds_table, contacts_table
from .validation import DocumentError, document_problems, parse_document, schema

__all__ = [
    "DEFAULT_DECIMALS",
    "LEAST_DECIMALS",
    "MOST_DECIMALS",
    "PRESETS",
    "Confirmation",
    "DocumentError",
    "ObjectBounds",
    "Origin",
    "OutputError",
    "ScannedContacts",
    "Skipped",
    "Space",
    "TimeSettings",
    "bounds_table",
    "contacts_table",
    "document_problems",
    "dumps",
    "make_document",
    "parse_document",
    "require_writable",
    "schema",
    "space_for",
    "write_text",
]
