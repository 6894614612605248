"""Some successive frames of a scan as arrays: the intervals between them, looked at together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import CHUNK_ROWS, Bools, Floats, Ints, dot, length
from .broad_phase import overlapping_pairs
from .motion import Sample
from .pair_motion import PairMotion
from .separation import overlaps
from .shapes import Aabb, Obb, Shape, joined
from .straightness import bend, sagitta, slopes, stray
from .triangle_mesh import TriangleMesh

_ROUNDING = 1e-12


class Frames(NamedTuple):
    """All shapes (k, n) at times (k,), and which of them are there (k, n)."""

    times: Floats
    shapes: Shape
    present: Bools
    places: Floats
    """(k, 4, 4) where what sees the shapes so is, in the world."""

    @classmethod
    def of(cls, times: Floats, sample: Sample, owners: Ints) -> Frames:
        """A sample of these times, its presence told for each part; its one place, or none at all."""
        shape, places = sample.shapes.shape, sample.places
        present = np.ones(shape, dtype=bool) if sample.present is None else sample.present[:, owners]
        return cls(
            times,
            sample.shapes,
            present,
            np.broadcast_to(np.eye(4), (len(times), 4, 4)) if places is None else places[:, 0],
        )

    def picked(self, rows: slice | list[int]) -> Frames:
        """Some of them."""
        return Frames(self.times[rows], self.shapes[rows], self.present[rows], self.places[rows])

    def joined(self, later: Frames) -> Frames:
        """These, then later ones."""
        return Frames(
            np.concatenate([self.times, later.times]),
            joined(self.shapes, later.shapes),
            np.concatenate([self.present, later.present]),
            np.concatenate([self.places, later.places]),
        )


class FrameBlock:
    """The intervals (k,) between frames (k + 1,), of shapes (n,).

    mesh : what the last of the shapes is around, and stands for; None where all shapes stand for themselves
    times, shapes, present, places : (k + 1, ...) of those frames
    ending : (k, n) at the end of each interval. Who is gone by then stays where it was; who comes is the next
        interval's.
    boxes, ending_boxes : (k + 1, n) and (k, n) around both
    stray : (k, n) how far from straight each is taken to be on the way; 0 to begin with
    """

    def __init__(self, frames: Frames, first: int, last: int, mesh: TriangleMesh | None = None) -> None:
        """Of `frames` those from `first` to `last`; any beside them only tell how straight the motion is."""
        self.mesh = mesh
        self.times, self.shapes, self.present, self.places = frames.picked(slice(first, last + 1))
        stays = self.present[1:]
        self.boxes = self.shapes.aabb()
        self.ending, self.ending_boxes = self.shapes[1:], self.boxes[1:]
        if not stays.all():
            self.ending = chosen(stays, self.shapes[1:], self.shapes[:-1])
            self.ending_boxes = self.ending.aabb()
        # With one before and one after, if there are any.
        self._around = frames.picked(slice(max(first - 1, 0), last + 2))
        self._first = min(first, 1)
        self.stray = np.zeros((len(self), self.present.shape[1]))

    def __len__(self) -> int:
        """How many intervals."""
        return len(self.times) - 1

    def around(self, interval: int) -> Frames:
        """Both frames of an interval, the one before and the one after, as far as there are any."""
        begin = self._first + interval
        return self._around.picked(slice(max(begin - 1, 0), begin + 3))

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
        shapes, present = self._around.shapes[:, some], self._around.present[:, some]
        steps = np.diff(self._around.times)[:, None]
        speed = slopes(shapes[:-1], shapes[1:], np.broadcast_to(steps, (len(steps), present.shape[1])))
        bends = np.where(present[:-2] & present[1:-1] & present[2:], bend(speed[:-1], speed[1:]), np.nan)
        together = steps[:-1] + steps[1:]
        result = np.full((len(steps), present.shape[1]), np.nan)
        result[1:] = stray(bends, steps[1:], together)
        result[:-1] = np.fmax(result[:-1], stray(bends, steps[:-1], together))
        return result[self._first : self._first + len(self)]


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


def near_by_balls(block: FrameBlock, near: Ints, pairs: Ints, reach: Floats) -> Ints:
    """Of `near` (r, 2), intervals and pairs, those of oriented boxes whose balls come within `reach` (m,).

    A ball is all that a box reaches while it turns, and while it strays from its way.
    """
    shapes, ending = block.shapes, block.ending
    if block.mesh or not (isinstance(shapes, Obb) and isinstance(ending, Obb)):
        return near
    radius = np.maximum(length(shapes.half_extents[:-1]), length(ending.half_extents)) + block.stray
    interval, row = near.T
    first, second = pairs[row].T
    start = shapes.center[interval, second] - shapes.center[interval, first]
    velocity = ending.center[interval, second] - ending.center[interval, first] - start
    with np.errstate(divide="ignore", invalid="ignore"):
        time = np.clip(-dot(start, velocity) / dot(velocity, velocity), 0, 1)
    nearest = length(start + np.nan_to_num(time)[:, None] * velocity)
    within = radius[interval, first] + radius[interval, second] + reach[row]
    return np.asarray(near[~(nearest * (1 - _ROUNDING) > within * (1 + _ROUNDING))])


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
