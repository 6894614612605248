"""A report from a file as a result of the scene on show: its objects found again by their ids."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

from ..formats import Reading
from .result import Result
from .selection import Selection
from .subjects import Subject, find_subjects


class LoadedReport(NamedTuple):
    """The result, and the names of what it tells of and the scene does not show."""

    result: Result
    missing: tuple[str, ...]


def loaded_report(scene: bpy.types.Scene, reading: Reading) -> LoadedReport:
    """Match what was read with what `scene`, the one on show, shows now."""
    there, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    by_id = {subject.id: subject for subject in there}
    subjects, missing = [], []
    for entry in reading.objects:
        found = by_id.get(entry.id)
        if found is None:
            missing.append(entry.name)
            # Of this name, so that it is found when it is shown, or comes back.
            found = Subject((entry.name, entry.name, ()), entry.id, entry.name, entry.kind, entry.parent)
        subjects.append(found)
    scanned, number = reading.scanned, {entry.id: index for index, entry in enumerate(reading.objects)}
    shape: Any = scanned.shape or "aabb"
    result = Result(
        reading.objects,
        tuple(subjects),
        reading.skipped,
        reading.origin,
        reading.time,
        reading.scale_length,
        scanned.report,
        shape,
        obstacles=tuple(sorted(number[id] for id in scanned.obstacles)),
        confirmed=tuple(scanned.confirmed),
        partial=reading.partial,
        tracks=reading.tracks,
        straight=reading.straight,
    )
    return LoadedReport(result, tuple(missing))
