"""Texts about a result: what it lacks or assumes, as notes of a panel and as reports of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import bpy
import numpy as np
from bpy.types import Operator

from ..core import Clearance, Contact
from ..core.messages import message
from ..formats import Comparison, Skipped, SkippedPairs
from ..formats.wording import single_line
from ..scene.blender.frames import is_outside_scene
from ..scene.colliders.make import CreatedColliders
from ..scene.errors import SceneError
from ..scene.jobs import result_store
from ..scene.jobs.result import Result
from ..scene.settings import Selection
from ..scene.subjects.find import HIDDEN, IS_COLLIDER
from .texts import iface_, iface_count, joined, n_, rpt_, rpt_count, sentences, translated


class Note(NamedTuple):
    """A note: two or three words, for a line with several notes, and all of it as "label: names"."""

    short: str
    text: str


def notes_on_bounds(results: result_store.Results) -> list[Note]:
    return [] if results.bounds is None else _notes(results.bounds)


def notes_on_contacts(results: result_store.Results, scene: bpy.types.Scene) -> list[Note]:
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
    notes = _note(
        rotating,
        n_("{count} rotating"),
        n_("{count} box grows as it rotates: choose the Shape Oriented Boxes: {names}"),
        n_("{count} boxes grow as they rotate: choose the Shape Oriented Boxes: {names}"),
    )
    notes += _note(
        names_of(report.clearances.take(np.array(sorted(result.grazing), dtype=np.int64))),
        n_("{count} with gap 0"),
        n_("{count} pair touches with gap 0: {names}"),
        n_("{count} pairs touch with gap 0: {names}"),
    )
    counts = result.skipped_pairs
    # Overlaps of objects that never move have a line of their own, and others of these stay apart.
    if counts.keys() - {SkippedPairs.STATIC}:
        short = iface_("{count} pairs skipped", count=sum(counts.values()))
        one, many = n_("{count} pair skipped: {reason}"), n_("{count} pairs skipped: {reason}")
        notes += (
            Note(short, iface_count(counts[reason], one, many, reason=iface_(SkippedPairs(reason).text)))
            for reason in SkippedPairs
            if reason in counts
        )
    return notes


def _note(names: Sequence[str], short: str, one: str, many: str, **values: str) -> list[Note]:
    """Return the note on objects or pairs of these names, with the first of them; none without names."""
    if not names:
        return []
    count, shown = len(names), first_and_count([*map(single_line, names)], 3, iface_)
    return [Note(iface_(short, count=count), iface_count(count, one, many, names=shown, **values))]


def check_not_empty(count: int, skipped: Sequence[Skipped], selection: Selection) -> None:
    """Raise SceneError, with the remedy, if `count` objects is none."""
    if count:
        return
    if skipped:
        raise SceneError(message("{name}: {reason}", name=skipped[0].name, reason=skipped[0].reason))
    if selection.selected_only:
        text = message("No object with geometry is selected: select a mesh, or set Objects to All Visible")
        raise SceneError(text)
    raise SceneError(message("The scene has no visible objects with geometry"))


def bounds_count(result: Result, translate: Callable[..., str] = rpt_count) -> str:
    """Return how many bounds and objects a result has: parts have bounds of their own."""
    return count_of_bounds(len(result.objects), result.object_count, translate)


def count_of_bounds(bounds: int, objects: int, translate: Callable[..., str]) -> str:
    """Return numbers of bounds and objects as text: of objects alone if each has one."""
    one, many = n_("{bounds} bounds of {count} object"), n_("{bounds} bounds of {count} objects")
    if bounds == objects:
        one, many = n_("Bounds of {count} object"), n_("Bounds of {count} objects")
    return translate(objects, one, many, bounds=bounds)


def swept_count(result: Result, translate: Callable[..., str] = rpt_count) -> str:
    """Return how many swept bounds a result has, and their frames."""
    one = n_("{count} swept bound, frames {start:g} to {end:g}")
    many = n_("{count} swept bounds, frames {start:g} to {end:g}")
    return translate(result.envelope_count, one, many, start=result.time.start, end=result.time.end)


def partial_result_text(result: Result) -> str:
    """Return where a partial result ends, as text."""
    return rpt_("Stopped at frame {frame:g}: later contacts unknown", frame=result.time.end)


_WARNING_TEXTS = {
    "backgroundScene": n_("Background scenes omitted: {names}"),
    "blockedDriver": n_("Blocked drivers: {names}"),
    "blockedScript": n_("Scripts that were not run: {names}"),
    "collapsedBone": n_("Bones scaled to nearly 0: {names}"),
    "lateMesh": n_("Without vertices at the first frame: {names}"),
    "missingData": n_("Missing data: {names}"),
    "missingFile": n_("Missing files: {names}"),
    "missingLibrary": n_("Missing libraries: {names}"),
    "newerFile": n_("Saved by a newer Blender: {names}"),
}
"""Texts of the kinds of `InputWarning`, the most serious first."""


def first_and_count(names: Sequence[str], shown: int = 1, translate: Callable[..., str] = rpt_) -> str:
    """Return the first of names, and how many more there are."""
    first, more = ", ".join(names[:shown]), len(names) - shown
    return translate(n_("{first} and {count} more"), first=first, count=more) if more > 0 else first


def input_warning_texts(result: Result | CreatedColliders) -> list[str]:
    """Return what Blender did not read or run for a result, each kind as "label: names"."""
    names: dict[str, list[str]] = {}
    for entry in result.warnings:
        text = _WARNING_TEXTS.get(entry.kind, n_("Warnings: {names}"))
        names.setdefault(text, []).append(single_line(entry.name))
    return [rpt_(text, names=first_and_count(entries)) for text, entries in names.items()]


def report_result(operator: Operator, result: Result, summary: str) -> None:
    """Report a result with what it lacks; as a warning if it may be wrong."""
    parts = [summary]
    if names := result.linear_only:
        text = n_("{count} assumed linear between frames because of simulations ({name})")
        parts.append(rpt_(text, count=len(names), name=names[0]))
    parts += skipped_texts(result.skipped)
    if count := len(result.hidden_names):
        parts.append(rpt_count(count, "{count} hidden object skipped", "{count} hidden objects skipped"))
    if names := result.objects_outside_override:  # which may be intended
        text = n_("{count} with vertices outside the custom shape ({name})")
        parts.append(rpt_(text, count=len(names), name=names[0]))
    warnings = input_warning_texts(result)
    is_warning = bool(warnings) or result.partial is not None
    operator.report({"WARNING" if is_warning else "INFO"}, sentences([joined(parts), *warnings]))


def skipped_texts(skipped: Iterable[Skipped]) -> list[str]:
    """Return a phrase about the skipped objects that are visible, grouped by reason.

    Hidden objects are not listed: `report_result` only counts them, because there can be many.
    """
    names = skipped_by_reason(skipped)
    groups = [
        rpt_("{name}: {reason}", name=first_and_count(entries), reason=translated(reason))
        for reason, entries in names.items()
    ]
    count = sum(map(len, names.values()))
    return [rpt_("{count} skipped ({reasons})", count=count, reasons="; ".join(groups))] if count else []


def baseline_counts(comparison: Comparison) -> str:
    """Return how many contacts are new and gone, compared with the baseline, as text."""
    text = n_("Compared with the baseline: {new} new, {gone} gone, {unchanged} unchanged")
    new, gone = len(comparison.new), len(comparison.gone)
    text = rpt_(text, new=new, gone=gone, unchanged=comparison.unchanged)
    if not comparison.accepted:
        return text
    return joined([text, rpt_("{count} accepted", count=comparison.accepted)])
