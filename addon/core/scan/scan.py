"""Contact scan of an animation: first contacts, contact intervals, penetration depths and near misses.

All subjects are sampled once a frame, and once between two frames unless the motion of all is known, or
linear. The broad phase works on bounds of whole intervals, start merged with
end, so a pair that meets and parts between two samples is not missed (continuous collision detection). Linear
motion interpolates between samples; adaptive motion samples further where that is too coarse to decide.
Frames are processed in blocks and dropped: memory does not grow with the number of frames.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import (
    LARGEST_LENGTH,
    as_flag,
    as_indices,
    as_mask,
    as_number,
    as_times,
    as_whole_number,
    require_choice,
    require_methods,
    require_type,
)
from ..numeric.arrays import Bools, Floats, Ints, as_array
from ..progress import MotionKind, Progress
from .motion import (
    DivisibleMotion,
    KnownMotion,
    Motion,
    Obstacle,
    ObstacleSpace,
    RecordedMotion,
    Sample,
    SubframeMotion,
    SubframeSampler,
)
from .pair_filter import PairFilter
from .pair_scanner import PairScanner, ScanPlan
from .report import ContactReport
from .sections import (
    Ends,
    ReportSettings,
    ScanTimes,
    Section,
    SectionRecords,
    SectionScan,
    ShareRecords,
    report_of_sections,
    sections_of,
)
from .switches import SwitchFinder

_FIRST_PROBE, _PROBE_RANGE = 0.3, 0.4
"""Part of an interval after which motion is sampled between frames, and the range in which this varies."""
_GOLDEN = (np.sqrt(5) - 1) / 2
"""The number whose multiples, without their whole parts, are spread most evenly."""
_MAX_SUBJECTS = 2**24
"""Numbers of subjects are below this, because masks of all subjects must fit the memory."""


@dataclass(frozen=True)
class ScanSettings:
    """Settings of a scan: what counts as a contact, which pairs are tested, how motion is interpolated.

    Attributes
    ----------
    clearance : float
        Pairs closer than this are in contact; 0 means touching.
    group_a, group_b : (n,) bool or None
        Masks of subjects: a pair needs one subject of each. None: all subjects.
    ignored : sequence of (int, int)
        Pairs of subjects to skip, in either order.
    separate : (n,) int or None
        Labels: pairs with equal labels >= 0 are skipped.
    static_pairs : bool
        Whether to report contacts of pairs that never move, although others do. Where nothing moves, all
        pairs count.
    obstacles : sequence of Obstacle
        Subjects that are triangle meshes, tested against spheres. Two obstacles are no pair.
    owners : (N,) int or None
        Subject of each shape of a sample, not decreasing. None: each shape is a subject, numbered in order
        among those that are no obstacles.
    motion : "adaptive" or "linear"
        Adaptive needs a `SubframeMotion`; any other motion is assumed to be linear.
    """

    clearance: float = 0.0
    group_a: Bools | None = None
    group_b: Bools | None = None
    ignored: Sequence[tuple[int, int]] = field(default=())
    separate: Ints | None = None
    static_pairs: bool = False
    obstacles: Sequence[Obstacle] = field(default=())
    owners: Ints | None = None
    motion: MotionKind = "adaptive"


def never() -> bool:
    """Return False: the default `stops`, for a scan that is not stopped."""
    return False


def scan_contacts(
    motion: Motion,
    frames: ArrayLike,
    settings: ScanSettings | None = None,
    stops: Callable[[], bool] = never,
    drops: Callable[[], bool] = never,
) -> Generator[Progress, None, ContactReport]:
    """Find the contacts of all pairs over the sample times of an animation.

    Exact up to float64 rounding where shapes move linearly between samples. Elsewhere
    `FirstContact.uncertainty` says by how much a time may be off: with linear motion an estimate from
    neighboring samples; with adaptive motion below a thousandth of a frame, because intervals are sampled
    further until it is, up to 60 times for each pair between two frames, or into 8000 parts where the motion
    is known. What then remains open is part of the uncertainty.
    Depths and gaps are then within a hundredth of the smaller subject's size: the radius of a sphere, half
    the diagonal of a box. Deviations from linear motion below 2^-21 of a pair's coordinates count as
    rounding: see `docs/math.md`.

    Parameters
    ----------
    motion : Motion
        Samples of all subjects; between frames too if it is a `SubframeMotion`.
    frames : (k,) float
        Increasing sample times, at least one.
    settings : ScanSettings, optional
        Defaults: all pairs, adaptive motion, no clearance.
    stops : function, optional
        Called before each sample but the first: True ends the scan. What was sampled is solved completely,
        and the report is that of a scan of those frames alone, if there are more than two.
    drops : function, optional
        Called after each chunk of work: True ends the scan at the last frame to which all pairs are solved.

    Yields
    ------
    progress : Progress
        After each sample and each chunk of work; its share never falls. Closing the generator cancels.

    Returns
    -------
    report : ContactReport
        Return value of the generator.

    Raises
    ------
    InvalidShapeError, NonFiniteGeometryError
        For times that do not increase, settings that do not fit the number of subjects, or a motion that
        changes it.
    """
    for name, function in (("stops", stops), ("drops", drops)):
        if not callable(function):
            raise InvalidShapeError(f"{name}: a function is needed, not {type(function).__name__}")
    settings, times, sampler = _validated(motion, frames, ScanSettings() if settings is None else settings)
    scan = _section_scan(motion, times, settings, sampler, Ends(stops, drops))
    is_divisible = isinstance(motion, DivisibleMotion) and motion.is_divisible
    records = []
    for section in sections_of(len(times)) if is_divisible else [Section(0, len(times) - 1)]:
        records.append((yield from scan.scan(section)))
        if scan.stopped_at is not None:
            break
    assert scan.first is not None
    shape_count = scan.first.shapes.shape[1]
    return _report(settings, shape_count, times, records, scan.stopped_at)


def _section_scan(
    motion: Motion, times: Floats, settings: ScanSettings, sampler: SubframeSampler | None, ends: Ends
) -> SectionScan:
    """Prepare to scan sections of validated times (k,) of frames."""
    first_time = times[0].item()

    @cache
    def plan_of(shape_count: int) -> ScanPlan:
        return _plan(settings, shape_count, sampler, first_time)

    def new_scanners(sample: Sample) -> list[PairScanner]:
        plan = plan_of(sample.shapes.shape[1])
        return [PairScanner(plan, space) for space in _spaces(settings)]

    def new_finder(sample: Sample) -> SwitchFinder | None:
        # Not isinstance, for which Python 3.11 would evaluate all properties.
        if sampler is None or not hasattr(sampler, "are_present") or not _refinable(sampler).all():
            return None
        return SwitchFinder(sampler, plan_of(sample.shapes.shape[1]).subject_of, settings.clearance)

    sampled = times if sampler is None else probed_times(times, sampler)
    scan_times = ScanTimes(sampled, np.searchsorted(sampled, times))
    return SectionScan(motion, scan_times, new_scanners, ends, new_finder)


def scan_share(
    motion: Motion, frames: ArrayLike, settings: ScanSettings, share: Sequence[Section]
) -> Generator[Progress, None, ShareRecords]:
    """Scan some of the sections of `scan_contacts`, for `joined_shares`.

    motion, frames, settings. As for `scan_contacts`; the motion is divisible.
    share : Successive sections, at least one, of those that `sections_of` returns.
    Yields progress : Progress
    Returns records : ShareRecords. Return value of the generator.
    """
    settings, times, sampler = _validated(motion, frames, settings)
    scan = _section_scan(motion, times, settings, sampler, Ends(never, never))
    records = []
    for section in share:
        records.append((yield from scan.scan(section)))
    assert scan.first is not None
    return ShareRecords(scan.first.shapes.shape[1], tuple(records))


def joined_shares(frames: ArrayLike, settings: ScanSettings, shares: Sequence[ShareRecords]) -> ContactReport:
    """Make the report that `scan_contacts` would return.

    frames, settings. As for `scan_contacts`.
    shares : Of all sections, in order.
    """
    records = [section for share in shares for section in share.sections]
    return _report(_checked_settings(settings), shares[0].shape_count, as_times(frames), records, None)


def _validated(
    motion: Motion, frames: ArrayLike, settings: ScanSettings
) -> tuple[ScanSettings, Floats, SubframeSampler | None]:
    """Validate the arguments of a scan: return settings, times (k,) of frames, and the sampler if any."""
    settings = _checked_settings(settings)
    times = as_times(frames)
    require_methods(motion, ["sample"] if not isinstance(motion, RecordedMotion) else [], "motion")
    sampler = motion if settings.motion == "adaptive" and isinstance(motion, SubframeMotion) else None
    return settings, times, sampler


def probed_times(times: Floats, motion: SubframeSampler) -> Floats:
    """Add a time within each interval, at which adaptive scans sample motion that is not known.

    Without it, what happens within a frame and is over by the next one would not be seen: an object that
    jumps from frame to frame would move at a constant speed, and one that turns once a frame would rest. The
    place within the interval varies, so that it is no multiple of any period.

    times : (k,) float64. Increasing times of the frames.
    motion : If some of it cannot be sampled between frames, nothing is added.
    Returns times : (2 k - 1,) float64, or (k,)
    """
    if len(times) < 2 or not _refinable(motion).all():
        return times
    begin, step = times[:-1], np.diff(times)
    if isinstance(motion, KnownMotion) and bool(np.all(motion.known)):
        # A single interval has no neighbors to estimate deviations from: so sample its middle too.
        return np.insert(times, 1, begin[0] + step[0] / 2) if len(times) == 2 else times
    # In hundredths, because messages name these times.
    part = np.round(_FIRST_PROBE + _PROBE_RANGE * (begin * _GOLDEN % 1), 2)
    return np.insert(times, np.arange(1, len(times)), begin + part * step)


def _checked_settings(settings: ScanSettings) -> ScanSettings:
    """Convert settings that do not depend on the number of subjects; raises as `scan_contacts`."""
    require_type(settings, ScanSettings, "settings")
    require_choice(settings.motion, get_args(MotionKind), "settings: motion")
    require_type(settings.obstacles, (list, tuple), "settings: obstacles")
    for obstacle in settings.obstacles:
        require_type(obstacle, Obstacle, "settings: obstacles")
        require_type(obstacle.mesh, TriangleMesh, "settings: obstacles, mesh")
        as_whole_number(obstacle.subject, "settings: obstacles, subject", -1, _MAX_SUBJECTS)
    return replace(
        settings,
        clearance=as_number(settings.clearance, "settings: clearance", 0.0, most=LARGEST_LENGTH),
        static_pairs=as_flag(settings.static_pairs, "settings: static_pairs"),
    )


def _spaces(settings: ScanSettings) -> list[ObstacleSpace | None]:
    """Spaces of the scanners: None for bodies among themselves, then one for each obstacle."""
    return [None, *(ObstacleSpace.of_obstacle(*numbered) for numbered in enumerate(settings.obstacles))]


def _report(
    settings: ScanSettings,
    shape_count: int,
    times: Floats,
    records: Sequence[SectionRecords],
    stopped_at: float | None,
) -> ContactReport:
    """Make the report of the records of all sections that were scanned."""
    first_time = times[0].item()
    pair_filter = _plan(settings, shape_count, None, first_time).pair_filter
    report_settings = ReportSettings(pair_filter, _spaces(settings), first_time, settings.static_pairs)
    return report_of_sections(report_settings, records, stopped_at)


def _plan(
    settings: ScanSettings, shape_count: int, sampler: SubframeSampler | None, first_time: float
) -> ScanPlan:
    """Validate settings against the number of shapes in a sample."""
    solid = [obstacle.subject for obstacle in settings.obstacles]
    if len({*solid}) < len(solid) or min(solid, default=0) < 0:
        raise InvalidShapeError("settings: obstacles must be subjects of their own, without shapes")
    subject_of = np.setdiff1d(np.arange(shape_count + len(solid)), solid)
    if settings.owners is not None:
        subject_of = as_indices(settings.owners, "settings: owners")
    if (
        subject_of.shape != (shape_count,)
        or (np.diff(subject_of) < 0).any()
        or (shape_count and subject_of[0] < 0)
    ):
        raise InvalidShapeError(f"settings: owners must be ({shape_count},) indices that do not fall")
    if np.isin(solid, subject_of).any():
        raise InvalidShapeError("settings: obstacles must be subjects of their own, without shapes")
    count = max([int(subject_of[-1]) if shape_count else -1, *solid]) + 1
    if count > _MAX_SUBJECTS:
        raise InvalidShapeError(f"settings: owners must be subjects below {_MAX_SUBJECTS}")
    if sampler is not None:
        known = len(_refinable(sampler))
        if known < count:
            raise InvalidShapeError(f"refinable: {known} of {count} subjects is too few")
    return ScanPlan(
        PairFilter(count, settings.group_a, settings.group_b, settings.ignored, settings.separate),
        subject_of,
        settings.owners is None and not solid,
        sampler,
        sampler if isinstance(sampler, KnownMotion) else None,
        settings.clearance,
        first_time,
    )


def _refinable(sampler: SubframeSampler) -> Bools:
    """Mask of the subjects that can be sampled between frames, validated."""
    refinable = as_array(sampler.refinable, "refinable")
    return as_mask(refinable, "refinable", (refinable.size,))
