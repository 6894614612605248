"""Scans of the meshes of keyed propellers and of posts that pass them, against a formula at dense times.

Propellers have 1 to 4 blades and turn by 0.5 to 5 turns a frame, so samples at whole frames may see them at
rest. Posts creep into the disk, or pass it within a part of a frame, where a blade may miss them. The truth
is a separating axis test of rectangles in the plane of the disk.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy
import numpy as np
import pytest

from addon.core import Contact
from tests.scene.building import open_empty_file
from tests.scene.sampling import Array, add_box, add_faces, contacts_by_names, key, scan_scene
from tests.tiers import times

FIRST, LAST = 1, 24
RATES = (0.5, 0.6, 0.75, 0.9, 1.0, 1.1, 1.5, 2.0, 3.3, 5.0)
PROPELLERS = times(24, quick=4, full=200)
BLADE = np.array([(0.1, -0.05), (1.0, -0.05), (1.0, 0.05), (0.1, 0.05)])
HALF = 0.08
"""Half of the width of posts."""
_PER_FRAME = times(6000, quick=2000)
_INTERVAL = 2e-3
"""Frames by which begins and ends of contacts may be off."""
_ROUNDING = 2e-4
"""Lengths that angles of hundreds of radians lose in single precision."""


class Propeller(NamedTuple):
    """One propeller and its post.

    begin : angle at the first frame
    path : keys of the post, (k, 3): frame, x and y from the hub
    """

    name: str
    blades: int
    rate: float
    begin: float
    path: Array

    def gaps(self, at: Array) -> Array:
        """Gaps (t,) of blades and post along the best axis; negative by the overlap."""
        place = np.stack([np.interp(at, self.path[:, 0], self.path[:, k]) for k in (1, 2)], axis=-1)
        square = place[:, None] + HALF * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
        least = np.full(len(at), np.inf)
        for blade in range(self.blades):
            angle = self.begin + math.tau * (self.rate * (at - FIRST) + blade / self.blades)
            along = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
            across = np.stack([-along[:, 1], along[:, 0]], axis=-1)
            corners = BLADE[:, :1] * along[:, None] + BLADE[:, 1:] * across[:, None]
            best = np.full(len(at), -np.inf)
            for axis in (along, across, np.array([[1.0, 0]]), np.array([[0, 1.0]])):
                p, q = (corners * axis[:, None]).sum(axis=-1), (square * axis[:, None]).sum(axis=-1)
                gap = np.maximum(p.min(axis=1) - q.max(axis=1), q.min(axis=1) - p.max(axis=1))
                best = np.maximum(best, gap)
            least = np.minimum(least, best)
        return least


def add_propeller(number: int) -> Propeller:
    """Add a propeller and its post, in a cell of their own."""
    rng = np.random.default_rng(number)
    blades, rate = 1 + number % 4, RATES[number * 7 // 4 % len(RATES)]
    hub = np.array([8.0 * (number % 15), 8.0 * (number // 15), 0])
    points, faces = [], []
    for blade in range(blades):
        turn, base = math.tau * blade / blades, len(points)
        for x, y in BLADE:
            flat = math.cos(turn) * x - math.sin(turn) * y, math.sin(turn) * x + math.cos(turn) * y
            points += [(*flat, -0.02), (*flat, 0.02)]
        sides = ((0, 2, 3, 1), (2, 4, 5, 3), (4, 6, 7, 5), (6, 0, 1, 7), (0, 6, 4, 2), (1, 3, 5, 7))
        faces += [tuple(base + corner for corner in side) for side in sides]
    propeller = add_faces(f"Propeller {number}", points, faces)
    propeller.location = hub
    begin = rng.uniform(0, math.tau)
    turns = [(frame, (0, 0, begin + math.tau * rate * (frame - FIRST))) for frame in (FIRST, LAST)]
    key(propeller, "rotation_euler", turns)
    start, direction = rng.uniform(2, 12), rng.uniform(0, math.tau)
    across = rng.uniform(0.3, 1.15)
    length = rng.uniform(6, 11) if number % 3 == 0 else rng.uniform(0.15, 2)
    turn = np.array([(math.cos(direction), math.sin(direction)), (-math.sin(direction), math.cos(direction))])
    ends = np.array([(-1.6, across), (1.6, across)]) @ turn
    frames = (FIRST, start, start + length, LAST)
    path = np.array([(frame, *ends[k]) for frame, k in zip(frames, (0, 0, 1, 1), strict=True)])
    post = add_box(f"Post {number}", (HALF, HALF, 0.3))
    key(post, "location", [(frame, (hub[0] + x, hub[1] + y, 0)) for frame, x, y in path])
    return Propeller(f"{number}", blades, rate, begin, path)


def judge(propeller: Propeller, contact: Contact | None) -> str:
    """Compare a contact with the formula: "" if it is right."""
    dense = np.arange(FIRST, LAST, 1 / _PER_FRAME)
    gaps = propeller.gaps(dense)
    touching = dense[gaps < -_ROUNDING]
    first = touching[0] if len(touching) else math.inf
    if contact is None:
        return "" if first == math.inf else f"missed, truth {first}"
    if contact.first.motion != "proven":
        return "not proven"
    time, uncertainty = contact.first.frame, contact.first.uncertainty
    if time > first:
        return f"late: {time}, truth {first}"
    around = np.linspace(time - 1e-4, time + uncertainty + 1e-4, 1000)
    if propeller.gaps(around).min() > _ROUNDING:
        return f"invented or early: {time} +/- {uncertainty}, truth {first}"
    if uncertainty >= 0.01:
        return f"uncertain: {uncertainty}"
    spans = np.array([(span.start, span.end) for span in contact.intervals])
    row = np.searchsorted(spans[:, 0], dense + _INTERVAL, side="right") - 1
    is_within = (row >= 0) & (dense <= spans[row, 1] + _INTERVAL)
    if not is_within[gaps < -_ROUNDING].all():
        return f"no interval at {dense[(gaps < -_ROUNDING) & ~is_within][:3]}"
    row = np.searchsorted(spans[:, 0], dense - _INTERVAL, side="right") - 1
    is_inside = (row >= 0) & (dense < spans[row, 1] - _INTERVAL)
    if is_inside[gaps > _ROUNDING].any():
        return f"invented interval at {dense[(gaps > _ROUNDING) & is_inside][:3]}"
    return ""


@pytest.mark.long
def test_propellers_touch_posts_when_their_blades_do():
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FIRST, LAST
    propellers = [add_propeller(number) for number in range(PROPELLERS)]
    found = contacts_by_names(scan_scene(shape="mesh"))
    pairs = [frozenset((f"Propeller {each.name}", f"Post {each.name}")) for each in propellers]
    wrong = {
        (each.name, each.blades, each.rate): problem
        for each, pair in zip(propellers, pairs, strict=True)
        if (problem := judge(each, found.get(pair)))
    }
    assert wrong == {}
    # Both answers occur.
    touched = sum(pair in found for pair in pairs)
    assert 0.3 * PROPELLERS < touched < PROPELLERS
