"""The process of a command: its standard streams, its signals, and Blender's folder for temporary files.

Imports the standard library only, because the script of the checkout calls it before it imports NumPy.

A signal that is ignored when the process starts stays ignored: a command with `&` in a script ignores Ctrl-C.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import signal
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO

from . import PROGRAM, STOPPED

if TYPE_CHECKING:
    from ..formats import OutputError


class StandardOutput(io.TextIOWrapper):
    """Text stream to standard output. It raises OutputError if that is full or closed.

    If the reader of a pipe has ended, as in `| head -1`, the remaining text is discarded: the reader has all
    that it wanted.
    """

    def __init__(self, descriptor: int | None) -> None:
        """Write to a file descriptor; None if standard output is closed."""
        # Writing fails as to a closed one; a folder cannot be written either.
        if descriptor is None or stat.S_ISDIR(os.fstat(descriptor).st_mode):
            descriptor = os.open(os.devnull, os.O_RDONLY)
        self._raw = _Descriptor(descriptor, "w")
        super().__init__(io.BufferedWriter(self._raw), encoding="utf-8", newline="\n")

    def require_writable(self) -> None:
        """Raise OutputError if it is closed or full, so that a scan is not started in vain."""
        self._raw.write(b"")


class _Descriptor(io.FileIO):
    _is_discarded = False

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self._is_discarded:
            return size
        try:
            return os.write(self.fileno(), data)
        except OSError as error:
            self._is_discarded = True  # because the buffers are flushed again when the stream is closed
            # Windows has EINVAL for a pipe without a reader.
            if error.errno == errno.EPIPE or (sys.platform == "win32" and error.errno == errno.EINVAL):
                return size
            raise _output_error(error) from None


class ErrorStream(io.TextIOBase):
    """Text stream to standard error. It discards what cannot be written, so that exit codes do not change."""

    def __init__(self, stream: TextIO | None) -> None:
        """Write to a stream; None if standard error is closed."""
        self._stream = stream

    def write(self, text: str) -> int:
        if self._stream is not None:
            try:
                self._stream.write(text)
                self._stream.flush()
            except (OSError, ValueError):
                self._stream = None
                # Python would flush the rest when it exits, and exit with 120 if that fails.
                _discard_output_of(2)
        return len(text)

    def isatty(self) -> bool:
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        return 2 if self._stream is None else self._stream.fileno()


def open_standard_output() -> StandardOutput:
    """Return a stream to standard output, and discard the output of Blender's C code.

    That output would corrupt a document.
    """
    if sys.stdout is None:
        return StandardOutput(None)
    with contextlib.suppress(OSError):  # of other programs in this process
        sys.stdout.flush()
    descriptor = os.dup(1)
    _discard_output_of(1)
    return StandardOutput(descriptor)


def finish_output(out: TextIO) -> None:
    """Write all that is buffered. Nothing can be printed afterwards.

    Raises OutputError: if `out` is a `StandardOutput` and the text cannot be written, which some devices
        report last.
    """
    if isinstance(out, StandardOutput):
        try:
            out.close()
        except OSError as error:  # network file systems write late
            raise _output_error(error) from None
    else:
        out.flush()


def _output_error(error: OSError) -> OutputError:
    from ..formats import OutputError

    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    return OutputError(f"standard output: cannot be written ({reason})")


def _discard_output_of(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)


_NAMES: dict[int, str] = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

_messages = 2
"""File descriptor of standard error: Blender's importers run while descriptor 2 is redirected."""
_clean_ups: tuple[Callable[[], object], ...] = ()


def prepare_process(*clean_ups: Callable[[], object]) -> None:
    """Open closed standard streams on the null device, and end the process at once on Ctrl-C and SIGTERM.

    Otherwise the next files to be opened would get the numbers of the streams, and Blender's C code would
    print into them.

    clean_ups : Called before a signal ends the process, since `finally` blocks do not run then.
    """
    global _messages, _clean_ups
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # returns the lowest number that is free
    if _messages == 2:
        _messages = os.dup(2)
    _clean_ups = clean_ups
    for number in _NAMES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end_process)


def ignore_late_signals() -> None:
    """Ignore signals from now on if they would end the process: its result is about to replace a file."""
    for number in _NAMES:
        if signal.getsignal(number) is _end_process:
            signal.signal(number, signal.SIG_IGN)


@contextlib.contextmanager
def recorded_signals() -> Iterator[list[str]]:
    """Record the name of the first signal of the block instead of ending the process; the next ends it."""
    names: list[str] = []
    before: dict[int, Any] = {}

    def record(number: int, frame: FrameType | None) -> None:
        usual = before.get(number)
        if not names:
            names.append(_NAMES[number])
        elif callable(usual):
            usual(number, frame)
        else:
            _end_process(number, frame)

    for number in _NAMES:
        before[number] = signal.getsignal(number)
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, record)
    try:
        yield names
    finally:
        for number, handler in before.items():
            # None means a handler that was not set by Python: that of Blender.
            signal.signal(number, signal.default_int_handler if handler is None else handler)


def _end_process(number: int, _frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        # A terminal shows ^C, or the progress of a scan.
        line_end = "\n" if os.isatty(_messages) else ""
        os.write(_messages, f"{line_end}{PROGRAM}: stopped by {_NAMES[number]}\n".encode())
    for clean_up in (*_clean_ups, remove_session_folder):
        with contextlib.suppress(Exception):  # the process ends in any case
            clean_up()
    os._exit(STOPPED)


_parents: list[str] = []
"""The folder that contains Blender's folder, if this process has created one."""


def create_session_folder_parent() -> None:
    """Let bpy as a module create its folder in a folder that is known before it is imported.

    A signal can end the process while bpy is imported, before it has the name of its folder.
    """
    if not _parents:
        with contextlib.suppress(OSError):  # Blender has a folder for this case
            _parents.append(tempfile.mkdtemp(prefix="collision_bounds_"))
            os.environ["TEMP" if sys.platform == "win32" else "TMPDIR"] = _parents[0]


def remove_session_folder() -> None:
    """Remove Blender's folder for temporary files."""
    for parent in _parents:
        shutil.rmtree(parent, ignore_errors=True)
    app = getattr(sys.modules.get("bpy"), "app", None)
    folder = Path(getattr(app, "tempdir", None) or "/")
    # If Blender cannot create a folder of its own, this is the folder of all programs.
    is_temporary = folder.parent.resolve() == Path(tempfile.gettempdir()).resolve()
    if is_temporary and folder.name.startswith("blender_"):
        shutil.rmtree(folder, ignore_errors=True)
