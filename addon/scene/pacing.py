"""Jobs that work part by part: run at once, or with a pause after each part."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from ..core import Progress

_Found = TypeVar("_Found")


def at_once(parts: Generator[Any, None, _Found]) -> _Found:
    """What a job finds, without a pause."""
    while True:
        try:
            next(parts)
        except StopIteration as stop:
            found: _Found = stop.value
            return found


def paced(parts: Generator[Any, None, _Found], progress: Progress) -> Generator[Progress, None, _Found]:
    """The same with a pause after each part, for whoever waits for progress."""
    while True:
        try:
            next(parts)
        except StopIteration as stop:
            found: _Found = stop.value
            return found
        yield progress
