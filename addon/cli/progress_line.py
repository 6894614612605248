"""Progress indicator for a terminal: one line, rewritten in place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from ..formats.wording import format_duration

_INTERVAL = 0.1
"""Seconds between updates: a terminal may be slower than a scan."""

_ESTIMATES_AFTER = 1.0
"""Seconds until the time left is a useful estimate."""


class ProgressLine:
    """Percentage, frame or phase, and time left."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at the current time of `clock`, which returns seconds; the line is written to `stream`."""
        self._stream = stream
        self._clock = clock
        self._started = clock()
        self._next_update = self._started
        self._width = 0

    def show(self, done: float, total: float, frame: float, phase: str = "") -> None:
        """Update the line, unless it was updated a moment ago; a phase is shown instead of the frame."""
        now = self._clock()
        if now < self._next_update:
            return
        self._next_update = now + _INTERVAL
        text = f"{done / total:4.0%}  {phase or f'frame {frame:g}'}"
        elapsed = now - self._started
        if done and elapsed >= _ESTIMATES_AFTER:
            text += f"  {format_duration(elapsed / done * (total - done))} left"
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)

    def clear(self) -> None:
        """Clear the line."""
        if self._width:
            self._stream.write("\r" + " " * self._width + "\r")
            self._stream.flush()
            self._width = 0
