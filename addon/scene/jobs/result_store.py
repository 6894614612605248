"""Results of this session, stored outside the .blend file and outside Blender's data.

A scene stores the id of its results in a property. So undo and redo restore the results that belong to the
restored state. Results are dropped when another file is loaded.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from uuid import uuid4

from ...formats import Comparison
from ..settings import ContactSettings, FitSettings
from .pair_separation import SeparationCurve
from .result import Result

KEPT = 32
"""Number of results that are kept: Blender undoes 32 steps by default, so older results cannot return."""


@dataclass(frozen=True)
class Results:
    """Latest results of one scene.

    bounds, contacts : Result or None
    stale : Whether the scene has changed since.
    scan_settings : Settings of the scan that found the contacts.
    source : File that the results were loaded from; empty for results of this scene.
    envelopes : Envelopes of objects that have bounds here.
    envelopes_fit : Settings that the envelopes were fitted with.
    comparison : Comparison of the contacts with a baseline.
    selected_uids : session_uids of the objects that were selected, if the scan checked these only; None for
        all objects.
    lacks_restored_pairs : Whether pairs that the scan ignored are no longer ignored.
    separations : Separation over time of pairs, or the reason why there is none, by indices of subjects.
        Copies share it: they keep the subjects.
    """

    bounds: Result | None = None
    contacts: Result | None = None
    stale: bool = False
    scan_settings: ContactSettings | None = None
    source: str = ""
    envelopes: Result | None = None
    envelopes_fit: FitSettings | None = None
    comparison: Comparison | None = None
    selected_uids: frozenset[int] | None = None
    lacks_restored_pairs: bool = False
    separations: dict[tuple[int, int], SeparationCurve | str] = field(default_factory=dict, compare=False)

    def fresh_envelopes(self, fit: FitSettings) -> Result | None:
        """Envelopes, unless the scene has changed since or they were not fitted with `fit`."""
        fits = self.envelopes_fit is not None and _without_parts(fit) == _without_parts(self.envelopes_fit)
        return self.envelopes if fits and not self.stale else None

    def keeping_envelopes(self, before: Results, fit: FitSettings) -> Results:
        """Copy with the envelopes of earlier results, unless those are out of date."""
        envelopes = before.fresh_envelopes(fit)
        return self if envelopes is None else replace(self, envelopes=envelopes, envelopes_fit=fit)

    def with_envelopes(self, result: Result, fit: FitSettings, stale: bool) -> Results:
        """Copy with envelopes; if an object of theirs is unknown here, results with the envelopes alone."""
        shown = self.contacts or self.bounds
        known = {entry.id for entry in shown.objects} if shown and not (self.stale or stale) else set()
        if known.issuperset(entry.id for entry in result.objects):
            return replace(self, envelopes=result, envelopes_fit=fit)
        objects = tuple(replace(entry, envelope=(), local_envelope=()) for entry in result.objects)
        bounds = replace(result, objects=objects, linear_only=(), linear_ids=())
        return Results(bounds, stale=stale, envelopes=result, envelopes_fit=fit)


def _without_parts(fit: FitSettings) -> FitSettings:
    """Return the settings that envelopes depend on."""
    unused = FitSettings()
    return replace(
        fit, parts=unused.parts, parts_tolerance=unused.parts_tolerance, part_shape=unused.part_shape
    )


_results: OrderedDict[str, Results] = OrderedDict()


def get(identifier: str) -> Results:
    """Return the results of an id; empty results for an unknown id."""
    return _results.get(identifier, Results())


def put(results: Results) -> str:
    """Store results and return their id."""
    identifier = uuid4().hex
    _results[identifier] = results
    while len(_results) > KEPT:
        _results.popitem(last=False)
    return identifier


def set_stale(identifier: str, is_stale: bool) -> None:
    """Mark results as out of date, or as valid again; `scene/live/staleness.py` has the rules."""
    if identifier in _results:
        _results[identifier] = replace(_results[identifier], stale=is_stale)


def clear() -> None:
    """Drop all results, as on loading a file."""
    _results.clear()
