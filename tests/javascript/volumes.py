"""Documents with slightly enlarged or shrunk shapes, to measure tightness in engines."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.scene.independent import rotation_matrix

Document = dict[str, Any]
By = Callable[[dict], float]
"""Distance by which the sides of an object's shapes move."""

SINGLE_PRECISION = 2.0**-21
"""Rounding error of shapes and points in single precision, relative to size and distance."""


def single_precision(entry: dict) -> float:
    box = entry["world"]["aabb"]
    low, high = np.array(box["min"]), np.array(box["max"])
    return SINGLE_PRECISION * float(np.maximum(np.abs(low), np.abs(high)).max() + (high - low).max())


def grown(document: Document, by: By) -> Document:
    """Enlarge all world shapes by this on every side; negative values shrink them, down to size zero."""
    changed = copy.deepcopy(document)
    for entry in changed["objects"]:
        world, amount = entry["world"], by(entry)
        if box := world.get("aabb"):
            low, high = np.array(box["min"]), np.array(box["max"])
            step = np.maximum(amount, -(high - low) / 2)
            box["min"], box["max"] = (low - step).tolist(), (high + step).tolist()
        if ball := world.get("sphere"):
            ball["radius"] = max(ball["radius"] + amount, 0)
        if turned := world.get("obb"):
            turned["halfExtents"] = np.maximum(np.array(turned["halfExtents"]) + amount, 0).tolist()
    return changed


def with_a_side_moved_in(document: Document, by: By) -> Iterator[tuple[Document, dict[str, set[str]]]]:
    """Six times the document with one side of each box further in, and each sphere smaller.

    Beside it, by kind, the ids of shapes thinner than that, which were left as they are.
    """
    for axis in range(3):
        for sign in (-1, 1):
            changed = copy.deepcopy(document)
            left: dict[str, set[str]] = {"box": set(), "sphere": set(), "obb": set()}
            for entry in changed["objects"]:
                world, amount = entry["world"], by(entry)
                box, ball, turned = world["aabb"], world["sphere"], world["obb"]
                if box["max"][axis] - box["min"][axis] < 2 * amount:
                    left["box"].add(entry["id"])
                else:
                    box["max" if sign > 0 else "min"][axis] -= sign * amount
                if turned["halfExtents"][axis] < amount:
                    left["obb"].add(entry["id"])
                else:
                    along = rotation_matrix(turned["rotation"])[:, axis]
                    turned["center"] = (np.array(turned["center"]) - sign * amount / 2 * along).tolist()
                    turned["halfExtents"][axis] -= amount / 2
                if ball["radius"] < amount:
                    left["sphere"].add(entry["id"])
                else:
                    ball["radius"] -= amount
            yield changed, left
