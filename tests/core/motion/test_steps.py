"""Boxes around shapes of certain motion over intervals, long and short."""

import numpy as np
import pytest

from addon.core import Obb
from addon.core.motion.steps import bounded_steps, placed_steps
from addon.core.numeric.arrays import rotation_matrix
from addon.core.scan.candidates import NearSearch, PairFilter
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
        self.is_certain, self.costs = np.ones(count, dtype=bool), np.ones(count)

    def angle(self, shapes, times):
        return self.speed[shapes] * times + self.wobble[shapes] * np.sin(times)

    def at(self, shapes, times, is_before=False):
        times = np.asarray(times, dtype=float)
        center = self.start[shapes] + self.swing[shapes] * np.sin(self.pace[shapes] * times)[:, None]
        half_angle = self.angle(shapes, times)[:, None] / 2
        quaternion = np.concatenate([np.cos(half_angle), np.sin(half_angle) * self.axis[shapes]], axis=1)
        return Obb(center, self.half[shapes], rotation_matrix(quaternion))

    def are_present(self, shapes, times):
        return np.ones(len(shapes), dtype=bool)

    def bound(self, shapes, begin, end):
        """Bound the path of the center by its second derivative; turning too, or by the whole size."""
        step = (end - begin) ** 2 / 8
        path = np.linalg.norm(self.swing[shapes], axis=1) * self.pace[shapes] ** 2 * step
        reach = np.linalg.norm(self.half[shapes], axis=1)
        is_short = np.abs(self.angle(shapes, end) - self.angle(shapes, begin)) < np.pi - 0.01
        turning = reach * np.where(is_short, np.minimum(self.wobble[shapes] * step, 2), 2)
        return (path + turning, np.zeros(len(shapes), dtype=bool))

    def breaks(self, shapes, begin, end):
        return np.full(len(shapes), np.inf)


def boxes_over(motion, shapes, begin, end):
    steps = finished(placed_steps(motion, shapes, begin, end))
    steps = finished(bounded_steps(motion, steps, begin, end))
    return steps.swept_boxes(np.zeros(len(shapes)))


@pytest.mark.parametrize("seed", range(tier_times(6, full=60)))
def test_boxes_hold_turning_shapes_at_all_times_over_short_and_long_intervals(seed):
    rng, count = np.random.default_rng(seed), 12
    motion, frames = Spinning(rng, count), np.arange(33.0) * rng.uniform(0.05, 1)
    sizes = []
    for length in (1, 8, 32):
        begin, end = frames[:-1:length], frames[length::length]
        shapes = np.repeat(np.arange(count), len(begin))
        begin, end = np.tile(begin, count), np.tile(end, count)
        boxes = boxes_over(motion, shapes, begin, end)
        for part in np.linspace(0, 1, 21):
            within = motion.at(shapes, begin + part * (end - begin)).aabb()
            assert (boxes.min <= within.min + BEYOND).all() and (boxes.max >= within.max - BEYOND).all()
        sizes.append(np.median((boxes.max - boxes.min).max(axis=1)))
    assert sizes == sorted(sizes)


def test_boxes_hold_a_zigzag_that_is_on_one_side_at_samples_and_on_the_other_in_between():
    times = np.arange(0, 16.5, 0.5)
    zigzag = np.zeros((len(times), 3))
    zigzag[1:-1, 0] = np.where(times[1:-1] % 1 == 0, 1.0, -1.0)
    motion = Polylines([(times, zigzag)], radius=0.25)
    for begin in (np.arange(16.0), np.zeros(1), np.array([0.0, 8.0])):
        end = np.append(begin[1:], 16.0)
        boxes = boxes_over(motion, np.zeros(len(begin), dtype=int), begin, end)
        assert (boxes.min[:, 0] <= -1.25).all()


def test_box_over_an_interval_holds_where_a_shape_jumps_to_at_its_end():
    motion = Polylines([([0, 4, 4, 8], [(0, 0, 0), (0, 0, 0), (9, 0, 0), (9, 0, 0)])], radius=0.25)
    for begin in (0.0, 3.0):
        boxes = boxes_over(motion, np.zeros(1, dtype=int), np.array([begin]), np.array([4.0]))
        assert boxes.min[0, 0] <= -0.25 and boxes.max[0, 0] >= 9.25


def moving_shapes(motion, count, times):
    pairs = PairFilter(count, None, None, (), None)
    search = NearSearch(motion, times, np.zeros(count))
    finished(search.find(np.arange(count), pairs, np.zeros(count, dtype=bool), False))
    return search.moving


def test_turned_boxes_at_rest_do_not_count_as_moving():
    rng, count = np.random.default_rng(4), 200
    motion = Spinning(rng, count)
    motion.swing[:], motion.wobble[:], motion.speed[:] = 0, 0, 0
    motion.axis[:], motion.angle = rng.normal(0, 1, (count, 3)), lambda shapes, times: 1.0 + shapes
    assert not moving_shapes(motion, count, np.arange(9.0)).any()


def test_shapes_that_go_out_and_back_or_jump_at_the_begin_count_as_moving():
    rest, out = (0, 0, 0), (1, 0, 0)
    motion = Polylines(
        [
            ([0, 8], [rest, rest]),
            ([0, 2, 2.5, 3, 8], [rest, rest, out, rest, rest]),
            ([-1, 0, 0, 8], [out, out, rest, rest]),
            ([0, 8], [rest, out]),
        ]
    )
    assert moving_shapes(motion, 4, np.arange(9.0)).tolist() == [False, True, True, True]
