"""An animation in, its contacts out: who first touches whom, when, for how long, how deep, or how near.

All subjects are sampled once a frame, and candidate pairs come from bounds of whole intervals, start merged
with end, so that a pair that meets and parts between two samples is not lost. "Linear" motion takes the
straight way between samples; "adaptive" motion asks, for intervals in which that is too coarse to tell, at
times in between. Samples are looked at a few at a time and dropped: memory does not grow with the frames.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Ints, as_floats
from .contact_report import ContactReport, MotionKind, Progress
from .errors import InvalidShapeError
from .motion import Motion, RecordedMotion, Sample, Sampled, SubframeMotion
from .obstacles import Obstacle, View
from .pair_choice import PairChoice
from .pair_scan import PairScan, ScanPlan


@dataclass(frozen=True)
class ScanSettings:
    """What counts as a contact, which pairs matter, and how motion between samples is taken.

    clearance : pairs closer than this are in contact; 0 means touching
    group_a, group_b : (n,) masks; a pair needs one subject of each. None: everything
    ignored : (m, 2) pairs left out, in either order
    separate : (n,) labels; pairs whose labels are equal and >= 0 are left out
    static_pairs : whether pairs count of which neither ever moves
    obstacles : subjects that are meshes, which spheres bump into. Two obstacles are no pair
    owners : (N,) the subject that each shape of a sample is part of; None: each is a subject, in order, of
        those that are no obstacles. Growing.
    motion : adaptive needs a `SubframeMotion`, and is linear for any other
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
    """What is asked whether to stop, when nothing will."""
    return False


def scan_contacts(
    motion: Motion,
    frames: ArrayLike,
    settings: ScanSettings | None = None,
    stops: Callable[[], bool] = never,
) -> Generator[Progress, None, ContactReport]:
    """Find the contacts of all pairs over growing sample times `frames` (k,), k >= 1.

    Yields a Progress after each sample, and after each look between samples; the generator's return value is
    the ContactReport. Exact up to float64 rounding where shapes move in straight lines between samples.
    Elsewhere `FirstContact.uncertainty` says by how much a time may be off: with linear motion an estimate
    from neighbouring samples; with adaptive motion below a thousandth of a frame, as samples in between are
    taken until it is.

    Before each sample but the first, `stops` is asked whether to take no more. If so, what was sampled is
    looked at to its end, and the report is that of a scan of those frames alone, if there are more than two.
    Closing the generator cancels.

    Raises InvalidShapeError or NonFiniteGeometryError for times that do not grow, settings that do not fit
    the number of subjects, or a motion that changes it.
    """
    settings = settings or ScanSettings()
    times = as_floats(frames, "frames")
    if times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any():
        raise InvalidShapeError("frames: one or more growing times are needed")
    if not (math.isfinite(settings.clearance) and settings.clearance >= 0):
        raise InvalidShapeError(f"clearance: {settings.clearance} is not a length >= 0")
    asked_between = motion if settings.motion == "adaptive" and isinstance(motion, SubframeMotion) else None
    if asked_between and len(times) == 2 and np.all(asked_between.refinable):
        # A single interval has no neighbours that tell how straight it is.
        times = np.insert(times, 1, (times[0] + times[1]) / 2)

    recorder = motion if isinstance(motion, RecordedMotion) else Sampled(motion)
    scans: list[PairScan] = []
    stopped_at: float | None = None
    waiting: list[float] = []
    for index, time in enumerate(times.tolist()):
        if index and stops():
            stopped_at = times[index - 1].item()
            break
        recorder.record(time)
        waiting.append(time)
        if not scans:
            sample = recorder.recorded()
            plan = _plan(settings, sample.shapes.shape[1], asked_between, time)
            views = [View.of(*numbered) for numbered in enumerate(settings.obstacles)]
            scans = [PairScan(plan, view) for view in (None, *views)]
            _take(scans, waiting, sample)
        elif len(waiting) == min(scan.wanted for scan in scans):
            _take(scans, waiting, recorder.recorded())
        progress = Progress(index + 1, len(times), time)
        yield progress
        for scan in scans:
            yield from scan.look(progress)
    if waiting:
        _take(scans, waiting, recorder.recorded())
    for scan in scans:
        yield from scan.finish(progress)
    found = [scan.found() for scan in scans]
    contacts = [contact for part, _ in found for contact in part]
    clearances = [near for _, part in found for near in part]
    # Those of each scan are in order already, which a sort makes use of.
    contacts.sort(key=attrgetter("first.frame", "a", "b"))
    clearances.sort(key=attrgetter("gap", "a", "b"))
    return ContactReport(tuple(contacts), tuple(clearances), stopped_at)


def _take(scans: Sequence[PairScan], waiting: list[float], sample: Sample) -> None:
    """Hand a sample of the times that were waiting for it to all scans."""
    for scan in scans:
        scan.take(np.array(waiting), sample)
    waiting.clear()


def _plan(settings: ScanSettings, parts: int, asked: SubframeMotion | None, first_time: float) -> ScanPlan:
    """Settings checked against what a sample holds."""
    solid = [obstacle.subject for obstacle in settings.obstacles]
    owners = np.setdiff1d(np.arange(parts + len(solid)), solid)
    if settings.owners is not None:
        owners = np.asarray(settings.owners)
    if owners.shape != (parts,) or (np.diff(owners) < 0).any() or (parts and owners[0] < 0):
        raise InvalidShapeError(f"settings: owners must be ({parts},) indices that do not fall")
    if len({*solid}) < len(solid) or np.isin(solid, owners).any() or min(solid, default=0) < 0:
        raise InvalidShapeError("settings: obstacles must be subjects of their own, without shapes")
    count = max([int(owners[-1]) if parts else -1, *solid]) + 1
    choice = PairChoice(count, settings.group_a, settings.group_b, settings.ignored, settings.separate)
    is_whole = settings.owners is None and not solid
    return ScanPlan(choice, owners, is_whole, asked, settings.clearance, settings.static_pairs, first_time)
