"""Property groups of the contact list: rows, sorting and filters, and the markers made from them."""

from __future__ import annotations

from typing import Any, TypeAlias

from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    IntProperty,
    StringProperty,
)
from bpy.types import PropertyGroup

from ...formats import NotVerified
from ...translations import CONTEXT
from ..texts import frame_text, length_text
from ..translation import n_, tip_

SORT_BY = {
    "name": "Sort by",
    "description": "Column to sort by",
    "items": (
        ("NAME", "Pair", "Names of both objects", 0),
        ("FRAME", "Frame", "Time of bounds: contacts, those at the first frame, near misses", 1),
        ("VALUE", "Depth or Gap", "Depth or gap of bounds: deepest contact first, widest gap last", 2),
    ),
    "default": "FRAME",
}


def _tooltip(row: COLLISION_BOUNDS_PG_contact_row) -> str:
    """Return everything about a row: both names, its kind, frame, and depth or gap."""
    scene: Any = row.id_data
    value = length_text(abs(row.value), scene.unit_settings)
    frame = frame_text(row.frame, row.uncertainty)
    if row.is_grazing:
        text = n_("{a} and {b}: bounds touch at frame {frame} without overlap, gap 0")
    elif row.is_near_miss:
        text = n_("{a} and {b}: near miss of the bounds at frame {frame}, gap {value}")
    elif row.value < 0:
        text = n_("{a} and {b}: bounds closer than the clearance from frame {frame} on, gap {value}")
    elif row.at_start:
        text = n_("{a} and {b}: contact of the bounds from the first frame on, depth {value}")
    elif row.tunnelling:
        text = n_("{a} and {b}: contact of the bounds between frames only at frame {frame}, depth {value}")
    else:
        text = n_("{a} and {b}: contact of the bounds at frame {frame}, depth {value}")
    lines = [tip_(text, a=row.a, b=row.b, frame=frame, value=value)]
    if row.not_verified:
        lines.append(tip_("Meshes not verified: {reason}", reason=tip_(NotVerified(row.not_verified).text)))
    if row.accepted:
        lines.append(tip_("Accepted: {comment}", comment=row.comment))
    return "\n".join(lines)


class COLLISION_BOUNDS_PG_contact_row(PropertyGroup):
    """A row of the contact list: a contact or a near miss."""

    tooltip: StringProperty(name="Pair", description="Everything about this pair", get=_tooltip)

    a: StringProperty(name="A", description="First object of the pair")
    b: StringProperty(name="B", description="Second object of the pair")
    frame: FloatProperty(
        name="Frame",
        description="Frame of the first contact of bounds, or of their closest approach",
        precision=3,
    )
    value: FloatProperty(
        name="Depth or Gap", description="Greatest penetration depth of bounds, or the gap of a near miss"
    )
    is_near_miss: BoolProperty(name="Near Miss", description="The pair never touches")
    is_grazing: BoolProperty(
        name="Grazing", description="The gap is no larger than the rounding of coordinates"
    )
    tunnelling: BoolProperty(name="Tunnelling", description="No whole frame shows this contact")
    at_start: BoolProperty(name="At Start", description="In contact at the first frame")
    uncertainty: FloatProperty(name="Uncertainty", description="Uncertainty of the contact time, in frames")
    linear: BoolProperty(name="Linear", description="Based on linear motion between frames")
    meshes: EnumProperty(
        name="Meshes",
        description="Result of the verification on meshes",
        translation_context=CONTEXT,
        items=(
            ("UNKNOWN", "Not Verified", "Not verified on meshes", 0),
            ("TOUCH", "Touch", "The meshes touch", 1),
            ("NEVER", "Never", "The bounds are in contact, the meshes are not", 2),
            ("CLOSER", "Closer", "The meshes come closer than the clearance and do not touch", 3),
        ),
    )
    not_verified: StringProperty(
        name="Not Verified",
        description="Why the meshes could not be verified, as documents name it",
        translation_context=CONTEXT,
    )
    mesh_frame: FloatProperty(
        name="Mesh Frame", description="Frame of the first contact of the meshes", precision=3
    )
    mesh_uncertainty: FloatProperty(
        name="Mesh Uncertainty", description="Uncertainty of the contact time of the meshes, in frames"
    )
    is_mesh_sampled: BoolProperty(
        name="Meshes Sampled", description="The result for the meshes is an estimate from samples"
    )
    mesh_clearance: FloatProperty(
        name="Mesh Clearance",
        description="Clearance within which the meshes were tested, 0 for touching only",
    )
    closer_frame: FloatProperty(
        name="Closer Frame",
        description="Frame from which the meshes are closer than the clearance",
        precision=3,
    )
    closer_uncertainty: FloatProperty(
        name="Closer Uncertainty",
        description="Uncertainty of the frame from which the meshes are closer than the clearance, in frames",
    )
    index: IntProperty(name="Index", description="Index in the contacts or near misses of the report")
    hidden: BoolProperty(name="Hide", description="Hide this row")
    accepted: BoolProperty(name="Accepted", description="Contacts of this pair are accepted")
    comment: StringProperty(name="Comment", description="Why they are accepted", translation_context=CONTEXT)


class COLLISION_BOUNDS_PG_contact_marker(PropertyGroup):
    """Name and frame of a timeline marker, because markers of Blender 4.2 have no custom properties."""

    frame: IntProperty(name="Frame", description="Frame of the marker")


class COLLISION_BOUNDS_PG_contact_list(PropertyGroup):
    """Sorting and filters of the contact list, and the timeline markers made from its rows."""

    sort_by: EnumProperty(**SORT_BY)
    reverse: BoolProperty(name="Reverse", description="Reverse the order", translation_context=CONTEXT)
    search: StringProperty(
        name="Search",
        description="Filter pairs by name",
        options={"TEXTEDIT_UPDATE"},
        translation_context=CONTEXT,
    )
    show_contacts: BoolProperty(name="Contacts", description="Show pairs that touch", default=True)
    show_near_misses: BoolProperty(
        name="Near Misses", description="Show pairs that come close without touching"
    )
    tunnelling_only: BoolProperty(
        name="Tunnelling Only", description="Show only contacts that lie between two frames"
    )
    new_only: BoolProperty(
        name="New Only", description="Show only contacts that are not in the baseline, and not accepted"
    )
    show_hidden: BoolProperty(name="Hidden", description="Show hidden rows")
    selected_only: BoolProperty(
        name="Selected Objects Only",
        description="Show only pairs with a selected object. Clicking a row then keeps the selection",
    )
    view_follows: BoolProperty(
        name="View Follows", description="Frame the pair in the view when its row is clicked"
    )
    markers: CollectionProperty(type=COLLISION_BOUNDS_PG_contact_marker)
    marks_all_intervals: BoolProperty(
        name="All Intervals", description="Whether the markers are of all intervals of contact"
    )


ContactRow: TypeAlias = COLLISION_BOUNDS_PG_contact_row
