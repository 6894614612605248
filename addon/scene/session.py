"""Results of this session, outside the .blend and outside Blender's own data.

A scene carries the id of its results in a property, so that undo and redo bring back the results that belong
to the state they return to. Results are dropped when another file is loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from uuid import uuid4

from .fitting import FitSettings
from .jobs import ContactSettings
from .result import Result

KEPT = 32
"""Undo reaches back 32 steps by default; results from before that have no way to be shown again."""


@dataclass(frozen=True)
class Results:
    """What one scene shows: its latest bounds, its latest contacts, and whether the scene changed since.

    asked : the settings that contacts were found with
    source : the file that they were loaded from, empty for what was found here
    envelopes : what has the envelopes of objects that have bounds here, fitted by `envelopes_fit`
    """

    bounds: Result | None = None
    contacts: Result | None = None
    stale: bool = False
    asked: ContactSettings | None = None
    source: str = ""
    envelopes: Result | None = None
    envelopes_fit: FitSettings | None = None

    def fresh_envelopes(self, fit: FitSettings) -> Result | None:
        """The envelopes, if nothing has changed since and shapes are still fitted by `fit`."""
        return None if self.stale or fit != self.envelopes_fit else self.envelopes

    def keeping_envelopes(self, before: Results, fit: FitSettings) -> Results:
        """These with the envelopes that were there before, unless those are out of date."""
        envelopes = before.fresh_envelopes(fit)
        return self if envelopes is None else replace(self, envelopes=envelopes, envelopes_fit=fit)

    def with_envelopes(self, result: Result, fit: FitSettings, stale: bool) -> Results:
        """These with envelopes; or, if there are none of all its objects here, those of the result alone."""
        shown = self.contacts or self.bounds
        known = {entry.id for entry in shown.objects} if shown and not (self.stale or stale) else set()
        if known.issuperset(entry.id for entry in result.objects):
            return replace(self, envelopes=result, envelopes_fit=fit)
        return Results(result.without_envelopes(), stale=stale, envelopes=result, envelopes_fit=fit)


_results: OrderedDict[str, Results] = OrderedDict()


def get(identifier: str) -> Results:
    """The results of that id; empty ones when there are none (any more)."""
    return _results.get(identifier, Results())


def put(results: Results) -> str:
    """Keep results and return the id to find them by."""
    identifier = uuid4().hex
    _results[identifier] = results
    while len(_results) > KEPT:
        _results.popitem(last=False)
    return identifier


def mark_stale(identifier: str) -> None:
    """The scene is no longer what the results were made from."""
    if identifier in _results:
        _results[identifier] = replace(_results[identifier], stale=True)


def mark_fresh(identifier: str) -> None:
    """Undo has led back to what the results were made from."""
    if identifier in _results:
        _results[identifier] = replace(_results[identifier], stale=False)


def clear() -> None:
    """Drop everything, as on loading a file."""
    _results.clear()
