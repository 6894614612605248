"""Job: swept bounds over a frame range (envelopes), and bounds at each frame (tracks)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core import Aabb, Progress, Shape, Sphere, envelopes_over
from ...core.messages import message
from ...formats import ObjectBounds, Skipped
from ..animation.bounds_over_time import SceneBounds
from ..blender.animated.turns import turning_times
from ..blender.frames import (
    preserve_frame,
    require_frame,
    restart_simulations,
    sample_times,
    scene_by_uid,
)
from ..blender.simulation import Simulations
from ..settings import BoundsSettings
from .bounds import bounds_at_frame, require_active_scene
from .result import Result

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
