"""Swept boxes enclose shapes between two samples, checked by dense sampling of the motion."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Obb, Segment, Sphere, Triangle, at
from addon.core.numeric.arrays import rotation_matrix
from benchmarks.pair_tracking import swept_aabb

COUNT = 200
TIMES = np.linspace(0, 1, 41)


def moving(kind: str) -> tuple:
    """Start and end of shapes that move, grow and rotate at random."""
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
    rotations = np.array([rotation_matrix(q) for q in rng.normal(size=(2 * COUNT, 4))])
    if kind == "obb without rotation":
        return Obb(c0, h0, rotations[:COUNT]), Obb(c1, h1, rotations[:COUNT])
    return Obb(c0, h0, rotations[:COUNT]), Obb(c1, h1, rotations[COUNT:])


KINDS = ["sphere", "aabb", "segment", "triangle", "obb", "obb without rotation"]


@pytest.mark.smoke
@pytest.mark.parametrize("kind", KINDS)
def test_shape_stays_in_its_swept_box(kind):
    start, end = moving(kind)
    box = swept_aabb(start, end)
    for time in TIMES:
        now = at(start, end, np.full(COUNT, time)).aabb()
        assert (now.min >= box.min - 1e-14).all()
        assert (now.max <= box.max + 1e-14).all()
