from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import (
    Aabb,
    InvalidShapeError,
    NonFiniteGeometryError,
    Obb,
    Segment,
    Sphere,
    Triangle,
    overlaps,
    stacked,
)
from addon.core.arrays import rotation_matrix
from tests.core import exact
from tests.core.scenes import moved, random_shapes, rotations, three_four_five
from tests.tiers import examples

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
        (lambda: stacked([Sphere([0, 0, 0], 1), Sphere([[0, 0, 0]], 1)]), InvalidShapeError, "one batch"),
        (
            lambda: stacked([Triangle(*np.eye(3)), Triangle(*np.eye(3), one_sided=True)]),
            InvalidShapeError,
            "one kind",
        ),
        (
            lambda: Obb([[0, 0, 0], [0, 0, math.nan]], [1, 1, 1], np.eye(3)),
            NonFiniteGeometryError,
            r"center: element \(1, 2\) is nan",
        ),
        (
            lambda: Obb([0, 0, 0], [1, math.inf, 1], np.eye(3)),
            NonFiniteGeometryError,
            r"half extents: element \(1,\) is inf",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.diag([1, 1, math.nan])),
            NonFiniteGeometryError,
            r"rotation: element \(2, 2\) is nan",
        ),
        (
            lambda: Obb([0, 0, 0], [[1, 1, 1], [1, -1e-300, 1]], np.eye(3)),
            InvalidShapeError,
            r"half extents: element \(1, 1\) is negative",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.stack([np.eye(3), np.diag([1, 1, 1.01])])),
            InvalidShapeError,
            r"rotation: element \(1,\) is not a rotation",
        ),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], [[1, 0.01, 0], [0, 1, 0], [0, 0, 1]]),
            InvalidShapeError,
            "not a rotation",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.zeros((3, 3))), InvalidShapeError, "not a rotation"),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3) * 1e200), InvalidShapeError, "not a rotation"),
        (
            lambda: Obb([0, 0, 0], [1, 1, 1], np.stack([np.eye(3), np.diag([1, 1, -1])])),
            InvalidShapeError,
            r"rotation: element \(1,\) mirrors",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(4)), InvalidShapeError, r"rotation: .*\(3, 3\)"),
        (lambda: Obb([0, 0, 0], 1, np.eye(3)), InvalidShapeError, r"half extents: .*end in \(3,\)"),
        (
            lambda: Obb(np.zeros((2, 3)), np.ones((3, 3)), np.eye(3)),
            InvalidShapeError,
            r"oriented box: batches \(2,\) and \(3,\)",
        ),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3)).padded(-2), InvalidShapeError, "negative"),
        (lambda: Obb([0, 0, 0], [1, 1, 1], np.eye(3)).padded(math.nan), NonFiniteGeometryError, "padding"),
        (lambda: Segment([0, 0, math.nan], [0, 0, 0]), NonFiniteGeometryError, r"start: element \(2,\)"),
        (lambda: Segment([0, 0, 0], [0, -math.inf, 0]), NonFiniteGeometryError, r"end: element \(1,\)"),
        (lambda: Segment([0, 0], [0, 0, 0]), InvalidShapeError, r"start: the shape must end in \(3,\)"),
        (lambda: Segment(np.zeros((2, 3)), np.zeros((3, 3))), InvalidShapeError, r"segment: batches"),
        (lambda: Triangle([0, 0, 0], [0, 0, math.nan], [0, 0, 0]), NonFiniteGeometryError, "corner b"),
        (
            lambda: Triangle([0, 0, 0], [0, 0, 0], [[0, 0, 0], [0, math.inf, 0]]),
            NonFiniteGeometryError,
            "corner c",
        ),
        (lambda: Triangle([0, 0], [0, 0, 0], [0, 0, 0]), InvalidShapeError, r"corner a.*\(3,\)"),
        (
            lambda: Triangle(np.zeros((2, 3)), np.zeros((3, 3)), [0, 0, 0]),
            InvalidShapeError,
            r"triangle: batches",
        ),
    ],
)
def test_bad_input_is_refused_naming_the_element(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.smoke
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


@pytest.mark.smoke
def test_center_and_half_extents_do_not_overflow_near_the_largest_float():
    box = Aabb([-1.7e308] * 3, [1.7e308] * 3)
    assert box.center.tolist() == [0, 0, 0]
    assert box.half_extents.tolist() == [1.7e308] * 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb, Segment, Triangle])
def test_what_is_done_to_shapes_must_fit_their_batch(kind):
    batch = random_shapes(kind, np.random.default_rng(0), 2)
    matrices = np.tile(np.eye(4), (3, 1, 1))
    with pytest.raises(InvalidShapeError, match=r"matrix: batches \(2,\) and \(3,\)"):
        batch.transformed(matrices)
    with pytest.raises(InvalidShapeError, match=r"matrix: .*\(4, 4\)"):
        batch.transformed(np.eye(3))
    with pytest.raises(NonFiniteGeometryError, match=r"matrix: element \(1, 3\) is nan"):
        broken = np.eye(4)
        broken[1, 3] = math.nan
        batch.transformed(broken)
    if kind in (Segment, Triangle):
        return
    other = random_shapes(kind, np.random.default_rng(0), 3)
    with pytest.raises(InvalidShapeError, match=r"batches \(2,\) and \(3,\)"):
        batch.merged(other)
    with pytest.raises(InvalidShapeError, match=r"points: batches \(2,\) and \(3,\)"):
        batch.contains(np.zeros((3, 3)))
    with pytest.raises(InvalidShapeError, match=r"points: .*\(3,\)"):
        batch.contains(np.zeros((2, 4)))
    with pytest.raises(InvalidShapeError, match=r"padding: batches \(2,\) and \(3,\)"):
        batch.padded(np.zeros(3))


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


def exact_image(matrix: np.ndarray, point: exact.Vector) -> exact.Vector:
    rows = [exact.vector(row) for row in matrix[:3]]
    return tuple(exact.dot(row[:3], point) + row[3] for row in rows)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", [0.0, 1e6])
def test_transformed_spheres_and_boxes_hold_the_image_in_exact_arithmetic(distance):
    rng = np.random.default_rng(0)
    spheres, boxes = (moved(random_shapes(kind, rng, 30), distance) for kind in (Sphere, Aabb))
    matrices = np.tile(np.eye(4), (30, 1, 1))
    matrices[:, :3, :3] = np.where(rng.random((30, 3, 3)) < 0.2, 0, rng.normal(size=(30, 3, 3)))
    # Half of them back to near the origin, where the sums cancel.
    matrices[:, :3, 3] = rng.normal(size=(30, 3))
    matrices[::2, :3, 3] -= matrices[::2, :3, :3].sum(axis=2) * distance
    balls, around = spheres.transformed(matrices), boxes.transformed(matrices)

    for i in range(30):
        low, high = exact.vector(around.min[i]), exact.vector(around.max[i])
        for corner in boxes[i].corners():
            point = exact_image(matrices[i], exact.vector(corner))
            assert all(a <= x <= b for a, x, b in zip(low, point, high, strict=True))
        center, radius = exact.vector(spheres.center[i]), Fraction(float(spheres.radius[i]))
        middle = exact.vector(balls.center[i])
        # Along the direction that is stretched most, and others; shortened by what their own rounding adds.
        stretched = np.linalg.svd(matrices[i, :3, :3])[2][0]
        for direction in (stretched, *directions(5)):
            unit = [Fraction(float(x)) * (1 - Fraction(1, 2**52)) for x in direction]
            point = tuple(c + radius * x for c, x in zip(center, unit, strict=True))
            off = exact.minus(exact_image(matrices[i], point), middle)
            assert exact.squared(off) <= Fraction(float(balls.radius[i])) ** 2


def test_rigid_motion_keeps_the_radius():
    matrix = rotation_about_z(30)
    matrix[:3, 3] = [1, 2, 3]
    sphere = Sphere([1, 0, 0], 2).transformed(matrix)
    # The turn takes (1, 0, 0) to (cos 30, sin 30, 0).
    np.testing.assert_allclose(sphere.center, [1 + math.sqrt(3) / 2, 2.5, 3], rtol=1e-15)
    assert sphere.radius == pytest.approx(2, rel=1e-13)


@pytest.mark.parametrize("kind", [Sphere, Obb])
def test_box_around_shapes_is_never_too_small_by_a_rounding(kind):
    rng = np.random.default_rng(1)
    shapes = random_shapes(kind, rng, 500)
    far = (
        Sphere(shapes.center * 1e3, shapes.radius)
        if kind is Sphere
        else Obb(shapes.center * 1e3, shapes.half_extents, shapes.rotation)
    )
    box = far.aabb()
    for i in range(500):
        if kind is Sphere:
            reach = [Fraction(float(far.radius[i]))] * 3
        else:
            sides = exact.Solid.of(far.center[i], far.half_extents[i], far.rotation[i]).half_sides
            reach = [sum(abs(side[axis]) for side in sides) for axis in range(3)]
        for axis in range(3):
            center = Fraction(float(far.center[i, axis]))
            low, high = Fraction(float(box.min[i, axis])), Fraction(float(box.max[i, axis]))
            assert low <= center - reach[axis]
            assert high >= center + reach[axis]
            # And beyond by no more than two ulps of coordinates in the thousands.
            assert float(center - reach[axis] - low) < 2e-12
            assert float(high - center - reach[axis]) < 2e-12


def test_boxes_around_spheres_that_touch_overlap():
    # The broad phase asks the boxes first.
    rng = np.random.default_rng(2)
    radius = rng.uniform(0, 1, (2, 2000))
    a = Sphere(rng.uniform(-1e3, 1e3, (2000, 3)), radius[0])
    b = Sphere(a.center + (radius.sum(axis=0)[:, None] * [1, 0, 0]), radius[1])
    offset = [exact.minus(exact.vector(q), exact.vector(p)) for p, q in zip(a.center, b.center, strict=True)]
    touching = [
        offset[i][0] <= Fraction(float(radius[0, i])) + Fraction(float(radius[1, i])) for i in range(2000)
    ]
    assert 500 < sum(touching) < 1500
    assert overlaps(a.aabb(), b.aabb())[touching].all()


def test_box_around_a_sphere_touches_it_on_six_sides():
    box = Sphere([[1, 2, 3], [0, 0, 0]], [0.5, 2]).aabb()
    np.testing.assert_allclose(box.min, [[0.5, 1.5, 2.5], [-2, -2, -2]], rtol=1e-15)
    np.testing.assert_allclose(box.max, [[1.5, 2.5, 3.5], [2, 2, 2]], rtol=1e-15)


@examples(50)
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


# --- oriented boxes --------------------------------------------------------------------------------------


def points_in(box: Obb, rng: np.random.Generator, count: int = 300) -> np.ndarray:
    """Of one box, inside and on the surface, corners among them."""
    local = rng.uniform(-1, 1, (count, 3))
    local[: count // 2] = np.round(local[: count // 2])
    return box.center + (local * box.half_extents) @ box.rotation.T


def holds_all(box: Obb, points: list[exact.Vector]) -> bool:
    """Exactly: between the planes of the box's faces, as its float64 numbers have them."""
    center, half = exact.vector(box.center), exact.vector(box.half_extents)
    axes = [exact.vector(axis) for axis in box.rotation.T]
    return all(
        abs(exact.dot(exact.minus(point, center), axis)) <= reach
        for point in points
        for axis, reach in zip(axes, half, strict=True)
    )


def exact_corners(box: Obb) -> list[exact.Vector]:
    return exact.Solid.of(box.center, box.half_extents, box.rotation).corners


def affine(linear: np.ndarray, offset=(0.0, 0.0, 0.0)) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = linear, offset
    return matrix


def test_columns_of_the_rotation_are_the_axes_of_the_box():
    # Turned by the angle of a 3-4-5 triangle about z, the long axis points to (0.8, 0.6, 0).
    box = Obb([1, 2, 3], [10, 1, 2], three_four_five(2))
    assert box.contains([1 + 8, 2 + 6, 3])
    assert not box.contains([1 + 8, 2 - 6, 3])
    assert box.contains([1 - 0.6, 2 + 0.8, 3 - 2])
    np.testing.assert_allclose(box.to_world(np.array([10.0, 0, 0])), [9, 8, 3], rtol=1e-15)
    np.testing.assert_allclose(box.to_local(np.array([9.0, 8, 3])), [10, 0, 0], atol=1e-15)


def test_corner_is_on_the_positive_side_of_the_axes_whose_bits_are_set():
    box = Obb([1, 2, 3], [10, 1, 2], three_four_five(2))
    local = np.array([[10 if i & 1 else -10, 1 if i & 2 else -1, 2 if i & 4 else -2] for i in range(8)])
    np.testing.assert_allclose(box.corners(), [1, 2, 3] + local @ three_four_five(2).T, atol=1e-14)


def test_points_in_the_box_and_beyond_its_faces():
    rng = np.random.default_rng(0)
    box = random_shapes(Obb, rng, 200)
    for i in range(0, 200, 20):
        assert box[i].padded(1e-14).contains(points_in(box[i], rng)).all()
    for axis in range(3):
        for side in (-1, 1):
            on_face = rng.uniform(-1, 1, (200, 3)) * box.half_extents
            on_face[:, axis] = side * box.half_extents[:, axis]
            beyond = on_face.copy()
            beyond[:, axis] += side * 1e-9
            assert box.padded(1e-14).contains(box.to_world(on_face)).all()
            assert not box.contains(box.to_world(beyond)).any()


@pytest.mark.smoke
def test_rotation_in_single_precision_is_made_orthonormal_in_double():
    turns = rotations(np.random.default_rng(0), 100)
    box = Obb(np.zeros(3), np.ones(3), turns.astype(np.float32))
    gram = np.einsum("nji,njk->nik", box.rotation, box.rotation)
    assert np.abs(gram - np.eye(3)).max() <= 1e-15
    assert np.abs(box.rotation - turns).max() < 2e-7
    assert np.linalg.det(box.rotation).min() > 0
    # One that is orthonormal already comes through as it is.
    assert Obb([0, 0, 0], [1, 1, 1], np.eye(3)[[1, 2, 0]]).rotation.tolist() == np.eye(3)[[1, 2, 0]].tolist()


def test_padding_an_oriented_box_moves_its_faces_out():
    box = Obb([0, 0, 0], [1, 2, 3], three_four_five(1))
    assert box.padded(0.5).half_extents.tolist() == [1.5, 2.5, 3.5]
    assert box.padded([0, -1]).half_extents.tolist() == [[1, 2, 3], [0, 1, 2]]
    np.testing.assert_array_equal(box.padded(2).rotation, box.rotation)


def test_axis_aligned_box_as_an_oriented_one_reaches_as_far():
    rng = np.random.default_rng(1)
    boxes = random_shapes(Aabb, rng, 300)
    oriented = boxes.oriented()
    assert oriented.contains(boxes.min).all()
    assert oriented.contains(boxes.max).all()
    np.testing.assert_allclose(oriented.half_extents, (boxes.max - boxes.min) / 2, atol=1e-15)
    assert oriented.oriented() is oriented
    around = oriented.aabb()
    assert (around.min <= boxes.min).all()
    assert (around.max >= boxes.max).all()
    np.testing.assert_allclose(around.max, boxes.max, atol=1e-14)
    assert boxes.aabb() is boxes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", [0.0, 1e6])
@pytest.mark.parametrize("flat", [False, True])
def test_merged_oriented_box_holds_the_corners_of_both_in_exact_arithmetic(distance, flat):
    rng = np.random.default_rng(2)
    a, b = random_shapes(Obb, rng, 40), random_shapes(Obb, rng, 40)
    extents = [box.half_extents * ((rng.random((40, 3)) < 0.5) if flat else 1) for box in (a, b)]
    a = Obb(a.center + distance, extents[0], a.rotation)
    b = Obb(b.center + distance, extents[1], b.rotation)
    merged = a.merged(b)
    np.testing.assert_allclose(merged.rotation, a.rotation, atol=1e-15)
    for i in range(40):
        for box in (a[i], b[i]):
            assert holds_all(merged[i], exact_corners(box))
    # As small as a box with those axes can be, to rounding.
    spans = np.einsum("nji,nkj->nki", a.rotation, np.concatenate([a.corners(), b.corners()], axis=1))
    needed = (spans.max(axis=1) - spans.min(axis=1)) / 2
    np.testing.assert_allclose(merged.half_extents, needed, rtol=0, atol=1e-14 * (1 + distance))


@pytest.mark.smoke
def test_merged_oriented_boxes_broadcast():
    rng = np.random.default_rng(3)
    a, b = random_shapes(Obb, rng, 5), random_shapes(Obb, rng, 4)
    table = a[:, None].merged(b[None])
    assert table.shape == (5, 4)
    np.testing.assert_allclose(table[3, 2].half_extents, a[3].merged(b[2]).half_extents, atol=1e-15)
    assert a[0].merged(b).shape == (4,)


LINEAR = {
    "turned": rotations(np.random.default_rng(4), 1)[0],
    "scaled": np.diag([3.0, 3, 3]),
    "scaled along the axes": np.diag([0.1, 20, 3]),
    "mirrored": np.diag([-1.0, 1, 1]),
    "mirrored and turned": -rotations(np.random.default_rng(5), 1)[0],
    "sheared": np.array([[1.0, 0.8, 0], [0, 1, 0.3], [0, 0, 1]]),
    "sheared to almost nothing": np.array([[1.0, 1, 1], [1, 1 + 1e-9, 1], [1, 1, 1 - 1e-9]]),
    "stretched across": rotations(np.random.default_rng(6), 1)[0] @ np.diag([1, 50, 0.02]),
    "flattened": np.diag([1.0, 1, 0]),
    "flattened aslant": rotations(np.random.default_rng(7), 1)[0] @ np.diag([0, 1.0, 2]),
    "a line": np.outer([1.0, 2, 3], [1, -1, 2]),
    "a point": np.zeros((3, 3)),
    "large": np.diag([1e150, -1e150, 1e149]),
    "small": np.diag([1e-150, 1e-150, -1e-149]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("half", [[1, 2, 0.5], [1, 0, 0.5], [0, 0, 1e-9], [0, 0, 0]], ids=str)
def test_transformed_oriented_box_holds_the_image(name, half):
    rng = np.random.default_rng(8)
    size = np.abs(LINEAR[name]).max() or 1.0
    for turn in (np.eye(3), three_four_five(2), rotations(rng, 1)[0]):
        box = Obb(rng.normal(size=3), half, turn)
        matrix = affine(LINEAR[name], rng.normal(size=3) * size)
        image = box.transformed(matrix)
        assert np.abs(image.rotation.T @ image.rotation - np.eye(3)).max() < 1e-14
        assert np.linalg.det(image.rotation) > 0
        # The image of what the box is in float64, exactly.
        assert holds_all(image, [exact_image(matrix, corner) for corner in exact_corners(box)])


@pytest.mark.parametrize("name", ["turned", "scaled", "mirrored", "mirrored and turned"])
def test_transformed_oriented_box_is_tight_where_its_image_is_a_box(name):
    rng = np.random.default_rng(9)
    box = random_shapes(Obb, rng, 50)
    image = box.transformed(affine(LINEAR[name]))
    stretch = np.linalg.norm(LINEAR[name][0])
    np.testing.assert_allclose(image.half_extents, box.half_extents * stretch, rtol=0, atol=4e-14)
    corners = image.corners()
    for corner in np.moveaxis(box.corners() @ LINEAR[name].T, 1, 0):
        assert (np.linalg.norm(corners - corner[:, None], axis=2).min(axis=1) < 1e-13).all()


def test_stretch_along_its_own_axes_keeps_an_oriented_box_tight():
    turn = three_four_five(0) @ three_four_five(2)
    box = Obb([1, 2, 3], [1, 2, 3], turn)
    stretch = affine(turn @ np.diag([5, 0.25, 2]) @ turn.T)
    np.testing.assert_allclose(box.transformed(stretch).half_extents, [5, 0.5, 6], atol=1e-13)


def test_sheared_box_keeps_the_direction_of_its_longest_side():
    # (x, y, z) -> (x + y, y, z): the side along x, 4, stays; the one along y leans by 45 degrees.
    box = Obb([0, 0, 0], [4, 1, 1], np.eye(3)).transformed(affine([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    np.testing.assert_allclose(np.abs(box.rotation), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(box.half_extents, [5, 1, 1], rtol=1e-14)


@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb, Segment, Triangle])
def test_matrices_in_a_batch_transform_what_each_does_alone(kind):
    rng = np.random.default_rng(10)
    shapes = random_shapes(kind, rng, 4, one_sided=True)
    matrices = np.tile(np.eye(4), (5, 1, 1, 1))
    matrices[:, 0, :3] = rng.normal(size=(5, 3, 4))
    table = shapes.transformed(matrices)
    assert table.shape == (5, 4)
    assert shapes[0].transformed(matrices[:, 0]).shape == (5,)
    for i in range(5):
        for j in range(4):
            alone = shapes[j].transformed(matrices[i, 0])
            for name in alone.tails:
                np.testing.assert_allclose(getattr(table[i, j], name), getattr(alone, name), atol=1e-14)


# --- segments and triangles ------------------------------------------------------------------------------


def test_boxes_around_segments_and_triangles_are_exact():
    segment = Segment([[0, 5, -1]], [[2, 3, -4]])
    assert segment.aabb().min.tolist() == [[0, 3, -4]]
    assert segment.aabb().max.tolist() == [[2, 5, -1]]
    triangle = Triangle([0, 5, -1], [2, 3, -4], [1, 9, -2])
    assert triangle.aabb().min.tolist() == [0, 3, -4]
    assert triangle.aabb().max.tolist() == [2, 9, -1]


def test_moved_segment_runs_between_the_moved_ends():
    matrix = affine(np.diag([2.0, 3, -1]), [1, 1, 1])
    segment = Segment([1, 2, 3], [4, 5, 6]).transformed(matrix)
    assert segment.start.tolist() == [3, 7, -2]
    assert segment.end.tolist() == [9, 16, -5]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-160, 1e-150, 1.0, 1e150])
def test_front_of_a_triangle_is_where_its_corners_run_counter_clockwise(size):
    a, b, c = np.array([[0, 0, 0], [4, 0, 0], [0, 3, 0]]) * size
    for corners in ((a, b, c), (b, c, a), (c, a, b)):
        assert Triangle(*corners).normal.tolist() == [0, 0, 1]
    for corners in ((a, c, b), (c, b, a), (b, a, c)):
        assert Triangle(*corners).normal.tolist() == [0, 0, -1]


@pytest.mark.parametrize("corners", [[[1, 2, 3]] * 3, [[0, 0, 0], [1, 1, 1], [3, 3, 3]], [[0, 0, 0]] * 3])
def test_triangle_without_area_has_no_normal(corners):
    assert Triangle(*corners).normal.tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("mirror", [1, -1])
@pytest.mark.parametrize("one_sided", [False, True])
def test_mirrors_keep_the_front_of_one_sided_triangles(size, mirror, one_sided):
    # What was in front is in front of the image. Two-sided triangles keep their corners in order instead.
    matrix = affine(np.diag([mirror, 2.0, 3]) * size)
    triangle = Triangle([0, 0, 0], [1, 0, 0], [0, 1, 0], one_sided).transformed(matrix)
    assert triangle.one_sided == one_sided
    front = 1 if mirror > 0 or one_sided else -1
    assert triangle.normal.tolist() == [0, 0, front]
