"""The jobs that all three doors run, panel, command line and script: fit bounds, play them, find contacts.

A job takes settings and gives a result that holds no bpy object. Same scene, same settings: the same
document, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace

import bpy
import numpy as np

from ..core import (
    ContactReport,
    MotionKind,
    Progress,
    Shape,
    envelopes_over,
    scan_contacts,
)
from ..core.contacts import never
from ..formats import (
    Confirmation,
    Partial,
    Skipped,
    Track,
)
from .bounding import bounded
from .bounds_playback import BoundsPlayback, TrackRecorder
from .changes import Simulations
from .errors import SceneError
from .fitting import BoundShape, FitSettings, ShapeName
from .frame_range import require_frame, sample_times
from .mesh_contacts import confirmed
from .overrides import sticking_out
from .pacing import at_once, paced
from .pairs import PairSettings, chosen_obstacles, chosen_pairs
from .playback import Playback
from .playhead import arrive, frame_kept, go_to, playhead, scene_by_uid
from .result import Result, result_of
from .selection import Selection
from .subjects import Subject

_SHAPES: tuple[BoundShape, ...] = ("sphere", "aabb")


@dataclass(frozen=True)
class BoundsSettings:
    """What to bound and how; `frame` None is where the playhead stands.

    For `play_bounds` alone:

    envelope, tracks : what is wanted of it
    frames : first, last, step, all of which may be fractional; None is the scene's own range
    """

    selection: Selection = field(default_factory=Selection)
    shapes: tuple[BoundShape, ...] = _SHAPES
    fit: FitSettings = field(default_factory=FitSettings)
    frame: float | None = None
    envelope: bool = False
    tracks: bool = False
    frames: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class ContactSettings(PairSettings):
    """What to check against what, over which frames.

    shape : what stands in for each subject; "spheres" are the leaves of a sphere tree
    frames : first, last, step, all of which may be fractional; None is the scene's own range
    motion : adaptive asks the scene between frames where that matters; linear takes the straight way
    clearance : Blender units; pairs closer than this are in contact
    confirm : ask the meshes themselves about each contact
    """

    selection: Selection = field(default_factory=Selection)
    shape: ShapeName = "aabb"
    fit: FitSettings = field(default_factory=FitSettings)
    frames: tuple[float, float, float] | None = None
    motion: MotionKind = "adaptive"
    clearance: float = 0.0
    confirm: bool = False


def compute_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Result:
    """Fit shapes to the selection at one frame; the playhead returns to where it was.

    Raises SceneError when the selection names something that is not there.
    """
    _require_current(scene)
    if settings.frame is not None:
        require_frame(settings.frame)
    with frame_kept(scene):
        span = (scene.frame_start, scene.frame_end, scene.frame_step)
        return at_once(_bounds(scene, settings, span, pauses=False))


def play_bounds(scene: bpy.types.Scene, settings: BoundsSettings) -> Generator[Progress, None, Result]:
    """Bounds at one frame, and how they move over many: envelopes, tracks; yields progress.

    What is there at the one frame has them. Closing the generator cancels and gives no result. In any case
    the playhead returns to where it was. Raises SceneError for a frame range or name that makes no sense.
    """
    _require_current(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if settings.frame is not None:
        require_frame(settings.frame)
    uid = scene.session_uid
    with frame_kept(scene):
        begun = Progress(0, len(times), times[0])
        result = yield from paced(_bounds(scene, settings, span, pauses=True), begun)
        scene = scene_by_uid(uid)
        ids = [subject.id for subject in result.subjects]
        playback = BoundsPlayback(scene, result.subjects, settings.selection, settings.fit)
        recorder = TrackRecorder(playback, len(ids), len(times)) if settings.tracks else None
        motion = recorder or playback
        # Everything about the scene is read now: it may be gone after a yield.
        yield begun
        yield from paced(playback.fitting(), begun)
        objects, missing = result.objects, []
        straight: list[int] = []
        if settings.envelope:
            found = yield from envelopes_over(motion, times)
            shapes: list[Sequence[Shape]] = [found.boxes.each()] if "aabb" in settings.shapes else []
            shapes += [found.spheres.each()] if "sphere" in settings.shapes else []
            objects = tuple(
                replace(entry, envelope=own if present else ())
                for entry, own, present in zip(objects, zip(*shapes, strict=True), found.present, strict=True)
            )
            names = [subject.name for subject in result.subjects]
            why = f"not there from frame {times[0]:g} to {times[-1]:g}: no envelope"
            missing = [Skipped(names[index], why) for index in np.flatnonzero(~found.present).tolist()]
            if len(times) > 1:
                straight = np.flatnonzero(~playback.refinable).tolist()
        else:
            for index, time in enumerate(times):
                motion.sample(time)
                yield Progress(index + 1, len(times), time)
        tracks: tuple[Track, ...] = ()
        if recorder:
            yield Progress(len(times), len(times), times[-1])
            tracks = recorder.tracks(ids, settings.shapes)
    never_there = {entry.name for entry in missing}
    away = [entry for entry in playback.left_out if entry.name not in never_there]
    return replace(
        result,
        objects=objects,
        skipped=(*result.skipped, *missing, *away),
        linear_only=tuple(result.subjects[index].name for index in straight),
        straight=tuple(ids[index] for index in straight),
        tracks=tracks,
    )


def _bounds(
    scene: bpy.types.Scene, settings: BoundsSettings, span: tuple[float, float, float], pauses: bool
) -> Generator[None, None, Result]:
    """Bounds at the frame of the settings, where the scene is left."""
    uid = scene.session_uid
    reference = playhead(scene) if settings.frame is None else settings.frame
    if settings.frame is not None:
        go_to(scene, settings.frame)
    found = yield from bounded(scene, settings.selection, settings.shapes, settings.fit, pauses=pauses)
    result = result_of(scene_by_uid(uid), *found, span, reference)
    return replace(result, sticking_out=_sticking_out(found.subjects, settings.fit))


def _sticking_out(subjects: Sequence[Subject], fit: FitSettings) -> tuple[str, ...]:
    if not any(subject.override for subject in subjects):
        return ()
    names = sticking_out(bpy.context.evaluated_depsgraph_get(), fit)
    return tuple(subject.name for subject in subjects if subject.override and subject.key[0] in names)


def find_contacts(
    scene: bpy.types.Scene, settings: ContactSettings, stops: Callable[[], bool] = never
) -> Generator[Progress, None, Result]:
    """Scan the animation for contacts; yields progress, returns the result.

    Bounds in the result are those of the first frame. `stops` is asked before each frame, and each contact
    that meshes are asked about, whether to go no further; the result is then that of the frames so far, and
    says that it is partial. Closing the generator cancels and gives no result. In any case the playhead
    returns to where it was. Raises SceneError for a frame range or name that makes no sense.
    """
    _require_current(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(f"clearance {settings.clearance:g}: must be a length of 0 or more")
    if settings.obstacles is not None and settings.shape not in ("sphere", "spheres"):
        raise SceneError(f"obstacles {settings.obstacles!r}: only spheres or sphere trees bump into meshes")
    uid = scene.session_uid
    with frame_kept(scene):
        begun = Progress(0, len(times), times[0])
        arrive(scene, times[0], Simulations.of(scene), None)
        yield begun
        scene = scene_by_uid(uid)
        parts = bounded(scene, settings.selection, _SHAPES, settings.fit, settings.shape, pauses=True)
        found = yield from paced(parts, begun)
        subjects = found.subjects
        scene = scene_by_uid(uid)
        pairs = chosen_pairs(scene, subjects, [entry.parent for entry in found.objects], settings)
        result = result_of(scene, *found, span, times[0])
        yield begun
        scene = scene_by_uid(uid)
        obstacles = chosen_obstacles(scene, subjects, settings)
        playback = Playback(scene, subjects, settings.selection, settings.shape, settings.fit, obstacles)
        scan = replace(
            pairs,
            clearance=settings.clearance,
            motion=settings.motion,
            owners=playback.owners,
            obstacles=obstacles.for_scan,
        )
        # Everything about the scene is read now: it may be gone after a yield.
        yield begun
        yield from paced(playback.fitting(), begun)
        report = ContactReport((), ())
        if subjects:
            report = yield from scan_contacts(playback, times, scan, stops)
        stopped_at = report.stopped_at
        answers: tuple[Confirmation | None, ...] = ()
        unasked = 0
        if settings.confirm:
            answers = yield from confirmed(
                uid,
                subjects,
                report.contacts,
                settings.fit,
                settings.clearance,
                playback.refinable,
                stops,
            )
            unasked = len(report.contacts) - len(answers)
            answers += (None,) * unasked
        if stopped_at is not None or unasked:
            result = replace(result, partial=Partial(times[-1], unasked))
        if stopped_at is not None:
            result = replace(result, time=replace(result.time, end=stopped_at))
    asked_between = settings.motion == "adaptive" and len(times) > 1
    linear = np.flatnonzero(~playback.refinable) if asked_between else ()
    return replace(
        result,
        skipped=(*result.skipped, *playback.left_out),
        report=report,
        shape=playback.shape,
        linear_only=tuple(subjects[index].name for index in linear),
        obstacles=tuple(obstacles.indices.tolist()),
        confirmed=answers,
    )


def _require_current(scene: bpy.types.Scene) -> None:
    """Only the scene of the context has its animation evaluated."""
    if scene != bpy.context.scene:
        raise SceneError(f"scene {scene.name!r}: is not the one on show, make it so first")
