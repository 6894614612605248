"""Kinds of shapes: one table, and an error for every other name."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

from addon.scene.blender.mesh_data import Geometry, decompose_matrices
from addon.scene.fitting.fit import fit_many, plain_shapes
from addon.scene.fitting.fit_cache import new_fits
from addon.scene.fitting.parts import PartVertices
from addon.scene.settings import (
    BOUND_SHAPES,
    SCANNED_SHAPES,
    SHAPE_KINDS,
    SHAPES_OF_TRIANGLES,
    DrawnShape,
    FitSettings,
)
from addon.scene.subjects.reader import SubjectGeometry

CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float32)


def test_table_lists_every_kind_once():
    plain, detailed = ["sphere", "aabb", "obb"], ["spheres", "hull", "capsule", "cylinder", "compound"]
    assert list(BOUND_SHAPES) == [*plain, *detailed]
    # Meshes are no choice: contacts are verified on them.
    assert set(SHAPE_KINDS) == {*BOUND_SHAPES, *SCANNED_SHAPES, "mesh"}
    fitted_again = {name for name, kind in SHAPE_KINDS.items() if kind.fitted_as is not None}
    assert fitted_again == {*SCANNED_SHAPES, "cylinder", "mesh"}
    assert [name for name, kind in SHAPE_KINDS.items() if kind.is_plain] == ["sphere", "aabb", "obb"]


def test_unknown_kind_raises():
    with pytest.raises(KeyError):
        plain_shapes(("ball",), FitSettings())  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", ["ball", "spheres", "hull"])
def test_fit_raises_for_kind_that_is_not_plain(shape):
    piece = SubjectGeometry.of(0, Geometry(CUBE, np.eye(4)), FitSettings())
    placements, _ = decompose_matrices(np.eye(4)[None])
    with pytest.raises(KeyError, match=shape):
        fit_many([piece._replace(placements=placements)], (shape,))


@pytest.mark.parametrize("shape", ["ball", "hull"])
def test_fit_cache_raises_for_kind_that_cannot_be_scanned(shape):
    with pytest.raises(ValueError, match=shape):
        new_fits(1, shape, FitSettings(), None)


def test_viewport_shows_what_it_can_fit_again_at_each_frame():
    shown = [name for name, kind in SHAPE_KINDS.items() if kind.switch]
    assert shown == ["sphere", "aabb", "obb", "spheres", "capsule", "cylinder", "compound"]
    assert {*shown, "mesh"} == set(get_args(DrawnShape))
    for name in shown:
        groups = [PartVertices.whole(8)] if name in SHAPES_OF_TRIANGLES else None
        fits = new_fits(1, name, FitSettings(), groups)
        assert not fits.fit([0], [Geometry(CUBE, np.eye(4))])
