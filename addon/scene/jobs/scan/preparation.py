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
from ....core.progress import converted, run_to_end
from ...blender.animated import Simulations, turning_times
from ...blender.frames import advance_to, playhead, scene_by_uid
from ...blender.private_scene import go_to_within_step, returning_between_steps
from ...motion.frame_reader import FrameReader
from ...motion.posed_shapes import MeshObstacles
from ...motion.scene_motion import SceneMotion
from ...progress import JobProgress
from ...settings import SHAPES_OF_TRIANGLES
from ...subjects.find import find_in_parts
from ...subjects.scan_settings import NamePatterns, make_scan_settings
from ..bounds_table import BoundedSubjects, fit_bounds
from ..part_splits import split_pieces
from ..result import Result, result_of
from .late_objects import LateInstances
from .request import ScanRequest
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

    @property
    def has_subjects(self) -> bool:
        """Return whether there is something to scan, now or later."""
        return bool(self.bounds.subjects) or self.motion.may_have_late_instances


def prepare_motion(
    request: ScanRequest, late: LateInstances, job: JobProgress
) -> Generator[Progress, None, tuple[PreparedScan, list[float]]]:
    """Read the scene at its first frame, choose the sources of motion, and return the times to sample.

    late : more subjects
    """
    home, times = playhead(scene_by_uid(request.uid)), request.times
    prepared = yield from prepare_first_frame(request, late, job)
    # Everything about the scene has been read: it may be deleted after this yield.
    yield request.begun
    prepared = yield from fitted_scan(prepared, request.begun)
    motion = prepared.motion
    for _ in choose_sources(scene_by_uid(request.uid), motion, times, home):
        yield request.begun
    prepared = prepared._replace(played=motion.sources.reasons)
    if request.settings.motion != "adaptive" or not prepared.has_subjects:
        return prepared, times
    # Motion that is not known, and can be sampled within frames, is where keys turn there.
    if len(times) > 1 and not motion.known.all() and motion.refinable.all():
        times = sorted([*times, *turning_times(bpy.context.evaluated_depsgraph_get(), times)])
    return prepared, motion.with_switches(times)


def fitted_scan(prepared: PreparedScan, begun: Progress) -> Generator[Progress, None, PreparedScan]:
    """Fit all subjects of a scan, and give its result the shapes; yields `begun` after each batch."""
    motion, bounds = prepared.motion, prepared.bounds
    if motion.shape not in SHAPES_OF_SCANS:
        for _ in motion.fitting():
            yield begun
        return prepared
    fitted = yield from converted(motion.fitted(), lambda _: begun)
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
    request: ScanRequest, late: LateInstances, job: JobProgress
) -> Generator[Progress, None, PreparedScan]:
    """Go to the first frame and read bounds, pairs and motion there.

    late : more subjects
    """
    settings, begun = request.settings, request.begun
    preparation = _PREPARATION_OF_PARTS if settings.shape == "compound" else _PREPARATION
    job.begin_phase(job.done + preparation * (job.end - job.done))
    scene, time = scene_by_uid(request.uid), request.times[0]
    simulations = Simulations.of(scene)
    if bpy.app.background or simulations.first_frame is not None or time != playhead(scene):
        advance_to(scene, time, simulations, None)
    else:
        # Values without keys are reset although the scene is at the first frame already.
        with returning_between_steps(scene, time):
            go_to_within_step(scene, time)
    yield begun
    reader, bounded = yield from _bound_first_frame(request)
    scene = scene_by_uid(request.uid)
    subjects = [*bounded.subjects, *late.subjects]
    parents = [*bounded.objects.parents(), *(entry.parent for entry in late.objects)]
    is_obstacle = NamePatterns(scene, subjects).mask("obstacles", settings.obstacles)
    selection = settings.selection
    # They are tested although one may be the other's parent.
    is_pair_named = len(subjects) == 2 and (
        selection.selected_only or bool(selection.patterns) or selection.owners is not None
    )
    pairs = make_scan_settings(scene, subjects, parents, settings, is_pair_named, is_obstacle)
    bounds = replace(result_of(scene, *bounded, request.span, time), skipped_pairs=pairs.skipped)
    if late.subjects:
        bounds = replace(bounds, subjects=subjects, objects=[*bounded.objects, *late.objects])
    yield begun
    obstacles = MeshObstacles(subjects, is_obstacle, settings.one_sided)
    yield begun
    if settings.shape == "compound" and settings.fit.parts > 1:
        # One step at a time, so that a window can stop: the split of a mesh takes about a second.
        for share in split_pieces(reader.first_geometries().values(), settings.fit):
            yield begun._replace(part=share)
    has_all_been_read = not late.subjects and bounded.subjects is reader.subjects
    motion = SceneMotion(
        scene_by_uid(request.uid),
        reader if has_all_been_read else subjects,
        selection,
        settings.shape,
        settings.fit,
        obstacles,
        late.readers,
    )
    scan = replace(
        pairs.settings,
        clearance=settings.clearance,
        motion=settings.motion,
        owners=motion.owners,
        obstacles=obstacles.for_scan,
    )
    return PreparedScan(bounds, motion, scan)


def _bound_first_frame(
    request: ScanRequest,
) -> Generator[Progress, None, tuple[FrameReader, BoundedSubjects]]:
    """Read the subjects of a scan in the scene, which is at the first frame, and fit their bounds."""
    settings, depsgraph = request.settings, bpy.context.evaluated_depsgraph_get()
    scene = scene_by_uid(request.uid)
    found, skipped, _ = run_to_end(find_in_parts(scene, depsgraph, settings.selection))
    yield request.begun
    shapes, fit = request.shapes_of(found.representatives())
    with_triangles: Container[int] = range(len(found))
    if settings.shape not in SHAPES_OF_TRIANGLES:
        patterns = NamePatterns(scene_by_uid(request.uid), found)
        mask = patterns.mask("obstacles", settings.obstacles)
        with_triangles = frozenset(np.flatnonzero(mask).tolist())
    reader = FrameReader(found, fit, with_triangles)
    reader.read_first(bpy.context.evaluated_depsgraph_get())
    yield request.begun
    fitting = fit_bounds(reader.shared, found, shapes, skipped)
    return reader, (yield from converted(fitting, lambda _: request.begun))


def read_late_instances(
    scan: Generator[Progress, None, _Found],
    request: ScanRequest,
    prepared: PreparedScan,
    late: LateInstances,
    job: JobProgress | None = None,
) -> Generator[Progress, None, _Found]:
    """Run a scan, and read instances that come, after each sample, before it goes to another time.

    job : where another scan follows, which takes as long as this one
    """
    end = job.end if job else 1.0

    def read(progress: Progress) -> Progress:
        late.read(request, prepared.motion, prepared.bounds.subjects)
        if job and late.subjects and job.end == end:
            left = 1 - progress.share
            job.begin_phase(job.done + (end - job.done) * left / (1 + left), progress.share)
        return progress

    return converted(scan, read)
