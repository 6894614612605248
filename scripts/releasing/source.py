"""The sources as an archive, so that a release has all that its tests, scripts and documentation need."""

from __future__ import annotations

import io
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

_GENERATED = {
    *("__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"),
    *("build", "node_modules"),
}
"""Folders without sources, as in .gitignore."""


def source_files(top: Path) -> list[Path]:
    """Return the paths of all sources below a folder, except those that git ignores.

    Files that are not added to git yet are sources too. Without a repository, all files of an extracted tar
    are sources.

    Raises
    ------
    ValueError
        If there are none, or git cannot list them.
    """
    if (top / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        try:
            listed = subprocess.run(command, cwd=top, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError) as problem:
            reason = getattr(problem, "stderr", b"").decode(errors="replace") or problem
            raise ValueError(f"git could not list the sources of {top}: {reason}") from problem
        paths = {Path(name) for name in listed.stdout.decode().split("\0") if (top / name).is_file()}
    else:
        paths = {path.relative_to(top) for path in _walk(top)}
    if not paths:
        raise ValueError(f"{top} has no sources")
    return sorted(paths)


def source_contents(top: Path, folder: str) -> dict[str, bytes]:
    """Return the content of all sources by their names in an archive, below a folder of it."""
    contents = {}
    for path in source_files(top):
        content = (top / path).read_bytes()
        # A checkout with Windows line endings must give the same archive.
        is_text = b"\0" not in content
        contents[f"{folder}/{path.as_posix()}"] = content.replace(b"\r\n", b"\n") if is_text else content
    return contents


def write_tar(target: Path, files: Mapping[str, bytes]) -> None:
    """Write a tar of files by their names, with the same bytes on any system.

    Not a zip, because Blender installs any zip as an add-on. Not compressed, because compressed bytes differ
    between systems.
    """
    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)  # of no user, and of the first second of 1970
            entry.size = len(content)
            entry.mode = 0o755 if content.startswith(b"#!") else 0o644
            archive.addfile(entry, io.BytesIO(content))


def _walk(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in _GENERATED:
                yield from _walk(path)
        elif path.suffix not in (".pyc", ".pyo", ".blend1"):
            yield path
