"""The subject: a record of names without any bpy object, and how it is found again after renaming."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import bpy

from ..blender.instances import InstanceKey
from ..blender.names import full_name_of
from ..blender.overrides import OverrideShape
from ..settings import Axes


class Subject(NamedTuple):
    """One object, instance, loose part or merged collection that gets bounds. Holds no bpy object.

    key : Key that finds it in any frame; of a merged collection, the key of its first member.
    id : Unique among the subjects, and the same in every export of a file.
    name : Name of the object, or "Owner/Object.index" for an instance, each with "/part.index" for a loose
        part, "/bone.name" for the vertices of a bone, or "/shape.index" for one of several overrides; or name
        of the collection.
    kind : Blender's object type, or "COLLECTION" for a merged collection.
    parent : Id of the nearest ancestor that is a subject; of one split by loose parts, the id of its first
        part. The ancestors of a bone are those of the armature, then those of the object.
    part : Number of the loose part, bone or override; None for a whole object.
    members : Keys of the members of a merged collection; empty for any other subject.
    axes : Axes of its box, by the object's own settings.
    override : Kind of the override that replaces its vertices.
    bone : Name of the bone whose vertices it has; empty for the vertices of an object without a bone, None
        for any other subject.
    bone_weight : Least weight of the vertices of its bone, see `parts.bones.bone_rows`; None for any other
        subject.
    """

    key: InstanceKey
    id: str
    name: str
    kind: str
    parent: str | None
    part: int | None = None
    members: tuple[InstanceKey, ...] = ()
    axes: Axes = "checked"
    override: OverrideShape | None = None
    bone: str | None = None
    bone_weight: float | None = None


class Identity(NamedTuple):
    """Identity of a subject that survives renaming, by session_uids; -1 for a missing object.

    owner, shown : session_uid of the object that instances the subject, and of the object that is visible.
    indices : Blender's persistent id of the instance.
    members : Members of a merged subject.
    """

    owner: int
    shown: int
    indices: tuple[int, ...]
    members: tuple[Identity, ...] = ()


def identify_subjects(subjects: Sequence[Subject]) -> tuple[Identity, ...]:
    """Identify the subjects of a result, by the names that their objects have now."""
    uids = {full_name_of(item): item.session_uid for item in bpy.data.objects}

    def identity_of(key: InstanceKey) -> Identity:
        return Identity(uids.get(key[0], -1), uids.get(key[1], -1), key[2])

    return tuple(
        identity_of(subject.key)._replace(members=tuple(map(identity_of, subject.members)))
        for subject in subjects
    )


def with_current_names(subjects: Sequence[Subject], identities: Sequence[Identity]) -> list[Subject]:
    """Subjects with keys of the names that their objects have now, so that they are found by these."""
    names = {item.session_uid: full_name_of(item) for item in bpy.data.objects}

    def current_key(identity: Identity) -> InstanceKey:
        # A missing object gets an empty name, because its own may belong to another object now.
        return names.get(identity.owner, ""), names.get(identity.shown, ""), identity.indices

    return [
        subject._replace(key=current_key(identity), members=tuple(map(current_key, identity.members)))
        for subject, identity in zip(subjects, identities, strict=True)
    ]
