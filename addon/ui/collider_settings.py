"""Settings of collider objects: kept by a scene, and offered by the operator that makes them."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import PropertyGroup

from ..scene.collider_names import PATTERNS

KIND = {
    "name": "Kind",
    "description": "What colliders are, but where a box or sphere was set for an object by hand",
    "items": (
        ("box", "Boxes", "A box along the object's own axes", "MESH_CUBE", 0),
        ("sphere", "Spheres", "A sphere of 162 corners around the fitted one", "MESH_UVSPHERE", 1),
        ("capsule", "Capsules", "A capsule along one of the object's own axes", "MESH_CAPSULE", 2),
        ("hull", "Convex Hulls", "The convex hull of the vertices", "MESH_ICOSPHERE", 3),
    ),
}
NAMING = {
    "name": "Names",
    "description": "How colliders are called, so that an engine knows them",
    "items": (
        ("unreal", "Unreal", "UBX_Name_00, USP_ for spheres, UCP_ for capsules, UCX_ for hulls"),
        ("godot", "Godot, Convex", "Name_00-convcolonly: a convex shape in Godot"),
        ("godot_concave", "Godot, Concave", "Name_00-colonly: the triangles as they are in Godot"),
        ("unity", "Unity", "Name_BoxCollider_00, and so on: for an import script of your own"),
        ("own", "Own Pattern", "A pattern of your own"),
    ),
}
PATTERN = {
    "name": "Pattern",
    "description": "{name} of the object, {number} from 00, {prefix} such as UBX, "
    "{component} such as BoxCollider, {kind} such as box",
}
COLLECTION = {
    "name": "Collection",
    "description": "Where colliders go. It is made if the scene has none of that name",
}
MOST = {
    "name": "Corners",
    "description": "No hull has more corners: one of fewer is larger, and quicker in an engine. "
    "PhysX takes 255 at most",
    "min": 4,
    "max": 255,
}
_FIRST_PATTERN = PATTERNS["unreal"]


class ColliderSettings(PropertyGroup):
    """How a scene's colliders are made."""

    kind: EnumProperty(**KIND)
    naming: EnumProperty(**NAMING)
    pattern: StringProperty(**PATTERN, default=_FIRST_PATTERN)
    collection: StringProperty(**COLLECTION, default="Colliders")
    most: IntProperty(**MOST, default=255)


COLLIDER_OPTIONS = ("kind", "most", "naming", "pattern", "collection")
"""In the order in which they are shown."""


def pattern_of(settings: Any) -> str:
    """The pattern of names that was chosen."""
    return str(settings.pattern) if settings.naming == "own" else PATTERNS[settings.naming]


CLASSES = (ColliderSettings,)
