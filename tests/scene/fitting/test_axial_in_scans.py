"""Capsules and cylinders that scans test, against those of documents."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.fitting.convex_hull import run_hull_steps
from addon.scene.blender.mesh_data import Geometry, decompose_matrices
from addon.scene.fitting.fit_columns import PosedVertices, fit_along_lines
from addon.scene.jobs.detailed_shapes import detailed_shapes
from addon.scene.settings import FitSettings
from addon.scene.subjects.reader import SubjectGeometry
from tests.core.scenes import random_rotations


@pytest.mark.parametrize("shape", ["capsule", "cylinder"])
@pytest.mark.parametrize("seed", range(12))
def test_shapes_of_scans_are_those_of_documents(shape, seed):
    rng = np.random.default_rng(seed)
    matrix = np.eye(4)
    matrix[:3, :3] = random_rotations(rng, 1)[0] * rng.uniform(0.5, 2, 3)
    # Boxes have several axes that are nearly as good.
    corners = np.indices((2, 2, 2)).reshape(3, -1).T * rng.uniform(0.1, 2, 3) - 0.5
    points = corners.astype(np.float32)
    posed = PosedVertices(np.array([0]), [points], matrix[None, :3, :3])
    found = fit_along_lines(shape, posed, np.zeros(1), {})
    piece = SubjectGeometry.of(0, Geometry(points, matrix), FitSettings(), np.empty((0, 3), dtype=np.int32))
    piece = piece._replace(placements=decompose_matrices(matrix[None])[0])
    _, (expected,) = run_hull_steps(detailed_shapes(piece, (shape,)))
    assert found.radius[0] == pytest.approx(expected.radius, rel=1e-9)
    assert found.half_length[0] == pytest.approx(expected.half_length, rel=1e-9, abs=1e-9)
    assert found.center[0] == pytest.approx(expected.center, abs=1e-9)
    assert abs(found.axis[0] @ expected.axis) == pytest.approx(1)
