"""Settings of the colliders in Blender's glTF export, stored in the scene."""

from __future__ import annotations

from bpy.props import BoolProperty, EnumProperty
from bpy.types import PropertyGroup

from .colliders import collider_property


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
