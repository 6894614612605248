"""How far a long job is: one line on a terminal, written over again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

_EVERY = 0.1
"""Seconds from one writing to the next: a terminal may be slower than a scan."""

_TELLS_AFTER = 1.0
"""Seconds until the time left is more than a guess."""


class ProgressLine:
    """Percent, frame and time left, on `stream`; `clock` tells seconds."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._begun = clock()
        self._next = self._begun
        self._width = 0

    def show(self, done: int, total: int, frame: float) -> None:
        """Write how far it is, unless that was done a moment ago."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + _EVERY
        text = f"{done / total:4.0%}  frame {frame:g}"
        passed = now - self._begun
        if done and passed >= _TELLS_AFTER:
            text += f"  {duration(passed / done * (total - done))} left"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Leave an empty line for what comes next."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()


def duration(seconds: float) -> str:
    """Such as 1:05, or 2:00:00."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
