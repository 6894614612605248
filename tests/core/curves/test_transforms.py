"""World matrices of objects that follow curves, and how far their points deviate in between."""

import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from addon.core.curves.keyframes import LINEAR, Curves, Keys
from addon.core.curves.transform_bounds import hierarchy_chords, transform_chords
from addon.core.curves.transforms import (
    AXIS_ANGLE,
    CHANNELS,
    DELTA_SCALE,
    EULER_ORDERS,
    LOCATION,
    QUATERNION,
    ROTATION,
    SCALE,
    Transforms,
    rotation_matrices,
)
from tests.core.curves.random_curves import FIRST, LAST, random_transforms
from tests.tiers import times


def chords_of_objects(transforms, objects, begin, end):
    return transform_chords(transforms, objects, begin, end)


def keyed_object(channels, mode=0):
    """One object with linear curves from frame 0 to 10: channel to its two values."""
    rest = np.zeros((1, CHANNELS), dtype=np.float32)
    rest[:, SCALE] = rest[:, DELTA_SCALE] = 1
    curve_of = np.full((1, CHANNELS), -1)
    points = []
    for number, (channel, values) in enumerate(channels.items()):
        curve_of[0, channel] = number
        points += [[0, values[0]], [10, values[1]]]
    points = np.array(points, dtype=np.float32)
    keys = Keys(points, points, points, np.full(len(points), LINEAR), np.zeros((len(points), 3), np.float32))
    curves = Curves(keys, np.arange(0, len(points) + 1, 2), np.zeros(len(channels), dtype=bool))
    identity = np.eye(4, dtype=np.float32)[None]
    return Transforms(rest, curve_of, np.array([mode]), np.array([-1]), identity, curves)


def chords_of(transforms, begin, end):
    return chords_of_objects(transforms, np.array([0]), np.array([begin]), np.array([end]))


def test_children_follow_parents_by_their_inverse():
    transforms = random_transforms(np.random.default_rng(2), 40)
    times = np.linspace(FIRST, LAST, 5)
    world = transforms.world_matrices(times).astype(float)
    alone = replace(transforms, parent=np.full(40, -1)).world_matrices(times).astype(float)
    for row, parent in enumerate(transforms.parent):
        above = world[:, parent] @ transforms.parent_inverse[row] if parent >= 0 else np.eye(4)
        np.testing.assert_allclose(world[:, row], above @ alone[:, row], rtol=1e-5, atol=1e-4)


def test_each_object_at_its_own_time_is_where_all_are():
    transforms = random_transforms(np.random.default_rng(3), 40)
    times = np.linspace(FIRST, LAST, 9)
    world = transforms.world_matrices(times)
    column, row = np.indices(world.shape[:2])
    found = transforms.matrices_of(row.ravel(), times[column.ravel()])
    np.testing.assert_array_equal(found, world.reshape(-1, 4, 4))


def test_hierarchies_at_their_own_times_are_where_all_are():
    transforms = random_transforms(np.random.default_rng(4), 40)
    times = np.linspace(FIRST, LAST, 5)
    world = transforms.world_matrices(times)
    objects, moments = np.array([39, 2, 20, 5, 6, 38, 39, 2]), np.array([0, 3, 4, 1, 1, 2, 3, 3])
    hierarchy, moment_of, places = transforms.hierarchy_of(objects, moments)
    of_each = np.column_stack([hierarchy.objects, moment_of])
    assert len(np.unique(of_each, axis=0)) == len(of_each)
    np.testing.assert_array_equal(of_each[places], np.column_stack([objects, moments]))
    is_child = hierarchy.parents >= 0
    assert (is_child == (transforms.parent[hierarchy.objects] >= 0)).all()
    above = hierarchy.parents[is_child]
    assert (hierarchy.objects[above] == transforms.parent[hierarchy.objects][is_child]).all()
    assert (moment_of[above] == moment_of[is_child]).all()
    found = transforms.hierarchy_matrices(hierarchy, times[moment_of])
    np.testing.assert_array_equal(found, world[moment_of, hierarchy.objects])


def test_hierarchies_at_many_times_take_no_memory_for_all_objects():
    tracemalloc.start()
    many, moments = SimpleNamespace(parent=np.arange(-1, 4999)), np.arange(1000)
    hierarchy, moment_of, places = Transforms.hierarchy_of(many, moments % 2, moments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The second object is a child of the first.
    np.testing.assert_array_equal(hierarchy.objects[places], moments % 2)
    np.testing.assert_array_equal(moment_of, np.repeat(moments, moments % 2 + 1))
    assert peak < 2_000_000


def test_transform_is_scale_then_rotation_then_location():
    transforms = keyed_object({0: (0, 8), 3: (0, 1), 8: (1, 3)})
    matrix = transforms.world_matrices(np.array([5.0]))[0, 0]
    turn = rotation_matrices(np.array([0]), np.array([[0.5, 0, 0, 0]]))[0]
    np.testing.assert_allclose(matrix[:3, :3], turn @ np.diag([1, 2, 1]), atol=1e-6)
    np.testing.assert_allclose(matrix[:, 3], [4, 0, 0, 1])


@pytest.mark.parametrize("seed", range(times(2, full=4)))
def test_no_point_deviates_by_more_than_its_bound(seed):
    rng = np.random.default_rng(seed)
    transforms = random_transforms(rng, 60)
    objects = rng.integers(0, 60, 300)
    begin = rng.uniform(FIRST, LAST - 1, 300)
    end = begin + 10 ** rng.uniform(-3, 1, 300)
    chords = chords_of_objects(transforms, objects, begin, end)
    points = rng.normal(size=(300, 3)) * 10 ** rng.uniform(-1, 1, (300, 1))
    bound = chords.offset + chords.linear * np.linalg.norm(points, axis=1)
    homogeneous = np.column_stack([points, np.ones(300)])[:, :, None]
    first, last = chords.begin @ homogeneous, chords.end @ homogeneous
    ratios = []
    for part in np.linspace(0, 1, 18)[1:-1]:
        # Between keys and steps: the matrices of a very short interval are those of its begin.
        time = begin + part * (end - begin)
        place = chords_of_objects(transforms, objects, time, np.nextafter(time, np.inf)).begin @ homogeneous
        distance = np.linalg.norm((place - first - part * (last - first))[:, :3, 0], axis=1)
        assert (distance <= bound + 1e-9).all()
        ratios.append(distance / np.maximum(bound, 1e-6))
    assert np.max(ratios) > 0.8


@pytest.mark.parametrize("seed", range(6))
def test_no_point_of_a_hierarchy_deviates_by_more_than_its_bound(seed):
    rng = np.random.default_rng(seed)
    transforms, count = random_transforms(rng, 60), 60
    begin = rng.uniform(FIRST, LAST - 1, 8)
    end = begin + 10 ** rng.uniform(-3, 1, 8)
    objects, begin, end = np.tile(np.arange(count), 8), np.repeat(begin, count), np.repeat(end, count)
    hierarchy, _, places = transforms.hierarchy_of(objects, np.repeat(np.arange(8), count))
    np.testing.assert_array_equal(places, np.arange(len(objects)))
    chords = hierarchy_chords(transforms, hierarchy, begin, end)
    alone = chords_of_objects(transforms, objects, begin, end)
    for found, expected in ((chords.begin, alone.begin), (chords.end, alone.end)):
        sizes = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(found - expected) <= 1e-12 * sizes).all()
    points = rng.normal(size=(len(objects), 3)) * 10 ** rng.uniform(-1, 1, (len(objects), 1))
    bound = chords.offset + chords.linear * np.linalg.norm(points, axis=1)
    homogeneous = np.column_stack([points, np.ones(len(objects))])[:, :, None]
    first, last = chords.begin @ homogeneous, chords.end @ homogeneous
    ratios = []
    for part in np.linspace(0, 1, 18)[1:-1]:
        time = begin + part * (end - begin)
        place = chords_of_objects(transforms, objects, time, np.nextafter(time, np.inf)).begin @ homogeneous
        distance = np.linalg.norm((place - first - part * (last - first))[:, :3, 0], axis=1)
        assert (distance <= bound * (1 + 1e-12) + 1e-9).all()
        ratios.append(distance / np.maximum(bound, 1e-6))
    assert np.max(ratios) > 0.8


@pytest.mark.parametrize("seed", range(4))
def test_both_ends_of_a_motion_are_at_the_matrices_of_their_times(seed):
    rng = np.random.default_rng(seed)
    transforms = random_transforms(rng, 60)
    objects = rng.integers(0, 60, 300)
    begin, end = np.sort(rng.uniform(FIRST, LAST, (2, 300)), axis=0)
    chords = chords_of_objects(transforms, objects, begin, end)
    for time, matrices in ((begin, chords.begin), (end, chords.end)):
        expected = transforms.matrices_of(objects, time)
        # Times are rounded to single precision, and curves are steep.
        is_close = np.isclose(matrices, expected, rtol=1e-3, atol=1e-2).all(axis=(1, 2))
        assert is_close.mean() > 0.98


def test_location_on_a_line_deviates_by_nothing():
    chords = chords_of(keyed_object({0: (0, 8), 2: (-3, 3)}), 2, 7)
    assert (chords.offset[0], chords.linear[0], chords.arc[0]) == pytest.approx((0, 0, 0), abs=1e-12)
    np.testing.assert_allclose(chords.end[0, :3, 3] - chords.begin[0, :3, 3], [4, 0, 3], atol=1e-6)


@pytest.mark.parametrize("mode", [*range(len(EULER_ORDERS)), AXIS_ANGLE])
def test_turn_at_a_constant_rate_about_one_axis_is_its_own_arc(mode):
    transforms = keyed_object({ROTATION.start: (0, 20)}, mode)
    if mode == AXIS_ANGLE:
        transforms.rest[:, ROTATION] = [0, 1, 2, 3]
    chords = chords_of(transforms, 3, 4)  # by 2 radians
    assert chords.arc[0] == pytest.approx(0, abs=1e-12)
    # The sagitta of the arc is 1 - cos(1), and the bound that of the parabola.
    assert 1 - np.cos(1) <= chords.linear[0] <= 0.5 + 1e-9


def test_child_whose_parent_inverse_takes_back_its_location_deviates_like_its_parent():
    # The parent turns about the origin, which is where the child is.
    parent = keyed_object({ROTATION.start: (0, 20)})
    rest = np.repeat(parent.rest, 2, axis=0)
    rest[1, LOCATION] = 1000, 0, 0
    inverse = np.repeat(parent.parent_inverse, 2, axis=0)
    inverse[1, 0, 3] = -1000
    curve_of = np.concatenate([parent.curve_of, np.full((1, CHANNELS), -1)])
    both = Transforms(rest, curve_of, np.array([0, 0]), np.array([-1, 0]), inverse, parent.curves)
    chords = chords_of_objects(both, np.array([0, 1]), np.full(2, 3.0), np.full(2, 4.0))
    assert chords.offset[1] == pytest.approx(0, abs=1e-9)
    assert chords.linear[1] == pytest.approx(chords.linear[0], rel=1e-9)


@pytest.mark.parametrize("degrees", [181, 270, 720])
def test_more_than_half_a_turn_is_not_the_shorter_arc(degrees):
    chords = chords_of(keyed_object({ROTATION.start + 2: (0, np.radians(degrees))}), 0, 10)
    # The shorter arc turns the other way, or not at all: the point on the other side is at distance 2.
    assert chords.arc[0] == 2
    assert chords.linear[0] >= 1


def test_scale_that_changes_has_no_arc():
    assert chords_of(keyed_object({SCALE.start: (1, 2)}), 0, 1).arc[0] == np.inf


def test_quaternions_through_zero_may_be_anywhere():
    channels = {ROTATION.start + k: (value, -value) for k, value in enumerate((1.0, 0.5, 0.0, 0.0))}
    assert chords_of(keyed_object(channels, QUATERNION), 4, 6).linear[0] == 2


def test_location_is_where_the_channels_are():
    transforms = keyed_object({LOCATION.start: (1, 5)})
    np.testing.assert_allclose(chords_of(transforms, 0, 10).begin[0, :3, 3], [1, 0, 0])
