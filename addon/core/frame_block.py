"""Some successive frames of a scan as arrays: the intervals between them, looked at together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, length
from .broad_phase import overlapping_pairs
from .motion import Sample
from .pair_motion import PairMotion
from .separation import overlaps
from .shapes import Aabb, Shape, stacked
from .straightness import bend, sagitta, slopes, stray
from .triangle_mesh import TriangleMesh


@dataclass(frozen=True)
class Frame:
    """All shapes (n,) at one time, and which of them are there (n,)."""

    time: float
    shapes: Shape
    present: Bools
    place: Floats
    """(4, 4) where what sees the shapes so is, in the world."""

    @classmethod
    def of(cls, time: float, sample: Sample, owners: Ints) -> Frame:
        """A sample, its presence told for each part; its one place, or none at all."""
        place = np.eye(4) if sample.places is None else sample.places[0]
        present = (
            np.ones(sample.shapes.shape, dtype=bool) if sample.present is None else sample.present[owners]
        )
        return cls(time, sample.shapes, present, place)


class FrameBlock:
    """The intervals (k,) between frames (k + 1,), of shapes (n,).

    frames : those frames
    mesh : what the last of the shapes is around, and stands for; None where all shapes stand for themselves
    shapes : (k + 1, n) at the frames
    ending : (k, n) at the end of each interval. Who is gone by then stays where it was; who comes is the next
        interval's.
    boxes, ending_boxes : (k + 1, n) and (k, n) around both
    stray : (k, n) how far from straight each is taken to be on the way; 0 to begin with
    """

    def __init__(
        self, frames: Sequence[Frame], first: int, last: int, mesh: TriangleMesh | None = None
    ) -> None:
        """Of `frames` those from `first` to `last`; any beside them only tell how straight the motion is."""
        self.mesh = mesh
        self.frames = frames[first : last + 1]
        self.shapes = stacked([frame.shapes for frame in self.frames])
        self.times = np.array([frame.time for frame in self.frames])
        self.present = np.stack([frame.present for frame in self.frames])
        stays = self.present[1:]
        self.boxes = self.shapes.aabb()
        self.ending, self.ending_boxes = self.shapes[1:], self.boxes[1:]
        if not stays.all():
            self.ending = chosen(stays, self.shapes[1:], self.shapes[:-1])
            self.ending_boxes = self.ending.aabb()
        self.before = frames[first - 1] if first else None
        self.after = frames[last + 1] if last + 1 < len(frames) else None
        self.stray = np.zeros((len(self), self.present.shape[1]))

    def __len__(self) -> int:
        """How many intervals."""
        return len(self.frames) - 1

    @property
    def places(self) -> Floats:
        """(k + 1, 4, 4) of the frames."""
        return np.stack([frame.place for frame in self.frames])

    @property
    def steps(self) -> Floats:
        """(k,) frames that each interval takes."""
        return np.diff(self.times)

    @property
    def is_instant(self) -> bool:
        """Whether the block is one frame, as start and end of an interval that takes no time."""
        return bool(self.times[0] == self.times[-1])

    def changes(self) -> Bools:
        """(n,) which shapes move within the block, come or go."""
        result = (self.present[1:] != self.present[:-1]).any(axis=0)
        for name, tail in self.shapes.tails.items():
            values = getattr(self.shapes, name)
            own = tuple(range(2, 2 + len(tail)))
            result |= ((values[1:] != values[:-1]).any(axis=own) & self.present[1:]).any(axis=0)
        return np.asarray(result)

    def pairs(self, interval: Ints, first: Ints, second: Ints) -> PairMotion:
        """The shapes of pairs (m,) in their intervals (m,)."""
        a, b = (interval, first), (interval, second)
        if self.mesh:
            return PairMotion(self.shapes[a], self.ending[a], self.mesh, self.mesh)
        return PairMotion(self.shapes[a], self.ending[a], self.shapes[b], self.ending[b])

    def swept(self, margin: Floats) -> Aabb:
        """Boxes (k, n) around the shapes on their way, wider by `margin` (n,) and by what they stray."""
        with np.errstate(invalid="ignore"):
            wider = margin + np.nan_to_num(self.stray) + sagitta(self.shapes[:-1], self.ending)
        # Rounded outward: the sides of boxes around spheres carry a rounding or two.
        return self.boxes[:-1].merged(self.ending_boxes).padded(wider * (1 + 1e-12))

    def strays(self, some: Ints) -> Floats:
        """(k, m) how far from straight some shapes (m,) may be on the way; NaN where nothing tells."""
        if not len(self) or self.is_instant:
            return np.zeros((len(self), len(some)))
        window = [frame for frame in (self.before, *self.frames, self.after) if frame is not None]
        times = np.array([frame.time for frame in window])
        steps = np.diff(times)[:, None]
        beside = len(window) > len(self.frames)
        shapes = stacked([frame.shapes[some] for frame in window]) if beside else self.shapes[:, some]
        present = np.stack([frame.present[some] for frame in window])
        speed = slopes(shapes[:-1], shapes[1:], np.broadcast_to(steps, (len(steps), present.shape[1])))
        bends = np.where(present[:-2] & present[1:-1] & present[2:], bend(speed[:-1], speed[1:]), np.nan)
        together = steps[:-1] + steps[1:]
        result = np.full((len(steps), present.shape[1]), np.nan)
        result[1:] = stray(bends, steps[1:], together)
        result[:-1] = np.fmax(result[:-1], stray(bends, steps[:-1], together))
        begin = 0 if self.before is None else 1
        return result[begin : begin + len(self)]


def candidate_pairs(block: FrameBlock, ways: Aabb, moving: Bools) -> Ints:
    """(m, 2) pairs of shapes one of which is moving, that come near each other somewhere in the block.

    ways : (k, n) `block.swept`
    """
    there = block.present[:-1]
    some = np.flatnonzero(there.any(axis=0))
    low, high = _where_there(block, ways)
    around = Aabb.trusted(low[:, some].min(axis=0), high[:, some].max(axis=0))
    if block.mesh:
        pairs = _pairs_with_last(around, some, block.present.shape[1] - 1)
    else:
        pairs = some[overlapping_pairs(around)]
    return np.asarray(pairs[moving[pairs].any(axis=1)].astype(np.int64))


def _where_there(block: FrameBlock, ways: Aabb) -> tuple[Floats, Floats]:
    """(k, n, 3) both corners of boxes, which hold nothing for shapes that are not there."""
    there = block.present[:-1, :, None]
    if there.all():
        return ways.min, ways.max
    return np.where(there, ways.min, np.inf), np.where(there, ways.max, -np.inf)


def _pairs_with_last(boxes: Aabb, shapes: Ints, last: int) -> Ints:
    """(m, 2) growing `shapes` (n,) whose boxes (n,) overlap that of the last one, if it is among them."""
    if not len(shapes) or shapes[-1] != last:
        return np.empty((0, 2), dtype=np.int64)
    meeting = shapes[:-1][overlaps(boxes[:-1], boxes[-1])]
    return np.column_stack([meeting, np.full(len(meeting), last)])


def near_by_interval(block: FrameBlock, ways: Aabb, pairs: Ints) -> Ints:
    """(r, 2) intervals and which of the pairs have boxes that overlap in them, by interval."""
    found = []
    low, high = _where_there(block, ways)
    columns_low, columns_high = (np.ascontiguousarray(np.moveaxis(side, -1, 0)) for side in (low, high))
    for interval in range(len(low)):
        rows = np.arange(len(pairs))
        for axis in range(3):
            below, above = columns_low[axis, interval], columns_high[axis, interval]
            kept = []
            for begin in range(0, len(rows), CHUNK_ROWS):
                first, second = pairs[rows[begin : begin + CHUNK_ROWS]].T
                meets = (below[first] <= above[second]) & (below[second] <= above[first])
                kept.append(rows[begin : begin + CHUNK_ROWS][meets])
            rows = np.concatenate([np.empty(0, dtype=np.int64), *kept])
        found.append(np.column_stack([np.full(len(rows), interval), rows]))
    return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)


def chosen(condition: Bools, first: Shape, second: Shape) -> Shape:
    """One batch or the other, shape by shape."""
    fields = []
    for name, tail in first.tails.items():
        mask = condition.reshape(condition.shape + (1,) * len(tail))
        fields.append(np.where(mask, getattr(first, name), getattr(second, name)))
    return type(first).trusted(*fields)


def sizes(shapes: Shape) -> Floats:
    """(n,) half the diagonal of the boxes around shapes, or the radius of spheres."""
    radius = getattr(shapes, "radius", None)
    return radius if radius is not None else length(shapes.aabb().half_extents)
