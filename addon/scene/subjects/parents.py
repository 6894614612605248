"""Parents of subjects: the nearest ancestors that are subjects, by the tree of objects and of bones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import bpy

from ..blender.instances import InstanceKey, full_name_of, name_of
from ..blender.parts.mesh_parts import armature_of, deform_bones
from .subject import Subject

_Bone = tuple[str, str]
"""Full name of an armature, and name of a bone."""


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
        self._bones_above: dict[str, dict[str, tuple[_Bone, ...]]] = {}
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
        if subject.members and not subject.key[2]:
            return None
        if subject.bone and (armature := self._armature_of_mesh.get(subject.key[1])) is not None:
            for _, name in self._above(armature, subject.bone):
                if (subject.key, name) in self._of_mesh:
                    return self._of_mesh[subject.key, name]
        name, found = subject.key[0], None
        item = None if subject.key[2] or subject.members else self._objects.get(name)
        if self._of_bone and item is not None and (armature := armature_of(item)) is not None:
            # Bones above all bones that may deform its vertices, the nearest first.
            bones = [subject.bone] if subject.bone else deform_bones(item)
            chains = [self._above(armature, each) for each in bones] or [()]
            common = [bone for bone in chains[0] if all(bone in chain for chain in chains[1:])]
            found = self._first_of(common, subject)
        if found is None and subject.key[2]:
            found = self._whole.get((name, name, ()))
        while found is None and (item := self._objects.get(name)) is not None and item.parent is not None:
            if (parent := _parent_bone(item)) is not None:
                found = self._first_of([parent, *self._above(item.parent, item.parent_bone)], subject)
            name = full_name_of(item.parent)
            found = self._whole.get((name, name, ())) if found is None else found
        return None if found == subject.id else found  # its own: a member of the subject itself

    def _first_of(self, bones: Iterable[_Bone], subject: Subject) -> str | None:
        """Return the id of the first subject of several bones that is not that of the object of another."""
        found = (self._of_bone.get(bone) for bone in bones)
        return next((id for id in found if id not in (None, self._whole.get(subject.key))), None)

    @cached_property
    def _armature_of_mesh(self) -> dict[str, bpy.types.Object]:
        """Armatures that deform objects, by the full names of these, also those that are only instanced."""
        armatures = ((item, armature_of(item)) for item in bpy.data.objects)
        return {full_name_of(item): armature for item, armature in armatures if armature is not None}

    def _above(self, armature: bpy.types.Object, name: str) -> tuple[_Bone, ...]:
        """Return the bones above a bone of an armature, the nearest first."""
        full_name, data = full_name_of(armature), armature.data
        if full_name not in self._bones_above:
            bones: Any = () if data is None else data.bones
            above: dict[str, tuple[_Bone, ...]] = {}
            # Blender lists each bone after its parent. `parent_recursive` would read all ancestors of each.
            for bone in bones:
                parent = bone.parent
                above[bone.name] = () if parent is None else ((full_name, parent.name), *above[parent.name])
            self._bones_above[full_name] = above
        return self._bones_above[full_name].get(name, ())


def _parent_bone(item: bpy.types.Object) -> _Bone | None:
    """Return the bone that is the parent of an object; None for another parent."""
    if item.parent_type != "BONE" or item.parent is None or item.parent.type != "ARMATURE":
        return None
    return full_name_of(item.parent), item.parent_bone
