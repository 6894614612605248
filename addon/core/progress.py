"""Progress of scans and of other long jobs, which are generators, and the kinds of motion between samples."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

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
        Samples evaluated, in the phase "frames"; contacts tested, in the phase "meshes"; thousandths of the
        whole job in the others, which follow one another.
    time : float
        Of the latest sample, in frames.
    phase : {"frames", "meshes", "reading", "fitting", "writing"}
    part : float or None
        Part of the job that is done, where it is known better than by `done`.
    """

    done: int
    total: int
    time: float
    phase: Literal["frames", "meshes", "reading", "fitting", "writing"] = "frames"
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
