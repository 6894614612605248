"""Reads the geometry of subjects: instances of one mesh share its vertices, so each mesh is read once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Ints
from ...core.progress import run_to_end
from ..blender.instance_table import NO_INDEX, InstanceTable, instances_at, read_instance_table, rows_by_mesh
from ..blender.instances import InstanceKey
from ..settings import FitSettings
from .geometry import SubjectAssembler, SubjectGeometry
from .subject import Subject
from .subject_list import SubjectList


class SubjectReader:
    """Reads subjects in evaluated scenes, each mesh once, however many instances show it.

    Settings and overrides of objects are read again each time, because they may have changed since the
    subjects were found.

    with_triangles : Indices of the subjects whose triangles are read.
    assembled : Subjects that are loose parts or merged collections, by their indices.
    assembled_of : Indices of those that an instance is a part or member of.
    """

    def __init__(
        self, subjects: Sequence[Subject], settings: FitSettings, with_triangles: Container[int] = ()
    ) -> None:
        """Prepare to read subjects; `settings` are for those that have none of their own."""
        self.subjects, self.with_triangles = subjects, with_triangles
        self._settings = settings
        self.assembled: dict[int, Subject] = {}
        self.assembled_of: dict[InstanceKey, list[int]] = defaultdict(list)
        self._singles: dict[InstanceKey, int] = {}
        every = SubjectList.of(subjects)
        for index, subject in every.singles():
            if subject.part is None and not subject.members:
                self._singles[subject.key] = index
                continue
            self.assembled[index] = subject
            for key in subject.members or (subject.key,):
                self.assembled_of[key].append(index)
        groups = list(every.instance_groups())
        self._names = {names: group for group, (names, _, _) in enumerate(groups)}
        self._group = np.repeat(np.arange(len(groups)), [len(indices) for _, indices, _ in groups])
        self._ids = np.concatenate(
            [indices for _, indices, _ in groups] or [np.empty((0, 0), dtype=np.int64)]
        )
        self._subjects = np.concatenate([np.empty(0, dtype=np.int64), *(rows for _, _, rows in groups)])

    def subjects_of(self, table: InstanceTable[Any]) -> Ints:
        """Whole subject (n,) of each row of a table; -1 for none.

        Of instances with the same key, each is the last subject with that key if there are more or fewer of
        them than subjects.
        """
        found = np.full(len(table.kind_of), -1, dtype=np.int64)
        group_of_kind = [self._names.get(kind.key[:2], -1) if kind.key[2] else -1 for kind in table.kinds]
        group = np.array([*group_of_kind, -1], dtype=np.int64)[table.kind_of]
        rows = np.flatnonzero(group >= 0)
        rows = table.sorted_rows(rows, group[rows])
        ids = table.indices[rows]
        width = max(ids.shape[1], self._ids.shape[1])
        ids, known = _widened(ids, width), _widened(self._ids, width)
        if np.array_equal(group[rows], self._group) and np.array_equal(ids, known):
            found[rows] = self._subjects
        elif len(rows):
            every = np.column_stack(
                [np.concatenate([self._group, group[rows]]), np.concatenate([known, ids])]
            )
            code = np.unique(every, axis=0, return_inverse=True)[1].reshape(-1)
            subject_of = np.full(len(every), -1, dtype=np.int64)
            subject_of[code[: len(known)]] = self._subjects
            found[rows] = subject_of[code[len(known) :]]
        for row in _rows_of(table, self._singles).tolist():
            found[row] = self._singles.get(table.key_of(row), found[row])
        return found

    def assembled_rows(self, table: InstanceTable[Any]) -> Ints:
        """Rows (m,) of a table that are members of merged collections, or are split by loose parts."""
        rows = _rows_of(table, self.assembled_of).tolist()
        return np.array([row for row in rows if table.key_of(row) in self.assembled_of], dtype=np.int64)

    def geometries(
        self, depsgraph: bpy.types.Depsgraph, table: InstanceTable[Any] | None = None
    ) -> Iterator[SubjectGeometry]:
        """Read the geometry of the subjects that exist at the frame of an evaluated dependency graph.

        table : all that is visible in it; read here if it is not known
        """
        if table is None:
            table = run_to_end(read_instance_table(depsgraph, lambda _: None))
        with_triangles = self.with_triangles
        subject_of = self.subjects_of(table)
        sharing = rows_by_mesh(table, np.flatnonzero(subject_of >= 0))
        assembler = SubjectAssembler(self.assembled, self._settings, with_triangles)
        rows = sorted({*sharing, *self.assembled_rows(table).tolist()})
        for row, item in instances_at(depsgraph, table, rows):
            if row in sharing:
                same = subject_of[sharing[row]]
                has_triangles = bool(with_triangles) and any(row in with_triangles for row in same.tolist())
                matrices = table.matrices(sharing[row])
                yield SubjectGeometry.of_mesh(item, self._settings, has_triangles, same, matrices)
            yield from assembler.geometries_of(item)
        yield from assembler.merged_geometries()

    def singles(self, depsgraph: bpy.types.Depsgraph) -> Iterator[SubjectGeometry]:
        """Read the geometry of each subject that exists, as `geometries` does."""
        for shared in self.geometries(depsgraph):
            yield from shared.singles()


def _kind_of(key: InstanceKey) -> tuple[str, str, bool]:
    """Full names of an owner and an object, and whether these are instances."""
    return key[0], key[1], bool(key[2])


def _rows_of(table: InstanceTable[Any], keys: Iterable[InstanceKey]) -> Ints:
    """Rows (m,) of a table that may have one of several keys: owner and object are the same."""
    kinds = set(map(_kind_of, keys))
    is_wanted = np.array([*(_kind_of(kind.key) in kinds for kind in table.kinds), False], dtype=bool)
    return np.flatnonzero(is_wanted[table.kind_of])


def _widened(ids: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Rows of persistent ids, filled up with NO_INDEX to a width."""
    return np.pad(ids, ((0, 0), (0, width - ids.shape[1])), constant_values=NO_INDEX)
