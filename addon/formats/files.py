"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..core.errors import CollisionBoundsError

_MARK = ".collision-bounds."
"""In the names of files that are not whole yet."""
_JUST_MADE = 1.0
"""Seconds in which a file that is still empty may be one that its writer has yet to claim."""


class OutputError(CollisionBoundsError):
    """A file cannot be written; the message names it and says why."""


def require_writable(path: Path) -> None:
    """Raise OutputError when writing `path` is bound to fail: asked before long work, not after."""
    try:
        folder = path.resolve().parent
        is_folder, exists, is_file = path.is_dir(), path.exists(), path.is_file()
    except (OSError, RuntimeError) as error:  # a name too long; links in a circle
        raise OutputError(f"{path}: cannot be written ({_reason(error)})") from None
    if is_folder:
        raise OutputError(f"{path}: is a folder; name a file in it")
    if not exists and not folder.is_dir():
        raise OutputError(f"{path}: the folder {path.parent} does not exist")
    is_made = not exists or is_file  # in the folder, and not a pipe
    if (is_made and not os.access(folder, os.W_OK)) or (exists and not os.access(path, os.W_OK)):
        raise OutputError(f"{path}: no permission to write it")


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write `text`, or its parts, as UTF-8 with LF: `path` is always the whole old file or the whole new one.

    That holds for a process that is killed, too; what it leaves beside the file is removed by the next that
    writes it. What is no file, such as a pipe, is written to as it is. Raises OutputError; the old file, if
    any, is untouched then.
    """
    require_writable(path)
    parts = [text] if isinstance(text, str) else text
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
        else:
            target = path.resolve()  # through a link: replace what it points at, not the link
            _remove_left_behind(target)
            _replace(target, parts)
    except (OSError, UnicodeError) as error:
        raise OutputError(f"{path}: cannot be written ({_reason(error)})") from None


def _replace(target: Path, parts: Iterable[str]) -> None:
    temporary: Path | None = None
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=_prefix(target), suffix=".tmp", dir=target.parent)
        temporary = Path(name)
        with _claimed(handle):
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.chmod(mode)
            temporary.replace(target)
    finally:
        # Gone already when all went well; left behind by any failure, Ctrl+C too.
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _prefix(target: Path) -> str:
    return f".{target.name[:40]}{_MARK}"


@contextlib.contextmanager
def _claimed(handle: int) -> Iterator[None]:
    """Show other processes that this one is at work on an open file, until the end even when it is closed."""
    if sys.platform == "win32":
        yield  # a file that is open cannot be removed there
        return
    import fcntl

    own = os.dup(handle)
    try:
        with contextlib.suppress(OSError):  # not every network disk knows claims
            fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(own)


def _remove_left_behind(target: Path) -> None:
    """Remove what writers of `target` left that were killed: nobody claims those files any more."""
    for path in target.parent.glob(glob.escape(_prefix(target)) + "?*.tmp"):
        with contextlib.suppress(OSError):
            if sys.platform != "win32":
                import fcntl

                with path.open("rb") as stream:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    found = os.fstat(stream.fileno())
                    if not found.st_size and time.time() - found.st_mtime < _JUST_MADE:
                        continue
            path.unlink()


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
