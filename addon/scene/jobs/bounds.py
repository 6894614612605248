"""Jobs: bounds of the selected objects at one frame, and over many frames.

Over a frame range, these are swept bounds (envelopes), and bounds at each frame (tracks).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import replace
from typing import Literal

import bpy
import numpy as np

from ...core import Aabb, Progress, Shape, Sphere, envelopes_over
from ...core.messages import message
from ...core.progress import converted, run_to_end
from ...formats import ObjectBounds, Skipped
from ...formats.wording import valid_text
from ..blender.animated import Simulations, turning_times
from ..blender.frames import (
    advance_to,
    playhead,
    preserve_frame,
    require_active_scene,
    require_frame,
    sample_times,
    scene_by_uid,
)
from ..blender.instances import InstanceTable
from ..blender.object_settings import may_sweep, objects_outside_override
from ..blender.private_scene import keeping_open, without_private_scenes
from ..errors import SceneError
from ..motion.over_time import NO_SWEEPS, BoneSweeps, SceneBounds, sweep_bones
from ..settings import SHAPES_OF_TRIANGLES, BoundsSettings
from ..subjects.find import find_in_parts
from ..subjects.reader import SubjectGeometry, SubjectReader
from ..subjects.selection import matches_pattern
from .bounds_table import BoundsTable, fit_bounds
from .result import Result, result_of

_FINDING_SHARE, _SWEPT_SHARE, BOUNDS_SHARE = 0.1, 0.45, 0.5
"""Parts of the time until a file is written after which all subjects are found, bones are swept, and all are
fitted."""
_ROUNDING = 1e-11
"""Rounding errors of removing the pose of an object, as a part of its largest coordinate."""
_SAME = 1e-8
"""Largest difference of local shapes that are always the same, because rotations have nine decimals."""


def compute_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Result:
    """Fit shapes to the selection at one frame of the active scene; the playhead returns to where it was.

    Envelopes and tracks over many frames, if the settings request them, are of the subjects that are present
    at the one frame. The frame range is also that of bones that are enclosed at all frames.

    Raises SceneError for a scene that is not active, frames that Blender does not have, or a selection that
    names something that does not exist.
    """
    with keeping_open():
        return run_to_end(bounds_in_parts(scene, settings))


@without_private_scenes
def bounds_in_parts(
    scene: bpy.types.Scene, settings: BoundsSettings, may_change: bool = False
) -> Generator[Progress, None, Result]:
    """Compute bounds as `compute_bounds` does, and yield progress: of bounds at one frame up to BOUNDS_SHARE.

    In any case the playhead returns to where it was. Closing the generator cancels, without a result.

    may_change : Whether the scene may change at a yield, as for envelopes and tracks in any case: then all
        geometry is read in one step. Otherwise each batch is read and fitted before the next, so that memory
        stays small.
    """
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span) if settings.envelope or settings.tracks else []
    if settings.frame is not None:
        require_frame(settings.frame)
    uid = scene.session_uid
    with preserve_frame(scene):
        if not times:
            return (yield from _bounds_at_frame(scene, settings, span, may_change))
        begun = Progress(0, len(times), times[0])
        result = yield from converted(_bounds_at_frame(scene, settings, span, True), lambda _: begun)
        if settings.frame is not None:
            scene = scene_by_uid(uid)
            Simulations.of(scene).restart(scene)
        wanted = times, settings.envelope, settings.tracks
        motion = SceneBounds(scene_by_uid(uid), result.subjects, settings.selection, settings.fit, *wanted)
        # Everything about the scene is read before this yield because the scene may be deleted after it.
        yield begun
        for _ in motion.preparing():
            yield begun
        if settings.envelope:
            result = yield from _with_envelopes(result, motion, times, settings)
        else:
            for index, time in enumerate(times):
                motion.at(motion.shapes, np.full(len(motion.shapes), time))
                yield Progress(index + 1, len(times), time)
        if settings.tracks:
            yield Progress(len(times), len(times), times[-1])
            result = replace(result, tracks=motion.tracks(result.ids, settings.shapes))
    known = {entry.name for entry in result.skipped if entry.reason == _never_there(times)}
    absent = [entry for entry in motion.skipped if entry.name not in known]
    result = replace(result, skipped=(*result.skipped, *absent))
    return result.with_late_warnings() if bpy.app.autoexec_fail else result


def _bounds_at_frame(
    scene: bpy.types.Scene, settings: BoundsSettings, span: tuple[float, float, float], may_change: bool
) -> Generator[Progress, None, Result]:
    """Compute bounds at the frame of the settings, at which the scene is left.

    span : start, end and step of the frames that the result is about
    """
    uid, group = scene.session_uid, settings.fit.vertex_group
    reference = playhead(scene) if settings.frame is None else settings.frame
    if settings.frame is not None:
        advance_to(scene, settings.frame, Simulations.of(scene), None)
    bounded, sweeps = yield from _bound(scene, settings, span, may_change)
    if group is not None:
        found = [(subject.name, subject.key[0]) for subject in bounded.subjects]
        for pattern in settings.selection.patterns:
            if not any(matches_pattern(pattern, *each) for each in found):
                for entry in bounded.skipped:
                    if matches_pattern(pattern, entry.name):
                        raise SceneError(f"object {pattern!r}: {entry.reason}")
        if not found:
            text = "no visible object has vertices of weight {weight} or more in vertex group {group!r}"
            raise SceneError(message(text, weight=f"{group.threshold:g}", group=group.name))
    outside: Iterable[str] = ()
    if any(subject.override for subject in bounded.subjects.representatives()):
        names = objects_outside_override(bpy.context.evaluated_depsgraph_get(), settings.fit)
        subjects = [each for each in bounded.subjects if each.override and each.key[0] in names]
        # All parts of an object with several overrides are outside together, so its own name is shown once.
        outside = (each.name if each.part is None else each.name.rpartition("/")[0] for each in subjects)
    result = result_of(scene_by_uid(uid), bounded, span, reference)
    return replace(
        result,
        sweeps=sweeps,
        warnings=(*result.warnings, *(sweeps.warnings() if sweeps.collapsed else ())),
        vertex_group=None if group is None else valid_text(group.name),
        group=group,
        objects_outside_override=tuple(dict.fromkeys(outside)),
    )


def _bound(
    scene: bpy.types.Scene, settings: BoundsSettings, span: tuple[float, float, float], may_change: bool
) -> Generator[Progress, None, tuple[BoundsTable, BoneSweeps]]:
    """Find, read and fit the selection at the current frame; some bones are fitted to their points at all.

    Where bones are, or the scene may change at a yield, all geometry is read in one step.
    """
    depsgraph, time, fit = bpy.context.evaluated_depsgraph_get(), playhead(scene), settings.fit

    def progress(share: float, phase: Literal["reading", "fitting"] = "fitting") -> Progress:
        return Progress(round(1000 * share), 1000, time, phase)

    is_swept = may_sweep(fit) and fit.vertex_group is None
    finding = find_in_parts(scene, depsgraph, settings.selection)
    table: InstanceTable | None
    if is_swept or may_change:
        subjects, skipped, table = run_to_end(finding)
    else:
        total = len(depsgraph.object_instances)
        subjects, skipped, table = yield from converted(
            finding, lambda seen: progress(_FINDING_SHARE * min(seen / total, 1.0), "reading")
        )
    if may_change and not is_swept:
        yield progress(_FINDING_SHARE, "reading")
        # Another table is read, because objects may have been deleted.
        depsgraph, table = bpy.context.evaluated_depsgraph_get(), None
    with_triangles = range(len(subjects)) if SHAPES_OF_TRIANGLES.intersection(settings.shapes) else ()
    reader = SubjectReader(subjects, fit, with_triangles)
    pieces: Iterable[SubjectGeometry] = reader.geometries(depsgraph, table)
    if is_swept or may_change:
        pieces = list(pieces)
    # A window writes no file afterwards.
    begin, end, sweeps = _FINDING_SHARE, 1.0 if may_change else BOUNDS_SHARE, NO_SWEEPS
    if is_swept:
        begin, width = _SWEPT_SHARE, _SWEPT_SHARE - _FINDING_SHARE
        sweeps = yield from converted(
            sweep_bones(scene, subjects, fit, span),
            lambda done: done._replace(part=_FINDING_SHARE + width * done.share),
        )
        # Each bone has a piece of its own, as all parts have.
        pieces = [sweeps.swept(piece, subjects[int(piece.subjects[0])]) for piece in pieces]
    elif may_change:
        yield progress(begin, "reading")
    bounded = yield from converted(
        fit_bounds(pieces, subjects, settings.shapes, skipped),
        lambda share: progress(begin + (end - begin) * share),
    )
    if sweeps.points:
        held = (subject.id for _, subject in bounded.subjects.singles() if sweeps.holds(subject))
        bounded.all_frames = frozenset(held)
    return bounded, sweeps


def _with_envelopes(
    result: Result, motion: SceneBounds, times: Sequence[float], settings: BoundsSettings
) -> Generator[Progress, None, Result]:
    """Add envelopes over `times` to a result; subjects that are never present are recorded as skipped."""
    turns: list[float] = []
    is_refinable = np.isfinite(motion.grain[: len(result.subjects)])
    if len(times) > 1 and is_refinable.all():
        turns = turning_times(bpy.context.evaluated_depsgraph_get(), times)
        yield Progress(0, len(times), times[0])
    envelopes = yield from envelopes_over(motion, motion.spheres_at, sorted([*times, *turns]))
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
    absent = np.flatnonzero(~envelopes.present[:count]).tolist()
    missing = [Skipped(subjects[index].name, _never_there(times)) for index in absent]
    linear = np.flatnonzero(~is_refinable).tolist() if len(times) > 1 else []
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
        box = shape if isinstance(shape, Aabb) else shape.aabb()
        largest = float(np.abs([box.min, box.max]).max())
        local = known.get(type(shape))
        is_constant = local is not None and all(
            np.allclose(getattr(local, name), getattr(shape, name), rtol=0, atol=_SAME * largest)
            for name in shape.field_shapes
        )
        result.append(local if is_constant and local is not None else shape.padded(_ROUNDING * largest))
    return tuple(result)


def _never_there(times: Sequence[float]) -> str:
    text = "not present from frame {start:g} to {end:g}: no envelope"
    return message(text, start=times[0], end=times[-1])
