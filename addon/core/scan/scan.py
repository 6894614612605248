"""Contact scan of an animation: first contacts, contact intervals, penetration depths and near misses.

All subjects are sampled once a frame. The broad phase works on bounds of whole intervals, start merged with
end, so a pair that meets and parts between two samples is not missed (continuous collision detection). Linear
motion interpolates between samples; adaptive motion samples further where that is too coarse to decide.
Frames are processed in blocks and dropped: memory does not grow with the number of frames.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.triangle_mesh import TriangleMesh
from ..numeric.arguments import (
    as_flag,
    as_indices,
    as_length,
    as_mask,
    as_times,
    as_whole_number,
    require_choice,
    require_methods,
    require_type,
)
from ..numeric.arrays import Bools, Floats, Ints, as_array
from ..progress import MotionKind, Progress
from .motion import (
    KnownMotion,
    Motion,
    MotionRecorder,
    RecordedMotion,
    Sample,
    SubframeMotion,
    SubframeSampler,
)
from .obstacle_space import Obstacle, ObstacleSpace
from .pair_filter import PairFilter
from .pair_scanner import PairScanner, ScanPlan
from .report import ContactReport

_READING, _READING_KNOWN = 0.6, 0.1
"""Part of the work of a scan that reading its frames is, for the progress; known motion is not read."""

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
    further until it is, up to 60 times for each pair. What then remains open is part of the uncertainty.
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
    if settings is None:
        settings = ScanSettings()
    settings = _checked_settings(settings)
    times = as_times(frames)
    require_methods(motion, ["sample"] if not isinstance(motion, RecordedMotion) else [], "motion")
    _require_functions(stops=stops, drops=drops)
    sampler = motion if settings.motion == "adaptive" and isinstance(motion, SubframeMotion) else None
    if sampler and len(times) == 2 and _refinable(sampler).all():
        # A single interval has no neighbors to estimate deviations from: so sample its middle too.
        times = np.insert(times, 1, (times[0] + times[1]) / 2)
    return (yield from _scan(motion, times, settings, sampler, stops, drops))


def _scan(
    motion: Motion,
    times: Floats,
    settings: ScanSettings,
    sampler: SubframeSampler | None,
    stops: Callable[[], bool],
    drops: Callable[[], bool],
) -> Generator[Progress, None, ContactReport]:
    """Scan validated times (k,): record samples, and let the scanners process each complete block."""
    recorder = motion if isinstance(motion, RecordedMotion) else MotionRecorder(motion)
    scanners: list[PairScanner] = []
    is_known = isinstance(motion, KnownMotion) and bool(np.all(motion.known))
    reading = _READING_KNOWN if is_known else _READING
    stopped_at: float | None = None
    waiting: list[float] = []
    for index, time in enumerate(times.tolist()):
        if index and stops():
            stopped_at = times[index - 1].item()
            break
        recorder.record(time)
        waiting.append(time)
        if not scanners:
            sample = recorder.recorded()
            scanners = _scanners(settings, sample, sampler, time)
            _add_sample(scanners, waiting, sample)
        elif len(waiting) == min([scanner.missing_samples for scanner in scanners]):
            _add_sample(scanners, waiting, recorder.recorded())
        progress = Progress(index + 1, len(times), time)
        yield _with_part(progress, scanners, reading)
        for scanner in scanners:
            for _ in scanner.process():
                yield _with_part(progress, scanners, reading)
                if drops():
                    return _solved_report(scanners, settings.static_pairs)
    if waiting:
        _add_sample(scanners, waiting, recorder.recorded())
    for scanner in scanners:
        for _ in scanner.finish():
            yield _with_part(progress, scanners, reading)
            if drops():
                return _solved_report(scanners, settings.static_pairs)
    return _merged_report(scanners, settings.static_pairs, stopped_at)


def _with_part(progress: Progress, scanners: Sequence[PairScanner], reading: float) -> Progress:
    """Add the part of a scan that is done, of which reading the frames is a part too."""
    solved = sum(scanner.solved for scanner in scanners) / (len(scanners) * progress.total)
    return progress._replace(part=reading * progress.done / progress.total + (1 - reading) * min(solved, 1.0))


def _solved_report(scanners: Sequence[PairScanner], static_pairs: bool) -> ContactReport:
    """Report up to the last frame that a scanner has solved; scanners that are behind get there first."""
    end = max(scanner.solved_until for scanner in scanners)
    for scanner in scanners:
        for _ in scanner.finish(end):
            pass
    return _merged_report(scanners, static_pairs, end)


def _require_functions(**functions: object) -> None:
    """Raise InvalidShapeError for an argument that is no function."""
    for name, function in functions.items():
        if not callable(function):
            raise InvalidShapeError(f"{name}: a function is needed, not {type(function).__name__}")


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
        clearance=as_length(settings.clearance, "settings: clearance"),
        static_pairs=as_flag(settings.static_pairs, "settings: static_pairs"),
    )


def _scanners(
    settings: ScanSettings, sample: Sample, sampler: SubframeSampler | None, first_time: float
) -> list[PairScanner]:
    """One scanner for bodies among themselves, and one for each obstacle."""
    plan = _plan(settings, sample.shapes.shape[1], sampler, first_time)
    spaces = [ObstacleSpace.of_obstacle(*numbered) for numbered in enumerate(settings.obstacles)]
    return [PairScanner(plan, space) for space in (None, *spaces)]


def _add_sample(scanners: Sequence[PairScanner], waiting: list[float], sample: Sample) -> None:
    """Add a sample of all waiting times to all scanners."""
    for scanner in scanners:
        scanner.add_sample(np.array(waiting), sample)
    waiting.clear()


def _merged_report(
    scanners: Sequence[PairScanner], static_pairs: bool, stopped_at: float | None
) -> ContactReport:
    """Results of all scanners in one report, sorted."""
    # Where nothing moves, pairs that do not move are all there is.
    with_static = static_pairs or not any(scanner.sees_motion for scanner in scanners)
    results = [scanner.results(with_static) for scanner in scanners]
    contacts = [contact for part in results for contact in part.contacts]
    clearances = [near_miss for part in results for near_miss in part.clearances]
    static_overlaps = sorted(pair for part in results for pair in part.static_overlaps)
    # The lists of each scanner are sorted already, so this is a merge.
    contacts.sort(key=attrgetter("first.frame", "a", "b"))
    clearances.sort(key=attrgetter("gap", "a", "b"))
    return ContactReport(tuple(contacts), tuple(clearances), stopped_at, tuple(static_overlaps))


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
