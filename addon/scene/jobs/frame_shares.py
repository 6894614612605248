"""Job: shares of the frames of one scan, for several processes, and the result of all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import bpy

from ...core import Progress
from ...core.scan.scan import never, scan_share
from ...core.scan.sections import SECTION_INTERVALS, sections_of, share_of
from ..animation.scan_shares import ScanShare, has_sections, identity_of, refusal_of
from ..animation.skips import SkipLog
from ..blender.frames import preserve_frame, scene_by_uid
from ..blender.private_scene import without_private_scenes
from ..progress import JobProgress
from ..settings import ContactSettings
from .contacts import ScanControl, confirmed_result, find_contacts, join_shares
from .result import Result
from .scan.late_instances import LateInstances
from .scan.preparation import PreparedScan, ScanFrames, check_settings, prepare_motion, read_late_instances


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
