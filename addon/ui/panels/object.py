"""Panels of the active object: its settings and its custom shape.

They are in the sidebar under Bounds, and in the Physics tab of the Properties editor.
"""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.types import Context, Panel, UILayout

from ...scene.blender.names import name_of
from ...scene.blender.object_settings import SETTINGS_PROPERTY, is_merged_collection
from ..fit_measurements import active_with_geometry, find_measurement
from ..properties.scene import settings_of
from ..translation import iface_, meaning_
from .measurements import draw_reason, outside_text
from .sidebar import Tab


def _draw_linked(layout: UILayout, settings: Any) -> None:
    """Draw the reason why settings of a linked object cannot be changed."""
    if settings.id_data.library is not None:
        layout.label(text="Linked: make a library override", icon="LIBRARY_DATA_DIRECT")


def _settings_of_active(context: Context) -> Any:
    """Return the settings of the active object, or None if it has no geometry."""
    item = active_with_geometry(context)
    return None if item is None else getattr(item, SETTINGS_PROPERTY)


def _draw_switch(layout: UILayout, context: Context) -> None:
    settings = _settings_of_active(context)
    row = layout.row()
    row.enabled = settings is not None
    if settings is None:
        row.label(text="", icon="CHECKBOX_DEHLT")
    else:
        row.prop(settings, "use_object_settings", text="")


def _draw_settings(layout: UILayout, context: Context) -> None:
    """Draw the settings of the fit."""
    settings = _settings_of_active(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if settings is None:
        draw_reason(layout, context)
        return
    _draw_linked(layout, settings)
    column = layout.column()
    column.active = settings.use_object_settings
    column.prop(settings, "bounds_for")
    if settings.bounds_for == "bones":
        column.prop(settings, "bone_weight")
        column.prop(settings, "bone_frames")
    if settings.use_object_settings and settings.bounds_for == "loose_parts" and settings.override != "none":
        column.label(text="Not with a custom shape", icon="INFO")
    row = column.row()
    row.use_property_decorate = True  # padding can be animated
    row.prop(settings, "padding")
    for option in ("modifiers", "axes", "depth"):
        column.prop(settings, option)
    layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
    _draw_collections(layout, settings.id_data)


def _draw_collections(layout: UILayout, item: bpy.types.Object) -> None:
    """Draw the switch of each collection that contains the object."""
    for collection in item.users_collection:
        if not collection.is_embedded_data:  # skip the scene collection
            row = layout.row(heading="Treat as One")
            settings = getattr(collection, SETTINGS_PROPERTY)
            row.prop(settings, "merge_bounds", text=name_of(collection), translate=False)
            if is_merged_collection(collection):
                layout.label(text="Uses only Mesh and Custom Shape", icon="INFO")


def _draw_custom_shape(layout: UILayout, context: Context) -> None:
    """Draw the shape that replaces the mesh."""
    settings = _settings_of_active(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if settings is None:
        draw_reason(layout, context)
        return
    _draw_linked(layout, settings)
    row = layout.row(align=True)
    for shape, label in (
        ("none", iface_("Fitted")),
        ("box", meaning_("Box")),
        ("sphere", meaning_("Sphere")),
    ):
        button: Any = row.operator(
            "collision_bounds.set_custom_shape",
            text=label,
            translate=False,
            depress=settings.override == shape,
        )
        button.shape = shape
    if settings.override != "none":
        _draw_all_shapes(layout, settings)
    column = layout.column(align=True)
    column.operator("collision_bounds.override_from_fit", icon="SHADING_BBOX")
    column.operator("collision_bounds.override_from_selection", icon="EDITMODE_HLT")
    column.operator("collision_bounds.override_from_group", icon="GROUP_VERTEX")
    if settings.override != "none" and context.mode == "EDIT_MESH":
        add: Any = column.operator(
            "collision_bounds.override_from_selection", text="Add Shape from Selection", icon="ADD"
        )
        add.add = True
    measure = find_measurement(settings.id_data, settings_of(context))
    if settings.override != "none" and measure and not measure.stale and measure.quality.outside:
        layout.label(text=outside_text(measure.quality), translate=False, icon="INFO")


def _draw_all_shapes(layout: UILayout, settings: Any) -> None:
    """Draw the custom shapes of an object, with buttons that remove each, and that add another one."""
    if settings.more_shapes:
        _draw_shape_title(layout, 0, settings.override)
    _draw_shape(layout, settings, settings.override)
    for number, entry in enumerate(settings.more_shapes, 1):
        _draw_shape_title(layout, number, entry.shape)
        _draw_shape(layout, entry, entry.shape)
    row = layout.row(align=True)
    for shape, label in (("box", iface_("Add Box")), ("sphere", iface_("Add Sphere"))):
        button: Any = row.operator(
            "collision_bounds.add_custom_shape", text=label, translate=False, icon="ADD"
        )
        button.shape = shape


def _draw_shape_title(layout: UILayout, number: int, kind: str) -> None:
    row = layout.row()
    text = iface_("Box {number}" if kind == "box" else "Sphere {number}", number=number + 1)
    row.label(text=text, translate=False)
    button: Any = row.operator("collision_bounds.remove_custom_shape", text="", icon="X", emboss=False)
    button.index = number


def _draw_shape(layout: UILayout, properties: Any, shape: str) -> None:
    layout.prop(properties, "center")
    layout.prop(properties, "half_extents" if shape == "box" else "radius")


class _ObjectSettings:
    """The panel of object settings, in the sidebar and in the Properties editor."""

    bl_label = "Object Settings"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        """Draw the switch."""
        _draw_switch(self.layout, context)  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        """Draw the settings."""
        _draw_settings(self.layout, context)  # type: ignore[attr-defined]


class _CustomShape:
    """The panel of the custom shape, in the sidebar and in the Properties editor."""

    bl_label = "Custom Shape"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the kind of shape, its position and size."""
        _draw_custom_shape(self.layout, context)  # type: ignore[attr-defined]


def _draw_collision(layout: UILayout, context: Context) -> None:
    """Draw what engines do when something meets the object."""
    settings = _settings_of_active(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if settings is None:
        draw_reason(layout, context)
        return
    _draw_linked(layout, settings)
    layout.prop(settings, "response")
    column = layout.column()
    column.active = settings.response != "none"
    for option in ("collision_group", "collision_mask", "physics_material"):
        column.prop(settings, option)
    button: Any = layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
    button.settings, button.collision = False, True


class _CollisionResponse:
    """The panel of the collision response, in the sidebar and in the Properties editor."""

    bl_label = "Collision Response"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the response, group, mask and material."""
        _draw_collision(self.layout, context)  # type: ignore[attr-defined]


class _Physics:
    """Mixin of panels in the Physics tab of the Properties editor."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object has geometry."""
        return active_with_geometry(context) is not None


class COLLISION_BOUNDS_PT_object_settings(_ObjectSettings, Tab, Panel):
    """Settings of the active object that replace those of the scene."""

    bl_parent_id = "COLLISION_BOUNDS_PT_bounds"


class COLLISION_BOUNDS_PT_custom_shape(_CustomShape, Tab, Panel):
    """Custom shape of the active object."""

    bl_parent_id = "COLLISION_BOUNDS_PT_bounds"


class COLLISION_BOUNDS_PT_collision_response(_CollisionResponse, Tab, Panel):
    """Collision response of the active object."""

    bl_parent_id = "COLLISION_BOUNDS_PT_bounds"


class COLLISION_BOUNDS_PT_physics(_Physics, Panel):
    """Parent of the panels in the Physics tab; without a switch, because all objects get bounds."""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw nothing: the panels below have the settings."""


class COLLISION_BOUNDS_PT_physics_object_settings(_ObjectSettings, _Physics, Panel):
    """Object settings in the Properties editor."""

    bl_parent_id = "COLLISION_BOUNDS_PT_physics"


class COLLISION_BOUNDS_PT_physics_custom_shape(_CustomShape, _Physics, Panel):
    """Custom shape in the Properties editor."""

    bl_parent_id = "COLLISION_BOUNDS_PT_physics"


class COLLISION_BOUNDS_PT_physics_collision_response(_CollisionResponse, _Physics, Panel):
    """Collision response in the Properties editor."""

    bl_parent_id = "COLLISION_BOUNDS_PT_physics"


class COLLISION_BOUNDS_PT_collection(Panel):
    """Settings of a collection, in the Properties editor."""

    bl_label = "Collision Bounds"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "collection"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a collection other than the scene collection is active."""
        return context.collection is not None and context.collection != context.scene.collection

    def draw(self, context: Context) -> None:
        """Draw the switch."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        self.layout.prop(getattr(context.collection, SETTINGS_PROPERTY), "merge_bounds")


CLASSES = (
    COLLISION_BOUNDS_PT_object_settings,
    COLLISION_BOUNDS_PT_custom_shape,
    COLLISION_BOUNDS_PT_collision_response,
    COLLISION_BOUNDS_PT_physics,
    COLLISION_BOUNDS_PT_physics_object_settings,
    COLLISION_BOUNDS_PT_physics_custom_shape,
    COLLISION_BOUNDS_PT_physics_collision_response,
    COLLISION_BOUNDS_PT_collection,
)
