"""Definitions of properties that the scene's settings and an operator (for F9) have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpy.types import Context

from ...scene.subjects.pair_filters import COLLECTION_PREFIX

SCOPE = {
    "name": "Objects",
    "description": "Objects to process",
    "items": (
        ("SELECTED", "Selected", "Only selected objects"),
        ("VISIBLE", "All Visible", "All visible objects with geometry, instances included"),
    ),
}
SHAPE = {
    "name": "Shape",
    "description": "Shape that represents each object in collision checks",
    "items": (
        ("aabb", "Boxes", "Axis-aligned box. Suits walls and floors", "MESH_CUBE", 0),
        ("sphere", "Spheres", "Bounding sphere. Suits rotating objects", "MESH_UVSPHERE", 1),
        (
            "obb",
            "Oriented Boxes",
            "Box along the object's own axes, which rotates with it",
            "ORIENTATION_LOCAL",
            2,
        ),
        (
            "spheres",
            "Sphere Trees",
            "Hierarchy of small spheres that follows the shape of the object. Most accurate, slowest",
            "META_BALL",
            3,
        ),
    ),
}
MOTION = {
    "name": "Motion",
    "description": "Motion between sampled frames",
    "items": (
        (
            "adaptive",
            "Adaptive",
            "Re-evaluates the scene between frames wherever objects come close. Accurate",
        ),
        ("linear", "Linear", "Interpolates linearly between frames. Faster"),
    ),
}
CLEARANCE = {
    "name": "Clearance",
    "description": "Distance below which two objects count as in contact",
    "subtype": "DISTANCE",
    "min": 0.0,
    "soft_max": 1.0,
}


def _names(_owner: Any, context: Context, _typed: str) -> Iterator[str]:
    """Yield collections and objects as suggestions for a field that also takes patterns."""
    yield from (f"{COLLECTION_PREFIX}{entry.name}" for entry in context.scene.collection.children_recursive)
    yield from (item.name for item in context.scene.objects)


_PATTERN = {"search": _names, "search_options": {"SUGGESTION"}}

GROUP_A = {
    "name": "Group A",
    "description": "Only pairs with one object that matches this name, pattern such as Car*, or "
    "collection:Name. Empty: all objects",
    **_PATTERN,
}
GROUP_B = {
    "name": "Group B",
    "description": "Only pairs whose other object matches this name, pattern or collection:Name. "
    "Empty: all objects",
    **_PATTERN,
}
IGNORED = {
    "name": "Ignore",
    "description": "Pairs to skip, such as Lid:Box, Wheel*:collection:Road. Separate the two names or "
    "patterns by a colon, and pairs by commas. Write [:] and [,] for characters that belong to a name",
}
IGNORE_PARENTS = {
    "name": "Ignore Parents",
    "description": "Skip pairs of a parent and its child, and of loose parts of one object, which usually "
    "touch where they are joined",
}
IGNORE_COLLECTION = {
    "name": "Ignore Collection",
    "description": "Skip pairs of objects in the same collection, except the scene collection",
}
STATIC_PAIRS = {
    "name": "Static Pairs",
    "description": "Include pairs in which neither object moves, such as walls intersecting a floor",
}
CONFIRM = {
    "name": "Verify on Meshes",
    "description": "Verify each contact on the actual meshes, and report when they first touch",
}
OBSTACLES = {
    "name": "Obstacles",
    "description": "Objects that match this name, pattern such as Level*, or collection:Name are tested as "
    "meshes against the spheres of all other objects. Empty: none",
    **_PATTERN,
}
ONE_SIDED = {
    "name": "Single Sided",
    "description": "Ignore contacts from behind an obstacle's faces",
}

CONTACT_OPTIONS = (
    "scope",
    "shape",
    "obstacles",
    "one_sided",
    "motion",
    "clearance",
    "confirm",
    "group_a",
    "group_b",
    "ignored",
    "ignore_parents",
    "ignore_collection",
    "static_pairs",
)
"""What Find Contacts takes from the scene, or is given instead."""

OF_ONE_SCENE = ("scope", "obstacles", "group_a", "group_b", "ignored")
"""Those that say which things of a scene are meant."""
