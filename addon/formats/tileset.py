"""Bounds as a 3D Tiles 1.1 tileset without content: what tools that cull and stream by it need to know.

3D Tiles counts in metres with Z up, right-handed: documents for it are written in `TILES_SPACE`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import CollisionBoundsError
from .rounding import ends_of, middle_and_half, plain
from .spaces import Convention, Floats, matrix_of

TILES_SPACE = Convention("custom", "+Z", "-Y", "right", 1.0)

_SLACK = 32 * np.finfo(np.float64).eps
"""What products and sums of a few rounded numbers may lose, as part of the largest of them."""


class TilesetError(CollisionBoundsError):
    """A document that makes no tileset."""


def tileset(document: dict[str, Any]) -> dict[str, Any]:
    """One tile an object below a root that holds them all, as plain dicts and lists.

    A tile's volume is the object's oriented box, else its box, else its sphere; name and id are in its
    extras. The root's geometric error is its diagonal: without its children nothing of it is shown.

    Raises TilesetError for a document in another space, or without bounds.
    """
    space = document["space"]
    if (space["up"], space["handedness"], space["metersPerUnit"]) != ("+Z", "right", 1):
        raise TilesetError("3D Tiles are in metres with Z up, right-handed, and this document is not")
    tiles: list[dict[str, Any]] = [
        {
            "boundingVolume": volume,
            "geometricError": 0,
            "extras": {"name": entry["name"], "id": entry["id"]},
        }
        for entry in document["objects"]
        if (volume := _volume(entry["world"]))
    ]
    if not tiles:
        raise TilesetError("3D Tiles need an object with bounds, and there is none")
    spans = np.array([_span(tile["boundingVolume"]) for tile in tiles])
    center, half = middle_and_half(spans[:, 0].min(axis=0), spans[:, 1].max(axis=0))
    error = float(2 * np.sqrt((half**2).sum()))
    return {
        "asset": {"version": "1.1"},
        "geometricError": error,
        "root": {
            "boundingVolume": {"box": _box(center, np.diag(half))},
            "geometricError": error,
            "refine": "ADD",
            "children": tiles,
        },
    }


def _volume(world: dict[str, Any]) -> dict[str, list[float]]:
    """The tightest of the shapes as a bounding volume; empty for none."""
    if turned := world.get("obb"):
        half = np.array(turned["halfExtents"], dtype=np.float64)
        axes = matrix_of(turned["rotation"]).T * (half + _SLACK * half.max())[:, None]
        return {"box": _box(np.array(turned["center"], dtype=np.float64), axes)}
    if box := world.get("aabb"):
        low, high = (np.array(box[key], dtype=np.float64) for key in ("min", "max"))
        center, half = middle_and_half(low, high)
        return {"box": _box(center, np.diag(half))}
    if ball := world.get("sphere"):
        return {"sphere": [*ball["center"], ball["radius"]]}
    return {}


def _box(center: Floats, axes: Floats) -> list[float]:
    """Twelve numbers: the center, then each half axis, the rows of `axes` (3, 3)."""
    numbers: list[float] = plain(np.concatenate([center, axes.reshape(-1)]))
    return numbers


def _span(volume: dict[str, list[float]]) -> tuple[Floats, Floats]:
    """The corners (3,) of the axis-aligned box around a volume, or a little more."""
    if "sphere" in volume:
        center, reach = np.array(volume["sphere"][:3]), np.full(3, volume["sphere"][3])
    else:
        numbers = np.array(volume["box"])
        center, axes = numbers[:3], np.abs(numbers[3:].reshape(3, 3))
        reach = axes.sum(axis=0)
        if np.count_nonzero(axes) > 3:
            reach = reach * (1 + _SLACK)
    return ends_of(center, reach)
