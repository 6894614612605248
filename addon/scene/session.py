"""Results of this session, outside the .blend and outside Blender's own data.

A scene carries the id of its results in a property, so that undo and redo bring back the results that belong
to the state they return to. Results are dropped when another file is loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from uuid import uuid4

from .jobs import Result

# Undo reaches back 32 steps by default; results from before that have no way to be shown again.
_KEPT = 32


@dataclass(frozen=True)
class Results:
    """What one scene shows: its latest bounds, its latest contacts, and whether the scene changed since."""

    bounds: Result | None = None
    contacts: Result | None = None
    stale: bool = False


_results: OrderedDict[str, Results] = OrderedDict()


def get(identifier: str) -> Results:
    """The results of that id; empty ones when there are none (any more)."""
    return _results.get(identifier, Results())


def put(results: Results) -> str:
    """Keep results and return the id to find them by."""
    identifier = uuid4().hex
    _results[identifier] = results
    while len(_results) > _KEPT:
        _results.popitem(last=False)
    return identifier


def mark_stale(identifier: str) -> None:
    """The scene is no longer what the results were made from."""
    if identifier in _results:
        _results[identifier] = replace(_results[identifier], stale=True)


def clear() -> None:
    """Drop everything, as on loading a file."""
    _results.clear()
