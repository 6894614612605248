"""The sources as a zip, so that a release has all that its tests, scripts and documentation need."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

_GENERATED = {
    *("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    *("build", "node_modules"),
}
"""Folders without sources, as in .gitignore."""


def source_files(top: Path) -> list[Path]:
    """Return the paths of all sources below a folder: those that git knows, or all of an extracted zip."""
    if (top / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=top, capture_output=True, check=True)
        return sorted(Path(name) for name in listed.stdout.decode().split("\0") if (top / name).is_file())
    return sorted(path.relative_to(top) for path in _walk(top))


def source_contents(top: Path, folder: str) -> dict[str, bytes]:
    """Return the content of all sources by their names in a zip, below a folder of the zip."""
    contents = {}
    for path in source_files(top):
        content = (top / path).read_bytes()
        # A checkout with Windows line endings must give the same zip.
        is_text = b"\0" not in content
        contents[f"{folder}/{path.as_posix()}"] = content.replace(b"\r\n", b"\n") if is_text else content
    return contents


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _GENERATED:
                yield from _walk(path)
        elif path.suffix not in (".pyc", ".pyo", ".blend1"):
            yield path
