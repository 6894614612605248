"""Oriented boxes: corners, containment, merging and transforms, against exact arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import (
    Aabb,
    Obb,
    Segment,
    Sphere,
    Triangle,
)
from tests.core import exact
from tests.core.scenes import affine, random_rotations, random_shapes, rotation_3_4_5


def points_inside(box: Obb, rng: np.random.Generator, count: int = 300) -> np.ndarray:
    """Points inside and on the surface of a box, corners included."""
    local = rng.uniform(-1, 1, (count, 3))
    local[: count // 2] = np.round(local[: count // 2])
    return box.center + (local * box.half_extents) @ box.rotation.T


def encloses_all(box: Obb, points: list[exact.Vector]) -> bool:
    """Return whether points are exactly between the planes of the faces of the float64 box."""
    center, half = exact.vector(box.center), exact.vector(box.half_extents)
    axes = [exact.vector(axis) for axis in box.rotation.T]
    return all(
        abs(exact.dot(exact.subtract(point, center), axis)) <= reach
        for point in points
        for axis, reach in zip(axes, half, strict=True)
    )


def exact_corners(box: Obb) -> list[exact.Vector]:
    return exact.ExactBox.of(box.center, box.half_extents, box.rotation).corners


def test_columns_of_rotation_are_axes_of_box():
    # Rotated about z by the angle of a 3-4-5 triangle, the long axis has the direction (0.8, 0.6, 0).
    box = Obb([1, 2, 3], [10, 1, 2], rotation_3_4_5(2))
    assert box.contains([1 + 8, 2 + 6, 3])
    assert not box.contains([1 + 8, 2 - 6, 3])
    assert box.contains([1 - 0.6, 2 + 0.8, 3 - 2])
    np.testing.assert_allclose(box.to_world(np.array([10.0, 0, 0])), [9, 8, 3], rtol=1e-15)
    np.testing.assert_allclose(box.to_local(np.array([9.0, 8, 3])), [10, 0, 0], atol=1e-15)


def test_bits_of_corner_index_select_positive_sides():
    box = Obb([1, 2, 3], [10, 1, 2], rotation_3_4_5(2))
    local = np.array([[10 if i & 1 else -10, 1 if i & 2 else -1, 2 if i & 4 else -2] for i in range(8)])
    np.testing.assert_allclose(box.corners(), [1, 2, 3] + local @ rotation_3_4_5(2).T, atol=1e-14)


def test_oriented_box_contains_points_inside_and_none_beyond_its_faces():
    rng = np.random.default_rng(0)
    box = random_shapes(Obb, rng, 200)
    for i in range(0, 200, 20):
        assert box[i].padded(1e-14).contains(points_inside(box[i], rng)).all()
    for axis in range(3):
        for side in (-1, 1):
            on_face = rng.uniform(-1, 1, (200, 3)) * box.half_extents
            on_face[:, axis] = side * box.half_extents[:, axis]
            beyond = on_face.copy()
            beyond[:, axis] += side * 1e-9
            assert box.padded(1e-14).contains(box.to_world(on_face)).all()
            assert not box.contains(box.to_world(beyond)).any()


@pytest.mark.smoke
def test_float32_rotation_is_made_orthonormal_to_float64():
    turns = random_rotations(np.random.default_rng(0), 100)
    box = Obb(np.zeros(3), np.ones(3), turns.astype(np.float32))
    gram = np.einsum("nji,njk->nik", box.rotation, box.rotation)
    assert np.abs(gram - np.eye(3)).max() <= 1e-15
    assert np.abs(box.rotation - turns).max() < 2e-7
    assert np.linalg.det(box.rotation).min() > 0
    # A rotation that is orthonormal already is returned unchanged.
    assert Obb([0, 0, 0], [1, 1, 1], np.eye(3)[[1, 2, 0]]).rotation.tolist() == np.eye(3)[[1, 2, 0]].tolist()


def test_padding_moves_faces_of_oriented_box_outward():
    box = Obb([0, 0, 0], [1, 2, 3], rotation_3_4_5(1))
    assert box.padded(0.5).half_extents.tolist() == [1.5, 2.5, 3.5]
    assert box.padded([0, -1]).half_extents.tolist() == [[1, 2, 3], [0, 1, 2]]
    np.testing.assert_array_equal(box.padded(2).rotation, box.rotation)


def test_axis_aligned_box_converted_to_oriented_box_has_same_extent():
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
def test_merged_oriented_box_encloses_corners_of_both_in_exact_arithmetic(distance, flat):
    rng = np.random.default_rng(2)
    a, b = random_shapes(Obb, rng, 40), random_shapes(Obb, rng, 40)
    extents = [box.half_extents * ((rng.random((40, 3)) < 0.5) if flat else 1) for box in (a, b)]
    a = Obb(a.center + distance, extents[0], a.rotation)
    b = Obb(b.center + distance, extents[1], b.rotation)
    merged = a.merged(b)
    np.testing.assert_allclose(merged.rotation, a.rotation, atol=1e-15)
    for i in range(40):
        for box in (a[i], b[i]):
            assert encloses_all(merged[i], exact_corners(box))
    # It is the smallest box with those axes, to rounding.
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
    "turned": random_rotations(np.random.default_rng(4), 1)[0],
    "scaled": np.diag([3.0, 3, 3]),
    "scaled along the axes": np.diag([0.1, 20, 3]),
    "mirrored": np.diag([-1.0, 1, 1]),
    "mirrored and turned": -random_rotations(np.random.default_rng(5), 1)[0],
    "sheared": np.array([[1.0, 0.8, 0], [0, 1, 0.3], [0, 0, 1]]),
    "sheared to almost nothing": np.array([[1.0, 1, 1], [1, 1 + 1e-9, 1], [1, 1, 1 - 1e-9]]),
    "stretched across": random_rotations(np.random.default_rng(6), 1)[0] @ np.diag([1, 50, 0.02]),
    "flattened": np.diag([1.0, 1, 0]),
    "flattened aslant": random_rotations(np.random.default_rng(7), 1)[0] @ np.diag([0, 1.0, 2]),
    "a line": np.outer([1.0, 2, 3], [1, -1, 2]),
    "a point": np.zeros((3, 3)),
    "large": np.diag([1e150, -1e150, 1e149]),
    "small": np.diag([1e-150, 1e-150, -1e-149]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("half", [[1, 2, 0.5], [1, 0, 0.5], [0, 0, 1e-9], [0, 0, 0]], ids=str)
def test_transformed_oriented_box_encloses_image(name, half):
    rng = np.random.default_rng(8)
    size = np.abs(LINEAR[name]).max() or 1.0
    for turn in (np.eye(3), rotation_3_4_5(2), random_rotations(rng, 1)[0]):
        box = Obb(rng.normal(size=3), half, turn)
        matrix = affine(LINEAR[name], rng.normal(size=3) * size)
        image = box.transformed(matrix)
        assert np.abs(image.rotation.T @ image.rotation - np.eye(3)).max() < 1e-14
        assert np.linalg.det(image.rotation) > 0
        # The exact image of the float64 box.
        assert encloses_all(image, [exact.affine_image(matrix, corner) for corner in exact_corners(box)])


@pytest.mark.parametrize("name", ["turned", "scaled", "mirrored", "mirrored and turned"])
def test_transformed_oriented_box_is_tight_if_image_is_box(name):
    rng = np.random.default_rng(9)
    box = random_shapes(Obb, rng, 50)
    image = box.transformed(affine(LINEAR[name]))
    stretch = np.linalg.norm(LINEAR[name][0])
    np.testing.assert_allclose(image.half_extents, box.half_extents * stretch, rtol=0, atol=4e-14)
    corners = image.corners()
    for corner in np.moveaxis(box.corners() @ LINEAR[name].T, 1, 0):
        assert (np.linalg.norm(corners - corner[:, None], axis=2).min(axis=1) < 1e-13).all()


def test_scale_along_axes_of_oriented_box_keeps_it_tight():
    turn = rotation_3_4_5(0) @ rotation_3_4_5(2)
    box = Obb([1, 2, 3], [1, 2, 3], turn)
    stretch = affine(turn @ np.diag([5, 0.25, 2]) @ turn.T)
    np.testing.assert_allclose(box.transformed(stretch).half_extents, [5, 0.5, 6], atol=1e-13)


def test_sheared_box_keeps_direction_of_longest_side():
    # (x, y, z) -> (x + y, y, z): the side along x, 4, stays; the one along y is sheared by 45 degrees.
    box = Obb([0, 0, 0], [4, 1, 1], np.eye(3)).transformed(affine([[1, 1, 0], [0, 1, 0], [0, 0, 1]]))
    np.testing.assert_allclose(np.abs(box.rotation), np.eye(3), atol=1e-15)
    np.testing.assert_allclose(box.half_extents, [5, 1, 1], rtol=1e-14)


@pytest.mark.parametrize("kind", [Sphere, Aabb, Obb, Segment, Triangle])
def test_batch_of_matrices_gives_same_result_as_single_matrices(kind):
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
            for name in alone.field_shapes:
                np.testing.assert_allclose(getattr(table[i, j], name), getattr(alone, name), atol=1e-14)
