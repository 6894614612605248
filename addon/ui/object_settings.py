"""What an object, or a collection, says about its own bounds. Saved in the file, copied, undone, overridden.

`scene/own_settings.py` reads it. The command line registers these groups alone where the extension is off.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
)
from bpy.types import Context, PropertyGroup

from ..scene.own_settings import PROPERTY
from .options import METHOD, PADDING

_OVERRIDABLE: Any = {"LIBRARY_OVERRIDABLE"}

OWN_OPTIONS = ("use_own", "made_of", "method", "padding", "modifiers", "axes", "depth")
"""Settings that count while Own Settings is on, and that switch itself."""

OVERRIDE_OPTIONS = ("override", "center", "half_extents", "radius")


def _update_object(settings: PropertyGroup, _context: Context) -> None:
    """Scripts set properties without telling Blender that anything changed."""
    settings.id_data.update_tag()


def _update_members(settings: PropertyGroup, _context: Context) -> None:
    collection: Any = settings.id_data
    for item in collection.all_objects:
        item.update_tag()


def _option(name: str, description: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": description,
        "options": set(),
        "override": _OVERRIDABLE,
        "update": _update_object,
        **more,
    }


class ObjectSettings(PropertyGroup):
    """The bounds of one object."""

    use_own: BoolProperty(
        **_option("Own Settings", "Fit this object by settings of its own instead of those of the scene")
    )
    made_of: EnumProperty(
        **_option(
            "Made Of",
            "What gets bounds",
            items=(
                ("whole", "Whole", "The object is one thing"),
                ("loose", "Loose Parts", "Each part of the mesh that hangs together gets bounds of its own"),
            ),
        )
    )
    method: EnumProperty(**{**METHOD, **_option("Sphere", "How the sphere is fitted")})
    padding: FloatProperty(
        **{
            **PADDING,
            **_option("Padding", "Makes the sphere and box larger by this on all sides"),
            "options": {"ANIMATABLE"},
        }
    )
    modifiers: EnumProperty(
        **_option(
            "Mesh",
            "Which vertices are enclosed",
            items=(
                ("evaluated", "Evaluated", "Those that the viewport shows"),
                ("base", "Base", "Those of the mesh before modifiers and shape keys"),
            ),
        )
    )
    axes: EnumProperty(
        **_option(
            "Box Axes",
            "Along which axes this object's box lies when contacts of boxes are looked for",
            items=(
                ("checked", "As Checked", "The axes of the shape that Find Contacts checks"),
                ("world", "World", "Always along the world's axes"),
                ("object", "Object", "Always along the object's own axes: the box turns with it"),
            ),
        )
    )
    depth: IntProperty(
        **_option(
            "Tree Depth",
            "A sphere tree has up to two spheres at depth 1, four at 2, sixteen at 4",
            default=4,
            min=0,
            max=8,
        )
    )

    override: EnumProperty(
        **_option(
            "Shape",
            "A shape set by hand that stands for the mesh",
            items=(
                ("none", "Fitted", "Bounds are fitted to the vertices"),
                ("box", "Box", "Bounds enclose a box set by hand"),
                ("sphere", "Sphere", "Bounds enclose a sphere set by hand"),
            ),
        )
    )
    center: FloatVectorProperty(
        **_option("Center", "Middle of the shape, in the object's own space", subtype="TRANSLATION")
    )
    half_extents: FloatVectorProperty(
        **_option(
            "Half Size",
            "From the middle of the box to its sides, along the object's own axes",
            subtype="XYZ",
            unit="LENGTH",
            default=(1.0, 1.0, 1.0),
            min=0.0,
        )
    )
    radius: FloatProperty(
        **_option(
            "Radius", "Of the sphere, in the object's own space", subtype="DISTANCE", default=1.0, min=0.0
        )
    )


class CollectionSettings(PropertyGroup):
    """The bounds of one collection."""

    take_as_one: BoolProperty(
        name="Take as One",
        description="All that is in this collection gets one bound together. "
        "Of settings of the objects in it only their mesh and override count",
        options=set(),
        override=_OVERRIDABLE,
        update=_update_members,
    )


_CLASSES = (ObjectSettings, CollectionSettings)
_OWNERS = ((bpy.types.Object, ObjectSettings), (bpy.types.Collection, CollectionSettings))


def attach() -> None:
    """Give every object and every collection its settings, if they have none yet.

    The command line calls it too, where the extension is switched off: without the properties Blender would
    not tell what a file holds of them.
    """
    if hasattr(bpy.types.Object, PROPERTY):
        return
    with ExitStack() as stack:
        for cls in _CLASSES:
            bpy.utils.register_class(cls)
            stack.callback(bpy.utils.unregister_class, cls)
        for owner, group in _OWNERS:
            pointer = PointerProperty(type=group, name="Collision Bounds", override=_OVERRIDABLE)
            setattr(owner, PROPERTY, pointer)
        stack.pop_all()


def detach() -> None:
    """Take the settings away again; what files hold of them stays there."""
    for owner, group in reversed(_OWNERS):
        delattr(owner, PROPERTY)
        bpy.utils.unregister_class(group)
