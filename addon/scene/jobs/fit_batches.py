"""Fits the bounds of all subjects in batches: instances with the same linear part once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

import numpy as np

from ...core import CollisionBoundsError
from ...core.fitting.many_hulls import run_together
from ...core.messages import message
from ...core.numeric.arrays import CHUNK_ROWS, Bools, Ints, distinct_rows
from ...formats import Skipped
from ..blender.mesh_data import Geometry, Placement, decompose_matrices, decompose_matrix
from ..blender.missing_inputs import reasons_without_vertices
from ..blender.parts.vertex_subsets import reason_without_vertices
from ..errors import describe_error
from ..fitting.fit import POINTS_AT_ONCE, grouped_by_settings, in_batches, plain_shapes
from ..fitting.local_and_world import FittedRows, PlacedPoints, fit_many, fit_repeated
from ..settings import BoundShape, DetailedShapeName, FitSettings, PlainShape
from ..subjects.geometry import SubjectGeometry
from ..subjects.reader import SharedGeometry
from ..subjects.subject import Subject
from ..subjects.subject_list import SubjectList
from .bounds_table import BoundsColumns
from .detailed_shapes import DetailedShapes, detailed_shapes

NO_VERTICES = message("no vertices")

_SUBJECTS_AT_ONCE = CHUNK_ROWS
"""Larger pieces are no faster, and the temporary arrays of each subject take 1.5 kB."""


class _Placed(NamedTuple):
    """Subjects with a place: rows of a piece of geometry, and these as points."""

    piece: SharedGeometry
    points: PlacedPoints

    def taken(self, rows: Ints | slice) -> _Placed:
        """Select subjects."""
        piece = self.piece._replace(subjects=self.piece.subjects[rows], matrices=self.piece.matrices[rows])
        return _Placed(piece, self.points.taken(rows))


def fit_batches(
    pieces: Iterable[SharedGeometry],
    subjects: SubjectList,
    shapes: tuple[BoundShape, ...],
    columns: BoundsColumns,
    skipped: list[Skipped],
) -> Iterator[int]:
    """Fit the bounds of all subjects, and yield the number of subjects of each batch.

    Bounds are stored in `columns`; subjects without geometry or bounds are appended to `skipped`.
    """
    missing = reasons_without_vertices()

    def skip(index: int, reason: str) -> None:
        skipped.append(Skipped(subjects[index].name, reason))

    for batch in in_batches(_split(pieces), _point_count):
        placed = []
        for piece, is_placed, points in _decomposed(batch):
            if not len(piece.points):
                for index in piece.subjects.tolist():
                    skip(index, _reason_without_points(subjects[index], piece.fit, missing))
                continue
            every = _Placed(piece, points)
            if is_placed.all():
                placed.append(every)
                continue
            for row in np.flatnonzero(~is_placed).tolist():
                skip(int(piece.subjects[row]), _placement_error(piece, row))
            placed.append(every.taken(np.flatnonzero(is_placed)))
        placed = [each for each in placed if len(each.points)]
        for rows in _grouped(placed, shapes):
            for chunk, first in _chunks([placed[row] for row in rows]):
                for index, error in _fit_chunk(chunk, first, shapes, columns).items():
                    skip(index, describe_error(error))
                yield sum(len(each.points) for each in chunk)


def _reason_without_points(subject: Subject, fit: FitSettings, missing: Mapping[str, str]) -> str:
    """Return why a subject has no points, by the reasons of objects with missing data."""
    group = fit.vertex_group
    if group is None or subject.key[1] in missing:
        return missing.get(subject.key[1], NO_VERTICES)
    return reason_without_vertices(group, subject.override is not None)


def _grouped(placed: Sequence[_Placed], shapes: tuple[BoundShape, ...]) -> Iterator[Sequence[int]]:
    """Yield rows with the same settings, one at a time if meshes are split, which takes a second for each."""
    for _, rows in grouped_by_settings([each.piece.fit for each in placed]):
        if "compound" in shapes:
            yield from ([row] for row in rows)
        else:
            yield rows


def _split(pieces: Iterable[SharedGeometry]) -> Iterator[SharedGeometry]:
    """Yield pieces that have a limited number of subjects each."""
    for piece in pieces:
        if len(piece.subjects) <= _SUBJECTS_AT_ONCE:
            yield piece
            continue
        for start in range(0, len(piece.subjects), _SUBJECTS_AT_ONCE):
            part = slice(start, start + _SUBJECTS_AT_ONCE)
            yield piece._replace(subjects=piece.subjects[part], matrices=piece.matrices[part])


def _point_count(piece: SharedGeometry) -> range:
    return range(len(piece.points) * len(piece.subjects))


def _decomposed(
    batch: Sequence[SharedGeometry],
) -> Iterator[tuple[SharedGeometry, Bools, PlacedPoints]]:
    """Yield each piece, which of its subjects have a place, and its points."""
    frames = [piece.matrices if piece.frame is None else piece.frame[None] for piece in batch]
    placements, is_valid = decompose_matrices(np.concatenate(frames))
    start = 0
    for piece in batch:
        rows = slice(start, start + len(piece.subjects))
        start = rows.stop
        placed = Placement(*(values[rows] for values in placements))
        yield (
            piece,
            is_valid[rows],
            PlacedPoints(piece.points, piece.radius, piece.matrices, placed, piece.frame),
        )


def _placement_error(piece: SharedGeometry, row: int) -> str:
    """Reason why a matrix has no decomposition."""
    try:
        decompose_matrix(piece.matrices[row] if piece.frame is None else piece.frame)
    except CollisionBoundsError as error:
        return describe_error(error)
    raise AssertionError("the matrix has a decomposition")


def _chunks(sources: Sequence[_Placed]) -> Iterator[tuple[list[_Placed], tuple[Ints, Ints] | None]]:
    """Split subjects into chunks that are fitted together.

    Yields each chunk with None, or for instances that are fitted once for each linear part with (first,
    kind_of) of `fit_repeated`.
    """
    alone = []
    for source in sources:
        if len(source.points) == 1:
            alone.append(source)
            continue
        linear = source.points.matrices[:, :3, :3].reshape(-1, 9)
        _, kind_of = distinct_rows(linear)
        is_repeated = np.bincount(kind_of)[kind_of] > 1
        if not is_repeated.all():
            alone.append(source.taken(np.flatnonzero(~is_repeated)))
        if is_repeated.any():
            yield from _repeated_chunks(source, np.flatnonzero(is_repeated), kind_of)
    for chunk in in_batches(_limited(alone), lambda each: _point_count(each.piece)):
        yield chunk, None


def _limited(sources: Iterable[_Placed]) -> Iterator[_Placed]:
    """Split subjects that have more points together than are fitted at once."""
    for source in sources:
        step = max(1, POINTS_AT_ONCE // len(source.piece.points))
        if len(source.points) <= step:
            yield source
            continue
        for start in range(0, len(source.points), step):
            yield source.taken(slice(start, start + step))


def _repeated_chunks(
    source: _Placed, rows: Ints, kind_of: Ints
) -> Iterator[tuple[list[_Placed], tuple[Ints, Ints]]]:
    """Split instances into chunks with few linear parts each."""
    rows = rows[np.argsort(kind_of[rows], kind="stable")]
    kinds_at_once = max(1, POINTS_AT_ONCE // len(source.piece.points))
    number = np.cumsum(np.diff(kind_of[rows], prepend=kind_of[rows[0]]) != 0)
    starts = np.searchsorted(number, np.arange(0, number[-1] + 1, kinds_at_once)).tolist()
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        for begin in range(start, stop, CHUNK_ROWS):
            inside = slice(begin, min(begin + CHUNK_ROWS, stop))
            _, first, kinds = np.unique(number[inside], return_index=True, return_inverse=True)
            yield [source.taken(rows[inside])], (first, kinds)


def _fit_chunk(
    chunk: Sequence[_Placed],
    kinds: tuple[Ints, Ints] | None,
    shapes: tuple[BoundShape, ...],
    columns: BoundsColumns,
) -> dict[int, CollisionBoundsError]:
    """Store bounds of subjects that are fitted with the same settings; return the errors of the others."""
    settings = chunk[0].piece.fit
    sources = [each.points for each in chunk]
    subjects = np.concatenate([each.piece.subjects for each in chunk])
    placements = Placement(
        *(np.concatenate([source.placements[field] for source in sources]) for field in range(3))
    )
    fits, errors = _fit_plain(sources, kinds, plain_shapes(shapes, settings), settings)
    detailed: dict[int, DetailedShapes] = {}
    if set(get_args(DetailedShapeName)) & set(shapes):
        detailed = _detailed(chunk, shapes, errors)
    for rows, local, world in fits:
        is_fitted = np.array([row not in errors for row in rows.tolist()]) if errors else slice(None)
        fitted = rows[is_fitted]
        columns.store(
            subjects[fitted],
            Placement(*(values[fitted] for values in placements)),
            (tuple(shape[is_fitted] for shape in local), tuple(shape[is_fitted] for shape in world)),
            {int(subjects[row]): detailed[row] for row in fitted.tolist() if row in detailed}
            if detailed
            else {},
        )
    return {int(subjects[row]): error for row, error in sorted(errors.items())}


def _fit_plain(
    sources: Sequence[PlacedPoints],
    kinds: tuple[Ints, Ints] | None,
    shapes: tuple[PlainShape, ...],
    settings: FitSettings,
) -> tuple[list[FittedRows], dict[int, CollisionBoundsError]]:
    """Fit plain shapes as `fit_many` does, with few linear parts once for each."""
    if kinds is not None:
        try:
            fits = fit_repeated(sources[0], *kinds, shapes, settings)
            return [FittedRows(np.arange(len(sources[0])), *fits)], {}
        except CollisionBoundsError:
            pass  # each that fails reports its own error
    return fit_many(sources, shapes, settings)


def _detailed(
    chunk: Sequence[_Placed],
    shapes: Sequence[BoundShape],
    errors: dict[int, CollisionBoundsError],
) -> dict[int, DetailedShapes]:
    """Fit the requested detailed shapes by row; subjects that fail are added to `errors`."""
    jobs = {}
    row = -1
    for piece, points in chunk:
        for index, matrix, *placed in zip(
            piece.subjects.tolist(), piece.matrices, *points.placements, strict=True
        ):
            row += 1
            if row in errors:
                continue
            geometry = Geometry(piece.points, matrix, piece.radius)
            source = SubjectGeometry(index, geometry, piece.fit, piece.triangles, piece.frame)
            jobs[row] = detailed_shapes(source, Placement(*placed), shapes)
    found: dict[int, DetailedShapes] = {}
    for row, fitted in zip(jobs, run_together(list(jobs.values())), strict=True):
        if isinstance(fitted, CollisionBoundsError):
            errors[row] = fitted
        else:
            found[row] = fitted
    return found
