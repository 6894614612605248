"""Notes of a panel about a result: objects that it lacks, and assumptions that it makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import bpy
import numpy as np

from ..core import Clearance, Contact
from ..formats import NotVerified, Skipped, SkippedPairs
from ..formats.wording import single_line
from ..scene.jobs import result_store
from ..scene.jobs.result import Result
from ..scene.subjects.find import HIDDEN, IS_COLLIDER
from .properties.scene import is_outside_scene
from .translation import iface_, iface_count, n_, translated

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


def skipped_by_reason(skipped: Iterable[Skipped]) -> dict[str, list[str]]:
    """Return the names of skipped objects by reason, without those that users have hidden, and colliders."""
    names: dict[str, list[str]] = {}
    for entry in skipped:
        if entry.reason not in (HIDDEN, IS_COLLIDER):
            names.setdefault(entry.reason, []).append(entry.name)
    return names


def _notes(result: Result) -> list[Note]:
    """Return the notes on skipped and on simulated objects."""
    hidden = n_("{count} hidden object skipped: {names}"), n_("{count} hidden objects skipped: {names}")
    notes = _note(result.hidden_names, n_("{count} hidden"), *hidden)
    for reason, names in skipped_by_reason(result.skipped).items():
        text, skipped = n_("{count} skipped: {names}: {reason}"), n_("{count} skipped")
        notes += _note(names, skipped, text, text, reason=translated(reason))
    text = n_("{count} linear between frames: simulated: {names}")
    return notes + _note(result.linear_only, n_("{count} simulated"), text, text)


def _notes_on_pairs(result: Result) -> list[Note]:
    """Return the notes on contacts of rotating objects or without verification, and on other pairs."""
    report = result.report
    if report is None:
        return []

    def names_of(pairs: Iterable[Contact | Clearance]) -> list[str]:
        return [f"{result.subjects[pair.a].name} - {result.subjects[pair.b].name}" for pair in pairs]

    rotating = [result.subjects[index].name for index in result.rotating_in_contacts]
    unverified = [index for index, each in enumerate(result.confirmed) if isinstance(each, NotVerified)]
    notes = _note(
        rotating,
        n_("{count} rotating"),
        n_("{count} rotates in a world box: Oriented Boxes are closer: {names}"),
        n_("{count} rotate in world boxes: Oriented Boxes are closer: {names}"),
    )
    notes += _note(
        names_of(report.contacts.take(np.array(unverified, dtype=np.int64))),
        n_("{count} not verified"),
        n_("{count} contact not verified on meshes: {names}"),
        n_("{count} contacts not verified on meshes: {names}"),
    )
    notes += _note(
        names_of(report.clearances.take(np.array(sorted(result.grazing), dtype=np.int64))),
        n_("{count} with gap 0"),
        n_("{count} pair touches with gap 0: {names}"),
        n_("{count} pairs touch with gap 0: {names}"),
    )
    return notes + _notes_on_skipped_pairs(result.skipped_pairs)


def _notes_on_skipped_pairs(counts: Mapping[str, int]) -> list[Note]:
    """Return a note for each reason why pairs were skipped; in short, they are all the same.

    None if the only reason is that they never move: overlaps of these have a line of their own, and others
    stay apart.
    """
    if not counts.keys() - {SkippedPairs.STATIC}:
        return []
    short = iface_("{count} pairs skipped", count=sum(counts.values()))
    one, many = n_("{count} pair skipped: {reason}"), n_("{count} pairs skipped: {reason}")
    return [
        Note(short, iface_count(counts[reason], one, many, reason=iface_(SkippedPairs(reason).text)))
        for reason in SkippedPairs
        if reason in counts
    ]


def _note(names: Sequence[str], short: str, one: str, many: str, **values: str) -> list[Note]:
    """Return the note on objects or pairs of these names, with the first of them; none without names."""
    if not names:
        return []
    shown, more = ", ".join(map(single_line, names[:_NAMES_SHOWN])), len(names) - _NAMES_SHOWN
    if more > 0:
        shown = iface_("{first} and {count} more", first=shown, count=more)
    count = len(names)
    return [Note(iface_(short, count=count), iface_count(count, one, many, names=shown, **values))]
