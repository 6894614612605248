"""Hulls for storage of many point sets at the same time: those of the sets alone, and their errors."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import ConvexHull, InvalidShapeError, NonFiniteGeometryError
from addon.core.fitting.convex_hull import hull_from_points, hull_steps, run_together
from tests.core.closed import assert_closed, assert_encloses, volume
from tests.core.fitting.test_convex_hull import CUBE, SETS


@pytest.mark.parametrize("max_vertices", [255, 20, 4])
def test_no_point_is_above_any_face_in_exact_fractions(max_vertices):
    hulls = run_together([hull_steps(points, max_vertices) for points in SETS.values()])
    for (name, points), hull in zip(SETS.items(), hulls, strict=True):
        assert isinstance(hull, ConvexHull), name
        assert len(hull.vertices) <= max_vertices
        assert np.array_equal(hull.vertices, hull.vertices.astype(np.float32)), "as meshes store them"
        assert_closed(hull.vertices, hull.faces.tolist())
        assert_encloses(hull.vertices, hull.faces.tolist(), points)
        alone = hull_from_points(points, max_vertices)
        tolerance = 0.01 if max_vertices == 255 else 0.5
        assert volume(*hull) == pytest.approx(volume(*alone), rel=tolerance), name


@pytest.mark.smoke
def test_errors_are_in_the_places_of_hulls():
    sets = [CUBE, CUBE * [1, 1, 0], np.full((4, 3), np.nan), CUBE * 2]
    first, flat, undefined, last = run_together([hull_steps(points) for points in sets])
    assert isinstance(flat, InvalidShapeError) and "in one plane" in str(flat)
    assert isinstance(undefined, NonFiniteGeometryError)
    assert volume(*last) == pytest.approx(8 * volume(*first), rel=1e-5)
    assert run_together([]) == []


def test_hulls_with_retries_end_together_with_simple_ones():
    # Many decimals on rough flat sides need several tolerances.
    rng = np.random.default_rng(7)
    grid = np.array(np.meshgrid(*[np.linspace(-1, 1, 6)] * 3)).reshape(3, -1).T
    sets = [grid + rng.uniform(-1, 1, grid.shape) * roughness for roughness in (1e-5, 1e-6, 1e-7, 0.0)]
    for points, hull in zip(sets, run_together([hull_steps(points) for points in sets]), strict=True):
        assert_closed(hull.vertices, hull.faces.tolist())
        assert_encloses(hull.vertices, hull.faces.tolist(), points)
        assert volume(*hull) == pytest.approx(8, rel=1e-3)
