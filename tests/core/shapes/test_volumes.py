"""Spheres and axis-aligned boxes."""

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
    Sphere,
    overlaps,
)
from addon.core.numeric.arrays import rotation_matrix
from tests.core import exact
from tests.core.scenes import random_shapes, translated
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


# --- contains --------------------------------------------------------------------------------------------


def test_points_on_surface_are_inside_and_points_just_beyond_are_outside():
    # (2, 3, 6) has length 7 exactly.
    sphere = Sphere([0, 0, 0], 7)
    assert sphere.contains([2, 3, 6])
    assert not sphere.contains([2, 3, np.nextafter(6, 7) + 1e-14])
    box = Aabb([0, 0, 0], [1, 1, 1])
    assert box.contains([1, 1, 0])
    assert not box.contains([1, np.nextafter(1, 2), 0])


def test_sphere_contains_point_at_distance_of_rounded_radius():
    points = np.random.default_rng(3).normal(size=(2000, 3))
    radii = np.sqrt((points * points).sum(axis=1))
    assert Sphere(np.zeros((2000, 3)), radii).contains(points).all()


# --- merged ----------------------------------------------------------------------------------------------


def encloses_sphere(outer: Sphere, inner_center, inner_radius) -> bool:
    """Return whether distance + inner radius <= outer radius, exactly."""
    slack = Fraction(float(outer.radius)) - Fraction(float(inner_radius))
    offset = exact.subtract(exact.vector(outer.center), exact.vector(inner_center))
    return slack >= 0 and exact.dot(offset, offset) <= slack * slack


@given(POINT, LENGTH, POINT, LENGTH)
def test_merged_sphere_encloses_both_in_exact_arithmetic_and_is_smallest(ca, ra, cb, rb):
    merged = Sphere(ca, ra).merged(Sphere(cb, rb))
    assert encloses_sphere(merged, ca, ra)
    assert encloses_sphere(merged, cb, rb)
    # The smallest ball around two is the larger one, or spans both along the line of their centers.
    offset = exact.subtract(exact.vector(ca), exact.vector(cb))
    distance = exact.square_root(exact.dot(offset, offset))
    needed = max(ra, rb, (distance + ra + rb) / 2)
    rounded_center = 1e-15 * max(map(abs, (*ca, *cb)))
    assert merged.radius <= needed * (1 + 1e-14) + rounded_center


def test_merging_with_enclosed_sphere_gives_outer_sphere():
    outer = Sphere([0, 0, 0], 5)
    for merged in (outer.merged(Sphere([1, 1, 1], 2)), Sphere([1, 1, 1], 2).merged(outer)):
        assert merged.center.tolist() == [0, 0, 0]
        assert merged.radius == pytest.approx(5, rel=1e-14)


def test_merging_adjacent_and_concentric_spheres():
    # They span x = -1 to 7: middle 3, radius 4.
    merged = Sphere([0, 0, 0], 1).merged(Sphere([5, 0, 0], 2))
    assert merged.center.tolist() == [3, 0, 0]
    assert merged.radius == pytest.approx(4, rel=1e-14)
    concentric = Sphere([1, 2, 3], 1).merged(Sphere([1, 2, 3], 2))
    assert concentric.center.tolist() == [1, 2, 3]
    assert 2 <= concentric.radius <= 2 * (1 + 1e-14)


def test_merged_box_spans_both_boxes():
    merged = Aabb([0, 0, 0], [1, 1, 1]).merged(Aabb([-1, 0.5, 3], [0, 2, 4]))
    assert merged.min.tolist() == [-1, 0, 0]
    assert merged.max.tolist() == [1, 2, 4]


# --- padded ----------------------------------------------------------------------------------------------


def test_padding_moves_every_side_outward():
    assert Sphere([0, 0, 0], 1).padded(0.5).radius == 1.5
    box = Aabb([0, 0, 0], [1, 2, 3]).padded(0.25)
    assert box.min.tolist() == [-0.25] * 3
    assert box.max.tolist() == [1.25, 2.25, 3.25]
    assert Sphere(np.zeros((2, 3)), 1).padded([0, 1]).radius.tolist() == [1, 2]


# --- transformed -----------------------------------------------------------------------------------------


def test_sphere_under_shear_grows_by_largest_singular_value():
    # diag(3, 1, 1) times a rotation by 45 degrees: both of its first columns have length sqrt(5) = 2.236,
    # but the unit vector (1, -1, 0) / sqrt(2) becomes (3, 0, 0): the true stretch is 3.
    matrix = np.diag([3.0, 1, 1, 1]) @ rotation_about_z(45)
    assert np.linalg.norm(matrix[:3, :3], axis=0).max() == pytest.approx(math.sqrt(5))
    sphere = Sphere([0, 0, 0], 2).transformed(matrix)
    assert 6 <= sphere.radius <= 6 * (1 + 1e-12)
    moved = directions() * 2 @ matrix[:3, :3].T
    assert np.linalg.norm(moved, axis=1).max() > 5.5  # the bound is nearly reached
    assert (np.linalg.norm(moved - sphere.center, axis=1) <= sphere.radius).all()


@pytest.mark.parametrize("seed", range(20))
def test_transformed_shapes_enclose_transformed_points(seed):
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
    # Rounding error of the comparison itself, on numbers of this size.
    loss = 1e-14 * np.abs(moved).max()
    image = sphere.transformed(matrix)
    assert (np.linalg.norm(moved - image.center, axis=1) <= image.radius + loss).all()

    box = Aabb([-1, 0, 2], [1, 0.5, 5])
    corners = box.corners() @ matrix[:3, :3].T + matrix[:3, 3]
    image = box.transformed(matrix)
    np.testing.assert_allclose(image.min, corners.min(axis=0), rtol=0, atol=30 * loss)
    np.testing.assert_allclose(image.max, corners.max(axis=0), rtol=0, atol=30 * loss)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("distance", [0.0, 1e6])
def test_transformed_spheres_and_boxes_enclose_image_in_exact_arithmetic(distance):
    rng = np.random.default_rng(0)
    spheres, boxes = (translated(random_shapes(kind, rng, 30), distance) for kind in (Sphere, Aabb))
    matrices = np.tile(np.eye(4), (30, 1, 1))
    matrices[:, :3, :3] = np.where(rng.random((30, 3, 3)) < 0.2, 0, rng.normal(size=(30, 3, 3)))
    # Move half of them back to near the origin, where the sums cancel.
    matrices[:, :3, 3] = rng.normal(size=(30, 3))
    matrices[::2, :3, 3] -= matrices[::2, :3, :3].sum(axis=2) * distance
    balls, around = spheres.transformed(matrices), boxes.transformed(matrices)

    for i in range(30):
        low, high = exact.vector(around.min[i]), exact.vector(around.max[i])
        for corner in boxes[i].corners():
            point = exact.affine_image(matrices[i], exact.vector(corner))
            assert all(a <= x <= b for a, x, b in zip(low, point, high, strict=True))
        center, radius = exact.vector(spheres.center[i]), Fraction(float(spheres.radius[i]))
        middle = exact.vector(balls.center[i])
        # Along the direction of largest stretch, and others; shortened by the rounding error of their length.
        stretched = np.linalg.svd(matrices[i, :3, :3])[2][0]
        for direction in (stretched, *directions(5)):
            unit = [Fraction(float(x)) * (1 - Fraction(1, 2**52)) for x in direction]
            point = tuple(c + radius * x for c, x in zip(center, unit, strict=True))
            off = exact.subtract(exact.affine_image(matrices[i], point), middle)
            assert exact.squared_length(off) <= Fraction(float(balls.radius[i])) ** 2


def test_rigid_motion_keeps_radius():
    matrix = rotation_about_z(30)
    matrix[:3, 3] = [1, 2, 3]
    sphere = Sphere([1, 0, 0], 2).transformed(matrix)
    # The rotation maps (1, 0, 0) to (cos 30, sin 30, 0).
    np.testing.assert_allclose(sphere.center, [1 + math.sqrt(3) / 2, 2.5, 3], rtol=1e-15)
    assert sphere.radius == pytest.approx(2, rel=1e-13)


@pytest.mark.parametrize("kind", [Sphere, Obb])
def test_box_around_shape_is_rounded_outward_by_at_most_two_ulps(kind):
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
            sides = exact.ExactBox.of(far.center[i], far.half_extents[i], far.rotation[i]).half_sides
            reach = [sum(abs(side[axis]) for side in sides) for axis in range(3)]
        for axis in range(3):
            center = Fraction(float(far.center[i, axis]))
            low, high = Fraction(float(box.min[i, axis])), Fraction(float(box.max[i, axis]))
            assert low <= center - reach[axis]
            assert high >= center + reach[axis]
            # At most two ulps too large, of coordinates in the thousands.
            assert float(center - reach[axis] - low) < 2e-12
            assert float(high - center - reach[axis]) < 2e-12


def test_boxes_around_touching_spheres_overlap():
    # The broad phase tests the boxes first, so they must not miss a contact.
    rng = np.random.default_rng(2)
    radius = rng.uniform(0, 1, (2, 2000))
    a = Sphere(rng.uniform(-1e3, 1e3, (2000, 3)), radius[0])
    b = Sphere(a.center + (radius.sum(axis=0)[:, None] * [1, 0, 0]), radius[1])
    offset = [
        exact.subtract(exact.vector(q), exact.vector(p)) for p, q in zip(a.center, b.center, strict=True)
    ]
    touching = [
        offset[i][0] <= Fraction(float(radius[0, i])) + Fraction(float(radius[1, i])) for i in range(2000)
    ]
    assert 500 < sum(touching) < 1500
    assert overlaps(a.aabb(), b.aabb())[touching].all()


def test_box_around_sphere_touches_it_on_six_sides():
    box = Sphere([[1, 2, 3], [0, 0, 0]], [0.5, 2]).aabb()
    np.testing.assert_allclose(box.min, [[0.5, 1.5, 2.5], [-2, -2, -2]], rtol=1e-15)
    np.testing.assert_allclose(box.max, [[1.5, 2.5, 3.5], [2, 2, 2]], rtol=1e-15)


@examples(25, full=50)
@given(st.tuples(*[st.floats(-3, 3)] * 4).filter(lambda q: math.hypot(*q) > 1e-3), POINT)
def test_rotation_matrix_equals_quaternion_product(quaternion, point):
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
