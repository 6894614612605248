"""A document from a file as a result for the active scene: its objects are matched by id."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

import bpy

from ...formats import DocumentContents, LoadedDocument
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

    scene : Must be the active scene.
    reading : The document.
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
    contents: dict[str, Any] = {each.name: getattr(reading, each.name) for each in fields(DocumentContents)}
    # A document for glTF does not have the unit scale of its scene.
    result = Result(**contents, subjects=tuple(subjects), scale_length=meters_per_unit(scene))
    return LoadedReport(result, tuple(missing))
