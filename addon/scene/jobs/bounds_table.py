"""Bounds of very many subjects, fitted in batches and kept in arrays.

Arrays take a twentieth of the memory of objects. Instances with the same linear part are fitted once.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ...core import CollisionBoundsError, Shape
from ...core.fitting.convex_hull import run_together
from ...core.messages import message
from ...core.numeric.arrays import CHUNK_ROWS, Floats, Ints, distinct_rows
from ...formats import ObjectBounds, Skipped, SortedObjects
from ...formats.document.model import ObjectColumns, ShapeColumn, shape_columns
from ...formats.shape_members import KEYS_OF_SHAPES
from ..blender.mesh_data import UNPLACED, Placement, decompose_matrices
from ..blender.missing_inputs import reasons_without_vertices
from ..blender.parts.weights import reason_without_vertices
from ..errors import describe_error
from ..fitting.fit import (
    POINTS_AT_ONCE,
    fit_many,
    grouped_by_settings,
    in_batches,
    plain_shapes,
)
from ..fitting.parts import split_pieces
from ..settings import BoundShape, DetailedShapeName
from ..subjects.reader import SubjectGeometry, in_bone_space
from ..subjects.subject import SubjectList
from .detailed_shapes import DetailedShapes, ScannedShapes, detailed_shapes

_GROUPS = ("local", "world")
_BLOCK = 1024
"""Objects that are made at once by a loop over all."""


class BoundsTable(SortedObjects):
    """Bounds of subjects, in their order; each `ObjectBounds` is made on access.

    Placements and shapes are in arrays of numbers; hulls and trees are objects.

    subjects : The subjects that have bounds.
    skipped : Objects that are no subjects, and subjects without bounds.
    rows : (n,) int. Row of each in the arrays; as long as bounds are stored, all subjects have one.
    parents : Parents without bounds, each with its nearest ancestor that has bounds.
    all_frames : Ids of those whose bounds hold the vertices of their bone at all frames.
    scanned : Shapes of a scan in addition.
    """

    def __init__(self, subjects: SubjectList, skipped: list[Skipped]) -> None:
        """Make room for the bounds of some subjects."""
        count = len(subjects)
        self.subjects, self.skipped, self.rows = subjects, skipped, np.arange(count)
        self.parents: Mapping[str | None, str | None] = {}
        self.all_frames: frozenset[str] = frozenset()
        self.scanned: ScannedShapes | None = None
        # Rows that are never stored take no memory: their pages are never touched.
        self._placements = Placement(np.empty((count, 3)), np.empty((count, 4)), np.empty((count, 3)))
        # Kinds of shapes of each row: an index of `_kinds`; 0 without bounds.
        self._kind: NDArray[np.uint8] = np.zeros(count, dtype=np.uint8)
        self._kinds: list[tuple[type[Shape], ...]] = [()]
        self._numbers: dict[tuple[str, type[Shape], str], Floats] = {}
        self._detailed: dict[int, DetailedShapes] = {}

    def fit(
        self,
        chunk: Sequence[SubjectGeometry],
        kinds: tuple[Ints, Ints] | None,
        shapes: tuple[BoundShape, ...],
    ) -> dict[int, CollisionBoundsError]:
        """Store bounds of subjects that are fitted with the same settings; return the errors of the others.

        kinds : See `fit_many`.
        """
        subjects = np.concatenate([each.subjects for each in chunk])
        fits, errors = fit_many(chunk, plain_shapes(shapes, chunk[0].fit), kinds)
        detailed: dict[int, DetailedShapes] = {}
        if set(get_args(DetailedShapeName)) & set(shapes):
            detailed = _detailed(chunk, shapes, errors)
        for column, *values in zip(self._placements, *(each.placements for each in chunk), strict=True):
            column[subjects] = np.concatenate(values)
        for places, *both in fits:
            is_fitted: Any = slice(None)
            if errors:
                is_fitted = np.array([place not in errors for place in places.tolist()])
            rows = subjects[places[is_fitted]]
            for group, batches in zip(_GROUPS, both, strict=True):
                for batch in batches:
                    for name, tail in batch.field_shapes.items():
                        key = group, type(batch), name
                        if key not in self._numbers:
                            self._numbers[key] = np.empty((len(self._kind), *tail))
                        self._numbers[key][rows] = getattr(batch, name)[is_fitted]
            types = tuple(map(type, both[0]))
            if types not in self._kinds[1:]:
                self._kinds.append(types)
            self._kind[rows] = self._kinds.index(types, 1)
        self._detailed.update((int(subjects[place]), both) for place, both in detailed.items())
        return {int(subjects[place]): error for place, error in sorted(errors.items())}

    def drop_others(self) -> None:
        """Drop the subjects without bounds, after the bounds of all others were stored."""
        self.rows = np.flatnonzero(self._kind)
        # Instances are no parents.
        parent_of = {subject.id: subject.parent for _, subject in self.subjects.singles()}
        self.subjects = self.subjects.taken(self.rows)
        with_bounds = {subject.id for _, subject in self.subjects.singles()}
        parents: dict[str | None, str | None] = {}
        for id in parent_of.keys() - with_bounds:
            ancestor = parent_of[id]
            while ancestor is not None and ancestor not in with_bounds:
                ancestor = parent_of[ancestor]
            parents[id] = ancestor
        self.parents = parents

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        rows = range(len(self))[index]
        if isinstance(rows, int):
            return next(self.columns(rows, rows + 1).objects())
        if rows.step != 1:
            return [self[row] for row in rows]
        return list(self.columns(rows.start, rows.stop).objects())

    def __iter__(self) -> Iterator[ObjectBounds]:
        for start in range(0, len(self), _BLOCK):
            yield from self.columns(start, start + _BLOCK).objects()

    def columns(self, start: int, stop: int) -> ObjectColumns:
        """Columns of the objects from `start` up to `stop`."""
        rows = self.rows[start:stop]
        numbers = np.arange(start, start + len(rows))
        columns: dict[str, Any] = self.subjects.columns(numbers)
        local, world = dict[str, ShapeColumn](), dict[str, ShapeColumn]()
        codes = self._kind[rows]
        types = (self._kinds[code] for code in np.unique(codes).tolist())
        for kind in dict.fromkeys(itertools.chain(*types)):  # in the order in which they were fitted
            places = np.flatnonzero(np.array([kind in each for each in self._kinds], dtype=bool)[codes])
            for group, shapes in zip(_GROUPS, (local, world), strict=True):
                values = (self._numbers[group, kind, name][rows[places]] for name in kind.field_shapes)
                shapes[KEYS_OF_SHAPES[kind]] = ShapeColumn(places, kind.unchecked(*values))
        if self._detailed:
            detailed = [self._detailed.get(row, ((), ())) for row in rows.tolist()]
            local |= shape_columns([shapes for shapes, _ in detailed])
            world |= shape_columns([shapes for _, shapes in detailed])
        placements = Placement(*(values[rows] for values in self._placements))
        if self.scanned is not None:
            pair = self.scanned.columns(numbers, placements.translation, placements.rotation)
            if len(pair[0].rows):
                local[self.scanned.key], world[self.scanned.key] = pair
        columns["all_frames"] = [id in self.all_frames for id in columns["id"]]
        # Documents have no weight where only the largest one counts.
        columns["bone_weight"] = [
            weight if bone and weight is not None and weight < 1 else None
            for bone, weight in zip(columns["bone"], columns["bone_weight"], strict=True)
        ]
        columns["parent"] = [self.parents.get(parent, parent) for parent in columns["parent"]]
        columns |= {"local": local, "world": world, "envelope": {}, "local_envelope": {}}
        return ObjectColumns(**columns, **placements._asdict())

    def names(self) -> dict[str, str]:
        """Names of all objects by id, without their shapes."""
        columns = self.subjects.columns(np.arange(len(self)))
        return dict(zip(columns["id"], columns["name"], strict=True))


NO_VERTICES = message("no vertices")
_DELETED = message("was deleted during the computation")

_SUBJECTS_AT_ONCE = CHUNK_ROWS
"""Larger pieces are no faster, and the temporary arrays of each subject take 1.5 kB."""


def fit_bounds(
    pieces: Iterable[SubjectGeometry],
    subjects: SubjectList,
    shapes: tuple[BoundShape, ...],
    skipped: list[Skipped],
) -> Generator[float, None, BoundsTable]:
    """Fit the bounds of subjects, and yield the part of them that is done after each batch.

    A parent without bounds is replaced by the nearest ancestor that has bounds.

    pieces : Geometry of subjects; those of none have been deleted since they were found.
    skipped : Objects that are no subjects; subjects without geometry or bounds are added.
    """
    table, done, known = BoundsTable(subjects, skipped), 0, len(skipped)
    missing: dict[str, str] | None = None
    is_read = np.zeros(len(subjects), dtype=bool)

    def skip(index: int, reason: str) -> None:
        skipped.append(Skipped(subjects[index].name, reason))

    parts = (
        piece if len(piece.subjects) == 1 else piece.taken(slice(start, start + _SUBJECTS_AT_ONCE))
        for piece in pieces
        for start in range(0, len(piece.subjects), _SUBJECTS_AT_ONCE)
    )
    for batch in in_batches(parts, lambda part: len(part.points) * len(part.subjects)):
        frames = [piece.matrices if piece.frame is None else piece.frame[None] for piece in batch]
        placements, is_valid = decompose_matrices(np.concatenate(frames))
        placed, start = [], 0
        for piece in batch:
            part = slice(start, start + len(piece.subjects))
            start = part.stop
            is_read[piece.subjects] = True
            is_placed = is_valid[part]
            every = piece._replace(placements=Placement(*(values[part] for values in placements)))
            if not len(piece.points):
                group = piece.fit.vertex_group
                missing = reasons_without_vertices() if missing is None else missing
                for index in piece.subjects.tolist():
                    subject = subjects[index]
                    reason = missing.get(subject.key[1], NO_VERTICES)
                    if group is not None and subject.key[1] not in missing:
                        reason = reason_without_vertices(group, subject.override is not None)
                    skip(index, reason)
                continue
            if is_placed.all():
                placed.append(every)
                continue
            for index in piece.subjects[~is_placed].tolist():
                skip(index, UNPLACED)
            if is_placed.any():
                placed.append(every.taken(np.flatnonzero(is_placed)))
        for fit, rows in grouped_by_settings([each.fit for each in placed]):
            # Meshes are split one at a time, which takes a second for each.
            for together in [[row] for row in rows] if "compound" in shapes else [rows]:
                sources = [placed[row] for row in together]
                if "compound" in shapes:
                    for share in split_pieces(map(in_bone_space, sources[0].singles()), fit):
                        yield (done + share * len(sources[0].subjects)) / len(subjects)
                for chunk, first in _chunks(sources):
                    for index, error in table.fit(chunk, first, shapes).items():
                        skip(index, describe_error(error))
                    done += sum(len(each.subjects) for each in chunk)
                    yield done / len(subjects)
    for index in np.flatnonzero(~is_read).tolist():
        skip(index, _DELETED)
    if len(skipped) > known:
        table.drop_others()
    return table


def _chunks(
    sources: Sequence[SubjectGeometry],
) -> Iterator[tuple[list[SubjectGeometry], tuple[Ints, Ints] | None]]:
    """Split subjects into chunks that are fitted together.

    Yields each chunk with None, or for instances that are fitted once for each linear part with (first,
    kind_of) of `fit_many`.
    """
    alone = []
    for source in sources:
        if len(source.subjects) == 1:
            alone.append(source)
            continue
        _, kind_of = distinct_rows(source.matrices[:, :3, :3].reshape(-1, 9))
        is_repeated = np.bincount(kind_of)[kind_of] > 1
        rows, step = np.flatnonzero(~is_repeated), max(1, POINTS_AT_ONCE // len(source.points))
        alone += [source.taken(rows[start : start + step]) for start in range(0, len(rows), step)]
        if not is_repeated.any():
            continue
        # Each chunk of repeated instances has few linear parts.
        rows = np.flatnonzero(is_repeated)
        rows = rows[np.argsort(kind_of[rows], kind="stable")]
        number = np.cumsum(np.diff(kind_of[rows], prepend=kind_of[rows[0]]) != 0)
        starts = np.searchsorted(number, np.arange(0, number[-1] + 1, step)).tolist()
        for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
            for begin in range(start, stop, CHUNK_ROWS):
                inside = slice(begin, min(begin + CHUNK_ROWS, stop))
                _, first, kinds = np.unique(number[inside], return_index=True, return_inverse=True)
                yield [source.taken(rows[inside])], (first, kinds)
    for chunk in in_batches(alone, lambda each: len(each.points) * len(each.subjects)):
        yield chunk, None


def _detailed(
    chunk: Sequence[SubjectGeometry], shapes: Sequence[BoundShape], errors: dict[int, CollisionBoundsError]
) -> dict[int, DetailedShapes]:
    """Fit the requested detailed shapes by row; subjects that fail are added to `errors`."""
    jobs = {}
    row = -1
    for piece in chunk:
        for single in piece.singles():
            row += 1
            if row not in errors:
                jobs[row] = detailed_shapes(single, shapes)
    found: dict[int, DetailedShapes] = {}
    for row, fitted in zip(jobs, run_together(list(jobs.values())), strict=True):
        if isinstance(fitted, CollisionBoundsError):
            errors[row] = fitted
        else:
            found[row] = fitted
    return found
