"""Copies of documents with slightly enlarged or shrunk shapes, to measure tightness in engines."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.scene.independent.geometry import rotation_matrix

Document = dict[str, Any]
Margin = Callable[[dict], float]
"""Distance by which the sides of an object's shapes are moved."""

SINGLE_PRECISION = 2.0**-21
"""Rounding error of shapes and points in single precision, relative to size and distance."""


def single_precision(entry: dict) -> float:
    """Return the rounding error of an object's shapes in single precision."""
    box = entry["world"]["aabb"]
    low, high = np.array(box["min"]), np.array(box["max"])
    return SINGLE_PRECISION * float(np.maximum(np.abs(low), np.abs(high)).max() + (high - low).max())


def grown(document: Document, margin: Margin) -> Document:
    """Enlarge all world shapes on every side; negative margins shrink them, down to size zero."""
    changed = copy.deepcopy(document)
    for entry in changed["objects"]:
        world, amount = entry["world"], margin(entry)
        if box := world.get("aabb"):
            low, high = np.array(box["min"]), np.array(box["max"])
            step = np.maximum(amount, -(high - low) / 2)
            box["min"], box["max"] = (low - step).tolist(), (high + step).tolist()
        if sphere := world.get("sphere"):
            sphere["radius"] = max(sphere["radius"] + amount, 0)
        if oriented := world.get("obb"):
            oriented["halfExtents"] = np.maximum(np.array(oriented["halfExtents"]) + amount, 0).tolist()
    return changed


def with_side_moved_inward(
    document: Document, margin: Margin
) -> Iterator[tuple[Document, dict[str, set[str]]]]:
    """Yield six copies of a document with one side of each box moved inward, and each sphere smaller.

    The second item of each pair has, by kind, the ids of shapes that are too thin for that, which are
    unchanged.
    """
    for axis in range(3):
        for sign in (-1, 1):
            changed = copy.deepcopy(document)
            thin: dict[str, set[str]] = {"box": set(), "sphere": set(), "obb": set()}
            for entry in changed["objects"]:
                world, amount = entry["world"], margin(entry)
                box, sphere, oriented = world["aabb"], world["sphere"], world["obb"]
                if box["max"][axis] - box["min"][axis] < 2 * amount:
                    thin["box"].add(entry["id"])
                else:
                    box["max" if sign > 0 else "min"][axis] -= sign * amount
                if oriented["halfExtents"][axis] < amount:
                    thin["obb"].add(entry["id"])
                else:
                    along = rotation_matrix(oriented["rotation"])[:, axis]
                    oriented["center"] = (np.array(oriented["center"]) - sign * amount / 2 * along).tolist()
                    oriented["halfExtents"][axis] -= amount / 2
                if sphere["radius"] < amount:
                    thin["sphere"].add(entry["id"])
                else:
                    sphere["radius"] -= amount
            yield changed, thin
