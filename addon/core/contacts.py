"""An animation in, its contacts out: who first touches whom, when, for how long, how deep, or how near.

All subjects are sampled once a frame, and candidate pairs come from bounds of whole intervals, start merged
with end, so that a pair that meets and parts between two samples is not lost. "Linear" motion takes the
straight way between samples; "adaptive" motion asks, for intervals in which that is too coarse to tell, at
times in between. Samples are looked at a few at a time and dropped: memory does not grow with the frames.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, Ints, as_floats, length
from .contact_report import Clearance, Contact, ContactInterval, ContactReport, FirstContact, MotionKind
from .encounters import closing_speed, encounters, with_extremes
from .errors import InvalidShapeError
from .frame_block import Frame, FrameBlock, candidate_pairs, sizes
from .motion import Motion, Sample, SubframeMotion
from .pair_choice import PairChoice
from .pair_history import Findings, PairHistory
from .refinement import Refined, Refinement, judged, time_within
from .separation import witness_points

_WHOLE = 1e-6
"""A contact this close to a whole frame, in frames, is shown by it: times carry about this much rounding."""

_LONGEST_BLOCK = 16
"""Intervals looked at together: more save nothing, and cover longer ways with more pairs that never meet."""

_ROUNDING = 1e-12

_AT_ONCE = 1 << 16
"""Candidates whose shapes are taken apart at a time."""


@dataclass(frozen=True)
class ScanSettings:
    """What counts as a contact, which pairs matter, and how motion between samples is taken.

    clearance : pairs closer than this are in contact; 0 means touching
    group_a, group_b : (n,) masks; a pair needs one subject of each. None: everything
    ignored : (m, 2) pairs left out, in either order
    separate : (n,) labels; pairs whose labels are equal and >= 0 are left out
    static_pairs : whether pairs count of which neither ever moves
    owners : (N,) the subject that each shape of a sample is part of; None: each is a subject. Growing.
    motion : adaptive needs a `SubframeMotion`, and is linear for any other
    """

    clearance: float = 0.0
    group_a: Bools | None = None
    group_b: Bools | None = None
    ignored: Sequence[tuple[int, int]] = field(default=())
    separate: Ints | None = None
    static_pairs: bool = False
    owners: Ints | None = None
    motion: MotionKind = "adaptive"


class Progress(NamedTuple):
    """`done` of `total` samples taken, the last one at `time` (frames)."""

    done: int
    total: int
    time: float


def scan_contacts(
    motion: Motion, frames: ArrayLike, settings: ScanSettings | None = None
) -> Generator[Progress, None, ContactReport]:
    """Find the contacts of all pairs over growing sample times `frames` (k,), k >= 1.

    Yields a Progress after each sample, and after each look between samples; the generator's return value is
    the ContactReport. Exact up to float64 rounding where shapes move in straight lines between samples.
    Elsewhere `FirstContact.uncertainty` says by how much a time may be off: with linear motion an estimate
    from neighbouring samples; with adaptive motion below a thousandth of a frame, as samples in between are
    taken until it is.

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

    scan: _Scan | None = None
    # The frames of the next block; one before it, and one after it, tell how straight the motion is.
    waiting: list[Frame] = []
    context = 0
    for index in range(len(times)):
        time = float(times[index])
        frame = _taken(motion, time, settings.owners)
        scan = scan or _Scan(frame, settings, asked_between)
        scan.meet(frame)
        waiting.append(frame)
        progress = Progress(index + 1, len(times), time)
        yield progress
        if len(waiting) == context + scan.block_length + 2:
            yield from scan.block(waiting, context, len(waiting) - 2, progress)
            waiting, context = waiting[-3:], 1
    assert scan is not None
    if len(waiting) > context + 1:
        yield from scan.block(waiting, context, len(waiting) - 1, progress)
    # The last sample on its own: a scan of one frame, and subjects that are only there in the last one.
    yield from scan.block([waiting[-1]] * 2, 0, 1, progress)
    return scan.report()


def _taken(motion: Motion, time: float, owners: Ints | None) -> Frame:
    sample = motion.sample(time)
    if not isinstance(sample, Sample):
        sample = Sample(sample)
    if len(sample.shapes.shape) != 1:
        raise InvalidShapeError(f"sample at {time}: the batch must be (n,), not {sample.shapes.shape}")
    return Frame.of(time, sample, owners)


class _Scan:
    """The state of a scan between two blocks of samples."""

    def __init__(self, first: Frame, settings: ScanSettings, asked_between: SubframeMotion | None) -> None:
        parts = len(first.present)
        owners = np.arange(parts) if settings.owners is None else np.asarray(settings.owners)
        if owners.shape != (parts,) or (np.diff(owners) < 0).any() or (parts and owners[0] < 0):
            raise InvalidShapeError(f"settings: owners must be ({parts},) indices that do not fall")
        self.owners = owners
        self.count = int(owners[-1]) + 1 if parts else 0
        self.choice = PairChoice(
            self.count, settings.group_a, settings.group_b, settings.ignored, settings.separate
        )
        self.settings = settings
        self.first_time = first.time
        self.history = PairHistory()
        self.refinement = (
            Refinement(asked_between, owners, settings.clearance) if asked_between is not None else None
        )
        self.size = np.full(parts, np.nan)
        self.subject_size = np.full(self.count, np.nan)
        self.moved = np.zeros(self.count, dtype=bool)
        self.block_length = 1
        self._blocks = 0

    def meet(self, frame: Frame) -> None:
        """Take note of a sample: the sizes of what is seen for the first time."""
        if frame.present.shape != self.size.shape:
            raise InvalidShapeError(
                f"sample at {frame.time}: {len(frame.present)} subjects instead of {len(self.size)}"
            )
        new = np.flatnonzero(frame.present & np.isnan(self.size))
        if len(new):
            self.size[new] = sizes(frame.shapes[new])
            self._measure(frame, new)

    def _measure(self, frame: Frame, new: Ints) -> None:
        """Sizes of subjects: their shape's, or half the diagonal of the box around their parts."""
        if self.settings.owners is None:
            self.subject_size[new] = self.size[new]
            return
        boxes = frame.shapes[new].aabb()
        starts = np.flatnonzero(np.diff(self.owners[new], prepend=-1))
        low = np.minimum.reduceat(boxes.min, starts)
        high = np.maximum.reduceat(boxes.max, starts)
        self.subject_size[self.owners[new[starts]]] = length((high - low) / 2)

    def block(
        self, frames: Sequence[Frame], first: int, last: int, progress: Progress
    ) -> Generator[Progress, None, None]:
        """Look at the intervals between `frames` from `first` to `last`."""
        block = FrameBlock(frames, first, last)
        if not self.refinement:
            strays = block.stray
            block.stray = np.zeros_like(strays)
        else:
            strays = block.stray = self._with_guesses(block)
        changes = np.zeros(self.count, dtype=bool)
        changes[self.owners[block.changes()]] = True
        self.moved |= changes
        end = block.frames[-1].time
        # Those that stand still are looked at once; then their contacts go on as they are.
        moving = np.ones(self.count, dtype=bool) if self._blocks == 0 or block.is_instant else changes
        keys, since = self.history.going_on
        resting = ~(moving[keys // max(1, self.count)] | moving[keys % max(1, self.count)])
        findings = [_Looks.resting(keys[resting], since[resting], end)]
        margin = np.nan_to_num(self.subject_size[self.owners] / 2) + self.settings.clearance / 2
        pairs, near = candidate_pairs(block, margin, moving[self.owners])
        wanted = self.choice.wanted(self.owners[pairs[:, 0]], self.owners[pairs[:, 1]])
        near = near[wanted[near[:, 1]]]
        for start in range(0, len(near), _AT_ONCE):
            interval, row = near[start : start + _AT_ONCE].T
            findings += yield from self._looked_at(block, strays, interval, pairs[row], progress)
        self._note(_Looks.joined(findings), end)
        self._blocks += 1
        self._set_length(block)

    def _with_guesses(self, block: FrameBlock) -> Floats:
        """What shapes may stray, for those that nothing tells about as much as they move."""
        unknown = np.isnan(block.stray)
        if not unknown.any():
            return block.stray
        moved = block.ending.aabb(), block.shapes[:-1].aabb()
        guess = np.maximum(np.abs(moved[0].min - moved[1].min), np.abs(moved[0].max - moved[1].max)).max(
            axis=-1
        )
        return np.where(unknown, guess, block.stray)

    def _looked_at(
        self, block: FrameBlock, strays: Floats, interval: Ints, pairs: Ints, progress: Progress
    ) -> Generator[Progress, None, list[_Looks]]:
        """What candidate pairs (m, 2) do in their intervals (m,)."""
        first, second = pairs.T
        motion = block.pairs(interval, first, second)
        both = strays[interval, first] + strays[interval, second]
        keys = self.choice.keys(self.owners[first], self.owners[second])
        steps = block.steps[interval]
        size = np.minimum(self.subject_size[self.owners[first]], self.subject_size[self.owners[second]])
        # A gap that is larger than one before, or too large for a near miss, need not be known.
        news = np.minimum(self.history.least(keys), size * (1 + _ROUNDING))
        met = encounters(motion, self.settings.clearance, np.nan_to_num(both))
        looks = []
        if self.refinement:
            known = self.history.has_first(keys)
            verdict = judged(motion, met, both, size, known, self.settings.clearance, steps)
            asked = self.refinement.refinable[first] & self.refinement.refinable[second]
            open_rows = np.flatnonzero(~verdict.settled & asked)
            kept = np.ones(len(keys), dtype=bool)
            kept[open_rows] = False
            for k in np.unique(interval[open_rows]):
                rows = open_rows[interval[open_rows] == k]
                looking = self.refinement.looked_at(
                    block, int(k), pairs[rows], size[rows], known[rows], news[rows]
                )
                while True:
                    try:
                        next(looking)
                    except StopIteration as stop:
                        refined: Refined = stop.value
                        break
                    yield progress
                looks.append(_Looks.refined(keys[rows], refined))
            rows = np.flatnonzero(kept)
            uncertainty, adaptive = verdict.uncertainty, asked
        else:
            rows = np.arange(len(keys))
            uncertainty, adaptive = np.zeros(len(keys)), np.zeros(len(keys), dtype=bool)
        met = with_extremes(motion, met, rows, news)
        begin, end = block.times[interval[rows]], block.times[interval[rows] + 1]
        enter = met.enter[rows]
        point, normal = np.full((len(rows), 3), np.nan), np.full((len(rows), 3), np.nan)
        sure = uncertainty[rows] * steps[rows]
        # Only a first contact is described.
        told = np.flatnonzero(~np.isnan(enter) & ~self.history.has_first(keys[rows]))
        if len(told):
            part = motion.picked(rows[told])
            witness = witness_points(*part.at(enter[told]))
            point[told], normal[told] = witness.middle, witness.normal
            linear = told[~adaptive[rows[told]]]
            if len(linear):
                part = motion.picked(rows[linear])
                sure[linear] = _doubt(
                    both[rows[linear]], closing_speed(part, enter[linear]), steps[rows[linear]]
                )
        looks.append(
            _Looks(
                keys[rows],
                time_within(begin, end, enter),
                time_within(begin, end, met.leave[rows]),
                met.least[rows],
                time_within(begin, end, met.least_time[rows]),
                sure,
                point,
                normal,
                adaptive[rows],
            )
        )
        return looks

    def _note(self, looks: _Looks, until: float) -> None:
        rows, where = self.history.note(Findings(*looks[:5]), until)
        uncertainty = np.where(looks.enter[where] == self.first_time, 0.0, looks.uncertainty[where])
        self.history.describe_first(
            rows, uncertainty, looks.point[where], looks.normal[where], looks.adaptive[where]
        )

    def _set_length(self, block: FrameBlock) -> None:
        """As many intervals in the next block as what moves needs to go about its own length."""
        boxes = block.shapes.aabb()
        moved = np.abs(boxes.min[1:] - boxes.min[:-1]).max(axis=-1)
        moved = moved[(moved > 0) & block.present[1:] & block.present[:-1]]
        if not len(moved):
            self.block_length = _LONGEST_BLOCK
            return
        ways = 2 * float(np.nanmedian(self.size)) / max(float(np.median(moved)), 1e-300)
        self.block_length = int(np.clip(ways, 1, _LONGEST_BLOCK))

    def report(self) -> ContactReport:
        """All that was found."""
        intervals = self.history.finish()
        contacts, clearances = [], []
        for row in self.history.rows:
            key = int(row["key"])
            i, j = divmod(key, self.count)
            a, b = self.choice.in_order(key)
            moves = bool(self.moved[i] or self.moved[j])
            if key in intervals:
                if moves or self.settings.static_pairs or self._blocks == 1:
                    contacts.append(self._contact(a, b, row, intervals[key], flipped=a != i))
            elif row["least"] <= min(self.subject_size[i], self.subject_size[j]) and moves:
                clearances.append(Clearance(a, b, float(row["least_time"]), float(row["least"])))
        contacts.sort(key=lambda contact: (contact.first.frame, contact.a, contact.b))
        clearances.sort(key=lambda near: (near.gap, near.a, near.b))
        return ContactReport(tuple(contacts), tuple(clearances))

    def _contact(
        self, a: int, b: int, row: np.void, spans: list[tuple[float, float]], flipped: bool
    ) -> Contact:
        start, end = spans[0]
        first = FirstContact(
            frame=float(row["first"]),
            uncertainty=float(row["uncertainty"]),
            point=np.array(row["point"]),
            normal=np.array(row["normal"]) * (-1.0 if flipped else 1.0),
            at_start=bool(row["first"] == self.first_time),
            tunnelling=math.floor(end + _WHOLE) < start - _WHOLE,
            motion="adaptive" if row["adaptive"] else "linear",
        )
        return Contact(
            a,
            b,
            first,
            tuple(ContactInterval(*span) for span in spans),
            float(row["least_time"]),
            -float(row["least"]),
        )


class _Looks(NamedTuple):
    """Findings, and what describes a first contact: all (m,), times in frames."""

    keys: Ints
    enter: Floats
    leave: Floats
    least: Floats
    least_time: Floats
    uncertainty: Floats
    point: Floats
    normal: Floats
    adaptive: Bools

    @classmethod
    def resting(cls, keys: Ints, since: Floats, until: float) -> _Looks:
        """Contacts of pairs that stand still."""
        count = len(keys)
        nothing, nowhere = np.full(count, np.inf), np.full((count, 3), np.nan)
        going_on = np.full(count, until)
        return cls(
            keys, since, going_on, nothing, since, nothing, nowhere, nowhere, np.zeros(count, dtype=bool)
        )

    @classmethod
    def refined(cls, keys: Ints, refined: Refined) -> _Looks:
        """What was found between samples, for pairs of these keys."""
        return cls(keys[refined.row], *refined[1:], np.ones(len(refined.row), dtype=bool))

    @classmethod
    def joined(cls, parts: Sequence[_Looks]) -> _Looks:
        """All of them."""
        return cls(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _doubt(strays: Floats, speed: Floats, steps: Floats) -> Floats:
    """Frames: how long pairs take to cover the distance by which the straight line may be wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        frames = np.where(strays > 0, strays / speed, 0.0) * steps
    return np.where(np.isnan(strays) | (speed <= 0), steps, np.minimum(frames, steps))
