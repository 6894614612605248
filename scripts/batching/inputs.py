"""Finds the files of a run, and the names of their results."""

from __future__ import annotations

import contextlib
import glob
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from addon.cli.parser import UsageError
from addon.formats.wording import valid_text
from addon.scene.open_file import SCENE_SUFFIXES


def find_inputs(inputs: Sequence[str], output: Path) -> Iterator[tuple[str, Path]]:
    """Yield the scene files in a fixed order, each with its name in the run.

    Names are paths relative to the folder that was given, or to the part of a pattern without wildcards.
    The folder of the results is not searched. Only one folder's content is in memory at a time.

    Parameters
    ----------
    inputs : sequence of str
        Files, folders with all their subfolders, and patterns such as ``assets/**/*.glb``.
    output : Path
        Folder of the results.

    Raises
    ------
    UsageError
        If a file or folder does not exist, or is no scene file.
    """
    skipped = output.resolve()
    for word in inputs:
        path = Path(word)
        try:
            is_folder, exists = path.is_dir(), path.exists()
        except OSError as error:  # the name is too long, for example
            raise UsageError(f"{word}: cannot be read ({error.strerror})") from None
        if is_folder:
            yield from _files_below(path, path, skipped)
        elif exists:
            if path.suffix.lower() not in SCENE_SUFFIXES:
                raise UsageError(f"{word}: unsupported file type (supported: {', '.join(SCENE_SUFFIXES)})")
            yield valid_text(path.name), path
        elif glob.has_magic(word):
            yield from _matches(word, skipped)
        else:
            raise UsageError(f"{word}: does not exist")


def count_inputs(inputs: Sequence[str], output: Path) -> int:
    """Return the number of files, and check that no two have the same name.

    Raises
    ------
    UsageError
        If there are no files, or if the results of two files would have the same name.
    """
    count = 0
    # An unnamed database is a temporary file: memory must not grow with the number of files.
    with contextlib.closing(sqlite3.connect("", isolation_level=None)) as database:
        database.execute("CREATE TABLE names (name TEXT PRIMARY KEY) WITHOUT ROWID")
        database.execute("BEGIN")
        for name, path in find_inputs(inputs, output):
            count += 1
            if len(inputs) == 1:
                continue  # names are unique within an input
            try:
                database.execute("INSERT INTO names VALUES (?)", (name,))
            except sqlite3.IntegrityError:
                raise UsageError(
                    f"{path}: another file has the name {name} too; run them into different folders"
                ) from None
    if not count:
        raise UsageError(f"{', '.join(inputs)}: no scene files were found")
    return count


def _files_below(folder: Path, root: Path, skipped: Path) -> Iterator[tuple[str, Path]]:
    if folder.resolve() == skipped:
        return
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _files_below(path, root, skipped)
        elif path.suffix.lower() in SCENE_SUFFIXES:
            yield valid_text(path.relative_to(root).as_posix()), path


def _matches(pattern: str, skipped: Path) -> Iterator[tuple[str, Path]]:
    fixed = []
    for part in Path(pattern).parts:
        if glob.has_magic(part):
            break
        fixed.append(part)
    root = Path(*fixed) if fixed else Path()
    for word in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 - Path.glob needs a folder
        path = Path(word)
        is_scene = path.suffix.lower() in SCENE_SUFFIXES and path.is_file()
        if is_scene and skipped not in path.resolve().parents:
            yield valid_text(path.relative_to(root).as_posix()), path
