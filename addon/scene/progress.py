"""Progress of jobs that are made of others: phases, one of several, or one that may be stopped."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from ..core.progress import Progress, converted

_Result = TypeVar("_Result")

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
        return converted(parts, lambda progress: progress._replace(part=self._advance(progress)))

    def _advance(self, progress: Progress) -> float:
        """Part of the job that is done after a step of a phase, of which the length may be unknown."""
        if progress.share:
            part = (progress.share - self._first) / max(1 - self._first, 1e-9)
            self.done = max(self.done, self._begin + (self.end - self._begin) * min(part, 1.0))
        else:
            self.done += (self.end - self.done) * _STEP
        return self.done


def until_stopped(
    parts: Generator[Progress, None, _Result], stops: Callable[[], bool]
) -> Generator[Progress, None, _Result | None]:
    """Run a job and return its result; None if `stops` returns True after one of its parts."""
    while True:
        try:
            progress = next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        yield progress
        if stops():
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
