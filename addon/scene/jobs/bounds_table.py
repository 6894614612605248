"""Bounds of very many subjects in arrays, which take a twentieth of the memory of objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Shape
from ...core.numeric.arrays import Floats, Ints
from ...formats import ObjectBounds, SortedObjects
from ..blender.mesh_data import Placement
from ..subjects.subject_list import SubjectList
from .detailed_shapes import DetailedShape

_GROUPS = ("local", "world")
_BLOCK = 1024
"""Objects that are made at once by a loop over all."""

DetailedShapes = tuple[tuple[DetailedShape, ...], tuple[DetailedShape, ...]]
"""Hulls and trees of one subject, in its own frame and in world space."""


class BoundsTable(SortedObjects):
    """Bounds of subjects, in their order; each `ObjectBounds` is made on access.

    Attributes
    ----------
    subjects : SubjectList
        The subjects that have bounds.
    """

    def __init__(
        self,
        subjects: SubjectList,
        columns: BoundsColumns,
        rows: Ints,
        parents: Mapping[str, str | None],
    ) -> None:
        """Show the bounds of some subjects.

        Parameters
        ----------
        subjects : SubjectList
            The n subjects.
        columns : BoundsColumns
            Bounds of these, and maybe of others.
        rows : (n,) int
            Row of each subject in the columns.
        parents : mapping of str to (str or None)
            Parents without bounds, each with its nearest ancestor that has bounds.
        """
        self.subjects = subjects
        self._columns, self._rows, self._parents = columns, rows, parents

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self._entries(range(*index.indices(len(self)))))
        row = index if index >= 0 else len(self) + index
        if not 0 <= row < len(self):
            raise IndexError(index)
        return next(self._entries(range(row, row + 1)))

    def __iter__(self) -> Iterator[ObjectBounds]:
        for start in range(0, len(self), _BLOCK):
            yield from self._entries(range(start, min(start + _BLOCK, len(self))))

    def _entries(self, indices: range) -> Iterator[ObjectBounds]:
        rows = self._rows[indices.start : indices.stop : indices.step] if len(indices) else self._rows[:0]
        shapes = self._columns.shapes(rows)
        placements = self._columns.placements(rows)
        for index, placed, (local, world) in zip(indices, placements, shapes, strict=True):
            subject = self.subjects[index]
            parent = subject.parent
            if parent is not None:
                parent = self._parents.get(parent, parent)
            identity = subject.id, subject.name, subject.kind, parent
            yield ObjectBounds(*identity, *placed, local, world, subject.override)


class BoundsColumns:
    """Placements and shapes of n rows, in arrays of numbers; hulls and trees as objects."""

    def __init__(self, count: int) -> None:
        # Rows that are never stored take no memory: their pages are never touched.
        self._translation, self._rotation = np.empty((count, 3)), np.empty((count, 4))
        self._scale = np.empty((count, 3))
        # Kinds of shapes of each row: an index of `_kinds`; 0 without bounds.
        self._kind: NDArray[np.uint8] = np.zeros(count, dtype=np.uint8)
        self._kinds: list[tuple[type[Shape], ...]] = [()]
        self._numbers: dict[tuple[str, type[Shape], str], Floats] = {}
        self._detailed: dict[int, DetailedShapes] = {}

    def store(
        self,
        rows: Ints,
        placements: Sequence[Placement],
        fits: tuple[Sequence[Shape], Sequence[Shape]],
        detailed: Mapping[int, DetailedShapes],
    ) -> None:
        """Store the bounds of rows (m,).

        fits : batches (m,) of plain shapes, one of each kind, in the subjects' own frames and in world space
        detailed : hulls and trees by row
        """
        self._translation[rows] = [placed.translation for placed in placements]
        self._rotation[rows] = [placed.rotation for placed in placements]
        self._scale[rows] = [placed.scale for placed in placements]
        for group, shapes in zip(_GROUPS, fits, strict=True):
            for shape in shapes:
                for name in shape.field_shapes:
                    values = getattr(shape, name)
                    column = self._numbers.get((group, type(shape), name))
                    if column is None:
                        column = np.empty((len(self._kind), *values.shape[1:]))
                        self._numbers[group, type(shape), name] = column
                    column[rows] = values
        kinds = tuple(type(shape) for shape in fits[0])
        if kinds not in self._kinds[1:]:
            self._kinds.append(kinds)
        self._kind[rows] = self._kinds.index(kinds, 1)
        self._detailed.update(detailed)

    def stored_rows(self) -> Ints:
        """Rows (m,) that have bounds."""
        return np.flatnonzero(self._kind)

    def placements(self, rows: Ints) -> Iterator[Placement]:
        """Yield the placement of each row."""
        columns = self._translation[rows], self._rotation[rows], self._scale[rows]
        return map(Placement, *columns)

    def shapes(self, rows: Ints) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
        """Shapes of each row, in its own frame and in world space."""
        found: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [((), ())] * len(rows)
        for code in np.unique(self._kind[rows]).tolist():
            places = np.flatnonzero(self._kind[rows] == code)
            local, world = (self._batches(group, rows[places], self._kinds[code]) for group in _GROUPS)
            for place, *each in zip(places.tolist(), local, world, strict=True):
                found[place] = each[0], each[1]
        for place, row in enumerate(rows.tolist()) if self._detailed else ():
            if row in self._detailed:
                plain, extra = found[place], self._detailed[row]
                found[place] = (*plain[0], *extra[0]), (*plain[1], *extra[1])
        return found

    def _batches(self, group: str, rows: Ints, kinds: Sequence[type[Shape]]) -> list[tuple[Shape, ...]]:
        """Plain shapes of each row, of the given kinds."""
        batches = [
            kind.unchecked(*(self._numbers[group, kind, name][rows] for name in kind.field_shapes))
            for kind in kinds
        ]
        if not batches:
            return [()] * len(rows)
        return list(zip(*(batch.to_list() for batch in batches), strict=True))
