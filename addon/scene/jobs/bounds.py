"""Jobs: bounds of the selected objects at one frame, and over many frames.

Over a frame range, these are swept bounds (envelopes), and bounds at each frame (tracks).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import bpy
import numpy as np

from ...core import Aabb, Progress, Shape, Sphere, envelopes_over
from ...core.messages import message
from ...formats import ObjectBounds, Skipped
from ...formats.wording import valid_text
from ..blender.animated.turns import turning_times
from ..blender.frames import (
    advance_to,
    playhead,
    preserve_frame,
    require_frame,
    restart_simulations,
    sample_times,
    scene_by_uid,
)
from ..blender.names import name_of
from ..blender.overrides import objects_outside_override
from ..blender.private_scene import keeping_open
from ..blender.simulation import Simulations
from ..errors import SceneError
from ..fitting.fit import ORIENTED_KINDS, resolve_scanned_shape
from ..motion.over_time import NO_SWEEPS, BoneSweeps, SceneBounds, may_sweep, sweep_bones
from ..progress import run_to_end
from ..settings import SHAPES_OF_TRIANGLES, BoundShape, BoundsSettings, FitSettings, Selection, ShapeName
from ..subjects.find import FoundSubjects, find_in_parts
from ..subjects.reader import SharedGeometry, SubjectReader
from ..subjects.selection import matches_pattern
from ..subjects.subject import Subject
from ..subjects.subject_list import SubjectList
from .bounds_table import BoundsColumns, BoundsTable, fit_batches
from .result import Result, result_of

_FINDING_SHARE, _SWEPT_SHARE, BOUNDS_SHARE = 0.1, 0.45, 0.5
"""Parts of the time until a file is written after which all subjects are found, bones are swept, and all are
fitted."""


def compute_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Result:
    """Fit shapes to the selection at one frame of the active scene; the playhead returns to where it was.

    Envelope and track options are ignored. The frame range is that of bones that are enclosed at all frames.

    Raises SceneError for a scene that is not active, a frame that Blender does not have, or a selection that
    names something that does not exist.
    """
    with keeping_open():
        return run_to_end(bounds_in_parts(scene, settings))


def bounds_in_parts(scene: bpy.types.Scene, settings: BoundsSettings) -> Generator[Progress, None, Result]:
    """Fit shapes as `compute_bounds` does, and yield progress up to BOUNDS_SHARE.

    The scene must not change at a yield.
    """
    require_active_scene(scene)
    if settings.frame is not None:
        require_frame(settings.frame)
    with preserve_frame(scene):
        span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
        return (yield from bounds_at_frame(scene, settings, span))


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
    uid, selection = scene.session_uid, settings.selection
    reference = playhead(scene) if settings.frame is None else settings.frame
    if settings.frame is not None:
        advance_to(scene, settings.frame, Simulations.of(scene), None)
    sweeps = NO_SWEEPS
    if may_sweep(settings.fit) and settings.fit.vertex_group is None:
        bounded, sweeps = yield from _bound_swept(scene, settings, span, pauses)
        bounded.objects.hold_all_frames(sweeps)
    else:
        bounded = yield from bound_subjects(scene, selection, settings.shapes, settings.fit, pauses=pauses)
    _require_group(bounded, selection, settings.fit)
    result, group = result_of(scene_by_uid(uid), *bounded, span, reference), settings.fit.vertex_group
    return replace(
        result,
        sweeps=sweeps,
        warnings=(*result.warnings, *sweeps.warnings()),
        vertex_group=None if group is None else valid_text(group.name),
        group=group,
        objects_outside_override=_outside_override(bounded.subjects, settings.fit),
    )


def _require_group(bounded: BoundedSubjects, selection: Selection, fit: FitSettings) -> None:
    """Raise SceneError unless each requested object has vertices of the vertex group, if there is one."""
    if fit.vertex_group is None:
        return
    names = [(subject.name, subject.key[0]) for subject in bounded.subjects]
    for pattern in selection.patterns:
        if not any(matches_pattern(pattern, *each) for each in names):
            for entry in bounded.skipped:
                if matches_pattern(pattern, entry.name):
                    raise SceneError(f"object {pattern!r}: {entry.reason}")
    if not names:
        least, group = f"{fit.vertex_group.threshold:g}", fit.vertex_group.name
        template = "no visible object has vertices of weight {weight} or more in vertex group {group!r}"
        raise SceneError(message(template, weight=least, group=group))


def require_active_scene(scene: bpy.types.Scene) -> None:
    """Raise SceneError unless `scene` is the active one: Blender evaluates only that scene's animation."""
    if scene != bpy.context.scene:
        raise SceneError(
            message("scene {name!r}: is not the active scene; make it active first", name=name_of(scene))
        )


def _outside_override(subjects: SubjectList, fit: FitSettings) -> tuple[str, ...]:
    """Names of subjects with vertices outside their override."""
    if not any(subject.override for subject in subjects.representatives()):
        return ()
    names = objects_outside_override(bpy.context.evaluated_depsgraph_get(), fit)
    outside = (subject for subject in subjects if subject.override and subject.key[0] in names)
    # All parts of an object with several overrides are outside together, so its own name is shown once.
    shown = (each.name if each.part is None else each.name.rpartition("/")[0] for each in outside)
    return tuple(dict.fromkeys(shown))


ReadSubjects: TypeAlias = Callable[[bpy.types.Depsgraph, SubjectList, FitSettings], Iterable[SharedGeometry]]
"""Function that reads the geometry of subjects, with settings for those that have none of their own."""


class BoundedSubjects(NamedTuple):
    """Subjects that have bounds, these bounds in the same order, and subjects without bounds."""

    subjects: SubjectList
    objects: BoundsTable
    skipped: list[Skipped]


def bound_subjects(
    scene: bpy.types.Scene,
    selection: Selection,
    shapes: tuple[BoundShape, ...],
    fit: FitSettings,
    scanned: ShapeName | None = None,
    pauses: Progress | None = None,
    read: ReadSubjects | None = None,
) -> Generator[Progress, None, BoundedSubjects]:
    """Fit bounds to the selection at the current frame of the active scene.

    scene : The active scene.
    selection : Filter of the visible objects.
    shapes : Shapes to fit to each subject.
    fit : For subjects without settings of their own.
    scanned : Shape requested for a scan. Where the scan uses oriented boxes, the bounds contain them too.
    pauses : Progress to yield between batches. As the scene may change at a yield, all geometry is read
        before the first batch is fitted then. None if the scene does not change: then each batch is read
        and fitted before the next, so that memory stays small, and the progress is that of this job.
    read : Reads the geometry of all subjects with settings, before the first batch is fitted.
    """
    depsgraph, time = bpy.context.evaluated_depsgraph_get(), playhead(scene)
    found = find_in_parts(scene, depsgraph, selection)
    if pauses or read:
        candidates, skipped, table = run_to_end(found)
        yield pauses or _progress(0.0, _FINDING_SHARE, 1, 1, time, "reading")
    else:
        candidates, skipped, table = yield from _with_finding_progress(found, depsgraph, time)
    if scanned is not None:
        shapes, fit = _with_scanned(scanned, candidates.representatives(), shapes, fit)
    with_triangles = _with_triangles(candidates, shapes)
    pieces: Iterable[SharedGeometry]
    if pauses or read:
        depsgraph = bpy.context.evaluated_depsgraph_get()
        read_now = SubjectReader(candidates, fit, with_triangles).geometries
        pieces = read(depsgraph, candidates, fit) if read else read_now(depsgraph)
        pieces = _read_all(pieces, candidates, skipped)
        yield pauses or _progress(0.0, _FINDING_SHARE, 1, 1, time, "reading")
    else:
        pieces = SubjectReader(candidates, fit, with_triangles).geometries(depsgraph, table)
    return (yield from _fitted(pieces, candidates, shapes, skipped, (_FINDING_SHARE, time, pauses)))


def bound_found(
    subjects: SubjectList, shapes: tuple[BoundShape, ...], fit: FitSettings, scanned: ShapeName
) -> BoundedSubjects:
    """Fit bounds as `bound_subjects` does to subjects that were found at the current frame."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    shapes, fit = _with_scanned(scanned, subjects, shapes, fit)
    pieces = SubjectReader(subjects, fit, ()).geometries(depsgraph)
    return run_to_end(_fitted(pieces, subjects, shapes, [], (_FINDING_SHARE, 0.0, None)))


def _with_scanned(
    scanned: ShapeName, subjects: Iterable[Subject], shapes: tuple[BoundShape, ...], fit: FitSettings
) -> tuple[tuple[BoundShape, ...], FitSettings]:
    """Add the oriented box to shapes where a scan uses it, and decide the axes that are left to the scan."""
    kind, fit = resolve_scanned_shape(scanned, {subject.axes for subject in subjects}, fit)
    return ((*shapes, kind) if kind in ORIENTED_KINDS else shapes), fit


def _fitted(
    pieces: Iterable[SharedGeometry],
    subjects: SubjectList,
    shapes: tuple[BoundShape, ...],
    skipped: list[Skipped],
    progress: tuple[float, float, Progress | None],
) -> Generator[Progress, None, BoundedSubjects]:
    """Fit the bounds of subjects that were found.

    progress : the share of the time before it, the frame, and the progress to yield instead, if any
    """
    columns, done = BoundsColumns(len(subjects)), 0
    begin, time, pauses = progress
    for count in fit_batches(pieces, subjects, shapes, columns, skipped):
        done += count
        yield pauses or _progress(begin, BOUNDS_SHARE, done, len(subjects), time, "fitting")
    return _bounded(subjects, columns, skipped)


def _bound_swept(
    scene: bpy.types.Scene,
    settings: BoundsSettings,
    span: tuple[float, float, float],
    pauses: Progress | None,
) -> Generator[Progress, None, tuple[BoundedSubjects, BoneSweeps]]:
    """Fit bounds as `bound_subjects` does; bones that are enclosed at all frames to their points at these.

    All geometry is read first, so the scene may change at a yield, and playing it changes nothing else.
    """
    depsgraph, time, fit = bpy.context.evaluated_depsgraph_get(), playhead(scene), settings.fit
    candidates, skipped, table = run_to_end(find_in_parts(scene, depsgraph, settings.selection))
    with_triangles = _with_triangles(candidates, settings.shapes)
    pieces = list(SubjectReader(candidates, fit, with_triangles).geometries(depsgraph, table))
    sweep = sweep_bones(scene, candidates, fit, span)
    while True:
        try:
            done, total, at, *_ = next(sweep)
        except StopIteration as stop:
            sweeps: BoneSweeps = stop.value
            break
        share = _FINDING_SHARE + (_SWEPT_SHARE - _FINDING_SHARE) * done / total
        yield pauses or Progress(done, total, at, part=share)
    pieces = [each for piece in pieces for each in _swept(piece, candidates, sweeps)]
    fitted = _fitted(pieces, candidates, settings.shapes, skipped, (_SWEPT_SHARE, time, pauses))
    return (yield from fitted), sweeps


def _swept(piece: SharedGeometry, subjects: SubjectList, sweeps: BoneSweeps) -> Iterator[SharedGeometry]:
    """Replace the vertices of a bone at one frame by its points at all frames, if there are any."""
    subject = subjects[int(piece.subjects[0])]
    if not sweeps.holds(subject):
        yield piece
        return
    for single in piece.singles():
        yield SharedGeometry.of(sweeps.swept(single, subject))


def _with_triangles(subjects: SubjectList, shapes: tuple[BoundShape, ...]) -> Container[int]:
    """Return the subjects whose triangles are needed for shapes."""
    return range(len(subjects)) if any(name in SHAPES_OF_TRIANGLES for name in shapes) else ()


def _with_finding_progress(
    parts: Generator[int, None, FoundSubjects], depsgraph: bpy.types.Depsgraph, time: float
) -> Generator[Progress, None, FoundSubjects]:
    """Yield the progress of a search for subjects, and return what it returns."""
    total = len(depsgraph.object_instances)
    while True:
        try:
            seen = next(parts)
        except StopIteration as stop:
            found: FoundSubjects = stop.value
            return found
        yield _progress(0.0, _FINDING_SHARE, seen, total, time, "reading")


def _progress(
    start: float, end: float, done: int, total: int, time: float, phase: Literal["reading", "fitting"]
) -> Progress:
    """Progress of a phase that takes a part of the time of a job, from `start` to `end`."""
    return Progress(round(1000 * (start + (end - start) * min(done / total, 1.0))), 1000, time, phase)


def _read_all(
    pieces: Iterable[SharedGeometry], subjects: SubjectList, skipped: list[Skipped]
) -> list[SharedGeometry]:
    """Read all geometry; subjects that do not exist any more are added to `skipped`."""
    every = list(pieces)
    is_present = np.zeros(len(subjects), dtype=bool)
    for piece in every:
        is_present[piece.subjects] = True
    for index in np.flatnonzero(~is_present).tolist():
        skipped.append(Skipped(subjects[index].name, message("was deleted during the computation")))
    return every


def _bounded(candidates: SubjectList, columns: BoundsColumns, skipped: list[Skipped]) -> BoundedSubjects:
    """Subjects with bounds; a parent without bounds is replaced by the nearest ancestor that has bounds."""
    rows = columns.stored_rows()
    subjects = candidates if len(rows) == len(candidates) else candidates.taken(rows)
    parents: dict[str, str | None] = {}
    if len(rows) < len(candidates):
        # Instances are no parents.
        parent_of = {subject.id: subject.parent for _, subject in candidates.singles()}
        bounded = {subject.id for _, subject in subjects.singles()}
        for id in parent_of.keys() - bounded:
            ancestor = parent_of[id]
            while ancestor is not None and ancestor not in bounded:
                ancestor = parent_of[ancestor]
            parents[id] = ancestor
    return BoundedSubjects(subjects, BoundsTable(subjects, columns, rows, parents), skipped)


_ROUNDING = 1e-11
"""Rounding errors of removing the pose of an object, as a part of its largest coordinate."""
_SAME = 1e-8
"""Largest difference of local shapes that are always the same, because rotations have nine decimals."""


def play_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Generator[Progress, None, Result]:
    """Compute bounds at one frame of the active scene, and their envelopes, tracks or both over many frames.

    Subjects are those present at the one frame. In any case the playhead returns to where it was. Closing the
    generator cancels, without a result.

    Raises SceneError for an invalid frame range, or a selection that names something that does not exist.
    """
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if settings.frame is not None:
        require_frame(settings.frame)
    uid = scene.session_uid
    with preserve_frame(scene):
        begun = Progress(0, len(times), times[0])
        result = yield from bounds_at_frame(scene, settings, span, pauses=begun)
        if settings.frame is not None:
            scene = scene_by_uid(uid)
            restart_simulations(scene, Simulations.of(scene))
        frames = len(times) if settings.tracks else 0
        motion = SceneBounds(
            scene_by_uid(uid), result.subjects, settings.selection, settings.fit, settings.envelope, frames
        )
        # Everything about the scene is read before this yield because the scene may be deleted after it.
        yield begun
        for _ in motion.fitting():
            yield begun
        if settings.envelope:
            result = yield from _with_envelopes(result, motion, times, settings)
        else:
            for index, time in enumerate(times):
                motion.sample(time)
                yield Progress(index + 1, len(times), time)
        if settings.tracks:
            yield Progress(len(times), len(times), times[-1])
            ids = [subject.id for subject in result.subjects]
            result = replace(result, tracks=motion.tracks(ids, settings.shapes))
    known = {entry.name for entry in result.skipped if entry.reason == _never_there(times)}
    absent = [entry for entry in motion.skipped if entry.name not in known]
    return replace(result.with_late_warnings(), skipped=(*result.skipped, *absent))


def _with_envelopes(
    result: Result,
    motion: SceneBounds,
    times: Sequence[float],
    settings: BoundsSettings,
) -> Generator[Progress, None, Result]:
    """Add envelopes over `times` to a result; subjects that are never present are recorded as skipped."""
    turns: list[float] = []
    if len(times) > 1 and motion.refinable.all():
        turns = turning_times(bpy.context.evaluated_depsgraph_get(), times)
    motion.turns = frozenset(turns)
    envelopes = yield from envelopes_over(motion, sorted([*times, *turns]))
    subjects, count = result.subjects, len(result.subjects)
    kinds: list[Sequence[Shape]] = [envelopes.boxes.to_list()] if "aabb" in settings.shapes else []
    kinds += [envelopes.spheres.to_list()] if "sphere" in settings.shapes else []
    shapes = list(zip(*kinds, strict=True))
    objects: tuple[ObjectBounds, ...] = tuple(
        replace(
            entry,
            envelope=in_world if present else (),
            # Bones move in the frame of their object, which is not that of their shapes.
            local_envelope=_local_envelope(entry, in_own_frame) if present and not entry.bone else (),
        )
        for entry, in_world, in_own_frame, present in zip(
            result.objects, shapes[:count], shapes[count:], envelopes.present[:count].tolist(), strict=True
        )
    )
    missing = [
        Skipped(subjects[index].name, _never_there(times))
        for index in np.flatnonzero(~envelopes.present[:count]).tolist()
    ]
    linear = np.flatnonzero(~motion.refinable[:count]).tolist() if len(times) > 1 else []
    return replace(
        result,
        objects=objects,
        skipped=(*result.skipped, *missing),
        linear_only=tuple(subjects[index].name for index in linear),
        linear_ids=tuple(subjects[index].id for index in linear),
    )


def _local_envelope(entry: ObjectBounds, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Envelope of an object in its own frame: its local shapes, if these are always the same.

    Otherwise the shapes grow by the rounding errors of removing the pose of the object.
    """
    known = {type(shape): shape for shape in entry.local if isinstance(shape, Aabb | Sphere)}
    result: list[Shape] = []
    for shape in shapes:
        assert isinstance(shape, Aabb | Sphere)
        local = known.get(type(shape))
        is_constant = local is not None and all(
            np.allclose(getattr(local, name), getattr(shape, name), rtol=0, atol=_SAME * _reach(shape))
            for name in shape.field_shapes
        )
        result.append(local if is_constant and local is not None else shape.padded(_ROUNDING * _reach(shape)))
    return tuple(result)


def _reach(shape: Aabb | Sphere) -> float:
    """Largest coordinate of a shape."""
    box = shape if isinstance(shape, Aabb) else shape.aabb()
    return float(np.abs([box.min, box.max]).max())


def _never_there(times: Sequence[float]) -> str:
    text = "not present from frame {start:g} to {end:g}: no envelope"
    return message(text, start=times[0], end=times[-1])
