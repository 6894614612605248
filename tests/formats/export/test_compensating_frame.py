"""Tests of the frame of a child node that undoes scale and shear of its parent."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core.numeric.arrays import rotation_matrix
from addon.formats import GltfError
from addon.formats.export.gltf_collider_nodes import compensating_frame, node_matrix

TURN = rotation_matrix([0.9, 0.1, -0.3, 0.2])
SHEAR = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.2], [0.1, 0.0, 1.0]])


@pytest.mark.parametrize(
    "linear",
    [TURN, TURN * [0.5, 2.0, 3.0], TURN * [-1.0, 2.0, 3.0], TURN @ SHEAR, TURN @ SHEAR * [1.0, -2.0, 1.0]],
    ids=["rotation", "scale", "mirror", "shear", "mirrored shear"],
)
def test_world_transform_of_child_is_a_rotation(linear):
    frame = compensating_frame(linear)
    world = linear @ node_matrix(np.zeros(3), frame.rotation, frame.scale)[:3, :3]
    # The frame is in single precision.
    np.testing.assert_allclose(world.T @ world, np.eye(3), atol=2e-6)
    assert np.linalg.det(world) > 0


@pytest.mark.parametrize(
    "linear",
    [
        TURN * [1.0, 0.0, 1.0],
        np.zeros((3, 3)),
        np.array([[1.0, 1, 0], [0, 0, 1], [0, 0, 1]]),
        np.full((3, 3), np.inf),
    ],
    ids=["flat", "zero", "parallel columns", "infinite"],
)
def test_scale_of_zero_cannot_be_undone(linear):
    with pytest.raises(GltfError, match="scale is 0 along an axis"):
        compensating_frame(linear)
