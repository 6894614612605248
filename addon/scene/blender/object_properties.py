"""Property groups of objects and collections: their own settings of bounds.

Saved in the file, copied with the object, undone, and editable in library overrides. `object_settings.py`
reads them. The command line registers these groups alone, where the extension is disabled.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, PropertyGroup

from ...formats.document.model import COLLISION_GROUPS
from ...translations import CONTEXT
from ..declarations import Choice, Flag, Number, Option
from ..settings import JOB_OPTIONS
from .object_settings import FIT_OPTIONS, SETTINGS_PROPERTY

_OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

OWN_OPTIONS = ("use_object_settings", "bounds_for", "bone_weight", *FIT_OPTIONS)
"""The settings of an object's fit, with the switch that turns them on."""

RESPONSE_OPTIONS = ("response", "collision_group", "collision_mask", "physics_material")
"""What engines do when something meets the object."""

OVERRIDE_OPTIONS = ("override", "center", "half_extents", "radius")
"""The first custom shape of an object."""

SHAPE_OPTIONS = ("shape", "center", "half_extents", "radius")
"""Each further custom shape."""


def property_of(option: Option, **changes: Any) -> Any:
    """Return the definition of the property that holds an option, with changed arguments.

    Positions of items are their numbers, which Blender files store.
    """
    kind = option.kind
    arguments: dict[str, Any] = {"name": option.label, "description": option.description}
    arguments["default"] = option.default if isinstance(kind, Flag | Number) else option.default or ""
    if isinstance(kind, Choice):
        arguments["items"] = tuple(
            (item.name, item.label, item.description, *([item.icon] if item.icon else []), number)
            for number, item in enumerate(kind.items)
        )
        return EnumProperty(**arguments | changes)
    if isinstance(kind, Number):
        soft = {"soft_min": kind.soft_least, "soft_max": kind.soft_most}
        limits = {"min": kind.least, "max": kind.most, **soft}
        arguments |= {
            name: value for name, value in limits.items() if value is not None and math.isfinite(value)
        }
        if kind.is_length:
            arguments["subtype"] = "DISTANCE"
        return (IntProperty if kind.is_whole else FloatProperty)(**arguments | changes)
    return (BoolProperty if isinstance(kind, Flag) else StringProperty)(**arguments | changes)


def _update_object(settings: PropertyGroup, _context: Context) -> None:
    """Tag the object, because Blender does not tag it when a script sets a property."""
    settings.id_data.update_tag()


def _update_members(settings: PropertyGroup, _context: Context) -> None:
    collection: Any = settings.id_data
    for item in collection.all_objects:
        item.update_tag()


_OF_OBJECTS: dict[str, Any] = {"options": set(), "override": _OVERRIDABLE, "update": _update_object}


_DECLARED = JOB_OPTIONS["bounds"]


class COLLISION_BOUNDS_PG_ignored_object(PropertyGroup):
    """Full name of an object, as `name`. A pointer would keep the object in the file after its removal."""


class COLLISION_BOUNDS_PG_accepted_object(PropertyGroup):
    """Full name of an object, as `name`, whose contacts with the owner are accepted."""

    comment: StringProperty(
        name="Comment", description="Why contacts of this pair are accepted", translation_context=CONTEXT
    )


class _Dimensions:
    """Properties of a custom shape of any kind."""

    center: FloatVectorProperty(
        name="Center",
        description="Center of the shape, in object space",
        subtype="TRANSLATION",
        **_OF_OBJECTS,
    )
    half_extents: FloatVectorProperty(
        name="Half Size",
        description="Distances from the center of the box to its faces, along the object's own axes",
        subtype="XYZ",
        unit="LENGTH",
        default=(1.0, 1.0, 1.0),
        min=0.0,
        **_OF_OBJECTS,
    )
    radius: FloatProperty(
        name="Radius",
        description="Radius of the sphere, in object space",
        subtype="DISTANCE",
        default=1.0,
        min=0.0,
        **_OF_OBJECTS,
    )


class COLLISION_BOUNDS_PG_custom_shape(PropertyGroup, _Dimensions):
    """One of the custom shapes of an object after the first one."""

    shape: EnumProperty(
        name="Shape",
        description="Kind of the shape",
        translation_context=CONTEXT,
        items=(("box", "Box", "A box along the object's own axes", 0), ("sphere", "Sphere", "A sphere", 1)),
        **_OF_OBJECTS,
    )


class COLLISION_BOUNDS_PG_object(PropertyGroup, _Dimensions):
    """Settings of the bounds of one object."""

    ignored: CollectionProperty(
        type=COLLISION_BOUNDS_PG_ignored_object,
        name="Ignored Objects",
        description="Objects whose contacts with this one are ignored",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )

    accepted: CollectionProperty(
        type=COLLISION_BOUNDS_PG_accepted_object,
        name="Accepted Contacts",
        description="Objects whose contacts with this one are accepted, each with a comment",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )

    use_object_settings: BoolProperty(
        name="Object Settings",
        description="Fit this object with its own settings instead of the scene's",
        **_OF_OBJECTS,
    )
    bounds_for: EnumProperty(
        name="Bounds For",
        description="Parts of the object to fit bounds to",
        items=(
            ("object", "Object", "Fit bounds to the whole object", 0),
            ("loose_parts", "Each Loose Part", "Fit separate bounds to each connected part of the mesh", 1),
            (
                "bones",
                "Each Bone",
                "Fit separate bounds to the vertices of each deform bone, along the axes of the bone. "
                "A vertex belongs to the bone with its largest weight, see Bone Weight",
                2,
            ),
        ),
        **_OF_OBJECTS,
    )
    bone_weight: property_of(_DECLARED["bone_weight"], **_OF_OBJECTS)
    bone_frames: property_of(_DECLARED["bone_frames"], **_OF_OBJECTS | {"translation_context": CONTEXT})
    padding: property_of(_DECLARED["padding"], **_OF_OBJECTS | {"options": {"ANIMATABLE"}})
    modifiers: property_of(_DECLARED["modifiers"], **_OF_OBJECTS)
    axes: property_of(
        _DECLARED["box_axes"],
        **_OF_OBJECTS | {"description": "Axes of this object's box during collision checks"},
    )
    depth: property_of(_DECLARED["depth"], **_OF_OBJECTS)

    override: EnumProperty(
        name="Shape",
        description="Custom shape that replaces the mesh",
        translation_context=CONTEXT,
        items=(
            ("none", "Fitted", "Fit the bounds to the vertices", 0),
            ("box", "Box", "Enclose a custom box", 1),
            ("sphere", "Sphere", "Enclose a custom sphere", 2),
        ),
        **_OF_OBJECTS,
    )
    more_shapes: CollectionProperty(
        type=COLLISION_BOUNDS_PG_custom_shape,
        name="Further Shapes",
        description="Custom shapes of the object in addition to the first one. Each gets bounds",
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )

    response: EnumProperty(
        name="Response",
        description="What engines do when something meets the collider of this object",
        items=(
            ("solid", "Solid", "Other objects cannot pass", 0),
            ("trigger", "Trigger", "Overlaps are reported, but other objects can pass", 1),
            ("none", "None", "The object has no collider in exported files", 2),
        ),
        **_OF_OBJECTS,
    )
    collision_group: IntProperty(
        name="Group",
        description="Collision group of this object. Two objects collide if each has the group of the other "
        "in its mask",
        default=1,
        min=1,
        max=COLLISION_GROUPS,
        **_OF_OBJECTS,
    )
    collision_mask: BoolVectorProperty(
        name="Mask",
        description="Collision groups that this object collides with, the first one at the top left",
        size=COLLISION_GROUPS,
        default=(True,) * COLLISION_GROUPS,
        subtype="LAYER",
        **_OF_OBJECTS,
    )
    physics_material: StringProperty(
        name="Physics Material",
        description="Name of the physics material in the engine. Empty: the default of the engine",
        **_OF_OBJECTS,
    )


class COLLISION_BOUNDS_PG_collection(PropertyGroup):
    """Settings of the bounds of one collection."""

    merge_bounds: BoolProperty(
        name="Treat as One",
        description="Fit a single bound around everything in this collection. "
        "Of the settings of its objects, only mesh and custom shape are used",
        options=set(),
        override=_OVERRIDABLE,
        update=_update_members,
    )


_CLASSES = (
    COLLISION_BOUNDS_PG_ignored_object,
    COLLISION_BOUNDS_PG_accepted_object,
    COLLISION_BOUNDS_PG_custom_shape,
    COLLISION_BOUNDS_PG_object,
    COLLISION_BOUNDS_PG_collection,
)
_OWNERS = (
    (bpy.types.Object, COLLISION_BOUNDS_PG_object),
    (bpy.types.Collection, COLLISION_BOUNDS_PG_collection),
)


def attach() -> None:
    """Register the settings of objects and collections, if they are not registered yet.

    The command line calls this where the extension is disabled, because Blender hides stored settings whose
    properties are not registered.
    """
    if hasattr(bpy.types.Object, SETTINGS_PROPERTY):
        return
    with ExitStack() as stack:
        for cls in _CLASSES:
            bpy.utils.register_class(cls)
            stack.callback(bpy.utils.unregister_class, cls)
        for owner, group in _OWNERS:
            pointer = PointerProperty(type=group, name="Collision Bounds", override=_OVERRIDABLE)
            setattr(owner, SETTINGS_PROPERTY, pointer)
        stack.pop_all()


def detach() -> None:
    """Unregister the settings; values that are stored in files remain there."""
    for owner, _ in reversed(_OWNERS):
        delattr(owner, SETTINGS_PROPERTY)
    for cls in reversed(_CLASSES):
        bpy.utils.unregister_class(cls)
