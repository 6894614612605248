"""A document from a file as a result for the active scene: its objects are matched by id."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy

from ...formats import LoadedDocument
from ..blender.object_settings import meters_per_unit
from ..settings import Selection
from ..subjects.find import find_subjects
from ..subjects.subject import Subject
from .result import Result


class LoadedReport(NamedTuple):
    """The result, and names of its objects that are not visible in the scene."""

    result: Result
    missing: tuple[str, ...]


def loaded_report(scene: bpy.types.Scene, reading: LoadedDocument) -> LoadedReport:
    """Match the objects of a document with the visible objects of the active scene.

    Parameters
    ----------
    scene : bpy.types.Scene
        Must be the active scene.
    reading : LoadedDocument
        The document.

    Returns
    -------
    report : LoadedReport
    """
    present, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    by_id = {subject.id: subject for subject in present}
    subjects, missing = [], []
    for entry in reading.objects:
        subject = by_id.get(entry.id)
        if subject is None:
            missing.append(entry.name)
            # Use the object's name as key, so that the object is recognized when it becomes visible again.
            subject = Subject((entry.name, entry.name, ()), entry.id, entry.name, entry.kind, entry.parent)
        subjects.append(subject)
    scanned, index_of = reading.scanned, {entry.id: index for index, entry in enumerate(reading.objects)}
    shape: Any = scanned.shape or "aabb"
    result = Result(
        reading.objects,
        tuple(subjects),
        reading.skipped,
        reading.origin,
        reading.time,
        # A document for glTF does not have the unit scale of its scene.
        meters_per_unit(scene),
        scanned.report,
        shape,
        obstacles=tuple(sorted(index_of[id] for id in scanned.obstacles)),
        confirmed=tuple(scanned.confirmed),
        accepted=tuple(scanned.accepted),
        clearance=scanned.clearance,
        partial=reading.partial,
        tracks=reading.tracks,
        straight=reading.linear_ids,
        warnings=reading.warnings,
        played=reading.played,
        responses=reading.responses,
        skipped_pairs=reading.skipped_pairs,
        armature_roots=reading.armature_roots,
    )
    return LoadedReport(result, tuple(missing))
