"""The exact program for first contacts of triangles, compared with known results and with brute force."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.core.sweep.triangles.exact_triangle_sweeps import (
    Enclosed,
    bernstein,
    common_factor,
    corners_at,
    depth,
    exact_squared_distance,
    first_contact,
    roots,
)
from tests.core.sweep.triangles.hard_triangle_pairs import FAMILIES, pairs
from tests.tiers import times

FACE = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
TALL = np.array([[1.0, 1, 2], [1, 2, 5], [2, 1, 5]])


def squared_distance_at(pair: np.ndarray, time: Fraction) -> Fraction:
    return exact_squared_distance(*(corners_at(pair[:, k], time) for k in (0, 1)))


def product_of(factors: list[list[int]]) -> list[int]:
    result = np.array([1], dtype=object)
    for factor in factors:
        result = np.convolve(result, np.array(factor, dtype=object))
    return result.tolist()


@pytest.mark.parametrize("seed", range(times(40, quick=10)))
def test_roots_are_those_of_the_linear_factors(seed):
    rng = np.random.default_rng(seed)
    factors = rng.integers(-8, 9, (4, 2)).tolist()
    factors = [factor for factor in factors[: rng.integers(1, 5)] if factor[1]]
    expected = sorted({Fraction(-a, b) for a, b in factors if 0 <= Fraction(-a, b) <= 1})
    found = [root.refined(40) for root in roots(product_of(factors))]
    assert len(found) == len(expected)
    assert all(each.begin <= exact <= each.end for each, exact in zip(found, expected, strict=True))
    assert all(each.end - each.begin <= Fraction(1, 2**40) for each in found)


def test_signs_at_roots_are_exact():
    # (2 t^2 - 1) has the root 1 / sqrt(2), which is no fraction; 0.70710678 is below it.
    (root,) = roots([-1, 0, 2])
    assert root.sign(product_of([[-1, 0, 2], [1, 3]])) == 0
    assert root.sign([-70710678, 100000000]) == 1
    (root,) = roots([-1, 0, 2])
    assert root.sign([-70710679, 100000000]) == -1
    assert root.sign([0, 0]) == 0
    assert list(roots([0, 0, 0])) == []
    assert common_factor([-1, 0, 2], [-3, 0, 6]) == [-1, 0, 2]


def test_bernstein_coefficients_begin_and_end_with_values():
    # 1 - 6 t + 9 t^2 from 1/4 to 1/2: 1/16 and 1/4, and 2 C(1/4, 1/2) = -1/8 in between; in proportion.
    low, middle, high = bernstein([1, -6, 9], 1, 2)
    assert (middle * 2, high) == (-low * 4, low * 4)


@pytest.mark.parametrize(
    ("fall", "moved", "expected"),
    [
        (4, (0, 0), Fraction(1, 2)),
        (2, (0, 0), Fraction(1)),
        (1, (0, 0), None),
        (6, (-1, 0), Fraction(1, 3)),
        (6, (-2, 0), Fraction(5, 6)),
        (6, (-3, 0), None),
    ],
)
def test_triangle_falls_on_face_from_height_2(fall, moved, expected):
    # Moved by -1, the lowest corner meets an edge of the face. Moved by -2 it passes it, and a corner at
    # a height of 5 meets that edge.
    tall = TALL + np.array([*moved, 0])
    found = first_contact(np.array([FACE, FACE]), np.array([tall, tall - [0, 0, fall]]))
    if expected is None:
        assert found is None
    else:
        assert found is not None
        assert found.begin <= expected <= found.end


def test_depth_is_that_of_a_triangle_through_a_face():
    # The lowest corner is 1/2 below the face, far from its edges.
    corners = [corners_at(np.array([x, x]), 0) for x in (FACE, TALL - [0, 0, 2.5])]
    assert depth(*corners) == 0.5
    assert depth(corners[0], corners_at(np.array([TALL, TALL]), 0)) == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_triangles_are_apart_before_their_first_contact_and_share_a_point_then(family):
    for pair in pairs(family, times(8, quick=2, full=100), 1):
        found = first_contact(pair[:, 0], pair[:, 1])
        first = found or Enclosed(Fraction(1), Fraction(1))
        if found:
            # As far as corners move in the interval that encloses the time.
            far = Fraction(float(np.abs(pair).max())) * 8 * (found.end - found.begin)
            assert squared_distance_at(pair, found.end) <= far**2
        for k in range(0 if first.begin else 20, 20):
            assert squared_distance_at(pair, first.begin * k / 20) > 0
        assert found or squared_distance_at(pair, Fraction(1)) > 0
