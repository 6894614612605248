"""Distance queries of two boxes, axis-aligned or oriented, in scenes with a known result."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from addon.core import Aabb, Obb, minimum_translation, overlaps, separation, witness_points
from tests.core import exact
from tests.core.distance.boxes.certified_boxes import (
    agrees_with_exact_arithmetic,
    certify,
    solid,
)
from tests.core.scenes import (
    POINT,
    QUARTER_TURNS,
    axis_rotation,
    boxes,
    oriented_boxes,
    random_rotations,
    rotation_3_4_5,
    translated,
)
from tests.tiers import examples, times

# --- axis-aligned ----------------------------------------------------------------------------------------


@given(boxes(), boxes())
def test_boxes_agree_with_exact_arithmetic(a, b):
    squared = exact.box_squared_gap((a.min, a.max), (b.min, b.max))
    apart = squared > 0
    assert overlaps(a, b) == (not apart)
    found = float(separation(a, b))
    assert found == float(separation(b, a))
    if apart:
        assert found == pytest.approx(exact.square_root(squared), rel=1e-15)
    else:
        # The shortest of the six translations along an axis that separate the boxes.
        moves = [
            depth for axis in range(3) for depth in (a.max[axis] - b.min[axis], b.max[axis] - a.min[axis])
        ]
        assert found == -min(moves)
    certify(a.reshaped((1,)), b.reshaped((1,)))


def test_separation_of_boxes_apart_at_a_corner_is_euclidean():
    # Gaps of 2, 3 and 6 on the three axes give 7 at the corner.
    a, b = Aabb([0, 0, 0], [1, 1, 1]), Aabb([3, 4, 7], [5, 5, 9])
    assert separation(a, b) == 7
    witness = witness_points(a, b)
    assert witness.on_a.tolist() == [1, 1, 1]
    assert witness.on_b.tolist() == [3, 4, 7]
    np.testing.assert_allclose(witness.normal, [2 / 7, 3 / 7, 6 / 7], rtol=1e-15)
    np.testing.assert_allclose(witness_points(b, a).normal, [-2 / 7, -3 / 7, -6 / 7], rtol=1e-15)


def test_witness_points_of_parallel_faces_are_in_the_middle_of_their_common_part():
    # Their common part is y = 1 to 2 and z = 0 to 1; the faces are at x = 1 and x = 3.
    a, b = Aabb([0, 0, 0], [1, 2, 1]), Aabb([3, 1, 0], [4, 9, 1])
    witness = witness_points(a, b)
    assert witness.on_a.tolist() == [1, 1.5, 0.5]
    assert witness.on_b.tolist() == [3, 1.5, 0.5]
    assert witness.normal.tolist() == [1, 0, 0]
    witness = witness_points(a.oriented(), b.oriented())
    assert witness.on_a[0] == 1
    assert 1 < witness.on_a[1] < 2
    assert 0 < witness.on_a[2] < 1
    assert witness.normal.tolist() == [1, 0, 0]


def test_witness_points_of_rotated_parallel_faces_are_inside_their_common_part():
    # As above, but rounding breaks the ties between the corners of the common part.
    turn = np.eye(4)
    turn[:3, :3] = rotation_3_4_5(0) @ rotation_3_4_5(2)
    a, b = Aabb([0, 0, 0], [1, 2, 1]), Aabb([3, 1, 0], [4, 9, 1])
    witness = witness_points(a.oriented().transformed(turn), b.oriented().transformed(turn))
    for points, x in ((witness.on_a, 1), (witness.on_b, 3)):
        local = points @ turn[:3, :3]
        assert local[0] == pytest.approx(x, abs=1e-13)
        assert 1.1 < local[1] < 1.9
        assert 0.1 < local[2] < 0.9


@pytest.mark.parametrize("aside", [1e-9, 1e-7, 1e-5])
def test_normal_of_boxes_nearly_face_to_face_is_along_the_line_between_their_edges(aside):
    # The top of the first and the bottom of the second do not overlap along X, by very little.
    a, b = Aabb([-1, -1, -1], [1, 1, 1]), Aabb([1 + aside, -1, 1.25], [3, 1, 3])
    normal = witness_points(a.oriented(), b.oriented()).normal
    np.testing.assert_allclose(normal, [aside / 0.25, 0, 1], rtol=1e-6, atol=1e-11)


@pytest.mark.smoke
@pytest.mark.parametrize("low", [[1, 0, 0], [1, 1, 0], [1, 1, 1]])
def test_boxes_touching_at_face_edge_or_corner_overlap_with_depth_zero(low):
    a, b = Aabb([0, 0, 0], [1, 1, 1]), Aabb(low, np.add(low, 1))
    for one, two in ((a, b), (a.oriented(), b), (a.oriented(), b.oriented())):
        assert overlaps(one, two)
        assert separation(one, two) == 0
        assert np.linalg.norm(witness_points(one, two).normal) == 1
        assert not minimum_translation(one, two).any()
    assert not overlaps(a, Aabb(np.nextafter(low, 9), np.add(low, 1)))


def test_box_inside_another_exits_through_the_nearest_face():
    # From x = 7..8 inside 0..10 the shortest exit is 3 through x = 10; the other axes need more.
    a, b = Aabb([0, 0, 0], [10, 10, 10]), Aabb([7, 4, 4], [8, 6, 6])
    for one, two in ((a, b), (a, b.oriented()), (a.oriented(), b.oriented())):
        assert separation(one, two) == -3
        witness = witness_points(one, two)
        assert witness.normal.tolist() == [1, 0, 0]
        assert witness.on_a.tolist() == [10, 5, 5]
        assert witness.on_b.tolist() == [7, 5, 5]
        assert witness_points(two, one).normal.tolist() == [-1, 0, 0]


def test_identical_boxes_use_the_first_axis_of_least_depth():
    box = Aabb([0, 0, 0], [3, 1, 2])
    for one, two in ((box, box), (box.oriented(), box), (box.oriented(), box.oriented())):
        assert separation(one, two) == -1
        assert witness_points(one, two).normal.tolist() == [0, 1, 0]


# --- oriented boxes that axis-aligned ones can stand in for ----------------------------------------------


@settings(max_examples=times(20, 10, full=100))
@given(boxes(), boxes(), st.sampled_from(QUARTER_TURNS), st.sampled_from(QUARTER_TURNS))
def test_permuted_box_axes_do_not_change_the_result(a, b, turn_a, turn_b):
    truth = float(separation(a, b))
    named_a, named_b = (
        Obb(box.center, np.abs(turn.T) @ box.half_extents, turn) for box, turn in ((a, turn_a), (b, turn_b))
    )
    for one, two in ((a, named_b), (named_a, b), (named_a, named_b)):
        assert separation(one, two) == pytest.approx(truth, rel=4e-16)
        assert overlaps(one, two) == overlaps(a, b)
        certify(one.reshaped((1,)), two.reshaped((1,)))


@examples(40)
@given(boxes(), boxes(), st.integers(0, 2))
def test_common_rotation_does_not_change_the_separation(a, b, axis):
    turn = np.eye(4)
    turn[:3, :3] = rotation_3_4_5(axis)
    one, two = a.oriented().transformed(turn), b.oriented().transformed(turn)
    assert separation(one, two) == pytest.approx(float(separation(a, b)), abs=1e-13)
    certify(one.reshaped((1,)), two.reshaped((1,)))


# --- oriented boxes against exact arithmetic -------------------------------------------------------------


@settings(max_examples=times(15, 4, full=60))
@given(oriented_boxes(), oriented_boxes())
def test_oriented_boxes_agree_with_exact_arithmetic(a, b):
    agrees_with_exact_arithmetic(a, b)


@settings(max_examples=times(15, 4))
@given(boxes(), oriented_boxes())
def test_box_and_oriented_box_agree_with_exact_arithmetic(a, b):
    agrees_with_exact_arithmetic(a, b)


@settings(max_examples=times(10, full=40))
@given(POINT, st.sampled_from([0, 0.25, 1, 3]), oriented_boxes())
def test_cube_near_a_corner_agrees_with_exact_arithmetic(shift, half, b):
    # A corner of the cube lies inside, on or near the other box: it is shifted by multiples of a sixteenth.
    corner = b.corners()[5]
    agrees_with_exact_arithmetic(Obb(corner + np.divide(shift, 16), [half] * 3, np.eye(3)), b)


ANGLES = [0.0, *(10.0**-k for k in range(4, 17))]


@pytest.mark.parametrize(
    "about", [(0,), *(pytest.param((axis,), marks=pytest.mark.long) for axis in (1, 2)), (0, 1), (0, 1, 2)]
)
@pytest.mark.parametrize("gap", [-1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3])
def test_nearly_parallel_boxes_have_no_false_gap_or_overlap(about, gap):
    # Two boxes face to face in a common rotation, one of them rotated slightly more: the cross products of
    # their nearly parallel edges are dominated by rounding.
    together = random_rotations(np.random.default_rng(1), 2)
    firsts, seconds = [], []
    for common in (np.eye(3), *QUARTER_TURNS[1:3], *together):
        for angle in ANGLES:
            little = np.eye(3)
            for axis in about:
                little = axis_rotation(axis, math.cos(angle), math.sin(angle)) @ little
            for offset in ([2 + gap, 0.5, 0.25], [0, 0, 2.5 + gap], [2 + gap, 2 + gap, 0]):
                firsts.append(Obb([0, 0, 0], [1, 1, 1.5], common))
                seconds.append(Obb(common @ offset, [1, 1, 1], common @ little))
    a, b = (
        Obb(*(np.stack([getattr(box, name) for box in listed]) for name in Obb.field_shapes))
        for listed in (firsts, seconds)
    )
    certify(a, b)
    found = separation(a, b)
    sample = np.arange(0, len(found), 7)[:: 30 // times(30, 6)]
    truth = [exact.largest_gap_of_boxes(solid(a[i]), solid(b[i])) for i in sample]
    # For parallel faces the largest gap along a direction is the distance; otherwise it is at most the
    # distance.
    apart = np.array(truth) > 0
    np.testing.assert_allclose(found[sample][~apart], np.array(truth)[~apart], atol=3e-14)
    assert (found[sample][apart] >= np.array(truth)[apart] - 3e-14).all()


@pytest.mark.parametrize("entry", [1e-30, 1e-110, 1e-160, 1e-200, 5e-324])
def test_edges_parallel_up_to_denormal_angles_give_exact_separation(entry):
    turned = np.array([[1, -entry, 0], [entry, 1, 0], [0, 0, 1]])
    a, b = Obb([0, 0, 0], [1, 1, 1], np.eye(3)), Obb([0.1, 0.2, 3], [1, 1, 1], turned)
    assert separation(a, b) == 1
    assert separation(a, translated(b, np.array([0, 0, -1.5]))) == -0.5
    assert witness_points(a, b).normal.tolist() == [0, 0, 1]


# --- scenes with a known result --------------------------------------------------------------------------

DIAMOND = axis_rotation(2, math.sqrt(0.5), math.sqrt(0.5))


def test_corner_above_a_face_has_known_separation_and_witness_points():
    # A unit cube that stands on its corner reaches sqrt(3) down from its center.
    axis = np.array([1, 1, 1]) / math.sqrt(3)
    x = np.array([1, -1, 0]) / math.sqrt(2)
    to_diagonal = np.stack([x, np.cross(axis, x), axis])  # takes (1, 1, 1) to +Z
    table = Obb([0, 0, -1], [5, 5, 1], np.eye(3))
    for height, gap in ((2.0, 2 - math.sqrt(3)), (math.sqrt(3), 0.0), (1.5, 1.5 - math.sqrt(3))):
        cube = Obb([0.5, 0.25, height], [1, 1, 1], to_diagonal)
        assert separation(cube, table) == pytest.approx(gap, abs=1e-15)
        witness = witness_points(cube, table)
        np.testing.assert_allclose(witness.normal, [0, 0, -1], atol=1e-15)
        np.testing.assert_allclose(witness.on_b, [0.5, 0.25, 0], atol=1e-15)
        np.testing.assert_allclose(witness.on_a, [0.5, 0.25, gap], atol=1e-15)


@pytest.mark.parametrize("gap", [-0.25, 0.0, 1e-12, 0.5])
def test_perpendicular_edges_have_known_separation_and_witness_points(gap):
    # A ridge along z at x = sqrt(2), y = 0, and one along y at z = 0.25 that faces it.
    a = Obb([0, 0, 0], [1, 1, 4], DIAMOND)
    b = Obb([2 * math.sqrt(2) + gap, 0.5, 0.25], [1, 4, 1], axis_rotation(1, math.sqrt(0.5), math.sqrt(0.5)))
    assert separation(a, b) == pytest.approx(gap, abs=2e-15)
    witness = witness_points(a, b)
    np.testing.assert_allclose(witness.normal, [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(witness.on_a, [math.sqrt(2), 0, 0.25], atol=4e-15)
    np.testing.assert_allclose(witness.on_b, [math.sqrt(2) + gap, 0, 0.25], atol=4e-15)


def test_coplanar_faces_touch():
    # Rotated in the plane z = 0, in which both have a face.
    a, b = Obb([0, 0, -1], [1, 1, 1], np.eye(3)), Obb([0.5, 0.25, 2], [1, 1, 2], rotation_3_4_5(2))
    assert overlaps(a, b)
    assert separation(a, b) == 0
    assert witness_points(a, b).normal.tolist() == [0, 0, 1]
    assert witness_points(a, b).on_a[2] == pytest.approx(0, abs=1e-15)


def test_rotated_box_inside_another_exits_through_the_nearest_face():
    big, small = Obb([0, 0, 0], [5, 6, 7], np.eye(3)), Obb([2, 0, 0], [1, 1, 1], DIAMOND)
    # The diamond has left through x = 5 when its left end, at 2 - sqrt(2), is there.
    assert separation(big, small) == pytest.approx(-(3 + math.sqrt(2)), rel=1e-15)
    np.testing.assert_allclose(minimum_translation(small, big), [3 + math.sqrt(2), 0, 0], atol=1e-15)


@pytest.mark.parametrize("turn", [np.eye(3), DIAMOND, rotation_3_4_5(0) @ DIAMOND])
def test_flat_and_point_boxes_have_known_separations(turn):
    def box(center, half) -> Obb:
        return Obb(turn @ center, half, turn)

    sheet, rod, point = box([0, 0, 0], [2, 2, 0]), box([0, 0, 3], [0, 2, 0]), box([0, 0, 1], [0, 0, 0])
    assert separation(sheet, rod) == pytest.approx(3, rel=1e-15)
    assert separation(sheet, point) == pytest.approx(1, rel=1e-15)
    assert separation(point, point) == 0
    assert overlaps(point, point)
    # Coplanar and collinear boxes overlap with depth 0.
    shifted = box([1, 1, 0], [2, 2, 0])
    assert separation(sheet, shifted) == pytest.approx(0, abs=1e-15)
    assert overlaps(sheet, shifted)
    assert overlaps(rod, box([0, 1, 3], [0, 2, 0]))
    assert separation(rod, box([0, 5, 3], [0, 2, 0])) == pytest.approx(1, rel=1e-14)
    # Two sheets that cross: a small translation along the normal of the first does not separate them.
    upright = box([0, 0, 0], [2, 0, 1])
    assert separation(sheet, upright) == pytest.approx(-1, rel=1e-15)
    shapes = [sheet, rod, point, shifted, upright]
    batch = Obb(*(np.stack([getattr(shape, name) for shape in shapes]) for name in Obb.field_shapes))
    i, j = (index.ravel() for index in np.indices((5, 5)))
    certify(batch[i], batch[j])
