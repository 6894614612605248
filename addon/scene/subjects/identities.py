"""Subjects that are found again after their objects were renamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy

from ..blender.instances import InstanceKey
from ..blender.names import full_name_of
from .subject import Subject


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
        replace(subject, key=current_key(identity), members=tuple(map(current_key, identity.members)))
        for subject, identity in zip(subjects, identities, strict=True)
    ]
