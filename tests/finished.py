"""Run a job to its end. A job is a generator that yields its progress and returns its result."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeVar

_T = TypeVar("_T")


def finished(job: Generator[Any, None, _T], each: Callable[[Any], object] = lambda _progress: None) -> _T:
    """Run a job to its end and return its result. Each yielded value is passed to `each`."""
    while True:
        try:
            progress = next(job)
        except StopIteration as stop:
            return stop.value
        each(progress)
