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
from tests.core.scenes import POINT, QUARTER_TURNS, SIZE, boxes, oriented_boxes, turned_about

ROUNDING = 2e-14  # of coordinates up to 10 in sums and one root


def check(sphere: Sphere, other, truth: float, closest_is_on_other) -> None:
    """Separation, overlap, witness points and the way out of one pair, all against one exact number."""
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
def test_four_spheres_overlap_as_in_the_classic_matrix():
    # Centre distances 3.5, 3, 1 to the first (radii 2 + 1 = 3: apart, touching, inside); the last is
    # sqrt(13.25) from the second and sqrt(10) from the third, against 2.
    spheres = Sphere([[0, 0, 0], [0, 3.5, 0], [0, -3, 0], [1, 0, 0]], [2, 1, 1, 1])
    matrix = overlaps(spheres[:, None], spheres[None])
    assert ["".join(str(int(cell)) for cell in row) for row in matrix] == ["1011", "0100", "1010", "1001"]


@given(POINT, SIZE, POINT, SIZE)
def test_spheres_agree_with_exact_arithmetic(ca, ra, cb, rb):
    a, b = Sphere(ca, ra), Sphere(cb, rb)
    squared = exact.squared(exact.minus(*vectors(cb, ca)))
    assert overlaps(a, b) == (squared <= (Fraction(ra) + Fraction(rb)) ** 2)
    truth = exact.root(squared) - ra - rb
    assert separation(a, b) == pytest.approx(truth, abs=ROUNDING)
    witness = witness_points(a, b)
    np.testing.assert_allclose(witness.on_b - witness.on_a, witness.normal * truth, atol=ROUNDING)
    assert np.linalg.norm(witness.on_a - ca) == pytest.approx(ra, abs=ROUNDING)
    assert np.linalg.norm(witness.on_b - cb) == pytest.approx(rb, abs=ROUNDING)
    if ca != cb:
        np.testing.assert_array_equal(witness_points(b, a).normal, -witness.normal)


def test_spheres_that_touch_have_separation_zero_and_overlap():
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
def test_concentric_spheres_take_an_axis_and_never_nan():
    witness = witness_points(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5))
    assert witness.normal.tolist() == [1, 0, 0]
    assert witness.on_a.tolist() == [3, 2, 3]
    assert witness.on_b.tolist() == [0.5, 2, 3]
    assert separation(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5)) == -2.5


def test_spheres_of_radius_zero_overlap_where_they_are_the_same_point():
    points = Sphere([[0, 0, 0], [0, 0, 1e-200]], 0)
    assert overlaps(points[:, None], points[None]).tolist() == [[True, False], [False, True]]


# --- sphere and segment ----------------------------------------------------------------------------------


@given(POINT, SIZE, POINT, POINT)
def test_sphere_and_segment_agree_with_exact_arithmetic(center, radius, start, end):
    p, s, e = vectors(center, start, end)
    truth = exact.root(exact.point_segment_squared(p, s, e)) - radius
    check(
        Sphere(center, radius),
        Segment(start, end),
        truth,
        lambda point: exact.root(exact.point_segment_squared(point, s, e)) <= ROUNDING,
    )


@given(POINT, POINT, st.integers(0, 4))
def test_sphere_centred_on_a_segment_leaves_it_at_a_right_angle(start, end, quarter):
    along = np.subtract(end, start)
    sphere, segment = Sphere(start + along * (quarter / 4), 2), Segment(start, end)
    witness = witness_points(sphere, segment)
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-15)
    # A quarter of a quarter is a float64, so that the centre is on the segment exactly.
    assert separation(sphere, segment) == pytest.approx(-2, abs=ROUNDING)
    if np.array_equal(witness.on_b, sphere.center):
        assert witness.normal @ along == pytest.approx(0, abs=ROUNDING)


def test_segment_of_length_zero_is_a_point():
    assert separation(Sphere([2, 3, 6], 1), Segment([0, 0, 0], [0, 0, 0])) == 6
    witness = witness_points(Sphere([0, 0, 0], 1), Segment([0, 0, 0], [0, 0, 0]))
    assert witness.normal.tolist() == [1, 0, 0]


# --- sphere and triangle ---------------------------------------------------------------------------------


@given(POINT, SIZE, POINT, POINT, POINT)
def test_sphere_and_triangle_agree_with_exact_arithmetic(center, radius, a, b, c):
    p, *corners = vectors(center, a, b, c)
    truth = exact.root(exact.point_triangle_squared(p, *corners)) - radius
    check(
        Sphere(center, radius),
        Triangle(a, b, c),
        truth,
        lambda point: exact.root(exact.point_triangle_squared(point, *corners)) <= ROUNDING,
    )


@given(POINT, SIZE, POINT, POINT, POINT)
def test_sphere_behind_a_one_sided_triangle_does_not_meet_it(center, radius, a, b, c):
    sphere = Sphere(center, radius)
    one, two = Triangle(a, b, c, one_sided=True), Triangle(a, b, c)
    p, *corners = vectors(center, a, b, c)
    # Quarters make the side exact, except that the unit normal is rounded where the centre is in the plane.
    side = exact.side_of_triangle(p, *corners)
    if side < 0:
        assert separation(sphere, one) == math.inf
        assert not overlaps(sphere, one)
        assert not minimum_translation(sphere, one).any()
        assert not minimum_translation(one, sphere).any()
        assert np.isfinite(witness_points(sphere, one).on_b).all()
    elif side > 0 or not exact.squared(exact.cross(*(exact.minus(q, corners[0]) for q in corners[1:]))):
        assert separation(sphere, one) == separation(sphere, two)
        assert overlaps(sphere, one) == overlaps(sphere, two)
        np.testing.assert_array_equal(minimum_translation(sphere, one), minimum_translation(sphere, two))


def test_sphere_centred_on_the_face_of_a_triangle_leaves_by_the_front():
    triangle = Triangle([0, 0, 0], [4, 0, 0], [0, 4, 0])
    for one_sided in (False, True):
        flat = Triangle(triangle.a, triangle.b, triangle.c, one_sided)
        sphere = Sphere([1, 1, 0], 2)
        assert separation(sphere, flat) == -2
        assert minimum_translation(sphere, flat).tolist() == [0, 0, 2]
    # The other way round, the front is below.
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
    # But for the rounding of tenths; and as thin as float64 can have them.
    ([0, 0, 0], [0.1, 0.2, 0.3], [0.3, 0.6, 0.9]),
    ([0, 0, 0], [0.7, -0.3, 0.2], [2.1, -0.9, 0.6]),
    ([0.1, 0.1, 0.1], [0.4, 0.7, 0.1], [0.2, 0.3, 0.1]),
    ([0, 0, 0], [1, 1, 0.5], [np.nextafter(2, 3), 2, 1]),
    ([1, 1, 1], [1, 1, np.nextafter(1, 2)], [-1, 0, 1]),
    ([0, 0, 0], [1, 1e-8, 0], [2, 0, 0]),
    ([0, 0, 0], [1, 1e-8, 1e-9], [1, 0, 0]),
]


@pytest.mark.parametrize("corners", LINES + NEARLY_LINES)
def test_triangle_that_is_hardly_more_than_a_segment_or_a_point(corners):
    rng = np.random.default_rng(2)
    exact_corners = vectors(*corners)
    over = rng.dirichlet([1, 1, 1], 30) @ np.array(corners, dtype=float)
    points = np.concatenate([rng.normal(size=(30, 3)), np.round(rng.normal(size=(30, 3)), 1), corners, over])
    points = np.concatenate([points, np.add(over, [0, 0, 1e-3]), np.add(over, [1e-9, 1e-9, 0])])
    truth = [exact.root(exact.point_triangle_squared(exact.vector(p), *exact_corners)) for p in points]
    spheres, triangle = Sphere(points, 0.25), Triangle(*corners)
    np.testing.assert_allclose(separation(spheres, triangle), np.array(truth) - 0.25, atol=2e-15)
    witness = witness_points(spheres, triangle)
    for point in witness.on_b:
        assert exact.root(exact.point_triangle_squared(exact.vector(point), *exact_corners)) < 2e-15
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=1), 1, atol=1e-15)


@pytest.mark.parametrize("corners", LINES)
def test_triangle_without_area_has_no_sides_and_meets_spheres_all_around(corners):
    spheres = Sphere(np.random.default_rng(4).normal(size=(100, 3)), 0.5)
    one, two = Triangle(*corners, one_sided=True), Triangle(*corners)
    assert not one.normal.any()
    np.testing.assert_array_equal(separation(spheres, one), separation(spheres, two))
    np.testing.assert_array_equal(overlaps(spheres, one), overlaps(spheres, two))
    np.testing.assert_array_equal(minimum_translation(spheres, one), minimum_translation(spheres, two))


def box_mesh(one_sided: bool) -> Triangle:
    """The 12 triangles of the box from (-1, -1, -1) to (1, 1, 0), fronts outward."""
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


def test_box_mesh_has_its_fronts_outward():
    mesh = box_mesh(True)
    centers = (mesh.a + mesh.b + mesh.c) / 3 - [0, 0, -0.5]
    assert ((centers * mesh.normal).sum(axis=1) > 0).all()


def test_sphere_lying_on_a_box_near_its_edge_is_pushed_straight_up_by_one_sided_triangles_only():
    # Sunk by 0.02 into the top at z = 0 and 0.05 from the edge x = 1: the closest point of the side x = 1 is
    # (1, 0, 0), at sqrt(0.05^2 + 0.98^2) = 0.98127 < 1, so its inside pushes too, and along x as well.
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


def solid(box: Obb) -> exact.Solid:
    return exact.Solid.of(box.center, box.half_extents, box.rotation)


def is_on(box: exact.Solid):
    return lambda point: (
        abs(exact.point_solid_separation(point, box)) <= ROUNDING or exact.is_inside(point, box)
    )


@given(POINT, SIZE, boxes())
def test_sphere_and_box_agree_with_exact_arithmetic(center, radius, box):
    shape = solid(box.oriented())
    # Quarters: centre and half extents of the box are exact.
    truth = exact.point_solid_separation(exact.vector(center), shape) - radius
    check(Sphere(center, radius), box, truth, is_on(shape))


@given(POINT, SIZE, oriented_boxes())
def test_sphere_and_oriented_box_agree_with_exact_arithmetic(center, radius, box):
    truth = exact.point_solid_separation(exact.vector(center), solid(box)) - radius
    check(Sphere(center, radius), box, truth, is_on(solid(box)))


@given(POINT, SIZE, boxes(), st.sampled_from(QUARTER_TURNS))
def test_box_named_by_other_axes_is_the_same_box(center, radius, box, turn):
    sphere = Sphere(center, radius)
    same = Obb(box.center, np.abs(turn.T) @ box.half_extents, turn)
    assert separation(sphere, same) == separation(sphere, box)
    assert overlaps(sphere, same) == overlaps(sphere, box)


def test_sphere_centred_in_a_box_leaves_by_the_nearest_face():
    # From (1, 0, 0) in the box of half sides (4, 5, 6): 3 to x = 4 and the radius.
    box = Aabb([-4, -5, -6], [4, 5, 6])
    sphere = Sphere([1, 0, 0], 2)
    assert separation(sphere, box) == -5
    assert minimum_translation(sphere, box).tolist() == [5, 0, 0]
    assert minimum_translation(box, sphere).tolist() == [-5, 0, 0]
    assert witness_points(sphere, box).on_b.tolist() == [4, 0, 0]
    # The same box turned by 45 degrees about z: out along (1, 1, 0).
    half = math.sqrt(0.5)
    turned = Obb([0, 0, 0], [4, 5, 6], turned_about(2, half, half))
    move = minimum_translation(Sphere([half, half, 0], 2), turned)
    np.testing.assert_allclose(move, [5 * half, 5 * half, 0], atol=1e-14)


@pytest.mark.parametrize("center", [[0, 0, 0], [3, -2, 1]])
def test_sphere_centred_in_the_middle_of_a_cube_takes_the_first_positive_axis(center):
    cube = Aabb(np.subtract(center, 1), np.add(center, 1))
    assert minimum_translation(Sphere(center, 0.5), cube).tolist() == [1.5, 0, 0]
    assert minimum_translation(Sphere(center, 0.5), cube.oriented()).tolist() == [1.5, 0, 0]


def test_sphere_and_a_box_that_is_a_point():
    point = Aabb([1, 1, 1], [1, 1, 1])
    assert separation(Sphere([3, 4, 7], 2), point) == 5  # (2, 3, 6) has length 7
    assert separation(Sphere([1, 1, 1], 2), point) == -2
    assert minimum_translation(Sphere([1, 1, 1], 2), point).tolist() == [2, 0, 0]


def test_normal_from_a_sphere_to_an_oriented_box_is_as_good_far_from_the_origin():
    turn = turned_about(2, 0.8, 0.6)
    near = witness_points(Sphere([0, 0, 9], 1), Obb([0, 2, 0], [1, 2, 3], turn)).normal
    offset = np.array([2.0**40, -(2.0**40), 2.0**40])
    sphere = Sphere(np.add(offset, [0, 0, 9]), 1)
    far = witness_points(sphere, Obb(np.add(offset, [0, 2, 0]), [1, 2, 3], turn)).normal
    np.testing.assert_allclose(far, near, atol=1e-15)
