"""Job: contacts over a frame range, or over one share of its frames for several processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...core import ContactReport, Progress, scan_contacts
from ...core.progress import converted
from ...core.scan.scan import joined_shares, never, scan_share
from ...core.scan.sections import SECTION_INTERVALS, sections_of, share_of
from ...formats import Confirmation, NotVerified, Partial, ScannedContacts, SkippedPairs
from ..blender.frames import preserve_frame, scene_by_uid
from ..blender.private_scene import without_private_scenes
from ..motion.scan_records import ScanShare, has_sections, identity_of, joinable_records, refusal_of
from ..progress import JobProgress, until_stopped
from ..settings import ContactSettings
from .detailed_shapes import SHAPES_OF_SCANS
from .result import Result
from .scan.mesh_confirmation import confirm_contacts
from .scan.preparation import (
    LateInstances,
    PreparedScan,
    ScanRequest,
    fitted_scan,
    prepare_first_frame,
    prepare_motion,
    scan_request,
    with_late_meshes,
)

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
    request = scan_request(scene, settings, stops, drops)
    with preserve_frame(scene):
        late, job = LateInstances(), JobProgress()
        # Testing contacts on meshes takes about as long as a scan.
        job.begin_phase(0.5 if settings.confirm else _LATE_MESHES)
        found = yield from job.track(_scan(request, late, job, shares))
        if late.subjects and found[1].stopped_at is None:
            # What was found stays if the scan with the instances that came is stopped.
            again = yield from until_stopped(job.track(_scan(request, late, job, shares)), stops)
            found = again or found
        return (yield from _confirmed_result(request, *found, job))


def _confirmed_result(
    request: ScanRequest, prepared: PreparedScan, report: ContactReport, job: JobProgress
) -> Generator[Progress, None, Result]:
    """Test the contacts of a scan on meshes, if requested, and make its result; partial if it was stopped."""
    settings, times, motion = request.settings, request.times, prepared.motion
    confirmed: tuple[Confirmation | NotVerified, ...] = ()
    unconfirmed = 0
    if settings.confirm:
        job.begin_phase(_LATE_MESHES)
        tests = confirm_contacts(request, prepared.bounds.subjects, report.contacts, motion)
        confirmed = yield from job.track(tests)
        unconfirmed = len(report.contacts) - len(confirmed)
    result = prepared.bounds.with_late_warnings()
    if report.stopped_at is not None or unconfirmed:
        result = replace(result, partial=Partial(times[-1], unconfirmed))
    if report.stopped_at is not None:
        result = replace(result, time=replace(result.time, end=report.stopped_at))
    is_adaptive = settings.motion == "adaptive" and len(times) > 1
    linear = np.flatnonzero(~motion.refinable) if is_adaptive else ()
    skipped = dict(result.skipped_pairs)
    if report.static_pair_count:
        skipped[SkippedPairs.STATIC.value] = report.static_pair_count
    ids = result.ids
    scanned = ScannedContacts(
        report,
        ids,
        motion.shape,
        frozenset(ids[obstacle.subject] for obstacle in prepared.settings.obstacles),
        (*confirmed, *[NotVerified.STOPPED] * unconfirmed),
        clearance=settings.clearance,
    )
    result = replace(
        result,
        skipped=(*result.skipped, *motion.skips.records),
        scanned=scanned,
        played={ids[index]: reason for index, reason in prepared.played.items()} if is_adaptive else {},
        linear_only=tuple(result.subjects[index].name for index in linear),
        rotating=tuple(motion.rotating.tolist()),
        skipped_pairs=skipped,
    ).with_accepted_pairs()
    if report.stopped_at is not None:
        return result
    job.begin_phase(1.0)
    return (yield from job.track(with_late_meshes(request, result)))


def _join_shares(
    request: ScanRequest, prepared: PreparedScan, shares: Sequence[ScanShare]
) -> tuple[PreparedScan, ContactReport]:
    """Join shares. Raises SceneError if one is of another scan."""
    records = joinable_records(shares, identity_of(prepared.bounds.subjects, request.settings, request.times))
    for share in shares:
        prepared.motion.skips.take_over(share.skips)
    report = joined_shares(shares[0].times, prepared.settings, records) if records else ContactReport()
    return prepared._replace(played=shares[0].played), report


def _scan(
    request: ScanRequest, late: LateInstances, job: JobProgress, shares: Sequence[ScanShare]
) -> Generator[Progress, None, tuple[PreparedScan, ContactReport]]:
    """Scan all frames; in the first of two scans collect instances that come, in the second one test them.

    job : at the end of the first scan, what is left of its phase is for the second one
    """
    end, is_second = job.end, bool(late.subjects)
    if shares and not request.settings.confirm:
        # Nothing is sampled again, so no sources are needed, and no fits but those of the document.
        prepared = yield from prepare_first_frame(request, late, job)
        if prepared.motion.shape in SHAPES_OF_SCANS:
            prepared = yield from fitted_scan(prepared, request.begun)
        return _join_shares(request, prepared, shares)
    prepared, times = yield from prepare_motion(request, late, job)
    # Without subjects the frames are played to find instances that come.
    if not prepared.has_subjects:
        return prepared, ContactReport()
    job.begin_phase(end)
    if shares:
        return _join_shares(request, prepared, shares)
    scan = scan_contacts(prepared.motion, times, prepared.settings, request.stops, request.drops)
    if not is_second:
        scan = converted(scan, lambda progress: late.read(progress, request, prepared, job))
    report = yield from scan
    job.end = end
    return prepared, report


@without_private_scenes
def scan_frame_share(
    scene: bpy.types.Scene,
    settings: ContactSettings,
    number: tuple[int, int],
    exchange: Callable[[ScanShare], Sequence[ScanShare]],
) -> Generator[Progress, None, Result | None]:
    """Scan one share of the frames of `find_contacts`, and join all shares if they are there.

    The scene is prepared once for both, which `find_contacts` would repeat.

    settings : of the whole scan
    number : of the share, from 0, and of all
    exchange : keeps the share, which has the reason alone if the scan cannot be divided; returns all shares,
        or none if others are missing

    Returns the result of `find_contacts`; None without all shares. Raises SceneError as `find_contacts`.
    """
    request, job, late = scan_request(scene, settings), JobProgress(), LateInstances()
    refusal = refusal_of(scene)
    if not has_sections(scene, settings):
        refusal = f"the animation is shorter than {SECTION_INTERVALS + 1} steps"
    if refusal:
        exchange(ScanShare(*number, "", refusal))
        return None
    job.begin_phase(0.5 if settings.confirm else 1.0)
    with preserve_frame(scene):
        end = job.end
        prepared, times = yield from job.track(prepare_motion(request, late, job))
        # The subjects that are skipped before the share are known to all shares.
        subjects, skips = prepared.bounds.subjects, prepared.motion.skips.duplicate()
        identity = identity_of(subjects, settings, request.times)
        share = ScanShare(*number, identity, times=tuple(times), played=prepared.played)
        sections = share_of(sections_of(len(times)), *number)
        if subjects and sections:
            job.begin_phase(end)
            scan = scan_share(prepared.motion, times, prepared.settings, sections)
            records = yield from job.track(
                converted(scan, lambda progress: late.read(progress, request, prepared))
            )
            share = share._replace(records=records, skips=tuple(prepared.motion.skips.events))
            refusal = refusal_of(scene_by_uid(request.uid))
            if late.subjects:
                refusal = f"{late.subjects[0].name} appears after the first frame"
            if refusal:
                share = ScanShare(*number, identity, refusal)
        shares = exchange(share)
        if not shares:
            return None
        if not any(each.refusal for each in shares):
            prepared.motion.skips = skips
            return (yield from _confirmed_result(request, *_join_shares(request, prepared, shares), job))
    return (yield from find_contacts(scene_by_uid(request.uid), settings, shares=shares))
