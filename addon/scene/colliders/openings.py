"""Sentences about the notches, holes and gaps of a mesh that a collider fills."""

from __future__ import annotations

import numpy as np

from ...core.messages import Message, message, template
from ...core.numeric.arrays import Bools, Floats, Ints
from ...core.numeric.components import connected_components
from ..fitting.quality import closed_volume
from .containment import ConvexVolume, ObjectSurface

_HOLES = message("fills notches or holes of its mesh")
_GAPS = template("fills the gaps between {count} pieces of its mesh")
_REMEDY = template("{filled}, up to {distance:.2g} from the surface: raise Parts to leave them open")
_VOLUME = template(
    "{filled}, up to {distance:.2g} from the surface, and has {ratio:.2g} times its volume: "
    "raise Parts to leave them open"
)
_LEAST_RATIO = 1.1
"""Ratio of the volumes of a collider and its mesh from which it is named."""
_MOST_PIECES = 500
"""Pieces of a mesh up to which all pairs of them are compared."""


def filled_text(source: ObjectSurface, volume: ConvexVolume, distance: float, is_alone: bool) -> Message:
    """Describe what a collider fills, up to a distance from the surface of its mesh.

    is_alone : Whether no other collider encloses the mesh, so that their volumes can be compared.
    """
    pieces = separate_pieces(source)
    tolerance = volume.slack + source.rounding
    bridged = sum(bool((volume.heights(points) <= tolerance).any()) for points in pieces)
    filled = message(_GAPS, count=bridged) if bridged > 1 else _HOLES
    inside = certain_volume(source) if is_alone else None
    if inside and (ratio := volume.volume / inside) >= _LEAST_RATIO:
        return message(_VOLUME, filled=filled, distance=distance, ratio=ratio)
    return message(_REMEDY, filled=filled, distance=distance)


def certain_volume(surface: ObjectSurface) -> float | None:
    """Volume in the world inside of a closed mesh; None if it is not certain.

    Pieces whose boxes overlap may overlap themselves, so their volumes cannot be added.
    """
    for mesh in (surface, surface.merged()):  # touching pieces are closed only without merging
        volume = closed_volume(mesh.points, mesh.triangles.astype(np.int32))
        if volume is not None:
            boxes = _boxes(mesh, *_components(mesh))
            is_other = None if boxes is None else ~np.eye(len(boxes), dtype=bool)
            is_unclear = boxes is None or (_overlaps(boxes, -mesh.rounding) & is_other).any()
            return None if is_unclear else volume
    return None


def separate_pieces(surface: ObjectSurface) -> list[Floats]:
    """Return the vertices (n, 3) of pieces of a mesh that are certainly apart: their boxes do not touch.

    A single piece if there are more than 500 loose parts.
    """
    mesh = surface.merged()
    rows, component = _components(mesh)
    boxes = _boxes(mesh, rows, component)
    if boxes is None:
        return [mesh.points]
    # Boxes of several parts can touch others than the parts do.
    count = -1
    while count != len(boxes):
        count = len(boxes)
        group = connected_components(count, np.argwhere(_overlaps(boxes, mesh.rounding)))
        component = group[component]
        boxes = _joined(boxes, group)
    return [mesh.points[rows[component == k]] for k in range(count)]


def _components(mesh: ObjectSurface) -> tuple[Ints, Ints]:
    """Vertices (n,) with faces, and the number (n,) of the loose part of each."""
    edges = mesh.triangles[:, [[0, 1], [1, 2]]].reshape(-1, 2)
    rows = np.unique(mesh.triangles)
    found = connected_components(len(mesh.local), edges)[rows]
    return rows, np.unique(found, return_inverse=True)[1].reshape(-1)


def _boxes(mesh: ObjectSurface, rows: Ints, component: Ints) -> Floats | None:
    """Boxes (k, 2, 3) around loose parts, low and high corners; None if there are too many, or none."""
    count = int(component.max(initial=-1)) + 1
    if not 0 < count <= _MOST_PIECES:
        return None
    points = mesh.points[rows]
    return _joined(np.stack([points, points], axis=1), component)


def _joined(boxes: Floats, group: Ints) -> Floats:
    """Boxes (k, 2, 3) around boxes (n, 2, 3) of each group."""
    joined = np.tile(np.array([[np.inf], [-np.inf]]), (int(group.max()) + 1, 1, 3))
    np.minimum.at(joined[:, 0], group, boxes[:, 0])
    np.maximum.at(joined[:, 1], group, boxes[:, 1])
    return joined


def _overlaps(boxes: Floats, tolerance: float) -> Bools:
    """Return whether boxes (n, n) overlap, or are nearer than a tolerance; negative to ignore contact."""
    low, high = boxes[:, 0], boxes[:, 1]
    is_below: Bools = np.all(low[:, None] <= high[None] + tolerance, axis=-1)
    return is_below & is_below.T
