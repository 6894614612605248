"""Texts of the reports that operators give about a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bpy.types import Operator

from ...formats import Skipped
from ...formats.wording import pluralized, single_line
from ...scene.jobs.result import Result
from ...scene.settings import Selection
from ...scene.subjects.find import HIDDEN, IS_COLLIDER


def empty_result_error(count: int, skipped: Sequence[Skipped], selection: Selection) -> str | None:
    """Return an error text with the remedy if `count` objects is none, else None."""
    if count:
        return None
    if skipped:
        return f"{skipped[0].name}: {skipped[0].reason}"
    if selection.selected_only:
        return "No object with geometry is selected: select a mesh, or set Objects to All Visible"
    return "The scene has no visible objects with geometry"


def partial_result_text(result: Result) -> str:
    """Return where a partial result ends, as text."""
    assert result.partial is not None, "only called with partial results"
    if result.partial.planned_end != result.time.end:
        return f"Stopped at frame {result.time.end:g}: later contacts unknown"
    return f"Stopped: {pluralized(result.partial.untested, 'contact')} not verified on meshes"


_WARNING_LABELS = {
    "blockedDriver": "Blocked drivers",
    "blockedScript": "Scripts that were not run",
    "missingData": "Missing data",
    "missingFile": "Missing files",
    "missingLibrary": "Missing libraries",
    "newerFile": "Saved by a newer Blender",
}
"""Labels of the kinds of `InputWarning`, the most serious first."""


def input_warning_texts(result: Result) -> list[str]:
    """Return what Blender did not read or run for a result, each kind as "label: names"."""
    names: dict[str, list[str]] = {}
    for entry in result.warnings:
        names.setdefault(_WARNING_LABELS.get(entry.kind, "Warnings"), []).append(entry.name)
    return [
        f"{label}: {single_line(first)}{f' and {len(remaining)} more' if remaining else ''}"
        for label, (first, *remaining) in names.items()
    ]


def report_result(operator: Operator, result: Result, summary: str) -> None:
    """Report a result with what it lacks; as a warning if it may be wrong."""
    lacks = linear_only_text(result) + skipped_text(result.skipped) + outside_override_text(result)
    warnings = "".join(f". {text}" for text in input_warning_texts(result))
    operator.report({"WARNING"} if warnings or result.partial else {"INFO"}, summary + lacks + warnings)


def outside_override_text(result: Result) -> str:
    """Return the objects with vertices outside their custom shape, as text; that may be intended."""
    names = result.objects_outside_override
    return f", {len(names)} with vertices outside the custom shape ({names[0]})" if names else ""


def skipped_text(skipped: Iterable[Skipped]) -> str:
    """Return the skipped objects that are visible, grouped by reason, as text.

    Hidden objects are not listed, because the user expects them to be skipped.
    """
    names: dict[str, list[str]] = {}
    for entry in skipped:
        if entry.reason not in (HIDDEN, IS_COLLIDER):
            names.setdefault(entry.reason, []).append(entry.name)
    if not names:
        return ""
    groups = [
        f"{first}{f' and {len(remaining)} more' if remaining else ''}: {reason}"
        for reason, (first, *remaining) in names.items()
    ]
    return f", {sum(map(len, names.values()))} skipped ({'; '.join(groups)})"


def linear_only_text(result: Result) -> str:
    """Return the objects whose motion is assumed linear between frames, as text."""
    names = result.linear_only
    return (
        f", {len(names)} assumed linear between frames because of simulations ({names[0]})" if names else ""
    )
