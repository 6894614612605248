"""Job: contacts over a frame range."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import bpy
import numpy as np

from ...core import ContactReport, Progress, ScanSettings, scan_contacts
from ...core.messages import message
from ...core.scan.scan import joined_shares, never, scan_share
from ...core.scan.sections.bounds import SECTION_INTERVALS, sections_of, share_of
from ...formats import Confirmation, Partial
from ..animation.obstacles import MeshObstacles
from ..animation.pose_batch import SkipLog
from ..animation.scan_shares import ScanShare, has_sections, identity_of, joinable_records, refusal_of
from ..animation.scene_motion import SceneMotion
from ..blender.frames import advance_to, go_to, playhead, preserve_frame, sample_times, scene_by_uid
from ..blender.simulation import Simulations
from ..errors import SceneError
from ..poses.private_scene import returning_between_steps, without_private_scenes
from ..poses.subject_index import SubjectIndex, SubjectReading
from ..progress import JobProgress, until_stopped
from ..settings import DEFAULT_SHAPES, OBSTACLE_SHAPES, SHAPES_OF_TRIANGLES, ContactSettings, FitSettings
from ..subjects.scan_settings import make_scan_settings, obstacle_mask
from ..subjects.shared_geometry import SharedGeometry
from ..subjects.subject_list import SubjectList
from .bounds import bound_subjects, require_active_scene
from .late_instances import LateInstances
from .mesh_confirmation import confirm_contacts
from .part_splits import split_pieces
from .result import Result, result_of

_Found = TypeVar("_Found")

_PREPARATION, _PREPARATION_OF_PARTS = 0.05, 0.5
"""Part of the work of a scan before its first frame, for the progress; more if meshes are split."""


class PreparedScan(NamedTuple):
    """All that a scan needs of the scene.

    Attributes
    ----------
    bounds : Result
        Bounds at the first frame, without contacts.
    motion : SceneMotion
    settings : ScanSettings
    played : dict
        Why subjects are read from the user's scene, by the index of each that is.
    """

    bounds: Result
    motion: SceneMotion
    settings: ScanSettings
    played: Mapping[int, str] = MappingProxyType({})


def find_contacts(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    stops: Callable[[], bool] = never,
    drops: Callable[[], bool] = never,
    shares: Sequence[ScanShare] = (),
) -> Generator[Progress, None, Result]:
    """Find the contacts of the selected objects over a frame range.

    In any case the playhead returns to where it was. Closing the generator cancels, without a result.

    Parameters
    ----------
    scene : bpy.types.Scene
        Must be the active scene.
    settings : ContactSettings
        Selection, shapes, pairs and frames of the scan.
    stops : callable
        Called before each frame, and while contacts are tested on meshes. If it returns True, the job ends
        early: its result is that of the frames so far, and is marked as partial.
    drops : callable
        Called after each part of the work. If it returns True, a job that ends early drops the frames that
        are read but not solved.
    shares : sequence of ScanShare
        All shares of this scan, which are joined instead of scanning. If one of them cannot be divided, all
        frames are scanned.

    Yields
    ------
    progress : Progress
        Its share is that of the whole job, with all scans and tests on meshes.

    Returns
    -------
    result : Result
        Its bounds are those of the first frame.

    Raises
    ------
    SceneError
        For invalid settings, a selection that names something that does not exist, or shares of another scan.
    """
    if any(share.refusal for share in shares):
        shares = ()
    result = yield from without_private_scenes(_find(scene, settings, _Control(stops, drops, shares)))
    return result


class _Frames(NamedTuple):
    """Frames of a scan: start, end and step, and the times of the samples."""

    span: tuple[float, float, float]
    times: list[float]


class _Control(NamedTuple):
    """Functions that end a job early, and the shares that it joins: see `find_contacts`."""

    stops: Callable[[], bool]
    drops: Callable[[], bool]
    shares: Sequence[ScanShare]


def _find(
    scene: bpy.types.Scene, settings: ContactSettings, control: _Control
) -> Generator[Progress, None, Result]:
    """See `find_contacts`."""
    frames = _check(scene, settings)
    uid = scene.session_uid
    with preserve_frame(scene):
        late, job = LateInstances(), JobProgress()
        # Testing contacts on meshes takes about as long as a scan.
        job.begin_phase(0.5 if settings.confirm else 1.0)
        prepared, report = yield from job.track(_scan(scene, settings, frames, control, late, job))
        if late.subjects and report.stopped_at is None:
            # What was found stays if the scan with the instances that came is stopped.
            again = _scan(scene_by_uid(uid), settings, frames, control, late, job, is_second=True)
            complete = yield from until_stopped(job.track(again), control.stops)
            prepared, report = complete or (prepared, report)
        return (yield from _confirmed_result(uid, settings, frames.times, (prepared, report), job, control))


def _confirmed_result(
    uid: int,
    settings: ContactSettings,
    times: Sequence[float],
    found: tuple[PreparedScan, ContactReport],
    job: JobProgress,
    control: _Control,
) -> Generator[Progress, None, Result]:
    """Test the contacts of a scan on meshes, if requested, and make its result."""
    prepared, report = found
    confirmed: tuple[Confirmation | None, ...] = ()
    if settings.confirm:
        job.begin_phase(1.0)
        contacts, subjects = report.contacts, prepared.bounds.subjects
        motion, stops = prepared.motion, control.stops
        tests = confirm_contacts(uid, subjects, contacts, settings.clearance, motion, stops)
        confirmed = yield from job.track(tests)
    return _result(prepared, settings, times, report, confirmed)


def scan_frame_share(
    scene: bpy.types.Scene, settings: ContactSettings, index: int, count: int
) -> Generator[Progress, None, ScanShare]:
    """Scan one share of the frames of `find_contacts`, which joins the shares.

    Parameters
    ----------
    scene : bpy.types.Scene
        Must be the active scene.
    settings : ContactSettings
        Settings of the whole scan.
    index, count : int
        Number of the share, from 0, and number of shares.

    Yields
    ------
    progress : Progress

    Returns
    -------
    share : ScanShare
        If the scan cannot be divided, it has the reason alone.

    Raises
    ------
    SceneError
        As `find_contacts`.
    """
    frames = _check(scene, settings)
    refusal = refusal_of(scene)
    if not has_sections(scene, settings):
        refusal = f"the animation is shorter than {SECTION_INTERVALS + 1} steps"
    if refusal:
        return ScanShare(index, count, "", refusal)
    return (yield from without_private_scenes(_only_share(scene, settings, frames, (index, count))))


def _only_share(
    scene: bpy.types.Scene, settings: ContactSettings, frames: _Frames, number: tuple[int, int]
) -> Generator[Progress, None, ScanShare]:
    """See `scan_frame_share`; number : of the share, from 0, and of all."""
    job = JobProgress()
    with preserve_frame(scene):
        share, _, _ = yield from job.track(_scan_frame_share(scene, settings, frames, number, job))
    return share


def scan_and_join(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, Result | None]:
    """Scan one share of the frames of `find_contacts`, and join all shares if it is the last one.

    The scene is prepared once for both, which `find_contacts` would repeat.

    Parameters
    ----------
    scene : bpy.types.Scene
        Must be the active scene, of a scan that can be divided.
    settings : ContactSettings
        Settings of the whole scan.
    number : (int, int)
        Number of the share, from 0, and number of shares.
    exchange : callable
        Keeps the share; returns all shares, or none if others are missing.

    Yields
    ------
    progress : Progress

    Returns
    -------
    result : Result or None
        That of `find_contacts`; None if other shares are missing.

    Raises
    ------
    SceneError
        As `find_contacts`.
    """
    shares, result = yield from without_private_scenes(_scan_and_join(scene, settings, number, exchange))
    if shares and result is None:
        result = yield from find_contacts(scene, settings, shares=shares)
    return result


def _scan_and_join(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, tuple[Sequence[ScanShare], Result | None]]:
    """See `scan_and_join`: all shares, and the result unless one of them cannot be joined."""
    frames, uid, job = _check(scene, settings), scene.session_uid, JobProgress()
    job.begin_phase(0.5 if settings.confirm else 1.0)
    with preserve_frame(scene):
        share, prepared, skips = yield from job.track(_scan_frame_share(scene, settings, frames, number, job))
        shares = exchange(share)
        if not shares or any(each.refusal for each in shares):
            return shares, None
        prepared.motion.skips = skips
        found = _join(prepared, settings, frames, shares)
        control = _Control(never, never, shares)
        result = yield from _confirmed_result(uid, settings, frames.times, found, job, control)
    return shares, result


def _scan_frame_share(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: _Frames,
    number: tuple[int, int],
    job: JobProgress,
) -> Generator[Progress, None, tuple[ScanShare, PreparedScan, SkipLog]]:
    """See `scan_frame_share`: the share, what it was prepared from, and the subjects skipped before it."""
    uid, late, end = scene.session_uid, LateInstances(), job.end
    prepared, times = yield from _prepare_motion(scene, settings, frames, LateInstances(), job)
    skips = prepared.motion.skips.duplicate()
    share = ScanShare(
        *number,
        identity_of(prepared.bounds.subjects, settings, frames.times),
        times=tuple(times),
        played=prepared.played,
    )
    sections = share_of(sections_of(len(times)), *number)
    if not prepared.bounds.subjects or not sections:
        return share, prepared, skips
    job.begin_phase(end)
    scan = scan_share(prepared.motion, times, prepared.settings, sections)
    records = yield from _reading_late(scan, uid, settings, prepared, late)
    refusal = refusal_of(scene_by_uid(uid))
    if late.subjects:
        refusal = f"{late.subjects[0].name} appears after the first frame"
    if refusal:
        return ScanShare(*number, share.identity, refusal), prepared, skips
    share = share._replace(records=records, skips=tuple(prepared.motion.skips.events))
    return share, prepared, skips


def _join(
    prepared: PreparedScan, settings: ContactSettings, frames: _Frames, shares: Sequence[ScanShare]
) -> tuple[PreparedScan, ContactReport]:
    """Join shares. Raises SceneError if one is of another scan."""
    records = joinable_records(shares, identity_of(prepared.bounds.subjects, settings, frames.times))
    for share in shares:
        prepared.motion.skips.take_over(share.skips)
    prepared = prepared._replace(played=shares[0].played)
    if not records:
        return prepared, ContactReport((), ())
    return prepared, joined_shares(shares[0].times, prepared.settings, records)


def _scan(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: _Frames,
    control: _Control,
    late: LateInstances,
    job: JobProgress,
    is_second: bool = False,
) -> Generator[Progress, None, tuple[PreparedScan, ContactReport]]:
    """Scan all frames, and collect instances that come; in the second of two scans test them.

    late : filled in the first scan, tested in the second one
    job : at the end of the first scan, what is left of its phase is for the second one
    """
    uid, end = scene.session_uid, job.end
    tested = late if is_second else LateInstances()
    if control.shares and not settings.confirm:
        # Nothing is sampled again, so neither fits nor sources are needed.
        prepared = yield from _prepare_first_frame(scene, settings, frames, tested, job)
        return _join(prepared, settings, frames, control.shares)
    prepared, times = yield from _prepare_motion(scene, settings, frames, tested, job)
    # Without subjects the frames are played to find instances that come.
    if not (prepared.bounds.subjects or prepared.motion.may_have_late_instances):
        return prepared, ContactReport((), ())
    job.begin_phase(end)
    if control.shares:
        return _join(prepared, settings, frames, control.shares)
    scan = scan_contacts(prepared.motion, times, prepared.settings, control.stops, control.drops)
    if not is_second:
        scan = _reading_late(scan, uid, settings, prepared, late, job)
    report = yield from scan
    job.end = end
    return prepared, report


def _prepare_motion(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: _Frames,
    late: LateInstances,
    job: JobProgress,
) -> Generator[Progress, None, tuple[PreparedScan, list[float]]]:
    """Read the scene at its first frame, choose the sources of motion, and return the times to sample.

    late : more subjects
    """
    uid, home, times = scene.session_uid, playhead(scene), frames.times
    begun = Progress(0, len(times), times[0])
    prepared = yield from _prepare_first_frame(scene, settings, frames, late, job)
    # Everything about the scene has been read: it may be deleted after this yield.
    yield begun
    for _ in prepared.motion.fitting():
        yield begun
    with nullcontext() if bpy.app.background else returning_between_steps(scene_by_uid(uid), home):
        for _ in prepared.motion.comparing(times):
            yield begun
    if not prepared.motion.is_played and playhead(scene_by_uid(uid)) != home:
        # From here on the playhead stays where it was.
        go_to(scene_by_uid(uid), home)
    has_switches = settings.motion == "adaptive" and bool(
        prepared.bounds.subjects or prepared.motion.may_have_late_instances
    )
    prepared = prepared._replace(played=prepared.motion.played)
    return prepared, prepared.motion.with_switches(times) if has_switches else times


def _prepare_first_frame(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: _Frames,
    late: LateInstances,
    job: JobProgress,
) -> Generator[Progress, None, PreparedScan]:
    """Read the scene at its first frame; late : more subjects."""
    begun = Progress(0, len(frames.times), frames.times[0])
    preparation = _PREPARATION_OF_PARTS if settings.shape == "compound" else _PREPARATION
    job.begin_phase(job.done + preparation * (job.end - job.done))
    return (yield from _prepare(scene, settings, frames, begun, late))


def _reading_late(
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


def _check(scene: bpy.types.Scene, settings: ContactSettings) -> _Frames:
    """Check the settings and return the frames to scan. Raises SceneError."""
    require_active_scene(scene)
    span = settings.frames or (scene.frame_start, scene.frame_end, scene.frame_step)
    times = sample_times(*span)
    if not (settings.clearance >= 0 and np.isfinite(settings.clearance)):
        raise SceneError(
            message("clearance {clearance:g}: must be a length of 0 or more", clearance=settings.clearance)
        )
    if settings.obstacles is not None and settings.shape not in OBSTACLE_SHAPES:
        raise SceneError(
            message(
                "obstacles {obstacles!r}: need spheres or sphere trees as the shape",
                obstacles=settings.obstacles,
            )
        )
    return _Frames(span, times)


def _prepare(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: _Frames,
    begun: Progress,
    late: LateInstances,
) -> Generator[Progress, None, PreparedScan]:
    """Go to the first frame and read bounds, pairs and motion there; yields `begun` between parts.

    late : more subjects
    """
    uid, first_time = scene.session_uid, frames.times[0]
    advance_to(scene, first_time, Simulations.of(scene), None)
    yield begun
    scene = scene_by_uid(uid)
    readings: list[SubjectReading] = []

    def read(depsgraph: bpy.types.Depsgraph, found: SubjectList, fit: FitSettings) -> list[SharedGeometry]:
        with_triangles: Container[int] = range(len(found))
        if settings.shape not in SHAPES_OF_TRIANGLES:
            mask = obstacle_mask(scene_by_uid(uid), found, settings.obstacles)
            with_triangles = frozenset(np.flatnonzero(mask).tolist())
        readings.append(SubjectReading.of(SubjectIndex(found, fit, with_triangles), depsgraph))
        return readings[0].pieces

    bounded = yield from bound_subjects(
        scene, settings.selection, DEFAULT_SHAPES, settings.fit, settings.shape, begun, read
    )
    subjects = [*bounded.subjects, *late.subjects]
    scene = scene_by_uid(uid)
    parents = [*bounded.objects.parents(), *(entry.parent for entry in late.objects)]
    pairs = make_scan_settings(scene, subjects, parents, settings)
    bounds = result_of(scene, *bounded, frames.span, first_time)
    if late.subjects:
        bounds = replace(bounds, subjects=subjects, objects=[*bounded.objects, *late.objects])
    yield begun
    scene = scene_by_uid(uid)
    is_obstacle = obstacle_mask(scene, subjects, settings.obstacles)
    obstacles = MeshObstacles(subjects, is_obstacle, settings.one_sided)
    yield begun
    reading = readings[0]
    yield from _split_meshes(reading, settings, begun)
    scene = scene_by_uid(uid)
    shape, fit = settings.shape, settings.fit
    if late.subjects or bounded.subjects is not reading.subject_index.subjects:
        # Others than those that were read at first.
        motion = SceneMotion(scene, subjects, settings.selection, shape, fit, obstacles, late.batches)
    else:
        motion = SceneMotion(scene, reading, settings.selection, shape, fit, obstacles)
    scan = replace(
        pairs,
        clearance=settings.clearance,
        motion=settings.motion,
        owners=motion.owners,
        obstacles=obstacles.for_scan,
    )
    return PreparedScan(replace(bounds, obstacles=tuple(obstacles.indices.tolist())), motion, scan)


def _split_meshes(
    reading: SubjectReading, settings: ContactSettings, begun: Progress
) -> Generator[Progress, None, None]:
    """Split the meshes of a scan of convex parts, for its fits. Yields `begun` with the share that is done.

    One step at a time, so that a window can stop: the split of a mesh takes about a second.
    """
    if settings.shape == "compound" and settings.fit.parts > 1:
        sources = reading.subject_index.take(reading.pieces).values()
        for share in split_pieces(sources, settings.fit):
            yield begun._replace(part=share)


def _result(
    prepared: PreparedScan,
    settings: ContactSettings,
    times: Sequence[float],
    report: ContactReport,
    confirmed: tuple[Confirmation | None, ...],
) -> Result:
    """Make the result of a scan, which is partial if the scan was stopped before its end."""
    result, motion = prepared.bounds.with_late_warnings(), prepared.motion
    unconfirmed = len(report.contacts) - len(confirmed) if settings.confirm else 0
    if report.stopped_at is not None or unconfirmed:
        result = replace(result, partial=Partial(times[-1], unconfirmed))
    if report.stopped_at is not None:
        result = replace(result, time=replace(result.time, end=report.stopped_at))
    is_adaptive = settings.motion == "adaptive" and len(times) > 1
    linear = np.flatnonzero(~motion.refinable) if is_adaptive else ()
    found = replace(
        result,
        skipped=(*result.skipped, *motion.skipped),
        report=report,
        shape=motion.shape,
        played={result.subjects[index].id: reason for index, reason in prepared.played.items()}
        if is_adaptive
        else {},
        linear_only=tuple(result.subjects[index].name for index in linear),
        confirmed=(*confirmed, *[None] * unconfirmed),
        rotating=tuple(motion.rotating.tolist()),
    )
    return found.with_accepted_pairs()
