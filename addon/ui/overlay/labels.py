"""Labels: names of subjects next to their bounds, as many as have room."""

from __future__ import annotations

from itertools import product
from typing import Any

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from .draw_data import DrawData

_MAX_LABELS = 100
"""More labels would be unreadable, and slow."""
_MAX_CANDIDATES = 400
"""Labels that are tried, the most important ones."""
_FONT_SIZE = 11.0
_MARGIN, _GAP = 3.0, 6.0
"""Pixels around a text, and between a box and its label."""
_BACKING = 0.65
"""Opacity of the rectangle behind a text."""
_CORNERS = np.array(list(product((-1.0, 1.0), repeat=3)))


def screen_rectangles(
    positions: NDArray[np.float32], sizes: NDArray[np.float32], matrix: Floats, viewport: tuple[int, int]
) -> tuple[Floats, Floats, Ints]:
    """Project boxes into a view, and return those whose center is inside it.

    Parameters
    ----------
    positions, sizes : (n, 3) float32
        Centers and half extents, in world space.
    matrix : (4, 4) float
        From world space to the view's clip space.
    viewport : (width, height)
        Of the view, in pixels.

    Returns
    -------
    rectangles : (m, 4) float64
        Left, bottom, right and top of each, in pixels from the bottom left of the view.
    depths : (m,) float64
        Of the centers; the nearest is the least.
    indices : (m,) int
        The box of each.
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
    rectangles: Floats, widths: Floats, height: float, viewport: tuple[int, int]
) -> list[Floats]:
    """Place labels next to rectangles, in order, each where no label before it is.

    Parameters
    ----------
    rectangles : (n, 4) float
        Of what is labeled, the most important first, in pixels.
    widths : (n,) float
        Of the labels.
    height : float
        Of all labels.
    viewport : (width, height)
        Of the view. A label keeps inside it.

    Returns
    -------
    placed : list of n (4,) arrays
        Left, bottom, right and top of each label; an empty array for a label without room.
    """
    taken = np.empty((0, 4))
    placed = []
    for (left, bottom, right, top), width in zip(rectangles.tolist(), widths.tolist(), strict=True):
        middle = (bottom + top - height) / 2
        spots = (
            (right + _GAP, middle),
            (left - _GAP - width, middle),
            ((left + right - width) / 2, top + _GAP),
            ((left + right - width) / 2, bottom - _GAP - height),
        )
        label = np.empty(0)
        for x, y in spots:
            box = np.array((x, y, x + width, y + height))
            is_inside = x >= 0 and y >= 0 and box[2] <= viewport[0] and box[3] <= viewport[1]
            if is_inside and not ((taken[:, :2] < box[2:]) & (taken[:, 2:] > box[:2])).all(axis=1).any():
                label, taken = box, np.vstack([taken, box])
                break
        placed.append(label)
        if len(taken) == _MAX_LABELS:
            break
    return placed + [np.empty(0)] * (len(rectangles) - len(placed))


def draw_labels(data: DrawData, context: Any) -> None:
    """Draw labels into the region that Blender is drawing, in pixels."""
    if not data.labels:
        return
    region, view = context.region, context.region_data
    matrix = np.array(view.perspective_matrix, dtype=np.float64)
    viewport = region.width, region.height
    rectangles, depths, indices = screen_rectangles(data.label_positions, data.label_sizes, matrix, viewport)
    order = np.lexsort((depths, data.label_ranks[indices]))[:_MAX_CANDIDATES]
    names = [data.labels[index] for index in indices[order].tolist()]
    font, scale = 0, context.preferences.system.ui_scale
    blf.size(font, _FONT_SIZE * scale)
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    extents: list[Any] = [blf.dimensions(font, name) for name in names]
    margin = _MARGIN * scale
    widths = np.array([extent[0] + 2 * margin for extent in extents])
    height = max((extent[1] for extent in extents), default=0.0) + 2 * margin
    placed = place_labels(rectangles[order], widths, height, viewport)
    _draw_backing([box for box in placed if len(box)])
    theme = context.preferences.themes[0].view_3d.space
    red, green, blue = theme.text_hi
    blf.color(font, red, green, blue, 1.0)
    for name, box in zip(names, placed, strict=True):
        if len(box):
            blf.position(font, float(box[0]) + margin, float(box[1]) + margin, 0)
            blf.draw(font, name)


def _draw_backing(boxes: list[Floats]) -> None:
    """Draw a dark rectangle behind each label."""
    if not boxes:
        return
    corners = np.array(boxes, dtype=np.float32)[:, [0, 1, 2, 1, 2, 3, 0, 1, 2, 3, 0, 3]].reshape(-1, 2)
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": corners.tolist()})
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("color", (0.0, 0.0, 0.0, _BACKING))
    batch.draw(shader)
    gpu.state.blend_set("NONE")
