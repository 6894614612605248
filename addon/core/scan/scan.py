"""Contact scan of an animation: first contacts, contact intervals, penetration depths and near misses.

A motion that is certain is queried. Of any other, all subjects are sampled once a frame, and once between two
frames unless motion is taken to be linear. Bounds are those of whole intervals, start merged with end, so a
pair that meets and parts between two samples is not missed (continuous collision detection). Linear motion
interpolates between samples; adaptive motion is queried again where that is too coarse to decide. Intervals
are processed in blocks and dropped: memory does not grow with the number of frames.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InvalidShapeError
from ..mesh.meshes import Meshes, moving_vertices
from ..motion.motion import Motion, Recorder, Sample, Sampler
from ..motion.samples import SampledMotion, refinable_subjects
from ..motion.switches import SwitchFinder
from ..numeric.arguments import (
    LARGEST_LENGTH,
    as_flag,
    as_indices,
    as_number,
    as_times,
    require_choice,
    require_methods,
    require_type,
)
from ..numeric.arrays import Bools, Floats, Ints
from ..progress import MotionKind, Progress, run_to_end
from .candidates import PairFilter
from .pair_cache import PairCache
from .pair_scanner import PairScanner, ScanPlan
from .report import ContactReport, report_of
from .sections import joined_records

SECTION_INTERVALS = 250
"""Intervals of a section: so many that the additional work for each section does not matter."""
_FIRST_PROBE, _PROBE_RANGE = 0.3, 0.4
"""Part of an interval after which motion is sampled between frames, and the range in which this varies."""
_READING, _READING_CERTAIN = 0.6, 0.1
"""Part of the work of a scan that reading its frames is, for the progress; certain motion is not read."""
_BLOCK_SHAPES, _SHORTEST_BLOCK, _LONGEST_BLOCK = 1 << 16, 32, 256
"""Shapes times intervals that are solved together, and the least and the largest number of intervals.

Longer blocks save little, and take memory.
"""
_VERTICES_OF_SHAPE = 64
"""Vertices of meshes that deform which count as a shape, because those of each sample take memory."""
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
    separate : (n,) or (k, n) int or None
        Labels: pairs with equal labels >= 0 are skipped. Of several rows, those of any row.
    static_pairs : bool
        Whether to report contacts of pairs that never move, although others do. Where nothing moves, all
        pairs count.
    owners : (N,) int or None
        Subject of each shape of a sample, not decreasing. None: each shape is a subject.
    motion : "adaptive" or "linear"
        Adaptive needs a `Motion`, or a `Sampler` that can sample between frames; any other motion is assumed
        to be linear.
    """

    clearance: float = 0.0
    group_a: Bools | None = None
    group_b: Bools | None = None
    ignored: Sequence[tuple[int, int]] = field(default=())
    separate: Ints | None = None
    static_pairs: bool = False
    owners: Ints | None = None
    motion: MotionKind = "adaptive"


class Section(NamedTuple):
    """A section of a scan, which is scanned independently: from sample `begin` to `end`, by their indices.

    It knows the samples next to it, so that deviations from linear motion are estimated as within it. It does
    not know which pairs have touched before: a contact that lasts over a cut is joined.
    """

    begin: int
    end: int


def sections_of(sample_count: int) -> list[Section]:
    """Cut a scan into sections of equal lengths, but for the last one.

    At equal samples always, so that the report does not depend on how many processes scan them. The first
    sections are those of any longer scan too, so a scan that is stopped is one of fewer samples.
    """
    last = max(sample_count - 1, 0)
    begins = range(0, max(last, 1), SECTION_INTERVALS)
    return [Section(begin, min(begin + SECTION_INTERVALS, last)) for begin in begins]


def share_of(sections: list[Section], index: int, count: int) -> list[Section]:
    """Return the successive sections of one of `count` shares, by its number from 0; maybe none."""
    return sections[index * len(sections) // count : (index + 1) * len(sections) // count]


def scan_contacts(
    motion: Motion | Sampler,
    frames: ArrayLike,
    settings: ScanSettings | None = None,
    stops: Callable[[], bool] | None = None,
    drops: Callable[[], bool] | None = None,
) -> Generator[Progress, None, ContactReport]:
    """Find the contacts of all pairs over the sample times of an animation.

    Exact up to float64 rounding where shapes move linearly between samples. Elsewhere
    `FirstContact.uncertainty` says by how much a time may be off: with linear motion an estimate from
    neighboring samples; with adaptive motion below a thousandth of a frame, because intervals are sampled
    further until it is, up to 60 times for each pair between two frames, or into 8000 parts where the motion
    is known. What then remains open is part of the uncertainty.
    Depths and gaps are then within a hundredth of the smaller subject's size: the radius of a sphere, half
    the diagonal of a box. Deviations from linear motion below 2^-21 of a pair's coordinates count as
    rounding: see `docs/math.md`. Shapes may be `Meshes`, of which closed components are solid: their depth is
    that of the deepest vertex, 0 where edges alone cross; it and their gaps are the least of samples.

    Parameters
    ----------
    motion : Motion or Sampler
        All shapes of which are certain; or a sampler.
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
        if not (function is None or callable(function)):
            raise InvalidShapeError(f"{name}: a function is needed, not {type(function).__name__}")
    scan = SectionScan(motion, frames, ScanSettings() if settings is None else settings, stops, drops)
    count = scan.frame_count
    is_cut = scan.is_divisible and count > SECTION_INTERVALS + 1
    records = yield from scan.scan(sections_of(count) if is_cut else [Section(0, count - 1)])
    assert scan.plan is not None
    return report_of(scan.plan, records, scan.stopped_at)


def scan_share(
    motion: Motion | Sampler, frames: ArrayLike, settings: ScanSettings, share: Sequence[Section]
) -> Generator[Progress, None, PairCache]:
    """Scan some of the sections of `scan_contacts`, for `joined_shares`.

    motion, frames, settings. As for `scan_contacts`; the motion is divisible.
    share : Successive sections, at least one, of those that `sections_of` returns.
    Yields progress : Progress
    Returns records : PairCache. Return value of the generator.
    """
    return (yield from SectionScan(motion, frames, settings).scan(share))


def joined_shares(frames: ArrayLike, settings: ScanSettings, shares: Sequence[PairCache]) -> ContactReport:
    """Make the report that `scan_contacts` would return.

    frames, settings. As for `scan_contacts`.
    shares : Records of all sections, in order.
    """
    records, checked = joined_records(shares), _checked_settings(settings)
    # Without owners, each subject is one shape.
    shape_count = len(records.has_moved) if checked.owners is None else len(checked.owners)
    return report_of(_plan(checked, shape_count, as_times(frames)[0].item()), records, None)


def probed_times(times: Floats, motion: Any) -> Floats:
    """Add a time within each interval, at which adaptive scans sample motion that is not known.

    Without it, what happens within a frame and is over by the next one would not be seen: an object that
    jumps from frame to frame would move at a constant speed, and one that turns once a frame would rest. The
    place within the interval varies, so that it is no multiple of any period.

    times : (k,) float64. Increasing times of the frames.
    motion : Sampler. If some of it cannot be sampled between frames, nothing is added.
    Returns times : (2 k - 1,) float64, or (k,)
    """
    if (
        len(times) < 2
        or _is_all_certain(getattr(motion, "certain", None))
        or not refinable_subjects(motion).all()
    ):
        return times
    begin, step = times[:-1], np.diff(times)
    # In hundredths, because messages name these times.
    part = np.round(_FIRST_PROBE + _PROBE_RANGE * (begin * _GOLDEN % 1), 2)
    return np.insert(times, np.arange(1, len(times)), begin + part * step)


def _checked_settings(settings: ScanSettings) -> ScanSettings:
    """Convert settings that do not depend on the number of subjects; raises as `scan_contacts`."""
    require_type(settings, ScanSettings, "settings")
    require_choice(settings.motion, get_args(MotionKind), "settings: motion")
    return replace(
        settings,
        clearance=as_number(settings.clearance, "settings: clearance", 0.0, most=LARGEST_LENGTH),
        static_pairs=as_flag(settings.static_pairs, "settings: static_pairs"),
    )


def _plan(
    settings: ScanSettings, shape_count: int, first_time: float, subjects: int | None = None
) -> ScanPlan:
    """Validate settings against the number of shapes in a sample, and of subjects that can be sampled."""
    subject_of = np.arange(shape_count)
    if settings.owners is not None:
        subject_of = as_indices(settings.owners, "settings: owners")
    if (
        subject_of.shape != (shape_count,)
        or (np.diff(subject_of) < 0).any()
        or (shape_count and subject_of[0] < 0)
    ):
        raise InvalidShapeError(f"settings: owners must be ({shape_count},) indices that do not fall")
    count = int(subject_of[-1]) + 1 if shape_count else 0
    if count > _MAX_SUBJECTS:
        raise InvalidShapeError(f"settings: owners must be subjects below {_MAX_SUBJECTS}")
    if subjects is not None and subjects < count:
        raise InvalidShapeError(f"refinable: {subjects} of {count} subjects is too few")
    return ScanPlan(
        PairFilter(count, settings.group_a, settings.group_b, settings.ignored, settings.separate),
        settings.static_pairs,
        subject_of,
        settings.owners is None,
        settings.clearance,
        first_time,
    )


class SectionScan:
    """Scans sections of a motion, in order.

    frame_count : Number of frames; more times are sampled.
    is_divisible : Whether sections can be scanned independently of what is before them.
    plan : What all pairs have in common, once the number of shapes is known.
    stopped_at : Last time that was scanned, if a function has ended the scan.
    """

    def __init__(
        self,
        motion: Motion | Sampler,
        frames: ArrayLike,
        settings: ScanSettings,
        stops: Callable[[], bool] | None = None,
        drops: Callable[[], bool] | None = None,
    ) -> None:
        """Validate the arguments of `scan_contacts`, and prepare to scan.

        motion : Divisible, if there is more than one section.
        stops, drops : What ends the scan early.
        """
        self._settings, self._stops, self._drops = _checked_settings(settings), stops, drops
        self._motion: Any = motion
        times = as_times(frames)
        self._is_adaptive = settings.motion == "adaptive"
        self._is_certain = self._is_adaptive and _is_all_certain(motion)
        if not self._is_certain:
            require_methods(motion, ["recorded" if hasattr(motion, "recorded") else "sample"], "motion")
        self._can_probe = self._is_adaptive and hasattr(motion, "sample_between")
        # An array too, because the part that is done is computed at each of very many samples.
        self._sample_times = (
            probed_times(times, motion) if self._can_probe and not self._is_certain else times
        )
        self._times: list[float] = self._sample_times.tolist()
        self._sample_numbers = np.arange(len(self._times), dtype=np.float64)
        self._frames: list[int] = np.searchsorted(self._sample_times, times).tolist()
        self.frame_count = len(times)
        self.is_divisible = self._is_certain or bool(getattr(motion, "is_divisible", False))
        self._recorder: Recorder
        if not self._is_certain:
            self._recorder = Recorder(motion)
        # Finds when subjects appear or disappear within a section; samples next to it are for estimates.
        self._finder: SwitchFinder | None = None
        self._span = (0.0, 0.0)
        is_certain = self._is_certain or _is_all_certain(getattr(motion, "certain", None))
        self._reading = _READING_CERTAIN if is_certain else _READING
        # Whether subjects may appear or disappear between samples: certain ones have samples there.
        self._may_switch = not is_certain and hasattr(motion, "find_present")
        self._may_switch &= self._can_probe and bool(refinable_subjects(motion).all())
        self._samples_read = 0
        self._waiting: list[float] = []
        # Positions of the sample at which the block begins, and of the newest one, with those that wait to be
        # added, among those of the scanner.
        self._block_begin = self._newest = 0
        self._scanner: PairScanner
        # Time up to which contacts are recorded, the same with the part that is done of the block, and the
        # number of frames that are solved by themselves, with the part that is done of the next one.
        self._solved_until = self._solving = self._instants = 0.0
        self._first: Sample | None = None
        self.plan: ScanPlan | None = None
        self.stopped_at: float | None = None

    def scan(self, sections: Sequence[Section]) -> Generator[Progress, None, PairCache]:
        """Solve successive sections of frames, at least one; returns their records."""
        records = []
        for each in sections:
            frames = frozenset(self._frames[each.begin : each.end + 1])
            yield from self._scan(Section(self._frames[each.begin], self._frames[each.end]), frames)
            records.append(self._scanner.cache)
            if self.stopped_at is not None:
                break
        return records[0] if len(records) == 1 else joined_records(records)

    def _scan(self, section: Section, frames: frozenset[int]) -> Generator[Progress, None, None]:
        """Solve a section block by block. What is not certain is sampled, and next to the section too.

        frames : Numbers of the samples that are frames.
        """
        length = self._begin(section)
        last, around = len(self._times) - 1, 0 if self._is_certain else 1
        for index in range(max(section.begin - around, 0), min(section.end + around, last) + 1):
            if index >= self._samples_read and index - 1 in frames and self._stops and self._stops():
                self.stopped_at = self._times[index - 1]
                break
            if self._is_certain:
                self._newest = index
            elif index or section.begin:  # the first sample of a scan has been read
                self._recorder.record(self._times[index])
                self._waiting.append(self._times[index])
                self._newest += 1
            self._samples_read = max(self._samples_read, index + 1)
            done = bisect_left(self._frames, self._samples_read)
            progress = Progress(done, len(self._frames), self._times[index])
            # Before other times are sampled, because callers may look at what the motion was read from.
            yield self._with_part(progress)
            begin, is_first = self._block_begin, index == section.begin
            is_complete = self._newest - around - begin >= length
            if self._waiting and (is_first or is_complete):
                self._add_waiting()
            # The first frame by itself, with pairs at rest.
            if is_first and (yield from self._solve(progress, begin, begin)):
                return
            if is_complete:
                end = self._newest - around
                if (yield from self._solve(progress, begin, end)):
                    return
                self._block_begin = end
                if not self._is_certain:
                    self._keep(end - 1)
        if self._waiting:
            self._add_waiting()
        is_last = self.stopped_at is not None or section.end == last
        begin, end = self._block_begin, self._newest - (0 if is_last else around)
        if end > begin and (yield from self._solve(progress, begin, end)):
            return
        if is_last:
            # The last frame by itself, for subjects present there only.
            yield from self._solve(progress, end, end)

    def _solve(self, progress: Progress, first: int, last: int) -> Generator[Progress, None, bool]:
        """Solve the intervals from one sample to another, or one by itself; returns whether to end.

        Where `drops` ends the scan, it ends at the last time that is solved.
        """
        scanner, times, sampled = self._scanner, self._sample_times, None
        if not self._is_certain:
            sampled = scanner.sampled
            sampled.set_block(first, last)
            times = sampled.times
        begin, end, before = float(times[first]), float(times[last]), self._instants
        for part in scanner.process(times[slice(first, last + 1) if first < last else [first, first]]):
            self._solving = begin + (end - begin) * part
            self._instants = before + (part if begin == end else 0.0)
            yield self._with_part(progress)
            if self._drops and self._drops():
                self.stopped_at = self._solved_until
                until = int(np.searchsorted(times, self.stopped_at, side="right")) - 1
                if sampled is not None:
                    sampled.set_block(until, until)
                run_to_end(scanner.process(times[[until, until]]))
                return True
        self._solving = self._solved_until = end
        self._instants = before + (begin == end)
        return False

    def _begin(self, section: Section) -> int:
        """Make the scanner of a section, and return the number of intervals of its blocks.

        The first sample of the scan gives the sizes of the subjects.
        """
        motion, is_certain = self._motion, self._is_certain
        self._span = self._times[section.begin], self._times[section.end]
        if not is_certain:
            if self._first is None:
                self._recorder.record(self._times[0])
                self._first = self._recorder.recorded()
            if section.begin:
                motion.restart()
        count = len(motion.is_certain) if self._first is None else self._first.shapes.shape[1]
        if self.plan is None:
            subjects = len(refinable_subjects(motion)) if self._can_probe else None
            self.plan = _plan(self._settings, count, self._times[0], subjects)
        if self._may_switch:
            self._finder = SwitchFinder(motion, self.plan.subject_of, self._settings.clearance)
        if self._first is None:
            # One shape shows the type; meshes count by their vertices.
            shapes = motion.at(np.arange(min(count, 1)), self._sample_times[:1])
            if isinstance(shapes, Meshes):
                shapes = motion.at(np.arange(count), np.full(count, self._sample_times[0]))
            self._scanner = PairScanner(self.plan, motion)
        else:
            shapes = self._first.shapes
            sampled = SampledMotion(motion, self.plan.subject_of, self._is_adaptive)
            self._scanner = PairScanner(self.plan, sampled)
            self._add_samples(self._sample_times[:1], self._first)
        self._scanner.measure(self._sample_times[:1])
        self._solving = self._solved_until = self._times[section.begin]
        self._instants = float(section.begin > 0)
        self._block_begin = section.begin
        if section.begin and not is_certain:
            self._keep(1)
        if isinstance(shapes, Meshes):
            count += int(moving_vertices(shapes.reshaped((-1,))).sum()) // _VERTICES_OF_SHAPE
        return min(max(_BLOCK_SHAPES // max(count, 1), _SHORTEST_BLOCK), _LONGEST_BLOCK)

    def _keep(self, first: int) -> None:
        """Drop the samples before the one that precedes the next block."""
        sampled = self._scanner.sampled
        sampled.keep_frames(slice(first, None))
        self._block_begin, self._newest = 1, len(sampled.times) - 1

    def _add_waiting(self) -> None:
        """Add a sample of all waiting times."""
        self._add_samples(np.array(self._waiting), self._recorder.recorded())
        self._waiting.clear()

    def _add_samples(self, times: Floats, sample: Sample) -> None:
        """Add a sample of times (k,), and samples of what appears or disappears between."""
        if self._finder is not None:
            times, sample = self._finder.with_switches(times, sample, *self._span)
        sampled = self._scanner.sampled
        sampled.add_frames(times, sample)
        self._newest = len(sampled.times) - 1

    def _with_part(self, progress: Progress) -> Progress:
        """Add the part of a scan that is done, of which reading the frames is a part too."""
        until = float(np.interp(self._solving, self._sample_times, self._sample_numbers))
        # With the first and the last frame by themselves, there are more intervals than samples.
        solved = (until + min(self._instants, 2.0)) / (len(self._times) + 1)
        read = self._reading * self._samples_read / len(self._times)
        return progress._replace(part=read + (1 - self._reading) * min(solved, 1.0))


def _is_all_certain(motion: Any) -> bool:
    """Return whether nothing of a motion need be sampled."""
    return isinstance(motion, Motion) and bool(np.all(motion.is_certain))
