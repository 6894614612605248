"""Distance queries of random boxes, proved one by one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Aabb, Obb, overlaps, separation, witness_points
from tests.core.distance.boxes.certified_boxes import (
    ROUNDING,
    agrees_with_exact_arithmetic,
    certify,
    gap_along_axis,
)
from tests.core.scenes import (
    QUARTER_TURNS,
    axis_rotation,
    random_directions,
    random_shapes,
    size_of,
    translated,
)
from tests.tiers import times


def pairs(scene: str, rng: np.random.Generator, count: int) -> tuple:
    a, b = random_shapes(Obb, rng, count), random_shapes(Obb, rng, count)
    if scene == "parallel":
        b = Obb(b.center, b.half_extents, a.rotation)
    elif scene == "quarter turns":
        turns = np.array(QUARTER_TURNS)[rng.integers(0, 24, count)]
        b = Obb(b.center, b.half_extents, a.rotation @ turns)
    elif scene == "one axis shared":
        angle = rng.uniform(0, 7, count)
        turns = np.stack([axis_rotation(i % 3, math.cos(t), math.sin(t)) for i, t in enumerate(angle)])
        b = Obb(b.center, b.half_extents, a.rotation @ turns)
    elif scene == "nearly parallel":
        tiny = rng.normal(size=(count, 3)) * 10.0 ** rng.uniform(-16, -4, (count, 1))
        turns = np.eye(3) + np.cross(np.eye(3), tiny[:, None])
        b = Obb(b.center, b.half_extents, a.rotation @ turns)
    elif scene == "of many sizes":
        b = Obb(b.center, b.half_extents * 10.0 ** rng.uniform(-6, 2, (count, 3)), b.rotation)
    elif scene == "flat":
        a = Obb(a.center, a.half_extents * (rng.random((count, 3)) < 0.5), a.rotation)
        b = Obb(b.center, b.half_extents * (rng.random((count, 3)) < 0.5), b.rotation)
    elif scene == "concentric":
        b = Obb(a.center, b.half_extents, b.rotation)
    elif scene == "far out":
        a, b = (translated(box, np.array([1e6, -2e6, 3e6])) for box in (a, b))
    elif scene == "with an axis-aligned one":
        a = random_shapes(Aabb, rng, count)
    elif scene == "nearly touching":
        # Moved along the normal to a gap or depth near rounding.
        normal = witness_points(a, b).normal
        gap = rng.choice([-1, 1], count) * 10.0 ** rng.uniform(-16, -6, count)
        b = translated(b, normal * (gap - separation(a, b))[:, None])
    return a, b


SCENES = [
    "random",
    "parallel",
    "quarter turns",
    "one axis shared",
    "nearly parallel",
    "of many sizes",
    "flat",
    "concentric",
    "far out",
    "with an axis-aligned one",
    "nearly touching",
]


@pytest.mark.parametrize("scene", SCENES)
def test_results_of_random_boxes_are_certified(scene):
    certify(*pairs(scene, np.random.default_rng(7), times(500, full=4000)))


@pytest.mark.parametrize("scene", ["random", "parallel", "of many sizes", "flat", "nearly touching"])
def test_no_direction_separates_overlapping_boxes_by_a_shorter_translation(scene):
    rng = np.random.default_rng(8)
    a, b = pairs(scene, rng, 300)
    found = separation(a, b)
    best = np.full(300, -np.inf)
    for direction in random_directions(rng, times(200, 60, full=500)):
        best = np.maximum(best, gap_along_axis(np.tile(direction, (300, 1)), a, b))
    # The face axes of both, and the cross products of all edges.
    axes = np.concatenate([np.swapaxes(a.rotation, 1, 2), np.swapaxes(b.rotation, 1, 2)], axis=1)
    for i in range(6):
        for j in range(6):
            normal = axes[:, i] if i == j else np.cross(axes[:, i], axes[:, j])
            size = np.linalg.norm(normal, axis=1, keepdims=True)
            normal = np.where(size > 1e-3, normal / np.where(size > 1e-3, size, 1), axes[:, i])
            for sign in (1, -1):
                best = np.maximum(best, gap_along_axis(sign * normal, a, b))
    slack = ROUNDING * size_of(a, b)
    assert (found >= best - slack).all()
    inside = found < 0
    assert inside.any()
    # One of these directions gives the minimum translation.
    if scene != "parallel":
        np.testing.assert_allclose(found[inside], best[inside], atol=float(slack.max()))


@pytest.mark.parametrize("scene", ["random", "one axis shared", "of many sizes", "flat", "nearly touching"])
def test_random_boxes_agree_with_exact_arithmetic(scene):
    a, b = pairs(scene, np.random.default_rng(9), 6)
    for i in range(times(6, 1)):
        agrees_with_exact_arithmetic(a[i], b[i])


def test_pairs_of_several_chunks_keep_their_order():
    a, b = pairs("random", np.random.default_rng(10), 1300)
    witness = witness_points(a, b)
    for i in (0, 511, 512, 1023, 1024, 1299):
        assert separation(a, b)[i] == separation(a[i], b[i])
        assert overlaps(a, b)[i] == overlaps(a[i], b[i])
        for found, alone in zip(witness, witness_points(a[i], b[i]), strict=True):
            np.testing.assert_allclose(found[i], alone, atol=1e-15)
