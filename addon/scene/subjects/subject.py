"""The subject: a record of names without any bpy object, and how it is found again after renaming.

Lists have very many subjects in little memory: instances of one object share all that is equal. A log has
those that samples are without, and instances that appear later, with the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.messages import message
from ...core.numeric.arrays import Ints
from ...formats import Skipped
from ..blender.instances import InstanceKey, full_name_of, used_indices
from ..blender.object_settings import OverrideShape
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
    bone_weight : Least weight of the vertices of its bone, see `bone_rows`; None for any other
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


class InstanceGroup(NamedTuple):
    """Instances of one object under one owner, sorted by their persistent ids.

    template : The first of them. Its name is that of each without its number: "Owner/Object".
    indices : (n, k) int64. Persistent ids, filled up with NO_INDEX; k is the same for all groups of a list.
    """

    template: Subject
    indices: NDArray[np.int64]


@dataclass(eq=False, repr=False)
class SubjectList(Sequence[Subject]):
    """Subjects as a sequence, each made on access. An instance takes some 20 bytes.

    _groups : All instances that share an object and an owner.
    _singles : All other subjects.
    _group_of : (n,) int32. Group of each row; -1 for a single subject.
    _numbers : (n,) int32. Number of each row in its group, or in `_singles`.
    _ids : Ids by row of instances whose id is not their name.
    """

    _groups: Sequence[InstanceGroup]
    _singles: Sequence[Subject]
    _group_of: NDArray[np.int32]
    _numbers: NDArray[np.int32]
    _ids: Mapping[int, str]

    @classmethod
    def of(
        cls,
        subjects: Sequence[Subject],
        groups: Sequence[InstanceGroup] = (),
        ids: Mapping[int, str] = MappingProxyType({}),
    ) -> SubjectList:
        """List single subjects, then all instances of groups; a `SubjectList` is returned as it is."""
        if isinstance(subjects, SubjectList):
            return subjects
        sizes = [len(subjects), *(len(group.indices) for group in groups)]
        group_of = np.repeat(np.arange(-1, len(groups), dtype=np.int32), sizes)
        numbers = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
        return cls(groups, subjects, group_of, numbers, ids)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        row = range(len(self))[index]
        if isinstance(row, range):
            return [self[each] for each in row]
        number = self._numbers[row]
        if self._group_of[row] < 0:
            return self._singles[number]
        template = self._groups[self._group_of[row]].template
        name = f"{template.name}.{number}"
        return template._replace(key=self._key_of(row), id=self._ids.get(row, name), name=name)

    def _key_of(self, row: int) -> InstanceKey:
        number = self._numbers[row]
        if self._group_of[row] < 0:
            key: InstanceKey = self._singles[number].key
            return key
        template, indices = self._groups[self._group_of[row]]
        return *template.key[:2], used_indices(indices[number])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # like a list

    @property
    def object_count(self) -> int:
        """Number of objects and instances: parts of one, of any kind, count once."""
        singles = self._numbers[self._group_of < 0].tolist()
        return len(self) - len(singles) + len({self._singles[number].key for number in singles})

    def taken(self, rows: Ints) -> SubjectList:
        """Return the subjects of some rows (m,), in their order."""
        ids = {
            new: self._ids[old]
            for new, old in enumerate(rows.tolist() if self._ids else ())
            if old in self._ids
        }
        return SubjectList(self._groups, self._singles, self._group_of[rows], self._numbers[rows], ids)

    def representatives(self) -> list[Subject]:
        """Return the single subjects and one of each group: all that differ in more than key, id and name."""
        _, first = np.unique(self._group_of, return_index=True)
        return [self[row] for row in np.union1d(first, np.flatnonzero(self._group_of < 0)).tolist()]

    def singles(self) -> Iterator[tuple[int, Subject]]:
        """Yield the rows and subjects that are in no group."""
        for row in np.flatnonzero(self._group_of < 0).tolist():
            yield row, self._singles[self._numbers[row]]

    def instance_groups(self) -> tuple[Sequence[InstanceGroup], Ints]:
        """Return the groups of instances.

        Returns groups : All of them, which may have instances that are not in this list.
        Returns rows : (n,) int. Row of each instance of one group after the other; -1 for one that is not in
            this list.
        """
        starts = np.cumsum([0, *(len(group.indices) for group in self._groups)])
        inside = np.flatnonzero(self._group_of >= 0)
        rows = np.full(starts[-1], -1, dtype=np.int64)
        rows[starts[self._group_of[inside]] + self._numbers[inside]] = inside
        return self._groups, rows

    def columns(self, rows: Ints) -> dict[str, list[Any]]:
        """Return the attributes of some subjects (m,) that documents show, without making the subjects."""
        group_of, numbers = self._group_of[rows].tolist(), self._numbers[rows].tolist()
        templates = [group.template for group in self._groups]
        both = list(zip(group_of, numbers, strict=True))
        sources = [templates[group] if group >= 0 else self._singles[number] for group, number in both]
        names = [
            f"{source.name}.{number}" if group >= 0 else source.name
            for source, (group, number) in zip(sources, both, strict=True)
        ]
        ids = names
        if self._ids or -1 in group_of:
            ids = [
                self._ids.get(row, name) if group >= 0 else source.id
                for row, name, source, group in zip(rows.tolist(), names, sources, group_of, strict=True)
            ]
        attributes = ("kind", "parent", "override", "bone", "bone_weight")
        return {"id": ids, "name": names, **{key: list(map(attrgetter(key), sources)) for key in attributes}}

    def rows_of(self, keys: Collection[InstanceKey]) -> dict[InstanceKey, int]:
        """Return the rows of those subjects that have some keys, as of whole objects and instances."""
        names = {key[:2] for key in keys}
        may_have = [group.template.key[:2] in names for group in self._groups]
        rows = np.flatnonzero(np.array([*may_have, True])[self._group_of])  # of no group is the last
        return {key: row for row in rows.tolist() if (key := self._key_of(row)) in keys}


class Skip(NamedTuple):
    """A subject that a sample is without, and why; reason None means that it is not present in the scene."""

    subject: int
    time: float
    reason: str | None


SkipEvent: TypeAlias = Skip | tuple[InstanceKey, float]


@dataclass
class SkipLog:
    """Records why subjects are skipped, by their indices.

    names : Names of the subjects.
    accepts : Returns whether an instance that was not there at first would have been a subject.
    events : All entries, in order: subjects that are skipped, and instances that appear, with the time.
    records : One for each name, with the first frame and reason.
    known : Instances that are visible at the first frame. One that is no subject was skipped for a reason
        that is reported elsewhere.
    """

    names: Sequence[str]
    accepts: Callable[[InstanceKey], bool]
    events: list[SkipEvent] = field(default_factory=list)
    records: dict[str, Skipped] = field(default_factory=dict)
    known: set[InstanceKey] = field(default_factory=set)
    # First frame and number of the instances that have appeared later, by name.
    _late: dict[str, tuple[float, int]] = field(default_factory=dict)

    def log(self, skips: Iterable[Skip]) -> None:
        """Record the subjects that samples are without."""
        for skip in skips:
            name, reason = self.names[skip.subject], skip.reason
            if name in self.records:
                continue
            self.events.append(skip)
            if reason is None:
                text = message("not present at frame {frame:g}: skipped while absent", frame=skip.time)
            else:
                text = message("skipped at frame {frame:g}: {reason}", frame=skip.time, reason=reason)
            self.records[name] = Skipped(name, text)

    def take_over(self, events: Sequence[SkipEvent]) -> None:
        """Add the entries of another log of the same subjects, which continues this one."""
        for event in events:
            if isinstance(event, Skip):
                self.log([event])
            else:
                self.log_late_arrival(*event)

    def log_late_arrival(self, key: InstanceKey, time: float) -> bool:
        """Record an instance that appears after the first frame, and so is not tested.

        Returns whether it would have been a subject, and appears for the first time.
        """
        if key in self.known:
            return False
        self.known.add(key)
        if not self.accepts(key):
            return False
        self.events.append((key, time))
        owner, name, indices = key
        shown = f"{owner}/{name}" if indices else name
        if shown in self.records and shown not in self._late:
            return True
        first, count = self._late.get(shown, (time, 0))
        self._late[shown] = first, count + 1
        if count:
            text = (
                "{count} instances are not present at the first frame, the first appears at frame {frame:g}: "
                "not tested"
            )
        else:
            text = "not present at the first frame, appears at frame {frame:g}: not tested"
        self.records[shown] = Skipped(shown, message(text, count=count + 1, frame=first))
        return True
