"""Culling and sizes on the screen, compared with every corner projected by itself."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Sphere
from addon.ui.overlay.draw_data import instances_of
from addon.ui.overlay.painter import LARGE, SMALL, visible_by_size

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
"""Ten pixels per unit."""


def rows_of(shape):
    """Return the rows of shapes (n,)."""
    return instances_of(shape, np.arange(shape.shape[0])).rows


def rotated(view):
    """Return the view from another position, in another direction."""
    c, s = np.cos(0.6), np.sin(0.6)
    about_y = np.array([[c, 0, s, 3], [0, 1, 0, -2], [-s, 0, c, -10], [0, 0, 0, 1]])
    return view @ about_y


@pytest.mark.parametrize("view", [PERSPECTIVE, rotated(PERSPECTIVE), FLAT, rotated(FLAT)])
def test_box_with_corner_in_view_is_never_culled(view):
    rng = np.random.default_rng(3)
    center, half = rng.uniform(-80, 80, (4000, 3)), rng.exponential(4, (4000, 3))
    rows = rows_of(Aabb(center - half, center + half))
    rows[:, 3, 0] = np.arange(len(rows))
    corners = center[:, None] + half[:, None] * np.array(
        [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    )
    clip = np.concatenate([corners, np.ones((4000, 8, 1))], axis=-1) @ view.T
    in_view = (np.abs(clip[..., :2]) <= clip[..., 3:]).all(axis=-1).any(axis=-1)
    parts = visible_by_size(rows, view, VIEWPORT)
    visible = np.concatenate([part[:, 3, 0] for part in parts]).astype(int)
    assert len(np.unique(visible)) == len(visible)
    assert in_view.sum() > 100 and np.isin(np.flatnonzero(in_view), visible).all()
    assert len(visible) < 0.8 * len(rows), "boxes far outside are culled"


def test_instances_are_grouped_by_size_on_screen():
    radius = np.array([0.5, 1.4, 1.7, 6.0, 6.6])
    flat = visible_by_size(rows_of(Sphere(np.zeros((5, 3)), radius)), FLAT, VIEWPORT)
    assert [len(part) for part in flat] == [2, 2, 1]
    assert (SMALL, LARGE) == (16, 64)
    # A sphere of radius 1 has a radius of 1000 / z pixels.
    depths = np.array([-5.0, -14, -17, -60, -66])
    spheres = Sphere(np.stack([0 * depths, 0 * depths, depths], axis=1), np.ones(5))
    near = visible_by_size(rows_of(spheres), PERSPECTIVE, VIEWPORT)
    assert [len(part) for part in near] == [1, 2, 2]


def test_sphere_around_viewer_is_never_small():
    around = rows_of(Sphere(np.array([[0.0, 0, 0], [0, 0, 0.5]]), np.array([2.0, 3.0])))
    small, middle, large = visible_by_size(around, PERSPECTIVE, VIEWPORT)
    assert not len(small) and len(middle) + len(large) == 2
