"""Files: the formats that a document can be exported to, and how a text file is written.

To add a format, write its module in `export` and add an entry to FILE_FORMATS. The command line derives from
it the choices of --format and their help, the recognition of file names, the errors for content that the
format cannot store, and the axes that it prescribes. The window needs an operator in
`ui/operators/export.py`; docs/development/recipes.md has all steps.

Files are written atomically: a file is always wholly old or wholly new, also after a crash.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

if sys.platform != "win32":
    import fcntl

from ..core import CollisionBoundsError
from ..core.messages import message
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

_MARK = ".collision-bounds."
"""Part of the names of temporary files."""
_UNLOCKED_AGE = 1.0
"""Seconds for which an empty temporary file may belong to a writer that has not locked it yet."""

_unfinished: set[Path] = set()
"""Temporary files of this process."""


class OutputError(CollisionBoundsError):
    """A file cannot be written; the message names the file and the reason."""


def require_writable(path: Path) -> None:
    """Raise OutputError if writing `path` would fail, so that a job is not started in vain."""
    if not isinstance(path, Path):
        raise OutputError(f"path: a Path is needed, not {type(path).__name__}")
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = 0
    except OSError as error:  # a name that is too long; links in a circle
        reason = message("its links form a circle") if error.errno == errno.ELOOP else _reason(error)
        raise OutputError(message("{path}: cannot be written ({reason})", path=path, reason=reason)) from None
    folder = Path(os.path.realpath(path)).parent
    if stat.S_ISDIR(mode):
        raise OutputError(message("{path}: is a folder; name a file in it", path=path))
    if not mode and not folder.is_dir():
        missing = folder if path.is_symlink() else path.parent
        text = "{path}: the folder {folder} does not exist"
        raise OutputError(message(text, path=path, folder=missing))
    is_replaced = not mode or stat.S_ISREG(mode)  # pipes and devices are not
    if (is_replaced and not os.access(folder, os.W_OK)) or (mode and not os.access(path, os.W_OK)):
        raise OutputError(message("{path}: no permission to write it", path=path))


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write a text file as UTF-8 with LF line ends, atomically.

    The text is written to a temporary file in the same folder, which then replaces `path`. So `path` is at
    any moment the whole old file or the whole new one, also when the process is killed. In that case the next
    writer of `path` removes the temporary file. Pipes and devices are written to directly.

    path : A link stays; the file that it points at is replaced.
    text : The text, or its parts in order.
    Raises OutputError: when the file cannot be written. The old file, if any, is unchanged then.
    """
    with replaced_after(path, text):
        pass


@contextlib.contextmanager
def replaced_after(path: Path, text: str | Iterable[str]) -> Iterator[None]:
    """Write a text file like `write_text`, but replace `path` only after the block.

    If the block raises an exception, the old file is unchanged. Pipes and devices are written to before the
    block.
    """
    parts = [text] if isinstance(text, str) else text
    if not isinstance(parts, Iterable) or getattr(parts, "ndim", 1) == 0:
        raise OutputError(f"text: a text or an iterable of texts is needed, not {type(text).__name__}")
    parts = _checked_texts(parts)
    with contextlib.ExitStack() as clean_up:
        with _errors_with_name(path):
            require_writable(path)
            if path.exists() and not path.is_file():
                target = temporary = None
                with path.open("w", encoding="utf-8", newline="\n") as stream:
                    stream.writelines(parts)
            else:
                # Unlike `resolve`, `realpath` accepts circular links in all versions of Python.
                target = Path(os.path.realpath(path))
                temporary = _temporary_file(target, parts, clean_up)
        yield
        if target is not None and temporary is not None:
            with _errors_with_name(path):
                temporary.replace(target)


def remove_unfinished_files() -> None:
    """Remove the temporary files of this process, for a process that ends without an exception."""
    for path in tuple(_unfinished):
        _remove(path)


def _checked_texts(parts: Iterable[object]) -> Iterator[str]:
    for part in parts:
        if not isinstance(part, str):
            raise OutputError(f"text: its parts must be texts, not {type(part).__name__}")
        yield part


@contextlib.contextmanager
def _errors_with_name(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeError) as error:
        text = "{path}: cannot be written ({reason})"
        raise OutputError(message(text, path=path, reason=_reason(error))) from None


def _temporary_file(target: Path, parts: Iterable[str], clean_up: contextlib.ExitStack) -> Path:
    """Write a temporary file in the folder of `target`; `clean_up` removes it, if it still exists then.

    It is locked until then, even after it is closed, and the lock ends with the process. So another writer
    can distinguish a file in use from one whose writer was killed. Those files are removed first.
    """
    prefix = f".{target.name[:40]}{_MARK}"
    for path in target.parent.glob(glob.escape(prefix) + "?*.tmp"):
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                with path.open("rb") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    status = os.fstat(stream.fileno())
                    if not status.st_size and time.time() - status.st_mtime < _UNLOCKED_AGE:
                        continue
            path.unlink()
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    temporary = target.parent / f"{prefix}{secrets.token_hex(8)}.tmp"
    # Registered before it exists, because the process may end at any moment.
    _unfinished.add(temporary)
    clean_up.callback(_remove, temporary)
    with open(
        temporary, "x", encoding="utf-8", newline="\n", opener=lambda name, flags: os.open(name, flags, 0o600)
    ) as text:
        if sys.platform != "win32":  # an open file cannot be removed there, so no lock is needed
            duplicate = os.dup(text.fileno())
            clean_up.callback(os.close, duplicate)
            with contextlib.suppress(OSError):  # some network file systems have no locks
                fcntl.flock(duplicate, fcntl.LOCK_EX | fcntl.LOCK_NB)
        text.writelines(parts)
        text.flush()
        os.fsync(text.fileno())
    temporary.chmod(mode)
    return temporary


def _remove(temporary: Path) -> None:
    with contextlib.suppress(OSError):
        temporary.unlink()
    _unfinished.discard(temporary)


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)
