"""Drawing in pixels of the region that Blender draws: rectangles, lines and texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ...core.numeric.arrays import Floats

FONT_SIZE = 11.0
"""Of all texts, at a scale of 1."""
_MARGIN, _GAP = 3.0, 6.0
"""Pixels around a text, and between the mouse and a tooltip above it."""
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
    """Return the color of the playhead in the theme."""
    theme = context.preferences.themes[0]
    is_common = bpy.app.version >= (5, 0)
    return tuple(theme.common.anim.playhead if is_common else theme.dopesheet_editor.frame_current)[:3]
