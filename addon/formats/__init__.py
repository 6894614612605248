"""Documents: bounds and contacts, written for other programs and read again.

In reading order:

- `spaces`: axes, handedness and units of engines; outward rounding
- `shape_members`: shapes of documents as shapes of the math
- `contact_extents`: depths and gaps of contacts of a document
- `validation`: whether a document is correct
- `document`: contents, writer and reader of the JSON document
- `export`: the other file formats, converted from a document
- `comparison`: new, gone and unchanged contacts of two documents
- `file_formats`: all file formats, by name and by the suffix of files
- `atomic_write`: writes a file wholly or not at all
- `wording`: text helpers of messages; version of the extension, which is not that of documents

May import `core`; needs the standard library and NumPy only.

Decisions:

- Every number of a document is in the space that the document declares, and shapes are rounded outward in it.
- The same contents give the same bytes, from the panel, the command line and Python.
- A writer locks its unfinished file. The lock ends with the process, so the next writer of the same file
  recognizes and removes what a killed process left behind.
"""

# mypy: implicit-reexport
# ruff: noqa: F401
from .atomic_write import OutputError, remove_unfinished_files, replaced_after, require_writable, write_text
from .comparison import Comparison, compare_contacts
from .document.conversion import (
    DEFAULT_DECIMALS,
    LEAST_DECIMALS,
    MOST_DECIMALS,
    LoadedDocument,
    make_document,
    read_document,
    read_file,
)
from .document.json_writer import dumps, json_parts
from .document.model import (
    CollisionResponse,
    DocumentContents,
    InputWarning,
    ObjectBounds,
    Origin,
    Partial,
    ScannedContacts,
    Skipped,
    SkippedPairs,
    SortedObjects,
    TimeSettings,
    Track,
)
from .export.gltf import DEFAULT_GLTF_EXTENSIONS, GLTF_EXTENSIONS, gltf
from .export.gltf_collider_nodes import GltfError
from .export.text_table import bounds_table, contacts_table
from .file_formats import (
    FILE_FORMATS,
    FORMAT_NAMES,
    ExportOptions,
    FileFormat,
    UnknownFormatError,
    file_format,
    file_text,
    format_from_filename,
)
from .spaces import AXES, CONVENTIONS, HANDEDNESS, PRESETS, Convention, Space, SpaceError, space_for
from .validation.strict_json import MAX_MEGABYTES, DocumentError, DocumentSizeError
from .validation.validate import document_problems, load_document, parse_document, schema
from .wording import extension_version
