"""Ctrl-C and SIGTERM: they end the process at once, or a scan after its current frame.

Uses the standard library only, because the script of the checkout handles signals before it imports NumPy.
A signal that is ignored when the process starts stays ignored: a command with `&` in a script ignores Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from . import PROGRAM, STOPPED

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}

_messages: int | None = None
"""File descriptor of standard error: Blender's importers run while descriptor 2 is redirected."""
_clean_ups: list[Callable[[], object]] = []


def end_process_on_signals() -> None:
    """From now on, end the process at once on Ctrl-C and SIGTERM.

    An exception could be raised in a start-up script of Blender or in the script of a driver, and be lost
    there.
    """
    global _messages
    if _messages is None:
        with contextlib.suppress(OSError):  # it is closed
            _messages = os.dup(2)
    for number in _NAMES:
        _set_handler(number, _end_process)


def before_end(clean_up: Callable[[], object]) -> None:
    """Call a function before a signal ends the process; `finally` blocks do not run then."""
    if clean_up not in _clean_ups:
        _clean_ups.append(clean_up)


def ignore_late_signals() -> None:
    """Ignore signals from now on if they would end the process: its result is about to replace a file."""
    for number in _NAMES:
        if signal.getsignal(number) is _end_process:
            signal.signal(number, signal.SIG_IGN)


class StopRequest:
    """First signal of a scan; false without one. `str` returns its name."""

    def __init__(self) -> None:
        self._number: int | None = None

    def __bool__(self) -> bool:
        return self._number is not None

    def __str__(self) -> str:
        return _NAMES[signal.Signals(self._number)] if self._number is not None else ""

    def record(self, number: int) -> None:
        """Record a signal."""
        self._number = number


@contextlib.contextmanager
def recorded_stop_request() -> Iterator[StopRequest]:
    """Record the first signal of the block instead of ending the process; the second has its usual effect.

    An exception for the first could be raised in the script of a driver, during a frame change, and be lost
    there.
    """
    request = StopRequest()
    before: dict[signal.Signals, Any] = {}

    def record(number: int, frame: FrameType | None) -> None:
        usual = before.get(signal.Signals(number))
        if not request:
            request.record(number)
        elif callable(usual):
            usual(number, frame)
        else:
            _end_process(number, frame)

    for number in _NAMES:
        before[number] = _set_handler(number, record)
    try:
        yield request
    finally:
        for number, handler in before.items():
            # None means a handler that was not set by Python: that of Blender.
            signal.signal(number, signal.default_int_handler if handler is None else handler)


def _set_handler(number: signal.Signals, handler: Callable[[int, FrameType | None], None]) -> Any:
    """Handle a signal, unless it is ignored. Return the handler before."""
    before = signal.getsignal(number)
    if before is not signal.SIG_IGN:
        signal.signal(number, handler)
    return before


def _end_process(number: int, _frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):
        descriptor = 2 if _messages is None else _messages
        # A terminal shows ^C, or the progress of a scan.
        line_end = "\n" if os.isatty(descriptor) else ""
        name = _NAMES[signal.Signals(number)]
        os.write(descriptor, f"{line_end}{PROGRAM}: stopped by {name}\n".encode())
    for clean_up in _clean_ups:
        with contextlib.suppress(Exception):  # the process ends in any case
            clean_up()
    os._exit(STOPPED)
