"""Run the command line, in this process or as a program.

Starting Blender takes more than a second of processor time, so most tests use `run`.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import IO
from unittest import mock

import pytest

from addon.cli.main import main
from addon.cli.process import open_standard_output
from tests.paths import TOP

SCRIPT = TOP / "scripts" / "collision_bounds.py"

Completed = subprocess.CompletedProcess[str]
Run = Callable[..., Completed]


class _Terminal(io.TextIOWrapper):
    """A stream that looks like a terminal to the command line."""

    def isatty(self) -> bool:
        return True


def run(*arguments: object, on_terminal: bool = False) -> Completed:
    """Run a command in this process.

    Its output is all that reaches the file descriptors, because libraries in C write to those as well.

    on_terminal : whether standard error looks like a terminal
    """
    sys.stdout.flush()
    sys.stderr.flush()
    command = [str(SCRIPT), *map(str, arguments)]
    with _held(1) as output, _held(2) as errors:
        with (
            _stream(1) as stdout,
            _stream(2, _Terminal if on_terminal else io.TextIOWrapper) as stderr,
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
            mock.patch.object(sys, "argv", command),
        ):
            exit_code = main([str(word) for word in arguments], opens_file=True, out=open_standard_output())
        return subprocess.CompletedProcess(command, exit_code, _text_in(output), _text_in(errors))


@contextlib.contextmanager
def _held(descriptor: int) -> Iterator[IO[bytes]]:
    """Let a file descriptor write to a temporary file."""
    with tempfile.TemporaryFile() as file:
        before = os.dup(descriptor)
        os.dup2(file.fileno(), descriptor)
        try:
            yield file
        finally:
            os.dup2(before, descriptor)
            os.close(before)


def _stream(descriptor: int, kind: type[io.TextIOWrapper] = io.TextIOWrapper) -> io.TextIOWrapper:
    """Return a stream that writes to a file descriptor at once."""
    return kind(io.FileIO(descriptor, "w", closefd=False), encoding="utf-8", write_through=True)


def _text_in(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8").replace("\r\n", "\n")


def start(*arguments: object, largest_file: int | None = None) -> Completed:
    """Start the script in a process of its own.

    largest_file : limit of the size of files that the process writes, in bytes
    """

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    return subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        preexec_fn=limit if largest_file else None,
    )


IN_PROCESS_AND_AS_PROGRAM = [
    pytest.param(run, id="in process", marks=pytest.mark.smoke),
    pytest.param(start, id="program", marks=pytest.mark.long),
]
"""Both ways to run a command, for tests that are parametrized by `run`."""
