"""Definitions of options that a scene and an operator (for F9) have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpy.types import Context, UILayout

from ...scene.blender.names import name_of
from ...scene.settings import SCANNED_SHAPES, SHAPE_KINDS, DrawnShape
from ...scene.subjects.scan_settings import COLLECTION_PREFIX

SCOPE = {
    "name": "Objects",
    "description": "Objects to process",
    "items": (
        ("SELECTED", "Selected", "Only selected objects", 0),
        ("VISIBLE", "All Visible", "All visible objects with geometry, instances included", 1),
    ),
}
SHAPE = {
    "name": "Shape",
    "description": "Shape that represents each object in collision checks",
    "items": tuple(
        (name, SHAPE_KINDS[name].label, SHAPE_KINDS[name].description, SHAPE_KINDS[name].icon, number)
        for number, name in enumerate(SCANNED_SHAPES)
    ),
}
BOX_AXES = {
    "name": "Box Axes",
    "description": "Axes of the boxes of all objects that have no settings of their own",
    "items": (
        ("checked", "By Shape", "The world axes for Boxes, each object's own axes for Oriented Boxes", 0),
        ("world", "World", "Along the world axes", 1),
        ("object", "Object", "Along each object's own axes: the box rotates with the object", 2),
        ("smallest", "Smallest", "The smallest box of any direction. It rotates with the object", 3),
    ),
}
_ADDED_NUMBERS: dict[DrawnShape, int] = {"capsule": 1, "cylinder": 2, "compound": 4}
"""Shapes that can be added, each with its bit: files store the sum."""

ADDED_SHAPES = {
    "name": "Also Fit",
    "description": "Shapes to fit in addition to spheres and boxes. They are part of exported bounds",
    "items": tuple(
        (name, SHAPE_KINDS[name].label, SHAPE_KINDS[name].description, SHAPE_KINDS[name].icon, number)
        for name, number in _ADDED_NUMBERS.items()
    ),
}
PARTS = {
    "name": "Parts",
    "description": "Maximum number of convex parts that each mesh is split into",
    "min": 1,
    "max": 256,
    "soft_max": 32,
}
PARTS_TOLERANCE = {
    "name": "Tolerance",
    "description": "Depth of notches up to which a part is not split further",
    "subtype": "DISTANCE",
    "min": 0.0,
    "soft_max": 1.0,
}
VERTEX_GROUP = {
    "name": "Vertex Group",
    "description": "Name of the vertex group. Empty for the active group of each object",
}
GROUP_THRESHOLD = {
    "name": "Threshold",
    "description": "Least weight of a vertex. Vertices of weight 0 are never part",
    "default": 0.5,
    "min": 0.0,
    "max": 1.0,
}
GROUP_OF_BOUNDS = {
    "name": "Vertex Group",
    "description": "Enclose the vertices of this group alone. Objects without such vertices are skipped. "
    "Empty: all vertices. Only Compute Bounds uses it",
}
PART_SHAPE = {
    "name": "Part Shape",
    "description": "Shape of each convex part in exported bounds",
    "items": (
        ("hull", "Convex Hulls", "The convex hull of each part", 0),
        ("box", "Boxes", "The smallest box of any direction around each part", 1),
        ("sphere", "Spheres", "The bounding sphere of each part", 2),
        ("capsule", "Capsules", "The smallest capsule around each part", 3),
    ),
}
MOTION = {
    "name": "Motion",
    "description": "Motion between frames",
    "items": (
        (
            "adaptive",
            "Adaptive",
            "Follow keyframes, or evaluate the scene between frames where objects come close. Accurate",
            0,
        ),
        ("linear", "Linear", "Interpolate linearly between frames. Faster", 1),
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
    yield from (
        f"{COLLECTION_PREFIX}{name_of(entry)}" for entry in context.scene.collection.children_recursive
    )
    yield from (name_of(item) for item in context.scene.objects)


_PATTERN = {"search": _names, "search_options": {"SUGGESTION"}}

GROUP_A = {
    "name": "Group A",
    "description": "Check only pairs with an object of this name, pattern such as Car*, or "
    "collection:Name. Empty: all objects",
    **_PATTERN,
}
GROUP_B = {
    "name": "Group B",
    "description": "Check only pairs whose other object has this name, pattern, or collection:Name. "
    "Empty: all objects",
    **_PATTERN,
}
IGNORED = {
    "name": "Ignore",
    "description": "Pairs to skip, such as Lid:Box or Wheel*:collection:Road: two names or patterns with a "
    "colon between. Separate pairs by commas. Write [:] and [,] for characters that belong to a name",
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
    "description": "Include pairs in which neither object moves, such as walls intersecting a floor. "
    "Where nothing moves at all, they always count",
}
CONFIRM = {
    "name": "Verify on Meshes",
    "description": "Verify each contact on the actual meshes, and report when they first touch",
}
OBSTACLES = {
    "name": "Obstacles",
    "description": "Test objects of this name, pattern such as Level*, or collection:Name as meshes, against "
    "the spheres of all other objects. Empty: none",
    **_PATTERN,
}
ONE_SIDED = {
    "name": "Single Sided",
    "description": "Ignore contacts from behind an obstacle's faces",
}

PART_OPTIONS = ("parts", "parts_tolerance", "part_shape")
"""Options of convex parts."""

GROUP_OPTIONS = ("vertex_group", "group_threshold")
"""Options of bounds of a vertex group."""

BOUNDS_OPTIONS = ("padding", "box_axes", *GROUP_OPTIONS, "added_shapes", *PART_OPTIONS)
"""Options of Compute Bounds, each a property of the scene and of the operator."""

CONTACT_OPTIONS = (
    "shape",
    "parts",
    "parts_tolerance",
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
"""Options of Find Contacts, each a property of the scene and of the operator."""

SCENE_SPECIFIC_OPTIONS = ("scope", *GROUP_OPTIONS, "obstacles", "group_a", "group_b", "ignored")
"""Options that refer to objects of one scene, so presets do not store them."""


def draw_vertex_group(layout: UILayout, properties: Any, item: Any, name: str = "group") -> None:
    """Draw the name of a vertex group, to choose from those of an object; None for no object."""
    if item is not None and len(item.vertex_groups):
        layout.prop_search(properties, name, item, "vertex_groups")
    else:
        layout.prop(properties, name)
