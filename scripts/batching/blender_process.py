"""A kept Blender in a process of its own, with limits of time and memory."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

import psutil

from .blender_worker import KEY, PORT, TEMPORARY, THREADS

_WORKER = Path(__file__).resolve().with_name("blender_worker.py")
_START_LIMIT = 120.0
"""Seconds in which Blender must start."""
_INTERVAL = 0.1
"""Seconds between two measurements of the memory of Blender."""
_MEGABYTE = 1024 * 1024
_ONE_THREAD_OF_NUMPY = {"OPENBLAS_NUM_THREADS": "1"}
"""Threads of NumPy's matrix library wait in a loop, which takes processor time from other Blenders.

The matrices of a scan are too small to gain from several threads. A variable of the user has precedence.
"""


class BlenderEndedError(Exception):
    """Blender crashed, or was ended at a limit; the message is the reason."""


class BlenderProcess:
    """A Blender that runs commands one after another."""

    def __init__(self, program: str, threads: int = 0) -> None:
        """Start Blender.

        Parameters
        ----------
        program : str
            Blender, or a Python with bpy.
        threads : int
            Threads in which it evaluates a scene; 0 for one on each core.

        Raises
        ------
        BlenderEndedError
            If it does not start; the message has the last line that it printed.
        """
        self.program = program
        key = secrets.token_bytes(32)
        self._folder = tempfile.TemporaryDirectory(prefix="collision_bounds_")
        self._log = open(Path(self._folder.name) / "log.txt", "w+b")  # noqa: PTH123, SIM115
        listener = Listener(("127.0.0.1", 0), authkey=key)
        variables = (
            _ONE_THREAD_OF_NUMPY
            | os.environ
            | {
                PORT: str(listener.address[1]),
                KEY: key.hex(),
                TEMPORARY: self._folder.name,
                THREADS: str(threads),
            }
        )
        try:
            self._process = subprocess.Popen(
                [program, *_arguments(program, threads)],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=variables,
                start_new_session=True,
            )
        except OSError as error:
            listener.close()
            self._log.close()
            self._folder.cleanup()
            raise BlenderEndedError(f"{program}: cannot be started ({error.strerror})") from None
        self._connection: Connection | None = None
        self.files_done = 0
        try:
            with listener:
                self._connection = _accept(listener, self._process)
            self.version: str = self._receive(_START_LIMIT, float("inf"))["blender"]
        except BaseException as error:
            reason = self._last_line()
            self.end()
            if isinstance(error, (BlenderEndedError, OSError, EOFError)):
                raise BlenderEndedError(f"{program}: did not start ({reason or error})") from None
            raise

    def run(self, arguments: Sequence[str], time_limit: float, memory_limit: float) -> dict[str, Any]:
        """Run one command and return its answer.

        Parameters
        ----------
        arguments : sequence of str
            The command, the file and the options.
        time_limit : float
            Seconds.
        memory_limit : float
            Megabytes.

        Raises
        ------
        BlenderEndedError
            If Blender crashed or exceeded a limit. It has ended then.
        """
        assert self._connection is not None
        self._log.seek(0)
        self._log.truncate()
        try:
            self._connection.send_bytes(json.dumps({"arguments": list(arguments)}).encode())
            answer = self._receive(time_limit, memory_limit)
        except BaseException:
            self.end()
            raise
        self.files_done += 1
        return answer

    @property
    def is_running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    @property
    def megabytes(self) -> float:
        """Memory in use; 0 if the process has ended."""
        try:
            return float(psutil.Process(self._process.pid).memory_info().rss) / _MEGABYTE
        except psutil.Error:
            return 0.0

    def kill(self) -> None:
        """Kill the process and what it has started; a thread that waits in `run` sees its end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()

    def end(self) -> None:
        """Kill the process and close what belongs to it; no other thread may use it at the same time."""
        self.kill()
        self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._log.close()
        self._folder.cleanup()

    def _receive(self, time_limit: float, memory_limit: float) -> dict[str, Any]:
        assert self._connection is not None
        end = time.monotonic() + time_limit
        while not self._connection.poll(_INTERVAL):
            if self._process.poll() is not None:
                raise BlenderEndedError(self._crash())
            if time.monotonic() > end:
                raise BlenderEndedError(f"took longer than {time_limit:g} s")
            if self.megabytes > memory_limit:
                raise BlenderEndedError(f"needed more than {memory_limit:g} MB of memory")
        try:
            answer: dict[str, Any] = json.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            self._process.wait()
            raise BlenderEndedError(self._crash()) from None
        return answer

    def _crash(self) -> str:
        code = self._process.returncode
        text = (
            f"Blender crashed ({signal.Signals(-code).name})" if code < 0 else f"Blender exited with {code}"
        )
        line = self._last_line()
        return f"{text}: {line}" if line else text

    def _last_line(self) -> str:
        self._log.seek(0)
        lines = self._log.read().decode("utf-8", "replace").strip("\0 \n").splitlines()
        return lines[-1][:300] if lines else ""


def _arguments(program: str, threads: int) -> list[str]:
    if Path(program).name.lower().startswith("python"):
        return [str(_WORKER)]
    options = ["--background", "--factory-startup", "--threads", str(threads), "--python-exit-code", "3"]
    return [*options, "--python", str(_WORKER)]


def _accept(listener: Listener, process: subprocess.Popen[bytes]) -> Connection:
    """Accept the connection of a process. Raises BlenderEndedError if the process ends before."""
    found: list[Connection] = []

    def wait() -> None:
        with contextlib.suppress(OSError, EOFError):
            found.append(listener.accept())

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    end = time.monotonic() + _START_LIMIT
    while waiting.is_alive() and process.poll() is None and time.monotonic() < end:
        waiting.join(_INTERVAL)
    if not found:
        raise BlenderEndedError("no connection")
    return found[0]
