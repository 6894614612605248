"""Labels: names of subjects next to their bounds, as many as have room."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import blf
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ..short_names import shared_prefixes, shortened
from .draw_data import DrawData

_MAX_LABELS = 100
"""More labels would be unreadable, and slow."""
_MAX_CANDIDATES = 400
"""Labels that are tried, the most important ones."""
_FONT_SIZE = 11.0
_MARGIN, _GAP = 3.0, 6.0
"""Pixels around a text, and between a box and its label."""
_BACKING = 0.85
"""Least opacity of the rectangle behind a text."""
_MAX_TEXT = 160.0
"""Pixels that names are shortened to, at a scale of 1."""
_BELOW_MOUSE = 16.0
"""Pixels from the tip of the mouse pointer to a tooltip below it."""
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
    rectangles: Floats, widths: Floats, height: float, free: tuple[float, float, float, float]
) -> list[Floats]:
    """Place labels next to rectangles, in order, each where no label before it is.

    No label covers the middle of its rectangle, or of one that has a label before it. Of the places around a
    rectangle, the label gets the one that covers the fewest middles. A label that would leave the view is
    moved inside.

    Parameters
    ----------
    rectangles : (n, 4) float
        Of what is labeled, the most important first, in pixels.
    widths : (n,) float
        Of the labels.
    height : float
        Of all labels.
    free : (left, bottom, right, top)
        Part of the view that labels may be in.

    Returns
    -------
    placed : list of n (4,) arrays
        Left, bottom, right and top of each label; an empty array for a label without room.
    """
    labels, middles = np.empty((2, 0, 4))
    placed: list[Floats] = []
    low = np.array(free[:2])
    all_middles = (rectangles[:, :2] + rectangles[:, 2:]) / 2
    for (left, bottom, right, top), width in zip(rectangles.tolist(), widths.tolist(), strict=True):
        middle = np.array((left + right, bottom + top)) / 2
        size = np.array((width, height))
        x, y = middle - size / 2
        spots = np.array(
            ((right + _GAP, y), (left - _GAP - width, y), (x, top + _GAP), (x, bottom - _GAP - height))
        )
        spots = np.clip(spots, low, np.maximum(low, np.array(free[2:]) - size))
        boxes = np.hstack([spots, spots + size])
        around = np.hstack([middle - 1, middle + 1])
        has_room = ~_overlap(boxes, np.vstack([labels, middles, around])) & (boxes[:, 2:] <= free[2:]).all(
            axis=1
        )
        # The middle itself may be below a label that is more important.
        if has_room.any() and not _overlap(around[None], labels)[0]:
            placed.append(boxes[int(np.argmin(np.where(has_room, _covered(boxes, all_middles), np.inf)))])
            labels, middles = np.vstack([labels, placed[-1]]), np.vstack([middles, around])
        else:
            placed.append(np.empty(0))
        if len(labels) == _MAX_LABELS:
            break
    return placed + [np.empty(0)] * (len(rectangles) - len(placed))


def _overlap(boxes: Floats, taken: Floats) -> Bools:
    """Return which boxes (n, 4) overlap any of the boxes (m, 4) that are taken."""
    is_apart = (boxes[:, None, :2] >= taken[:, 2:]) | (boxes[:, None, 2:] <= taken[:, :2])
    return np.asarray(np.any(~np.any(is_apart, axis=2), axis=1))


def _covered(boxes: Floats, points: Floats) -> Ints:
    """Return how many of the points (m, 2) each of the boxes (n, 4) covers."""
    is_inside = (boxes[:, None, :2] < points) & (points < boxes[:, None, 2:])
    return np.asarray(np.count_nonzero(is_inside.all(axis=2), axis=1))


def draw_labels(data: DrawData, context: Any) -> None:
    """Draw labels into the region that Blender is drawing, in pixels."""
    if not len(data.labels.owners):
        return
    region, view = context.region, context.region_data
    matrix = np.array(view.perspective_matrix, dtype=np.float64)
    viewport = region.width, region.height
    rectangles, depths, indices = screen_rectangles(
        data.labels.positions, data.labels.sizes, matrix, viewport
    )
    order = np.lexsort((depths, data.labels.ranks[indices]))[:_MAX_CANDIDATES]
    font, scale = 0, context.preferences.system.ui_scale
    blf.size(font, _FONT_SIZE * scale)

    def fits(text: str) -> bool:
        extent: Any = blf.dimensions(font, text)  # the type stubs of Blender 4.2 lack the return type
        return bool(extent[0] <= _MAX_TEXT * scale)

    prefixes, labels = shared_prefixes(data.labels.texts), data.labels.texts[indices[order]].tolist()
    names = [shortened(label, prefixes[label], fits) for label in labels]
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    extents: list[Any] = [blf.dimensions(font, name) for name in names]
    margin = _MARGIN * scale
    widths = np.array([extent[0] + 2 * margin for extent in extents])
    height = max((extent[1] for extent in extents), default=0.0) + 2 * margin
    placed = place_labels(rectangles[order], widths, height, free_part(context))
    shown = [(name, box) for name, box in zip(names, placed, strict=True) if len(box)]
    _draw_texts([name for name, _ in shown], [box for _, box in shown], margin, context)


def draw_tooltip(text: str, mouse: tuple[float, float], context: Any) -> None:
    """Draw a text below the mouse, inside the region that Blender is drawing, in pixels."""
    scale = context.preferences.system.ui_scale
    blf.size(0, _FONT_SIZE * scale)
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    extent: Any = blf.dimensions(0, text)
    margin = _MARGIN * scale
    width, height = extent[0] + 2 * margin, extent[1] + 2 * margin
    left = max(0.0, min(mouse[0], context.region.width - width))
    bottom = mouse[1] - _BELOW_MOUSE * scale - height
    if bottom < 0:
        bottom = mouse[1] + _GAP * scale
    _draw_texts([text], [np.array((left, bottom, left + width, bottom + height))], margin, context)


def _draw_texts(texts: Sequence[str], boxes: Sequence[Floats], margin: float, context: Any) -> None:
    """Draw texts, each in a box with a backing, in the size that was set last."""
    # The theme's colors of tooltips contrast with each other in each theme.
    theme = context.preferences.themes[0].user_interface.wcol_tooltip
    draw_backing(boxes, theme.inner)
    red, green, blue = theme.text
    blf.color(0, red, green, blue, 1.0)
    for text, box in zip(texts, boxes, strict=True):
        blf.position(0, box[0] + margin, box[1] + margin, 0)
        blf.draw(0, text)


def free_part(context: Any) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of the part of a region that no toolbar or sidebar covers."""
    region = context.region
    left, right = 0, region.width
    for other in context.area.regions:
        if other.type == "TOOLS" and other.width > 1:
            left = max(left, other.x + other.width - region.x)
        if other.type == "UI" and other.width > 1:
            right = min(right, other.x - region.x)
    return left, 0.0, max(left, right), region.height


def draw_backing(boxes: Sequence[Floats], color: Any) -> None:
    """Draw a rectangle behind each label."""
    if not boxes:
        return
    corners = np.array(boxes, dtype=np.float32)[:, [0, 1, 2, 1, 2, 3, 0, 1, 2, 3, 0, 3]].reshape(-1, 2)
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    shader: Any = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "TRIS", {"pos": corners.tolist()})
    gpu.state.blend_set("ALPHA")
    shader.bind()
    shader.uniform_float("color", (*color[:3], max(color[3], _BACKING)))
    batch.draw(shader)
    gpu.state.blend_set("NONE")
