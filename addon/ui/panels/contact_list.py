"""List of contacts and near misses, with headings to sort by and filters, and details of its active row.

The details are in a part of the panel whose height rarely changes.
"""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
from bpy.types import Context, UILayout, UIList

from ...core import Contact
from ...scene.blender.frames import playhead
from ...scene.jobs.result import Result
from .. import job_state
from ..operators.rows import (
    COLLISION_BOUNDS_OT_go_to_deepest,
    COLLISION_BOUNDS_OT_go_to_interval,
    interval_at,
    selection_problems,
)
from ..overlay.over_time import active_curve, graph_icons, missing_text
from ..properties.contact_list import ContactRow
from ..properties.scene import SceneSettings, settings_of
from ..row_order import (
    active_heading,
    active_row,
    columns_of,
    counts_of_rows,
    current_names,
    entry_of_row,
    listed_rows,
    summary_of_group,
)
from ..texts import (
    LengthUnit,
    frame_text,
    iface_,
    iface_count,
    length_text,
    length_unit,
    meaning_,
    n_,
    number_text,
    playhead_text,
    shortened_pair,
)
from .sidebar import folded, measure_texts, sidebar_width

_UNIT = 20
"""Pixels of a unit of Blender's layouts, and of an icon."""
_HEADING_UNITS, _AFTER_UNITS = 3.6, 0.9
"""Widths, in units, of columns of numbers and their headings, which have an arrow; and of the scroll bar."""
_NUMBER_UNITS = 2.4
"""Width of a number, which is never cut, where there is room for one only."""
_UP, _DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"
_SURROUNDINGS = 76
"""Pixels of a sidebar that are left and right of the list: tabs, margins, and its scroll bar."""
_NAME_MARGIN, _ICON = 10, 28
"""Pixels around the text of a name, and of an icon in front of it."""
_NARROWEST_NAMES = 120
"""Pixels of both names below which the list shows one number: that by which it is sorted, or the frame."""


class COLLISION_BOUNDS_UL_contacts(UIList):
    """One row per pair: its objects, the frame, and the depth or gap."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: SceneSettings,
        item: ContactRow,
        _icon: int,
        _active_data: SceneSettings,
        _active_property: str,
        index: int,
    ) -> None:
        """Draw both names, frame, and depth or gap; or the heading of a group, with the worst of its rows."""
        line = layout.row(align=True)
        if item.is_heading:
            _draw_heading(line, context, data, item, index)
            return
        line.active = not item.hidden
        icon: Any = "PINNED" if item.at_start else "RADIOBUT_ON"
        if item.is_near_miss:
            icon = "DRIVER_DISTANCE"
        elif item.tunnelling:
            icon = "GHOST_ENABLED"
        elif item.accepted:
            icon = "CHECKMARK"
        _draw_names(line, context, data, current_names(data, index), icon)
        frame = iface_("start") if item.at_start else _short_frame(item.frame, item.uncertainty)
        _draw_numbers(line, context, data, (frame, _value_text(abs(item.value) / _unit(context, data).size)))

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        contact_list, line = settings_of(context).contact_list, layout.row(align=True)
        line.prop(contact_list, "search", text="", icon="VIEWZOOM")
        line.prop(contact_list, "selected_only", text="", icon="RESTRICT_SELECT_OFF")
        line.prop(contact_list, "group_by", text="")

    def filter_items(
        self, _context: Context, data: SceneSettings, _property_name: str
    ) -> tuple[list[int], list[int]]:
        """Return the filter flag and the position of each row; the active index refers to unsorted rows."""
        listed = listed_rows(data)
        positions = np.empty(len(listed.with_headings), dtype=np.int64)
        positions[listed.with_headings] = np.arange(len(positions))
        return np.where(listed.is_visible, self.bitflag_filter_item, 0).tolist(), positions.tolist()


def _draw_heading(
    line: UILayout, context: Context, settings: SceneSettings, heading: ContactRow, index: int
) -> None:
    """Draw the heading of a group: a triangle that opens it, its number of rows, and the worst of these."""
    group = summary_of_group(settings, index)
    triangle: Any = "DOWNARROW_HLT" if heading.is_open or settings.contact_list.search else "RIGHTARROW"
    part = line.row(align=True)
    part.prop(heading, "is_open", text="", icon=triangle, emboss=False)
    names = heading.a, heading.b or iface_count(group.objects - 1, "{count} object", "{count} objects")
    _draw_names(line, context, settings, names, count=group.count)
    numbers = _short_frame(group.frame), _value_text(abs(group.gap) / _unit(context, settings).size)
    _draw_numbers(line, context, settings, numbers)


def _draw_names(
    line: UILayout,
    context: Context,
    settings: SceneSettings,
    names: tuple[str, str],
    icon: Any = "NONE",
    count: int = 0,
) -> None:
    """Draw two names in the room that they have, after an icon, or after a number of rows."""
    room, _ = _room_of_names(context)
    width_of, prefix = measure_texts(context), f"{count}\N{MULTIPLICATION SIGN} " if count else ""
    before: float = _ICON + _NAME_MARGIN
    if count:
        # The triangle has had the place of the icon.
        before, room = _NAME_MARGIN + width_of(prefix), room - width_of(prefix)
    a, b, first = shortened_pair(*names, columns_of(settings.result_id).prefixes, width_of, room)
    parts = line.split(factor=(before + first) / (before + room + _NAME_MARGIN), align=True)
    parts.row(align=True).label(text=prefix + a, translate=False, icon=icon)
    parts.row(align=True).label(text=b, translate=False)


def _draw_numbers(
    line: UILayout, context: Context, settings: SceneSettings, numbers: tuple[str, str]
) -> None:
    """Draw frame and value of a row, or the one that the list is sorted by where there is room for one."""
    has_room = _room_of_names(context)[1]
    shown = numbers if has_room else numbers[1:] if settings.contact_list.sort_by == "VALUE" else numbers[:1]
    for text in shown:
        cell = line.row(align=True)
        cell.ui_units_x = _HEADING_UNITS if has_room else _NUMBER_UNITS
        cell.label(text=text, translate=False)


def _short_frame(frame: float, uncertainty: float = 0.0) -> str:
    """Format a frame in at most six characters, up to a million, as far as it is certain."""
    decimals = 2 if abs(frame) < 100 else 1 if abs(frame) < 1000 else 0
    return frame_text(frame, uncertainty, decimals).split(" ")[0]


def draw_counts(layout: UILayout, settings: SceneSettings) -> None:
    """Draw how many rows of each kind there are; each count is a filter.

    A count of 0 is shown only while its filter is on, so that this can be turned off.
    """
    grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    grid.use_property_split = False
    texts = {
        "show_contacts": (n_("{count} contact"), n_("{count} contacts")),
        "tunnelling_only": (n_("{count} tunnelling"),) * 2,
        "show_near_misses": (n_("{count} near miss"), n_("{count} near misses")),
        "show_hidden": (n_("{count} hidden row"), n_("{count} hidden rows")),
    }
    for name, count in counts_of_rows(settings).items():
        if count or getattr(settings.contact_list, name):
            text = iface_count(count, *texts[name])
            grid.prop(settings.contact_list, name, text=text, translate=False, toggle=True)


def draw_headings(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    """Draw column headings above the list; clicking one sorts by it, and again reverses the order.

    Above those of the numbers is a line that says so if they are of bounds. Where there is room for one
    number, its heading is the last one.
    """
    contact_list = settings.contact_list
    if not is_of_meshes(settings.results.contacts):
        line = layout.row(align=True)
        line.row(align=True).label(text="")
        numbers = line.row(align=True)
        numbers.ui_units_x, numbers.alignment = 2 * _HEADING_UNITS + _AFTER_UNITS, "CENTER"
        numbers.label(text="Of bounds:")
    line = layout.row(align=True)
    line.use_property_split = False
    depth = f"{iface_('Depth')} {_unit(context, settings).symbol}".rstrip()
    columns = [("FRAME", meaning_("Frame")), ("VALUE", depth)]
    _, has_room = _room_of_names(context)
    if not has_room and contact_list.sort_by != "VALUE":
        columns.reverse()
    # With room for one number, the first of these headings is above names, so it is narrow.
    widths = [_HEADING_UNITS if has_room else _NUMBER_UNITS, _HEADING_UNITS + _AFTER_UNITS]
    inside = (sidebar_width(context) - _SURROUNDINGS) / _UNIT
    widths.insert(0, max(inside - sum(widths), _HEADING_UNITS))
    for number, (name, text) in enumerate([("NAME", iface_("Pair")), *columns]):
        part = line.row(align=True)
        part.ui_units_x = widths[number]
        is_active = contact_list.sort_by == name
        if is_active:
            # In the text, because an icon leaves no room for it.
            text = f"{text} {_UP if contact_list.reverse else _DOWN}"
        sort = "collision_bounds.sort_contacts"
        part.operator(sort, text=text, translate=False, depress=is_active).column = name


def _unit(context: Context, settings: SceneSettings) -> LengthUnit:
    """Return the unit of all depths and gaps of the list."""
    return length_unit(context.scene.unit_settings, columns_of(settings.result_id).largest)


def _room_of_names(context: Context) -> tuple[float, bool]:
    """Return the pixels of both names, at a scale of 1, and whether there is room for both numbers."""
    # The icon is in front of the first one.
    inside = sidebar_width(context) - _SURROUNDINGS - _ICON - 2 * _NAME_MARGIN
    with_both = inside - 2 * _UNIT * _HEADING_UNITS
    if with_both >= _NARROWEST_NAMES:
        return with_both, True
    return max(inside - _UNIT * _NUMBER_UNITS, 1.0), False


def _value_text(value: float) -> str:
    """Format a depth or gap in at most five characters. The details have more digits."""
    limits = ((1, ".3f"), (10, ".2f"), (999.5, ".3g"), (99999.5, ".0f"))
    return format(value, next((form for limit, form in limits if value < limit), ".0e"))


_LINES = 9
"""Least number of lines of the details: most rows have no more."""
_TIME_LINE, _DEEPEST_LINE = 2, 4
"""Lines with the time of the contact, and the buttons that go to others of the pair; and with its depth."""
_GRAPH_PARTS = 3
"""Number of icons side by side that make up the graph: an icon is a square."""
_GRAPH_SURROUNDINGS, _LEAST_SIDE, _MOST_SIDE = 45.0, 40.0, 120.0
"""Pixels of the sidebar left and right of the graph; least and most pixels of the side of an icon."""
_MARGIN = 6
"""Pixels of the margin that Blender leaves around an icon."""


def draw_details(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    """Draw names and values of the active row that do not fit into the list."""
    # Blender's headers show whole frames only.
    note = iface_("Playhead {frame}", frame=playhead_text(playhead(context.scene)))
    body = folded(layout, "collision_bounds_details", n_("Details"), closed=False, note=note)
    if body is None:
        return
    row = active_row(settings)
    lines = _lines_of_group(context, settings) if row is None else _lines(context, settings, row)
    column = body.column(align=True)
    # Rows have the same height, so that what is below stays in place from one to the next.
    room = 0 if row is None else _LINES - len(lines)
    for index, (text, icon) in enumerate(lines + [("", "BLANK1")] * room):
        line = column.row(align=True)
        line.label(text=text, translate=False, icon=icon)
        if index == _TIME_LINE and COLLISION_BOUNDS_OT_go_to_interval.poll(context):
            go_to = "collision_bounds.go_to_interval"
            arrows: Any = {"PREVIOUS": "TRIA_LEFT", "NEXT": "TRIA_RIGHT"}
            for direction, arrow in arrows.items():
                line.operator(go_to, text="", icon=arrow, emboss=False).direction = direction
        if index == _DEEPEST_LINE and COLLISION_BOUNDS_OT_go_to_deepest.poll(context):
            line.operator("collision_bounds.go_to_deepest", text="", icon="TRIA_DOWN_BAR", emboss=False)


def draw_small_graph(layout: UILayout, context: Context, settings: SceneSettings) -> None:
    """Draw the graph of the separation of the active row, with its range and buttons, in a fixed height."""
    of_meshes = is_of_meshes(settings.results.contacts)
    title = n_("Separation of Meshes") if of_meshes else n_("Separation of Bounds")
    body = folded(layout, "collision_bounds_separation", title)
    if body is None:
        return
    curve, column = active_curve(settings), body.column(align=True)
    line = column.row(align=True)
    if curve is not None:
        unit = length_unit(context.scene.unit_settings, max(map(abs, curve.range)))
        low, high = (number_text(value / unit.size, 3) for value in curve.range)
        high = f"{high} {unit.symbol}".rstrip()
        line.label(text=iface_("{low} to {high}", low=low, high=high), translate=False, icon="FCURVE")
    else:
        # Unfolding the panel starts no job.
        text, job = missing_text(settings) or iface_("Click Compute"), job_state.running()
        if job is not None and job.has_partial_result is None:
            job.draw(line)
        else:
            line.label(text=text, translate=False, icon="INFO")
    width = (sidebar_width(context) - _GRAPH_SURROUNDINGS) / _GRAPH_PARTS
    side = min(max(width, _LEAST_SIDE), _MOST_SIDE)
    pixels = max(round((side - _MARGIN) * context.preferences.system.ui_scale), 1)
    graph = column.row(align=True)
    graph.alignment = "CENTER"
    for icon in graph_icons(curve, pixels, _GRAPH_PARTS, playhead(context.scene), context):
        graph.template_icon(icon, scale=side / _UNIT)
    ends = column.row(align=True)
    first, last = (f"{frame:g}" for frame in curve.frames[[0, -1]].tolist()) if curve else ("", "")
    ends.label(text=iface_("Frame {frame}", frame=first) if curve else "", translate=False)
    end = ends.row(align=True)
    end.alignment = "RIGHT"
    end.label(text=last, translate=False)
    line = column.row(align=True)
    text = "" if curve else iface_("Compute")
    line.operator("collision_bounds.compute_separation", text=text, translate=False, icon="FILE_REFRESH")
    line.prop(settings.display, "show_separation", text="In Viewport", icon="FCURVE", toggle=True)
    line.operator("collision_bounds.export_separation", text="", icon="EXPORT")
    line.operator("collision_bounds.key_separation", text="", icon="KEYINGSET")


def _lines(context: Context, settings: SceneSettings, row: ContactRow) -> list[tuple[str, Any]]:
    problems = [(reason, "INFO") for reason in selection_problems(context, settings, row)[:1]]
    names = [(name, "OBJECT_DATA") for name in current_names(settings, settings.active_row)]
    if row.is_near_miss:
        time, gap = n_("{shapes}: closest at {frame}"), n_("{shapes}: gap {distance}")
        if row.is_grazing:
            time, gap = n_("{shapes}: touch at {frame}"), n_("Gap 0: no overlap")
        distance = length_text(row.value, context.scene.unit_settings)
        shapes = _tested(settings.results.contacts)
        texts = (
            iface_(text, shapes=shapes, frame=frame_text(row.frame), distance=distance)
            for text in (time, gap)
        )
        return [*names, *zip(texts, ("TIME", "DRIVER_DISTANCE"), strict=True), *problems]
    result, contact = settings.results.contacts, entry_of_row(settings, row)
    assert result and result.scanned and isinstance(contact, Contact), "only drawn with contacts"
    lines = names + _lines_of_interval(context, result, contact)
    if row.accepted:
        text = n_("Accepted: {comment}") if row.comment else n_("Accepted")
        lines.append((iface_(text, comment=row.comment), "CHECKMARK"))
    if row.tunnelling:
        lines.append((iface_("Tunnelling: between frames only"), "GHOST_ENABLED"))
    elif row.at_start:
        lines.append((iface_("In contact at the first frame"), "PINNED"))
    elif contact.first.motion == "linear":
        lines.append((iface_("Linear motion between frames"), "ANIM"))
    return lines + problems


def _lines_of_group(context: Context, settings: SceneSettings) -> list[tuple[str, Any]]:
    """Return what is known of the group whose heading is active; without one, what to do."""
    heading = active_heading(settings)
    if heading is None:
        return [(iface_("Click a row"), "INFO")]
    group = summary_of_group(settings, settings.active_row)
    of_objects = iface_count(group.objects, "{count} object", "{count} objects")
    lines: list[tuple[str, Any]] = [(name, "GROUP") for name in (heading.a, heading.b) if name]
    one, many = n_("{count} pair of {objects}"), n_("{count} pairs of {objects}")
    text = iface_count(group.count, one, many, objects=of_objects)
    lines.append((text, "PRESET"))
    if group.count:
        text = n_("Deepest {depth}") if group.gap <= 0 else n_("Closest {depth}")
        depth = length_text(abs(group.gap), context.scene.unit_settings)
        lines.append((iface_("First at {frame}", frame=frame_text(group.frame)), "TIME"))
        lines.append((iface_(text, depth=depth), "DRIVER_DISTANCE"))
    return lines


def is_of_meshes(result: Result | None) -> bool:
    """Return whether a scan tested meshes: one of bounds says little about these."""
    return result is not None and result.scanned is not None and result.scanned.shape == "mesh"


def _tested(result: Result | None) -> str:
    """Return what was tested, translated."""
    return iface_("Meshes") if is_of_meshes(result) else iface_("Bounds")


def _lines_of_interval(context: Context, result: Result, contact: Contact) -> list[tuple[str, Any]]:
    """Return the lines about the interval of contact that began last at the playhead."""
    units, shapes = context.scene.unit_settings, _tested(result)
    if not contact.details:
        frame = frame_text(contact.first.frame, contact.first.uncertainty)
        begin = iface_("{shapes}: first contact at {frame}", shapes=shapes, frame=frame)
        # Documents without details are not of meshes.
        depth, text = length_text(abs(contact.depth), units), n_("{shapes}: deepest {depth}")
        if contact.depth < 0:
            text = n_("{shapes}: gap {distance}")
        return [
            (begin, "TIME"),
            (iface_(text, shapes=shapes, depth=depth, distance=depth), "DRIVER_DISTANCE"),
        ]
    starts = [span.start for span in contact.intervals]
    index = interval_at(starts, playhead(context.scene))
    details = contact.details[index]
    text = n_("{shapes}: {number} of {count}, {begin} to {end}")
    if len(starts) == 1:
        text = n_("{shapes}: contact {begin} to {end}")
    times = {
        "begin": frame_text(starts[index], details.uncertainty),
        "end": frame_text(contact.intervals[index].end, decimals=2),
    }
    begin = iface_(text, shapes=shapes, number=index + 1, count=len(starts), **times)
    speed = iface_("Closing speed unknown")
    if details.closing_speed is not None:
        per_second = length_text(details.closing_speed * result.time.fps, units, digits=3)
        speed = iface_("Closing speed {distance}/s", distance=per_second)
    text = n_("{shapes}: deepest {depth} at {frame}")
    if details.depth < 0:
        text = n_("{shapes}: closest {depth} at {frame}")
    elif details.overlap == "touches":
        text = n_("{shapes}: touch at {frame}")
    elif details.overlap == "inside":
        text = n_("{shapes}: inside, {depth} at {frame}")
    elif isnan(details.depth) or (details.overlap and not details.depth):
        text = n_("{shapes}: surfaces cross at {frame}")
    depth = length_text(abs(details.depth), units)
    deepest_frame = frame_text(details.deepest_frame, decimals=2)
    deepest = iface_(text, shapes=shapes, depth=depth, frame=deepest_frame)
    direction = ", ".join(f"{part:.2f}" for part in details.direction.round(2) + 0.0)
    return [
        (begin, "TIME"),
        (speed, "FORWARD"),
        (deepest, "DRIVER_DISTANCE"),
        (iface_("Apart along ({direction})", direction=direction), "ORIENTATION_NORMAL"),
    ]
