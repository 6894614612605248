"""Subjects of a scene, with their ids and names, and objects that are skipped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.messages import message
from ...core.numeric.arrays import Ints
from ...formats import Skipped
from ..blender.instance_table import InstanceTable
from ..blender.instances import (
    MESH_LIKE,
    PARTICLES_REASON,
    UNSUPPORTED_REASONS,
    background_objects,
    shows_particles,
)
from ..blender.missing_inputs import missing_reason
from ..blender.names import full_name_of, name_of
from ..blender.object_settings import collider_owner, is_collider, is_marked_collider
from ..errors import SceneError
from ..progress import run_to_end
from ..settings import Selection
from .candidates import SubjectCandidate, SubjectCandidates, find_subject_candidates
from .parents import parent_finder
from .selection import matches_names, matches_pattern, owner_filter
from .subject import Subject
from .subject_list import InstanceGroup, SubjectList

HIDDEN = message("hidden in the viewport")
IS_COLLIDER = message("is a collider of another object")
IN_BACKGROUND = message("is in a background scene; link it to this scene to include it")
HAS_NAME_OF_COLLIDER = message("has the name of a collider: rename it to use it as a mesh")

_OTHER_REASONS = {HIDDEN, IS_COLLIDER, PARTICLES_REASON, *UNSUPPORTED_REASONS.values()}
"""Reasons to skip an object of which nothing is missing."""


class FoundSubjects(NamedTuple):
    """Subjects and skipped objects as of `find_subjects`, and all that was visible."""

    subjects: SubjectList
    skipped: list[Skipped]
    table: InstanceTable[Any]


def find_subjects(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> tuple[SubjectList, list[Skipped]]:
    """Find the subjects of a selection at the current frame, and the objects that are skipped.

    A merged collection is selected if any of its members is.

    scene : Scene of the dependency graph.
    depsgraph : Evaluated at the current frame.
    selection : Filter of the visible objects.
    Returns subjects : Sorted by name, then by id. Empty if the scene has none and the selection names none.
    Returns skipped : Selected objects that are hidden, are colliders, or have no surface.
    Raises SceneError: for a collection that does not exist, or a pattern that matches no subject.
    """
    subjects, skipped, _ = run_to_end(find_in_parts(scene, depsgraph, selection))
    return subjects, skipped


def find_in_parts(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> Generator[int, None, FoundSubjects]:
    """Find subjects as `find_subjects` does; yields the number of instances seen after each few thousand."""
    is_owner_selected = owner_filter(scene, selection)
    candidates = yield from find_subject_candidates(scene, depsgraph, selection.weight_of_bones)
    selected = candidates.selected(selection, is_owner_selected)
    shown = {key[1] for entry in candidates.singles for key in entry.members or (entry.key,) if not key[2]}

    def is_selected(name: str, owner: str) -> bool:
        return is_owner_selected(owner) and matches_names(selection, name, owner)

    skipped = list(_skipped(scene, shown, is_selected))
    for owner, name, reason in _without_surface(scene, depsgraph, candidates.table, shown):
        if is_selected(name, owner):
            skipped.append(Skipped(name, reason))
    for pattern in selection.patterns:
        if not any(matches_pattern(pattern, *candidates.names_of(row)) for row in selected.tolist()):
            reasons = {entry.reason for entry in skipped if matches_pattern(pattern, entry.name)}
            if reasons == {IS_COLLIDER}:
                raise SceneError(f"object {pattern!r}: {IS_COLLIDER}, which has the bounds")
            if missing := sorted(reasons - _OTHER_REASONS):
                raise SceneError(f"object {pattern!r}: {missing[0]}")
            if reasons:
                raise SceneError(
                    f"object {pattern!r}: is hidden or has no surface; only visible surfaces get bounds"
                )
            raise SceneError(f"object {pattern!r}: no object in scene {name_of(scene)!r} has this name")
    return FoundSubjects(_subjects(candidates, selected, scene), skipped, candidates.table)


def _subjects(candidates: SubjectCandidates, selected: Ints, scene: bpy.types.Scene) -> SubjectList:
    """Subjects of the selected candidates, with their parents, sorted by name then id."""
    order, ids = candidates.order_and_ids()
    is_selected = np.zeros(len(order), dtype=bool)
    is_selected[selected] = True
    rows = np.array(order, dtype=np.int64)
    rows = rows[is_selected[rows]]
    parent_of = parent_finder(candidates, selected, ids, scene)
    singles = [
        _single(entry, candidates.names[row], ids.get(row, candidates.names[row]), parent_of)
        for row, entry in enumerate(candidates.singles)
    ]
    groups = [
        InstanceGroup(
            *first.key[:2],
            first.instance_name,
            first.kind,
            parent_of(first),
            first.axes,
            first.override,
            keys,
        )
        for first, keys in candidates.groups
    ]
    of_instances = {new: ids[old] for new, old in enumerate(rows.tolist() if ids else ()) if old in ids}
    return SubjectList(groups, singles, *candidates.group_of(rows), of_instances)


def _single(
    entry: SubjectCandidate, name: str, id: str, parent_of: Callable[[SubjectCandidate], str | None]
) -> Subject:
    """Make the subject of a candidate that is in no group."""
    ancestor = None if entry.members and not entry.key[2] else parent_of(entry)
    parent = None if ancestor == id else ancestor  # its own id: a member of the subject itself
    subject = Subject(
        entry.key, id, name, entry.kind, parent, None, entry.members, entry.axes, entry.override
    )
    if entry.part is None:
        return subject
    number, _, bone, weight, override, _ = entry.part
    return replace(subject, part=number, override=override, bone=bone, bone_weight=weight)


def _skipped(
    scene: bpy.types.Scene, shown: Collection[str], is_selected: Callable[[str, str], bool]
) -> Iterator[Skipped]:
    """Yield the selected objects that are hidden, are colliders, or have no surface."""
    for item in scene.objects:
        name, full_name = name_of(item), full_name_of(item)
        if full_name in shown or not is_selected(name, full_name):
            continue
        if is_collider(item):
            is_known = is_marked_collider(item) or collider_owner(item) is not None
            yield Skipped(name, IS_COLLIDER if is_known else HAS_NAME_OF_COLLIDER)
        elif missing := missing_reason(item):
            yield Skipped(name, missing)
        elif item.type in MESH_LIKE:
            yield Skipped(name, HIDDEN)
        elif item.type in UNSUPPORTED_REASONS:
            yield Skipped(name, UNSUPPORTED_REASONS[item.type])


def _without_surface(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    table: InstanceTable[Any],
    shown: Collection[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield the owner's full name, name and reason of what is shown but has no surface in the scene.

    Objects of background scenes, and what objects, or instances, show together with their surface.
    """
    for item in background_objects(depsgraph):
        yield full_name_of(item), name_of(item), IN_BACKGROUND
    for owner, name, kind in table.without_surface:
        yield owner, name, UNSUPPORTED_REASONS[kind]
    for item in scene.objects:
        if shows_particles(item) and (name := full_name_of(item)) in shown:
            yield name, name_of(item), PARTICLES_REASON
