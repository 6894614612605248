"""Subjects of a scene, with their ids and names, and objects that are skipped.

Candidates are everything visible that could be a subject: instances of one object in arrays. Parents are
the nearest ancestors that are subjects, by the tree of objects and of bones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress, count
from typing import Any, TypeAlias

import bpy
import numpy as np

from ...core.messages import message
from ...core.numeric.arrays import Bools
from ...core.progress import run_to_end
from ...formats import Skipped
from ..blender.instances import (
    MESH_LIKE,
    PARTICLES_REASON,
    UNSUPPORTED_REASONS,
    InstanceKey,
    InstanceTable,
    VisibleInstance,
    background_objects,
    full_name_of,
    is_made_by_nodes,
    name_of,
    read_instance_table,
)
from ..blender.missing_inputs import missing_reason
from ..blender.object_settings import (
    SETTINGS_PROPERTY,
    bounds_for,
    collider_owner,
    decimal_from_float32,
    has_own_settings,
    is_collider,
    is_marked_collider,
    is_merged_collection,
    object_fit_settings,
    read_overrides,
)
from ..blender.parts.mesh_parts import MeshPart, armature_of, deform_bones, parts_of
from ..errors import SceneError
from ..settings import FitSettings, Selection
from .selection import matches_names, matches_pattern, owner_filter
from .subject import InstanceGroup, Subject, SubjectList

_Bone = tuple[str, str]
"""Full name of an armature, and name of a bone."""


def armature_roots(scene: bpy.types.Scene, subjects: Iterable[Subject]) -> dict[str, tuple[str, ...]]:
    """Find the subjects without a parent that are below one armature, or deformed by it.

    Returns roots : Ids of the subjects by the name of the armature. Only armatures with several such
        subjects.
    """
    objects = {full_name_of(item): item for item in scene.objects}
    roots: dict[str, tuple[str, ...]] = {}
    for subject in subjects:
        item = objects.get(subject.key[0])
        if subject.parent is not None or subject.members or subject.key[2] or item is None:
            continue
        armature = armature_of(item)
        while armature is None and item is not None:
            armature, item = (item if item.type == "ARMATURE" else None), item.parent
        if armature is not None:
            name = name_of(armature)
            roots[name] = (*roots.get(name, ()), subject.id)
    return {name: ids for name, ids in roots.items() if len(ids) > 1}


class ParentFinder:
    """Finds the nearest ancestors of subjects among some of them.

    Ancestors of a bone of a mesh are the bones above it in the same mesh. Then, as of a mesh that bones
    deform, they are the objects whose parents are bones above it, and those of the object. Ancestors of an
    object whose parent is a bone are the first object of this bone, those of bones above it, and then those
    of the armature.
    """

    def __init__(self, selected: Sequence[Subject], scene: bpy.types.Scene) -> None:
        """Prepare to find ancestors among single subjects of a scene, which have ids."""
        self._objects = {full_name_of(item): item for item in scene.objects}
        # The first selected part of an object that is split by loose parts represents it as a parent.
        self._whole: dict[InstanceKey, str] = {}
        self._of_mesh: dict[tuple[InstanceKey, str], str] = {}
        self._of_bone: dict[_Bone, str] = {}
        for subject in selected:
            for key in subject.members or (subject.key,):
                self._whole.setdefault(key, subject.id)
            if subject.bone:
                self._of_mesh[subject.key, subject.bone] = subject.id
        if not any(_parent_bone(item) for item in scene.objects):
            return
        for subject in sorted(selected, key=lambda subject: subject.id):
            if subject.bone or subject.key[2] or subject.members:
                continue
            # The bone that it is below, directly or by objects that are not selected.
            bone: _Bone | None = None
            item = self._objects.get(subject.key[0])
            while item is not None and item.parent is not None:
                bone, name = _parent_bone(item), full_name_of(item.parent)
                if bone is not None or (name, name, ()) in self._whole:
                    break
                item = item.parent
            if bone is not None:
                self._of_bone.setdefault(bone, self._whole[subject.key])

    def parent_of(self, subject: Subject) -> str | None:
        """Return the id of the nearest ancestor; None without one, as for a merged collection."""
        found = next(filter(None, self._ancestors(subject)), None)
        return None if found == subject.id else found  # its own: a member of the subject itself

    def _ancestors(self, subject: Subject) -> Iterator[str | None]:
        """Yield the ids of the ancestors, the nearest first; None for one that is no subject."""
        if subject.members and not subject.key[2]:
            return
        if subject.bone and (armature := self._armature_of_mesh.get(subject.key[1])) is not None:
            for _, name in _bones_above(armature, subject.bone):
                yield self._of_mesh.get((subject.key, name))
        name = subject.key[0]
        item = None if subject.key[2] or subject.members else self._objects.get(name)
        if self._of_bone and item is not None and (armature := armature_of(item)) is not None:
            # Bones above all bones that may deform its vertices, the nearest first.
            bones = [subject.bone] if subject.bone else deform_bones(item)
            chains = [list(_bones_above(armature, each)) for each in bones] or [[]]
            common = [bone for bone in chains[0] if all(bone in chain for chain in chains[1:])]
            yield self._first_of(common, subject)
        if subject.key[2]:
            yield self._whole.get((name, name, ()))
        while (item := self._objects.get(name)) is not None and item.parent is not None:
            if (parent := _parent_bone(item)) is not None:
                yield self._first_of([parent, *_bones_above(item.parent, item.parent_bone)], subject)
            name = full_name_of(item.parent)
            yield self._whole.get((name, name, ()))

    def _first_of(self, bones: Iterable[_Bone], subject: Subject) -> str | None:
        """Return the id of the first subject of several bones that is not that of the object of another."""
        found = (self._of_bone.get(bone) for bone in bones)
        return next((id for id in found if id not in (None, self._whole.get(subject.key))), None)

    @cached_property
    def _armature_of_mesh(self) -> dict[str, bpy.types.Object]:
        """Armatures that deform objects, by the full names of these, also those that are only instanced."""
        armatures = ((item, armature_of(item)) for item in bpy.data.objects)
        return {full_name_of(item): armature for item, armature in armatures if armature is not None}


def _bones_above(armature: bpy.types.Object, name: str) -> Iterator[_Bone]:
    """Yield the bones above a bone of an armature, the nearest first."""
    data: Any = armature.data
    bone, owner = None if data is None else data.bones.get(name), full_name_of(armature)
    while bone is not None and (bone := bone.parent) is not None:
        yield owner, bone.name


def _parent_bone(item: bpy.types.Object) -> _Bone | None:
    """Return the bone that is the parent of an object; None for another parent."""
    if item.parent_type != "BONE" or item.parent is None or item.parent.type != "ARMATURE":
        return None
    return full_name_of(item.parent), item.parent_bone


def find_subject_candidates(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, bone_weight: float | None = None
) -> Generator[int, None, tuple[list[Subject], list[InstanceGroup], InstanceTable]]:
    """Everything visible that could be a subject, without ids and parents, in no order.

    Yields the number of instances seen.

    Returns singles : Objects, their parts, and merged collections.
    Returns groups : Instances of one object under one owner that are no parts.
    """
    collections = _merged_collections(scene)
    table = yield from read_instance_table(depsgraph, lambda item: _role_of(item, collections, bone_weight))
    # Number and template of each group: the first instance in the dependency graph's order.
    groups: dict[tuple[str, str], tuple[int, Subject]] = {}
    group_of = np.full(len(table.kinds) + 1, -1, dtype=np.int64)
    is_alone = np.zeros(len(table.kinds) + 1, dtype=bool)
    for number in dict.fromkeys(table.kind_of.tolist()):
        role = table.kinds[number].details
        if role is None:
            continue
        # Instances that are subjects are grouped if they differ in their persistent ids alone.
        subject, parts, of_merged = role
        if subject.key[2] and of_merged is None and parts is None:
            group_of[number], _ = groups.setdefault(subject.key[:2], (len(groups), subject))
        else:
            is_alone[number] = True
    singles: list[Subject] = []
    merged: dict[tuple[str, str, str], list[InstanceKey]] = defaultdict(list)
    # Instances of one object are numbered in the order of their ids.
    numbers: dict[tuple[str, str], Iterator[int]] = defaultdict(count)
    rows = np.flatnonzero(is_alone[table.kind_of])
    if table.indices.size:
        rows = table.sorted_rows(rows, np.zeros_like(rows))
    for row in rows.tolist():
        (subject, parts, of_merged), key = table.kinds[table.kind_of[row]].details, table.key_of(row)
        if of_merged is not None:
            merged[of_merged].append(key)
            continue
        name = f"{subject.name}.{next(numbers[key[:2]])}" if key[2] else subject.name
        whole = subject._replace(key=key, name=name)
        if parts is None:
            singles.append(whole)
        for part in parts or ():
            of_part = whole._replace(name=f"{name}/{part.name}", part=part.number, override=part.override)
            singles.append(of_part._replace(bone=part.bone, bone_weight=part.bone_weight))
    for (*_, name), keys in merged.items():
        # The members' own settings do not count.
        members = tuple(sorted(keys))
        singles.append(Subject(members[0], "", name, "COLLECTION", None, members=members))
    if not groups:
        return singles, [], table
    group_of = group_of[table.kind_of]
    rows = np.flatnonzero(group_of >= 0)
    ends = np.cumsum(np.bincount(group_of[rows]))
    ids = np.split(table.indices[table.sorted_rows(rows, group_of[rows])], ends[:-1])
    templates = (template for _, template in groups.values())
    return singles, list(map(InstanceGroup, templates, ids)), table


_Role: TypeAlias = tuple[Subject, Sequence[MeshPart] | None, tuple[str, str, str] | None]
"""Role of the instances of a kind: the first of them as a whole, whose name is that of the object, or of an
instance "Owner/Object"; parts that it is split into; names of the merged collection that they are in."""


def _role_of(
    item: VisibleInstance, collections: Mapping[str, tuple[str, str]], bone_weight: float | None
) -> _Role | None:
    """Read the first instance of a kind; None for a collider.

    bone_weight : That of a `Selection`; None if objects are not split by bones.
    """
    key, owner, shown = item.key, item.owner, item.instance.object
    original = shown.original
    if is_collider(original):
        return None
    merged = None
    if key[0] in collections:
        merged = "COLLECTION", *collections[key[0]]
    elif key[2] and owner.instance_type == "COLLECTION" and is_merged_collection(owner.instance_collection):
        merged = key[0], "", name_of(owner)
    name = f"{name_of(owner)}/{name_of(original)}" if key[2] else name_of(original)
    subject = Subject(key, "", name, original.type, None)
    has_settings = has_own_settings(original)
    if merged or is_made_by_nodes(key) or not (has_settings or bone_weight is not None):
        return subject, None, merged
    fit, overrides = object_fit_settings(original, FitSettings()), read_overrides(original)
    parts, bounds = None, bounds_for(original)
    if has_settings:
        settings: Any = getattr(original, SETTINGS_PROPERTY)
        bone_weight = decimal_from_float32(settings.bone_weight) if bounds == "bones" else None
    if bone_weight is not None or bounds == "loose_parts":
        parts = parts_of(shown, fit.modifiers, bone_weight)
    elif len(overrides) > 1:
        of_each = enumerate(overrides)
        parts = [MeshPart(number, f"shape.{number}", override=each.shape) for number, each in of_each]
    override = overrides[0].shape if overrides else None
    return subject._replace(axes=fit.axes, override=override), parts, merged


def _merged_collections(scene: bpy.types.Scene) -> dict[str, tuple[str, str]]:
    """Full name and name of the merged collection that each object is in, by the object's full name.

    Of nested collections this is the outermost, of others the first one in the outliner.
    """
    collection_of: dict[str, tuple[str, str]] = {}
    waiting: list[bpy.types.Collection] = [scene.collection]
    while waiting:
        collection = waiting.pop()
        if is_merged_collection(collection):
            for item in collection.all_objects:
                collection_of.setdefault(full_name_of(item), (full_name_of(collection), name_of(collection)))
        else:
            waiting += [*collection.children][::-1]
    return collection_of


HIDDEN = message("hidden in the viewport")
IS_COLLIDER = message("is a collider of another object")
IN_BACKGROUND = message("is in a background scene; link it to this scene to include it")
HAS_NAME_OF_COLLIDER = message("has the name of a collider: rename it to use it as a mesh")

_OTHER_REASONS = {HIDDEN, IS_COLLIDER, PARTICLES_REASON, *UNSUPPORTED_REASONS.values()}
"""Reasons to skip an object of which nothing is missing."""


def find_subjects(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> tuple[SubjectList, list[Skipped]]:
    """Find the subjects of a selection at the current frame, and the objects that are skipped.

    A merged collection is selected if any of its members is.

    Returns subjects : Sorted by name, then by id. Empty if the scene has none and the selection names none.
    Returns skipped : Selected objects that are hidden, are colliders, or have no surface.
    Raises SceneError: for a collection that does not exist, or a pattern that matches no subject.
    """
    subjects, skipped, _ = run_to_end(find_in_parts(scene, depsgraph, selection))
    return subjects, skipped


def find_in_parts(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, selection: Selection
) -> Generator[int, None, tuple[SubjectList, list[Skipped], InstanceTable]]:
    """Find subjects as `find_subjects` does; yields the number of instances seen after each few thousand.

    Returns subjects, skipped : As of `find_subjects`.
    """
    is_owner_selected = owner_filter(scene, selection)
    singles, groups, table = yield from find_subject_candidates(
        scene, depsgraph, selection.bone_weight if selection.split_by_bones else None
    )
    # Of the single candidates, then of all instances.
    names, owners = list[str](), list[tuple[str, ...]]()
    for single in singles:
        names.append(single.name)
        owners.append(tuple(key[0] for key in single.members or (single.key,)))
    for template, indices in groups:
        names += [f"{template.name}.{number}" for number in range(len(indices))]
        owners += [(template.key[0],)] * len(indices)
    is_selected_by = {each: any(map(is_owner_selected, each)) for each in set(owners)}
    is_selected: Bools = np.fromiter(map(is_selected_by.__getitem__, owners), bool, len(owners))
    for row in np.flatnonzero(is_selected).tolist() if selection.patterns else ():
        is_selected[row] = matches_names(selection, names[row], *owners[row])
    shown = {key[1] for entry in singles for key in entry.members or (entry.key,) if not key[2]}

    skipped = [
        Skipped(name, reason)
        for owner, name, reason in _without_bounds(scene, depsgraph, table, shown)
        if is_owner_selected(owner) and matches_names(selection, name, owner)
    ]
    for pattern in selection.patterns:
        rows = np.flatnonzero(is_selected).tolist()
        if not any(matches_pattern(pattern, names[row], *owners[row]) for row in rows):
            raise SceneError(f"object {pattern!r}: {_reason_for_none(scene, pattern, skipped)}")
    return _subjects(scene, singles, groups, names, is_selected), skipped, table


def _reason_for_none(scene: bpy.types.Scene, pattern: str, skipped: Sequence[Skipped]) -> str:
    reasons = {entry.reason for entry in skipped if matches_pattern(pattern, entry.name)}
    if reasons == {IS_COLLIDER}:
        return f"{IS_COLLIDER}, which has the bounds"
    if missing := sorted(reasons - _OTHER_REASONS):
        return missing[0]
    if reasons:
        return "is hidden or has no surface; only visible surfaces get bounds"
    return f"no object in scene {name_of(scene)!r} has this name"


def _subjects(
    scene: bpy.types.Scene,
    singles: list[Subject],
    groups: list[InstanceGroup],
    names: Sequence[str],
    is_selected: Bools,
) -> SubjectList:
    """Subjects of the selected candidates, with their ids and parents, sorted by name then id.

    All candidates get an id, so that ids do not depend on the selection.
    """
    order, ids = sorted(range(len(names)), key=names.__getitem__), dict[int, str]()
    if len(set(names)) < len(names):
        # Where linked files have objects of one name, the later ones are numbered. An object comes before a
        # collection and keeps its id.
        every, counts, used = SubjectList.of(singles, groups), Counter(names), set[str]()

        def precedence(row: int) -> tuple[object, ...]:
            if counts[names[row]] == 1:
                return (names[row],)
            return names[row], bool(every[row].members), every[row].key

        for row in sorted(order, key=precedence):
            id, number = names[row], 2
            while id in used:
                id, number = f"{names[row]}#{number}", number + 1
            used.add(id)
            if id != names[row]:
                ids[row] = id
        order.sort(key=lambda row: (names[row], ids.get(row, names[row])))
    singles = [subject._replace(id=ids.get(row, subject.name)) for row, subject in enumerate(singles)]
    has_parents = any(item.parent is not None for item in scene.objects)
    if has_parents or groups or any(each.key[2] or each.bone for each in singles):
        parents = ParentFinder(list(compress(singles, is_selected)), scene)
        singles = [single._replace(parent=parents.parent_of(single)) for single in singles]
        groups = [
            InstanceGroup(template._replace(parent=parents.parent_of(template)), indices)
            for template, indices in groups
        ]
    rows = np.array(order, dtype=np.int64)
    return SubjectList.of(singles, groups, ids).taken(rows[is_selected[rows]])


def _without_bounds(
    scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph, table: InstanceTable, shown: Collection[str]
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
    if depsgraph.scene.background_set is not None:
        for item in background_objects(depsgraph):
            yield full_name_of(item), name_of(item), IN_BACKGROUND
    for owner, name, kind in table.without_surface:
        yield owner, name, UNSUPPORTED_REASONS[kind]
    for item in scene.objects:
        modifiers: Any = item.modifiers if len(item.particle_systems) else ()
        shows_particles = any(
            modifier.type == "PARTICLE_SYSTEM"
            and modifier.show_viewport
            # Others are instances of objects, or not shown.
            and modifier.particle_system.settings.render_type not in {"OBJECT", "COLLECTION", "NONE"}
            for modifier in modifiers
        )
        if shows_particles and (name := full_name_of(item)) in shown:
            yield name, name_of(item), PARTICLES_REASON
