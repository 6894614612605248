"""Interpolation of shapes between two samples."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, InvalidShapeError, NonFiniteGeometryError, Obb, Segment, Sphere, Triangle, at
from addon.core.sweep.interpolation import ObbMotion, RotationPath, rotation_angle
from tests.core import scenes
from tests.core.motions import rotation_about

pytestmark = pytest.mark.filterwarnings("error")

KINDS = [Sphere, Aabb, Obb, Segment, Triangle]


def fields(shape) -> list[np.ndarray]:
    return [getattr(shape, name) for name in shape.field_shapes]


@pytest.mark.parametrize("kind", KINDS)
def test_ends_equal_samples_exactly(kind):
    rng = np.random.default_rng(15)
    start, end = scenes.random_shapes(kind, rng, 100), scenes.random_shapes(kind, rng, 100)
    time = np.tile([0.0, 1.0], 50)
    found = at(start, end, time)
    for part, first, last in zip(fields(found), fields(start), fields(end), strict=True):
        assert np.array_equal(part[::2], first[::2])
        assert np.array_equal(part[1::2], last[1::2])


@pytest.mark.parametrize("kind", KINDS)
def test_fields_change_linearly(kind):
    rng = np.random.default_rng(16)
    start, end = scenes.random_shapes(kind, rng, 100), scenes.random_shapes(kind, rng, 100)
    quarter = at(start, end, 0.25)
    for name, tail in kind.field_shapes.items():
        if name != "rotation":
            expected = 0.75 * getattr(start, name) + 0.25 * getattr(end, name)
            np.testing.assert_allclose(getattr(quarter, name), expected, rtol=0, atol=1e-15)
        assert getattr(quarter, name).shape == (100, *tail)


def test_one_sided_triangles_stay_one_sided():
    corners = np.eye(3)
    assert at(Triangle(*corners, one_sided=True), Triangle(*corners, one_sided=True), 0.5).one_sided


def test_flat_boxes_stay_valid_after_rounding():
    rng = np.random.default_rng(17)
    low, end = rng.normal(size=(2, 1000, 3))
    box = at(Aabb(low, low), Aabb(end, end), rng.random(1000))
    assert (box.min <= box.max).all()


@pytest.mark.smoke
def test_start_ends_and_times_broadcast():
    ends = Sphere([[1, 0, 0], [2, 0, 0], [3, 0, 0]], 1)
    found = at(Sphere([0, 0, 0], 0), ends, np.array([0.5, 0.25])[:, None])
    assert found.shape == (2, 3)
    assert found.center[..., 0].tolist() == [[0.5, 1, 1.5], [0.25, 0.5, 0.75]]
    assert found.radius.tolist() == [[0.5] * 3, [0.25] * 3]
    box = Obb([0, 0, 0], [1, 1, 1], np.eye(3))
    assert at(box, box, np.linspace(0, 1, 5)).shape == (5,)


def test_incompatible_samples_are_rejected():
    ball, box = Sphere([0, 0, 0], 1), Aabb([0, 0, 0], [1, 1, 1])
    with pytest.raises(InvalidShapeError, match="no motion from Sphere to Aabb"):
        at(ball, box, 0.5)
    two, three = (Sphere(np.zeros((n, 3)), 1) for n in (2, 3))
    with pytest.raises(InvalidShapeError, match=r"\(2,\) and \(3,\)"):
        at(two, three, 0.5)
    with pytest.raises(InvalidShapeError, match=r"\(2,\) and \(2,\) and \(3,\)"):
        at(two, two, np.zeros(3))


# --- turns -----------------------------------------------------------------------------------------------

ANGLES = {
    "any": lambda rng, n: rng.uniform(0, np.pi, n),
    "tiny": lambda rng, n: 10.0 ** rng.uniform(-17, -3, n),
    "about a right angle": lambda rng, n: np.pi / 2 + rng.normal(size=n) * 1e-8,
    "nearly half a turn": lambda rng, n: np.pi - 10.0 ** rng.uniform(-12, -1, n),
}


@pytest.mark.parametrize("angles", ANGLES)
def test_rotations_match_slerp(angles):
    rng = np.random.default_rng(18)
    count = 3000
    start = scenes.random_rotations(rng, count)
    axis, angle = scenes.random_directions(rng, count), ANGLES[angles](rng, count)
    turn = RotationPath.between(start, rotation_about(axis, angle) @ start)
    np.testing.assert_allclose(turn.angle, angle, rtol=0, atol=3e-15)
    for time in (0.0, 0.1, 0.5, 0.9, 1.0):
        found = turn.at(np.full(count, time))
        np.testing.assert_allclose(found, rotation_about(axis, angle * time) @ start, rtol=0, atol=1e-14)
        gram = np.einsum("nji,njk->nik", found, found)
        np.testing.assert_allclose(gram, np.broadcast_to(np.eye(3), gram.shape), rtol=0, atol=1e-14)
        assert (np.linalg.det(found) > 0).all()


def test_rotation_takes_shorter_arc():
    # 350 degrees about Z is 10 degrees in the opposite direction.
    turn = RotationPath.between(np.eye(3), rotation_about(np.array([0, 0, 1.0]), np.radians(350)))
    assert turn.angle == pytest.approx(np.radians(10), abs=1e-15)
    np.testing.assert_allclose(turn.axis, [0, 0, -1], rtol=0, atol=1e-14)


@pytest.mark.parametrize("axis", range(3))
def test_half_turn_about_coordinate_axis_has_positive_axis(axis):
    half = -np.eye(3)
    half[axis, axis] = 1
    turn = RotationPath.between(np.eye(3), half)
    assert turn.angle == np.pi
    assert turn.axis.tolist() == np.eye(3)[axis].tolist()
    np.testing.assert_allclose(turn.at(np.float64(0.5)), scenes.axis_rotation(axis, 0, 1), rtol=0, atol=1e-15)


@pytest.mark.smoke
def test_half_turns_about_any_axis_reach_end():
    rng = np.random.default_rng(19)
    axis, start = scenes.random_directions(rng, 1000), scenes.random_rotations(rng, 1000)
    end = (2 * axis[:, :, None] * axis[:, None, :] - np.eye(3)) @ start
    turn = RotationPath.between(start, end)
    np.testing.assert_allclose(turn.angle, np.pi, rtol=0, atol=1e-14)
    np.testing.assert_allclose(turn.at(np.ones(1000)), end, rtol=0, atol=1e-14)
    # In either of the two directions.
    np.testing.assert_allclose(np.abs((turn.axis * axis).sum(axis=1)), 1, rtol=0, atol=1e-14)


def test_rotation_by_rounding_errors_counts_as_none():
    rotation = scenes.random_rotations(np.random.default_rng(20), 1000)
    off = rotation * (1 + 2.0**-52 * np.random.default_rng(21).integers(-1, 2, rotation.shape))
    assert (RotationPath.between(rotation, rotation).angle == 0).all()
    turn = RotationPath.between(rotation, off)
    assert (turn.angle == 0).mean() > 0.99
    np.testing.assert_allclose(turn.at(np.full(1000, 0.5)), rotation, rtol=0, atol=1e-15)


def test_oriented_box_rotates_about_moving_center():
    # Halfway through a quarter turn about Z the X axis points to 45 degrees.
    start = Obb([0, 0, 0], [1, 2, 3], np.eye(3))
    end = Obb([4, 0, 2], [3, 2, 1], scenes.axis_rotation(2, 0, 1))
    middle = at(start, end, 0.5)
    assert middle.center.tolist() == [2, 0, 1]
    assert middle.half_extents.tolist() == [2, 2, 2]
    np.testing.assert_allclose(middle.rotation[:, 0], [0.5**0.5, 0.5**0.5, 0], rtol=0, atol=1e-15)


def test_single_box_and_batch_broadcast_in_either_order():
    turns = np.stack([rotation_about(np.array([0, 0, 1.0]), angle) for angle in (0.3, 2.0, 3.0)])
    many, one = Obb(np.zeros((3, 3)), [1, 2, 3], turns), Obb([1, 0, 0], [1, 2, 3], np.eye(3))
    for start, end in ((many, one), (one, many)):
        between = at(start, end, 0.5)
        for k in range(3):
            alone = at(*(box[k] if box is many else box for box in (start, end)), 0.5)
            np.testing.assert_allclose(between[k].rotation, alone.rotation, atol=1e-12)
            np.testing.assert_allclose(between[k].center, alone.center)


# --- speeds and angles -----------------------------------------------------------------------------------


def test_speed_of_a_spinning_box_is_the_rate_of_its_extent_along_a_direction():
    # The farthest point along a direction moves at the derivative of the support function, taken numerically
    # here.
    rng = np.random.default_rng(5)
    count, step = 200, 1e-6
    start, end = (
        Obb(
            rng.normal(size=(count, 3)) * 3,
            rng.uniform(0.5, 2, (count, 3)),
            scenes.random_rotations(rng, count),
        )
        for _ in range(2)
    )
    direction = scenes.random_directions(rng, count)
    motion = ObbMotion.between(start, end)

    def reach(time: float) -> np.ndarray:
        box = motion.at(np.full(count, time))
        local = np.einsum("ni,nij->nj", direction, box.rotation)
        return np.einsum("ni,ni->n", direction, box.center) + (np.abs(local) * box.half_extents).sum(axis=1)

    for time in (0.25, 0.5, 0.8):
        rate = (reach(time + step) - reach(time - step)) / (2 * step)
        found = motion.speed_along(direction, motion.at(np.full(count, time)))
        # A corner may change within the step.
        assert (np.abs(found - rate) < 1e-5).mean() > 0.98


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.5, 2.0, np.pi])
def test_angle_between_boxes_is_that_of_their_rotations(angle):
    turn = rotation_about(np.array([3, 4, 12]) / 13, angle)
    first = scenes.rotation_3_4_5(1)
    start, end = Obb([0, 0, 0], [1, 2, 3], first), Obb([9, 9, 9], [3, 2, 1], turn @ first)
    assert rotation_angle(start, end) == pytest.approx(angle, abs=1e-7)
    assert rotation_angle(end, start) == pytest.approx(angle, abs=1e-7)


def test_incompatible_times_are_rejected_with_their_name():
    sphere = Sphere(np.zeros((2, 3)), 1)
    with pytest.raises(InvalidShapeError, match=r"^shapes and times: "):
        at(sphere, sphere, np.zeros(3))


def test_angle_between_equal_rotations_is_zero_despite_rounding():
    boxes = Obb(np.zeros(3), np.ones(3), scenes.random_rotations(np.random.default_rng(7), 500))
    # The arc cosine turns a rounding error of eps into its root.
    assert (rotation_angle(boxes, boxes) <= 1e-7).all()


def test_path_without_rotation_keeps_its_rotation_exactly():
    rotation = scenes.random_rotations(np.random.default_rng(8), 50)
    # The last bits of the end differ, which counts as no rotation.
    end = np.nextafter(rotation, 2)
    path = RotationPath.between(rotation, end)
    np.testing.assert_array_equal(path.angle, 0)
    np.testing.assert_array_equal(path.constant, rotation)
    assert (RotationPath.between(rotation, rotation @ rotation[::-1]).constant != rotation).any()


@pytest.mark.parametrize("time", [-0.1, 1.1, [-0.5, 0.5], [0.5, 1.5], np.array([0.2, 1.5]), np.float64(-1)])
def test_times_beyond_the_interval_are_rejected(time):
    sphere = Sphere([0, 0, 0], 1)
    with pytest.raises(InvalidShapeError, match=r"^time: must be from 0 to 1$"):
        at(sphere, sphere, time)


@pytest.mark.parametrize("time", ["now", [[0.5], [0.5, 1]], np.nan])
def test_times_that_are_no_numbers_are_rejected_with_their_name(time):
    sphere = Sphere([0, 0, 0], 1)
    with pytest.raises((InvalidShapeError, NonFiniteGeometryError), match=r"^time: "):
        at(sphere, sphere, time)
