"""Meshes of subjects as their shapes: shared trees, vertices that move, custom shapes, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import EmptyGeometryError, NonFiniteGeometryError
from addon.core.distance.meshes import separation_meshes
from addon.core.numeric.arrays import transform_points
from addon.scene.blender.mesh_data import Geometry
from addon.scene.fitting.mesh_fits import MeshFits, Obstacles
from addon.scene.settings import FitSettings

POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [9, 9, 9]], dtype=np.float32)
TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
"""Faces of four of the points; the last one is loose."""


def fits_of(count: int, deforms: bool = False, **settings) -> MeshFits:
    return MeshFits(
        [FitSettings(**settings)] * count, np.full(count, deforms), Obstacles(np.full(count, False))
    )


def moved(x: float, scale: tuple[float, float, float] = (1, 1, 1)) -> np.ndarray:
    matrix = np.diag([*scale, 1.0])
    matrix[0, 3] = x
    return matrix


def world_corners(fits: MeshFits, subject: int, matrix: np.ndarray) -> np.ndarray:
    shapes, errors = fits.shapes_at(np.array([subject]), matrix[None])
    assert not errors
    return transform_points(shapes.matrix[0], shapes.nodes[0].corners)


def test_subjects_with_equal_meshes_share_one_tree_around_the_vertices_of_faces():
    fits = fits_of(3)
    for subject in range(3):
        fits.set_triangles(subject, POINTS, TETRAHEDRON, None)
    other = POINTS * np.float32(2)
    assert not fits.fit([0, 1, 2], [Geometry(each, np.eye(4)) for each in (POINTS, POINTS.copy(), other)])
    shapes, _ = fits.shapes_at(np.arange(3), np.stack([moved(0), moved(5), moved(9)]))
    assert shapes.nodes[0] is shapes.nodes[1] is not shapes.nodes[2]
    np.testing.assert_allclose(shapes.aabb().max, [[1, 1, 1], [6, 1, 1], [11, 2, 2]], rtol=1e-12)


def test_mesh_that_deforms_keeps_its_tree_and_returns_to_the_first_one():
    fits = fits_of(1, deforms=True)
    fits.set_triangles(0, POINTS, TETRAHEDRON, None)
    fits.fit([0], [Geometry(POINTS, np.eye(4))])
    first = world_corners(fits, 0, moved(0))
    bent = POINTS + np.float32([[0, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 2], [0, 0, 0]])
    fits.fit([0], [Geometry(bent, np.eye(4))])
    shapes, _ = fits.shapes_at(np.array([0]), moved(3)[None])
    assert shapes.deforms.all()
    found = world_corners(fits, 0, moved(3))
    np.testing.assert_array_equal(np.sort(found.reshape(-1, 3), axis=0)[-1], [4, 1, 3])
    assert fits.is_fitted_to(0, bent) and not fits.is_fitted_to(0, POINTS)
    fits.restart([0])
    assert not fits.is_fitted_to(0, bent), "the next vertices count, whatever they are"
    fits.fit([0], [Geometry(POINTS, np.eye(4))])
    np.testing.assert_array_equal(world_corners(fits, 0, moved(0)), first)


def test_custom_shapes_are_boxes_and_balls_that_a_scale_makes_larger():
    fits = fits_of(2)
    box = np.array([[x, y, z] for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], dtype=np.float32)
    fits.fit([0, 1], [Geometry(box, np.eye(4)), Geometry(np.zeros((1, 3), np.float32), np.eye(4), 0.5)])
    shapes, _ = fits.shapes_at(np.arange(2), np.stack([moved(0), moved(4, (1, 1, 2))]))
    # The side of the box is at 1, and the ball about 4 has the radius 0.5 times its largest scale.
    assert separation_meshes(shapes[0], shapes[1]) == pytest.approx(4 - 1 - 2 * 0.5, abs=1e-12)


@pytest.mark.parametrize("padding", [-5.0, 0.7])
def test_padding_is_that_of_bounds(padding):
    fits = fits_of(1, padding=padding)
    fits.set_triangles(0, POINTS, TETRAHEDRON, None)
    fits.fit([0], [Geometry(POINTS, np.eye(4))])
    shapes, errors = fits.shapes_at(np.array([0]), np.eye(4)[None])
    assert not errors and (fits.padding >= 0).all()
    np.testing.assert_allclose(shapes.aabb().max, [[1, 1, 1]], rtol=1e-12)


def test_meshes_without_faces_or_with_vertices_nowhere_have_an_error_each():
    fits = fits_of(4)
    fits.set_triangles(0, POINTS, np.empty((0, 3), dtype=np.int32), None)
    for subject in (1, 2, 3):
        fits.set_triangles(subject, POINTS, TETRAHEDRON, None)
    nowhere = POINTS.copy()
    nowhere[1, 2] = np.nan
    given = (POINTS, nowhere, POINTS[:2], POINTS)
    errors = fits.fit([0, 1, 2, 3], [Geometry(points, np.eye(4)) for points in given])
    assert {subject: type(error) for subject, error in errors.items()} == {
        0: EmptyGeometryError,
        1: NonFiniteGeometryError,
        2: EmptyGeometryError,
    }
    assert fits.is_fitted.tolist() == [False, False, False, True]
    # A loose vertex may be anywhere.
    loose = POINTS.copy()
    loose[4] = np.inf
    assert not fits.fit([3], [Geometry(loose, np.eye(4))])
