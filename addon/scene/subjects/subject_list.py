"""Very many subjects in little memory: instances of one object share all that is equal."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Ints
from ..blender.instance_table import used_indices
from ..blender.instances import InstanceKey
from ..blender.overrides import OverrideShape
from ..settings import Axes
from .subject import Subject


@dataclass(frozen=True)
class InstanceGroup:
    """Instances of one object under one owner, sorted by their persistent ids.

    owner, shown : Full names of the owner and of the object.
    name : "Owner/Object": the name of each instance without its number.
    kind, parent, axes, override : As of `Subject`, the same for all.
    indices : (n, k) int64. Persistent ids, filled up with NO_INDEX.
    """

    owner: str
    shown: str
    name: str
    kind: str
    parent: str | None
    axes: Axes
    override: OverrideShape | None
    indices: NDArray[np.int64]

    def name_of(self, number: int) -> str:
        """Return the name of an instance."""
        return f"{self.name}.{number}"

    def key_of(self, number: int) -> InstanceKey:
        """Return the key of an instance."""
        return self.owner, self.shown, used_indices(self.indices[number])


class SubjectColumns(NamedTuple):
    """Attributes of several subjects that documents show, see `Subject`."""

    ids: list[str]
    names: list[str]
    kinds: list[str]
    parents: list[str | None]
    overrides: list[str | None]
    bones: list[str | None]
    bone_weights: list[float | None]


class SubjectList(Sequence[Subject]):
    """Subjects as a sequence, each made on access. An instance takes some 20 bytes.

    groups : All instances that share an object and an owner.
    singles : All other subjects.
    group_of : (n,) int32. Group of each row; -1 for a single subject.
    numbers : (n,) int32. Number of each row in its group, or in `singles`.
    ids : Ids by row of instances whose id is not their name.
    """

    def __init__(
        self,
        groups: Sequence[InstanceGroup],
        singles: Sequence[Subject],
        group_of: NDArray[np.int32],
        numbers: NDArray[np.int32],
        ids: Mapping[int, str],
    ) -> None:
        self._groups, self._singles, self._ids = groups, singles, ids
        self._group_of, self._numbers = group_of, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[row] for row in range(*index.indices(len(self)))]
        row = index if index >= 0 else len(self) + index
        if not 0 <= row < len(self):
            raise IndexError(index)
        number = int(self._numbers[row])
        if self._group_of[row] < 0:
            return self._singles[number]
        group = self._groups[self._group_of[row]]
        name = group.name_of(number)
        id, shared = self._ids.get(row, name), (group.kind, group.parent)
        return Subject(group.key_of(number), id, name, *shared, axes=group.axes, override=group.override)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # like a list

    @property
    def object_count(self) -> int:
        """Number of objects and instances of which the subjects are made; those of groups are whole."""
        singles = self._numbers[self._group_of < 0].tolist()
        return len(self) - len(singles) + len({self._singles[number].key for number in singles})

    def taken(self, rows: Ints) -> SubjectList:
        """Return the subjects of some rows (m,), in their order."""
        ids = {}
        if self._ids:
            ids = {new: self._ids[old] for new, old in enumerate(rows.tolist()) if old in self._ids}
        return SubjectList(self._groups, self._singles, self._group_of[rows], self._numbers[rows], ids)

    def representatives(self) -> Iterator[Subject]:
        """Yield each single subject, and one of each group: all that differ in more than key, id and name."""
        _, first = np.unique(self._group_of, return_index=True)
        for row in first.tolist():
            if self._group_of[row] >= 0:
                yield self[row]
        yield from (subject for _, subject in self.singles())

    def singles(self) -> Iterator[tuple[int, Subject]]:
        """Yield the rows and subjects that are in no group."""
        for row in np.flatnonzero(self._group_of < 0).tolist():
            yield row, self._singles[self._numbers[row]]

    def instance_groups(self) -> Iterator[tuple[tuple[str, str], NDArray[np.int64], Ints]]:
        """Yield the instances of each group.

        Yields names : (str, str). Full names of the owner and of the object.
        Yields indices : (n, k) int64. Persistent ids, sorted, filled up with NO_INDEX.
        Yields rows : (n,) int. Row of each; -1 for one that is not in this list.
        """
        sizes = [len(group.indices) for group in self._groups]
        starts = np.cumsum([0, *sizes])
        inside = np.flatnonzero(self._group_of >= 0)
        rows = np.full(starts[-1], -1, dtype=np.int64)
        rows[starts[self._group_of[inside]] + self._numbers[inside]] = inside
        for group, start, size in zip(self._groups, starts.tolist(), sizes, strict=False):
            yield (group.owner, group.shown), group.indices, rows[start : start + size]

    def columns(self, rows: Ints) -> SubjectColumns:
        """Return the attributes of some subjects (m,), without making the subjects."""
        group_of, numbers = self._group_of[rows], self._numbers[rows].tolist()
        of_row: list[InstanceGroup | Subject]
        if len(rows) and group_of[0] >= 0 and (group_of == group_of[0]).all():
            group = self._groups[group_of[0]]
            of_row, stem = [group] * len(rows), f"{group.name}."
            names = [f"{stem}{number}" for number in numbers]
        else:
            both = list(zip(group_of.tolist(), numbers, strict=True))
            of_row = [self._groups[group] if group >= 0 else self._singles[number] for group, number in both]
            names = [
                f"{shared.name}.{number}" if group >= 0 else shared.name
                for shared, (group, number) in zip(of_row, both, strict=True)
            ]
        ids = names
        is_single = np.flatnonzero(group_of < 0).tolist()
        if self._ids or is_single:
            ids = [self._ids.get(row, name) for row, name in zip(rows.tolist(), names, strict=True)]
        for place in is_single:
            ids[place] = self._singles[numbers[place]].id
        attributes = ("kind", "parent", "override", "bone", "bone_weight")
        # Instances of groups have no bones.
        columns = ([getattr(shared, name, None) for shared in of_row] for name in attributes)
        return SubjectColumns(ids, names, *columns)

    def rows_of(self, keys: Collection[InstanceKey]) -> dict[InstanceKey, int]:
        """Return the rows of those subjects that have some keys, as of whole objects and instances."""
        found = {subject.key: row for row, subject in self.singles() if subject.key in keys}
        names = {key[:2] for key in keys}
        for group, (of_group, _, rows) in zip(self._groups, self.instance_groups(), strict=True):
            for number, row in enumerate(rows.tolist()) if of_group in names else ():
                if row >= 0 and (key := group.key_of(number)) in keys:
                    found[key] = row
        return found


def count_objects(subjects: Sequence[Subject]) -> int:
    """Count objects and instances of which subjects are made; parts of one count once."""
    if isinstance(subjects, SubjectList):
        return subjects.object_count
    return len({subject.key for subject in subjects})
