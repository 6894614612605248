"""Bodies that only samples show, and that swing by half a turn within a small part of a frame."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.core import Contact, Sphere, scan_contacts
from tests.core.scan.evaluated.test_steps import KINDS, Sampled, bodies
from tests.finished import finished
from tests.tiers import times

RADIUS = 3.0
"""Distance of a body from the center that it swings around."""


def contacts_of_flips(kind: type, flips: np.ndarray, heights: np.ndarray, last: float) -> dict[int, Contact]:
    """Return contacts by body; each swings from x = 3 over y = 3 to x = -3, and has a wall on the Y axis.

    flips, heights : (n,) middle of each flip in frames, and y of each wall
    last : frames that a flip takes
    """
    rows = 30.0 * np.arange(len(flips))

    def shapes(time: float) -> object:
        part = np.clip((time - flips) / last + 0.5, 0, 1)
        angle = math.pi * part * part * (3 - 2 * part)
        x, y = RADIUS * np.cos(angle), RADIUS * np.sin(angle)
        moving = np.column_stack([x, rows + y, 0 * x])
        walls = np.column_stack([0 * x, rows + heights, 0 * x])
        return bodies(kind, np.concatenate([moving, walls]), 1.0)

    found = finished(scan_contacts(Sampled(shapes, 2 * len(flips)), range(11))).contacts
    return {contact.a: contact for contact in found}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("last", [0.1, 1e-3, 5e-4, 1e-4, 1e-5])
def test_flip_around_a_wall_is_no_contact(kind, last):
    count = times(12, 6, full=60)
    rng = np.random.default_rng(21)
    # Straight lines between two places pass through these walls; at x = 2 the arc is at y = 2.2.
    heights = rng.uniform(-0.5, -0.2, count) if kind is not Sphere else rng.uniform(0, 0.9, count)
    assert not contacts_of_flips(kind, rng.uniform(2, 8, count), heights, last)


@pytest.mark.parametrize("last", [0.3, 0.03, 0.005])
def test_flip_through_a_wall_is_found_within_its_uncertainty(last):
    count = times(12, 6, full=60)
    rng = np.random.default_rng(22)
    flips, heights = rng.uniform(2, 8, count), rng.uniform(1.2, 1.9, count)
    found = contacts_of_flips(Sphere, flips, heights, last)
    parts = np.linspace(0, 1, 200_001)
    angle = math.pi * parts * parts * (3 - 2 * parts)
    for row, (flip, height) in enumerate(zip(flips, heights, strict=True)):
        apart = np.hypot(RADIUS * np.cos(angle), RADIUS * np.sin(angle) - height) - 2
        begin = flip + last * (parts[apart <= 0][0] - 0.5)
        (span,) = found[row].intervals
        assert abs(span.start - begin) <= found[row].first.uncertainty + 1e-6
