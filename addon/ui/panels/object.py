"""Panels of the active object: its settings, its custom shape, and statistics of its fit.

They are in the sidebar under Bounds, and in the Physics tab of the Properties editor.
"""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.types import Context, Panel, UILayout

from ...formats.wording import pluralized
from ...scene.blender.names import name_of
from ...scene.blender.object_settings import SETTINGS_PROPERTY, is_merged_collection
from ...scene.fitting.quality import FitQuality
from ..fit_measurements import find_measurement
from ..operators.object import (
    COLLISION_BOUNDS_OT_copy_to_selected,
    COLLISION_BOUNDS_OT_measure_fit,
    COLLISION_BOUNDS_OT_override_from_fit,
    active_with_geometry,
)
from ..properties.scene import fit_settings, settings_of
from .bounds import COLLISION_BOUNDS_PT_bounds
from .sidebar import Tab


def _draw_reason(layout: UILayout, context: Context) -> None:
    """Draw the reason why there is nothing to set."""
    item = context.object
    shown = None if item is None or item.instance_type != "COLLECTION" else item.instance_collection
    if item is None:
        layout.label(text="No object is active: click one", icon="INFO")
    elif shown is not None:
        column = layout.column(align=True)
        column.label(text=f"{name_of(item)} instances {name_of(shown)}:", icon="INFO")
        column.label(text="change its objects instead", icon="BLANK1")
    else:
        layout.label(text=f"{name_of(item)} has no geometry", icon="INFO")


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
        _draw_reason(layout, context)
        return
    _draw_linked(layout, settings)
    column = layout.column()
    column.active = settings.use_object_settings
    column.prop(settings, "bounds_for")
    if settings.use_object_settings and settings.bounds_for == "loose_parts" and settings.override != "none":
        column.label(text="Not with a custom shape", icon="INFO")
    column.prop(settings, "method")
    row = column.row()
    row.use_property_decorate = True  # padding can be animated
    row.prop(settings, "padding")
    for option in ("modifiers", "axes", "depth"):
        column.prop(settings, option)
    layout.operator(COLLISION_BOUNDS_OT_copy_to_selected.bl_idname, icon="COPYDOWN")
    _draw_collections(layout, settings.id_data)


def _draw_collections(layout: UILayout, item: bpy.types.Object) -> None:
    """Draw the switch of each collection that contains the object."""
    for collection in item.users_collection:
        if not collection.is_embedded_data:  # skip the scene collection
            row = layout.row(heading="Treat as One")
            row.prop(getattr(collection, SETTINGS_PROPERTY), "merge_bounds", text=name_of(collection))
            if is_merged_collection(collection):
                layout.label(text="Uses only Mesh and Custom Shape", icon="INFO")


def _draw_custom_shape(layout: UILayout, context: Context) -> None:
    """Draw the shape that replaces the mesh."""
    settings = _settings_of_active(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if settings is None:
        _draw_reason(layout, context)
        return
    _draw_linked(layout, settings)
    row = layout.row()
    row.use_property_split = False  # the Properties editor is narrow: use the whole width
    row.prop(settings, "override", expand=True)
    if settings.override == "box":
        layout.prop(settings, "center")
        layout.prop(settings, "half_extents")
    elif settings.override == "sphere":
        layout.prop(settings, "center")
        layout.prop(settings, "radius")
    layout.operator(COLLISION_BOUNDS_OT_override_from_fit.bl_idname, icon="SHADING_BBOX")
    measure = find_measurement(settings.id_data, fit_settings(settings_of(context)))
    if settings.override != "none" and measure and not measure.stale and measure.quality.outside:
        layout.label(text=_outside(measure.quality), icon="INFO")


def _draw_fit(layout: UILayout, context: Context) -> None:
    """Draw the statistics of the fit."""
    item = active_with_geometry(context)
    if item is None:
        _draw_reason(layout, context)
        return
    measure = find_measurement(item, fit_settings(settings_of(context)))
    if measure is None:
        layout.operator(COLLISION_BOUNDS_OT_measure_fit.bl_idname, icon="DRIVER_DISTANCE")
        return
    column = layout.column(align=True)
    column.active = not measure.stale
    _draw_quality(column, measure.quality, context.scene.unit_settings)
    if measure.stale:
        layout.operator(
            COLLISION_BOUNDS_OT_measure_fit.bl_idname, text="Changed: Measure Again", icon="FILE_REFRESH"
        )


def _draw_quality(layout: UILayout, quality: FitQuality, units: Any) -> None:
    if quality.volume is None:
        layout.label(text="Not closed: no volume", icon="INFO")
    _line(layout, "", "Volume", "Ratio", "On Surface")
    if quality.volume is not None:
        _line(layout, "Mesh", _volume(quality.volume, units), "", f"of {quality.vertices}")
    for shape in quality.shapes:
        ratio = _ratio(shape.volume / quality.volume) if quality.volume else ""
        _line(layout, shape.label, _volume(shape.volume, units), ratio, f"{shape.touching}")
    if quality.outside:
        layout.label(text=_outside(quality), icon="INFO")


def _outside(quality: FitQuality) -> str:
    return f"{pluralized(quality.outside, 'vertex lies', 'vertices lie')} outside"


def _ratio(value: float) -> str:
    """Return a ratio in few enough digits for its column."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"


def _volume(value: float, units: Any) -> str:
    """Return a volume in cubic meters or feet.

    Blender's own conversion chooses a unit for each number, so volumes would be hard to compare.
    """
    value *= units.scale_length**3
    if units.system == "METRIC":
        return f"{value:.3g} m³"
    return f"{value / 0.3048**3:.3g} ft³" if units.system == "IMPERIAL" else f"{value:.3g}"


def _line(layout: UILayout, *texts: str) -> None:
    remainder = layout
    for text, width in zip(texts, (0.24, 0.45, 0.45, 1.0), strict=True):
        remainder = remainder.split(factor=width)
        remainder.label(text=text)


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

    bl_idname = "COLLISION_BOUNDS_PT_object_settings"
    bl_parent_id = COLLISION_BOUNDS_PT_bounds.bl_idname


class COLLISION_BOUNDS_PT_custom_shape(_CustomShape, Tab, Panel):
    """Custom shape of the active object."""

    bl_idname = "COLLISION_BOUNDS_PT_custom_shape"
    bl_parent_id = COLLISION_BOUNDS_PT_bounds.bl_idname


class COLLISION_BOUNDS_PT_fit_statistics(Tab, Panel):
    """Tightness of the bounds of the active object."""

    bl_idname = "COLLISION_BOUNDS_PT_fit_statistics"
    bl_label = "Fit Statistics"
    bl_parent_id = COLLISION_BOUNDS_PT_bounds.bl_idname
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Draw the statistics, or a button to compute them."""
        _draw_fit(self.layout, context)


class COLLISION_BOUNDS_PT_physics(_Physics, Panel):
    """Parent of the panels in the Physics tab; without a switch, because all objects get bounds."""

    bl_idname = "COLLISION_BOUNDS_PT_physics"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw nothing: the panels below have the settings."""


class COLLISION_BOUNDS_PT_physics_object_settings(_ObjectSettings, _Physics, Panel):
    """Object settings in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_physics_object_settings"
    bl_parent_id = COLLISION_BOUNDS_PT_physics.bl_idname


class COLLISION_BOUNDS_PT_physics_custom_shape(_CustomShape, _Physics, Panel):
    """Custom shape in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_physics_custom_shape"
    bl_parent_id = COLLISION_BOUNDS_PT_physics.bl_idname


class COLLISION_BOUNDS_PT_collection(Panel):
    """Settings of a collection, in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_collection"
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
    COLLISION_BOUNDS_PT_fit_statistics,
    COLLISION_BOUNDS_PT_physics,
    COLLISION_BOUNDS_PT_physics_object_settings,
    COLLISION_BOUNDS_PT_physics_custom_shape,
    COLLISION_BOUNDS_PT_collection,
)
