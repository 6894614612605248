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
from ..flat import playhead_color
from .separation import GraphAxes

_FILL, _ZERO, _GROUND = 0.35, 0.6, 0.07
"""Opacities of the area below zero, of the zero line and of the background."""
_NAME = "separation"


def graph_pixels(
    curve: SeparationCurve,
    size: tuple[int, int],
    playhead: float,
    colors: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]],
    thickness: int = 1,
) -> NDArray[np.float32]:
    """Draw a graph in (width, height) pixels, with a vertical line at the playhead.

    `colors` are those of lines, of contact and of the playhead. Lines are `thickness` pixels thick. Returns
    (height, width, 4) float32, the lowest row first.
    """
    width, height = size
    line, contact, now = (np.array((*color[:3], 1.0), dtype=np.float32) for color in colors)
    pixels = np.empty((height, width, 4), dtype=np.float32)
    pixels[:] = line * (1, 1, 1, _GROUND)
    axes, rows = GraphAxes.of(curve), np.arange(height)[:, None]
    bottom, top = (axes.up(part) * height for part in _column_ranges(curve, axes, width))
    zero = float(axes.up(np.array([0.0]))[0]) * height
    pixels[(rows >= bottom) & (rows < zero)] = contact * (1, 1, 1, _FILL)
    pixels[np.abs(rows[:, 0] - zero) < thickness / 2 + 0.01] = line * (1, 1, 1, _ZERO)
    # Below the curve, because it would hide a contact between two frames.
    if 0 <= (part := axes.across(np.array([playhead]))[0]) <= 1:
        begin = min(int(part * width), width - thickness)
        pixels[:, begin : begin + thickness] = now
    is_line = (rows >= bottom - thickness) & (rows <= top + thickness)
    pixels[is_line] = line
    # The line of a near miss is thick enough to go below zero, but is no contact. A contact that is shallower
    # than a pixel is marked on the zero line.
    is_marked = np.abs(rows - zero) <= 1.5 * thickness
    pixels[((is_line & (rows < zero)) | is_marked) & (bottom < zero)] = contact
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


class _Icons:
    """The images that were drawn last, from left to right, and what they show."""

    previews: Any = None
    key: tuple[object, ...] = ()


def graph_icons(
    curve: SeparationCurve | None, side: int, count: int, playhead: float, context: Any
) -> list[int]:
    """Return icons of the parts of a graph, from left to right, for `template_icon`, which draws squares.

    Without a curve the graph is empty. Icons have `side` pixels. None without a window, where Blender has no
    icons.
    """
    if bpy.app.background:
        return []
    if _Icons.previews is None:
        _Icons.previews = bpy.utils.previews.new()
    names = [f"{_NAME} {number}" for number in range(count)]
    icons = [_Icons.previews.get(name) or _Icons.previews.new(name) for name in names]
    text = tuple(context.preferences.themes[0].user_interface.wcol_box.text)
    colors = text, tuple(preferences().contact_color)[:3], playhead_color(context)
    scale = context.preferences.system.ui_scale
    key = curve, side, count, playhead, colors, scale
    if _Icons.key != key:
        _Icons.key = key
        pixels = np.zeros((side, side * count, 4), dtype=np.float32)
        if curve is not None:
            pixels = graph_pixels(curve, (side * count, side), playhead, colors, max(round(scale), 1))
        # Blender expects colors that are multiplied by their opacity.
        pixels[..., :3] *= pixels[..., 3:]
        for number, icon in enumerate(icons):
            icon.image_size = side, side
            part = np.ascontiguousarray(pixels[:, number * side : (number + 1) * side])
            icon.image_pixels_float.foreach_set(part.ravel())
    return [int(icon.icon_id) for icon in icons]


def detach() -> None:
    """Remove the images."""
    if _Icons.previews is not None:
        bpy.utils.previews.remove(_Icons.previews)
    _Icons.previews, _Icons.key = None, ()


def attach() -> None:
    """Start without images: they are made when a panel draws them."""
