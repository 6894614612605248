"""Ctrl-C while a job runs: the job stops between its parts, not in the middle of one."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator, Iterator
from types import FrameType
from typing import TYPE_CHECKING

from ..core import Progress
from .progress_line import ProgressLine

if TYPE_CHECKING:
    from ..scene.jobs.result import Result


def run_job(job: Generator[Progress, None, Result], line: ProgressLine | None) -> Result:
    """Run a job to its end and return its result; its progress goes to `line`.

    Raises KeyboardInterrupt after Ctrl-C, once the part of the job that is running has ended.
    """
    try:
        with _collected_interrupts() as interrupts:
            while True:
                progress = next(job)
                if interrupts:
                    raise KeyboardInterrupt(f" at frame {progress.time:g}, nothing was written")
                if line:
                    line.show(progress.done, progress.total, progress.time)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    finally:
        job.close()
        if line:
            line.clear()


@contextlib.contextmanager
def _collected_interrupts() -> Iterator[list[int]]:
    """Collect the signals of Ctrl-C in a list; raise KeyboardInterrupt for the second.

    An exception for the first could be raised in the script of a driver, during a frame change, and be lost
    there. Blender in background mode ignores the first signal, and the second ends Blender without a message.
    So the second raises an exception here.
    """
    received: list[int] = []

    def receive(number: int, frame: FrameType | None) -> None:
        if received:
            signal.default_int_handler(number, frame)
        received.append(number)

    before = signal.signal(signal.SIGINT, receive)
    try:
        yield received
    finally:
        # None means a handler that was not set by Python: that of Blender.
        signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)
