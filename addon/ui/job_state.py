"""State of the job that is running in a window: progress, time left, and requests to stop.

Operators start and end the job; the overlay, panels and the polls of operators read its state.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from bpy.types import UILayout

from ..core import Progress
from ..formats.wording import format_duration
from .texts import iface_, n_

_RELIABLE_AFTER = 1.0
"""Seconds between two estimates of the time left, and until a second Esc is not an accidental repeat."""
_AGREEMENT = 0.25
"""Part of the time left by which two estimates of it may differ if they are shown."""
_STOPS_WITHIN = 0.5
"""Seconds after which a scan that is stopped drops the frames that are read but not solved."""
_TEXTS = {False: n_("{percent}%, {step}"), True: n_("{percent}%, {step}, {time} left")}
"""Texts of progress, by whether the time left is known."""
_STEPS = {
    "frames": n_("frame {frame:g}"),
    "pairs": n_("pairs"),
    "reading": n_("objects"),
    "fitting": n_("shapes"),
    "writing": n_("writing"),
}
"""Texts of what a job works on. The playhead moves in frames alone."""


class TimeLeft:
    """Estimate of the seconds that are left of a phase, None unless three of successive seconds agree.

    The first frames of a scan can take longer than those that follow.
    """

    def __init__(self, start: float, share: float) -> None:
        """Begin a phase at a time of the clock, with the share of the job that was done then."""
        self._start, self._share, self._compared_at = start, share, start
        self._expected_end = math.inf
        self._agreements = 0

    def update(self, now: float, share: float) -> None:
        """Compare the expected end with that of at least a second ago."""
        left = self._seconds(now, share)
        if left is None or now - self._compared_at < _RELIABLE_AFTER:
            return
        agrees = abs(now + left - self._expected_end) <= _AGREEMENT * left
        self._agreements = self._agreements + 1 if agrees else 0
        self._expected_end, self._compared_at = now + left, now

    def seconds(self, now: float, share: float) -> float | None:
        """Return the seconds that are left at a share of the job, None if they are not known yet."""
        return self._seconds(now, share) if self._agreements >= 2 else None

    def _seconds(self, now: float, share: float) -> float | None:
        done = share - self._share
        return (now - self._start) / done * (1 - share) if done > 0 else None


class RunningJob:
    """State of one job: a contact scan, or the computation of swept bounds. `clock` returns seconds.

    operator : Identifier of the operator whose job it is.
    busy : Message of operators that have to wait, not translated.
    abort : Ends the job without a result, when the extension is disabled.
    was_scene_edited : Whether an object was edited since the job started, so that its result is stale.
    has_partial_result : Whether a stopped job has a result: contacts found so far. Swept bounds of some
        frames are no result.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.operator = "collision_bounds.find_contacts"
        self.busy = n_("Blender is finding contacts: stop it, or wait until it is done")
        self.abort: Callable[[], None] = end
        self.was_scene_edited = False
        self.has_partial_result: bool | None = True
        self._clock = clock
        self._time_left = TimeLeft(clock(), 0.0)
        self._stop_time = math.inf
        self._progress: Progress | None = None
        # A second scan, or the meshes, begin at zero again.
        self._has_samples = False
        self._shown = n_("Starting"), 0.0

    def update(self, progress: Progress) -> None:
        """Store the progress. Each phase has its own speed, so the time left is measured from its start.

        What comes before the first frame is a phase too.
        """
        is_first_sample = progress.done > 0 and not self._has_samples
        if is_first_sample or (self._progress is not None and progress.phase != self._progress.phase):
            self._time_left = TimeLeft(self._clock(), progress.share)
        self._progress = progress
        self._time_left.update(self._clock(), progress.share)
        self._has_samples |= progress.done > 0

    def stop(self) -> None:
        """Request that the job samples no more frames."""
        self._stop_time = min(self._stop_time, self._clock())

    @property
    def is_stopping(self) -> bool:
        """True once `stop` was called. The job still processes the frames that it has sampled."""
        return self._stop_time < math.inf

    @property
    def drops_unsolved(self) -> bool:
        """True if `stop` was called so long ago that the job has to end without what it has not solved."""
        return self._clock() - self._stop_time > _STOPS_WITHIN

    @property
    def has_results(self) -> bool:
        """True if a job that is stopped now has something to keep."""
        return bool(self.has_partial_result) and self._has_samples

    @property
    def can_be_aborted(self) -> bool:
        """True if `stop` was called long enough ago for a second request to abort the job."""
        return self._clock() - self._stop_time > _RELIABLE_AFTER

    @property
    def done(self) -> float:
        """Part of the whole job that is done, from 0 to 1."""
        return self._progress.share if self._progress else 0.0

    @property
    def text(self) -> str:
        """Text of the progress bar, such as "42 %, frame 17, 0:05 left"."""
        if self._progress is None:
            return iface_("Starting")
        if self.is_stopping:
            return iface_("Stopping at frame {frame:g}", frame=self._progress.time)
        left = self._time_left.seconds(self._clock(), self.done)
        return iface_(
            _TEXTS[left is not None],
            percent=math.floor(100 * self.done),
            step=iface_(_STEPS[_step_of(self._progress)], frame=self._progress.time),
            time="" if left is None else format_duration(left),
        )

    @property
    def esc_text(self) -> str:
        if self.can_be_aborted:
            return iface_("Esc again: discard")
        if self.is_stopping:
            return iface_("Stopping")
        return iface_("Esc: stop and keep what is found" if self.has_results else "Esc: stop")

    def show(self) -> None:
        """Let the progress of now be drawn: the same in the panel and in the status bar."""
        self._shown = self.text, self.done

    def draw(self, layout: UILayout) -> None:
        """Draw a progress bar with the text in it, as of the last call of `show`."""
        text, done = self._shown
        layout.progress(text=text, translate=False, factor=done, type="BAR")


def _step_of(progress: Progress) -> str:
    """Return what a job works on. After the last frame of a scan, these are the pairs."""
    is_read = progress.phase == "frames" and 0 < progress.total <= progress.done
    return "pairs" if is_read and progress.share < 1 else progress.phase


_running: list[RunningJob] = []
"""The running job, of which there is at most one."""


def running() -> RunningJob | None:
    return _running[0] if _running else None


def is_stopping() -> bool:
    """Return whether a job is running that is to sample no more frames."""
    return any(job.is_stopping for job in _running)


def drops_unsolved() -> bool:
    """Return whether a job is running that has to end without what it has not solved."""
    return any(job.drops_unsolved for job in _running)


def begin() -> RunningJob:
    _running[:] = [RunningJob()]
    return _running[0]


def end() -> None:
    _running.clear()


def detach() -> None:
    for job in [*_running]:
        job.abort()
    end()
