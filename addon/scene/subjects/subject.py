"""The subject: a record of names, without any bpy object."""

from __future__ import annotations

from dataclasses import dataclass

from ..blender.instances import InstanceKey
from ..blender.overrides import OverrideShape
from ..settings import Axes


@dataclass(frozen=True)
class Subject:
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
