"""Scans of triangles that slide, graze, are coplanar or degenerate, compared with exact rational numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.core.scan.meshes.test_first_contacts import FirstTouch, mesh_of, run
from tests.core.sweep.triangles.exact_triangle_sweeps import Enclosed, first_contact
from tests.core.sweep.triangles.hard_triangle_pairs import FAMILIES, pairs
from tests.core.sweep.triangles.test_hard_pairs import (
    ROUNDING,
    assert_first,
    deepest_between,
    distance_at,
)
from tests.tiers import times

EPS = float(np.finfo(float).eps)
NEGLIGIBLE = 1e-7
"""Frames by which a contact may be earlier than its uncertainty allows."""


class Straight:
    """Corners (1, 3, 3) that move in straight lines from time 0 to 1."""

    def __init__(self, start: np.ndarray, end: np.ndarray) -> None:
        self.start, self.end = start, end

    def at(self, time: float) -> np.ndarray:
        return self.end if time == 1 else self.start + time * (self.end - self.start)

    before = at

    def next_jump(self, begin: float) -> float:
        return math.inf

    def deviation(self, begin: float, end: float) -> float:
        return 0.0


def scan(pair: np.ndarray, is_known: bool) -> FirstTouch:
    """Scan a pair (2 times, 2 triangles, 3, 3)."""
    paths = [Straight(start[None], end[None]) for start, end in zip(*pair, strict=True)]

    def pose(time: float) -> tuple:
        return tuple(path.at(time) for path in paths)

    triangles = tuple(mesh_of(path.start) for path in paths)
    return run(pose, triangles, (0, 1), known=tuple(paths) if is_known else (None, None))


def assert_neither_missed_nor_far(pair: np.ndarray, found: FirstTouch, exact: Enclosed | None) -> None:
    if not math.isnan(found.time):
        assert_first(pair, found.time, exact)
    elif exact:
        # Poses between samples are rounded, so that a touch may be none.
        assert deepest_between(pair, exact.end, 1.0) <= ROUNDING * np.abs(pair).max()


@pytest.mark.parametrize("family", FAMILIES)
def test_first_contact_is_neither_missed_nor_far_and_of_known_motion_within_its_uncertainty(family):
    for pair in pairs(family, times(6, quick=1, full=40), 2):
        exact = first_contact(pair[:, 0], pair[:, 1])
        assert_neither_missed_nor_far(pair, scan(pair, False), exact)
        found = scan(pair, True)
        assert_neither_missed_nor_far(pair, found, exact)
        until = found.time + found.uncertainty + NEGLIGIBLE
        if exact and until < exact.begin:
            # Half an ulp is lost in a pose. What is farther apart than gaps that count as contact has grazed.
            apart, reach = distance_at(pair, until), np.abs(pair).max()
            assert apart <= EPS / 2 * reach or apart > 32 * EPS * reach, (found, exact)
