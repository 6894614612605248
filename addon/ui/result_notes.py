"""Notes of a panel about a result: objects that it lacks, and assumptions that it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import bpy

from ..core import Clearance, Contact
from ..formats import NotVerified, SkippedPairs
from ..formats.wording import single_line
from ..scene.jobs import result_store
from ..scene.jobs.result import Result
from ..scene.subjects.find import HIDDEN, IS_COLLIDER
from .properties.scene import is_outside_scene
from .translation import iface_, iface_count, translated

_NAMES_SHOWN = 3
"""Number of names in a note."""


class Note(NamedTuple):
    """A note: two or three words, for a line with several notes, and all of it as "label: names"."""

    short: str
    text: str


def notes_on_bounds(results: result_store.Results) -> list[Note]:
    """Return the notes on bounds."""
    return [] if results.bounds is None else _notes(results.bounds)


def notes_on_contacts(results: result_store.Results, scene: bpy.types.Scene) -> list[Note]:
    """Return the notes on contacts."""
    result = results.contacts
    if result is None:
        return []
    notes = []
    if results.selected_uids is not None:
        count = result.object_count
        text = iface_count(count, "{count} selected object checked", "{count} selected objects checked")
        notes.append(Note(iface_("{count} selected", count=count), text))
    if not results.source and is_outside_scene(scene, result.time.start, result.time.end):
        values = {"start": scene.frame_start, "end": scene.frame_end}
        text = iface_("Outside the scene's frames: The scene has {start} to {end}", **values)
        notes.append(Note(iface_("Other frames"), text))
    return notes + _notes(result) + _notes_on_pairs(result)


def _notes(result: Result) -> list[Note]:
    """Return the notes on skipped and on simulated objects."""
    notes = []
    if names := result.hidden_names:
        count = len(names)
        text = iface_count(
            count,
            "{count} hidden object skipped: {names}",
            "{count} hidden objects skipped: {names}",
            names=_first_names(names),
        )
        notes.append(Note(iface_("{count} hidden", count=count), text))
    names_by_reason: dict[str, list[str]] = {}
    for entry in result.skipped:
        if entry.reason not in (HIDDEN, IS_COLLIDER):
            names_by_reason.setdefault(entry.reason, []).append(entry.name)
    for reason, skipped in names_by_reason.items():
        values = {"names": _first_names(skipped), "reason": translated(reason)}
        text = iface_("{count} skipped: {names}: {reason}", count=len(skipped), **values)
        notes.append(Note(iface_("{count} skipped", count=len(skipped)), text))
    if names := result.linear_only:
        text = iface_(
            "{count} linear between frames: simulated: {names}", count=len(names), names=_first_names(names)
        )
        notes.append(Note(iface_("{count} simulated", count=len(names)), text))
    return notes


def _notes_on_pairs(result: Result) -> list[Note]:
    """Return the notes on contacts of rotating objects or without verification, and on other pairs."""
    notes: list[Note] = []
    if result.report is None:
        return notes
    if rotating := result.rotating_in_contacts:
        count = len(rotating)
        text = iface_count(
            count,
            "{count} rotates in a world box: Oriented Boxes are closer: {names}",
            "{count} rotate in world boxes: Oriented Boxes are closer: {names}",
            names=_first_names([result.subjects[index].name for index in rotating]),
        )
        notes.append(Note(iface_("{count} rotating", count=count), text))
    unverified = [index for index, each in enumerate(result.confirmed) if isinstance(each, NotVerified)]
    if unverified:
        count = len(unverified)
        names = _names_of_pairs(result, [result.report.contacts[index] for index in unverified])
        text = iface_count(
            count,
            "{count} contact not verified on meshes: {names}",
            "{count} contacts not verified on meshes: {names}",
            names=names,
        )
        notes.append(Note(iface_("{count} not verified", count=count), text))
    if result.grazing:
        pairs = [result.report.clearances[index] for index in sorted(result.grazing)]
        count = len(pairs)
        text = iface_count(
            count,
            "{count} pair touches with gap 0: {names}",
            "{count} pairs touch with gap 0: {names}",
            names=_names_of_pairs(result, pairs),
        )
        notes.append(Note(iface_("{count} with gap 0", count=count), text))
    return notes + _notes_on_skipped_pairs(result.skipped_pairs)


def _notes_on_skipped_pairs(counts: Mapping[str, int]) -> list[Note]:
    """Return a note for each reason why pairs were skipped; in short, they are all the same.

    None if the only reason is that they never move: overlaps of these have a line of their own, and others
    stay apart.
    """
    if not counts.keys() - {SkippedPairs.STATIC}:
        return []
    counts = {reason: counts[reason] for reason in SkippedPairs if reason in counts}
    short = iface_("{count} pairs skipped", count=sum(counts.values()))
    return [
        Note(
            short,
            iface_count(
                count,
                "{count} pair skipped: {reason}",
                "{count} pairs skipped: {reason}",
                reason=iface_(SkippedPairs(reason).text),
            ),
        )
        for reason, count in counts.items()
    ]


def _names_of_pairs(result: Result, pairs: Sequence[Contact | Clearance]) -> str:
    """Return the names of the first of the pairs, and how many more there are."""
    return _first_names(
        [f"{result.subjects[pair.a].name} - {result.subjects[pair.b].name}" for pair in pairs]
    )


def _first_names(names: Sequence[str]) -> str:
    """Return the first of the names, and how many more there are."""
    text = ", ".join(single_line(name) for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return iface_("{first} and {count} more", first=text, count=more) if more > 0 else text
