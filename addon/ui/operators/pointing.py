"""Operators under the mouse: a click on a bound or on a bar in the timeline selects its row.

A click in the graph of the separation jumps to its frame. All are in the keymap, where users can change or
disable them. A click on anything else passes through. The bound is that with the line nearest to the mouse.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.types import Context, Event, Operator

from ...core.numeric.arrays import Bools, Floats
from ...formats.wording import valid_text
from ...scene.blender.frames import go_to, playhead
from ...scene.blender.mesh_data import copied
from ..overlay.draw_data import DrawData, Instances
from ..overlay.over_time import frame_at, hovered, is_on_cross, placed_bars
from ..overlay.state import find_overlay, redraw
from ..overlay.unit_meshes import LINES
from ..properties.scene import SceneSettings, settings_of
from ..row_order import listed_rows
from ..texts import rpt_
from .command import Named
from .rows import playhead_stays

_CIRCLE = 32
"""Segments of a circle: the chord of a large sphere is within a few pixels of it."""
_NEAREST = 1e-6
"""Least depth, relative to the far end of a line, that a line behind the viewer is cut at."""


def subject_at(
    data: DrawData,
    is_included: Bools,
    matrix: Floats,
    viewport: tuple[int, int],
    mouse: tuple[float, float],
    reach: float,
) -> int | None:
    """Return the subject with the line that is nearest to the mouse; None without one within reach.

    Only subjects for which `is_included` (n,) holds are searched. `matrix` leads from the world to the view's
    clip space; the mouse is in pixels from the bottom left of the view, and the reach in pixels.
    """
    best, nearest = None, reach
    for mesh, instances in data.by_mesh.items():
        found = instances.take(is_included[instances.owners])
        if not len(found):
            continue
        points = LINES[mesh](_CIRCLE).segments.astype(np.float64)
        distances = _distances(found, points, matrix, viewport, np.array(mouse))
        index = int(np.argmin(distances))
        if distances[index] <= nearest:
            best, nearest = int(found.owners[index]), float(distances[index])
    return best


def _distances(
    instances: Instances, mesh: Floats, matrix: Floats, viewport: tuple[int, int], mouse: Floats
) -> Floats:
    """Return the distance in pixels from the mouse to the lines of each instance, (n,).

    mesh : (m, 3) end points of the lines in the frame of the instances
    """
    to_world = instances.rows[:, :3].astype(np.float64)
    world = mesh @ to_world[:, :, :3].transpose(0, 2, 1) + to_world[:, None, :, 3]
    clip = world @ matrix[:, :3].T + matrix[:, 3]
    start, end = clip[:, ::2], clip[:, 1::2]
    # A line that is partly behind the viewer is cut where it comes into sight.
    least = _NEAREST * np.maximum(np.abs(start[..., 3]), np.abs(end[..., 3]))
    start, end = _cut(start, end, least), _cut(end, start, least)
    size = np.array(viewport)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = ((points[..., :2] / points[..., 3:] + 1) / 2 * size - mouse for points in (start, end))
        along = b - a
        squared = (along**2).sum(axis=-1)
        part = np.clip(np.where(squared > 0, -(a * along).sum(axis=-1) / squared, 0.0), 0.0, 1.0)
        distances = np.linalg.norm(a + part[..., None] * along, axis=-1)
    is_seen = (start[..., 3] > 0) & (end[..., 3] > 0) & np.isfinite(distances)
    return np.asarray(np.where(is_seen, distances, np.inf).min(axis=1))


def _cut(points: Floats, ends: Floats, least: Floats) -> Floats:
    """Return the points, those with too small a depth moved along their line, up to the least depth."""
    with np.errstate(divide="ignore", invalid="ignore"):
        part = (least - points[..., 3]) / (ends[..., 3] - points[..., 3])
        moved = points + part[..., None] * (ends - points)
    is_cut = (points[..., 3] < least) & (ends[..., 3] > least)
    return np.asarray(np.where(is_cut[..., None], moved, points))


_REACH = 6.0
"""Pixels from a line to the mouse, at a scale of 1."""
_ROUNDING = 0.001
"""Frames: the playhead is in single precision."""
_NAME_SECONDS = 4.0
"""How long the name of a bar stays when the mouse rests or has left."""


def _shown_rows(settings: SceneSettings) -> dict[int, int]:
    """Return the row of each contact that the list shows, in the order of the list."""
    listed = listed_rows(settings)
    indices = copied(settings.rows, "index", np.int32)
    is_shown = listed.passes & ~copied(settings.rows, "is_near_miss", np.bool_)[: len(listed.passes)]
    return {int(indices[row]): row for row in listed.order[is_shown[listed.order]].tolist()}


class COLLISION_BOUNDS_OT_click_bound(Named, Operator):
    """Select the contact of the red bound under the mouse; click again for its next contact"""

    bl_label = "Select Contact of Bound"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a 3D view shows bounds of contacts, and the selection may follow the list."""
        if context.scene is None or context.mode != "OBJECT" or context.area is None:
            return False
        settings, view = settings_of(context), context.space_data
        return (
            isinstance(view, bpy.types.SpaceView3D)
            and view.overlay.show_overlays
            and settings.display.show_overlay
            and settings.display.draw_as != "FACES"
            and len(settings.rows) > 0
            and not settings.contact_list.selected_only
        )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Select the first contact of the bound at the playhead, or the one after the active row.

        After its last contact, the click passes through: Blender selects what is below the mouse.
        """
        settings = settings_of(context)
        rows = _rows_at(settings, (event.mouse_region_x, event.mouse_region_y), context)
        following = rows[rows.index(settings.active_row) + 1 :] if settings.active_row in rows else rows
        if not following:
            return {"PASS_THROUGH"}
        with playhead_stays():
            settings.active_row = following[0]
        row = settings.rows[following[0]]
        text = rpt_("Contact of {a} and {b}", a=valid_text(row.a), b=valid_text(row.b))
        self.report({"INFO"}, text)
        return {"FINISHED"}


def _rows_at(settings: SceneSettings, mouse: tuple[int, int], context: Context) -> list[int]:
    """Return the shown rows of the contacts that the bound under the mouse has at the playhead."""
    result, cached = settings.results.contacts, find_overlay(context.scene, context.view_layer)
    if cached is None or result is None or result.report is None:
        return []
    region: Any = context.region
    data, reach = cached.in_view(context), _REACH * context.preferences.system.ui_scale
    matrix = np.array(context.region_data.perspective_matrix, dtype=np.float64)
    # Of the subjects in contact, the one whose lines are under the mouse.
    subject = subject_at(data, data.strong, matrix, (region.width, region.height), mouse, reach)
    if subject is None:
        return []
    (a, b, *_), contacts = result.report.contacts.pairs, result.report.contacts
    frame, spans = playhead(context.scene), contacts.intervals
    is_now = np.zeros(len(contacts), dtype=bool)
    is_now[contacts.owners[(spans.start - _ROUNDING <= frame) & (frame <= spans.end + _ROUNDING)]] = True
    is_found = is_now & ((a == subject) | (b == subject))
    return [row for index, row in _shown_rows(settings).items() if is_found[index]]


class COLLISION_BOUNDS_OT_click_graph(Named, Operator):
    """Jump to the frame under the mouse in the graph of the separation, or close the graph by its cross"""

    bl_label = "Go to Frame of Graph"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return (
            context.scene is not None
            and context.area is not None
            and context.area.type == "VIEW_3D"
            and settings_of(context).display.show_separation
        )

    def invoke(self, context: Context, event: Event) -> set[str]:
        mouse = event.mouse_region_x, event.mouse_region_y
        if is_on_cross(context, mouse):
            settings_of(context).display.show_separation = False
            return {"FINISHED"}
        frame = frame_at(context, mouse)
        if frame is None:
            return {"PASS_THROUGH"}
        go_to(context.scene, frame)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_click_bar(Named, Operator):
    """Jump to the start of the contact whose bar is under the mouse, and select its row"""

    bl_label = "Go to Contact of Bar"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        bars = placed_bars(context)
        bar = None if bars is None else bars.bar_at(event.mouse_region_x, event.mouse_region_y)
        if bars is None or bar is None:
            return {"PASS_THROUGH"}
        settings = settings_of(context)
        row = _shown_rows(settings).get(int(bars.contacts[bar]))
        if row is not None:
            with playhead_stays():
                settings.active_row = row
        go_to(context.scene, float(bars.spans[bar, 0]))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_hover_bar(Named, Operator):
    """Show the names of the pair whose bar is under the mouse"""

    bl_label = "Show Name of Bar"
    bl_options: ClassVar = {"INTERNAL"}

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Show or hide a name. The mouse works as if this operator did not exist."""
        bars = placed_bars(context)
        x, y = event.mouse_region_x, event.mouse_region_y
        bar = None if bars is None else bars.bar_at(x, y)
        region: Any = context.region
        if bar is not None:
            hovered.mouse, hovered.region = (x, y), region.as_pointer()
            # Nothing announces that the mouse has left the region.
            _stop_timer()
            bpy.app.timers.register(_hide_name, first_interval=_NAME_SECONDS)
        if bar is not None or bar != hovered.bar:
            region.tag_redraw()
        hovered.bar = bar
        return {"PASS_THROUGH"}


def _stop_timer() -> None:
    if bpy.app.timers.is_registered(_hide_name):
        bpy.app.timers.unregister(_hide_name)


def _hide_name() -> None:
    hovered.bar = None
    redraw()


_attached = ExitStack()
"""Removes the operators from the keymap."""


def attach() -> None:
    """Add the operators to the keymap of the extensions. Without a window, there is none."""
    keyconfig: Any = bpy.context.window_manager.keyconfigs.addon
    if keyconfig is None:
        return
    for keymap_name, space, operator, kind, value in (
        # The graph covers bounds, so it comes first.
        ("3D View", "VIEW_3D", COLLISION_BOUNDS_OT_click_graph, "LEFTMOUSE", "CLICK"),
        ("3D View", "VIEW_3D", COLLISION_BOUNDS_OT_click_bound, "LEFTMOUSE", "CLICK"),
        ("Dopesheet", "DOPESHEET_EDITOR", COLLISION_BOUNDS_OT_click_bar, "LEFTMOUSE", "PRESS"),
        ("Dopesheet", "DOPESHEET_EDITOR", COLLISION_BOUNDS_OT_hover_bar, "MOUSEMOVE", "ANY"),
    ):
        keymap = keyconfig.keymaps.new(name=keymap_name, space_type=space)
        item = keymap.keymap_items.new(operator.bl_idname, kind, value)
        _attached.callback(keymap.keymap_items.remove, item)


def detach() -> None:
    _stop_timer()
    _attached.close()
