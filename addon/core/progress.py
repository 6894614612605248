"""Progress of scans and of other long jobs, which are generators, and the kinds of motion between samples.

A job can be made of others: of phases, of one of several, or of one that may be stopped. A long computation
is a plain function that calls `pause` now and then, and a part of a job by `in_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Semaphore, Thread, local
from time import perf_counter
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

_Part = TypeVar("_Part")
_Progress = TypeVar("_Progress")
_Result = TypeVar("_Result")

MotionKind: TypeAlias = Literal["adaptive", "linear"]
"""Motion between samples: "adaptive" evaluates the scene as often as necessary, "linear" interpolates."""

ContactMotion: TypeAlias = Literal["linear", "sampled", "proven"]
"""Motion from which a contact follows: "linear" between samples was assumed; it was "sampled" between frames
too; or "proven", because the motion of both subjects is known at all times."""


class Progress(NamedTuple):
    """Progress of a long job.

    Attributes
    ----------
    done, total : int
        Samples evaluated, in the phase "frames"; thousandths of the whole job in the others, which follow one
        another.
    time : float
        Of the latest sample, in frames.
    phase : {"frames", "reading", "fitting", "writing"}
    part : float or None
        Part of the job that is done, where it is known better than by `done`.
    """

    done: int
    total: int
    time: float
    phase: Literal["frames", "reading", "fitting", "writing"] = "frames"
    part: float | None = None

    @property
    def share(self) -> float:
        """Part of the job that is done, from 0 to 1."""
        return self.done / self.total if self.part is None else self.part


def run_to_end(parts: Generator[Any, None, _Result]) -> _Result:
    """Run a job without pauses and return its result."""
    while True:
        try:
            next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result


def converted(
    parts: Generator[_Part, None, _Result], progress_of: Callable[[_Part], _Progress]
) -> Generator[_Progress, None, _Result]:
    """Run a job, yield the progress that a function returns after each part, and return its result."""
    while True:
        try:
            part = next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        yield progress_of(part)


_STEP = 0.05
"""Part of what is left of a phase that one of its steps does, where their number is unknown."""


@dataclass
class JobProgress:
    """Part of a whole job that is done, from the progress of its phases: it never falls, nor stands still.

    done : From 0 to 1.
    end : What is done at the end of the phase.
    """

    done: float = 0.0
    end: float = 1.0
    _begin: float = 0.0
    _first: float = 0.0

    def begin_phase(self, end: float, first: float = 0.0) -> None:
        """Begin a phase that lasts until a part `end` of the job is done; its own progress is at `first`."""
        self._begin, self.end, self._first = self.done, end, first

    def track(self, parts: Generator[Progress, None, _Result]) -> Generator[Progress, None, _Result]:
        """Run a phase, yield its progress as that of the job, and return its result."""

        def advanced(progress: Progress) -> Progress:
            if progress.share:
                part = (progress.share - self._first) / max(1 - self._first, 1e-9)
                self.done = max(self.done, self._begin + (self.end - self._begin) * min(part, 1.0))
            else:  # the length of the phase is unknown
                self.done += (self.end - self.done) * _STEP
            return progress._replace(part=self.done)

        return converted(parts, advanced)


def until_stopped(
    parts: Generator[Progress, None, _Result], stops: Callable[[], bool] | None
) -> Generator[Progress, None, _Result | None]:
    """Run a job and return its result; None if `stops` returns True after one of its parts."""
    while True:
        try:
            progress = next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        yield progress
        if stops and stops():
            parts.close()
            return None


def with_progress(
    parts: Generator[Any, None, _Result], progress: Progress
) -> Generator[Progress, None, _Result]:
    """Run one of several equal jobs, yield its progress after each part, and return its result."""
    left = 1.0

    def advanced(_part: Any) -> Progress:
        nonlocal left
        left -= left * _STEP
        return progress._replace(part=(progress.done + 1 - left) / progress.total)

    return converted(parts, advanced)


def scaled(
    parts: Generator[float, None, _Result], begin: float, end: float
) -> Generator[float, None, _Result]:
    """Run a generator of parts from 0 to 1, and yield them as parts from `begin` to `end`."""
    return converted(parts, lambda part: begin + (end - begin) * part)


_SECONDS_AT_ONCE = 0.01
"""Seconds after which a computation pauses, about."""
_running = local()


@contextmanager
def pausing() -> Iterator[None]:
    """Let computations of a job pause that goes on in this block, for a window; else they need no thread."""
    before = getattr(_running, "may_pause", False)
    _running.may_pause = True
    try:
        yield
    finally:
        _running.may_pause = before


def pause() -> None:
    """Let a computation that is run by `in_steps` pause here, if it has run for a while."""
    computation = getattr(_running, "computation", None)
    if computation is not None and perf_counter() >= computation.until:
        computation.wait()


def in_steps(compute: Callable[[], _Result], part: float) -> Generator[float, None, _Result]:
    """Run a computation that calls `pause`, yield `part` at each pause in `pausing`, and return its result.

    Then it runs in a thread, but never at the same time as what runs the generator, so that windows respond
    to long searches without making generators of all of their functions.
    """
    if not getattr(_running, "may_pause", False):
        return compute()
    computation = _Computation(compute)
    try:
        while computation.go_on():
            yield part
    finally:
        computation.close()
    return computation.result()


class _Computation(Generic[_Result]):
    """A function that runs in a thread while another one waits for it."""

    def __init__(self, compute: Callable[[], _Result]) -> None:
        self.until = 0.0
        self._compute = compute
        self._found: list[_Result] = []
        self._error: BaseException | None = None
        self._is_closed = False
        self._may_run, self._has_paused = Semaphore(0), Semaphore(0)
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        _running.computation = self
        try:
            self._begin()
            self._found.append(self._compute())
        except BaseException as error:  # raised again where the result is wanted
            self._error = error
        self._is_closed = True
        self._has_paused.release()

    def _begin(self) -> None:
        self._may_run.acquire()
        if self._is_closed:
            raise GeneratorExit
        self.until = perf_counter() + _SECONDS_AT_ONCE

    def wait(self) -> None:
        """Pause, until the other thread lets this one go on."""
        # What is closed does not wait for anyone, whatever it cleans up.
        if not self._is_closed:
            self._has_paused.release()
            self._begin()

    def go_on(self) -> bool:
        """Run until the next pause; returns False at the end."""
        self._may_run.release()
        self._has_paused.acquire()
        return not self._is_closed

    def close(self) -> None:
        """End the computation, at its next pause if it runs."""
        self._is_closed = True
        self._may_run.release()
        self._thread.join()

    def result(self) -> _Result:
        """Return the result, or raise the error."""
        if self._error is not None:
            raise self._error
        return self._found[0]
