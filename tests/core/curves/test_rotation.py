"""Rotation matrices of all rotation modes, against products of single turns and Rodrigues' formula."""

import numpy as np
import pytest

from addon.core.curves.transforms import AXIS_ANGLE, EULER_ORDERS, QUATERNION, rotation_matrices

AXES = np.eye(3)


def turned(axis, angle):
    """Rodrigues' formula: matrix (3, 3) of a turn about a unit axis."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def matrix_of(mode, components):
    return rotation_matrices(np.array([mode]), np.array([components]))[0]


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_angles_turn_about_their_axes_one_after_the_other(order):
    angles = np.array([0.3, -1.2, 2.5])
    expected = np.eye(3)
    for letter in order:
        axis = "XYZ".index(letter)
        expected = turned(AXES[axis], angles[axis]) @ expected
    found = matrix_of(EULER_ORDERS.index(order), [*angles, 0])
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_quaternions_of_any_length_turn_about_their_axes():
    axis, angle = np.array([2, -1, 2]) / 3, 1.1
    unit = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
    for length in (1.0, -1.0, 7.5):
        np.testing.assert_allclose(matrix_of(QUATERNION, length * unit), turned(axis, angle), atol=1e-15)
    np.testing.assert_array_equal(matrix_of(QUATERNION, [0.0] * 4), np.eye(3))


def test_angles_about_axes_of_any_length():
    axis, angle = np.array([2, -1, 2]) / 3, 4.0
    np.testing.assert_allclose(matrix_of(AXIS_ANGLE, [angle, *(5 * axis)]), turned(axis, angle), atol=1e-15)
    np.testing.assert_array_equal(matrix_of(AXIS_ANGLE, [angle, 0, 0, 0]), np.eye(3))


def test_modes_mix_and_keep_their_type():
    rng = np.random.default_rng(1)
    modes, components = rng.integers(0, 8, 100), rng.normal(size=(100, 4))
    together = rotation_matrices(modes, components)
    for mode, each, matrix in zip(modes, components, together, strict=True):
        np.testing.assert_array_equal(matrix, matrix_of(mode, each))
    single = rotation_matrices(modes, components.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, together, atol=1e-6)
