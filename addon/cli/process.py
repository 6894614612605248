"""The process of a command: streams, signals, Blender's folder for temporary files, progress and output.

Imports the standard library only, because the script of the checkout calls it before it imports NumPy. Texts
are written in parts, because a scene can have a million objects.

A signal that is ignored when the process starts stays ignored: a command with `&` in a script ignores Ctrl-C.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from . import PROGRAM, STOPPED

if TYPE_CHECKING:
    import argparse

    from ..core import Progress
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


_INTERVAL = 0.1
"""Seconds between updates: a terminal may be slower than a scan."""
_ESTIMATES_AFTER = 1.0
"""Seconds until the time left is a useful estimate."""
_PARTS_AT_ONCE = 64
"""Parts of a text between updates."""

_Result = TypeVar("_Result")


class ProgressLine:
    """Percentage, frame or phase, and time left, in one line that is rewritten in place.

    written : What is done when the text of a result is written, from 0 to 1.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the current time of `clock`, which returns seconds."""
        # None after the end of the line.
        self._stream: TextIO | None = stream
        self._clock = clock
        self._started = self._next_update = clock()
        self._width = 0
        self.written = 0.0

    def show(self, done: float, frame: float, phase: str = "") -> None:
        """Update the line, unless it was updated a moment ago; a phase is shown instead of the frame.

        done : from 0 to 1
        """
        now = self._clock()
        if self._stream is None or now < self._next_update:
            return
        from ..formats.wording import format_duration

        self._next_update = now + _INTERVAL
        text = f"{done:4.0%}  {phase or f'frame {frame:g}'}"
        elapsed = now - self._started
        if done and elapsed >= _ESTIMATES_AFTER:
            text += f"  {format_duration(elapsed / done * (1 - done))} left"
        print("\r" + text.ljust(self._width), end="", file=self._stream, flush=True)
        self._width = len(text)

    def clear(self) -> None:
        if self._stream is not None and self._width:
            print("\r" + " " * self._width + "\r", end="", file=self._stream, flush=True)
            self._width = 0

    def shown(
        self, parts: Iterable[str], part_count: int, share: float, terminal: TextIO | None
    ) -> Iterator[str]:
        """Yield the parts of a text, and show the progress before every few.

        part_count : about how many parts there are
        share : of what remains of the progress
        terminal : stream of the text; if it is a terminal, the first part that is not empty ends the progress
        """
        begin, width = self.written, (1 - self.written) * share
        ends_line = terminal is not None and terminal.isatty()
        for count, part in enumerate(parts):
            if part and ends_line:
                self.clear()
                self._stream = None
            if not count % _PARTS_AT_ONCE:
                self.show(begin + width * min(count / max(part_count, 1), 1.0), 0.0, "writing")
            yield part
        self.written = begin + width


def run_job(job: Generator[Progress, None, _Result], line: ProgressLine | None) -> _Result:
    """Run a job to its end and return its result; its progress goes to `line`, if it is shown.

    Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once the part of the job that is running has ended.
    """
    from ..scene.blender.private_scene import keeping_open

    place = ""
    results: list[_Result] = []
    with contextlib.ExitStack() as stack:
        # No window shows the file before the job has ended, so private scenes stay for all steps.
        stack.enter_context(keeping_open())
        if line is not None:
            stack.callback(line.clear)
        stack.callback(job.close)
        signals = stack.enter_context(recorded_signals())
        try:
            while not signals:
                progress = next(job)
                phase = "" if progress.phase == "frames" else progress.phase
                place = f" while {phase}" if phase else f" at frame {progress.time:g}"
                if line is not None and not signals:
                    line.show(progress.share, progress.time, phase)
        except StopIteration as stop:
            results.append(stop.value)
    # Checked after the block, because the handlers record signals until its end.
    if signals:
        raise KeyboardInterrupt(f"stopped by {signals[0]}{place}, nothing was written")
    return results[0]


def write_output(
    text: Iterable[str],
    table: Iterable[str],
    options: argparse.Namespace,
    out: TextIO,
    progress: ProgressLine | None = None,
    part_count: int = 1,
) -> None:
    """Write a text to the output file, if there is one, and a table to `out`.

    If the output is standard output, only the text is written there.

    part_count : About how many parts the text and the table have.
    """
    from ..formats import replaced_after
    from ..formats.wording import single_line

    with contextlib.ExitStack() as output_file:
        if progress is not None:
            output_file.callback(progress.clear)
        if options.output == "-":
            table = text
        elif options.output is not None:
            if progress is not None:
                text = progress.shown(text, part_count, 1.0 if options.quiet else 0.5, None)
            output_file.enter_context(replaced_after(Path(options.output), text))
            table = itertools.chain(table, [f"\nWritten: {single_line(options.output)}\n"])
        if options.output == "-" or not options.quiet:
            out.writelines(table if progress is None else progress.shown(table, part_count, 1.0, out))
        # The file is unchanged if standard output is full, or after Ctrl-C.
        finish_output(out)
        ignore_late_signals()
