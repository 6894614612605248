"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ..core.errors import CollisionBoundsError


class OutputError(CollisionBoundsError):
    """A file cannot be written; the message names it and says why."""


def require_writable(path: Path) -> None:
    """Raise OutputError when writing `path` is bound to fail: asked before long work, not after."""
    try:
        folder = path.resolve().parent
        is_folder, exists = path.is_dir(), path.exists()
    except (OSError, RuntimeError) as error:  # a name too long; links in a circle
        raise OutputError(f"{path}: cannot be written ({_reason(error)})") from None
    if is_folder:
        raise OutputError(f"{path}: is a folder; name a file in it")
    if not folder.is_dir():
        raise OutputError(f"{path}: the folder {path.parent} does not exist")
    if not os.access(folder, os.W_OK) or (exists and not os.access(path, os.W_OK)):
        raise OutputError(f"{path}: no permission to write it")


def write_text(path: Path, text: str | Iterable[str]) -> None:
    """Write `text`, or its parts, as UTF-8 with LF: `path` is always the whole old file or the whole new one.

    Raises OutputError; the old file, if any, is untouched then.
    """
    require_writable(path)
    target = path.resolve()  # through a link: replace what it points at, not the link
    temporary: Path | None = None
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:40]}.", suffix=".tmp", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines([text] if isinstance(text, str) else text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except (OSError, UnicodeError) as error:
        raise OutputError(f"{path}: cannot be written ({_reason(error)})") from None
    finally:
        # Gone already when all went well; left behind by any failure, Ctrl+C too.
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
