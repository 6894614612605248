"""The reference for covers, and the hulls of convex parts by it: they hold every triangle, without slack."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import convex_parts, hull_from_points
from tests.core.compound.exact_cover import HalfSpaces, uncovered
from tests.core.compound.meshes_with_notches import box, random_solid
from tests.tiers import times

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


# The full tier draws a thousand meshes, a push the first of them.
@pytest.mark.parametrize("seed", range(times(12, 3, full=1000)))
def test_hulls_of_parts_hold_each_triangle_of_random_meshes(seed):
    rng = np.random.default_rng(seed)
    triangles = random_solid(rng)
    parts = convex_parts(triangles, int(rng.integers(2, 5)))
    margin = ROUNDING * float(np.abs(triangles).max())
    hulls = [hull_from_points(part, margin=margin) for part in parts]
    shapes = [HalfSpaces(hull.vertices, hull.faces.tolist()) for hull in hulls]
    for triangle in triangles:
        assert not uncovered(triangle, shapes)
