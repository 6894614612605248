"""Tests of the consistency of hulls, on surfaces whose one defect is known by construction."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.fitting.hull_surface import hull_defect

CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def torus(around: int = 6, across: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of a torus: closed and in one piece, but not like a ball."""
    i, j = (index.reshape(-1) for index in np.meshgrid(range(around), range(across), indexing="ij"))
    u, v = 2 * np.pi * i / around, 2 * np.pi * j / across
    vertices = np.stack([(3 + np.cos(v)) * np.cos(u), (3 + np.cos(v)) * np.sin(u), np.sin(v)], axis=1)
    right, up = (i + 1) % around * across + j, i * across + (j + 1) % across
    both = (i + 1) % around * across + (j + 1) % across
    here = i * across + j
    return vertices, np.concatenate([np.stack([here, right, both], 1), np.stack([here, both, up], 1)])


def octahedron(top: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return an octahedron whose upper vertex is at a height; below 0 it is not convex."""
    vertices = np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, top], [0, 0, -1]])
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    return vertices, np.array([(a, b, 4) for a, b in ring] + [(b, a, 5) for a, b in ring])


@pytest.mark.parametrize("size", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize(
    ("vertices", "faces"), [(CORNERS, FACES), octahedron()], ids=["tetrahedron", "octahedron"]
)
def test_convex_surfaces_of_any_size_have_no_defect(vertices, faces, size):
    assert hull_defect(vertices * size, faces) == ""


@pytest.mark.parametrize(
    ("vertices", "faces", "defect"),
    [
        (np.concatenate([CORNERS, [[9.0, 9, 9]]]), FACES, "vertices: vertex 4 is in no face"),
        (CORNERS, FACES[:3], "faces: are not a closed surface"),
        (CORNERS, np.concatenate([FACES[:3], FACES[3:, ::-1]]), "faces: are not a closed surface"),
        (
            np.concatenate([CORNERS, CORNERS + 5]),
            np.concatenate([FACES, FACES + 4]),
            "faces: are several surfaces",
        ),
        (*torus(), "faces: are not a surface like that of a ball"),
        (CORNERS, FACES[:, ::-1], "faces: are clockwise as seen from outside"),
        (*octahedron(-0.5), "faces: are not convex"),
    ],
    ids=["unused vertex", "open", "one face reversed", "two pieces", "torus", "clockwise", "dent"],
)
def test_defect_is_named(vertices, faces, defect):
    assert hull_defect(vertices, faces) == defect
