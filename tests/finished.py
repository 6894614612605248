"""Running a job, which yields its progress and returns its result, to the end."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")


def finished(job: Generator[Any, None, _T], each: Callable[[Any], object] = lambda _progress: None) -> _T:
    """What the job returns. `each` is called with all that it yields before."""
    while True:
        try:
            progress = next(job)
        except StopIteration as stop:
            return stop.value
        each(progress)
