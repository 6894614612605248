"""Preparation of a scan: its frames, and bounds, pairs and motion at the first one."""

from __future__ import annotations

from collections.abc import Container, Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import bpy
import numpy as np

from ....core import Progress, ScanSettings
from ....core.messages import message
from ...blender.animated.turns import turning_times
from ...blender.frames import advance_to, playhead, sample_times, scene_by_uid
from ...blender.private_scene import go_to_within_step, returning_between_steps
from ...blender.simulation import Simulations
from ...errors import SceneError
from ...motion.frame_reader import FrameReader
from ...motion.posed_shapes import MeshObstacles
from ...motion.scene_motion import FittedShapes, SceneMotion
from ...progress import JobProgress
from ...settings import (
    DEFAULT_SHAPES,
    OBSTACLE_SHAPES,
    SHAPES_OF_TRIANGLES,
    ContactSettings,
    FitSettings,
    Selection,
)
from ...subjects.reader import SharedGeometry
from ...subjects.scan_settings import make_scan_settings, obstacle_mask
from ...subjects.subject_list import SubjectList
from ..bounds import bound_subjects, require_active_scene
from ..part_splits import split_pieces
from ..result import Result, result_of
from .late_objects import LateInstances
from .scanned_shapes import SHAPES_OF_SCANS, ScannedShapes

_Found = TypeVar("_Found")

_PREPARATION, _PREPARATION_OF_PARTS = 0.05, 0.5
"""Part of the work of a scan before its first frame, for the progress; more if meshes are split."""


class PreparedScan(NamedTuple):
    """All that a scan needs of the scene.

    bounds : Bounds at the first frame, without contacts.
    motion : SceneMotion
    settings : ScanSettings
    played : Why subjects are read from the user's scene, by the index of each that is.
    """

    bounds: Result
    motion: SceneMotion
    settings: ScanSettings
    played: Mapping[int, str] = MappingProxyType({})


class ScanFrames(NamedTuple):
    """Frames of a scan: start, end and step, and the times of the samples."""

    span: tuple[float, float, float]
    times: list[float]


def check_settings(scene: bpy.types.Scene, settings: ContactSettings) -> ScanFrames:
    """Check the settings and return the frames to scan. Raises SceneError."""
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(
            message("clearance {clearance:g}: must be a length of 0 or more", clearance=settings.clearance)
        )
    if settings.obstacles and settings.shape not in OBSTACLE_SHAPES:
        raise SceneError(
            message(
                "obstacles {obstacles!r}: need spheres or sphere trees as the shape",
                obstacles=", ".join(settings.obstacles),
            )
        )
    return ScanFrames(span, times)


def prepare_motion(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: ScanFrames,
    late: LateInstances,
    job: JobProgress,
) -> Generator[Progress, None, tuple[PreparedScan, list[float]]]:
    """Read the scene at its first frame, choose the sources of motion, and return the times to sample.

    late : more subjects
    """
    uid, home, times = scene.session_uid, playhead(scene), frames.times
    begun = Progress(0, len(times), times[0])
    prepared = yield from prepare_first_frame(scene, settings, frames, late, job)
    # Everything about the scene has been read: it may be deleted after this yield.
    yield begun
    prepared = yield from fitted_scan(prepared, begun)
    for _ in choose_sources(scene_by_uid(uid), prepared.motion, times, home):
        yield begun
    has_switches = settings.motion == "adaptive" and bool(
        prepared.bounds.subjects or prepared.motion.may_have_late_instances
    )
    prepared = prepared._replace(played=prepared.motion.sources.reasons)
    if not has_switches:
        return prepared, times
    return prepared, prepared.motion.with_switches(_with_turns(prepared.motion, times))


def _with_turns(motion: SceneMotion, times: list[float]) -> list[float]:
    """Add the times within frames at which keys turn, if motion that is not known can be sampled there."""
    if len(times) < 2 or motion.known.all() or not motion.refinable.all():
        return times
    return sorted([*times, *turning_times(bpy.context.evaluated_depsgraph_get(), times)])


def fitted_scan(prepared: PreparedScan, begun: Progress) -> Generator[Progress, None, PreparedScan]:
    """Fit all subjects of a scan, and give its result the shapes; yields `begun` after each batch."""
    motion, bounds = prepared.motion, prepared.bounds
    if motion.shape not in SHAPES_OF_SCANS:
        for _ in motion.fitting():
            yield begun
        return prepared
    fitting = motion.fitted()
    while True:
        try:
            next(fitting)
        except StopIteration as stop:
            fitted: FittedShapes = stop.value
            break
        yield begun
    scanned = ScannedShapes(motion.shape, fitted, len(bounds.subjects))
    return prepared._replace(bounds=replace(bounds, scanned_shapes=scanned))


def choose_sources(
    scene: bpy.types.Scene, motion: SceneMotion, times: Sequence[float], home: float
) -> Generator[None, None, None]:
    """Choose the sources of motion, and return the scene to a frame: at the end, unless it has to be played.

    In a window the scene returns at each yield.
    """
    uid = scene.session_uid
    with nullcontext() if bpy.app.background else returning_between_steps(scene, home):
        yield from motion.comparing(times)
        if not motion.sources.is_played and playhead(scene_by_uid(uid)) != home:
            go_to_within_step(scene_by_uid(uid), home)


def prepare_first_frame(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: ScanFrames,
    late: LateInstances,
    job: JobProgress,
) -> Generator[Progress, None, PreparedScan]:
    """Read the scene at its first frame; late : more subjects."""
    begun = Progress(0, len(frames.times), frames.times[0])
    preparation = _PREPARATION_OF_PARTS if settings.shape == "compound" else _PREPARATION
    job.begin_phase(job.done + preparation * (job.end - job.done))
    return (yield from _prepare(scene, settings, frames, begun, late))


def _prepare(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: ScanFrames,
    begun: Progress,
    late: LateInstances,
) -> Generator[Progress, None, PreparedScan]:
    """Go to the first frame and read bounds, pairs and motion there; yields `begun` between parts.

    late : more subjects
    """
    uid, first_time = scene.session_uid, frames.times[0]
    _go_to_first_frame(scene, first_time)
    yield begun
    scene = scene_by_uid(uid)
    readers: list[FrameReader] = []

    def read(depsgraph: bpy.types.Depsgraph, found: SubjectList, fit: FitSettings) -> list[SharedGeometry]:
        with_triangles: Container[int] = range(len(found))
        if settings.shape not in SHAPES_OF_TRIANGLES:
            mask = obstacle_mask(scene_by_uid(uid), found, settings.obstacles)
            with_triangles = frozenset(np.flatnonzero(mask).tolist())
        readers.append(FrameReader(found, fit, with_triangles))
        readers[0].read_first(depsgraph)
        return readers[0].shared

    bounded = yield from bound_subjects(
        scene, settings.selection, DEFAULT_SHAPES, settings.fit, settings.shape, begun, read
    )
    subjects = [*bounded.subjects, *late.subjects]
    scene = scene_by_uid(uid)
    parents = [*bounded.objects.parents(), *(entry.parent for entry in late.objects)]
    is_pair_named = len(subjects) == 2 and _is_chosen(settings.selection)
    is_obstacle = obstacle_mask(scene, subjects, settings.obstacles)
    pairs = make_scan_settings(scene, subjects, parents, settings, is_pair_named, is_obstacle)
    bounds = replace(result_of(scene, *bounded, frames.span, first_time), skipped_pairs=pairs.skipped)
    if late.subjects:
        bounds = replace(bounds, subjects=subjects, objects=[*bounded.objects, *late.objects])
    yield begun
    obstacles = MeshObstacles(subjects, is_obstacle, settings.one_sided)
    yield begun
    reader = readers[0]
    yield from _split_meshes(reader, settings, begun)
    scene = scene_by_uid(uid)
    shape, fit = settings.shape, settings.fit
    if late.subjects or bounded.subjects is not reader.subjects:
        # Others than those that were read at first.
        motion = SceneMotion(scene, subjects, settings.selection, shape, fit, obstacles, late.readers)
    else:
        motion = SceneMotion(scene, reader, settings.selection, shape, fit, obstacles)
    scan = replace(
        pairs.settings,
        clearance=settings.clearance,
        motion=settings.motion,
        owners=motion.owners,
        obstacles=obstacles.for_scan,
    )
    return PreparedScan(bounds, motion, scan)


def _is_chosen(selection: Selection) -> bool:
    """Return whether a selection names objects, or has those that are selected in the viewport."""
    return selection.selected_only or bool(selection.patterns) or selection.owners is not None


def _go_to_first_frame(scene: bpy.types.Scene, time: float) -> None:
    """Evaluate the first frame; values without keys are reset, also where the scene is at it already."""
    simulations = Simulations.of(scene)
    if bpy.app.background or simulations.first_frame is not None or time != playhead(scene):
        advance_to(scene, time, simulations, None)
        return
    with returning_between_steps(scene, time):
        go_to_within_step(scene, time)


def _split_meshes(
    reader: FrameReader, settings: ContactSettings, begun: Progress
) -> Generator[Progress, None, None]:
    """Split the meshes of a scan of convex parts, for its fits. Yields `begun` with the share that is done.

    One step at a time, so that a window can stop: the split of a mesh takes about a second.
    """
    if settings.shape == "compound" and settings.fit.parts > 1:
        sources = reader.first_geometries().values()
        for share in split_pieces(sources, settings.fit):
            yield begun._replace(part=share)


def read_late_instances(
    scan: Generator[Progress, None, _Found],
    uid: int,
    settings: ContactSettings,
    prepared: PreparedScan,
    late: LateInstances,
    job: JobProgress | None = None,
) -> Generator[Progress, None, _Found]:
    """Run a scan, and read instances that come, after each sample, before it goes to another time.

    job : where another scan follows, which takes as long as this one
    """
    end = job.end if job else 1.0
    while True:
        try:
            progress = next(scan)
        except StopIteration as stop:
            result: _Found = stop.value
            return result
        late.read(uid, settings, prepared.motion, prepared.bounds.subjects)
        if job and late.subjects and job.end == end:
            left = 1 - progress.share
            job.begin_phase(job.done + (end - job.done) * left / (1 + left), progress.share)
        yield progress
