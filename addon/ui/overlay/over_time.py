"""Contacts over time: their intervals as bars, and the separation of the active pair as a graph.

Bars are in the timeline and the dope sheet: a row per pair, the deepest on top.

The graph is drawn large at the bottom of the 3D viewport, where a click jumps to a frame, and small as an
image, because panels draw nothing but widgets and images. The large one, which a user has turned on, requests
the curve while it is drawn; for the small one there is a button.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import bpy
import bpy.utils.previews
import numpy as np
from numpy.typing import NDArray

from ...core.numeric.arrays import Floats, Ints
from ...formats.wording import message_line, valid_text
from ...scene.blender.frames import playhead
from ...scene.jobs import result_store
from ...scene.jobs.pair_separation import SeparationCurve
from .. import job_state
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, settings_on
from ..row_order import active_entry, has_rows
from ..texts import iface_, length_text, shortened, translated
from . import flat

_BELOW_TOP = 26.0
"""Pixels from the top of the region, where the frames are written, to the first row."""
_ROW, _BAR = 6.0, 4.0
"""Pixels from one row to the next, and of a bar."""
_PART_OF_ROWS = 0.5
"""Part of the height of the region that rows may take."""
_LEAST_WIDTH = 3.0
"""Pixels of the shortest bar: a contact between two frames can be seen, too."""
_LEAST_OPACITY, _MOST_OPACITY = 0.35, 0.9
"""Opacity of the shallowest contact, and of the deepest."""
_REACH = 2.0
"""Pixels around a bar that belong to it, too."""


class ContactBars(NamedTuple):
    """Bars of the intervals of all contacts; see `bars_of`.

    First and last frame (n, 2) of each interval, its row, 0 for the pair with the deepest contact, its
    opacity, and the index of its contact in the report. Once they are placed in a region, left, bottom, right
    and top (n, 4) of each.
    """

    spans: Floats
    rows: Ints
    opacities: Floats
    contacts: Ints
    rectangles: Floats = np.empty((0, 4))

    def placed(self, to_pixels: tuple[float, float], height: float, scale: float) -> ContactBars:
        """Place the bars in a region; rows without room share the last row.

        `to_pixels` is the pixel of frame 0, and the pixels of a frame; `height` is in pixels, `scale` that of
        the interface.
        """
        first_top = max(height - _BELOW_TOP * scale, _BAR * scale)
        room = max(int(min(_PART_OF_ROWS * height, first_top) / (_ROW * scale)), 1)
        # The last row stands for all that have no room.
        rows = np.minimum(self.rows, room - 1)
        pixels = to_pixels[0] + self.spans * to_pixels[1]
        # Short bars grow in both directions.
        extra = np.maximum(_LEAST_WIDTH * scale - (pixels[:, 1] - pixels[:, 0]), 0.0) / 2
        top = first_top - _ROW * rows * scale
        left, right = pixels[:, 0] - extra, pixels[:, 1] + extra
        return self._replace(rectangles=np.stack([left, top - _BAR * scale, right, top], axis=1))

    def bar_at(self, x: float, y: float) -> int | None:
        """Return the index of the bar at a pixel of the region, or next to it; None without one."""
        left, bottom, right, top = self.rectangles.T
        outside = np.maximum(np.maximum(left - x, x - right), np.maximum(bottom - y, y - top))
        if not len(outside) or outside.min() > _REACH:
            return None
        return int(np.argmin(outside))


@lru_cache(maxsize=1)
def bars_of(result_id: str) -> ContactBars:
    result = result_store.get(result_id).contacts
    # Open meshes have no depth.
    depths = np.maximum(np.nan_to_num(result.report.contacts.pairs.depth), 0.0)
    order = np.argsort(-depths, kind="stable")
    contacts, depths = result.report.contacts.take(order), depths[order]
    spans, rows = contacts.intervals, contacts.owners
    strengths = depths / (depths.max(initial=0.0) or 1.0)
    opacities = _LEAST_OPACITY + (_MOST_OPACITY - _LEAST_OPACITY) * strengths
    return ContactBars(np.stack([spans.start, spans.end], axis=1), rows, opacities[rows], order[rows])


def placed_bars(context: Any) -> ContactBars | None:
    """Return the bars in the region of the context; None where none are shown."""
    if context.scene is None or job_state.running():
        return None
    settings = settings_on(context.scene)
    result = settings.results.contacts
    is_shown = settings.display.show_overlay and settings.display.show_timeline
    if result is None or result.report is None or not is_shown:
        return None
    region, scale = context.region, context.preferences.system.ui_scale
    # Not the pixels of frames, which Blender rounds: far from frame 0 the bars would be frames off.
    first, last = (region.view2d.region_to_view(x, 0)[0] for x in (0, region.width))
    pixels = region.width / (last - first)
    return bars_of(settings.result_id).placed((-first * pixels, pixels), region.height, scale)


def draw_bars() -> None:
    """Draw the bars of the scene's contacts, and the name of one, into the region that Blender is drawing."""
    context: Any = bpy.context
    bars = placed_bars(context)
    if bars is None:
        return
    colors = np.tile(np.array(preferences().contact_color), (len(bars.rectangles), 1))
    colors[:, 3] *= bars.opacities
    flat.draw_rectangles(bars.rectangles, colors)
    bar, result = hovered.bar, settings_on(context.scene).results.contacts
    if bar is None or hovered.region != context.region.as_pointer() or bar >= len(bars.spans):
        return
    contact = result.report.contacts[int(bars.contacts[bar])]
    a, b = (valid_text(result.subjects[side].key[0]) for side in (contact.a, contact.b))
    start, end = (f"{frame:.2f}" for frame in bars.spans[bar].tolist())
    text = iface_("{a} and {b}: {start} to {end}", a=a, b=b, start=start, end=end)
    flat.draw_tooltip(text, hovered.mouse, context)


hovered = SimpleNamespace(bar=None, region=0, mouse=(0, 0))
"""Index of the bar under the mouse, whose name is shown, and the address of the region with the mouse."""


def active_pair(settings: SceneSettings) -> tuple[int, int] | None:
    """Return the indices of the subjects of the active row; None without one."""
    entry = active_entry(settings)
    return None if entry is None else (entry.a, entry.b)


def active_curve(settings: SceneSettings) -> SeparationCurve | None:
    """Return the separation of the pair of the active row, if it has been computed."""
    found = settings.results.separations.get(active_pair(settings))
    return found if isinstance(found, SeparationCurve) else None


def request_missing(settings: SceneSettings) -> str:
    """Return why the active row has no curve yet, in a few words, and compute it soon if it can be."""
    reason = missing_text(settings)
    if reason:
        return reason
    if not bpy.app.background and not bpy.app.timers.is_registered(_compute):
        bpy.app.timers.register(_compute, first_interval=0.0)
    return iface_("Computing")


def missing_text(settings: SceneSettings) -> str:
    """Return why the active row has no curve, in a few words; empty if it can be computed quickly."""
    pair, results = active_pair(settings), settings.results
    if job_state.running():
        return iface_("Computing")
    if pair is None:
        return iface_("Click a row")
    if results.stale:
        return iface_("The scene changed: find contacts again")
    if isinstance(problem := results.separations.get(pair), str):
        return message_line(translated(problem))
    if any(results.contacts.subjects[index].id in results.contacts.played for index in pair):
        # The scene of the user is played for them, which takes long.
        return iface_("Click Compute: the scene is played")
    return ""


def _compute() -> None:
    """Start the computation in the window that the user works in."""
    manager = bpy.context.window_manager
    window = bpy.context.window or (manager.windows[0] if manager.windows else None)
    if window is None or job_state.running():
        return
    context: Any = bpy.context
    operators: Any = bpy.ops
    with context.temp_override(window=window):
        if operators.collision_bounds.compute_separation.poll():
            operators.collision_bounds.compute_separation("INVOKE_DEFAULT")


_MARGIN = 0.06
"""Part of the height that is free above and below the curve."""
_HEIGHT, _PART = 190.0, 0.4
"""Pixels of the graph, and the most of the height of the viewport that it takes."""
_OUTSIDE, _LEFT, _RIGHT, _BELOW, _ABOVE = 8.0, 66.0, 14.0, 22.0, 24.0
"""Pixels around the graph, and around the curve for numbers and the names."""
_NAVIGATION = 285.0, 50.0
"""Pixels of the viewport's navigation buttons from its top down, and from its right side."""
_FRAME_SPACE, _VALUE_SPACE = 70.0, 32.0
"""Least pixels from one number on an axis to the next."""
_CROSS, _CROSS_REACH, _CROSS_INSIDE = 4.0, 9.0, 9.0
"""Pixels from the middle of the cross that closes the graph to its ends, to where it can be clicked, and to
the top and right side of the graph."""
_FAINT = 0.15
"""Opacity of the lines of numbers."""
_FILL, _ZERO, _GROUND = 0.35, 0.6, 0.07
"""In the small graph, opacities of the area below zero, of the zero line and of the background."""


class GraphAxes(NamedTuple):
    """Range of a graph: first and last frame, lowest and highest separation. Zero is always within."""

    first: float
    last: float
    low: float
    high: float

    @classmethod
    def of(cls, curve: SeparationCurve) -> GraphAxes:
        """Return the range that shows a whole curve, with a margin."""
        first, last = float(curve.frames[0]), float(curve.frames[-1])
        low = min(float(np.nanmin(curve.values)), 0.0)
        high = max(float(np.nanmax(curve.values)), curve.clearance, 0.0)
        margin = _MARGIN * ((high - low) or 1.0)
        return cls(first, last if last > first else first + 1.0, low - margin, high + margin)

    def across(self, frames: Floats) -> Floats:
        """Return horizontal positions (n,) of frames, from 0 at the first to 1 at the last."""
        return (frames - self.first) / (self.last - self.first)

    def up(self, values: Floats) -> Floats:
        """Return vertical positions (n,) of separations, from 0 at the lowest to 1 at the highest."""
        return (values - self.low) / (self.high - self.low)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return at most `most` round numbers from `low` to `high`, in steps of 1, 2 or 5 times a power of 10."""
    power = 10.0 ** math.floor(math.log10((high - low) / max(most, 1)))
    for factor in (1, 2, 5, 10, 20, 50, 100, 200, 500):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [number * step for number in range(first, last + 1)]


def segments(curve: SeparationCurve) -> tuple[Floats, Floats]:
    """Divide a curve into straight segments above and below zero, cut where it goes through zero.

    Both are (n, 2, 2): frame and separation of both ends. Samples without a value have no segments.
    """
    times, values = curve.frames, curve.values
    crosses = np.flatnonzero(values[:-1] * values[1:] < 0)
    part = values[crosses] / (values[crosses] - values[crosses + 1])
    between = times[crosses] + part * (times[crosses + 1] - times[crosses])
    times = np.insert(times, crosses + 1, between)
    values = np.insert(values, crosses + 1, 0.0)
    points = np.stack([times, values], axis=1)
    both = np.stack([points[:-1], points[1:]], axis=1)
    both = both[~np.isnan(both[:, :, 1]).any(axis=1)]
    is_below = both[:, :, 1].min(axis=1) < 0
    return both[~is_below], both[is_below]


class _Place(NamedTuple):
    """Pixels of a region: of the whole graph, and of the part with the curve; left, bottom, right, top."""

    whole: Floats
    plot: Floats

    @classmethod
    def of(cls, context: Any) -> _Place | None:
        """Place the graph in the region of the context; None without room."""
        scale = context.preferences.system.ui_scale
        left, bottom, right, top = flat.free_part(context)
        outside = _OUTSIDE * scale
        height = min(_HEIGHT * scale, _PART * (top - bottom))
        view = context.space_data
        if view.show_gizmo and view.show_gizmo_navigate:
            below, width = (size * scale for size in _NAVIGATION)
            if bottom + outside + height > top - below:
                right -= width
        whole = np.array((left + outside, bottom + outside, right - outside, bottom + outside + height))
        plot = whole + np.array((_LEFT, _BELOW, -_RIGHT, -_ABOVE)) * scale
        has_room = ((plot[2:] - plot[:2]) > np.array((40, 20)) * scale).all()
        return cls(whole, plot) if has_room else None

    def pixels(self, axes: GraphAxes, points: Floats) -> Floats:
        """Return the pixels (..., 2) of frames and separations (..., 2)."""
        left, bottom, right, top = self.plot
        x = left + axes.across(points[..., 0]) * (right - left)
        return np.stack([x, bottom + axes.up(points[..., 1]) * (top - bottom)], axis=-1)

    def cross(self, scale: float) -> Floats:
        """Return the middle (2,) of the cross that closes the graph."""
        return self.whole[2:] - _CROSS_INSIDE * scale


def is_on_cross(context: Any, mouse: tuple[float, float]) -> bool:
    """Return whether a pixel of a viewport's region is on the cross that closes the graph."""
    place = _Place.of(context) if _is_shown(context) else None
    if place is None:
        return False
    scale = context.preferences.system.ui_scale
    return bool((np.abs(place.cross(scale) - mouse) <= _CROSS_REACH * scale).all())


def frame_at(context: Any, mouse: tuple[float, float]) -> float | None:
    """Return the frame at a pixel of a viewport's region; None outside of the graph, or without a curve."""
    curve = active_curve(settings_on(context.scene)) if _is_shown(context) else None
    place = _Place.of(context) if curve is not None else None
    if place is None:
        return None
    left, bottom, right, top = place.whole
    if not (left <= mouse[0] <= right and bottom <= mouse[1] <= top):
        return None
    axes = GraphAxes.of(curve)
    return float(np.interp(mouse[0], place.plot[[0, 2]], (axes.first, axes.last)))


def _is_shown(context: Any) -> bool:
    settings = context.scene and settings_on(context.scene)
    return bool(
        settings
        and settings.display.show_separation
        and context.space_data.overlay.show_overlays
        and has_rows(settings)
    )


def draw_large_graph() -> None:
    context: Any = bpy.context
    place = _Place.of(context) if _is_shown(context) else None
    if place is None:
        return
    settings = settings_on(context.scene)
    flat.draw_backing(place.whole[None], context)
    text_color = (*flat.tooltip_theme(context).text, 1.0)
    flat.set_font_size(context)
    scale = context.preferences.system.ui_scale
    ends = np.array([(-1, -1), (1, 1), (-1, 1), (1, -1)]) * _CROSS * scale
    flat.draw_lines(place.cross(scale) + ends, text_color, 1.5 * scale, context)
    curve = active_curve(settings)
    if curve is None:
        middle = place.plot[0], (place.plot[1] + place.plot[3]) / 2
        flat.draw_text(request_missing(settings), middle, text_color)
        return
    axes = GraphAxes.of(curve)
    _draw_axes(place, axes, context, text_color)
    above, below = (place.pixels(axes, part) for part in segments(curve))
    contact = tuple(preferences().contact_color)
    # Below the curve, because it would hide a contact between two frames.
    now = playhead(context.scene)
    if axes.first <= now <= axes.last:
        points = np.array([[now, axes.low], [now, axes.high]])
        color = (*flat.playhead_color(context), 1.0)
        flat.draw_lines(place.pixels(axes, points), color, 2.0 * scale, context)
    # The area between segments below zero and zero.
    on_zero = below * (1, 0) + place.pixels(axes, np.array([axes.first, 0.0])) * (0, 1)
    corners = [below[:, 0], below[:, 1], on_zero[:, 1], below[:, 0], on_zero[:, 1], on_zero[:, 0]]
    flat.draw_triangles(np.stack(corners, axis=1).reshape(-1, 2), (*contact[:3], 0.4))
    flat.draw_lines(above.reshape(-1, 2), text_color, 1.5 * scale, context)
    flat.draw_lines(below.reshape(-1, 2), (*contact[:3], 1.0), 2.5 * scale, context)
    _draw_title(place, curve, now, context, text_color)


def _draw_axes(place: _Place, axes: GraphAxes, context: Any, color: tuple[float, ...]) -> None:
    scale = context.preferences.system.ui_scale
    left, bottom, right, top = place.plot
    values = ticks(axes.low, axes.high, max(int((top - bottom) / (_VALUE_SPACE * scale)), 1))
    frames = ticks(axes.first, axes.last, max(int((right - left) / (_FRAME_SPACE * scale)), 1))
    zero, *heights = (bottom + axes.up(np.array([0.0, *values])) * (top - bottom)).tolist()
    columns = (left + axes.across(np.array(frames)) * (right - left)).tolist()
    ends = [((left, y), (right, y)) for y in heights] + [((x, bottom), (x, top)) for x in columns]
    flat.draw_lines(np.array(ends).reshape(-1, 2), (*color[:3], _FAINT), scale, context)
    flat.draw_lines(np.array([(left, zero), (right, zero)]), (*color[:3], 0.7), scale, context)
    for value, y in zip(values, heights, strict=True):
        text = length_text(value, context.scene.unit_settings, digits=3)
        flat.draw_text(text, (left - 6 * scale, y - 4 * scale), color, 1.0)
    for frame, x in zip(frames, columns, strict=True):
        flat.draw_text(f"{frame:g}", (x, bottom - 15 * scale), color, 0.5)
    flat.draw_text(iface_("frame"), (left - 6 * scale, bottom - 15 * scale), (*color[:3], 0.7), 1.0)


def _draw_title(
    place: _Place, curve: SeparationCurve, now: float, context: Any, color: tuple[float, ...]
) -> None:
    """Draw the value at the playhead, and both names in the room that is left."""
    scale = context.preferences.system.ui_scale
    height = place.plot[3] + 8 * scale
    value = float(np.interp(now, curve.frames, curve.values, left=np.nan, right=np.nan))
    if np.isnan(value):
        text = iface_("Separation at frame {frame:.2f}: no value", frame=now)
    else:
        length = length_text(value, context.scene.unit_settings, digits=4)
        text = iface_("Separation at frame {frame:.2f}: {distance}", frame=now, distance=length)
    flat.draw_text(text, (place.plot[2], height), color, 1.0)
    room = (place.plot[2] - place.plot[0] - flat.text_size(text)[0] - 20 * scale) / 2 - 14 * scale
    if room > 20 * scale:
        names = (valid_text(name) for name in curve.names)
        a, b = (shortened(name, "", lambda part: flat.text_size(part)[0] <= room) for name in names)
        flat.draw_text(iface_("{a} and {b}", a=a, b=b), (place.plot[0], height), color)


def graph_pixels(
    curve: SeparationCurve,
    size: tuple[int, int],
    frame: float,
    colors: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]],
    thickness: int = 1,
) -> NDArray[np.float32]:
    """Draw a graph in (width, height) pixels, with a vertical line at a frame, that of the playhead.

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
    if 0 <= (part := axes.across(np.array([frame]))[0]) <= 1:
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


_icons = SimpleNamespace(previews=None, key=())
"""The images that were drawn last, from left to right, and what they show."""


def graph_icons(
    curve: SeparationCurve | None, side: int, count: int, frame: float, context: Any
) -> list[int]:
    """Return icons of the parts of a graph, from left to right, for `template_icon`, which draws squares.

    Without a curve the graph is empty. Icons have `side` pixels. None without a window, where Blender has no
    icons.
    """
    if bpy.app.background:
        return []
    if _icons.previews is None:
        _icons.previews = bpy.utils.previews.new()
    names = [str(number) for number in range(count)]
    icons = [_icons.previews.get(name) or _icons.previews.new(name) for name in names]
    text = tuple(context.preferences.themes[0].user_interface.wcol_box.text)
    colors = text, tuple(preferences().contact_color)[:3], flat.playhead_color(context)
    scale = context.preferences.system.ui_scale
    key = curve, side, count, frame, colors, scale
    if _icons.key != key:
        _icons.key = key
        pixels = np.zeros((side, side * count, 4), dtype=np.float32)
        if curve is not None:
            pixels = graph_pixels(curve, (side * count, side), frame, colors, max(round(scale), 1))
        # Blender expects colors that are multiplied by their opacity.
        pixels[..., :3] *= pixels[..., 3:]
        for number, icon in enumerate(icons):
            icon.image_size = side, side
            part = np.ascontiguousarray(pixels[:, number * side : (number + 1) * side])
            icon.image_pixels_float.foreach_set(part.ravel())
    return [int(icon.icon_id) for icon in icons]


def detach() -> None:
    """Remove the images, which are made again when a panel draws them, and a request."""
    if _icons.previews is not None:
        bpy.utils.previews.remove(_icons.previews)
    _icons.previews, _icons.key = None, ()
    if bpy.app.timers.is_registered(_compute):
        bpy.app.timers.unregister(_compute)
