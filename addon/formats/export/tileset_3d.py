"""Bounds as a 3D Tiles 1.1 tileset without content, for tools that cull and stream by bounding volumes.

3D Tiles are in meters with Z up, right-handed: their documents are written in `TILES_SPACE`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import Aabb, CollisionBoundsError, Obb, Sphere
from ...core.messages import message
from ...core.numeric.arrays import Floats, cross, perpendicular
from ..shape_members import read_shape
from ..spaces import Convention, center_and_half_extents, interval_around, to_lists

TILES_SPACE = Convention("custom", "+Z", "-Y", "right", 1.0, applies_unit_scale=False)

_SLACK = 32 * np.finfo(np.float64).eps
"""Rounding error of products and sums of a few numbers, relative to the largest of them."""


class TilesetError(CollisionBoundsError):
    """The document cannot be converted to a tileset."""


def tileset(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a document to a root tile with one child tile for each object.

    A tile's bounding volume is the object's oriented box, else its box, else its sphere, else a box around
    its capsule or cylinder. The root encloses all tiles. Its geometric error is its diagonal, so that viewers
    refine it before it has a pixel.

    document : In TILES_SPACE.
    Returns file : dict. Of dicts and lists, with names and ids in the tiles' extras.
    Raises TilesetError: for a document in another space, or without bounds.
    """
    space = document["space"]
    if (space["up"], space["handedness"], space["metersPerUnit"]) != ("+Z", "right", 1):
        raise TilesetError("3D Tiles need a document in meters, right-handed, with Z up")
    tiles: list[dict[str, Any]] = [
        {"boundingVolume": volume, "geometricError": 0, "extras": {"name": entry["name"], "id": entry["id"]}}
        for entry in document["objects"]
        if (volume := _bounding_volume(entry["world"]))
    ]
    if not tiles:
        raise TilesetError(message("3D Tiles need at least one object with bounds"))
    corners = np.array([_box_corners(tile["boundingVolume"]) for tile in tiles])
    center, half = center_and_half_extents(corners[:, 0].min(axis=0), corners[:, 1].max(axis=0))
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


def _bounding_volume(world: dict[str, Any]) -> dict[str, list[float]]:
    """Bounding volume of the tightest shape; empty without any."""
    key = next((key for key in ("obb", "aabb", "sphere", "capsule", "cylinder") if key in world), None)
    if key is None:
        return {}
    shape = read_shape(key, world[key])
    if isinstance(shape, Aabb):
        center, half = center_and_half_extents(shape.min, shape.max)
        return {"box": _box(center, np.diag(half))}
    if isinstance(shape, Sphere):
        return {"sphere": [*world[key]["center"], world[key]["radius"]]}
    if isinstance(shape, Obb):
        axes, sizes = shape.rotation.T, shape.half_extents
    else:
        side = perpendicular(shape.axis)
        along = shape.half_length + (shape.radius if key == "capsule" else 0.0)
        axes = np.stack([side, cross(shape.axis, side), shape.axis])
        sizes = np.array([shape.radius, shape.radius, along])
    return {"box": _box(shape.center, axes * (sizes + _SLACK * sizes.max())[:, None])}


def _box(center: Floats, axes: Floats) -> list[float]:
    """Twelve numbers: the center, then the half axes, which are the rows of `axes` (3, 3)."""
    return list(to_lists(np.concatenate([center, axes.reshape(-1)])))


def _box_corners(volume: dict[str, list[float]]) -> tuple[Floats, Floats]:
    """Min and max (3,) of the axis-aligned box around a volume, exact or rounded outward."""
    if "sphere" in volume:
        center, reach = np.array(volume["sphere"][:3]), np.full(3, volume["sphere"][3])
    else:
        numbers = np.array(volume["box"])
        center, axes = numbers[:3], np.abs(numbers[3:].reshape(3, 3))
        reach = axes.sum(axis=0)
        if np.count_nonzero(axes) > 3:  # sums of several numbers, which are rounded
            reach = reach * (1 + _SLACK)
    return interval_around(center, reach)
