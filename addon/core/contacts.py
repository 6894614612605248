"""An animation in, its contacts out: who first touches whom, when, for how long, how deep, or how near.

The scan samples all subjects once a frame and takes the straight line between samples ("linear" motion).
Candidate pairs come from bounds of whole intervals, start merged with end, so that a pair that meets and
parts between two samples is not lost. Results stream: memory does not grow with the number of frames.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Bools, Floats, Ints, as_floats, length
from .broad_phase import overlapping_pairs
from .errors import InvalidShapeError
from .interpolation import at
from .pair_history import PairHistory
from .separation import separation, witness_points
from .shapes import Aabb, Shape, Sphere
from .sweep import closest_time, overlap_span

_WHOLE = 1e-6
"""A contact this close to a whole frame, in frames, is shown by it: times carry about this much rounding."""


@dataclass(frozen=True)
class Sample:
    """All subjects at one time: one batch (n,) of shapes, and which of them are there (None: all).

    The shape of a subject that is not there is ignored.
    """

    shapes: Shape
    present: Bools | None = None


class Motion(Protocol):
    """Anything that can say where its subjects are at a time; the same n subjects every time."""

    def sample(self, time: float) -> Shape | Sample:
        """The shapes of all subjects at `time`, in frames. Called with growing times."""
        ...


@dataclass(frozen=True)
class ScanSettings:
    """What counts as a contact, and which pairs matter.

    clearance : pairs closer than this are in contact; 0 means touching
    group_a, group_b : (n,) masks; a pair needs one subject of each. None: everything
    ignored : (m, 2) pairs left out, in either order
    """

    clearance: float = 0.0
    group_a: Bools | None = None
    group_b: Bools | None = None
    ignored: Sequence[tuple[int, int]] = field(default=())


class Progress(NamedTuple):
    """`done` of `total` samples taken, the last one at `time` (frames)."""

    done: int
    total: int
    time: float


class ContactInterval(NamedTuple):
    """A stretch of time in contact, both ends included, in frames."""

    start: float
    end: float


@dataclass(frozen=True)
class FirstContact:
    """The first time a pair touches.

    frame : fractional frame
    uncertainty : frames by which `frame` may be off, estimated from how far neighbouring samples are from a
        straight line; the whole interval where there are no neighbours to tell
    point, normal : (3,) where, and the unit vector from a to b
    at_start : already in contact when the scan begins
    tunnelling : no whole frame shows this contact
    """

    frame: float
    uncertainty: float
    point: Floats
    normal: Floats
    at_start: bool
    tunnelling: bool


@dataclass(frozen=True)
class Contact:
    """A pair that touches: a and b are indices of subjects, `depth` is at `deepest_frame`, >= -clearance."""

    a: int
    b: int
    first: FirstContact
    intervals: tuple[ContactInterval, ...]
    deepest_frame: float
    depth: float


@dataclass(frozen=True)
class Clearance:
    """A near miss: the pair never touches and comes closest at `frame`, leaving `gap`."""

    a: int
    b: int
    frame: float
    gap: float


@dataclass(frozen=True)
class ContactReport:
    """What a scan found: contacts by time of first contact, near misses by gap.

    A near miss is a pair, one of it moving, whose gap is at most the size of the smaller one: the radius of a
    sphere, half the diagonal of a box, when first seen.
    """

    contacts: tuple[Contact, ...]
    clearances: tuple[Clearance, ...]


class _Frame(NamedTuple):
    time: float
    shapes: Shape
    present: Bools


def scan_contacts(
    motion: Motion, frames: ArrayLike, settings: ScanSettings | None = None
) -> Generator[Progress, None, ContactReport]:
    """Find the contacts of all pairs over growing sample times `frames` (k,), k >= 1.

    Yields a Progress after each sample; the generator's return value is the ContactReport. Exact up to
    float64 rounding where shapes move in straight lines between samples, and an assumption where they do not:
    `FirstContact.uncertainty` says how far samples are from straight.

    Raises InvalidShapeError or NonFiniteGeometryError for times that do not grow, settings that do not fit
    the number of subjects, or a motion that changes it.
    """
    settings = settings or ScanSettings()
    times = as_floats(frames, "frames")
    if times.ndim != 1 or not len(times) or (np.diff(times) <= 0).any():
        raise InvalidShapeError("frames: one or more growing times are needed")
    if not (math.isfinite(settings.clearance) and settings.clearance >= 0):
        raise InvalidShapeError(f"clearance: {settings.clearance} is not a length >= 0")

    scan: _Scan | None = None
    # Up to four samples: the interval looked at is between the middle two, its neighbours tell how straight
    # the motion is.
    before: _Frame | None = None
    start: _Frame | None = None
    end: _Frame | None = None
    for index, time in enumerate(times.tolist()):
        after = _taken(motion, time)
        scan = scan or _Scan(len(after.present), settings, float(times[0]))
        scan.meet(after)
        if start and end:
            scan.interval(before, start, end, after)
        before, start, end = start, end, after
        yield Progress(index + 1, len(times), time)
    assert scan is not None and end is not None
    if start:
        scan.interval(before, start, end, None)
    # The last sample on its own: a scan of one frame, and subjects that are only there in the last one.
    scan.interval(start, end, end, None)
    return scan.report(end.time)


def _taken(motion: Motion, time: float) -> _Frame:
    sample = motion.sample(time)
    if not isinstance(sample, Sample):
        sample = Sample(sample)
    if len(sample.shapes.shape) != 1:
        raise InvalidShapeError(f"sample at {time}: the batch must be (n,), not {sample.shapes.shape}")
    present = np.ones(sample.shapes.shape, dtype=bool) if sample.present is None else sample.present
    return _Frame(time, sample.shapes, present)


class _Scan:
    """The state of a scan between two samples."""

    def __init__(self, count: int, settings: ScanSettings, first_time: float) -> None:
        everything = np.ones(count, dtype=bool)
        self.settings = settings
        self.group_a = everything if settings.group_a is None else settings.group_a
        self.group_b = everything if settings.group_b is None else settings.group_b
        ignored = np.sort(np.array(settings.ignored, dtype=np.int64).reshape(-1, 2), axis=1)
        for name, fits in (
            ("group_a", self.group_a.shape == (count,)),
            ("group_b", self.group_b.shape == (count,)),
            ("ignored", not len(ignored) or (ignored.min() >= 0 and ignored.max() < count)),
        ):
            if not fits:
                raise InvalidShapeError(f"settings: {name} does not fit {count} subjects")
        self.ignored = ignored[:, 0] * count + ignored[:, 1]
        self.first_time = first_time
        self.history = PairHistory(count)
        self.reference: Floats | None = None
        self.size = np.full(count, np.nan)
        self.moved = np.zeros(count, dtype=bool)

    def meet(self, frame: _Frame) -> None:
        """Take note of a sample: sizes of subjects seen for the first time, and who has moved since."""
        if frame.present.shape != self.size.shape:
            raise InvalidShapeError(
                f"sample at {frame.time}: {len(frame.present)} subjects instead of {len(self.size)}"
            )
        numbers = _numbers(frame.shapes)
        if self.reference is None:
            self.reference = np.full_like(numbers, np.nan)
        new = frame.present & np.isnan(self.size)
        self.reference[new] = numbers[new]
        self.size[new] = _size(frame.shapes[new])
        self.moved |= frame.present & (numbers != self.reference).any(axis=1)

    def interval(self, before: _Frame | None, start: _Frame, end: _Frame, after: _Frame | None) -> None:
        """Look for contacts from `start` to `end`; `before` and `after` are the neighbouring samples."""
        # Who is gone at `end` stays where it was until then; who comes at `end` is the next interval's.
        ending = _where(end.present, end.shapes, start.shapes)
        pairs = self._candidates(start, ending)
        a0, b0 = start.shapes[pairs[:, 0]], start.shapes[pairs[:, 1]]
        a1, b1 = ending[pairs[:, 0]], ending[pairs[:, 1]]
        enter, leave = overlap_span(a0, a1, b0, b1, self.settings.clearance)
        closest = closest_time(a0, a1, b0, b1)

        step = end.time - start.time
        rows = self.history.find(pairs)
        least = separation(at(a0, a1, closest), at(b0, b1, closest))
        self.history.note_separation(rows, least, start.time + closest * step)

        hit = np.flatnonzero(~np.isnan(enter))
        enter_time, leave_time = _time(start, end, enter[hit]), _time(start, end, leave[hit])
        is_first = self.history.note_contacts(rows[hit], enter_time, leave_time, start.time, end.time)
        first = hit[is_first]
        if len(first):
            a, b = at(a0[first], a1[first], enter[first]), at(b0[first], b1[first], enter[first])
            witness = witness_points(a, b)
            bend = _bend(before, start, end, after)[pairs[first]].sum(axis=1)
            speed = _closing_speed(a0[first], a1[first], b0[first], b1[first], enter[first])
            uncertainty = self._uncertainty(bend, speed, step)
            uncertainty[enter_time[is_first] == self.first_time] = 0.0
            self.history.describe_first(rows[first], uncertainty, witness.middle, witness.normal)

    def _candidates(self, start: _Frame, ending: Shape) -> Ints:
        """(m, 2) pairs that matter and come near each other while the interval lasts."""
        present = np.flatnonzero(start.present)
        boxes = start.shapes[present].aabb().merged(ending[present].aabb())
        pairs = present[overlapping_pairs(boxes.padded(self.size[present] + self.settings.clearance / 2))]
        i, j = pairs[:, 0], pairs[:, 1]
        wanted = (self.group_a[i] & self.group_b[j]) | (self.group_a[j] & self.group_b[i])
        if len(self.ignored):
            wanted &= ~np.isin(i * len(self.size) + j, self.ignored)
        return pairs[wanted].astype(np.int64)

    @staticmethod
    def _uncertainty(bend: Floats, speed: Floats, step: float) -> Floats:
        """Frames: how long the pair takes to cover the distance by which the straight line may be wrong."""
        with np.errstate(divide="ignore", invalid="ignore"):
            frames = np.where(bend > 0, bend / speed, 0.0) * step
        return np.where(np.isnan(bend) | (speed <= 0), step, np.minimum(frames, step))

    def report(self, last_time: float) -> ContactReport:
        """All that was found, with contacts that are still going on ended at `last_time`."""
        intervals = self.history.finish(last_time)
        contacts, clearances = [], []
        for row in self.history.rows:
            i, j = divmod(int(row["key"]), len(self.size))
            a, b = (i, j) if self.group_a[i] and self.group_b[j] else (j, i)
            if int(row["key"]) in intervals:
                contacts.append(self._contact(a, b, row, intervals[int(row["key"])], flipped=a != i))
            elif row["least"] <= min(self.size[i], self.size[j]) and (self.moved[i] or self.moved[j]):
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
        )
        return Contact(
            a,
            b,
            first,
            tuple(ContactInterval(*span) for span in spans),
            float(row["least_time"]),
            -float(row["least"]),
        )


def _time(start: _Frame, end: _Frame, t: Floats) -> Floats:
    """Times of t in [0, 1]; exactly the sample's own at both ends."""
    return np.where(t == 1, end.time, start.time + t * (end.time - start.time))


def _numbers(shapes: Shape) -> Floats:
    """(n, k) all the numbers of a batch, one row a shape."""
    rows = shapes.shape[0]
    columns = [getattr(shapes, name).reshape(rows, math.prod(tail)) for name, tail in shapes.tails.items()]
    return np.concatenate(columns, axis=1)


def _where(condition: Bools, first: Shape, second: Shape) -> Shape:
    """One batch or the other, shape by shape."""
    if isinstance(first, Sphere) and isinstance(second, Sphere):
        center = np.where(condition[:, None], first.center, second.center)
        return Sphere(center, np.where(condition, first.radius, second.radius))
    assert isinstance(first, Aabb) and isinstance(second, Aabb), "a motion keeps to one kind of shape"
    mask = condition[:, None]
    return Aabb(np.where(mask, first.min, second.min), np.where(mask, first.max, second.max))


def _size(shapes: Shape) -> Floats:
    """Radius, or half the diagonal."""
    return shapes.radius if isinstance(shapes, Sphere) else length(shapes.aabb().half_extents)


def _bend(before: _Frame | None, start: _Frame, end: _Frame, after: _Frame | None) -> Floats:
    """(n,) how far the surfaces may be from the straight line between `start` and `end`; NaN: cannot tell.

    A path with second derivative c strays from its chord by at most |c| h^2 / 8; c comes from the second
    differences at both ends of the interval.
    """
    step = end.time - start.time
    bends = []
    for first, middle, last in ((before, start, end), (start, end, after)):
        if first and last and first.time < middle.time < last.time:
            seen = first.present & middle.present & last.present
            h0, h1 = middle.time - first.time, last.time - middle.time
            x0, x1, x2 = (_numbers(frame.shapes) for frame in (first, middle, last))
            second = 2 * ((x2 - x1) / h1 - (x1 - x0) / h0) / (h0 + h1)
            strayed = np.abs(second) * step * step / 8
            # A sphere's surface strays with its centre and its radius, a box's face with itself alone.
            total = length(strayed[:, :3]) + strayed[:, 3] if second.shape[1] == 4 else strayed.max(axis=1)
            bends.append(np.where(seen, total, np.nan))
    if not bends:
        return np.full(len(start.present), np.nan)
    known = np.stack(bends)
    return np.where(np.isnan(known).all(axis=0), np.nan, np.nan_to_num(known).max(axis=0))


def _closing_speed(a0: Shape, a1: Shape, b0: Shape, b1: Shape, t: Floats) -> Floats:
    """How fast the separation shrinks just before `t`, in lengths per interval."""
    earlier = np.maximum(t - 1e-3, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        fell = separation(at(a0, a1, earlier), at(b0, b1, earlier)) - separation(at(a0, a1, t), at(b0, b1, t))
        return np.where(t > earlier, fell / (t - earlier), 0.0)
