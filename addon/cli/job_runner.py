"""Runs a job to its end, or until Ctrl-C or SIGTERM, with its progress in a line of a terminal."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import TextIO, TypeVar

from ..core import Progress
from ..formats.wording import format_duration
from .process import recorded_signals

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

    def __init__(self, stream: TextIO | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the current time of `clock`, which returns seconds; without a stream nothing is shown."""
        self._stream = stream
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
        self._next_update = now + _INTERVAL
        text = f"{done:4.0%}  {phase or f'frame {frame:g}'}"
        elapsed = now - self._started
        if done and elapsed >= _ESTIMATES_AFTER:
            text += f"  {format_duration(elapsed / done * (1 - done))} left"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Clear the line."""
        if self._stream is not None and self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
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


def run_job(job: Generator[Progress, None, _Result], line: ProgressLine) -> _Result:
    """Run a job to its end and return its result; its progress goes to `line`.

    Raises KeyboardInterrupt after Ctrl-C or SIGTERM, once the part of the job that is running has ended.
    """
    from ..scene.blender.private_scene import keeping_open

    place = ""
    results: list[_Result] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(keeping_open())  # nobody else looks at the file until the job has ended
        stack.callback(line.clear)
        stack.callback(job.close)
        signals = stack.enter_context(recorded_signals())
        try:
            while not signals:
                progress = next(job)
                phase = "" if progress.phase in ("frames", "meshes") else progress.phase
                place = f" while {phase}" if phase else f" at frame {progress.time:g}"
                if not signals:
                    line.show(progress.share, progress.time, phase)
        except StopIteration as stop:
            results.append(stop.value)
    # Checked after the block, because the handlers record signals until its end.
    if signals:
        raise KeyboardInterrupt(f"stopped by {signals[0]}{place}, nothing was written")
    return results[0]
