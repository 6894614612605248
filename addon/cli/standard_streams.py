"""Standard output and standard error, which may be full, closed or broken.

Imports the standard library only, because the script of the checkout calls it before it imports NumPy.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from ..formats import OutputError


class StandardOutput(io.TextIOWrapper):
    """Text stream to standard output. It raises OutputError if that is full or closed.

    If the reader of a pipe has ended, as in `| head -1`, the remaining text is discarded: the reader has all
    that it wanted.
    """

    def __init__(self, descriptor: int | None) -> None:
        """Write to a file descriptor; None if standard output is closed."""
        self._raw = _Descriptor(descriptor)
        super().__init__(io.BufferedWriter(self._raw), encoding="utf-8", newline="\n")

    def require_writable(self) -> None:
        """Raise OutputError if it is closed or full, so that a scan is not started in vain."""
        self._raw.write(b"")


class _Descriptor(io.RawIOBase):
    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor
        self._is_discarded = False

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._descriptor is not None and os.isatty(self._descriptor)

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self._is_discarded:
            return size
        try:
            if self._descriptor is None:
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return os.write(self._descriptor, data)
        except OSError as error:
            self._is_discarded = True  # because the buffers are flushed again when the stream is closed
            # Windows has EINVAL for a pipe without a reader.
            if error.errno == errno.EPIPE or (sys.platform == "win32" and error.errno == errno.EINVAL):
                return size
            raise _output_error(error) from None

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        super().close()
        if descriptor is not None:
            try:
                os.close(descriptor)
            except OSError as error:  # network file systems write late
                raise _output_error(error) from None


class ErrorStream(io.TextIOBase):
    """Text stream to standard error. It discards what cannot be written, so that exit codes do not change."""

    def __init__(self, stream: TextIO | None) -> None:
        """Write to a stream; None if standard error is closed."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text at once."""
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
        """Return whether the stream is a terminal."""
        return self._stream is not None and self._stream.isatty()

    def fileno(self) -> int:
        """Return the file descriptor."""
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
        out.close()
    else:
        out.flush()


def open_missing_descriptors() -> None:
    """Open closed standard streams on the null device.

    Otherwise the next files to be opened would get their numbers, and Blender's C code would print into them.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # returns the lowest number that is free


def _output_error(error: OSError) -> OutputError:
    from ..formats import OutputError

    reason = "it is closed" if error.errno == errno.EBADF else error.strerror
    return OutputError(f"standard output: cannot be written ({reason})")


def _discard_output_of(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, descriptor)
    os.close(null)
