"""Job: contacts over a frame range, or over one share of its frames for several processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from typing import NamedTuple

import bpy
import numpy as np

from ...core import ContactReport, Progress, scan_contacts
from ...core.scan.scan import joined_shares, never, scan_share
from ...core.scan.sections import SECTION_INTERVALS, sections_of, share_of
from ...formats import Confirmation, NotVerified, Partial, ScannedContacts, SkippedPairs
from ..blender.frames import preserve_frame, scene_by_uid
from ..blender.private_scene import without_private_scenes
from ..motion.scan_records import ScanShare, SkipLog, has_sections, identity_of, joinable_records, refusal_of
from ..progress import JobProgress, until_stopped
from ..settings import ContactSettings
from .result import Result
from .scan.late_objects import LateInstances, with_late_meshes
from .scan.mesh_confirmation import confirm_contacts
from .scan.preparation import (
    PreparedScan,
    ScanFrames,
    check_settings,
    fitted_scan,
    prepare_first_frame,
    prepare_motion,
    read_late_instances,
)
from .scan.scanned_shapes import SHAPES_OF_SCANS

_LATE_MESHES = 0.98
"""Part of a job that is done before objects without vertices are evaluated again: few scenes have any."""


@without_private_scenes
def find_contacts(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    stops: Callable[[], bool] = never,
    drops: Callable[[], bool] = never,
    shares: Sequence[ScanShare] = (),
) -> Generator[Progress, None, Result]:
    """Find the contacts of the selected objects over a frame range.

    In any case the playhead returns to where it was. Closing the generator cancels, without a result.

    scene : Must be the active scene.
    settings : Selection, shapes, pairs and frames of the scan.
    stops : Called before each frame, and while contacts are tested on meshes. If it returns True, the job
        ends early: its result is that of the frames so far, and is marked as partial.
    drops : Called after each part of the work. If it returns True, a job that ends early drops the frames
        that are read but not solved.
    shares : All shares of this scan, which are joined instead of scanning. If one of them cannot be
        divided, all frames are scanned.
    progress : Its share is that of the whole job, with all scans and tests on meshes.
    Returns result : Result. Its bounds are those of the first frame.
    Raises SceneError: for invalid settings, a selection that names something that does not exist, or shares
        of another scan.
    """
    if any(share.refusal for share in shares):
        shares = ()
    control = ScanControl(stops, drops, shares)
    frames = check_settings(scene, settings)
    uid = scene.session_uid
    with preserve_frame(scene):
        late, job = LateInstances(), JobProgress()
        # Testing contacts on meshes takes about as long as a scan.
        job.begin_phase(0.5 if settings.confirm else _LATE_MESHES)
        prepared, report = yield from job.track(_scan(scene, settings, frames, control, late, job))
        if late.subjects and report.stopped_at is None:
            # What was found stays if the scan with the instances that came is stopped.
            again = _scan(scene_by_uid(uid), settings, frames, control, late, job, is_second=True)
            complete = yield from until_stopped(job.track(again), control.stops)
            prepared, report = complete or (prepared, report)
        return (yield from confirmed_result(uid, settings, frames.times, (prepared, report), job, control))


class ScanControl(NamedTuple):
    """Functions that end a job early, and the shares that it joins: see `find_contacts`."""

    stops: Callable[[], bool]
    drops: Callable[[], bool]
    shares: Sequence[ScanShare]


def confirmed_result(
    uid: int,
    settings: ContactSettings,
    times: Sequence[float],
    found: tuple[PreparedScan, ContactReport],
    job: JobProgress,
    control: ScanControl,
) -> Generator[Progress, None, Result]:
    """Test the contacts of a scan on meshes, if requested, and make its result."""
    prepared, report = found
    confirmed: tuple[Confirmation | NotVerified, ...] = ()
    if settings.confirm:
        job.begin_phase(_LATE_MESHES)
        contacts, subjects = report.contacts, prepared.bounds.subjects
        motion, stops = prepared.motion, control.stops
        tests = confirm_contacts(uid, subjects, contacts, settings.clearance, motion, stops)
        confirmed = yield from job.track(tests)
    result = _result(prepared, settings, times, report, confirmed)
    if report.stopped_at is not None:
        return result
    job.begin_phase(1.0)
    late_meshes = with_late_meshes(uid, result, times, settings.fit, control.stops)
    return (yield from job.track(late_meshes))


def join_shares(
    prepared: PreparedScan, settings: ContactSettings, frames: ScanFrames, shares: Sequence[ScanShare]
) -> tuple[PreparedScan, ContactReport]:
    """Join shares. Raises SceneError if one is of another scan."""
    records = joinable_records(shares, identity_of(prepared.bounds.subjects, settings, frames.times))
    for share in shares:
        prepared.motion.skips.take_over(share.skips)
    prepared = prepared._replace(played=shares[0].played)
    if not records:
        return prepared, ContactReport()
    return prepared, joined_shares(shares[0].times, prepared.settings, records)


def _scan(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: ScanFrames,
    control: ScanControl,
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
        # Nothing is sampled again, so no sources are needed, and no fits but those of the document.
        prepared = yield from prepare_first_frame(scene, settings, frames, tested, job)
        if prepared.motion.shape in SHAPES_OF_SCANS:
            prepared = yield from fitted_scan(prepared, Progress(0, len(frames.times), frames.times[0]))
        return join_shares(prepared, settings, frames, control.shares)
    prepared, times = yield from prepare_motion(scene, settings, frames, tested, job)
    # Without subjects the frames are played to find instances that come.
    if not (prepared.bounds.subjects or prepared.motion.may_have_late_instances):
        return prepared, ContactReport()
    job.begin_phase(end)
    if control.shares:
        return join_shares(prepared, settings, frames, control.shares)
    scan = scan_contacts(prepared.motion, times, prepared.settings, control.stops, control.drops)
    if not is_second:
        scan = read_late_instances(scan, uid, settings, prepared, late, job)
    report = yield from scan
    job.end = end
    return prepared, report


def _result(
    prepared: PreparedScan,
    settings: ContactSettings,
    times: Sequence[float],
    report: ContactReport,
    confirmed: tuple[Confirmation | NotVerified, ...],
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
    skipped = dict(result.skipped_pairs)
    if report.static_pair_count:
        skipped[SkippedPairs.STATIC.value] = report.static_pair_count
    ids = [subject.id for subject in result.subjects]
    scanned = ScannedContacts(
        report,
        ids,
        motion.shape,
        frozenset(ids[obstacle.subject] for obstacle in prepared.settings.obstacles),
        (*confirmed, *[NotVerified.STOPPED] * unconfirmed),
        clearance=settings.clearance,
    )
    found = replace(
        result,
        skipped=(*result.skipped, *motion.skipped),
        scanned=scanned,
        played={ids[index]: reason for index, reason in prepared.played.items()} if is_adaptive else {},
        linear_only=tuple(result.subjects[index].name for index in linear),
        rotating=tuple(motion.rotating.tolist()),
        skipped_pairs=skipped,
    )
    return found.with_accepted_pairs()


@without_private_scenes
def scan_frame_share(
    scene: bpy.types.Scene, settings: ContactSettings, index: int, count: int
) -> Generator[Progress, None, ScanShare]:
    """Scan one share of the frames of `find_contacts`, which joins the shares.

    settings : of the whole scan
    index, count : number of the share, from 0, and number of shares

    Returns a share that has the reason alone if the scan cannot be divided. Raises SceneError as
    `find_contacts`.
    """
    frames = check_settings(scene, settings)
    refusal = refusal_of(scene)
    if not has_sections(scene, settings):
        refusal = f"the animation is shorter than {SECTION_INTERVALS + 1} steps"
    if refusal:
        return ScanShare(index, count, "", refusal)
    job = JobProgress()
    with preserve_frame(scene):
        share, _, _ = yield from job.track(_scan_frame_share(scene, settings, frames, (index, count), job))
    return share


def scan_and_join(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, Result | None]:
    """Scan one share of the frames of `find_contacts`, and join all shares if it is the last one.

    The scene, of a scan that can be divided, is prepared once for both, which `find_contacts` would repeat.

    number : of the share, from 0, and of all
    exchange : keeps the share; returns all shares, or none if others are missing

    Returns the result of `find_contacts`; None if other shares are missing. Raises SceneError as
    `find_contacts`.
    """
    shares, result = yield from _scan_and_join(scene, settings, number, exchange)
    if shares and result is None:
        result = yield from find_contacts(scene, settings, shares=shares)
    return result


@without_private_scenes
def _scan_and_join(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, tuple[Sequence[ScanShare], Result | None]]:
    """See `scan_and_join`: all shares, and the result unless one of them cannot be joined."""
    frames, uid, job = check_settings(scene, settings), scene.session_uid, JobProgress()
    job.begin_phase(0.5 if settings.confirm else 1.0)
    with preserve_frame(scene):
        share, prepared, skips = yield from job.track(_scan_frame_share(scene, settings, frames, number, job))
        shares = exchange(share)
        if not shares or any(each.refusal for each in shares):
            return shares, None
        prepared.motion.skips = skips
        found = join_shares(prepared, settings, frames, shares)
        control = ScanControl(never, never, shares)
        result = yield from confirmed_result(uid, settings, frames.times, found, job, control)
    return shares, result


def _scan_frame_share(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    frames: ScanFrames,
    number: tuple[int, int],
    job: JobProgress,
) -> Generator[Progress, None, tuple[ScanShare, PreparedScan, SkipLog]]:
    """See `scan_frame_share`: the share, what it was prepared from, and the subjects skipped before it."""
    uid, late, end = scene.session_uid, LateInstances(), job.end
    prepared, times = yield from prepare_motion(scene, settings, frames, LateInstances(), job)
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
    records = yield from read_late_instances(scan, uid, settings, prepared, late)
    refusal = refusal_of(scene_by_uid(uid))
    if late.subjects:
        refusal = f"{late.subjects[0].name} appears after the first frame"
    if refusal:
        return ScanShare(*number, share.identity, refusal), prepared, skips
    share = share._replace(records=records, skips=tuple(prepared.motion.skips.events))
    return share, prepared, skips
