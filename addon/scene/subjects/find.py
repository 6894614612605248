"""Subjects of a scene, with their ids and names, and objects that are skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.messages import message
from ...core.numeric.arrays import Bools
from ...core.progress import run_to_end
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
from ..settings import Selection
from .candidates import SubjectCandidates, find_subject_candidates
from .parents import ParentFinder
from .selection import matches_names, matches_pattern, owner_filter
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
    # Of the single candidates, then of all instances.
    names, owners = list[str](), list[tuple[str, ...]]()
    for single in candidates.singles:
        names.append(single.name)
        owners.append(tuple(key[0] for key in single.members or (single.key,)))
    for template, indices in candidates.groups:
        names += [f"{template.name}.{number}" for number in range(len(indices))]
        owners += [(template.key[0],)] * len(indices)
    is_selected_by = {each: any(map(is_owner_selected, each)) for each in set(owners)}
    is_selected: Bools = np.fromiter(map(is_selected_by.__getitem__, owners), bool, len(owners))
    for row in np.flatnonzero(is_selected).tolist() if selection.patterns else ():
        is_selected[row] = matches_names(selection, names[row], *owners[row])
    shown = {key[1] for entry in candidates.singles for key in entry.members or (entry.key,) if not key[2]}

    skipped = [
        Skipped(name, reason)
        for owner, name, reason in _without_bounds(scene, depsgraph, candidates.table, shown)
        if is_owner_selected(owner) and matches_names(selection, name, owner)
    ]
    for pattern in selection.patterns:
        rows = np.flatnonzero(is_selected).tolist()
        if not any(matches_pattern(pattern, names[row], *owners[row]) for row in rows):
            raise SceneError(f"object {pattern!r}: {_reason_for_none(scene, pattern, skipped)}")
    subjects = _subjects(candidates, names, is_selected, scene)
    return FoundSubjects(subjects, skipped, candidates.table)


def _reason_for_none(scene: bpy.types.Scene, pattern: str, skipped: Sequence[Skipped]) -> str:
    """Return why a pattern matches no subject."""
    reasons = {entry.reason for entry in skipped if matches_pattern(pattern, entry.name)}
    if reasons == {IS_COLLIDER}:
        return f"{IS_COLLIDER}, which has the bounds"
    if missing := sorted(reasons - _OTHER_REASONS):
        return missing[0]
    if reasons:
        return "is hidden or has no surface; only visible surfaces get bounds"
    return f"no object in scene {name_of(scene)!r} has this name"


def _subjects(
    candidates: SubjectCandidates, names: Sequence[str], is_selected: Bools, scene: bpy.types.Scene
) -> SubjectList:
    """Subjects of the selected candidates, with their ids and parents, sorted by name then id.

    All candidates get an id, so that ids do not depend on the selection.
    """
    singles, groups, _ = candidates
    order, ids = _order_and_ids(SubjectList.of(singles, groups), names)
    singles = [subject._replace(id=ids.get(row, subject.name)) for row, subject in enumerate(singles)]
    parents = ParentFinder(list(compress(singles, is_selected)), scene)
    singles = [single._replace(parent=parents.parent_of(single)) for single in singles]
    groups = [
        InstanceGroup(template._replace(parent=parents.parent_of(template)), indices)
        for template, indices in groups
    ]
    rows = np.array(order, dtype=np.int64)
    return SubjectList.of(singles, groups, ids).taken(rows[is_selected[rows]])


def _order_and_ids(every: SubjectList, names: Sequence[str]) -> tuple[list[int], dict[int, str]]:
    """Return all rows sorted by name, then by id, and the ids that are not the name.

    Where linked files have objects of one name, the later ones are numbered.
    """
    if len(set(names)) == len(names):
        return sorted(range(len(names)), key=names.__getitem__), {}
    counts = Counter(names)

    def precedence(row: int) -> tuple[object, ...]:
        if counts[names[row]] == 1:
            return (names[row],)
        # An object comes before a collection and keeps its id.
        return names[row], bool(every[row].members), every[row].key

    order = sorted(range(len(names)), key=precedence)
    used: set[str] = set()
    ids: dict[int, str] = {}
    for row in order:
        id, number = names[row], 2
        while id in used:
            id, number = f"{names[row]}#{number}", number + 1
        used.add(id)
        if id != names[row]:
            ids[row] = id
    return sorted(order, key=lambda row: (names[row], ids.get(row, names[row]))), ids


def _without_bounds(
    scene: bpy.types.Scene,
    depsgraph: bpy.types.Depsgraph,
    table: InstanceTable[Any],
    shown: Collection[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield the owner's full name, name and reason of what gets no bounds.

    Objects that are hidden, are colliders, or have no surface; objects of background scenes; and what objects
    or instances show together with their surface.
    """
    for item in scene.objects:
        name, full_name = name_of(item), full_name_of(item)
        if full_name in shown:
            continue
        if is_collider(item):
            is_known = is_marked_collider(item) or collider_owner(item) is not None
            yield full_name, name, IS_COLLIDER if is_known else HAS_NAME_OF_COLLIDER
        elif missing := missing_reason(item):
            yield full_name, name, missing
        elif item.type in MESH_LIKE:
            yield full_name, name, HIDDEN
        elif item.type in UNSUPPORTED_REASONS:
            yield full_name, name, UNSUPPORTED_REASONS[item.type]
    for item in background_objects(depsgraph):
        yield full_name_of(item), name_of(item), IN_BACKGROUND
    for owner, name, kind in table.without_surface:
        yield owner, name, UNSUPPORTED_REASONS[kind]
    for item in scene.objects:
        if shows_particles(item) and (name := full_name_of(item)) in shown:
            yield name, name_of(item), PARTICLES_REASON
