"""URDF: angles, capsules and cylinders."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from addon.core.numeric.arrays import rotation_matrix
from addon.formats.export.robotics.link_shapes import roll_pitch_yaw
from tests.formats.export.robotics.robot_files import (
    box_part,
    document_of_parts,
    read_mjcf,
    read_urdf,
    rotation_by_angles,
    text_of,
    union_outside,
)
from tests.tiers import times


def assert_same_rotation(matrix: np.ndarray) -> None:
    np.testing.assert_allclose(rotation_by_angles(roll_pitch_yaw(matrix)), matrix, rtol=0, atol=2e-15)


@pytest.mark.parametrize("seed", range(times(40)))
def test_angles_give_the_rotation(seed):
    assert_same_rotation(rotation_matrix(np.random.default_rng(seed).normal(size=4)))


@pytest.mark.parametrize("seed", range(times(40)))
@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_angles_give_the_rotation_near_a_pitch_of_90_degrees(seed, pitch):
    random = np.random.default_rng(seed)
    for offset in (0.0, 1e-16, 1e-12, 1e-8, 1e-4):
        angles = np.array([random.uniform(-3, 3), pitch - np.sign(pitch) * offset, random.uniform(-3, 3)])
        assert_same_rotation(rotation_by_angles(angles))


def test_angles_of_all_24_rotations_of_a_cube():
    for order in itertools.permutations(range(3)):
        for signs in itertools.product((-1.0, 1.0), repeat=3):
            matrix = np.eye(3)[list(order)] * np.array(signs)[:, None]
            if np.linalg.det(matrix) > 0:
                assert_same_rotation(matrix)


def axial_document(kind: str, axis: np.ndarray, half_length: float, radius: float) -> dict:
    """Document of a child whose shape is a capsule or a cylinder, far from the axes of its parent."""
    parts = [
        box_part("A", None, (1, 2, 3), (0.5, 0.1, 0.7, 0.2)),
        box_part("B", "A", (4, 1, 2), (0.1, 0.9, 0.3, 0.2)),
    ]
    document = document_of_parts(parts, "sphere")
    center = np.array([4.5, 1.25, 2.0])
    shape = {"center": list(center), "axis": list(axis), "halfLength": half_length, "radius": radius}
    document["objects"][1]["world"] = {kind: shape}
    document["objects"][1]["local"] = {kind: shape}
    return document


def surface_points(kind: str, axis: np.ndarray, half_length: float, radius: float) -> np.ndarray:
    """Points (n, 3) on a capsule or cylinder around (4.5, 1.25, 2)."""
    side = np.cross(axis, (0.3, 0.9, 0.1))
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    turns = np.linspace(0, 2 * np.pi, 12)[:, None]
    ring = radius * (np.cos(turns) * side + np.sin(turns) * other)
    ends = [ring + sign * half_length * axis for sign in (-1, 1)]
    if kind == "capsule":
        ends += [sign * (half_length + radius) * axis[None] for sign in (-1, 1)]
    return np.array([4.5, 1.25, 2.0]) + np.concatenate(ends)


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
@pytest.mark.parametrize("read", [read_urdf, read_mjcf])
@pytest.mark.parametrize(
    "axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.6, 0, -0.8), (2 / 7, 3 / 7, 6 / 7)]
)
def test_capsules_and_cylinders_enclose_their_points(kind, read, axis):
    axis = np.array(axis, dtype=float)
    document = axial_document(kind, np.around(axis, 9), 1.5, 0.25)
    solids, _ = read(text_of(document, "urdf" if read is read_urdf else "mjcf"))
    kinds = sorted(solid.kind for solid in solids["B"])
    assert kinds == (["cylinder", "sphere", "sphere"] if (read, kind) == (read_urdf, "capsule") else [kind])
    # An axis of a document has nine decimals, and its error is not part of this test.
    points = surface_points(kind, np.around(axis, 9) / np.linalg.norm(np.around(axis, 9)), 1.5, 0.25)
    outside = union_outside(solids["B"], points)
    assert outside.min() >= -1e-8 and outside.max() <= 4e-15


@pytest.mark.parametrize("kind", ["capsule", "cylinder"])
def test_capsules_and_cylinders_without_length_or_radius_get_some(kind):
    for half_length, radius in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.0)):
        document = axial_document(kind, np.array([0.0, 0.0, 1.0]), half_length, radius)
        (solid,) = read_mjcf(text_of(document, "mjcf"))[0]["B"]
        assert min(solid.sizes) >= 0.0005
        assert max(solid.sizes) == pytest.approx(max(half_length, radius, 0.0005), rel=1e-9)
