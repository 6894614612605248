"""Which forms a view sees, and how large: beside every corner projected one by one."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Sphere
from addon.ui.on_screen import LARGE, SMALL, seen_by_size
from addon.ui.picture import placed

VIEWPORT = (800, 600)
NEAR, FAR = 0.1, 500.0
FOCAL = 2.5
PERSPECTIVE = np.array(
    [
        [FOCAL, 0, 0, 0],
        [0, FOCAL * 800 / 600, 0, 0],
        [0, 0, -(FAR + NEAR) / (FAR - NEAR), -2 * FAR * NEAR / (FAR - NEAR)],
        [0, 0, -1, 0],
    ]
)
FLAT = np.diag([1 / 40, 1 / 30, -1 / 100, 1])
"""Ten pixels a unit."""


def turned(view):
    """The view from elsewhere, looking elsewhere."""
    c, s = np.cos(0.6), np.sin(0.6)
    about_y = np.array([[c, 0, s, 3], [0, 1, 0, -2], [-s, 0, c, -10], [0, 0, 0, 1]])
    return view @ about_y


@pytest.mark.parametrize("view", [PERSPECTIVE, turned(PERSPECTIVE), FLAT, turned(FLAT)])
def test_what_has_a_corner_in_view_is_never_left_out(view):
    rng = np.random.default_rng(3)
    center, half = rng.uniform(-80, 80, (4000, 3)), rng.exponential(4, (4000, 3))
    rows = placed(Aabb(center - half, center + half))
    rows[:, 3, 0] = np.arange(len(rows))
    corners = center[:, None] + half[:, None] * np.array(
        [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    )
    clip = np.concatenate([corners, np.ones((4000, 8, 1))], axis=-1) @ view.T
    in_view = (np.abs(clip[..., :2]) <= clip[..., 3:]).all(axis=-1).any(axis=-1)
    parts = seen_by_size(rows, view, VIEWPORT)
    seen = np.concatenate([part[:, 3, 0] for part in parts]).astype(int)
    assert len(np.unique(seen)) == len(seen)
    assert in_view.sum() > 100 and np.isin(np.flatnonzero(in_view), seen).all()
    assert len(seen) < 0.8 * len(rows), "what is far beside is left out"


def test_size_is_that_on_the_screen():
    radius = np.array([0.5, 1.4, 1.7, 6.0, 6.6])
    flat = seen_by_size(placed(Sphere(np.zeros((5, 3)), radius)), FLAT, VIEWPORT)
    assert [len(part) for part in flat] == [2, 2, 1]
    assert (SMALL, LARGE) == (16, 64)
    # A ball of radius 1 is 1000 / z pixels across, half.
    depths = np.array([-5.0, -14, -17, -60, -66])
    balls = Sphere(np.stack([0 * depths, 0 * depths, depths], axis=1), np.ones(5))
    near = seen_by_size(placed(balls), PERSPECTIVE, VIEWPORT)
    assert [len(part) for part in near] == [1, 2, 2]


def test_what_is_around_the_viewer_is_large_and_not_small():
    around = placed(Sphere(np.array([[0.0, 0, 0], [0, 0, 0.5]]), np.array([2.0, 3.0])))
    parts = seen_by_size(around, PERSPECTIVE, VIEWPORT)
    assert not len(parts.small) and len(parts.middle) + len(parts.large) == 2
