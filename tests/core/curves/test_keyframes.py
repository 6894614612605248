"""Curves of keys: values at times against their definitions."""

import numpy as np
import pytest

from addon.core.curves.easings import EASING_CODES
from addon.core.curves.keyframes import BEZIER, CONSTANT, EASED, LINEAR
from tests.core.curves.random_curves import EASINGS, eased, one_curve, random_curves

TIMES = np.linspace(-5, 45, 401)


def test_handles_at_thirds_make_a_cubic_polynomial():
    # With handles at a third of the time, the parameter is the time, and the value is a Bernstein polynomial.
    controls = np.array([[0, 1.0], [3, 5.0], [6, -4.0], [9, 2.0]])
    curve = one_curve(controls[[0, 3]], right=controls[[1, 3]], left=controls[[0, 2]])
    times = np.linspace(0.01, 8.99, 200)
    s = times / 9
    weights = np.stack([(1 - s) ** 3, 3 * s * (1 - s) ** 2, 3 * s**2 * (1 - s), s**3])
    np.testing.assert_allclose(curve.values_at(times)[0], controls[:, 1] @ weights, atol=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_values_lie_on_the_bezier_curve(seed):
    """Points of the curve itself, by de Casteljau, are found again from their times."""
    rng = np.random.default_rng(seed)
    x = np.array([0, 3, 6, 9]) + rng.uniform(-1, 1, (200, 4))
    y = rng.uniform(-5, 5, (200, 4))
    for controls in np.stack([x, y], axis=-1).astype(np.float32):
        curve = one_curve(controls[[0, 3]], right=controls[[1, 3]], left=controls[[0, 2]])
        points = controls.astype(float)[None]
        s = np.linspace(0.05, 0.95, 7)[:, None, None]
        while points.shape[1] > 1:
            points = points[:, :-1] + s * (points[:, 1:] - points[:, :-1])
        times, values = points[:, 0].T
        steepness = np.abs(np.gradient(values, times)).max()
        # Blender rounds times and parameters to single precision.
        found = curve.values_at(times)[0]
        np.testing.assert_allclose(found, values, atol=1e-5 * max(1, steepness))


def test_kinds_of_segments():
    points = [[0, 1], [10, 5], [20, -3], [30, 7]]
    curve = one_curve(points, kind=np.array([LINEAR, CONSTANT, LINEAR, LINEAR]))
    times = np.array([-3, 0, 2.5, 10, 19.9, 20, 25, 30, 40])
    np.testing.assert_allclose(curve.values_at(times)[0], [1, 1, 2, 5, 5, -3, 2, 7, 7], rtol=1e-6)


@pytest.mark.parametrize("amplitude", [0, -2, 3, 20])
@pytest.mark.parametrize("period", [0, 2.5])
@pytest.mark.parametrize(("family", "mode"), EASINGS)
def test_values_of_easings_are_those_of_their_definitions(family, mode, period, amplitude):
    settings = 2.3, amplitude, period
    curve = one_curve([[2, 3], [12, -4]], kind=EASED + EASING_CODES[family, mode], settings=settings)
    times = np.linspace(2, 12, 300)[1:-1]
    expected = 3 - 7 * eased(family, mode, (times - 2) / 10, settings, (10, -7))
    # At the ends of circles the slope is infinite, and single precision moves times by 1e-6.
    atol = 2e-3 if family == "CIRC" else 1e-4 if family == "ELASTIC" else 1e-5
    np.testing.assert_allclose(curve.values_at(times)[0], expected, atol=atol)
    assert curve.values_at(np.array([0, 2, 12, 14]))[0].tolist() == [3, 3, -4, -4]


def test_extrapolation_continues_lines_and_handles():
    line = one_curve([[0, 0], [10, 5], [20, 25]], kind=LINEAR, is_extrapolated=True)
    np.testing.assert_allclose(line.values_at(np.array([-10.0, 30.0]))[0], [-5, 45])
    handles = one_curve(
        [[0, 0], [10, 5]], left=[[-1, 2], [9, 5]], right=[[1, 0], [12, 6]], kind=BEZIER, is_extrapolated=True
    )
    np.testing.assert_allclose(handles.values_at(np.array([-3.0, 14.0]))[0], [6, 7])
    constant = one_curve([[0, 3], [10, 5]], kind=CONSTANT, is_extrapolated=True)
    np.testing.assert_allclose(constant.values_at(np.array([-9.0, 19.0]))[0], [3, 5])


def test_each_curve_at_its_own_time_has_the_value_that_all_have():
    curves = random_curves(np.random.default_rng(4), 50)
    expected = curves.values_at(TIMES)
    row, column = np.indices(expected.shape)
    found = curves.values_of(row.ravel(), TIMES[column.ravel()])
    np.testing.assert_array_equal(found, expected.ravel())


def test_no_curves_and_no_times():
    curves = random_curves(np.random.default_rng(5), 3)
    assert curves.values_at(np.empty(0)).shape == (3, 0)
    assert curves.values_of(np.empty(0, dtype=np.int64), np.empty(0)).shape == (0,)


def test_constant_curves_are_known():
    flat = one_curve([[0, 2], [10, 2]])
    assert flat.is_constant.tolist() == [True]
    np.testing.assert_array_equal(flat.values_at(TIMES), 2)
    assert one_curve([[0, 2], [10, 3]], kind=CONSTANT).is_constant.tolist() == [False]
    assert one_curve([[0, 2]], kind=LINEAR, is_extrapolated=True).is_constant.tolist() == [True]
