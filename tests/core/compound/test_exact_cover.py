"""The reference for covers, and the hulls of convex parts by it: they hold every triangle, without slack."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import convex_parts, hull_from_points
from tests.core.compound.exact_cover import HalfSpaces, uncovered
from tests.core.compound.meshes_with_notches import box, ring
from tests.tiers import is_full, times

ROUNDING = 64 * np.finfo(float).eps


def as_half_spaces(triangles: np.ndarray) -> HalfSpaces:
    """Return a convex mesh of triangles (t, 3, 3) as its planes."""
    return HalfSpaces(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3).tolist())


@pytest.mark.parametrize(
    ("boxes", "is_covered"),
    [
        ([((-1, -1, -1), (3, 3, 1))], True),
        ([((-1, -1, -1), (1, 3, 1)), ((1, -1, -1), (3, 3, 1))], True),
        ([((-1, -1, -1), (1, 3, 1)), ((1 + 2**-50, -1, -1), (3, 3, 1))], False),
        ([((-1, -1, -1), (1, 3, 1))], False),
        ([((-1, -1, 2**-50), (3, 3, 1))], False),
    ],
    ids=["one", "two that touch", "gap of an ulp", "half", "below"],
)
def test_reference_finds_gaps_of_an_ulp(boxes, is_covered):
    triangle = np.array([(0.0, 0, 0), (2, 0, 0), (0, 2, 0)])
    assert (not uncovered(triangle, [as_half_spaces(box(*each)) for each in boxes])) == is_covered


def random_solid(rng: np.random.Generator) -> np.ndarray:
    """Boxes that overlap, or a crumpled ring, anywhere and of any size."""
    if rng.integers(2):
        lows = rng.uniform(-2, 2, (rng.integers(2, 4), 3))
        triangles = np.concatenate([box(low, low + rng.uniform(0.1, 2, 3)) for low in lows])
        triangles = triangles @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    else:
        triangles = ring(1, rng.uniform(0.2, 0.6), 6, 4)
        triangles = triangles + np.sin(3 * triangles @ (rng.normal(size=(3, 3)) * 0.4)) * 0.3
    return triangles * 10.0 ** rng.integers(-3, 4) + rng.normal(size=3) * 10.0 ** rng.integers(-3, 2)


# The full tier draws a thousand meshes, a push the first of them.
@pytest.mark.parametrize("seed", range(1000 if is_full() else times(30, 3)))
def test_hulls_of_parts_hold_each_triangle_of_random_meshes(seed):
    rng = np.random.default_rng(seed)
    triangles = random_solid(rng)
    parts = convex_parts(triangles, int(rng.integers(2, 5)))
    margin = ROUNDING * float(np.abs(triangles).max())
    hulls = [hull_from_points(part, margin=margin) for part in parts]
    shapes = [HalfSpaces(hull.vertices, hull.faces.tolist()) for hull in hulls]
    for triangle in triangles:
        assert not uncovered(triangle, shapes)
