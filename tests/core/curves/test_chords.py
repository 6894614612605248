"""Deviation of curves from their chords, against dense points and formulas."""

import numpy as np
import pytest

from addon.core.curves.easings import EASING_CODES, FAMILIES, MODES
from addon.core.curves.keyframes import CONSTANT, EASED, LINEAR, Curves
from tests.core.curves.random_curves import FIRST, LAST, dense_points, one_curve, random_keys


@pytest.mark.parametrize("shortest", [-3, 0])
@pytest.mark.parametrize("seed", range(3))
def test_no_point_is_farther_from_the_chord_than_the_deviation(seed, shortest):
    rng = np.random.default_rng(seed)
    keys, starts, extrapolates = random_keys(rng, 200)
    curves = Curves(keys, starts, extrapolates)
    rows = rng.integers(0, 200, 2000)
    begin = rng.uniform(FIRST, LAST, 2000)
    end = begin + 10 ** rng.uniform(shortest, 1, 2000)
    chords = curves.chords(rows, begin, end)
    points = dense_points(keys)
    compared, largest = 0, 0.0
    for row, first, last, at_first, at_last, deviation in zip(rows, begin, end, *chords, strict=True):
        segments = points[starts[row] : starts[row + 1] - 1].reshape(-1, 2)
        times, values = segments[(segments[:, 0] > first) & (segments[:, 0] < last)].T
        line = at_first + (at_last - at_first) * (times - first) / (last - first)
        distance = np.abs(values - line).max(initial=0)
        assert distance <= deviation + 1e-9
        compared, largest = compared + len(times), max(largest, distance)
    assert compared > 20_000
    assert largest > 1


def test_deviation_of_a_parabola_is_its_sagitta():
    # y = t (9 - t) by handles at thirds: h^2 / 4 over an interval of length h.
    curve = one_curve([[0, 0], [9, 0]], right=[[3, 27], [12, 0]], left=[[-3, 0], [6, 27]])
    begin, end = np.array([1.0, 0.0, 4.0]), np.array([8.0, 9.0, 4.5])
    chords = curve.chords(np.zeros(3, dtype=np.int64), begin, end)
    np.testing.assert_allclose(chords.deviation, (end - begin) ** 2 / 4, rtol=1e-6)
    np.testing.assert_allclose(chords.begin, begin * (9 - begin), atol=1e-5)
    np.testing.assert_allclose(chords.end, end * (9 - end), atol=1e-5)


def test_lines_and_steps_between_keys_deviate_by_nothing():
    line = one_curve([[0, 1], [10, 5]], kind=LINEAR, is_extrapolated=True)
    rows = np.zeros(2, dtype=np.int64)
    chords = line.chords(rows, np.array([2.0, -7.0]), np.array([9.0, -6.0]))
    np.testing.assert_allclose(chords.deviation, 0, atol=1e-12)
    step = one_curve([[0, 1], [10, 5], [20, 7]], kind=CONSTANT)
    chords = step.chords(rows, np.array([9.0, 10.0]), np.array([10.0, 20.0]))
    # The limit before the jump at the end of the interval.
    assert chords.begin.tolist() == chords.end.tolist() == [1, 5]
    assert chords.deviation.tolist() == [0, 0]


def test_jump_within_the_interval_is_part_of_the_deviation():
    step = one_curve([[0, 1], [10, 5]], kind=CONSTANT)
    chords = step.chords(np.array([0]), np.array([8.0]), np.array([16.0]))
    # At the jump, a quarter of the way, the chord is at 2, and the curve at 1 and then at 5.
    assert (chords.begin[0], chords.end[0], chords.deviation[0]) == (1, 5, 3)


def test_bump_within_one_frame_is_part_of_the_deviation():
    bump = one_curve([[0, 0], [10, 0], [10.03125, 4], [10.0625, 0], [20, 0]], kind=LINEAR)
    chords = bump.chords(np.array([0]), np.array([10.0]), np.array([11.0]))
    assert (chords.begin[0], chords.end[0], chords.deviation[0]) == (0, 0, 4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("amplitude", [0.0, 0.8, -0.8])
def test_swing_between_equal_values_is_part_of_the_deviation(mode, amplitude):
    kind = EASED + EASING_CODES["ELASTIC", mode]
    swing = one_curve([[0, 3], [6, 3]], kind=kind, settings=(1.7, amplitude, 4.1))
    s = np.linspace(0, 1, 1001)[1:-1]
    rising, falling = (
        -max(amplitude, 0) * 2 ** (10 * u) * np.sin(u * length * 2 * np.pi / 4.1)
        for u, length in ((s - 1, 6), (-s, 6))
    )
    halves = np.abs(2 * s - 1)
    swing_of_half = max(amplitude, 0) / 2 * 2 ** (-10 * halves) * np.sin(halves * 6 * 2 * np.pi / 4.1)
    both = np.sign(0.5 - s) * swing_of_half
    values = 3 + {"EASE_IN": rising, "EASE_OUT": -falling, "EASE_IN_OUT": both}[mode]
    np.testing.assert_allclose(swing.values_at(6 * s)[0], values, atol=1e-5)
    chords = swing.chords(np.zeros(998, dtype=np.int64), 6 * s[:-1], 6 * s[1:])
    np.testing.assert_allclose(chords.begin, values[:-1], atol=1e-12)
    np.testing.assert_allclose(chords.end, values[1:], atol=1e-12)
    whole = swing.chords(np.array([0]), np.array([0.0]), np.array([6.0]))
    assert np.abs(values - 3).max() <= whole.deviation[0] + 1e-12
    assert whole.deviation[0] == 0 or amplitude > 0


def test_equal_values_of_other_easings_deviate_by_nothing():
    for code in range(len(FAMILIES) * len(MODES) - len(MODES)):
        curve = one_curve([[0, 3], [6, 3]], kind=EASED + code, settings=(1.7, 0.8, 4.1))
        chords = curve.chords(np.array([0]), np.array([1.0]), np.array([5.0]))
        assert (chords.begin[0], chords.end[0], chords.deviation[0]) == (3, 3, 0)


def test_deviation_of_smooth_curves_shrinks_with_the_square_of_the_interval():
    curve = one_curve([[0, 0], [9, 5]], right=[[4, 0], [12, 5]], left=[[-3, 0], [5, 5]])
    lengths = 4.0 ** -np.arange(6)
    begin = np.full(6, 1.0)
    deviation = curve.chords(np.zeros(6, dtype=np.int64), begin, begin + lengths).deviation
    assert (deviation[2:] < deviation[1:-1] / 14).all()


def test_upright_tangents_have_a_finite_deviation():
    curve = one_curve([[0, 0], [10, 4]], right=[[0, 2], [10, 4]], left=[[0, 0], [10, 2]])
    begin = np.array([0.0, 0.0, 9.999])
    end = np.array([10.0, 1e-3, 10.0])
    chords = curve.chords(np.zeros(3, dtype=np.int64), begin, end)
    assert (chords.deviation <= [4, 0.5, 0.5]).all()
    assert np.isfinite(chords.deviation).all()
