"""Bounds of very many subjects in arrays, which take a twentieth of the memory of objects."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Shape
from ...core.numeric.arrays import Floats, Ints
from ...formats import ObjectBounds, SortedObjects
from ...formats.document.model import ObjectColumns, ShapeColumn, shape_columns
from ...formats.shape_members import KEYS_OF_SHAPES
from ..animation.bone_sweeps import BoneSweeps
from ..blender.mesh_data import Placement
from ..subjects.subject_list import SubjectList
from .detailed_shapes import DetailedShapes

_GROUPS = ("local", "world")
_BLOCK = 1024
"""Objects that are made at once by a loop over all."""


class BoundsTable(SortedObjects):
    """Bounds of subjects, in their order; each `ObjectBounds` is made on access.

    subjects : The subjects that have bounds.
    """

    def __init__(
        self,
        subjects: SubjectList,
        columns: BoundsColumns,
        rows: Ints,
        parents: Mapping[str, str | None],
    ) -> None:
        """Show the bounds of some subjects.

        subjects : The n subjects.
        columns : Bounds of these, and maybe of others.
        rows : (n,) int. Row of each subject in the columns.
        parents : mapping of str to (str or None). Parents without bounds, each with its nearest ancestor
            that has bounds.
        """
        self.subjects = subjects
        self._columns, self._rows, self._parents = columns, rows, parents
        self._all_frames: frozenset[str] = frozenset()

    def hold_all_frames(self, sweeps: BoneSweeps) -> None:
        """Note which bounds hold the vertices of their bone at all frames."""
        if sweeps.points:
            held = (subject.id for _, subject in self.subjects.singles() if sweeps.holds(subject))
            self._all_frames = frozenset(held)

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

    def columns(self, start: int, stop: int) -> ObjectColumns:
        """Columns of the objects from `start` up to `stop`."""
        rows = self._rows[start:stop]
        ids, names, kinds, parents, overrides, bones, weights = self.subjects.columns(np.arange(start, stop))
        parents = self._bounded_parents(parents)
        local, world = self._columns.shapes(rows)
        placements = self._columns.placements(rows)
        shapes = local, world, dict[str, ShapeColumn](), dict[str, ShapeColumn]()
        all_frames = [id in self._all_frames for id in ids]
        # Documents have no weight where only the largest one counts.
        weights = [
            weight if bone and weight is not None and weight < 1 else None
            for bone, weight in zip(bones, weights, strict=True)
        ]
        identities = ids, names, kinds, parents, overrides
        return ObjectColumns(*identities, *placements, *shapes, bones, all_frames, weights)

    def parents(self) -> list[str | None]:
        """Id of the parent of each object, as of `ObjectBounds`."""
        return self._bounded_parents(self.subjects.columns(np.arange(len(self))).parents)

    def _bounded_parents(self, parents: list[str | None]) -> list[str | None]:
        """Replace parents without bounds."""
        if not self._parents:
            return parents
        return [None if parent is None else self._parents.get(parent, parent) for parent in parents]

    def _entries(self, indices: range) -> Iterator[ObjectBounds]:
        if not len(indices):
            return
        if indices.step != 1:
            for index in indices:
                yield from self._entries(range(index, index + 1))
            return
        yield from self.columns(indices.start, indices.stop).objects()


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
        placements: Placement,
        fits: tuple[Sequence[Shape], Sequence[Shape]],
        detailed: Mapping[int, DetailedShapes],
    ) -> None:
        """Store the bounds of rows (m,).

        placements : arrays (m, ...)
        fits : batches (m,) of plain shapes, one of each kind, in the subjects' own frames and in world space
        detailed : hulls and trees by row
        """
        self._translation[rows] = placements.translation
        self._rotation[rows] = placements.rotation
        self._scale[rows] = placements.scale
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

    def placements(self, rows: Ints) -> Placement:
        """Placements of rows (m,), in arrays (m, ...)."""
        return Placement(self._translation[rows], self._rotation[rows], self._scale[rows])

    def shapes(self, rows: Ints) -> tuple[dict[str, ShapeColumn], dict[str, ShapeColumn]]:
        """Shapes of rows (m,), in their own frames and in world space."""
        local, world = (self._plain_shapes(group, self._kind[rows], rows) for group in _GROUPS)
        if self._detailed:
            detailed = [self._detailed.get(row, ((), ())) for row in rows.tolist()]
            local |= shape_columns([shapes for shapes, _ in detailed])
            world |= shape_columns([shapes for _, shapes in detailed])
        return local, world

    def _plain_shapes(self, group: str, codes: NDArray[np.uint8], rows: Ints) -> dict[str, ShapeColumn]:
        """Plain shapes of rows (m,), whose kinds are `codes` (m,), in the order in which they were fitted."""
        columns: dict[str, ShapeColumn] = {}
        kinds = [self._kinds[code] for code in np.unique(codes).tolist()]
        for kind in dict.fromkeys(itertools.chain(*kinds)):
            has_kind = np.array([kind in each for each in self._kinds], dtype=bool)
            places = np.flatnonzero(has_kind[codes])
            numbers = (self._numbers[group, kind, name][rows[places]] for name in kind.field_shapes)
            columns[KEYS_OF_SHAPES[kind]] = ShapeColumn(places, kind.unchecked(*numbers))
        return columns
