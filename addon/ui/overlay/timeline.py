"""Intervals of contact as bars in the timeline and the dope sheet: a row per pair, the deepest on top."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...core.numeric.arrays import Floats, Ints
from ...formats.wording import valid_text
from ...scene.jobs import result_store
from ...scene.jobs.result import Result
from .. import job_state
from ..properties.preferences import preferences
from ..properties.scene import results_of, settings_on
from ..texts import iface_
from .flat import draw_rectangles, draw_tooltip

_BELOW_TOP = 26.0
"""Pixels from the top of the region, where the frames are written, to the first row."""
_ROW, _BAR = 6.0, 4.0
"""Pixels from one row to the next, and of a bar."""
_PART = 0.5
"""Part of the height of the region that rows may take."""
_LEAST_WIDTH = 3.0
"""Pixels of the shortest bar: a contact between two frames can be seen, too."""
_LEAST_OPACITY, _MOST_OPACITY = 0.35, 0.9
"""Opacity of the shallowest contact, and of the deepest."""


class ContactBars(NamedTuple):
    """Bars of the intervals of all contacts; see `bars_of`.

    First and last frame (n, 2) of each interval, its row, 0 for the pair with the deepest contact, its
    opacity, and the index of its contact in the report.
    """

    spans: Floats
    rows: Ints
    opacities: Floats
    contacts: Ints

    def rectangles(self, to_pixels: tuple[float, float], height: float, scale: float) -> Floats:
        """Return left, bottom, right and top (n, 4) of each bar; rows without room share the last row.

        `to_pixels` is the pixel of frame 0, and the pixels of a frame; `height` is in pixels, `scale` that of
        the interface.
        """
        first_top = max(height - _BELOW_TOP * scale, _BAR * scale)
        room = max(int(min(_PART * height, first_top) / (_ROW * scale)), 1)
        # The last row stands for all that have no room.
        rows = np.minimum(self.rows, room - 1)
        pixels = to_pixels[0] + self.spans * to_pixels[1]
        # Short bars grow in both directions.
        extra = np.maximum(_LEAST_WIDTH * scale - (pixels[:, 1] - pixels[:, 0]), 0.0) / 2
        top = first_top - _ROW * rows * scale
        left, right = pixels[:, 0] - extra, pixels[:, 1] + extra
        return np.stack([left, top - _BAR * scale, right, top], axis=1)


_REACH = 2.0
"""Pixels around a bar that belong to it, too."""


@lru_cache(maxsize=1)
def bars_of(result_id: str) -> ContactBars:
    """Return the bars of a result with a report."""
    result = result_store.get(result_id).contacts
    assert result is not None and result.report is not None, "bars are of contacts"
    order = np.argsort(-result.report.contacts.pairs.depth, kind="stable")
    contacts = result.report.contacts.take(order)
    spans, rows = contacts.intervals, contacts.owners
    depths = np.maximum(contacts.pairs.depth, 0.0)
    strengths = depths / (depths.max(initial=0.0) or 1.0)
    opacities = _LEAST_OPACITY + (_MOST_OPACITY - _LEAST_OPACITY) * strengths
    return ContactBars(np.stack([spans.start, spans.end], axis=1), rows, opacities[rows], order[rows])


class PlacedBars(NamedTuple):
    """Bars in a region, and the result that they are of; see `ContactBars.rectangles`."""

    result: Result
    bars: ContactBars
    rectangles: Floats

    def bar_at(self, x: float, y: float) -> int | None:
        """Return the index of the bar at a pixel of the region, or next to it; None without one."""
        left, bottom, right, top = self.rectangles.T
        outside = np.maximum(np.maximum(left - x, x - right), np.maximum(bottom - y, y - top))
        if not len(outside) or outside.min() > _REACH:
            return None
        return int(np.argmin(outside))


def placed_bars(context: Any) -> PlacedBars | None:
    """Return the bars in the region of the context; None where none are shown."""
    if context.scene is None or job_state.running():
        return None
    settings = settings_on(context.scene)
    result = results_of(settings).contacts
    is_shown = settings.display.show_overlay and settings.display.show_timeline
    if result is None or result.report is None or not is_shown:
        return None
    region, scale = context.region, context.preferences.system.ui_scale
    # Not the pixels of frames, which Blender rounds: far from frame 0 the bars would be frames off.
    first, last = (region.view2d.region_to_view(x, 0)[0] for x in (0, region.width))
    pixels = region.width / (last - first)
    bars = bars_of(settings.result_id)
    placed = bars.rectangles((-first * pixels, pixels), region.height, scale)
    return PlacedBars(result, bars, placed)


def draw_bars() -> None:
    """Draw the bars of the scene's contacts, and the name of one, into the region that Blender is drawing."""
    context: Any = bpy.context
    placed = placed_bars(context)
    if placed is None:
        return
    colors = np.tile(np.array(preferences().contact_color), (len(placed.rectangles), 1))
    colors[:, 3] *= placed.bars.opacities
    draw_rectangles(placed.rectangles, colors)
    bar, report, spans = hovered.bar, placed.result.report, placed.bars.spans
    if bar is None or hovered.region != context.region.as_pointer() or report is None or bar >= len(spans):
        return
    contact = report.contacts[int(placed.bars.contacts[bar])]
    a, b = (valid_text(placed.result.subjects[side].key[0]) for side in (contact.a, contact.b))
    start, end = (f"{frame:.2f}" for frame in spans[bar].tolist())
    text = iface_("{a} and {b}: {start} to {end}", a=a, b=b, start=start, end=end)
    draw_tooltip(text, hovered.mouse, context)


class _Hovered:
    """The bar under the mouse, whose name is shown."""

    bar: int | None = None
    region = 0
    """Address of the region with the mouse."""
    mouse = (0, 0)


hovered = _Hovered()
