"""Notes of a panel about a result: objects that it lacks, and assumptions that it makes."""

from __future__ import annotations

from collections.abc import Sequence

from ..formats.wording import single_line
from ..scene.jobs import result_store
from ..scene.jobs.result import Result
from ..scene.subjects.find import HIDDEN, IS_COLLIDER
from .translation import iface_, iface_count, n_, translated

_NAMES_SHOWN = 3
"""Number of names in a note."""


def notes_on_bounds(results: result_store.Results) -> list[str]:
    """Return the notes on bounds, each as "label: names"."""
    return [] if results.bounds is None else _notes(results.bounds)


def notes_on_contacts(results: result_store.Results) -> list[str]:
    """Return the notes on contacts, each as "label: names"."""
    result = results.contacts
    if result is None:
        return []
    texts = _notes(result)
    if results.of_selection:
        text = iface_count(
            result.object_count, "{count} selected object checked", "{count} selected objects checked"
        )
        texts.insert(0, text)
    if result.report is not None and result.grazing:
        pairs = [result.report.clearances[index] for index in sorted(result.grazing)]
        names = [f"{result.subjects[pair.a].name} - {result.subjects[pair.b].name}" for pair in pairs]
        text = iface_count(
            len(pairs),
            "{count} pair touches with gap 0: {names}",
            "{count} pairs touch with gap 0: {names}",
            names=_first_names(names),
        )
        texts.insert(0, text)
    return texts


def _notes(result: Result) -> list[str]:
    texts = []
    if names := result.hidden_names:
        text = iface_count(
            len(names),
            "{count} hidden object skipped: {names}",
            "{count} hidden objects skipped: {names}",
            names=_first_names(names),
        )
        texts.append(text)
    names_by_reason: dict[str, list[str]] = {}
    for entry in result.skipped:
        if entry.reason not in (HIDDEN, IS_COLLIDER):
            names_by_reason.setdefault(entry.reason, []).append(entry.name)
    for reason, skipped in names_by_reason.items():
        values = {"names": _first_names(skipped), "reason": translated(reason)}
        texts.append(iface_("{count} skipped: {names}: {reason}", count=len(skipped), **values))
    if names := result.linear_only:
        text = n_("{count} linear between frames: simulated: {names}")
        texts.append(iface_(text, count=len(names), names=_first_names(names)))
    return texts


def _first_names(names: Sequence[str]) -> str:
    """Return the first of the names, and how many more there are."""
    text = ", ".join(single_line(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return iface_("{first} and {count} more", first=text, count=more) if more > 0 else text
