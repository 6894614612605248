"""Proofs of distance queries of two boxes, for tests."""

from __future__ import annotations

import numpy as np
import pytest

from addon.core import Aabb, Obb, minimum_translation, overlaps, separation, witness_points
from tests.core import exact
from tests.core.scenes import (
    size_of,
    translated,
)

ROUNDING = 3e-14
"""Allowed rounding error, in units of the largest coordinate or length of a pair."""


def solid(box: Obb) -> exact.ExactBox:
    return exact.ExactBox.of(box.center, box.half_extents, box.rotation)


def corners(box: Obb | Aabb) -> np.ndarray:
    """Corners (n, 8, 3), computed independently of the package."""
    box = box.oriented()
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    sides = signs * box.half_extents[:, None]
    return box.center[:, None] + np.einsum("nij,nkj->nki", box.rotation, sides)


def gap_along_axis(normals: np.ndarray, a: Obb | Aabb, b: Obb | Aabb) -> np.ndarray:
    """Gaps (n,) between the supporting planes of two boxes along directions; at most the separation."""
    # Relative to the center of the first box, so that boxes far from the origin lose no precision.
    middle = a.oriented().center
    a, b = translated(a.oriented(), -middle), translated(b.oriented(), -middle)
    heights_a = np.einsum("nki,ni->nk", corners(a), normals)
    heights_b = np.einsum("nki,ni->nk", corners(b), normals)
    return heights_b.min(axis=1) - heights_a.max(axis=1)


def excess(box: Obb | Aabb, points: np.ndarray) -> np.ndarray:
    """Distances (n,) of points outside of boxes."""
    box = box.oriented()
    local = np.einsum("nji,nj->ni", box.rotation, points - box.center)
    return (np.abs(local) - box.half_extents).max(axis=1)


def certify(a: Obb | Aabb, b: Obb | Aabb) -> None:
    """Prove the results for two batches (n,) by duality, and check that all queries agree.

    Apart: two points of the boxes have the distance of two parallel planes between the boxes, so no points
    are closer. Overlapping: the same holds after the minimum translation of the first box.
    """
    slack = ROUNDING * size_of(a, b)
    found, witness = separation(a, b), witness_points(a, b)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(np.linalg.norm(witness.normal, axis=1), 1, rtol=0, atol=1e-15)
    offset = witness.on_b - witness.on_a - witness.normal * found[:, None]
    assert (np.abs(offset).max(axis=1) <= slack).all()
    # The direction between close points is only precise to the rounding error divided by their distance.
    blur = np.where(found > 0, size_of(a, b) / np.where(found > 0, found, 1), 1)
    assert (np.abs(gap_along_axis(witness.normal, a, b) - found) <= slack * np.maximum(blur, 1)).all()
    assert (excess(a, witness.on_a) <= slack).all()
    assert (excess(b, witness.on_b) <= slack).all()
    clear = np.abs(found) > slack
    assert (overlaps(a, b) == (found <= 0))[clear].all()
    np.testing.assert_array_equal(overlaps(a, b)[clear], overlaps(b, a)[clear])
    assert (np.abs(separation(b, a) - found) <= slack).all()

    move = minimum_translation(a, b)
    assert not move[found > 0].any()
    inside = found <= 0
    np.testing.assert_allclose(
        np.linalg.norm(move[inside], axis=1), -found[inside], atol=slack.max(initial=0)
    )
    assert (np.abs(separation(translated(a, move), b)[inside]) <= slack[inside]).all()


def agrees_with_exact_arithmetic(a: Obb | Aabb, b: Obb | Aabb) -> None:
    truth = exact.separation_of_boxes(solid(a.oriented()), solid(b.oriented()))
    slack = ROUNDING * float(size_of(a, b))
    assert separation(a, b) == pytest.approx(truth, abs=slack)
    if abs(truth) > slack:
        assert overlaps(a, b) == (truth <= 0)
    certify(a.reshaped((1,)), b.reshaped((1,)))
