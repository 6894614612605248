from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core import Aabb, InvalidShapeError, NonFiniteGeometryError, Sphere, stacked
from addon.core.arrays import rotation_matrix
from tests.core import exact

COORDINATE = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda x: x if abs(x) > 1e-100 else 0.0)
LENGTH = st.floats(0, 1e6, allow_subnormal=False).map(lambda x: x if x > 1e-100 else 0.0)
POINT = st.tuples(COORDINATE, COORDINATE, COORDINATE)


def rotation_about_z(degrees: float) -> np.ndarray:
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    matrix = np.eye(4)
    matrix[:2, :2] = [[c, -s], [s, c]]
    return matrix


def directions(count: int = 400) -> np.ndarray:
    points = np.random.default_rng(5).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None]


# --- what is refused, and how it is said -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Sphere([[0, 0, 0], [0, math.nan, 0]], [1, 1]), NonFiniteGeometryError, r"\(1, 1\) is nan"),
        (lambda: Sphere([0, 0, math.inf], 1), NonFiniteGeometryError, r"center: element \(2,\) is inf"),
        (lambda: Sphere([0, 0, 0], -math.inf), NonFiniteGeometryError, r"radius.* is -inf"),
        (
            lambda: Sphere([[0, 0, 0]] * 3, [1, 2, -1e-9]),
            InvalidShapeError,
            r"radius: element \(2,\) is negative",
        ),
        (lambda: Sphere([0, 0], 1), InvalidShapeError, r"center: the shape must end in \(3,\)"),
        (lambda: Sphere(np.zeros((2, 3)), np.ones(3)), InvalidShapeError, r"\(2,\) and \(3,\)"),
        (lambda: Sphere("abc", 1), InvalidShapeError, "center: not an array of numbers"),
        (lambda: Aabb([[0, 0, 0], [0, 0, 2]], [1, 1, 1]), InvalidShapeError, r"element \(1,\) has min > max"),
        (lambda: Aabb([0, 0, math.nan], [1, 1, 1]), NonFiniteGeometryError, r"min: element \(2,\) is nan"),
        (lambda: Aabb([0, 0, 0], [1, 1, math.inf]), NonFiniteGeometryError, r"max: element \(2,\) is inf"),
        (lambda: Aabb([0, 0, 0, 0], [1, 1, 1, 1]), InvalidShapeError, r"must end in \(3,\)"),
        (lambda: Sphere([0, 0, 0], 1).padded(-2), InvalidShapeError, "negative"),
        (lambda: Aabb([0, 0, 0], [1, 1, 1]).padded(-0.6), InvalidShapeError, "min > max"),
        (lambda: Sphere([0, 0, 0], 1).transformed(np.eye(3)), InvalidShapeError, r"matrix: .*\(4, 4\)"),
        (lambda: stacked([]), InvalidShapeError, "at least one"),
        (
            lambda: stacked([Sphere([0, 0, 0], 1), Aabb([0, 0, 0], [1, 1, 1])]),
            InvalidShapeError,
            "one kind",
        ),
    ],
)
def test_bad_input_is_refused_naming_the_element(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_arrays_of_a_shape_cannot_be_changed_through_it_and_the_callers_stay_writable():
    center = np.zeros(3)
    sphere = Sphere(center, 1.0)
    with pytest.raises(ValueError, match="read-only"):
        sphere.center[0] = 1.0
    center[0] = 2.0


# --- batches ---------------------------------------------------------------------------------------------


def test_one_radius_serves_a_batch_of_centers():
    sphere = Sphere(np.zeros((2, 5, 3)), 3)
    assert sphere.shape == (2, 5)
    assert sphere.radius.shape == (2, 5)
    assert sphere[1, 4].shape == ()


def test_stacked_shapes_come_back_by_index():
    boxes = stacked([Aabb([i, 0, 0], [i + 1, 2, 3]) for i in range(4)])
    assert boxes.shape == (4,)
    assert boxes[2].min.tolist() == [2, 0, 0]
    assert boxes[2].max.tolist() == [3, 2, 3]


def test_corners_of_a_box_are_all_eight():
    corners = Aabb([0, 10, 100], [1, 12, 103]).corners()
    expected = {(x, y, z) for x in (0, 1) for y in (10, 12) for z in (100, 103)}
    assert {tuple(corner) for corner in corners.tolist()} == expected
    assert corners[5].tolist() == [1, 10, 103]  # 5 = 0b101: max on x and z


def test_center_and_half_extents_do_not_overflow_near_the_largest_float():
    box = Aabb([-1.7e308] * 3, [1.7e308] * 3)
    assert box.center.tolist() == [0, 0, 0]
    assert box.half_extents.tolist() == [1.7e308] * 3


# --- contains --------------------------------------------------------------------------------------------


def test_points_on_the_surface_are_inside_and_just_beyond_are_not():
    # (2, 3, 6) has length 7 exactly.
    sphere = Sphere([0, 0, 0], 7)
    assert sphere.contains([2, 3, 6])
    assert not sphere.contains([2, 3, np.nextafter(6, 7) + 1e-14])
    box = Aabb([0, 0, 0], [1, 1, 1])
    assert box.contains([1, 1, 0])
    assert not box.contains([1, np.nextafter(1, 2), 0])


def test_sphere_whose_radius_is_a_distance_contains_the_point_it_was_measured_to():
    points = np.random.default_rng(3).normal(size=(2000, 3))
    radii = np.sqrt((points * points).sum(axis=1))
    assert Sphere(np.zeros((2000, 3)), radii).contains(points).all()


# --- merged ----------------------------------------------------------------------------------------------


def holds(outer: Sphere, inner_center, inner_radius) -> bool:
    """Exactly: distance + inner radius <= outer radius."""
    slack = Fraction(float(outer.radius)) - Fraction(float(inner_radius))
    offset = exact.minus(exact.vector(outer.center), exact.vector(inner_center))
    return slack >= 0 and exact.dot(offset, offset) <= slack * slack


@given(POINT, LENGTH, POINT, LENGTH)
def test_merged_sphere_holds_both_in_exact_arithmetic_and_is_no_larger_than_needed(ca, ra, cb, rb):
    merged = Sphere(ca, ra).merged(Sphere(cb, rb))
    assert holds(merged, ca, ra)
    assert holds(merged, cb, rb)
    # The smallest ball around two: the larger one, or half of what they span on the line of their centres.
    offset = exact.minus(exact.vector(ca), exact.vector(cb))
    distance = exact.root(exact.dot(offset, offset))
    needed = max(ra, rb, (distance + ra + rb) / 2)
    rounded_center = 1e-15 * max(map(abs, (*ca, *cb)))
    assert merged.radius <= needed * (1 + 1e-14) + rounded_center


def test_merging_with_a_sphere_inside_gives_the_outer_one():
    outer = Sphere([0, 0, 0], 5)
    for merged in (outer.merged(Sphere([1, 1, 1], 2)), Sphere([1, 1, 1], 2).merged(outer)):
        assert merged.center.tolist() == [0, 0, 0]
        assert merged.radius == pytest.approx(5, rel=1e-14)


def test_merging_spheres_side_by_side_and_concentric():
    # They span x = -1 to 7: middle 3, radius 4.
    merged = Sphere([0, 0, 0], 1).merged(Sphere([5, 0, 0], 2))
    assert merged.center.tolist() == [3, 0, 0]
    assert merged.radius == pytest.approx(4, rel=1e-14)
    concentric = Sphere([1, 2, 3], 1).merged(Sphere([1, 2, 3], 2))
    assert concentric.center.tolist() == [1, 2, 3]
    assert 2 <= concentric.radius <= 2 * (1 + 1e-14)


def test_merged_boxes_span_both():
    merged = Aabb([0, 0, 0], [1, 1, 1]).merged(Aabb([-1, 0.5, 3], [0, 2, 4]))
    assert merged.min.tolist() == [-1, 0, 0]
    assert merged.max.tolist() == [1, 2, 4]


# --- padded ----------------------------------------------------------------------------------------------


def test_padding_grows_every_side():
    assert Sphere([0, 0, 0], 1).padded(0.5).radius == 1.5
    box = Aabb([0, 0, 0], [1, 2, 3]).padded(0.25)
    assert box.min.tolist() == [-0.25] * 3
    assert box.max.tolist() == [1.25, 2.25, 3.25]
    assert Sphere(np.zeros((2, 3)), 1).padded([0, 1]).radius.tolist() == [1, 2]


# --- transformed -----------------------------------------------------------------------------------------


def test_sphere_of_a_turned_child_below_a_stretched_parent_grows_by_the_true_stretch():
    # diag(3, 1, 1) times a turn of 45 degrees: both of its first columns have length sqrt(5) = 2.236, but the
    # unit vector (1, -1, 0) / sqrt(2) becomes (3, 0, 0): the true stretch is 3.
    matrix = np.diag([3.0, 1, 1, 1]) @ rotation_about_z(45)
    assert np.linalg.norm(matrix[:3, :3], axis=0).max() == pytest.approx(math.sqrt(5))
    sphere = Sphere([0, 0, 0], 2).transformed(matrix)
    assert 6 <= sphere.radius <= 6 * (1 + 1e-12)
    moved = directions() * 2 @ matrix[:3, :3].T
    assert np.linalg.norm(moved, axis=1).max() > 5.5  # some really go that far
    assert (np.linalg.norm(moved - sphere.center, axis=1) <= sphere.radius).all()


@pytest.mark.parametrize("seed", range(20))
def test_transformed_shapes_hold_the_transformed_points(seed):
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3] = rng.normal(size=(3, 4)) * 10.0 ** rng.integers(-3, 4)
    if seed % 4 == 0:
        matrix[:3, :3] *= [1, 0, 1]  # flattened
    if seed % 4 == 1:
        matrix[:3, 0] *= -1  # mirrored
    sphere = Sphere([1, -2, 3], 0.7)
    surface = sphere.center + directions() * 0.7
    moved = surface @ matrix[:3, :3].T + matrix[:3, 3]
    # What a reader's own arithmetic may lose on numbers of this size.
    loss = 1e-14 * np.abs(moved).max()
    image = sphere.transformed(matrix)
    assert (np.linalg.norm(moved - image.center, axis=1) <= image.radius + loss).all()

    box = Aabb([-1, 0, 2], [1, 0.5, 5])
    corners = box.corners() @ matrix[:3, :3].T + matrix[:3, 3]
    image = box.transformed(matrix)
    np.testing.assert_allclose(image.min, corners.min(axis=0), rtol=0, atol=30 * loss)
    np.testing.assert_allclose(image.max, corners.max(axis=0), rtol=0, atol=30 * loss)


def test_rigid_motion_keeps_the_radius():
    matrix = rotation_about_z(30)
    matrix[:3, 3] = [1, 2, 3]
    sphere = Sphere([1, 0, 0], 2).transformed(matrix)
    # The turn takes (1, 0, 0) to (cos 30, sin 30, 0).
    np.testing.assert_allclose(sphere.center, [1 + math.sqrt(3) / 2, 2.5, 3], rtol=1e-15)
    assert sphere.radius == pytest.approx(2, rel=1e-13)


def test_box_around_a_sphere_touches_it_on_six_sides():
    box = Sphere([[1, 2, 3], [0, 0, 0]], [0.5, 2]).aabb()
    assert box.min.tolist() == [[0.5, 1.5, 2.5], [-2, -2, -2]]
    assert box.max.tolist() == [[1.5, 2.5, 3.5], [2, 2, 2]]


@settings(max_examples=50)
@given(st.tuples(*[st.floats(-3, 3)] * 4).filter(lambda q: math.hypot(*q) > 1e-3), POINT)
def test_rotation_matrix_turns_like_the_quaternion_product(quaternion, point):
    # q p q^-1 in quaternion algebra, the definition.
    w, x, y, z = quaternion
    px, py, pz = (c * 1e-6 for c in point)
    t = (
        -x * px - y * py - z * pz,
        w * px + y * pz - z * py,
        w * py + z * px - x * pz,
        w * pz + x * py - y * px,
    )
    n = w * w + x * x + y * y + z * z
    turned = (
        (-t[0] * x + t[1] * w - t[2] * z + t[3] * y) / n,
        (-t[0] * y + t[2] * w - t[3] * x + t[1] * z) / n,
        (-t[0] * z + t[3] * w - t[1] * y + t[2] * x) / n,
    )
    np.testing.assert_allclose(rotation_matrix(quaternion) @ [px, py, pz], turned, atol=1e-13)
