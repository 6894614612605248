"""Checks that several engines share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

# Rows are the engine's axes in Blender's, written down from each engine's own description of its axes.
FROM_BLENDER = {
    "blender": [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    "gltf": [(1, 0, 0), (0, 0, 1), (0, -1, 0)],
    "unity": [(-1, 0, 0), (0, 0, 1), (0, -1, 0)],
    "unreal": [(100, 0, 0), (0, -100, 0), (0, 0, 100)],
}
NO_TURN = (0.0, 0.0, 0.0, 1.0)
SHORT_TRACK = {
    "object": "A",
    "space": "world",
    "frames": [1, 2],
    "sphere": {"centers": [[0, 0, 0]], "radii": [1]},
}


@dataclass(frozen=True)
class Volume:
    """A sphere (sizes is its radius) or a box (sizes are half extents) at a place, turned by x, y, z, w."""

    kind: str
    sizes: tuple[float, ...]
    place: tuple[float, ...]
    turn: tuple[float, ...] = NO_TURN


def volume_of(shapes: dict[str, Any], shape: str) -> Volume:
    """Convert a shape of a document to a volume."""
    numbers = shapes[shape]
    if shape == "sphere":
        return Volume("sphere", (numbers["radius"],), tuple(numbers["center"]))
    if shape == "obb":
        return Volume(
            "box", tuple(numbers["halfExtents"]), tuple(numbers["center"]), tuple(numbers["rotation"])
        )
    low, high = np.array(numbers["min"]), np.array(numbers["max"])
    return Volume("box", tuple((high - low) / 2), tuple((high + low) / 2))


def vertices_in(space: str, vertices: np.ndarray) -> np.ndarray:
    """Convert points (n, 3) from Blender's space."""
    return vertices @ np.array(FROM_BLENDER[space], dtype=np.float64).T


def holds_tightly(outside: np.ndarray, points: np.ndarray, size: float, name: str, precision: float) -> None:
    """No point is outside, and one is at the surface, but for what `precision` has of size and distance."""
    far = float(np.abs(points).max())
    assert outside.max() <= 4 * np.finfo(float).eps * (far + size), name
    assert outside.max() >= -precision * (far + size), name


def box_holds_tightly(low: np.ndarray, high: np.ndarray, points: np.ndarray, name: str) -> None:
    for side in (points - high, low - points):
        for axis in range(3):
            holds_tightly(side[:, axis], points, float((high - low).max()), name, 1e-6)


def ball_holds_tightly(ball: np.ndarray, points: np.ndarray, name: str) -> None:
    holds_tightly(np.linalg.norm(points - ball[:3], axis=1) - ball[3], points, ball[3], name, 1e-6)


def overlaps_agree(
    names: Sequence[str],
    contacts: Iterable[dict[str, Any]],
    distance: Callable[[int, int], float],
    doubtful: Callable[[int, int], float],
) -> None:
    """Each pair that the engine has overlapping is in the document, and no other.

    doubtful : the distance of two below which an engine need not be right
    """
    expected = {frozenset((each["a"], each["b"])) for each in contacts}
    found = 0
    for a, b in combinations(range(len(names)), 2):
        gap = distance(a, b)
        if abs(gap) > doubtful(a, b):
            assert (frozenset((names[a], names[b])) in expected) == (gap < 0), (names[a], names[b], gap)
            found += gap < 0
    assert found > 2


def first_contacts_agree(
    document: dict[str, Any],
    times: np.ndarray,
    gaps: dict[frozenset[str], np.ndarray],
    tolerance: float,
    slack: float,
) -> None:
    """The engine has two apart until the document's first contact, and has them touch then.

    times (t,), gaps (t,) of each pair; tolerance is the engine's, slack by how many frames poses are off
    """
    first = {frozenset((each["a"], each["b"])): each["first"] for each in document["contacts"]}
    assert len(first) >= 3
    for pair, gap in gaps.items():
        if pair not in first:
            assert (gap > -tolerance).all(), pair
            continue
        frame, unsure = first[pair]["frame"], first[pair]["uncertainty"] + slack
        assert (gap[times < frame - unsure] > -tolerance).all(), pair
        after = (times >= frame + unsure) & (times < frame + 0.003)
        assert after.any() and (gap[after] < tolerance).all(), (pair, gap[after])
