"""Job: bounds of the selected objects at one frame."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import bpy

from ...core import CollisionBoundsError, Progress
from ...formats import ObjectBounds, Skipped
from ..blender.frames import go_to, playhead, preserve_frame, require_frame, scene_by_uid
from ..blender.mesh_data import Placement, decompose_matrix
from ..blender.missing_inputs import reasons_without_vertices
from ..blender.overrides import objects_outside_override
from ..errors import SceneError, describe_error
from ..fitting.fit import grouped_by_settings, in_batches, plain_shapes, resolve_scanned_shape
from ..fitting.local_and_world import fit_local_and_world
from ..settings import BoundShape, BoundsSettings, FitSettings, Selection, ShapeName
from ..subjects.find import Subject, find_subjects
from ..subjects.geometry import SubjectGeometry, read_subjects
from .detailed_shapes import DetailedShape, hulls, trees
from .progress import run_to_end
from .result import Result, result_of

_Placed: TypeAlias = tuple[Subject, SubjectGeometry, Placement]


def compute_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Result:
    """Fit shapes to the selection at one frame; the playhead returns to where it was.

    Parameters
    ----------
    scene : bpy.types.Scene
        Must be the active scene.
    settings : BoundsSettings
        Its frame range and envelope and track options are ignored.

    Returns
    -------
    result : Result

    Raises
    ------
    SceneError
        For a scene that is not active, a frame that Blender does not have, or a selection that names
        something that does not exist.
    """
    require_active_scene(scene)
    if settings.frame is not None:
        require_frame(settings.frame)
    with preserve_frame(scene):
        span = (scene.frame_start, scene.frame_end, scene.frame_step)
        return run_to_end(bounds_at_frame(scene, settings, span))


def bounds_at_frame(
    scene: bpy.types.Scene,
    settings: BoundsSettings,
    span: tuple[float, float, float],
    pauses: Progress | None = None,
) -> Generator[Progress, None, Result]:
    """Compute bounds at the frame of the settings, at which the scene is left.

    span : start, end and step of the frames that the result is about
    pauses : progress to yield where the caller may run other code; see `bound_subjects`
    """
    uid = scene.session_uid
    reference = playhead(scene) if settings.frame is None else settings.frame
    if settings.frame is not None:
        go_to(scene, settings.frame)
    bounded = yield from bound_subjects(
        scene, settings.selection, settings.shapes, settings.fit, pauses=pauses
    )
    result = result_of(scene_by_uid(uid), *bounded, span, reference)
    return replace(result, objects_outside_override=_outside_override(bounded.subjects, settings.fit))


def require_active_scene(scene: bpy.types.Scene) -> None:
    """Raise SceneError unless `scene` is the active one: Blender evaluates only that scene's animation."""
    if scene != bpy.context.scene:
        raise SceneError(f"scene {scene.name!r}: is not the active scene; make it active first")


def _outside_override(subjects: Sequence[Subject], fit: FitSettings) -> tuple[str, ...]:
    """Names of subjects with vertices outside their override."""
    if not any(subject.override for subject in subjects):
        return ()
    names = objects_outside_override(bpy.context.evaluated_depsgraph_get(), fit)
    return tuple(subject.name for subject in subjects if subject.override and subject.key[0] in names)


class BoundedSubjects(NamedTuple):
    """Subjects that have bounds, these bounds in the same order, and subjects without bounds."""

    subjects: list[Subject]
    objects: list[ObjectBounds]
    skipped: list[Skipped]


def bound_subjects(
    scene: bpy.types.Scene,
    selection: Selection,
    shapes: tuple[BoundShape, ...],
    fit: FitSettings,
    scanned: ShapeName | None = None,
    pauses: Progress | None = None,
) -> Generator[Progress, None, BoundedSubjects]:
    """Fit bounds to the selection at the current frame.

    Parameters
    ----------
    scene : bpy.types.Scene
        The active scene.
    selection : Selection
        Filter of the visible objects.
    shapes : tuple of BoundShape
        Shapes to fit to each subject.
    fit : FitSettings
        For subjects without settings of their own.
    scanned : ShapeName, optional
        Shape requested for a scan. Where the scan uses oriented boxes, the bounds contain them too.
    pauses : Progress, optional
        Progress to yield between batches. As the scene may change at a yield, all geometry is read before the
        first batch is fitted then. None to do everything without a pause.

    Returns
    -------
    bounded : BoundedSubjects
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    candidates, skipped = find_subjects(scene, depsgraph, selection)
    if scanned is not None:
        kind, fit = resolve_scanned_shape(scanned, {subject.axes for subject in candidates}, fit)
        shapes = (*shapes, kind) if kind == "obb" else shapes
    if pauses:
        yield pauses
        depsgraph = bpy.context.evaluated_depsgraph_get()
    with_triangles = range(len(candidates)) if "spheres" in shapes else ()
    pieces: Iterable[SubjectGeometry] = read_subjects(depsgraph, candidates, fit, with_triangles)
    if pauses:
        pieces = list(pieces)
        present = {piece.subject for piece in pieces}
        absent = [subject for index, subject in enumerate(candidates) if index not in present]
        skipped += [Skipped(subject.name, "was deleted during the computation") for subject in absent]
        yield pauses
    bounds: dict[str, ObjectBounds] = {}
    for batch in in_batches(pieces, lambda piece: piece.geometry.points):
        placed = list(_placed(batch, candidates, skipped))
        for settings, rows in grouped_by_settings([piece.fit for _, piece, _ in placed]):
            for entry in _fit_batch([placed[row] for row in rows], shapes, settings, skipped):
                bounds[entry.id] = entry
        if pauses:
            yield pauses
    usable = [subject for subject in candidates if subject.id in bounds]
    objects = _with_bounded_parents([bounds[subject.id] for subject in usable], candidates)
    return BoundedSubjects(usable, objects, skipped)


def _placed(
    pieces: Iterable[SubjectGeometry], subjects: Sequence[Subject], skipped: list[Skipped]
) -> Iterator[_Placed]:
    """Subjects with their geometry and placement; those without either are added to `skipped`."""
    missing = reasons_without_vertices()
    for piece in pieces:
        subject = subjects[piece.subject]
        if not len(piece.geometry.points):
            skipped.append(Skipped(subject.name, missing.get(subject.key[1], "no vertices")))
            continue
        try:
            yield subject, piece, decompose_matrix(piece.geometry.matrix)
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, describe_error(error)))


def _fit_batch(
    batch: Sequence[_Placed],
    shapes: tuple[BoundShape, ...],
    settings: FitSettings,
    skipped: list[Skipped],
) -> Iterator[ObjectBounds]:
    """Bounds of subjects that are fitted with the same settings; failures are added to `skipped`."""
    geometries = [piece.geometry for _, piece, _ in batch]
    placements = [placed for *_, placed in batch]
    fits = fit_local_and_world(geometries, placements, plain_shapes(shapes, settings), settings)
    for (subject, piece, placed), fit in zip(batch, fits, strict=True):
        try:
            if isinstance(fit, CollisionBoundsError):
                raise fit
            detailed = _detailed_shapes(piece, placed, shapes)
        except CollisionBoundsError as error:
            skipped.append(Skipped(subject.name, describe_error(error)))
            continue
        local, world = ((*plain, *extra) for plain, extra in zip(fit, detailed, strict=True))
        identity = subject.id, subject.name, subject.kind, subject.parent
        yield ObjectBounds(*identity, *placed, local, world, subject.override)


def _detailed_shapes(
    piece: SubjectGeometry, placed: Placement, shapes: Sequence[BoundShape]
) -> tuple[tuple[DetailedShape, ...], tuple[DetailedShape, ...]]:
    """Hull and sphere tree, if requested, in local axes and in world space. Raises CollisionBoundsError."""
    both: list[tuple[DetailedShape, DetailedShape]] = []
    if "hull" in shapes:
        both.append(hulls(piece, placed))
    if "spheres" in shapes:
        both.append(trees(piece, placed))
    return tuple(local for local, _ in both), tuple(world for _, world in both)


def _with_bounded_parents(objects: list[ObjectBounds], candidates: Sequence[Subject]) -> list[ObjectBounds]:
    """Replace each parent without bounds by the nearest ancestor that has bounds."""
    parents = {subject.id: subject.parent for subject in candidates}
    bounded = {entry.id for entry in objects}
    resolved = []
    for entry in objects:
        parent = entry.parent
        while parent is not None and parent not in bounded:
            parent = parents[parent]
        resolved.append(ObjectBounds(**{**vars(entry), "parent": parent}))
    return resolved
