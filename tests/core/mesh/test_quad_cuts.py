"""Two ways to cut a quad into triangles, against exact fractions and against points of both surfaces."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from addon.core.mesh import quad_cuts
from addon.core.mesh.quad_cuts import CutWatch, QuadCuts

ONE = np.arange(4)[:, None]


def cuts_of(corners, is_other=False):
    """Quads (4, q) that are all cut in one way."""
    count = corners.shape[1]
    return QuadCuts(corners, np.full(count, is_other), 2 * np.arange(count))


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
        unsure = cuts_of(corners, is_other).unsure(points)
        sure = np.setdiff1d(np.arange(500), unsure)
        assert (beyond[sure] == is_other).all()
        # Not because none is sure.
        assert len(sure) > 0.95 * (beyond == is_other).sum()


def test_flat_convex_quads_are_sure_and_degenerate_ones_are_not():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    cuts = cuts_of(ONE)
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
    (gap,) = cuts_of(ONE).gaps(quad, np.array([0]))
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
    assert cuts_of(ONE).gaps(quad, np.array([0])) == pytest.approx([0], abs=1e-12)


def flapping(times):
    """Quads (t, 12, 3): the second corner of each goes over the diagonal and back, of the last one never."""
    times = np.asarray(times, dtype=float)
    points = np.tile([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], (len(times), 3, 1, 1))
    points[..., 0] += 3 * np.arange(3)[:, None]
    for quad, path in enumerate((np.sin(times), np.cos(2 * times + 0.1), 0.1 * np.sin(times))):
        # Its distance from the diagonal, and a height, so that both ways to cut it differ.
        points[:, quad, 1, :2] += np.maximum(path, 0)[:, None] * (-1, 1)
        points[:, quad, 1, 2] = 0.3
    return points.reshape(len(times), 12, 3)


def corners_at(corners, times):
    points = flapping(times)
    return points[np.arange(len(times)), corners].astype(float)


def watched(times):
    corners = np.arange(12).reshape(3, 4).T
    first = flapping(times[:1])[0]
    cuts = cuts_of(corners)
    is_other = np.zeros(3, dtype=bool)
    is_other[cuts.unsure(first)] = True
    watch = CutWatch(cuts._replace(is_other=is_other))
    for time, vertices in zip(times, flapping(times), strict=True):
        watch.check(float(time), vertices)
    return watch, is_other


def test_changes_are_found_when_corners_cross_diagonals():
    times = np.arange(0.0, 6.25, 0.25)
    watch, is_other = watched(times)
    changes = watch.changes(corners_at)
    assert is_other.tolist() == [False, True, False]
    fine = np.arange(0, 6, 1e-3)
    a, b, c, d = np.moveaxis(flapping(fine).reshape(-1, 3, 4, 3), 2, 0)
    beyond = (np.cross(b - a, c - a) * np.cross(d - a, c - a)).sum(axis=-1) > 0
    step, quads = np.nonzero(beyond[1:] != beyond[:-1])
    assert changes.quads.tolist() == quads.tolist()
    assert changes.times == pytest.approx(fine[step + 1], abs=1.1e-3)
    assert changes.next_after(np.array([0.0]))[0] == changes.times[0]
    assert changes.next_after(changes.times[-1:])[0] == np.inf
    last = len(quads)
    assert changes.counts(changes.times).tolist() == list(range(1, last + 1))
    assert changes.counts(changes.times, is_before=True).tolist() == list(range(last))
    # Surfaces jump by no more than that where an interval has a change within.
    begin, end = np.array([changes.times[0] - 0.01, changes.times[0]]), changes.times[[0, 0]] + 0.01
    assert changes.rooms(begin, end).tolist() == [changes.room, 0]
    for time, quad in zip(changes.times, changes.quads, strict=True):
        assert watch._cuts.gaps(flapping([time])[0], np.array([quad]))[0] <= changes.room


def test_meshes_whose_quads_change_too_often_are_not_followed(monkeypatch):
    monkeypatch.setattr(quad_cuts, "_MOST_CHANGES", 2)
    watch, _ = watched(np.arange(0.0, 6.25, 0.25))
    assert watch.changes(corners_at) is None


def test_recut_triangles_are_those_of_the_other_diagonal():
    corners = np.arange(8).reshape(2, 4).T
    cuts = QuadCuts(corners, np.array([False, True]), np.array([1, 3]))
    given = np.array([[0, 4, 5], [0, 1, 2], [0, 2, 3], [4, 5, 7], [5, 6, 7]])

    def sets(triangles):
        return [frozenset(each) for each in triangles.tolist()]

    expected = [{0, 4, 5}, {0, 1, 3}, {1, 2, 3}, {4, 5, 6}, {4, 6, 7}]
    assert sets(cuts.recut(given, np.array([0, 1]))) == expected
    assert cuts.recut(given, np.array([0, 1, 0, 1])).tolist() == given.tolist()
    # Both triangles face where the first ones do.
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    points = np.concatenate([square, square])
    for triangle in cuts.recut(given, np.array([0, 1]))[1:]:
        a, b, c = points[triangle]
        assert (b - a)[0] * (c - a)[1] - (b - a)[1] * (c - a)[0] > 0
