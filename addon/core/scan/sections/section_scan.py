"""Reads and solves the sections of a scan, one after another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

import numpy as np

from ...numeric.arrays import Floats, Ints
from ...progress import Progress
from ..motion import DivisibleMotion, KnownMotion, Motion, MotionRecorder, RecordedMotion, Sample
from ..pair_scanner import PairScanner
from .bounds import Section, SectionRecords
from .switches import SwitchFinder

_READING, _READING_KNOWN = 0.6, 0.1
"""Part of the work of a scan that reading its frames is, for the progress; known motion is not read."""


class Ends(NamedTuple):
    """Functions that end a scan early: see `scan_contacts`."""

    stops: Callable[[], bool]
    drops: Callable[[], bool]


class ScanTimes(NamedTuple):
    """Times of the samples of a scan.

    samples : (t,) float. Of all samples, increasing.
    frames : (k,) int. Which of them are frames; the others are between frames.
    """

    samples: Floats
    frames: Ints


class SectionScan:
    """Scans sections of a motion, in order.

    first : Sample of the first time of the scan, once it has been read.
    stopped_at : Last time that was scanned, if a function of `Ends` has ended the scan.
    """

    def __init__(
        self,
        motion: Motion | RecordedMotion,
        times: ScanTimes,
        new_scanners: Callable[[Sample], list[PairScanner]],
        ends: Ends,
        new_finder: Callable[[Sample], SwitchFinder | None],
    ) -> None:
        """Prepare to scan.

        motion : Divisible, if there is more than one section.
        times : Of all samples.
        new_scanners : Returns new scanners, from the sample of the first time.
        ends : What ends the scan early.
        new_finder : Returns what finds the times at which subjects appear or disappear, from the sample of
            the first time; None if nothing does.
        """
        self._motion = motion
        self._recorder = motion if isinstance(motion, RecordedMotion) else MotionRecorder(motion)
        self._times: list[float] = times.samples.tolist()
        # Arrays, because the part that is done is computed at each of very many samples.
        self._sample_times = np.asarray(times.samples, dtype=np.float64)
        self._sample_numbers = np.arange(len(self._times), dtype=np.float64)
        self._frames: list[int] = times.frames.tolist()
        self._new_scanners, self._ends, self._new_finder = new_scanners, ends, new_finder
        self._finder: SwitchFinder | None = None
        # Next to a section there are samples for estimates alone.
        self._span = (0.0, 0.0)
        is_known = isinstance(motion, KnownMotion) and bool(np.all(motion.known))
        self._reading = _READING_KNOWN if is_known else _READING
        self._samples_read = 0
        self._waiting: list[float] = []
        self.first: Sample | None = None
        self.stopped_at: float | None = None

    def scan(self, section: Section) -> Generator[Progress, None, SectionRecords]:
        """Read a section of frames, with the samples next to it, and solve it."""
        section = Section(self._frames[section.begin], self._frames[section.end])
        scanners = self._begin(section) if section.begin else []
        last = min(section.end + 1, len(self._times) - 1)
        self._span = self._times[section.begin], self._times[section.end]
        for index in range(max(section.begin - 1, 0), last + 1):
            if index >= self._samples_read and self._is_frame(index - 1) and self._ends.stops():
                self.stopped_at = self._times[index - 1]
                break
            self._recorder.record(self._times[index])
            self._samples_read = max(self._samples_read, index + 1)
            self._waiting.append(self._times[index])
            if not index:
                self.first = self._recorder.recorded()
                scanners = self._new_scanners(self.first)
                self._finder = self._new_finder(self.first)
                self._add_sample(scanners, self.first)
            done = bisect_left(self._frames, self._samples_read)
            progress = Progress(done, len(self._frames), self._times[index])
            # Before other times are sampled, because callers may look at what the motion was read from.
            yield self._with_part(progress, scanners)
            if len(self._waiting) >= min([scanner.missing_samples for scanner in scanners]):
                self._add_sample(scanners, self._recorder.recorded())
            for scanner in scanners:
                for _ in scanner.process():
                    yield self._with_part(progress, scanners)
                    if self._ends.drops():
                        return self._solved(section, scanners)
        if self._waiting:
            self._add_sample(scanners, self._recorder.recorded())
        is_last = self.stopped_at is not None or last == section.end
        for scanner in scanners:
            for _ in scanner.finish() if is_last else scanner.finish_section():
                yield self._with_part(progress, scanners)
                if self._ends.drops():
                    return self._solved(section, scanners)
        return self._records(section, scanners)

    def _is_frame(self, index: int) -> bool:
        """Return whether a sample is one of a frame; False for -1."""
        position = bisect_left(self._frames, index)
        return position < len(self._frames) and self._frames[position] == index

    def _begin(self, section: Section) -> list[PairScanner]:
        """Return scanners for a section that is not the first one."""
        if self.first is None:
            self._recorder.record(self._times[0])
            self.first = self._recorder.recorded()
        assert isinstance(self._motion, DivisibleMotion), "other motions have one section"
        self._motion.restart()
        scanners = self._new_scanners(self.first)
        self._finder = self._new_finder(self.first)
        for scanner in scanners:
            scanner.begin_section(self._times[section.begin], self._times[0], self.first)
        return scanners

    def _add_sample(self, scanners: Sequence[PairScanner], sample: Sample) -> None:
        """Add a sample of all waiting times to all scanners, and those of what appears or disappears."""
        times = np.array(self._waiting)
        if self._finder is not None:
            times, sample = self._finder.with_switches(times, sample, *self._span)
        for scanner in scanners:
            scanner.add_sample(times, sample)
        self._waiting.clear()

    def _with_part(self, progress: Progress, scanners: Sequence[PairScanner]) -> Progress:
        """Add the part of a scan that is done, of which reading the frames is a part too."""
        solving = [scanner.solving for scanner in scanners]
        until = np.interp(solving, self._sample_times, self._sample_numbers)
        # With the last frame by itself, there are as many intervals as samples.
        ended = sum(scanner.ended for scanner in scanners)
        solved = (float(until.sum()) + ended) / (len(scanners) * len(self._times))
        read = self._reading * self._samples_read / len(self._times)
        return progress._replace(part=read + (1 - self._reading) * min(solved, 1.0))

    def _solved(self, section: Section, scanners: Sequence[PairScanner]) -> SectionRecords:
        """Return the records up to the last time that a scanner has solved; the others get there first."""
        self.stopped_at = max(scanner.solved_until for scanner in scanners)
        for scanner in scanners:
            for _ in scanner.finish(self.stopped_at):
                pass
        return self._records(section, scanners)

    def _records(self, section: Section, scanners: Sequence[PairScanner]) -> SectionRecords:
        records = tuple(scanner.records() for scanner in scanners)
        return SectionRecords(self._times[section.begin], records)
