"""Settings of collider objects, shared by the scene and by the operator that creates them."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup

from ...scene.settings import COLLIDER_NAME_PATTERNS
from .. import property_events
from .options import option_property

KIND = {
    "name": "Kind",
    "description": "Collider shape. Objects with a custom shape keep it",
    "items": (
        ("box", "Oriented Boxes", "A box along the object's own axes", "MESH_CUBE", 0),
        ("sphere", "Spheres", "A sphere of 162 vertices around the fitted one", "MESH_UVSPHERE", 1),
        ("capsule", "Capsules", "A capsule along one of the object's own axes", "MESH_CAPSULE", 2),
        ("hull", "Convex Hulls", "The convex hull of the vertices", "MESH_ICOSPHERE", 3),
    ),
}
NAMING = {
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
PATTERN = {
    "name": "Pattern",
    "description": "Pattern of collider names: {name} of the object, {base} without _LOD1, {number} from 00, "
    "{prefix} such as UBX, {component} such as BoxCollider, {kind} such as box",
}
COLLECTION = {
    "name": "Collection",
    "description": "Collection for the colliders. Created if the scene has none of that name",
}
MAX_VERTICES = {
    "name": "Max Vertices",
    "description": "Maximum number of vertices per hull. Fewer is faster in the engine but looser. "
    "PhysX allows 255",
    "min": 4,
    "max": 255,
}
COLLIDER_PARTS = {
    "default": 1,
    "description": "Split each mesh into up to this many convex parts, each with a collider, so that notches "
    "and holes stay open. 1 is one collider around all",
}
_FIRST_PATTERN = COLLIDER_NAME_PATTERNS["unreal"]


class COLLISION_BOUNDS_PG_colliders(PropertyGroup):
    """Settings of a scene's colliders."""

    kind: EnumProperty(**KIND)
    naming: EnumProperty(**NAMING)
    pattern: StringProperty(**PATTERN, default=_FIRST_PATTERN)
    collection: StringProperty(**COLLECTION, default="Colliders")
    parts: option_property("parts", **COLLIDER_PARTS)
    parts_tolerance: option_property("parts_tolerance")
    max_vertices: IntProperty(**MAX_VERTICES, default=255)
    show_surfaces: BoolProperty(
        name="Fill Colliders",
        description="Draw the surfaces of collider objects, translucent. Nothing is added to the objects",
        default=True,
        update=property_events.on_style_changed,
    )


COLLIDER_OPTIONS = ("kind", "parts", "parts_tolerance", "max_vertices", "naming", "pattern", "collection")
"""Names of the settings, in the order of the interface."""


def pattern_of(settings: Any) -> str:
    """Return the pattern of collider names that is selected."""
    return str(settings.pattern) if settings.naming == "custom" else COLLIDER_NAME_PATTERNS[settings.naming]
