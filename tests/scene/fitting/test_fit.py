"""Shapes of instances with the same linear part: fitted once, and moved."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import NonFiniteGeometryError, Sphere
from addon.core.numeric.arrays import transform_vectors
from addon.scene.blender.mesh_data import decompose_matrices
from addon.scene.fitting.fit import fit_many, fit_repeated
from addon.scene.settings import FitSettings
from addon.scene.subjects.reader import NO_TRIANGLES, SubjectGeometry
from tests.tiers import times

SHAPES = ("sphere", "aabb", "obb")


def placed_points(points, linear, translations, radius=0.0):
    """Points at translations, with the linear part of each."""
    matrices = np.tile(np.eye(4), (len(translations), 1, 1))
    matrices[:, :3, :3], matrices[:, :3, 3] = linear, translations
    matrices = matrices.astype(np.float32).astype(np.float64)
    subjects = np.arange(len(matrices))
    geometry = SubjectGeometry(subjects, matrices, points, radius, FitSettings(), NO_TRIANGLES)
    return geometry._replace(placements=decompose_matrices(matrices)[0])


def world_points(source):
    """World positions (m, n, 3) in float64, as documents are read."""
    matrices, points = source.matrices, source.points.astype(np.float64)
    return transform_vectors(matrices[:, None, :3, :3], points) + matrices[:, None, :3, 3]


def fitted(source, settings, kinds):
    """Local and world shapes fitted once for each linear part, and each by itself."""
    kind_of = np.array(kinds)
    first = np.unique(kind_of, return_index=True)[1]
    source = source._replace(fit=settings)
    (alone,), errors = fit_many([source], SHAPES)
    assert not errors
    return fit_repeated(source, first, kind_of, SHAPES), tuple(alone[1:])


@pytest.mark.parametrize("axes", ["checked", "world"])
def test_each_shape_encloses_the_rounded_vertices_of_each_instance(axes):
    for seed in range(times(10, full=125)):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(int(rng.integers(1, 40)), 3)).astype(np.float32)
        kinds = rng.integers(0, 3, 50)
        kinds[:3] = range(3)
        far = 10.0 ** rng.integers(-3, 8)
        source = placed_points(points, rng.normal(size=(3, 3, 3))[kinds], far * rng.normal(size=(50, 3)))
        settings = FitSettings(axes=axes)
        (local, world), (alone_local, alone_world) = fitted(source, settings, kinds)
        positions = world_points(source)
        for shape in world[:2]:
            inside = [shape[row].contains(positions[row]).all() for row in range(len(positions))]
            assert all(inside)
        scale = far + 10
        for shape, alone in (*zip(local, alone_local, strict=True), *zip(world, alone_world, strict=True)):
            for name in shape.field_shapes:
                np.testing.assert_allclose(
                    getattr(shape, name), getattr(alone, name), atol=1e-12 * scale, rtol=0
                )


def test_shapes_are_the_same_to_the_bit_where_all_sums_are_exact():
    rng = np.random.default_rng(2)
    points = (rng.integers(-64, 65, (30, 3)) / 32).astype(np.float32)
    corners = np.array([(x, y, z) for x in (-3, 3) for y in (-3, 3) for z in (-3, 3)], dtype=np.float32)
    source = placed_points(
        np.concatenate([points, corners]), np.eye(3)[[1, 2, 0]], rng.integers(-99, 99, (40, 3)) / 4
    )
    thick = source._replace(radius=0.25)
    for settings in (FitSettings(), FitSettings(padding=0.5), FitSettings(axes="world")):
        once, alone = fitted(thick, settings, [0] * 40)
        for shapes, expected in zip(once, alone, strict=True):
            for shape, other in zip(shapes, expected, strict=True):
                for name in shape.field_shapes:
                    np.testing.assert_array_equal(getattr(shape, name), getattr(other, name))


def test_a_sphere_grows_by_no_more_than_roundings_where_sums_are_not_exact():
    points = np.random.default_rng(5).normal(size=(20, 3)).astype(np.float32)
    source = placed_points(points, np.eye(3) * 0.3, np.array([[0.0, 0, 0], [1000.1, 0, 0], [1e6, 0, 0]]))
    (_, world), _ = fitted(source, FitSettings(), [0, 0, 0])
    sphere = world[0]
    assert isinstance(sphere, Sphere)
    growth = sphere.radius - sphere.radius[0]
    assert growth[1] > 0 and (growth <= 20 * np.spacing([10, 1010, 1e6 + 10])).all()


def test_vertices_that_are_not_finite_raise_an_error():
    source = placed_points(np.array([[np.nan, 0, 0]], dtype=np.float32), np.eye(3), np.zeros((4, 3)))
    with pytest.raises(NonFiniteGeometryError):
        fit_repeated(source, np.array([0]), np.zeros(4, dtype=int), SHAPES)
