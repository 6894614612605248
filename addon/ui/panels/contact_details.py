"""Details of the active row of the contact list, in a part of the panel whose height is always the same."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, UILayout

from ..contact_rows import active_row
from ..number_texts import frame_text, length_text
from ..operators.contacts.pair_selection import selection_problems
from ..properties.contact_list import COLLISION_BOUNDS_PG_contact_row
from ..properties.scene import COLLISION_BOUNDS_PG_scene
from .sidebar import folded

_LINES = 7
"""Number of lines of the details, whatever there is to say."""


def draw_details(layout: UILayout, context: Context, settings: COLLISION_BOUNDS_PG_scene) -> None:
    """Draw names and values of the active row that do not fit into the list."""
    body = folded(layout, "collision_bounds_details", "Details", closed=False)
    if body is None:
        return
    row = active_row(settings)
    lines: list[tuple[str, Any]] = (
        [("Click a row", "INFO")] if row is None else _lines(context, settings, row)
    )
    column = body.column(align=True)
    for text, icon in (lines + [("", "BLANK1")] * _LINES)[:_LINES]:
        column.label(text=text, icon=icon)


def _lines(
    context: Context, settings: COLLISION_BOUNDS_PG_scene, row: COLLISION_BOUNDS_PG_contact_row
) -> list[tuple[str, Any]]:
    """Return text and icon of each line."""
    problems = [(reason, "INFO") for reason in selection_problems(context, settings, row)[:1]]
    names = [(row.a, "OBJECT_DATA"), (row.b, "OBJECT_DATA")]
    value = length_text(row.value, context.scene.unit_settings)
    if row.is_near_miss:
        closest = f"Closest at frame {frame_text(row.frame)}"
        return [*names, (closest, "TIME"), (f"Gap {value}", "DRIVER_DISTANCE"), *problems]
    begin = f"First contact at frame {frame_text(row.frame, row.uncertainty)}"
    lines = [*names, (begin, "TIME"), (f"Deepest overlap {value}", "DRIVER_DISTANCE")]
    if row.meshes == "TOUCH":
        lines.append((f"Meshes touch at frame {frame_text(row.mesh_frame)}", "CHECKMARK"))
    elif row.meshes == "NEVER":
        lines.append(("Bounds only: meshes never touch", "MESH_DATA"))
    if row.accepted:
        lines.append((f"Accepted: {row.comment}" if row.comment else "Accepted", "CHECKMARK"))
    if row.tunnelling:
        lines.append(("Tunnelling: between frames only", "GHOST_ENABLED"))
    elif row.at_start:
        lines.append(("In contact at the first frame", "PINNED"))
    elif row.linear:
        lines.append(("Linear motion between frames", "ANIM"))
    return lines + problems
