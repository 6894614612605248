"""Small graph of a separation as an image, because panels draw nothing but widgets and images."""

from __future__ import annotations

from typing import Any

import bpy
import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

from ....core.numeric.arrays import Floats
from ....scene.jobs.pair_separation import SeparationCurve
from ...properties.preferences import preferences
from .axes import GraphAxes

_FILL, _ZERO, _GROUND = 0.35, 0.6, 0.07
"""Opacities of the area below zero, of the zero line and of the background."""
_NAME, _BLANK = "separation", "blank"


def graph_pixels(
    curve: SeparationCurve,
    size: tuple[int, int],
    playhead: float,
    colors: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]],
    thickness: int = 1,
) -> NDArray[np.float32]:
    """Draw a graph.

    Parameters
    ----------
    curve : SeparationCurve
    size : (int, int)
        Width and height in pixels.
    playhead : float
        Frame with a vertical line.
    colors : three of (red, green, blue)
        Of lines, of contact and of the playhead.
    thickness : int
        Of lines, in pixels.

    Returns
    -------
    pixels : (height, width, 4) float32
        The lowest row first.
    """
    width, height = size
    line, contact, now = (np.array((*color[:3], 1.0), dtype=np.float32) for color in colors)
    pixels = np.empty((height, width, 4), dtype=np.float32)
    pixels[:] = line * (1, 1, 1, _GROUND)
    axes, rows = GraphAxes.of(curve), np.arange(height)[:, None]
    low, high = _column_ranges(curve, axes, width)
    bottom, top = axes.up(low) * height, axes.up(high) * height
    zero = float(axes.up(np.array([0.0]))[0]) * height
    pixels[(rows >= bottom) & (rows < zero)] = contact * (1, 1, 1, _FILL)
    column = axes.across(np.array([playhead]))[0] * width
    pixels[np.broadcast_to(np.abs(rows - zero) < thickness / 2 + 0.01, (height, width))] = line * (
        1,
        1,
        1,
        _ZERO,
    )
    is_line = (rows >= bottom - thickness) & (rows <= top + thickness)
    pixels[is_line] = line
    pixels[is_line & (rows < zero)] = contact
    # A contact that is shallower than a pixel is marked on the zero line.
    pixels[(np.abs(rows - zero) <= 1.5 * thickness) & (low < 0)] = contact
    if 0 <= column <= width:
        begin = min(int(column), width - thickness)
        pixels[:, begin : begin + thickness] = now
    return pixels


def _column_ranges(curve: SeparationCurve, axes: GraphAxes, width: int) -> tuple[Floats, Floats]:
    """Return the least and the greatest separation within each column (width,); NaN for none.

    A contact between frames may be narrower than a column.
    """
    edges = axes.first + np.arange(width + 1) / width * (axes.last - axes.first)
    values = np.interp(edges, curve.frames, curve.values)
    low = np.fmin(values[:-1], values[1:])
    high = np.fmax(values[:-1], values[1:])
    column = np.clip((axes.across(curve.frames) * width).astype(np.int64), 0, width - 1)
    np.fmin.at(low, column, curve.values)
    np.fmax.at(high, column, curve.values)
    return low, high


class _Icon:
    """The image that was drawn last, and what it shows."""

    previews: Any = None
    key: tuple[object, ...] = ()


def graph_icon(curve: SeparationCurve, size: tuple[int, int], playhead: float, context: Any) -> int:
    """Return the icon of the graph of a curve, for `template_icon`; drawn again only if it has changed."""
    if _Icon.previews is None:
        _Icon.previews = bpy.utils.previews.new()
    icon = _Icon.previews.get(_NAME) or _Icon.previews.new(_NAME)
    colors, scale = _theme_colors(context), context.preferences.system.ui_scale
    key = curve, size, playhead, colors, scale
    if _Icon.key != key:
        _Icon.key = key
        pixels = graph_pixels(curve, size, playhead, colors, max(round(scale), 1))
        icon.image_size = size
        icon.image_pixels_float.foreach_set(pixels.ravel())
    return int(icon.icon_id)


def blank_icon(_context: Any) -> int:
    """Return an icon without content, which takes the room of the graph."""
    if _Icon.previews is None:
        _Icon.previews = bpy.utils.previews.new()
    icon = _Icon.previews.get(_BLANK)
    if icon is None:
        icon = _Icon.previews.new(_BLANK)
        icon.image_size = (1, 1)
    return int(icon.icon_id)


def _theme_colors(context: Any) -> tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]:
    """Return the colors of lines, of contact and of the playhead."""
    theme = context.preferences.themes[0]
    text = tuple(theme.user_interface.wcol_box.text)
    return text, tuple(preferences().contact_color)[:3], playhead_color(theme)


def playhead_color(theme: Any) -> tuple[float, ...]:
    """Return the color of the playhead of a theme."""
    for owner in (getattr(theme, "common", None), theme.dopesheet_editor, theme.graph_editor):
        for holder in (getattr(owner, "anim", None), owner):
            if holder is not None and hasattr(holder, "playhead"):
                return tuple(holder.playhead)[:3]
            if holder is not None and hasattr(holder, "frame_current"):
                return tuple(holder.frame_current)[:3]
    return (0.28, 0.45, 0.7)


def detach() -> None:
    """Remove the image."""
    if _Icon.previews is not None:
        bpy.utils.previews.remove(_Icon.previews)
    _Icon.previews, _Icon.key = None, ()


def attach() -> None:
    """Start without an image: it is made when a panel draws it."""
