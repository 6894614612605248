"""Property groups of the contact list: rows, sorting and filters, and the markers made from them."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

from bpy.props import CollectionProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup

from ...translations import CONTEXT
from ..texts import frame_text, length_text, n_, tip_
from .options import announces, flag, grouping_changed, one_of

sorting = partial(
    one_of,
    "Sort by",
    "Column to sort by",
    ("NAME", "Pair", "Names of both objects", 0),
    ("FRAME", "Frame", "First times: contacts, those at the first frame, near misses", 1),
    ("VALUE", "Depth or Gap", "Deepest contact first, widest gap last", 2),
    default="VALUE",
)


OVERLAP_TEXTS = {
    "touches": n_("The meshes touch without overlap"),
    "crosses": n_("The surfaces of the meshes cross"),
    "inside": n_("One mesh is inside the other"),
}
"""Sentences about kinds of overlaps."""


def _tooltip(row: COLLISION_BOUNDS_PG_contact_row) -> str:
    """Return everything about a row: both names, its kind, frame, and depth or gap."""
    scene: Any = row.id_data
    value = length_text(abs(row.value), scene.unit_settings)
    frame = frame_text(row.frame, row.uncertainty)
    if row.is_heading:
        return tip_("All pairs of {a} and {b}" if row.b else "All pairs of {a}", a=row.a, b=row.b)
    if row.is_grazing:
        text = n_("{a} and {b}: touch at frame {frame} without overlap, gap 0")
    elif row.is_near_miss:
        text = n_("{a} and {b}: near miss at frame {frame}, gap {value}")
    elif row.value < 0:
        text = n_("{a} and {b}: closer than the clearance from frame {frame} on, gap {value}")
    elif row.at_start:
        text = n_("{a} and {b}: contact from the first frame on, depth {value}")
    elif row.tunnelling:
        text = n_("{a} and {b}: contact between frames only at frame {frame}, depth {value}")
    else:
        text = n_("{a} and {b}: contact at frame {frame}, depth {value}")
    lines = [tip_(text, a=row.a, b=row.b, frame=frame, value=value)]
    if row.overlap in OVERLAP_TEXTS:
        lines.append(tip_(OVERLAP_TEXTS[row.overlap]))
    if row.accepted:
        lines.append(tip_("Accepted: {comment}", comment=row.comment))
    return "\n".join(lines)


class COLLISION_BOUNDS_PG_contact_row(PropertyGroup):
    """A row of the contact list: a contact, a near miss, or the heading of a group of these.

    The panel shows its values as texts. The other values of a contact are in the result. Headings have names
    only, and are after all other rows.

    frame, uncertainty : Time of the bounds, in frames.
    value : Greatest penetration depth, the gap within the clearance as a negative number, or the gap of a
        near miss.
    overlap : Kind of the overlap of meshes; empty for none.
    is_grazing : Whether the gap is no larger than the rounding of coordinates.
    index : Index in the contacts or near misses of the report; -1 for headings.
    heading : Index of the row that is the heading of its group; -1 without groups.
    is_open : Whether a heading has its rows below it.
    """

    tooltip: StringProperty(name="Pair", description="Everything about this pair", get=_tooltip)
    a: StringProperty()
    b: StringProperty()
    frame: FloatProperty(precision=3)
    value: FloatProperty()
    overlap: StringProperty()
    is_near_miss: flag()
    is_grazing: flag()
    tunnelling: flag()
    at_start: flag()
    uncertainty: FloatProperty()
    index: IntProperty()
    heading: IntProperty(default=-1)
    is_heading: flag()
    is_open: flag("Expanded", "Show the rows of this group")
    hidden: flag("Hide", "Hide this row")
    accepted: flag()
    comment: StringProperty()


class COLLISION_BOUNDS_PG_contact_marker(PropertyGroup):
    """Name and frame of a timeline marker, because markers of Blender 4.2 have no custom properties."""

    frame: IntProperty(name="Frame", description="Frame of the marker")


class COLLISION_BOUNDS_PG_contact_list(PropertyGroup):
    """Sorting and filters of the contact list, and the timeline markers made from its rows."""

    sort_by: sorting()
    group_by: one_of(
        "Group by",
        "What the rows of a group have in common",
        (
            "AUTOMATIC",
            "Automatic",
            "From 20 rows on, by the first of these that makes groups",
            0,
        ),
        ("NONE", "No Groups", "One list of all pairs", 1),
        ("COLLECTION", "Collection", "Collections of both objects", 2),
        ("PARENT", "Parent", "Topmost parents of both objects, or the objects that create the instances", 3),
        ("OBJECT", "Object", "The object of each pair that has more rows", 4),
        update=announces(grouping_changed),
    )
    reverse: flag("Reverse", "Reverse the order", translation_context=CONTEXT)
    search: StringProperty(
        name="Search",
        description="Filter pairs by name",
        options={"TEXTEDIT_UPDATE"},
        translation_context=CONTEXT,
    )
    show_contacts: flag("Contacts", "Show pairs that touch", default=True)
    show_near_misses: flag("Near Misses", "Show pairs that come close without touching")
    tunnelling_only: flag("Tunnelling Only", "Show only contacts that lie between two frames")
    new_only: flag("New Only", "Show only contacts that are not in the baseline, and not accepted")
    show_hidden: flag("Hidden", "Show hidden rows")
    selected_only: flag(
        "Selected Objects Only",
        "Show only pairs with a selected object. Clicking a row then keeps the selection",
    )
    view_follows: flag("View Follows", "Frame the pair in the view when its row is clicked")
    markers: CollectionProperty(type=COLLISION_BOUNDS_PG_contact_marker)
    marks_all_intervals: flag("All Intervals", "Whether the markers are of all intervals of contact")


ContactRow: TypeAlias = COLLISION_BOUNDS_PG_contact_row
