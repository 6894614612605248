"""Drawing in pixels of the region that Blender draws: rectangles, lines, texts, and labels.

Labels are the names of subjects next to their bounds, as many as have room.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

from ...core.numeric.arrays import Bools, Floats, Ints
from ..texts import shared_prefixes, shortened
from .draw_data import Labels

FONT_SIZE = 11.0
"""Of all texts, at a scale of 1."""
_MARGIN, _GAP = 3.0, 6.0
"""Pixels around a text, and between a box and its label, or the mouse and a tooltip above it."""
_BACKING = 0.85
"""Least opacity of the rectangle behind a text."""
_BELOW_MOUSE = 16.0
"""Pixels from the tip of the mouse pointer to a tooltip below it."""


def _draw(kind: Any, shader_name: str, columns: dict[str, Any], **uniforms: Any) -> None:
    """Draw triangles or lines of columns of vertices, in single precision, over what is drawn already."""
    if not len(columns["pos"]):
        return
    # Annotated because the type stubs of Blender 4.2 lack the return type.
    shader: Any = gpu.shader.from_builtin(shader_name)
    singles: Any = {name: np.asarray(column, dtype=np.float32) for name, column in columns.items()}
    batch = batch_for_shader(shader, kind, singles)
    gpu.state.blend_set("ALPHA")
    shader.bind()
    for name, value in uniforms.items():
        shader.uniform_float(name, value)
    batch.draw(shader)
    gpu.state.blend_set("NONE")


def draw_triangles(corners: Floats, color: Sequence[float]) -> None:
    """Draw triangles of corners (3 n, 2)."""
    _draw("TRIS", "UNIFORM_COLOR", {"pos": corners}, color=color)


def draw_rectangles(rectangles: Floats, colors: Floats) -> None:
    """Draw rectangles (n, 4), of left, bottom, right and top, in colors (n, 4)."""
    corners = rectangles[:, [0, 1, 2, 1, 2, 3, 0, 1, 2, 3, 0, 3]].reshape(-1, 2)
    _draw("TRIS", "FLAT_COLOR", {"pos": corners, "color": np.repeat(colors, 6, axis=0)})


def draw_lines(points: Floats, color: Sequence[float], width: float, context: Any) -> None:
    """Draw lines between pairs of points (2 n, 2)."""
    flat = np.pad(points, ((0, 0), (0, 1)))
    size = context.region.width, context.region.height
    _draw("LINES", "POLYLINE_UNIFORM_COLOR", {"pos": flat}, viewportSize=size, lineWidth=width, color=color)


def set_font_size(context: Any) -> None:
    """Set the size of the texts that are drawn and measured from now on."""
    blf.size(0, FONT_SIZE * context.preferences.system.ui_scale)


def text_size(text: str) -> tuple[float, float]:
    """Return width and height of a text in the size that was set last."""
    extent: Any = blf.dimensions(0, text)  # the type stubs of Blender 4.2 lack the return type
    return extent[0], extent[1]


def draw_text(text: str, position: Sequence[float], color: Sequence[float], alignment: float = 0.0) -> None:
    """Draw a text in the size that was set last; `alignment` is the part of it left of the position."""
    blf.color(0, *color)
    blf.position(0, position[0] - (alignment * text_size(text)[0] if alignment else 0.0), position[1], 0)
    blf.draw(0, text)


def tooltip_theme(context: Any) -> Any:
    """Return the theme of tooltips, whose colors contrast with each other in each theme."""
    return context.preferences.themes[0].user_interface.wcol_tooltip


def draw_backing(boxes: Floats, context: Any) -> None:
    """Draw the rectangles (n, 4) behind texts."""
    color = tooltip_theme(context).inner
    draw_rectangles(boxes, np.tile((*color[:3], max(color[3], _BACKING)), (len(boxes), 1)))


def backed_size(text: str, context: Any) -> tuple[float, float]:
    """Return width and height of a text with its backing, in the size that was set last."""
    width, height = text_size(text)
    margin = 2 * _MARGIN * context.preferences.system.ui_scale
    return width + margin, height + margin


def draw_backed_texts(texts: Sequence[str], boxes: Floats, context: Any) -> None:
    """Draw texts, each in one of the boxes (n, 4), in the size that was set last."""
    draw_backing(boxes, context)
    margin, color = _MARGIN * context.preferences.system.ui_scale, (*tooltip_theme(context).text, 1.0)
    for text, corner in zip(texts, boxes[:, :2] + margin, strict=True):
        draw_text(text, corner, color)


def draw_tooltip(text: str, mouse: tuple[float, float], context: Any) -> None:
    """Draw a text below the mouse, inside the region."""
    scale = context.preferences.system.ui_scale
    set_font_size(context)
    width, height = backed_size(text, context)
    left = max(0.0, min(mouse[0], context.region.width - width))
    bottom = mouse[1] - _BELOW_MOUSE * scale - height
    if bottom < 0:
        bottom = mouse[1] + _GAP * scale
    draw_backed_texts([text], np.array([(left, bottom, left + width, bottom + height)]), context)


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


def playhead_color(context: Any) -> tuple[float, ...]:
    theme = context.preferences.themes[0]
    is_common = bpy.app.version >= (5, 0)
    return tuple(theme.common.anim.playhead if is_common else theme.dopesheet_editor.frame_current)[:3]


_MAX_LABELS = 100
"""More labels would be unreadable, and slow."""
_MAX_CANDIDATES = 400
"""Labels that are tried, the most important ones."""
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
    clip = _to_clip(positions[inside, None] + sizes[inside, None] * _CORNERS, matrix)
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
