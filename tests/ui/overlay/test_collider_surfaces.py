"""Triangles of collider surfaces."""

from __future__ import annotations

import numpy as np
import pytest
from mathutils import Matrix

from addon.ui.overlay.collider_surfaces import shaded_triangles
from addon.ui.overlay.unit_meshes import FACES, SurfaceMesh

VIOLET = (0.8, 0.4, 1.0, 0.3)
BOX = FACES["boxes"](4)


def triangles_of(matrix):
    drawn = shaded_triangles([BOX], np.array([matrix]), VIOLET)
    return drawn["pos"].reshape(-1, 3, 3).astype(float), drawn["color"].reshape(-1, 3, 4)


@pytest.mark.parametrize("scale", [(1, 2, 3), (-1, 2, 3)], ids=["plain", "mirrored"])
def test_triangles_are_counter_clockwise_from_outside_also_of_mirrored_object(scale):
    matrix = Matrix.LocRotScale((5, 6, 7), Matrix.Rotation(0.7, 3, "X"), scale)
    corners, _ = triangles_of(matrix)
    assert len(corners) == len(BOX.triangles)
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outward = corners.mean(axis=1) - (5, 6, 7)
    assert ((normals * outward).sum(axis=1) > 0).all()
    # Areas of a box of 2 x 4 x 6.
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(2 * (8 + 12 + 24), rel=1e-6)


def test_faces_have_the_color_shaded_by_direction_and_its_opacity():
    corners, colors = triangles_of(Matrix())
    assert (colors == colors[:, :1]).all(), "each triangle has one color"
    np.testing.assert_allclose(colors[..., 3], 0.3)
    brightness = colors[:, 0, :3] / np.array(VIOLET[:3])
    np.testing.assert_allclose(brightness, brightness[:, :1].repeat(3, axis=1), rtol=1e-5)
    is_top = corners[:, :, 2].min(axis=1) > 0.9
    assert brightness[is_top].min() > brightness[~is_top].max() and brightness.max() <= 1


def test_flat_triangle_without_area_has_a_finite_color():
    line = SurfaceMesh(np.zeros((3, 3), dtype=np.float32), np.array([[0, 1, 2]], dtype=np.int32))
    assert np.isfinite(shaded_triangles([line], np.eye(4)[None], VIOLET)["color"]).all()


def test_joined_surfaces_are_drawn_as_each_by_itself():
    wedge = SurfaceMesh(
        np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=np.float32),
        np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)], dtype=np.int32),
    )
    matrices = [
        Matrix.LocRotScale((5, 6, 7), Matrix.Rotation(0.7, 3, "X"), (1, 2, 3)),
        Matrix.LocRotScale((-4, 0, 2), Matrix.Rotation(-1.3, 3, "Y"), (-1, 1, 0.5)),
        Matrix.Translation((0, 0, 9)),
    ]
    surfaces = [BOX, wedge, BOX]
    drawn = shaded_triangles(surfaces, np.array(matrices), VIOLET)
    alone = [
        shaded_triangles([surface], np.array([matrix]), VIOLET)
        for surface, matrix in zip(surfaces, matrices, strict=True)
    ]
    for name in ("pos", "color"):
        np.testing.assert_allclose(drawn[name], np.concatenate([one[name] for one in alone]), rtol=1e-6)
