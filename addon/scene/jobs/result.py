"""Result of a job, its conversion to a document, and a document from a file as a result of a scene."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...core import Aabb, ContactReport, Shape
from ...formats import (
    DEFAULT_DECIMALS,
    Convention,
    DocumentContents,
    LoadedDocument,
    Origin,
    Skipped,
    SkippedPairs,
    TimeSettings,
    contacts_table,
    make_document,
    space_for,
)
from ...formats.document.model import DEFAULT_RESPONSE, ObjectColumns
from ...formats.wording import pluralized, valid_text
from ..blender.instances import full_name_of, name_of
from ..blender.missing_inputs import blocked_drivers, input_warnings
from ..blender.object_settings import collision_response, decimal_from_float32, entries_of, meters_per_unit
from ..motion.over_time import NO_SWEEPS, BoneSweeps
from ..settings import Selection, VertexGroup
from ..subjects.find import HIDDEN, armature_roots, find_subjects
from ..subjects.subject import Subject, SubjectList
from .bounds_table import BoundsTable
from .detailed_shapes import ScannedShapes

_ROUNDING = 2.0**-21
"""Part of a coordinate that is its rounding in single precision, and that of the steps to it."""
_TINY = 1e-5
"""Part of the size of an object that is tiny."""
_MOST_ROUNDING = 0.1
"""Gap that is no rounding in scenes of up to 200000 units."""


@dataclass(frozen=True)
class Result(DocumentContents):
    """Result of a job: the contents of its document, and what the scene is needed for.

    Indices in the report are indices of both `subjects` and `objects`. Objects at one frame are made on
    access, because there can be very many.

    subjects : sequence of Subject
    scale_length : Meters per Blender unit.
    linear_only : Names of subjects that an adaptive job could not evaluate between frames, such as
        simulations.
    objects_outside_override : Names of subjects with vertices outside their override.
    rotating : Indices of subjects that rotate, if they were tested as boxes along the world axes.
    sweeps : Points of bones whose bounds hold the vertices at all frames.
    group : Group whose vertices alone are enclosed; None for all vertices, and for a document that was
        read.
    scanned_shapes : Shapes that a scan tested, where `objects` have other ones.
    """

    skipped: tuple[Skipped, ...]
    subjects: Sequence[Subject] = ()
    scale_length: float = 1.0
    linear_only: tuple[str, ...] = ()
    objects_outside_override: tuple[str, ...] = ()
    rotating: tuple[int, ...] = ()
    sweeps: BoneSweeps = NO_SWEEPS
    group: VertexGroup | None = None
    scanned_shapes: ScannedShapes | None = None

    @property
    def report(self) -> ContactReport | None:
        """Report of a scan; None for bounds alone."""
        return None if self.scanned is None else self.scanned.report

    @cached_property
    def ids(self) -> list[str]:
        """Ids of all subjects."""
        if isinstance(self.subjects, SubjectList):
            return self.subjects.columns(np.arange(len(self.subjects)))["id"]
        return [subject.id for subject in self.subjects]

    @cached_property
    def object_count(self) -> int:
        """Number of objects and instances: loose parts, bones and several custom shapes of one count once."""
        return SubjectList.of(self.subjects).object_count

    @cached_property
    def envelope_count(self) -> int:
        """Number of swept bounds."""
        return sum(bool(entry.envelope) for entry in self.objects)

    @cached_property
    def hidden_names(self) -> tuple[str, ...]:
        """Names of hidden objects with geometry, except those of which instances are among the subjects."""
        hidden = [entry.name for entry in self.skipped if entry.reason == HIDDEN]
        if not hidden:
            return ()
        instanced = {subject.key[1] for subject in SubjectList.of(self.subjects).representatives()}
        return tuple(name for name in hidden if name not in instanced)

    @cached_property
    def rotating_in_contacts(self) -> tuple[int, ...]:
        """Indices of the subjects of `rotating` that are in contact with another one, increasing."""
        if not self.rotating or self.report is None:
            return ()
        pairs = self.report.contacts.pairs
        return tuple(np.intersect1d([pairs.a, pairs.b], self.rotating).tolist())

    @cached_property
    def grazing(self) -> frozenset[int]:
        """Indices of near misses whose gap is the rounding of coordinates in single precision.

        A gap within the rounding of the smaller coordinates counts, and of the larger ones if it is also tiny
        for the smaller object: where the objects are at that time is not known here.
        """
        found = []
        for index, near in enumerate(self.report.clearances if self.report else ()):
            if near.gap > _MOST_ROUNDING:
                break  # near misses are ordered by gap
            sides = (self.objects[near.a], self.objects[near.b])
            boxes = [shape for entry in sides for shape in entry.world if isinstance(shape, Aabb)]
            if len(boxes) < 2:
                continue
            extents = [max(abs(box.min).max(), abs(box.max).max()) for box in boxes]
            half = min(float(np.linalg.norm(box.max - box.min)) / 2 for box in boxes)
            allowed = max(min(extents), min(max(extents), half * _TINY / _ROUNDING))
            if near.gap <= _ROUNDING * allowed:
                found.append(index)
        return frozenset(found)

    @property
    def has_pairs(self) -> bool:
        """Return whether any two subjects may touch: bones and custom shapes of one object do not."""
        parts = (subject for subject in self.subjects if subject.part is not None)
        return self.object_count > 1 or any(each.bone is None and each.override is None for each in parts)

    @property
    def has_contacts(self) -> bool:
        """Return whether there is a contact."""
        return self.scanned is not None and len(self.scanned.report.contacts) > 0

    def without_pairs(self, names: Collection[frozenset[str]]) -> Result:
        """Copy without what was found of pairs of objects, given by full names, and of their instances."""
        if self.scanned is None:
            return self
        owners = [subject.key[0] for subject in self.subjects]

        def kept_rows(first: Iterable[int], second: Iterable[int]) -> list[int]:
            pairs = enumerate(zip(first, second, strict=True))
            return [row for row, (i, j) in pairs if frozenset((owners[i], owners[j])) not in names]

        report = self.scanned.report
        contacts, near, static = report.contacts.pairs, report.clearances.pairs, report.static_overlaps
        kept = kept_rows(contacts.a, contacts.b)
        static_kept = kept_rows(*zip(*static, strict=True)) if static else []
        changed = replace(
            report,
            contacts=report.contacts.take(kept),
            clearances=report.clearances.take(kept_rows(near.a, near.b)),
            static_overlaps=tuple(static[row] for row in static_kept),
        )
        accepted = tuple(self.scanned.accepted[index] for index in kept) if self.scanned.accepted else ()
        members = defaultdict[str, list[int]](list)
        for index, owner in enumerate(owners):
            members[owner].append(index)
        dropped = set[frozenset[int]]()
        for pair in names:
            # A pair of an object with itself is one name: its instances.
            a, *other = pair
            both = product(members[a], members[other[0] if other else a])
            dropped |= {frozenset(rows) for rows in both if rows[0] != rows[1]}
        # Those of one row were tested; instances of one object hardly differ in this.
        count = self.skipped_pairs.get(SkippedPairs.IGNORED, 0) + len(dropped)
        skipped = {**self.skipped_pairs, SkippedPairs.IGNORED.value: count}
        scanned = replace(self.scanned, report=changed, accepted=accepted)
        return replace(self, scanned=scanned, skipped_pairs=skipped)

    def with_accepted_pairs(self) -> Result:
        """Copy with the comments of the contacts that are accepted in the file."""
        if self.scanned is None or not len(self.scanned.report.contacts):
            return self
        comments = {frozenset((name, each.name)): each.comment for name, each in entries_of("accepted")}
        accepted: list[str | None] = []
        pairs = self.scanned.report.contacts.pairs
        for both in zip(pairs.a.tolist(), pairs.b.tolist(), strict=True) if comments else ():
            text = comments.get(frozenset(self.subjects[index].key[0] for index in both))
            accepted.append(None if text is None else valid_text(text))
        has_any = any(text is not None for text in accepted)
        return replace(self, scanned=replace(self.scanned, accepted=tuple(accepted) if has_any else ()))

    @property
    def static_overlap_count(self) -> int:
        """Number of pairs that touch but never move, and are no contacts of the report."""
        return len(self.scanned.report.static_overlaps) if self.scanned else 0

    def document(
        self, convention: str | Convention = "blender", decimals: int = DEFAULT_DECIMALS
    ) -> dict[str, Any]:
        """Convert the result to a document in the space of a convention, given itself or by name."""
        objects, scanned = self.objects, self.scanned_shapes
        if scanned is not None and isinstance(objects, BoundsTable):
            table = copy(objects)
            table.scanned = scanned
            objects = table
        elif scanned is not None:
            columns = ObjectColumns.of(objects)
            local, world = scanned.columns(np.arange(len(objects)), columns.translation, columns.rotation)
            objects = list(objects)
            for row, *shapes in zip(local.rows.tolist(), local.shapes, world.shapes, strict=True):
                entry = objects[row]
                both = {"local": (*entry.local, shapes[0]), "world": (*entry.world, shapes[1])}
                objects[row] = replace(entry, **both)
        contents: DocumentContents = replace(self, objects=objects)
        return make_document(contents, space_for(convention, self.scale_length), decimals)

    def contacts_table(self, document: dict[str, Any]) -> str:
        """Convert a document of this result to a table, with a line about overlaps that it does not list."""
        table = contacts_table(document, self.linear_only)
        if count := self.static_overlap_count:
            table += f"\nSkipped {pluralized(count, 'overlap')} of objects that never move.\n"
        return table

    def with_envelopes_of(self, other: Result) -> Result | None:
        """Copy with the envelopes of another result; None if the contacts here are of other frames."""
        span = replace(other.time, reference=self.time.reference)
        if self.report is not None and span != self.time:
            return None
        envelopes = {entry.id: (entry.envelope, entry.local_envelope) for entry in other.objects}
        none: tuple[tuple[Shape, ...], tuple[Shape, ...]] = ((), ())
        pairs = (envelopes.get(entry.id, none) for entry in self.objects)
        # An entry that has them already keeps the numbers of the document that it was read from.
        objects = tuple(
            entry
            if entry.envelope is in_world and entry.local_envelope is local
            else replace(entry, envelope=in_world, local_envelope=local)
            for entry, (in_world, local) in zip(self.objects, pairs, strict=True)
        )
        return replace(self, objects=objects, time=span, linear_ids=other.linear_ids)

    def with_late_warnings(self) -> Result:
        """Copy with the drivers that were first evaluated after `warnings` were found, and are blocked."""
        late = blocked_drivers(bpy.context.evaluated_depsgraph_get())
        return replace(self, warnings=tuple(dict.fromkeys((*self.warnings, *late))))


def result_of(
    scene: bpy.types.Scene, bounded: BoundsTable, span: tuple[float, float, float], reference: float
) -> Result:
    """Create the result of bounds at one frame.

    span : start, end and step of the frames that the job is about
    reference : frame of the bounds
    """
    rate = scene.render.fps / decimal_from_float32(scene.render.fps_base)
    by_name = {full_name_of(item): collision_response(item) for item in bpy.data.objects}
    by_name = {name: response for name, response in by_name.items() if response != DEFAULT_RESPONSE}
    subjects = bounded.subjects
    responses = {
        subject.id: by_name[subject.key[1]]
        for subject in (subjects if by_name else ())
        # A merged collection has the default, whatever its members have.
        if not subject.members and subject.key[1] in by_name
    }
    version = bpy.app.version_string.split()[0]
    has_armature = any(item.type == "ARMATURE" for item in scene.objects)
    return Result(
        bounded,
        tuple(bounded.skipped),
        Origin("Collision Bounds", "", version, Path(bpy.data.filepath).name, name_of(scene)),
        TimeSettings(round(rate, 9), *span, reference),
        subjects=subjects,
        scale_length=meters_per_unit(scene),
        warnings=input_warnings(bpy.context.evaluated_depsgraph_get()),
        responses=responses,
        armature_roots=armature_roots(scene, subjects) if has_armature else {},
    )


def loaded_report(scene: bpy.types.Scene, reading: LoadedDocument) -> tuple[Result, tuple[str, ...]]:
    """Match the objects of a document with the visible objects of the active scene.

    scene : Must be the active scene.
    reading : The document.
    Returns result : Result
    Returns missing : Names of its objects that are not visible in the scene.
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
    return result, tuple(missing)
