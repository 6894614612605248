"""Parents of subjects: the nearest ancestors that are subjects, by the tree of objects and of bones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import bpy

from ...core.numeric.arrays import Ints
from ..blender.instances import InstanceKey
from ..blender.names import full_name_of, name_of
from ..blender.parts.bones import armature_of, deform_bones
from .candidates import SubjectCandidate, SubjectCandidates
from .subject import Subject

_Bone = tuple[str, str]
"""Full name of an armature, and name of a bone."""


def parent_finder(
    candidates: SubjectCandidates, selected: Ints, ids: Mapping[int, str], scene: bpy.types.Scene
) -> Callable[[SubjectCandidate], str | None]:
    """Make a function that returns the id of the nearest ancestor of a candidate that is selected.

    Ancestors of a bone of a mesh are the bones above it in the same mesh. Then, as of a mesh that bones
    deform, they are the objects whose parents are bones above it, and those of the object. Ancestors of an
    object whose parent is a bone are the first object of this bone, those of bones above it, and then those
    of the armature.

    candidates : All candidates.
    selected : (m,) int64. Rows of the selected ones.
    ids : Ids of rows that are not the name.
    scene : Scene of the objects.
    Returns parent_of : Its result is None for a candidate without such an ancestor.
    """
    return _Parents(candidates, selected, ids, scene).parent_of


def armature_roots(scene: bpy.types.Scene, subjects: Iterable[Subject]) -> dict[str, tuple[str, ...]]:
    """Find the subjects without a parent that are below one armature, or deformed by it.

    scene : Scene of the objects.
    subjects : Subjects with their parents.
    Returns roots : Ids of the subjects by the name of the armature. Only armatures with several such
        subjects.
    """
    if not any(item.type == "ARMATURE" for item in scene.objects):
        return {}
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


class _Parents:
    """Selected candidates by object, by bone of a mesh, and by bone of an armature."""

    def __init__(
        self, candidates: SubjectCandidates, selected: Ints, ids: Mapping[int, str], scene: bpy.types.Scene
    ) -> None:
        self._objects = {full_name_of(item): item for item in scene.objects}
        self._bones_above: dict[str, dict[str, str | None]] = {}
        # The first selected part of an object that is split by loose parts represents it as a parent.
        self._whole: dict[InstanceKey, str] = {}
        self._of_mesh: dict[tuple[InstanceKey, str], str] = {}
        self._of_bone: dict[_Bone, str] = {}
        rows = selected[selected < len(candidates.singles)].tolist()
        entries = {row: candidates.singles[row] for row in rows}
        named = {row: ids.get(row, candidates.names[row]) for row in rows}
        for row, entry in entries.items():
            for key in entry.members or (entry.key,):
                self._whole.setdefault(key, named[row])
            if entry.part is not None and entry.part.bone:
                self._of_mesh[entry.key, entry.part.bone] = named[row]
        if not any(_parent_bone(item) for item in scene.objects):
            return
        for row in sorted(rows, key=named.__getitem__):
            entry = entries[row]
            bone = self._bone_of(entry)
            if bone is not None and not (entry.part is not None and entry.part.bone):
                self._of_bone.setdefault(bone, self._whole[entry.key])

    def parent_of(self, entry: SubjectCandidate) -> str | None:
        """Return the id of the nearest ancestor of a candidate that is selected."""
        for name in entry.part.ancestors if entry.part is not None else ():
            if (entry.key, name) in self._of_mesh:
                return self._of_mesh[entry.key, name]
        found = self._first_of(self._bones_above_skin(entry), entry) if self._of_bone else None
        return self._parent_of_object(entry) if found is None else found

    def _first_of(self, bones: Iterable[_Bone], entry: SubjectCandidate) -> str | None:
        """Return the id of the first subject of several bones that is not that of a candidate."""
        subjects = (self._of_bone.get(bone) for bone in bones)
        return next((found for found in subjects if found not in (None, self._whole.get(entry.key))), None)

    def _parent_of_object(self, entry: SubjectCandidate) -> str | None:
        """Return the id of the nearest ancestor of an object, or of the owner of an instance."""
        name = entry.owner
        if entry.key[2] and (name, name, ()) in self._whole:
            return self._whole[name, name, ()]
        while (item := self._objects.get(name)) is not None and item.parent is not None:
            bone = _parent_bone(item)
            found = None if bone is None else self._first_of(self._chain(bone), entry)
            if found is not None:
                return found
            name = full_name_of(item.parent)
            if (name, name, ()) in self._whole:
                return self._whole[name, name, ()]
        return None

    def _bone_of(self, entry: SubjectCandidate) -> _Bone | None:
        """Bone that an object is below, directly or by objects that are not selected; None without one."""
        if entry.key[2] or entry.members:
            return None
        item = self._objects.get(entry.owner)
        while item is not None and item.parent is not None:
            bone = _parent_bone(item)
            name = full_name_of(item.parent)
            if bone is not None or (name, name, ()) in self._whole:
                return bone
            item = item.parent
        return None

    def _bones_above_skin(self, entry: SubjectCandidate) -> list[_Bone]:
        """Bones above all bones that may deform the vertices of a candidate, the nearest first."""
        item = None if entry.key[2] or entry.members else self._objects.get(entry.owner)
        armature = None if item is None else armature_of(item)
        if item is None or armature is None:
            return []
        names = deform_bones(item) if entry.part is None or not entry.part.bone else [entry.part.bone]
        chains = [list(self._chain((full_name_of(armature), name)))[1:] for name in names]
        return [bone for bone in chains[0] if all(bone in chain for chain in chains[1:])] if chains else []

    def _chain(self, bone: _Bone) -> Iterator[_Bone]:
        """Yield a bone, then those above it."""
        armature, name = bone
        if armature not in self._bones_above:
            data: Any = self._objects[armature].data if armature in self._objects else None
            bones = () if data is None else data.bones
            self._bones_above[armature] = {each.name: each.parent and each.parent.name for each in bones}
        above, current = self._bones_above[armature], name or None
        while current is not None:
            yield armature, current
            current = above.get(current)


def _parent_bone(item: bpy.types.Object) -> _Bone | None:
    """Return the bone that is the parent of an object; None for another parent."""
    if item.parent_type != "BONE" or item.parent is None or item.parent.type != "ARMATURE":
        return None
    return full_name_of(item.parent), item.parent_bone
