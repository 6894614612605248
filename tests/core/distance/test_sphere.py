"""Distance queries of a sphere and each other shape."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import (
    Aabb,
    Obb,
    Segment,
    Sphere,
    Triangle,
    minimum_translation,
    overlaps,
    separation,
    witness_points,
)
from tests.core import exact
from tests.core.scenes import POINT, QUARTER_TURNS, SIZE, axis_rotation, boxes, oriented_boxes

ROUNDING = 2e-14  # for coordinates up to 10, in sums and one square root


def check(sphere: Sphere, other, truth: float, closest_is_on_other) -> None:
    """Check all four queries of one pair against an exact separation."""
    found = float(separation(sphere, other))
    assert found == pytest.approx(truth, abs=ROUNDING)
    assert found == separation(other, sphere)
    if abs(truth) > ROUNDING:
        assert overlaps(sphere, other) == (truth <= 0)
    assert overlaps(sphere, other) == overlaps(other, sphere)

    witness = witness_points(sphere, other)
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(witness.on_b - witness.on_a, witness.normal * truth, atol=ROUNDING)
    assert np.linalg.norm(witness.on_a - sphere.center) == pytest.approx(sphere.radius, abs=ROUNDING)
    assert closest_is_on_other(exact.vector(witness.on_b))
    back = witness_points(other, sphere)
    np.testing.assert_array_equal(back.on_a, witness.on_b)
    np.testing.assert_array_equal(back.on_b, witness.on_a)
    np.testing.assert_array_equal(back.normal, -witness.normal)

    move = minimum_translation(sphere, other)
    np.testing.assert_array_equal(move, -minimum_translation(other, sphere))
    if found > 0:
        assert not move.any()
    else:
        assert np.linalg.norm(move) == pytest.approx(-truth, abs=ROUNDING)
        moved = Sphere(sphere.center + move, sphere.radius)
        assert separation(moved, other) == pytest.approx(0, abs=ROUNDING)


def vectors(*points) -> list[exact.Vector]:
    return [exact.vector(point) for point in points]


# --- sphere and sphere -----------------------------------------------------------------------------------


@pytest.mark.smoke
def test_overlap_matrix_of_four_spheres_is_known():
    # Center distances 3.5, 3, 1 to the first (radii 2 + 1 = 3: apart, touching, inside); the last is
    # sqrt(13.25) from the second and sqrt(10) from the third, against 2.
    spheres = Sphere([[0, 0, 0], [0, 3.5, 0], [0, -3, 0], [1, 0, 0]], [2, 1, 1, 1])
    matrix = overlaps(spheres[:, None], spheres[None])
    assert ["".join(str(int(cell)) for cell in row) for row in matrix] == ["1011", "0100", "1010", "1001"]


@given(POINT, SIZE, POINT, SIZE)
def test_spheres_agree_with_exact_arithmetic(ca, ra, cb, rb):
    a, b = Sphere(ca, ra), Sphere(cb, rb)
    squared = exact.squared_length(exact.subtract(*vectors(cb, ca)))
    assert overlaps(a, b) == (squared <= (Fraction(ra) + Fraction(rb)) ** 2)
    truth = exact.square_root(squared) - ra - rb
    assert separation(a, b) == pytest.approx(truth, abs=ROUNDING)
    witness = witness_points(a, b)
    np.testing.assert_allclose(witness.on_b - witness.on_a, witness.normal * truth, atol=ROUNDING)
    assert np.linalg.norm(witness.on_a - ca) == pytest.approx(ra, abs=ROUNDING)
    assert np.linalg.norm(witness.on_b - cb) == pytest.approx(rb, abs=ROUNDING)
    if ca != cb:
        np.testing.assert_array_equal(witness_points(b, a).normal, -witness.normal)


def test_touching_spheres_have_separation_zero_and_overlap():
    # (2, 3, 6) has length 7.
    a, b = Sphere([0, 0, 0], 3), Sphere([2, 3, 6], 4)
    assert separation(a, b) == 0
    assert overlaps(a, b)
    assert not overlaps(a, Sphere([2, 3, np.nextafter(6, 7)], 4))


def test_spheres_apart_have_witness_points_on_both_surfaces():
    witness = witness_points(Sphere([0, 0, 0], 1), Sphere([0, 0, 10], 3))
    assert witness.on_a.tolist() == [0, 0, 1]
    assert witness.on_b.tolist() == [0, 0, 7]
    assert witness.normal.tolist() == [0, 0, 1]
    assert witness.middle.tolist() == [0, 0, 4]


@pytest.mark.smoke
def test_concentric_spheres_have_normal_along_x():
    witness = witness_points(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5))
    assert witness.normal.tolist() == [1, 0, 0]
    assert witness.on_a.tolist() == [3, 2, 3]
    assert witness.on_b.tolist() == [0.5, 2, 3]
    assert separation(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5)) == -2.5


def test_spheres_of_radius_zero_overlap_only_at_the_same_point():
    points = Sphere([[0, 0, 0], [0, 0, 1e-200]], 0)
    assert overlaps(points[:, None], points[None]).tolist() == [[True, False], [False, True]]


# --- sphere and segment ----------------------------------------------------------------------------------


@given(POINT, SIZE, POINT, POINT)
def test_sphere_and_segment_agree_with_exact_arithmetic(center, radius, start, end):
    p, s, e = vectors(center, start, end)
    truth = exact.square_root(exact.point_segment_squared(p, s, e)) - radius
    check(
        Sphere(center, radius),
        Segment(start, end),
        truth,
        lambda point: exact.square_root(exact.point_segment_squared(point, s, e)) <= ROUNDING,
    )


@given(POINT, POINT, st.integers(0, 4))
def test_sphere_centered_on_a_segment_has_perpendicular_normal(start, end, quarter):
    along = np.subtract(end, start)
    sphere, segment = Sphere(start + along * (quarter / 4), 2), Segment(start, end)
    witness = witness_points(sphere, segment)
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-15)
    # A quarter of a quarter is a float64, so that the center is exactly on the segment.
    assert separation(sphere, segment) == pytest.approx(-2, abs=ROUNDING)
    if np.array_equal(witness.on_b, sphere.center):
        assert witness.normal @ along == pytest.approx(0, abs=ROUNDING)


def test_segment_of_length_zero_acts_as_a_point():
    assert separation(Sphere([2, 3, 6], 1), Segment([0, 0, 0], [0, 0, 0])) == 6
    witness = witness_points(Sphere([0, 0, 0], 1), Segment([0, 0, 0], [0, 0, 0]))
    assert witness.normal.tolist() == [1, 0, 0]


# --- sphere and triangle ---------------------------------------------------------------------------------


@given(POINT, SIZE, POINT, POINT, POINT)
def test_sphere_and_triangle_agree_with_exact_arithmetic(center, radius, a, b, c):
    p, *corners = vectors(center, a, b, c)
    truth = exact.square_root(exact.point_triangle_squared(p, *corners)) - radius
    check(
        Sphere(center, radius),
        Triangle(a, b, c),
        truth,
        lambda point: exact.square_root(exact.point_triangle_squared(point, *corners)) <= ROUNDING,
    )


@given(POINT, SIZE, POINT, POINT, POINT)
def test_sphere_behind_one_sided_triangle_does_not_collide(center, radius, a, b, c):
    sphere = Sphere(center, radius)
    one, two = Triangle(a, b, c, one_sided=True), Triangle(a, b, c)
    p, *corners = vectors(center, a, b, c)
    # Quarters make the side exact, except that the unit normal is rounded where the center is in the plane.
    side = exact.side_of_triangle(p, *corners)
    if side < 0:
        assert separation(sphere, one) == math.inf
        assert not overlaps(sphere, one)
        assert not minimum_translation(sphere, one).any()
        assert not minimum_translation(one, sphere).any()
        assert np.isfinite(witness_points(sphere, one).on_b).all()
    elif side > 0 or not exact.squared_length(
        exact.cross(*(exact.subtract(q, corners[0]) for q in corners[1:]))
    ):
        assert separation(sphere, one) == separation(sphere, two)
        assert overlaps(sphere, one) == overlaps(sphere, two)
        np.testing.assert_array_equal(minimum_translation(sphere, one), minimum_translation(sphere, two))


def test_sphere_centered_on_a_triangle_exits_through_the_front():
    triangle = Triangle([0, 0, 0], [4, 0, 0], [0, 4, 0])
    for one_sided in (False, True):
        flat = Triangle(triangle.a, triangle.b, triangle.c, one_sided)
        sphere = Sphere([1, 1, 0], 2)
        assert separation(sphere, flat) == -2
        assert minimum_translation(sphere, flat).tolist() == [0, 0, 2]
    # With the corners in the other order, the front is below.
    below = Triangle(triangle.a, triangle.c, triangle.b)
    assert minimum_translation(Sphere([1, 1, 0], 2), below).tolist() == [0, 0, -2]


LINES = [
    ([1, 2, 3], [1, 2, 3], [1, 2, 3]),
    ([0, 0, 0], [4, 0, 0], [4, 0, 0]),
    ([0, 0, 0], [0, 0, 0], [4, 0, 0]),
    ([4, 0, 0], [0, 0, 0], [4, 0, 0]),
    ([0, 0, 0], [1, 0, 0], [4, 0, 0]),
    ([0, 0, 0], [4, 0, 0], [-4, 0, 0]),
]
NEARLY_LINES = [
    # Collinear up to the rounding of tenths, and as thin as float64 allows.
    ([0, 0, 0], [0.1, 0.2, 0.3], [0.3, 0.6, 0.9]),
    ([0, 0, 0], [0.7, -0.3, 0.2], [2.1, -0.9, 0.6]),
    ([0.1, 0.1, 0.1], [0.4, 0.7, 0.1], [0.2, 0.3, 0.1]),
    ([0, 0, 0], [1, 1, 0.5], [np.nextafter(2, 3), 2, 1]),
    ([1, 1, 1], [1, 1, np.nextafter(1, 2)], [-1, 0, 1]),
    ([0, 0, 0], [1, 1e-8, 0], [2, 0, 0]),
    ([0, 0, 0], [1, 1e-8, 1e-9], [1, 0, 0]),
]


@pytest.mark.parametrize("corners", LINES + NEARLY_LINES)
def test_nearly_degenerate_triangle_agrees_with_exact_arithmetic(corners):
    rng = np.random.default_rng(2)
    exact_corners = vectors(*corners)
    over = rng.dirichlet([1, 1, 1], 30) @ np.array(corners, dtype=float)
    points = np.concatenate([rng.normal(size=(30, 3)), np.round(rng.normal(size=(30, 3)), 1), corners, over])
    points = np.concatenate([points, np.add(over, [0, 0, 1e-3]), np.add(over, [1e-9, 1e-9, 0])])
    truth = [exact.square_root(exact.point_triangle_squared(exact.vector(p), *exact_corners)) for p in points]
    spheres, triangle = Sphere(points, 0.25), Triangle(*corners)
    np.testing.assert_allclose(separation(spheres, triangle), np.array(truth) - 0.25, atol=2e-15)
    witness = witness_points(spheres, triangle)
    for point in witness.on_b:
        assert exact.square_root(exact.point_triangle_squared(exact.vector(point), *exact_corners)) < 2e-15
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=1), 1, atol=1e-15)


@pytest.mark.parametrize("corners", LINES)
def test_triangle_without_area_is_two_sided(corners):
    spheres = Sphere(np.random.default_rng(4).normal(size=(100, 3)), 0.5)
    one, two = Triangle(*corners, one_sided=True), Triangle(*corners)
    assert not one.normal.any()
    np.testing.assert_array_equal(separation(spheres, one), separation(spheres, two))
    np.testing.assert_array_equal(overlaps(spheres, one), overlaps(spheres, two))
    np.testing.assert_array_equal(minimum_translation(spheres, one), minimum_translation(spheres, two))


def box_mesh(one_sided: bool) -> Triangle:
    """Return the 12 triangles of the box from (-1, -1, -1) to (1, 1, 0), fronts outward."""
    triangles = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            square = np.zeros((4, 3))
            square[:, axis] = side
            square[:, (axis + 1) % 3] = [-side, side, side, -side]
            square[:, (axis + 2) % 3] = [-1, -1, 1, 1]
            triangles += [square[[0, 1, 2]], square[[0, 2, 3]]]
    corners = np.array(triangles) * [1, 1, 0.5] - [0, 0, 0.5]
    return Triangle(*np.moveaxis(corners, 1, 0), one_sided=one_sided)


def test_box_mesh_faces_outward():
    mesh = box_mesh(True)
    centers = (mesh.a + mesh.b + mesh.c) / 3 - [0, 0, -0.5]
    assert ((centers * mesh.normal).sum(axis=1) > 0).all()


def test_sphere_on_box_near_its_edge_is_pushed_straight_up_only_by_one_sided_triangles():
    # Overlapping the top by 0.02, at z = 0 and 0.05 from the edge x = 1: the closest point of the side x = 1
    # is (1, 0, 0), at sqrt(0.05^2 + 0.98^2) = 0.98127 < 1, so its inside pushes too, and along x as well.
    sphere = Sphere([0.95, 0, 0.98], 1)
    moves = minimum_translation(sphere, box_mesh(one_sided=True))
    np.testing.assert_allclose(moves.sum(axis=0), [0, 0, 0.02], atol=1e-15)
    assert (moves[:, :2] == 0).all()
    assert overlaps(sphere, box_mesh(one_sided=True)).sum() == 1

    both = minimum_translation(sphere, box_mesh(one_sided=False))
    assert both[:, 0].min() < -1e-4
    distance = math.hypot(0.05, 0.98)
    aside = np.array([-0.05, 0, 0.98]) / distance * (1 - distance)
    assert np.isclose(both, aside, rtol=0, atol=1e-15).all(axis=1).any()


# --- sphere and box --------------------------------------------------------------------------------------


def solid(box: Obb) -> exact.ExactBox:
    return exact.ExactBox.of(box.center, box.half_extents, box.rotation)


def is_on(box: exact.ExactBox):
    return lambda point: (
        abs(exact.point_box_separation(point, box)) <= ROUNDING or exact.is_inside(point, box)
    )


@given(POINT, SIZE, boxes())
def test_sphere_and_box_agree_with_exact_arithmetic(center, radius, box):
    shape = solid(box.oriented())
    # With multiples of a quarter, center and half extents of the box are exact.
    truth = exact.point_box_separation(exact.vector(center), shape) - radius
    check(Sphere(center, radius), box, truth, is_on(shape))


@given(POINT, SIZE, oriented_boxes())
def test_sphere_and_oriented_box_agree_with_exact_arithmetic(center, radius, box):
    truth = exact.point_box_separation(exact.vector(center), solid(box)) - radius
    check(Sphere(center, radius), box, truth, is_on(solid(box)))


@given(POINT, SIZE, boxes(), st.sampled_from(QUARTER_TURNS))
def test_permuted_box_axes_do_not_change_the_result(center, radius, box, turn):
    sphere = Sphere(center, radius)
    same = Obb(box.center, np.abs(turn.T) @ box.half_extents, turn)
    assert separation(sphere, same) == separation(sphere, box)
    assert overlaps(sphere, same) == overlaps(sphere, box)


def test_sphere_centered_in_a_box_exits_through_the_nearest_face():
    # From (1, 0, 0) in the box with half extents (4, 5, 6): 3 to x = 4, plus the radius.
    box = Aabb([-4, -5, -6], [4, 5, 6])
    sphere = Sphere([1, 0, 0], 2)
    assert separation(sphere, box) == -5
    assert minimum_translation(sphere, box).tolist() == [5, 0, 0]
    assert minimum_translation(box, sphere).tolist() == [-5, 0, 0]
    assert witness_points(sphere, box).on_b.tolist() == [4, 0, 0]
    # In the box rotated by 45 degrees about z, the exit is along (1, 1, 0).
    half = math.sqrt(0.5)
    turned = Obb([0, 0, 0], [4, 5, 6], axis_rotation(2, half, half))
    move = minimum_translation(Sphere([half, half, 0], 2), turned)
    np.testing.assert_allclose(move, [5 * half, 5 * half, 0], atol=1e-14)


@pytest.mark.parametrize("center", [[0, 0, 0], [3, -2, 1]])
def test_sphere_at_the_center_of_a_cube_exits_along_positive_x(center):
    cube = Aabb(np.subtract(center, 1), np.add(center, 1))
    assert minimum_translation(Sphere(center, 0.5), cube).tolist() == [1.5, 0, 0]
    assert minimum_translation(Sphere(center, 0.5), cube.oriented()).tolist() == [1.5, 0, 0]


def test_point_box_has_known_separation_from_a_sphere():
    point = Aabb([1, 1, 1], [1, 1, 1])
    assert separation(Sphere([3, 4, 7], 2), point) == 5  # (2, 3, 6) has length 7
    assert separation(Sphere([1, 1, 1], 2), point) == -2
    assert minimum_translation(Sphere([1, 1, 1], 2), point).tolist() == [2, 0, 0]


def test_normal_to_oriented_box_is_unit_length_far_from_the_origin():
    turn = axis_rotation(2, 0.8, 0.6)
    near = witness_points(Sphere([0, 0, 9], 1), Obb([0, 2, 0], [1, 2, 3], turn)).normal
    offset = np.array([2.0**40, -(2.0**40), 2.0**40])
    sphere = Sphere(np.add(offset, [0, 0, 9]), 1)
    far = witness_points(sphere, Obb(np.add(offset, [0, 2, 0]), [1, 2, 3], turn)).normal
    np.testing.assert_allclose(far, near, atol=1e-15)


@pytest.mark.parametrize("corners", [(10, 12, 11), (12, 11, 10), (11, 10, 12)])
def test_normal_to_triangle_without_area_is_perpendicular_to_it_wherever_it_is(corners):
    # On the line through (0, 20, 30) along X. The center is on it too.
    triangle = Triangle(*([x, 20, 30] for x in corners))
    normal = witness_points(Sphere([11, 20, 30], 1), triangle).normal
    assert normal[0] == 0
    assert np.linalg.norm(normal) == 1


def test_touching_spheres_overlap_next_to_spheres_of_extreme_size_in_one_batch():
    # The squares of the first pair underflow, which must not change the comparison of the second: (3, 4, 0)
    # is 5 long.
    a = Sphere([[0, 0, 0], [0, 0, 0]], [1e-200, 2])
    b = Sphere([[3e-200, 0, 0], [3, 4, 0]], [1e-200, 3])
    assert overlaps(a, b).tolist() == [False, True]
