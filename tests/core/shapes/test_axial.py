"""Capsules and cylinders: containment, padding, boxes and transforms, against points on their surfaces."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Capsule, Cylinder, InvalidShapeError, NonFiniteGeometryError
from addon.core.shapes import VOLUMES, BoundingVolume
from tests.core.scenes import affine, random_rotations

KINDS = [Capsule, Cylinder]


def random_shape(kind, seed: int):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    return kind(rng.normal(size=3) * 10, axis / np.linalg.norm(axis), *rng.uniform(0.1, 3, 2))


def surface_points(shape, rng: np.random.Generator, count: int = 2000) -> np.ndarray:
    """Points on the surface, by its definition in plain NumPy."""
    axis = np.asarray(shape.axis)
    frame = np.linalg.qr(np.column_stack([axis, rng.normal(size=(3, 2))]))[0]
    side, other = frame[:, 1], frame[:, 2]
    angle = rng.uniform(0, 2 * np.pi, count)[:, None]
    around = np.cos(angle) * side + np.sin(angle) * other
    if isinstance(shape, Cylinder):
        along = rng.uniform(-1, 1, (count, 1)) * shape.half_length
        reach = np.full((count, 1), float(shape.radius))
        # A third on each end.
        along[: count // 3], along[-count // 3 :] = shape.half_length, -shape.half_length
        reach[: count // 4] *= np.sqrt(rng.uniform(size=(count // 4, 1)))
        return shape.center + along * axis + reach * around
    ball = rng.normal(size=(count, 3))
    ball *= shape.radius / np.linalg.norm(ball, axis=1, keepdims=True)
    end = np.where((ball @ axis > 0)[:, None], shape.half_length, -shape.half_length) * axis
    return shape.center + end + ball


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_shape_contains_points_within_its_surface_and_none_beyond(kind, seed):
    shape = random_shape(kind, seed)
    points = surface_points(shape, np.random.default_rng(seed))
    assert shape.contains(shape.center + (points - shape.center) * (1 - 1e-9)).all()
    assert not shape.contains(shape.center + (points - shape.center) * (1 + 1e-9)).any()


@pytest.mark.smoke
@pytest.mark.parametrize("kind", KINDS)
def test_box_around_shape_is_tight(kind):
    for seed in range(6):
        shape = random_shape(kind, seed)
        points = surface_points(shape, np.random.default_rng(seed), 60_000)
        box = shape.aabb()
        assert (points >= box.min).all() and (points <= box.max).all()
        size = float(shape.radius + shape.half_length)
        assert np.abs(points.min(axis=0) - box.min).max() < 0.01 * size
        assert np.abs(points.max(axis=0) - box.max).max() < 0.01 * size


def test_box_of_cylinder_along_an_axis_is_exact():
    box = Cylinder([1, 2, 3], [0, 0, 1], 2, 0.5).aabb()
    np.testing.assert_allclose([box.min, box.max], [[0.5, 1.5, 1], [1.5, 2.5, 5]], rtol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_transformed_shape_encloses_image_under_scale_and_shear(kind, seed):
    rng = np.random.default_rng(seed)
    shape = random_shape(kind, seed)
    matrix = affine(rng.normal(size=(3, 3)) * rng.uniform(0.1, 3, 3), rng.normal(size=3))
    points = surface_points(shape, rng)
    assert shape.transformed(matrix).contains(points @ matrix[:3, :3].T + matrix[:3, 3]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rigid_motion_with_uniform_scale_transforms_shape_exactly(kind):
    rotation = random_rotations(np.random.default_rng(0), 1)[0]
    shape = random_shape(kind, 1)
    moved = shape.transformed(affine(2 * rotation, [1.0, 2, 3]))
    np.testing.assert_allclose(moved.center, 2 * rotation @ shape.center + [1, 2, 3], rtol=1e-13)
    np.testing.assert_allclose(moved.axis, rotation @ shape.axis, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(moved.radius, 2 * shape.radius, rtol=1e-13)
    np.testing.assert_allclose(moved.half_length, 2 * shape.half_length, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
def test_padding_grows_on_every_side_and_cannot_exceed_the_size(kind):
    shape = random_shape(kind, 3)
    points = surface_points(shape, np.random.default_rng(0))
    outward = points + 0.249 * (points - shape.center) / np.linalg.norm(
        points - shape.center, axis=1, keepdims=True
    )
    assert shape.padded(0.25).contains(outward).all()
    with pytest.raises(InvalidShapeError, match="negative"):
        shape.padded(-100)


def test_volumes_are_those_of_the_formulas():
    assert Capsule([0, 0, 0], [0, 0, 1], 2, 1).volume == pytest.approx(4 * np.pi + 4 / 3 * np.pi)
    assert Cylinder([0, 0, 0], [0, 0, 1], 2, 1).volume == pytest.approx(4 * np.pi)


@pytest.mark.parametrize("kind", KINDS)
def test_ends_make_the_same_shape(kind):
    shape = random_shape(kind, 5)
    again = kind.between(shape.start, shape.end, shape.radius)
    np.testing.assert_allclose(again.center, shape.center, rtol=1e-13)
    np.testing.assert_allclose(again.axis, shape.axis, rtol=1e-13)
    np.testing.assert_allclose(again.half_length, shape.half_length, rtol=1e-13)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (([0, 0, 0], [0, 0, 2], 1, 1), r"axis: element \(\) is not of length 1"),
        (([0, 0, 0], [0, 0, 0], 1, 1), r"axis: element \(\) is not of length 1"),
        (([0, 0, 0], [0, 0, 1], [1, -1], 1), r"half length: element \(1,\) is negative"),
        (([0, 0, 0], [0, 0, 1], 1, -1), r"radius: element \(\) is negative"),
    ],
)
def test_invalid_fields_are_named(kind, fields, message):
    with pytest.raises(InvalidShapeError, match=message):
        kind(*fields)


def test_infinite_center_is_named():
    with pytest.raises(NonFiniteGeometryError, match="capsule center"):
        Capsule([0, np.inf, 0], [0, 0, 1], 1, 1)


def test_type_with_a_vector_of_unknown_role_is_refused():
    with pytest.raises(TypeError, match="Lens: unknown fields apex"):
        type("Lens", (BoundingVolume,), {"name": "lens", "field_shapes": {"apex": (3,), "radius": ()}})
    assert "lens" not in VOLUMES


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_shape_is_the_hull_of_its_balls(kind, seed):
    shape = random_shape(kind, seed)
    points = surface_points(shape, np.random.default_rng(seed))
    centers, radii, normals = shape.balls()
    for direction in random_rotations(np.random.default_rng(seed), 5).reshape(-1, 3):
        across = np.linalg.norm(direction - (normals @ direction)[:, None] * normals, axis=1)
        reach = (centers @ direction + radii * across).max()
        highest = (points @ direction).max()
        assert highest <= reach + 1e-9
        assert highest >= reach - 0.2
