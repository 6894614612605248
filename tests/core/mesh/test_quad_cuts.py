"""Two ways to cut a quad into triangles, against exact fractions and against points of both surfaces."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.core.mesh.quad_cuts import QuadCuts

ONE = np.arange(4)[:, None]


def is_beyond(quad):
    """Return whether the second and the fourth corner are on one side of the diagonal, by exact fractions."""
    a, b, c, d = ([Fraction(float(x)) for x in corner] for corner in quad)
    ab, ac, ad = ([x - y for x, y in zip(corner, a, strict=True)] for corner in (b, c, d))

    def cross(u, v):
        return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]

    one, two = cross(ab, ac), cross(ad, ac)
    return sum(x * y for x, y in zip(one, two, strict=True)) >= 0


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_quads_that_are_sure_are_cut_as_before(offset):
    rng = np.random.default_rng(0)
    quads = rng.normal(size=(500, 4, 3))
    corners = np.arange(2000).reshape(500, 4).T
    points = quads.reshape(-1, 3) + offset
    beyond = np.array([is_beyond(quad) for quad in points.reshape(500, 4, 3)])
    for is_other in (False, True):
        unsure = QuadCuts(corners, np.full(500, is_other)).unsure(points)
        sure = np.setdiff1d(np.arange(500), unsure)
        assert (beyond[sure] == is_other).all()
        # Not because none is sure.
        assert len(sure) > 0.9 * (beyond == is_other).sum() * (0.5 if is_other else 1)


def test_flat_convex_quads_are_sure_and_degenerate_ones_are_not():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    cuts = QuadCuts(ONE, np.array([False]))
    assert cuts.unsure(square).tolist() == []
    for corner, place in ((1, (0.5, 0.5, 0)), (1, (0.4, 0.6, 0)), (2, (0, 0, 0))):
        folded = square.copy()
        folded[corner] = place
        assert cuts.unsure(folded).tolist() == [0]
    # Bent by a right angle and more along the diagonal.
    for height, sure in ((0.5, True), (3.0, False)):
        bent = np.array([[0.0, 0, 0], [1, 0, height], [1, 1, 0], [0, 1, height]])
        assert (len(cuts.unsure(bent)) == 0) == sure


def surface(corners, triangles, count):
    """Points (k, 3) of triangles, evenly spread."""
    part = np.array([(i, j, count - i - j) for i in range(count + 1) for j in range(count + 1 - i)]) / count
    return np.concatenate([part @ corners[list(triangle)] for triangle in triangles])


@pytest.mark.parametrize("seed", range(40))
def test_no_point_of_either_cut_is_farther_from_the_other_than_the_gap(seed):
    rng = np.random.default_rng(seed)
    quad = rng.normal(size=(4, 3))
    if seed % 2:
        # A flat quad, convex or not.
        quad[:, 2] = 0
    (gap,) = QuadCuts(ONE, np.array([False])).gaps(quad, np.array([0]))
    cuts = [(0, 1, 2), (0, 2, 3)], [(0, 1, 3), (1, 2, 3)]
    fine = 90
    for one, other in (cuts, cuts[::-1]):
        points, near = surface(quad, one, 20), surface(quad, other, fine)
        distance = np.linalg.norm(points[:, None] - near, axis=2).min(axis=1).max()
        # Samples are at most a side of a part away from the nearest point.
        step = np.linalg.norm(quad - np.roll(quad, 1, axis=0), axis=1).max() / fine
        assert distance <= gap + 2 * step


def test_gap_of_a_flat_convex_quad_is_none():
    quad = np.array([[0.0, 0, 0], [2, 0.1, 0], [1.5, 1, 0], [0.2, 1.4, 0]])
    assert QuadCuts(ONE, np.array([False])).gaps(quad, np.array([0])) == pytest.approx([0], abs=1e-12)
