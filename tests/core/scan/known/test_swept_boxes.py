"""Boxes around known shapes over intervals: bounded over several intervals first, then over each."""

import numpy as np
import pytest

from addon.core import Obb, Sample
from addon.core.numeric.arrays import rotation_matrix
from addon.core.scan.interval_block import Frames, IntervalBlock
from tests.core.scan.known.paths import Polylines
from tests.finished import finished
from tests.tiers import times as tier_times

BEYOND = 1e-9


class Spinning:
    """Boxes (n,) on waves that turn about an axis each, at a speed that swings."""

    def __init__(self, rng, count):
        self.start, self.swing = rng.normal(0, 1, (2, count, 3))
        self.pace = rng.uniform(0.05, 1.5, count)
        self.axis = rng.normal(0, 1, (count, 3))
        self.axis /= np.linalg.norm(self.axis, axis=1)[:, None]
        self.speed, self.wobble = rng.uniform(-2, 2, count), rng.uniform(0, 1, count)
        self.half = rng.uniform(0.1, 1.5, (count, 3))
        self.known, self.costs = np.ones(count, dtype=bool), np.ones(count)

    def angle(self, shapes, times):
        return self.speed[shapes] * times + self.wobble[shapes] * np.sin(times)

    def shapes_of(self, shapes, times, is_before=False):
        times = np.asarray(times, dtype=float)
        center = self.start[shapes] + self.swing[shapes] * np.sin(self.pace[shapes] * times)[:, None]
        half_angle = self.angle(shapes, times)[:, None] / 2
        quaternion = np.concatenate([np.cos(half_angle), np.sin(half_angle) * self.axis[shapes]], axis=1)
        return Obb(center, self.half[shapes], rotation_matrix(quaternion))

    def deviations(self, shapes, begin, end):
        """Bound the path of the center by its second derivative; turning too, or by the whole size."""
        step = (end - begin) ** 2 / 8
        path = np.linalg.norm(self.swing[shapes], axis=1) * self.pace[shapes] ** 2 * step
        reach = np.linalg.norm(self.half[shapes], axis=1)
        is_short = np.abs(self.angle(shapes, end) - self.angle(shapes, begin)) < np.pi - 0.01
        return path + reach * np.where(is_short, np.minimum(self.wobble[shapes] * step, 2), 2)

    def next_jumps(self, shapes, begin, end):
        return np.full(len(shapes), np.inf)


@pytest.mark.parametrize("seed", range(tier_times(6, full=60)))
def test_boxes_hold_turning_shapes_at_all_times_while_they_are_present(seed):
    rng, count = np.random.default_rng(seed), 12
    motion, frames = Spinning(rng, count), np.arange(30.0) * rng.uniform(0.05, 1)
    every = np.arange(count)
    shapes = motion.shapes_of(np.tile(every, len(frames)), np.repeat(frames, count)).reshaped((-1, count))
    # Where a subject is absent, its shape in a sample has no meaning.
    present = rng.random((len(frames), count)) > 0.2
    rotation, center = shapes.rotation.copy(), shapes.center.copy()
    rotation[~present], center[~present] = np.eye(3), 50
    sample = Sample(Obb(center, shapes.half_extents, rotation), present)
    block = IntervalBlock(Frames.from_sample(frames, sample, every), 0, len(frames) - 1, None, is_linear=True)
    finished(block.use_known(motion, motion.known, np.zeros(count, dtype=bool)))
    coarse = block.swept_boxes(np.zeros(count))
    intervals, of_shape = np.nonzero(present[:-1])
    finished(block.refine(intervals, of_shape))
    fine = block.swept_boxes(np.zeros(count))
    for part in np.linspace(0, 1, 21):
        at = frames[intervals] + part * np.diff(frames)[intervals]
        low, high = (getattr(motion.shapes_of(of_shape, at).aabb(), side) for side in ("min", "max"))
        for boxes in (coarse, fine):
            assert (boxes.min[intervals, of_shape] <= low + BEYOND).all()
            assert (boxes.max[intervals, of_shape] >= high - BEYOND).all()
    sizes = [(boxes.max - boxes.min)[intervals, of_shape].max(axis=1) for boxes in (coarse, fine)]
    assert np.median(sizes[1]) < np.median(sizes[0])


def test_boxes_hold_a_zigzag_that_is_on_one_side_at_samples_and_on_the_other_in_between():
    times = np.arange(0, 16.5, 0.5)
    zigzag = np.zeros((len(times), 3))
    zigzag[1:-1, 0] = np.where(times[1:-1] % 1 == 0, 1.0, -1.0)
    motion, frames = Polylines([(times, zigzag)], radius=0.25), np.arange(17.0)
    shapes = motion.shapes_of(np.zeros(17, dtype=int), frames).reshaped((17, 1))
    frame_table = Frames.from_sample(frames, Sample(shapes), np.arange(1))
    block = IntervalBlock(frame_table, 0, 16, None, is_linear=True)
    finished(block.use_known(motion, motion.known, np.zeros(1, dtype=bool)))
    boxes = block.swept_boxes(np.zeros(1))
    assert (boxes.min[:-1, 0, 0] <= -1.25).all()


def test_turned_boxes_at_rest_do_not_count_as_moving():
    rng, count = np.random.default_rng(4), 200
    motion, frames, every = Spinning(rng, count), np.arange(9.0), np.arange(count)
    motion.swing[:], motion.wobble[:], motion.speed[:] = 0, 0, 0
    motion.axis[:], motion.angle = rng.normal(0, 1, (count, 3)), lambda shapes, times: 1.0 + shapes
    shapes = motion.shapes_of(np.tile(every, 9), np.repeat(frames, count)).reshaped((9, count))
    block = IntervalBlock(Frames.from_sample(frames, Sample(shapes), every), 0, 8, None, is_linear=True)
    finished(block.use_known(motion, motion.known, np.zeros(count, dtype=bool)))
    assert not block.moves_unseen.any()
