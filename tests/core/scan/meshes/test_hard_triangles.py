"""Scans of triangles that slide, graze, are coplanar or degenerate, compared with exact rational numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.core.scan.meshes.test_first_contacts import mesh_of, run
from tests.core.sweep.triangles.exact_triangle_sweeps import first_contact
from tests.core.sweep.triangles.hard_triangle_pairs import FAMILIES, pairs
from tests.core.sweep.triangles.test_hard_pairs import ROUNDING, assert_first, deepest_between
from tests.tiers import times


@pytest.mark.parametrize("family", FAMILIES)
def test_first_contact_of_scan_is_neither_missed_nor_far_from_exact_one(family):
    for pair in pairs(family, times(6, quick=1, full=40), 2):
        start, end = pair[:, :, None]

        def pose(t: float, start: np.ndarray = start, end: np.ndarray = end) -> tuple:
            return tuple(end if t == 1 else start + t * (end - start))

        found = run(pose, tuple(mesh_of(corners) for corners in start), (0, 1))
        exact = first_contact(pair[:, 0], pair[:, 1])
        if not math.isnan(found.time):
            assert_first(pair, found.time, exact)
        elif exact:
            # Poses between samples are rounded, so that a touch may be none.
            assert deepest_between(pair, exact.end, 1.0) <= ROUNDING * np.abs(pair).max()
