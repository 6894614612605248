"""Labels: names of subjects next to their bounds, as many as have room."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ..texts import shared_prefixes, shortened
from .draw_data import Labels
from .flat import backed_size, draw_backed_texts, free_part, set_font_size, text_size

_MAX_LABELS = 100
"""More labels would be unreadable, and slow."""
_MAX_CANDIDATES = 400
"""Labels that are tried, the most important ones."""
_GAP = 6.0
"""Pixels between a box and its label."""
_MAX_TEXT = 160.0
"""Pixels that names are shortened to, at a scale of 1."""
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def screen_rectangles(
    positions: NDArray[np.float32], sizes: NDArray[np.float32], matrix: Floats, viewport: tuple[int, int]
) -> tuple[Floats, Floats, Ints]:
    """Project boxes into a view: return rectangles, depths and indices of those whose center is inside it.

    `positions` and `sizes` (n, 3) are centers and half extents in the world; `matrix` leads to the view's
    clip space. Rectangles (m, 4) are left, bottom, right and top in pixels from the bottom left of the view.
    The nearest has the least depth (m,).
    """
    clip = _to_clip(positions.astype(np.float64), matrix)
    with np.errstate(divide="ignore", invalid="ignore"):
        centers = clip[:, :3] / clip[:, 3:]
    inside = np.flatnonzero((clip[:, 3] > 0) & (np.abs(centers) <= 1).all(axis=1))
    corners = positions[inside, None] + sizes[inside, None] * _CORNERS
    clip = _to_clip(corners, matrix)
    # A corner behind the viewer has no place on the screen: the center stands for it.
    is_behind = clip[..., 3:] <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        projected = np.where(is_behind, centers[inside, None], clip[..., :3] / clip[..., 3:])
    pixels = (projected[..., :2] + 1) / 2 * np.array(viewport)
    return np.hstack([pixels.min(axis=1), pixels.max(axis=1)]), centers[inside, 2], inside


def _to_clip(points: Floats, matrix: Floats) -> Floats:
    """Return points (..., 3) as homogeneous coordinates (..., 4) of the view's clip space."""
    return points @ matrix[:, :3].T + matrix[:, 3]


def place_labels(
    rectangles: Floats, widths: Floats, height: float, free: tuple[float, float, float, float]
) -> list[Floats]:
    """Place labels next to rectangles (n, 4) in pixels, the most important first, each where no label is yet.

    No label covers the middle of its rectangle, or of one that has a label before it. Of the places around a
    rectangle, the label gets the one that covers the fewest middles. A label that would leave the part of the
    view that is free (left, bottom, right, top) is moved inside. `widths` are (n,), `height` is that of all.
    Returns left, bottom, right and top of each label; an empty array for a label without room.
    """
    labels, middles = np.empty((2, 0, 4))
    placed = [np.empty(0)] * len(rectangles)
    all_middles = (rectangles[:, :2] + rectangles[:, 2:]) / 2
    for number, (rectangle, width) in enumerate(zip(rectangles, widths.tolist(), strict=True)):
        boxes = _places_around(rectangle, np.array((width, height)), np.array(free))
        around = np.hstack([all_middles[number] - 1, all_middles[number] + 1])
        is_taken = _overlap(boxes, np.vstack([labels, middles, around]))
        has_room = ~is_taken & (boxes[:, 2:] <= free[2:]).all(axis=1)
        # The middle itself may be below a label that is more important.
        if has_room.any() and not _overlap(around[None], labels)[0]:
            is_covered = (boxes[:, None, :2] < all_middles) & (all_middles < boxes[:, None, 2:])
            counts = np.count_nonzero(is_covered.all(axis=2), axis=1)
            placed[number] = boxes[int(np.argmin(np.where(has_room, counts, np.inf)))]
            labels, middles = np.vstack([labels, placed[number]]), np.vstack([middles, around])
        if len(labels) == _MAX_LABELS:
            break
    return placed


def _places_around(rectangle: Floats, size: Floats, free: Floats) -> Floats:
    """Return the boxes (4, 4) of a label to the right, the left, above and below, moved into the view."""
    x, y = (rectangle[:2] + rectangle[2:] - size) / 2
    (left, bottom), (right, top) = rectangle[:2] - _GAP - size, rectangle[2:] + _GAP
    corners = np.clip([(right, y), (left, y), (x, top), (x, bottom)], free[:2], None)
    corners = np.clip(corners, None, np.maximum(free[:2], free[2:] - size))
    return np.hstack([corners, corners + size])


def _overlap(boxes: Floats, taken: Floats) -> Bools:
    """Return which boxes (n, 4) overlap any of the boxes (m, 4) that are taken."""
    is_apart = (boxes[:, None, :2] >= taken[:, 2:]) | (boxes[:, None, 2:] <= taken[:, :2])
    return np.asarray(np.any(~np.any(is_apart, axis=2), axis=1))


def draw_labels(labels: Labels, context: Any) -> None:
    """Draw labels into the region that Blender is drawing, in pixels."""
    matrix = np.array(context.region_data.perspective_matrix, dtype=np.float64)
    viewport = context.region.width, context.region.height
    rectangles, depths, indices = screen_rectangles(labels.positions, labels.sizes, matrix, viewport)
    order = np.lexsort((depths, labels.ranks[indices]))[:_MAX_CANDIDATES]
    set_font_size(context)
    widest = _MAX_TEXT * context.preferences.system.ui_scale
    prefixes = shared_prefixes(labels.texts)
    names = [
        shortened(name, prefixes[name], lambda text: text_size(text)[0] <= widest)
        for name in labels.texts[indices[order]].tolist()
    ]
    sizes = np.array([backed_size(name, context) for name in names]).reshape(-1, 2)
    height = sizes[:, 1].max(initial=0.0)
    placed = place_labels(rectangles[order], sizes[:, 0], height, free_part(context))
    shown = [number for number, box in enumerate(placed) if len(box)]
    boxes = np.array([placed[number] for number in shown]).reshape(-1, 4)
    draw_backed_texts([names[number] for number in shown], boxes, context)
