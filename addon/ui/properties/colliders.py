"""Settings of colliders: of the objects that operators create, and of those in Blender's glTF export."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty
from bpy.types import PropertyGroup

from .. import property_events
from .options import HasOptions, option_property, with_properties

NAMING: dict[str, Any] = {
    "name": "Names",
    "description": "Naming convention that your engine uses to recognize colliders",
    "items": (
        ("unreal", "Unreal", "UBX_Name_00, USP_ for spheres, UCP_ for capsules, UCX_ for hulls", 0),
        ("godot", "Godot, Convex", "Name_00-convcolonly: a convex shape in Godot", 1),
        (
            "godot_concave",
            "Godot, Concave",
            "Name_00-colonly: the triangles themselves as a concave shape in Godot",
            2,
        ),
        (
            "unity",
            "Unity",
            "Name_BoxCollider_00 and so on, read in Unity by the script CollisionBoundsImporter.cs",
            3,
        ),
        ("custom", "Custom", "Use the pattern below", 4),
    ),
}
COLLIDER_PARTS: dict[str, Any] = {
    "default": 1,
    "description": "Split each mesh into up to this many convex parts, each with a collider, so that notches "
    "and holes stay open. 1 is one collider around all",
}


COLLIDER_OPTIONS = ("kind", "parts", "parts_tolerance", "max_vertices", "naming", "pattern", "collection")
"""Names of the settings, in the order of the interface."""


def collider_property(name: str, **changes: Any) -> Any:
    """Return the definition of the property of one of `COLLIDER_OPTIONS`, with changed arguments."""
    if name == "naming":
        return EnumProperty(**NAMING, **changes)
    return option_property(name, **{**(COLLIDER_PARTS if name == "parts" else {}), **changes})


@with_properties(**{name: collider_property(name) for name in COLLIDER_OPTIONS})
class COLLISION_BOUNDS_PG_colliders(HasOptions, PropertyGroup):
    """Settings of a scene's colliders."""

    show_surfaces: BoolProperty(
        name="Fill Colliders",
        description="Draw the surfaces of collider objects, translucent. Nothing is added to the objects",
        default=True,
        update=property_events.on_style_changed,
    )


class COLLISION_BOUNDS_PG_gltf(PropertyGroup):
    """Settings of the colliders that are added to Blender's glTF exports; none by default."""

    omi: BoolProperty(
        name="OMI (Godot)",
        description="Add a collider to each exported mesh as OMI_physics_body, read by Godot 4.3 and later",
        default=False,
    )
    khr: BoolProperty(
        name="KHR (Draft)",
        description="Add a collider to each exported mesh as KHR_physics_rigid_bodies, a Khronos draft",
        default=False,
    )
    shape: EnumProperty(
        name="Shape",
        description="Collider shape. Objects with a custom shape keep it",
        items=(
            ("obb", "Boxes", "A box along the object's own axes", 0),
            ("sphere", "Spheres", "A sphere", 1),
            (
                "hull",
                "Convex Hulls",
                "The convex hull of the vertices, as a small mesh that is not rendered",
                2,
            ),
        ),
        default="obb",
    )
    parts: collider_property("parts")
    parts_tolerance: collider_property("parts_tolerance")
    max_vertices: collider_property("max_vertices")
