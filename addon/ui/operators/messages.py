"""Texts of the reports that operators give about a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpy.types import Operator

from ...formats import Comparison, Skipped
from ...formats.wording import single_line
from ...scene.colliders.make import CreatedColliders
from ...scene.jobs.result import Result
from ...scene.settings import Selection
from ..result_notes import skipped_by_reason
from ..translation import joined, n_, rpt_, rpt_count, sentences, translated


def empty_result_error(count: int, skipped: Sequence[Skipped], selection: Selection) -> str | None:
    """Return an error text with the remedy if `count` objects is none, else None."""
    if count:
        return None
    if skipped:
        return rpt_("{name}: {reason}", name=skipped[0].name, reason=translated(skipped[0].reason))
    if selection.selected_only:
        return rpt_("No object with geometry is selected: select a mesh, or set Objects to All Visible")
    return rpt_("The scene has no visible objects with geometry")


def bounds_counted(result: Result) -> tuple[str, str]:
    """Return the sentence about a result, for one object and for several: parts have bounds of their own."""
    if len(result.objects) == result.object_count:
        return n_("Bounds of {count} object"), n_("Bounds of {count} objects")
    return n_("{bounds} bounds of {count} object"), n_("{bounds} bounds of {count} objects")


def swept_counted() -> tuple[str, str]:
    """Return the sentence about swept bounds, for one and for several."""
    return (
        n_("{count} swept bound, frames {start:g} to {end:g}"),
        n_("{count} swept bounds, frames {start:g} to {end:g}"),
    )


def partial_result_text(result: Result) -> str:
    """Return where a partial result ends, as text."""
    assert result.partial is not None, "only called with partial results"
    if result.partial.planned_end != result.time.end:
        return rpt_("Stopped at frame {frame:g}: later contacts unknown", frame=result.time.end)
    one = n_("Stopped: {count} contact not verified on meshes")
    many = n_("Stopped: {count} contacts not verified on meshes")
    return rpt_count(result.partial.untested, one, many)


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


def first_and_count(names: Sequence[str], shown: int = 1) -> str:
    """Return the first of names, and how many more there are."""
    first, more = ", ".join(names[:shown]), len(names) - shown
    return rpt_("{first} and {count} more", first=first, count=more) if more > 0 else first


def input_warning_texts(result: Result | CreatedColliders) -> list[str]:
    """Return what Blender did not read or run for a result, each kind as "label: names"."""
    names: dict[str, list[str]] = {}
    for entry in result.warnings:
        text = _WARNING_TEXTS.get(entry.kind, n_("Warnings: {names}"))
        names.setdefault(text, []).append(single_line(entry.name))
    return [rpt_(text, names=first_and_count(entries)) for text, entries in names.items()]


def cleared_contacts_text(before: Result | None) -> list[str]:
    """Return a phrase about contacts that a job has cleared, none if there were none."""
    count = len(before.report.contacts) if before is not None and before.report is not None else 0
    if not count:
        return []
    return [rpt_count(count, "{count} contact cleared (undo)", "{count} contacts cleared (undo)")]


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
