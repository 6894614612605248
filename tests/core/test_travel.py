"""Where shapes can be between two samples, against dense sampling of the way."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Obb, Segment, Sphere, Triangle, at
from addon.core.arrays import rotation_matrix
from addon.core.travel import swept_aabb, travelled

COUNT = 200
TIMES = np.linspace(0, 1, 41)


def moving(kind: str) -> tuple:
    """Start and end of shapes that move, grow and turn at random."""
    rng = np.random.default_rng(3)
    c0, c1 = rng.uniform(-5, 5, (2, COUNT, 3))
    h0, h1 = rng.uniform(0, 2, (2, COUNT, 3))
    if kind == "sphere":
        return Sphere(c0, h0[:, 0]), Sphere(c1, h1[:, 0])
    if kind == "aabb":
        return Aabb(c0 - h0, c0 + h0), Aabb(c1 - h1, c1 + h1)
    if kind == "segment":
        return Segment(c0, c0 + h0), Segment(c1, c1 - h1)
    if kind == "triangle":
        return Triangle(c0, c0 + h0, c0 - h1), Triangle(c1, c1 - h1, c1 + h0)
    turns = np.array([rotation_matrix(q) for q in rng.normal(size=(2 * COUNT, 4))])
    if kind == "obb that does not turn":
        return Obb(c0, h0, turns[:COUNT]), Obb(c1, h1, turns[:COUNT])
    return Obb(c0, h0, turns[:COUNT]), Obb(c1, h1, turns[COUNT:])


KINDS = ["sphere", "aabb", "segment", "triangle", "obb", "obb that does not turn"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_shape_stays_in_its_swept_box_all_the_way(kind):
    start, end = moving(kind)
    box = swept_aabb(start, end)
    for time in TIMES:
        now = at(start, end, np.full(COUNT, time)).aabb()
        assert (now.min >= box.min - 1e-14).all()
        assert (now.max <= box.max + 1e-14).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_point_travels_farther_than_said(kind):
    start, end = moving(kind)
    most = travelled(start, end)

    def points(shape):
        """Points that are carried along by the shape, enough to span it: (n, k, 3)."""
        if isinstance(shape, Sphere):
            axes = np.concatenate([np.eye(3), -np.eye(3)])
            return shape.center[:, None] + shape.radius[:, None, None] * axes
        if isinstance(shape, (Aabb, Obb)):
            return shape.corners()
        return np.stack([getattr(shape, name) for name in shape.tails], axis=1)

    path = np.zeros((COUNT, points(start).shape[1]))
    before = points(start)
    for time in TIMES[1:]:
        now = points(at(start, end, np.full(COUNT, time)))
        path += np.linalg.norm(now - before, axis=-1)
        before = now
    assert (path.max(axis=1) <= most * (1 + 1e-12)).all()


def test_what_stands_still_travels_nothing():
    for kind in KINDS:
        start, _ = moving(kind)
        assert not travelled(start, start).any(), kind
