"""Who subjects are, whatever they are called by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy

from .subjects import Subject
from .walk import Key


class Identity(NamedTuple):
    """Who a subject is, also after renaming: session_uids, -1 for what is gone.

    owner, shown : of the object that it is there because of, and the object that is seen
    indices : Blender's persistent id of the instance
    members : those taken as one
    """

    owner: int
    shown: int
    indices: tuple[int, ...]
    members: tuple[Identity, ...] = ()


def identities(subjects: Sequence[Subject]) -> tuple[Identity, ...]:
    """Who the subjects of a result are, by the names that they have now."""
    uids = {item.name_full: item.session_uid for item in bpy.data.objects}

    def of(key: Key) -> Identity:
        return Identity(uids.get(key[0], -1), uids.get(key[1], -1), key[2])

    return tuple(of(subject.key)._replace(members=tuple(map(of, subject.members))) for subject in subjects)


def as_called_now(subjects: Sequence[Subject], who: Sequence[Identity]) -> list[Subject]:
    """The subjects with keys of the names that they have now, to find them by."""
    names = {item.session_uid: item.name_full for item in bpy.data.objects}

    def now(identity: Identity) -> Key:
        # No object is called nothing, as what is gone is: its name may be that of another by now.
        return names.get(identity.owner, ""), names.get(identity.shown, ""), identity.indices

    return [
        replace(subject, key=now(identity), members=tuple(map(now, identity.members)))
        for subject, identity in zip(subjects, who, strict=True)
    ]
