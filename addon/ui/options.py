"""How options look that a scene keeps and an operator offers, for F9: each the same in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bpy.types import Context, Operator

from ..scene.pairs import COLLECTION

SCOPE = {
    "name": "Objects",
    "description": "What gets bounds",
    "items": (
        ("SELECTED", "Selected", "Only what is selected"),
        ("VISIBLE", "All Visible", "Everything the viewport shows that has a surface, instances included"),
    ),
}
METHOD = {
    "name": "Sphere",
    "description": "How spheres are fitted",
    "items": (
        ("minimal", "Smallest", "The smallest sphere there is"),
        ("ritter", "Ritter", "Quick and close: 5 to 20 % larger than the smallest"),
        ("centroid", "Centroid", "Around the mean of the vertices"),
        ("box", "Box Center", "Around the middle of the bounding box"),
    ),
}
PADDING = {
    "name": "Padding",
    "description": "Makes every sphere and box larger by this on all sides",
    "subtype": "DISTANCE",
    "soft_min": 0.0,
    "soft_max": 1.0,
}
SHAPE = {
    "name": "Shape",
    "description": "What is checked for contact",
    "items": (
        ("aabb", "Boxes", "A box along the world's axes stands in for each object", "MESH_CUBE", 0),
        ("sphere", "Spheres", "A sphere stands in for each object", "MESH_UVSPHERE", 1),
        (
            "obb",
            "Oriented Boxes",
            "A box along the object's own axes stands in for each object, and turns with it",
            "ORIENTATION_LOCAL",
            2,
        ),
        (
            "spheres",
            "Sphere Trees",
            "Many small spheres stand in for each object: closest to its form, and slowest",
            "META_BALL",
            3,
        ),
    ),
}
MOTION = {
    "name": "Motion",
    "description": "How things move from one frame to the next",
    "items": (
        ("adaptive", "Adaptive", "Looks between frames as often as it takes, where things come close"),
        ("linear", "Linear", "Takes the straight way from one frame to the next: quicker"),
    ),
}
CLEARANCE = {
    "name": "Clearance",
    "description": "Closer than this counts as contact",
    "subtype": "DISTANCE",
    "min": 0.0,
    "soft_max": 1.0,
}


def _names(_owner: Any, context: Context, _typed: str) -> Iterator[str]:
    """Collections and objects to pick from, for a field that takes patterns as well."""
    yield from (f"{COLLECTION}{entry.name}" for entry in context.scene.collection.children_recursive)
    yield from (item.name for item in context.scene.objects)


_PATTERN = {"search": _names, "search_options": {"SUGGESTION"}}

GROUP_A = {
    "name": "Group A",
    "description": "Only pairs with one object of this name, or pattern such as Car*, or collection:Name. "
    "Empty: everything",
    **_PATTERN,
}
GROUP_B = {
    "name": "Group B",
    "description": "Only pairs with the other object of this name, pattern or collection:Name. "
    "Empty: everything",
    **_PATTERN,
}
IGNORED = {
    "name": "Ignore",
    "description": "Pairs that are left out: Lid:Box, Wheel*:collection:Road. A colon stands between the two "
    "names or patterns, a comma between pairs; one that belongs to a name is written [:] or [,]",
}
IGNORE_PARENTS = {
    "name": "Ignore Parents",
    "description": "Leaves out pairs of a parent and its child, and of loose parts of one object, which "
    "usually touch where they are joined",
}
IGNORE_COLLECTION = {
    "name": "Ignore Collection",
    "description": "Leaves out pairs that lie in one collection. The scene's own collection does not count",
}
STATIC_PAIRS = {
    "name": "Static Pairs",
    "description": "Keeps pairs of which neither ever moves, such as walls that stand in one another",
}
CONFIRM = {
    "name": "Confirm on Meshes",
    "description": "Asks the meshes themselves about each contact of bounds: whether they touch, and when",
}
OBSTACLES = {
    "name": "Obstacles",
    "description": "Objects of this name, pattern such as Level*, or collection:Name are checked as the "
    "meshes they are, and the spheres of all others bump into them. Empty: none",
    **_PATTERN,
}
ONE_SIDED = {
    "name": "One-Sided",
    "description": "What is behind a face of an obstacle does not touch it",
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


def settle(operator: Operator, settings: Any, names: tuple[str, ...]) -> None:
    """Options that were given go to the scene; those that were not come from there."""
    for name in names:
        if operator.properties.is_property_set(name):
            setattr(settings, name, getattr(operator, name))
        else:
            setattr(operator, name, getattr(settings, name))
