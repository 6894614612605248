"""Bounds of what is selected, at the frame where the scene stands."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import bpy

from ..core import CollisionBoundsError
from ..formats import ObjectBounds, Skipped
from .composition import Piece, read_subjects
from .detailed_shapes import Detailed, hulls, trees
from .errors import reason_of
from .extraction import Placement, placement
from .fitting import (
    BoundShape,
    FitSettings,
    ShapeName,
    alike,
    as_scanned,
    fitted_both,
    in_batches,
    own_shapes,
)
from .selection import Selection
from .subjects import Subject, find_subjects

_Placed: TypeAlias = tuple[Subject, Piece, Placement]


class Bounded(NamedTuple):
    """The usable subjects, their bounds in the same order, and what cannot have any."""

    subjects: list[Subject]
    objects: list[ObjectBounds]
    skipped: list[Skipped]


def bounded(
    scene: bpy.types.Scene,
    selection: Selection,
    shapes: tuple[BoundShape, ...],
    fit: FitSettings,
    scanned: ShapeName | None = None,
    pauses: bool = False,
) -> Generator[None, None, Bounded]:
    """Bounds of the selection at the current frame, part by part.

    scanned : what a scan is asked to check; boxes that it checks are among the bounds
    pauses : whether the scene may be another after a part: everything is read before the first
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    candidates, skipped = find_subjects(scene, depsgraph, selection)
    if scanned is not None:
        kind, fit = as_scanned(scanned, {subject.axes for subject in candidates}, fit)
        shapes = (*shapes, kind) if kind == "obb" else shapes
    bounds: dict[str, ObjectBounds] = {}
    if pauses:
        yield
        depsgraph = bpy.context.evaluated_depsgraph_get()
    with_faces = range(len(candidates)) if "spheres" in shapes else ()
    read: Iterable[Piece] = read_subjects(depsgraph, candidates, fit, with_faces)
    if pauses:
        read = list(read)
        there = {piece.subject for piece in read}
        gone = [subject for index, subject in enumerate(candidates) if index not in there]
        skipped += [Skipped(subject.name, "gone before it was looked at") for subject in gone]
        yield
    for pieces in in_batches(read, lambda piece: piece.geometry.points):
        batch = list(_placed(pieces, candidates, skipped))
        for settings, places in alike([piece.fit for _, piece, _ in batch]):
            some = [batch[place] for place in places]
            geometries = [piece.geometry for _, piece, _ in some]
            placements = [placed for *_, placed in some]
            fits = fitted_both(geometries, placements, own_shapes(shapes, settings), settings)
            for (subject, piece, placed), found in zip(some, fits, strict=True):
                try:
                    if isinstance(found, CollisionBoundsError):
                        raise found
                    detailed = _detailed(piece, placed, shapes)
                except CollisionBoundsError as error:
                    skipped.append(Skipped(subject.name, reason_of(error)))
                    continue
                local, world = ((*plain, *own) for plain, own in zip(found, detailed, strict=True))
                about = subject.id, subject.name, subject.kind, subject.parent
                bounds[subject.id] = ObjectBounds(*about, *placed, local, world, subject.override)
        yield
    usable = [subject for subject in candidates if subject.id in bounds]
    return Bounded(usable, _with_parents([bounds[subject.id] for subject in usable], candidates), skipped)


def _detailed(
    piece: Piece, placed: Placement, shapes: Sequence[BoundShape]
) -> tuple[tuple[Detailed, ...], tuple[Detailed, ...]]:
    """Hull and tree, if wanted, in a thing's own axes and in the world. Raises CollisionBoundsError."""
    made: list[tuple[Detailed, Detailed]] = []
    if "hull" in shapes:
        made.append(hulls(piece, placed))
    if "spheres" in shapes:
        made.append(trees(piece, placed))
    return tuple(local for local, _ in made), tuple(world for _, world in made)


def _placed(
    pieces: Iterable[Piece], subjects: Sequence[Subject], skipped: list[Skipped]
) -> Iterator[_Placed]:
    """Subjects with their geometry and their place; those without either go to `skipped`."""
    for piece in pieces:
        subject = subjects[piece.subject]
        if not len(piece.geometry.points):
            skipped.append(Skipped(subject.name, "no vertices"))
            continue
        try:
            yield subject, piece, placement(piece.geometry.matrix)
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, reason_of(error)))


def _with_parents(objects: list[ObjectBounds], candidates: Sequence[Subject]) -> list[ObjectBounds]:
    """The same with parents that have no bounds replaced by the nearest ancestor that has."""
    parents = {subject.id: subject.parent for subject in candidates}
    written = {entry.id for entry in objects}
    resolved = []
    for entry in objects:
        parent = entry.parent
        while parent is not None and parent not in written:
            parent = parents[parent]
        resolved.append(ObjectBounds(**{**vars(entry), "parent": parent}))
    return resolved
