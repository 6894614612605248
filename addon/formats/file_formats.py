"""File formats that a document can be exported to.

To add a format, write its module in `export` and add an entry to FILE_FORMATS. The command line derives from
it the choices of --format and their help, the recognition of file names, the errors for content that the
format cannot store, and the axes that it prescribes. The window needs an operator in
`ui/operators/export.py`; docs/development/recipes.md has all steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias, get_args

from ..core import CollisionBoundsError
from ..core.numeric.arguments import as_flag, require_choice, require_type
from .document.json_writer import json_parts
from .export.csv_table import bounds_csv, contacts_csv
from .export.engine_bounds import unity_bounds, unreal_bounds
from .export.gltf import DEFAULT_GLTF_EXTENSIONS, GltfExtension, gltf
from .export.robotics.curobo import CUROBO, curobo_spheres
from .export.robotics.link_shapes import LinkFormat
from .export.robotics.links import ROBOTICS_SPACE, links_from_document
from .export.robotics.mjcf import MJCF, mjcf
from .export.robotics.urdf import URDF, urdf
from .export.robotics.usd_physics import USD, USD_SPACE, usd_physics
from .export.tileset_3d import TILES_SPACE, tileset
from .shape_members import SHAPE_TYPES
from .spaces import CONVENTIONS, Convention
from .validation.validate import require_document
from .wording import quoted

CsvKind: TypeAlias = Literal["bounds", "contacts"]


class UnknownFormatError(CollisionBoundsError):
    """No file format has this name."""


@dataclass(frozen=True)
class ExportOptions:
    """Choices that only some formats have; the others ignore them.

    table : Rows of a table: one an object, or one a contact.
    gltf_extensions : Extensions in which glTF stores colliders.
    free_joints : Whether objects without a parent move freely in MJCF.
    """

    table: CsvKind = "bounds"
    gltf_extensions: Sequence[GltfExtension] = DEFAULT_GLTF_EXTENSIONS
    free_joints: bool = False


Parts: TypeAlias = Callable[[dict[str, Any], ExportOptions], Iterable[str]]


@dataclass(frozen=True)
class FileFormat:
    """Definition of a file format.

    name : Name on the command line.
    label : A file of this format in messages, with its article.
    purpose : Completes the name in help texts; neighbors with the same purpose share it.
    suffix : File name suffix. The first format with a suffix is the default for it.
    parts : Converts a document to the text of the file, in parts. Raises CollisionBoundsError for a
        document that the format cannot store.
    shapes : Shapes that it can store, keys of SHAPE_TYPES.
    contents : Which of "envelope", "tracks" and "contacts" it can store.
    convention : Axes and unit that it prescribes; None when they can be chosen.
    """

    name: str
    label: str
    purpose: str
    suffix: str
    parts: Parts
    shapes: frozenset[str]
    contents: frozenset[str] = frozenset()
    convention: Convention | None = None


def file_format(name: str) -> FileFormat:
    """Return the format of a name. Raises UnknownFormatError."""
    if not isinstance(name, str) or name not in _BY_NAME:
        shown = quoted(name) if isinstance(name, str) else type(name).__name__
        raise UnknownFormatError(f"unknown format {shown} (choose from {', '.join(FORMAT_NAMES)})")
    return _BY_NAME[name]


def format_from_filename(filename: str) -> FileFormat | None:
    """Return the format that a file name has by its suffix; None for an unknown suffix."""
    if not isinstance(filename, str):
        raise UnknownFormatError(f"filename: a text is needed, not {type(filename).__name__}")
    lowered = filename.lower()
    return next((each for each in FILE_FORMATS if lowered.endswith(each.suffix)), None)


def file_text(document: dict[str, Any], name: str, options: ExportOptions | None = None) -> Iterable[str]:
    """Convert a document to the text of a file.

    document : In the space of the format's convention, or in any space if it has none.
    Returns parts : iterable of str. The text, in order.
    Raises UnknownFormatError
    Raises TilesetError, GltfError, EngineBoundsError, RoboticsError: for a document that the format cannot
        store.
    """
    chosen = file_format(name)
    if options is None:
        options = ExportOptions()
    require_type(options, ExportOptions, "options")
    require_choice(options.table, get_args(CsvKind), "table")
    as_flag(options.free_joints, "free_joints")
    require_document(document)
    return chosen.parts(document, options)


def _json(convert: Callable[[dict[str, Any]], dict[str, Any]]) -> Parts:
    return lambda document, _: json_parts(convert(document))


_CSV = {"bounds": bounds_csv, "contacts": contacts_csv}


def _robot_text(
    format: LinkFormat, write: Callable[..., Iterator[str]], document: dict[str, Any], options: ExportOptions
) -> Iterator[str]:
    """Convert a document to links, before the first part of the text."""
    links = links_from_document(document, format)
    return write(document, links, options.free_joints) if format is MJCF else write(document, links)


_ENVELOPE, _CONTACTS = frozenset({"envelope"}), frozenset({"contacts"})
_BOXES_AND_SPHERES = frozenset({"sphere", "aabb"})
_VOLUMES = _BOXES_AND_SPHERES | {"obb", "capsule", "cylinder"}

FILE_FORMATS = (
    FileFormat(
        *("json", "a document", "", ".json", lambda document, _: json_parts(document)),
        shapes=frozenset(SHAPE_TYPES),
        contents=_ENVELOPE | _CONTACTS | {"tracks"},
    ),
    FileFormat(
        *("csv", "a table", "for a spreadsheet", ".csv"),
        parts=lambda document, options: _CSV[options.table](document),
        shapes=_VOLUMES,
        contents=_CONTACTS,
    ),
    FileFormat(
        *("3dtiles", "a tileset", "for a 3D Tiles tileset", ".json", _json(tileset)),
        shapes=_VOLUMES,
        convention=TILES_SPACE,
    ),
    FileFormat(
        *("gltf", "a glTF file", "for colliders", ".gltf"),
        parts=lambda document, options: json_parts(gltf(document, options.gltf_extensions)),
        shapes=_VOLUMES | {"hull", "compound"},
        contents=_ENVELOPE,
        convention=CONVENTIONS["gltf"],
    ),
    *(
        FileFormat(
            *(preset, f"a file for {preset.title()}", "for bounds in the form of these engines", ".json"),
            parts=_json(convert),
            shapes=_BOXES_AND_SPHERES,
            contents=_ENVELOPE,
            convention=CONVENTIONS[preset],
        )
        for preset, convert in (("unity", unity_bounds), ("unreal", unreal_bounds))
    ),
    *(
        FileFormat(
            *(name, label, "for robots and simulators", suffix, partial(_robot_text, format, write)),
            shapes=format.shapes,
            convention=convention,
        )
        for name, label, suffix, format, convention, write in (
            ("urdf", "a URDF file", ".urdf", URDF, ROBOTICS_SPACE, urdf),
            ("mjcf", "an MJCF file", ".xml", MJCF, ROBOTICS_SPACE, mjcf),
            ("usd", "a USD Physics file", ".usda", USD, USD_SPACE, usd_physics),
            ("curobo", "a list of spheres", ".yml", CUROBO, ROBOTICS_SPACE, curobo_spheres),
        )
    ),
)
"""All formats; the first is the default."""

FORMAT_NAMES = tuple(each.name for each in FILE_FORMATS)
_BY_NAME = {each.name: each for each in FILE_FORMATS}
