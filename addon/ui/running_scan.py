"""The job that is under way in a window: how far it is, what is left, and whether it was asked to stop."""

from __future__ import annotations

import time
from collections.abc import Callable

from bpy.types import Operator, UILayout

from ..core import Progress
from ..progress_line import duration

_TELLS_AFTER = 1.0
"""Seconds until the time left is more than a guess; and until a second Esc is no slip of the first."""


class RunningScan:
    """Percent, frame and time left of one scan, for contacts or for envelopes; `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.doing = "finding contacts"
        """What is under way, as whoever must wait for it is told."""
        self.drop: Callable[[], None] = end
        """Ends it in the middle, when the extension is switched off."""
        self.was_disturbed = False
        """Whether something was edited meanwhile."""
        self.keeps_part = True
        """Whether there is something to keep when it is stopped: contacts so far, but no part of a bound."""
        self._clock = clock
        self._begun = clock()
        self._stopped: float | None = None
        self._now: Progress | None = None

    def take(self, progress: Progress) -> None:
        """Note how far it is. Meshes are asked at a pace of their own."""
        if self._now is not None and progress.phase != self._now.phase:
            self._begun = self._clock()
        self._now = progress

    def stop(self) -> None:
        """Ask it to look at no more frames."""
        if self._stopped is None:
            self._stopped = self._clock()

    @property
    def is_stopping(self) -> bool:
        """Whether it was asked to stop; what was sampled is still looked at."""
        return self._stopped is not None

    @property
    def may_be_dropped(self) -> bool:
        """Whether it was asked to stop so long ago that asking again means to wait no longer."""
        return self._stopped is not None and self._clock() - self._stopped > _TELLS_AFTER

    @property
    def done(self) -> float:
        """The part of this phase that is done, 0 to 1."""
        return self._now.done / self._now.total if self._now else 0.0

    @property
    def text(self) -> str:
        """Such as "42 %, frame 17, 0:05 left"."""
        if self._now is None:
            return "Starting"
        if self.is_stopping:
            return f"Stopping at frame {self._now.time:g}"
        if self.done >= 1:
            return "All frames read, finishing"
        what = "frame" if self._now.phase == "frames" else "meshes at frame"
        text = f"{self.done:.0%}, {what} {self._now.time:g}"
        passed = self._clock() - self._begun
        if passed >= _TELLS_AFTER and self._now.done:
            text += f", {duration(passed / self.done * (1 - self.done))} left"
        return text

    def draw(self, layout: UILayout) -> None:
        """A bar with the text in it."""
        layout.progress(text=self.text, factor=self.done, type="BAR")


class _State:
    """One scan at a time. A module cannot hold it, since reloading must start afresh."""

    def __init__(self) -> None:
        self.scan: RunningScan | None = None


_state = _State()


def running() -> RunningScan | None:
    """The scan that is under way, if one is."""
    return _state.scan


def begin() -> RunningScan:
    """From now on a scan is under way."""
    _state.scan = RunningScan()
    return _state.scan


def end() -> None:
    """It is over."""
    _state.scan = None


def attach() -> None:
    """No scan is under way."""
    end()


def detach() -> None:
    """Leave no scan behind."""
    if _state.scan is not None:
        _state.scan.drop()
    end()


def lets(operator: type[Operator]) -> bool:
    """For the poll of an operator that must not come in between: whether no scan is under way."""
    scan = running()
    if scan is None:
        return True
    operator.poll_message_set(f"Blender is {scan.doing}: stop that first, or wait for its end")
    return False
