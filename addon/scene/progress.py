"""Helpers for jobs that are generators: run one to its end, or yield progress after each part."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from ..core import Progress

_Result = TypeVar("_Result")


def run_to_end(parts: Generator[Any, None, _Result]) -> _Result:
    """Run a job without pauses and return its result."""
    while True:
        try:
            next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result


def with_progress(
    parts: Generator[Any, None, _Result], progress: Progress
) -> Generator[Progress, None, _Result]:
    """Run a job, yield `progress` after each of its parts, and return its result."""
    while True:
        try:
            next(parts)
        except StopIteration as stop:
            result: _Result = stop.value
            return result
        yield progress
