"""Atomic writing of text files: a file is always wholly old or wholly new, also after a crash."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

if sys.platform != "win32":
    import fcntl

from ..core.errors import CollisionBoundsError
from ..core.messages import message

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
