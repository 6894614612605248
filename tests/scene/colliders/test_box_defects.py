"""Sentences why a surface is no box do not depend on the order of faces, or on rounding."""

from __future__ import annotations

import numpy as np
import pytest

from addon.scene.colliders.check_rules import box_defect
from addon.scene.colliders.containment import ObjectSurface
from tests.scene.building import CUBE
from tests.scene.colliders.checking import TETRAHEDRON, TETRAHEDRON_FACES
from tests.scene.enclosing import cube_faces

NO_EDGES = np.empty((0, 2), dtype=np.int64)
CUBE_TRIANGLES = [(face[0], face[k], face[k + 1]) for face in cube_faces() for k in (1, 2)]
ROTATION = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
TOP = CUBE[:, 2:] > 0
MANY = "its faces have more than three directions"
SHEARED = "its sides are not at right angles"


def defect(points: np.ndarray, triangles: list) -> str:
    return box_defect(ObjectSurface(points, np.array(triangles), NO_EDGES, np.eye(4)), 1.0)


@pytest.mark.parametrize(
    ("points", "triangles", "expected"),
    [
        pytest.param(CUBE, CUBE_TRIANGLES, "", id="box"),
        pytest.param(TETRAHEDRON, TETRAHEDRON_FACES, MANY, id="tetrahedron"),
        # The top is smaller than the bottom, so that only these two are parallel.
        pytest.param(CUBE * np.where(CUBE[:, 2:] > 0, (0.5, 0.5, 1), 1), CUBE_TRIANGLES, MANY, id="frustum"),
        # The top is tilted, so that it is not parallel to the bottom.
        pytest.param(CUBE + TOP * CUBE[:, :1] * [0, 0, 0.2], CUBE_TRIANGLES, MANY, id="wedge"),
        pytest.param(CUBE + TOP * [0.2, 0, 0], CUBE_TRIANGLES, SHEARED, id="sheared"),
        pytest.param(CUBE, CUBE_TRIANGLES[2:], "a face has no opposite face", id="open"),
    ],
)
def test_order_of_faces_does_not_matter(points, triangles, expected):
    random = np.random.default_rng(0)
    for _ in range(30):
        order = random.permutation(len(triangles))
        assert defect(points @ ROTATION.T, [triangles[row] for row in order]) == expected


def test_rounding_of_faces_without_an_area_does_not_matter():
    """Vertices in line have faces whose normals are due to rounding alone."""
    random = np.random.default_rng(1)
    for split in (1 / 3, 1 / 4, 0.3):
        # An edge of the cube from 0 to 1 with a vertex on it, and a triangle between the three.
        between = CUBE[0] + split * (CUBE[1] - CUBE[0])
        points = (np.vstack([CUBE, between]) @ ROTATION.T + [1000, -300, 100]).astype(np.float32)
        found = {
            defect(points * (1 + random.uniform(-3e-16, 3e-16, points.shape)), [(0, 8, 1), *CUBE_TRIANGLES])
            for _ in range(30)
        }
        assert len(found) == 1
