from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.core import Aabb, InvalidShapeError, Segment, Sphere, overlaps, separation, witness_points
from tests.core import exact

# Quarters: exact in float64, and so are their squares and sums.
QUARTER = st.integers(-40, 40).map(lambda n: n / 4)
POINT = st.tuples(QUARTER, QUARTER, QUARTER)
SIZE = st.integers(0, 20).map(lambda n: n / 4)


@st.composite
def boxes(draw):
    low = np.array(draw(POINT))
    return Aabb(low, low + draw(st.tuples(SIZE, SIZE, SIZE)))


# --- spheres ---------------------------------------------------------------------------------------------


def test_four_spheres_overlap_as_in_the_classic_matrix():
    # Centre distances 3.5, 3, 1 to the first (radii 2 + 1 = 3: apart, touching, inside); the last is
    # sqrt(13.25) from the second and sqrt(10) from the third, against 2.
    spheres = Sphere([[0, 0, 0], [0, 3.5, 0], [0, -3, 0], [1, 0, 0]], [2, 1, 1, 1])
    matrix = overlaps(spheres[:, None], spheres[None])
    assert ["".join(str(int(cell)) for cell in row) for row in matrix] == ["1011", "0100", "1010", "1001"]


@given(POINT, SIZE, POINT, SIZE)
def test_spheres_agree_with_exact_arithmetic(ca, ra, cb, rb):
    a, b = Sphere(ca, ra), Sphere(cb, rb)
    offset = exact.minus(exact.vector(cb), exact.vector(ca))
    squared, reach = exact.dot(offset, offset), Fraction(ra) + Fraction(rb)
    assert overlaps(a, b) == (squared <= reach**2)
    assert separation(a, b) == pytest.approx(exact.root(squared) - float(reach), abs=1e-14)
    assert separation(a, b) == separation(b, a)


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


@given(POINT, SIZE, POINT, SIZE)
def test_witness_points_of_spheres_are_as_far_apart_as_the_separation_along_the_normal(ca, ra, cb, rb):
    a, b = Sphere(ca, ra), Sphere(cb, rb)
    witness = witness_points(a, b)
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-14)
    along = (witness.on_b - witness.on_a) @ witness.normal
    assert along == pytest.approx(float(separation(a, b)), abs=1e-12)
    assert np.linalg.norm(witness.on_a - ca) == pytest.approx(ra, abs=1e-12)
    assert np.linalg.norm(witness.on_b - cb) == pytest.approx(rb, abs=1e-12)


def test_concentric_spheres_take_an_axis_and_never_nan():
    witness = witness_points(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5))
    assert witness.normal.tolist() == [1, 0, 0]
    assert witness.on_a.tolist() == [3, 2, 3]
    assert witness.on_b.tolist() == [0.5, 2, 3]
    assert separation(Sphere([1, 2, 3], 2), Sphere([1, 2, 3], 0.5)) == -2.5


# --- boxes -----------------------------------------------------------------------------------------------


@given(boxes(), boxes())
def test_boxes_agree_with_exact_arithmetic(a, b):
    squared = exact.box_squared_gap((a.min, a.max), (b.min, b.max))
    apart = squared > 0
    assert overlaps(a, b) == (not apart)
    found = float(separation(a, b))
    assert found == float(separation(b, a))
    if apart:
        assert found == pytest.approx(exact.root(squared), rel=1e-15)
    else:
        # The shortest of the six moves along an axis that part the boxes, found by trying them.
        moves = [
            (axis, sign, depth)
            for axis in range(3)
            for sign, depth in ((-1, a.max[axis] - b.min[axis]), (1, b.max[axis] - a.min[axis]))
        ]
        assert found == -min(depth for _, _, depth in moves)


def test_boxes_apart_at_a_corner_have_the_euclidean_gap():
    # Gaps of 2, 3 and 6 on the three axes: 7 at the corner.
    a, b = Aabb([0, 0, 0], [1, 1, 1]), Aabb([3, 4, 7], [5, 5, 9])
    assert separation(a, b) == 7
    witness = witness_points(a, b)
    assert witness.on_a.tolist() == [1, 1, 1]
    assert witness.on_b.tolist() == [3, 4, 7]
    np.testing.assert_allclose(witness.normal, [2 / 7, 3 / 7, 6 / 7], rtol=1e-15)
    np.testing.assert_allclose(witness_points(b, a).normal, [-2 / 7, -3 / 7, -6 / 7], rtol=1e-15)


def test_boxes_apart_at_a_face_are_witnessed_in_the_middle_of_what_they_share():
    # They share y = 1 to 2 and z = 0 to 1; the faces are at x = 1 and x = 3.
    witness = witness_points(Aabb([0, 0, 0], [1, 2, 1]), Aabb([3, 1, 0], [4, 9, 1]))
    assert witness.on_a.tolist() == [1, 1.5, 0.5]
    assert witness.on_b.tolist() == [3, 1.5, 0.5]
    assert witness.normal.tolist() == [1, 0, 0]


@pytest.mark.parametrize("low", [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
def test_boxes_touching_at_face_edge_or_corner_overlap_with_depth_zero(low):
    a, b = Aabb([0, 0, 0], [1, 1, 1]), Aabb(low, np.add(low, 1))
    assert overlaps(a, b)
    assert separation(a, b) == 0
    assert np.linalg.norm(witness_points(a, b).normal) == 1
    assert not overlaps(a, Aabb(np.nextafter(low, 9), np.add(low, 1)))


def test_box_inside_another_leaves_by_the_nearest_face():
    # From x = 7..8 inside 0..10 the way out is 3 through x = 10; the other axes need more.
    a, b = Aabb([0, 0, 0], [10, 10, 10]), Aabb([7, 4, 4], [8, 6, 6])
    assert separation(a, b) == -3
    witness = witness_points(a, b)
    assert witness.normal.tolist() == [1, 0, 0]
    assert witness.on_a.tolist() == [10, 5, 5]
    assert witness.on_b.tolist() == [7, 5, 5]
    assert witness_points(b, a).normal.tolist() == [-1, 0, 0]


@given(boxes(), boxes())
def test_witness_points_of_boxes_lie_on_them_as_far_apart_as_the_separation(a, b):
    witness = witness_points(a, b)
    assert np.isfinite(witness.normal).all()
    assert np.linalg.norm(witness.normal) == pytest.approx(1, abs=1e-14)
    along = (witness.on_b - witness.on_a) @ witness.normal
    assert along == pytest.approx(float(separation(a, b)), abs=1e-12)
    if separation(a, b) > 0:
        assert a.contains(witness.on_a)
        assert b.contains(witness.on_b)
    else:
        # Moving a back along the normal by the depth parts them: it really is the way out.
        assert separation(Aabb(a.min + along * witness.normal, a.max + along * witness.normal), b) == 0


def test_identical_boxes_take_the_first_axis_that_serves():
    box = Aabb([0, 0, 0], [3, 1, 2])
    witness = witness_points(box, box)
    assert separation(box, box) == -1
    assert witness.normal.tolist() == [0, 1, 0]


# --- batches, kinds --------------------------------------------------------------------------------------


def test_batches_broadcast_against_each_other():
    spheres = Sphere(np.random.default_rng(1).normal(size=(4, 3)), 0.5)
    table = separation(spheres[:, None], spheres[None])
    assert table.shape == (4, 4)
    for i in range(4):
        for j in range(4):
            assert table[i, j] == math.dist(spheres.center[i], spheres.center[j]) - 1 or table[
                i, j
            ] == pytest.approx(math.dist(spheres.center[i], spheres.center[j]) - 1, abs=1e-15)
    witness = witness_points(spheres[:, None], spheres[None])
    assert witness.normal.shape == (4, 4, 3)


@pytest.mark.parametrize("query", [separation, overlaps, witness_points])
def test_a_pair_of_kinds_without_a_method_is_refused_by_name(query):
    with pytest.raises(InvalidShapeError, match="Segment and Aabb"):
        query(Segment([0, 0, 0], [1, 0, 0]), Aabb([0, 0, 0], [1, 1, 1]))
