"""Panels of the active object: its settings, custom shape, collision response and measurements.

They are in the sidebar under Active Object, and the first three in the Physics tab of the Properties editor.
A panel of the active collection is in its tab there.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bpy.types import Context, Panel, UILayout

from ...scene.blender.instances import name_of
from ...scene.blender.object_settings import SETTINGS_PROPERTY, is_merged_collection
from ...scene.fitting.quality import FitQuality
from ..kept_checks import active_with_geometry, find_measurement, settings_of_active
from ..properties.scene import settings_of
from ..texts import draw_line, draw_note, iface_, lengths_text, meaning_, n_, shortened
from .sidebar import HEADER_SURROUNDINGS, Tab, fits_in_sidebar

_DIGITS = 3
"""Digits of a length, so that three fit into a line. The copied numbers have more."""


class _OfActive:
    """Base of panels with settings of the active object, which `draw_settings` draws."""

    def draw(self: Any, context: Context) -> None:
        """Draw the settings, or the reason why there are none or they cannot be changed."""
        layout, settings = self.layout, settings_of_active(context)
        layout.use_property_split, layout.use_property_decorate = True, False
        if settings is None:
            _draw_reason(layout, context)
            return
        if settings.id_data.library is not None:
            layout.label(text="Linked: make a library override", icon="LIBRARY_DATA_DIRECT")
        self.draw_settings(context, settings)


def _draw_reason(layout: UILayout, context: Context) -> None:
    item = context.object
    shown = None if item is None or item.instance_type != "COLLECTION" else item.instance_collection
    if item is None:
        layout.label(text="No object is active: click one", icon="INFO")
    elif shown is not None:
        text = n_("{name} instances {collection}:\nchange its objects instead")
        text = iface_(text, name=name_of(item), collection=name_of(shown))
        draw_note(layout.column(align=True), text)
    else:
        draw_line(layout, "{name} has no geometry", "INFO", name=name_of(item))


class _ObjectSettings(_OfActive):
    bl_label = "Object Settings"

    def draw_header(self: Any, context: Context) -> None:
        settings = settings_of_active(context)
        row = self.layout.row()
        row.enabled = settings is not None
        if settings is None:
            row.label(text="", icon="CHECKBOX_DEHLT")
        else:
            row.prop(settings, "use_object_settings", text="")

    def draw_settings(self: Any, _context: Context, settings: Any) -> None:
        layout = self.layout
        column = layout.column()
        column.active = settings.use_object_settings
        column.prop(settings, "bounds_for")
        if settings.bounds_for == "bones":
            column.prop(settings, "bone_weight")
            column.prop(settings, "bone_frames")
        is_in_parts = settings.use_object_settings and settings.bounds_for == "loose_parts"
        if is_in_parts and settings.override != "none":
            column.label(text="Not with a custom shape", icon="INFO")
        row = column.row()
        row.use_property_decorate = True  # padding can be animated
        row.prop(settings, "padding")
        for option in ("modifiers", "axes", "depth"):
            column.prop(settings, option)
        layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
        for collection in settings.id_data.users_collection:
            if not collection.is_embedded_data:  # skip the scene collection
                row = layout.row(heading="Treat as One")
                switch: Any = getattr(collection, SETTINGS_PROPERTY)
                row.prop(switch, "merge_bounds", text=name_of(collection), translate=False)
                if is_merged_collection(collection):
                    layout.label(text="Uses only Mesh and Custom Shape", icon="INFO")


class _CustomShape(_OfActive):
    bl_label = "Custom Shape"

    def draw_settings(self: Any, context: Context, settings: Any) -> None:
        layout = self.layout
        row = layout.row(align=True)
        labels = {"none": iface_("Fitted"), "box": meaning_("Box"), "sphere": meaning_("Sphere")}
        for shape, label in labels.items():
            is_set, name = settings.override == shape, "collision_bounds.set_custom_shape"
            row.operator(name, text=label, translate=False, depress=is_set).shape = shape
        if settings.override != "none":
            _draw_all_shapes(layout, settings)
        column = layout.column(align=True)
        column.operator("collision_bounds.override_from_fit", icon="SHADING_BBOX")
        column.operator("collision_bounds.override_from_selection", icon="EDITMODE_HLT")
        column.operator("collision_bounds.override_from_group", icon="GROUP_VERTEX")
        if settings.override != "none" and context.mode == "EDIT_MESH":
            name = "collision_bounds.override_from_selection"
            column.operator(name, text="Add Shape from Selection", icon="ADD").add = True
        measure = find_measurement(settings.id_data, settings_of(context))
        if settings.override != "none" and measure and not measure.stale:
            _draw_outside(layout, measure.quality.outside)


def _draw_all_shapes(layout: UILayout, settings: Any) -> None:
    entries = [(settings, settings.override), *((entry, entry.shape) for entry in settings.more_shapes)]
    for number, (entry, shape) in enumerate(entries):
        if settings.more_shapes:
            row = layout.row()
            draw_line(row, "Box {number}" if shape == "box" else "Sphere {number}", number=number + 1)
            name = "collision_bounds.remove_custom_shape"
            row.operator(name, text="", icon="X", emboss=False).index = number
        layout.prop(entry, "center")
        layout.prop(entry, "half_extents" if shape == "box" else "radius")
    row = layout.row(align=True)
    for shape, label in (("box", iface_("Add Box")), ("sphere", iface_("Add Sphere"))):
        name = "collision_bounds.add_custom_shape"
        row.operator(name, text=label, translate=False, icon="ADD").shape = shape


class _CollisionResponse(_OfActive):
    bl_label = "Collision Response"

    def draw_settings(self: Any, _context: Context, settings: Any) -> None:
        layout = self.layout
        layout.prop(settings, "response")
        column = layout.column()
        column.active = settings.response != "none"
        for option in ("collision_group", "collision_mask", "physics_material"):
            column.prop(settings, option)
        button: Any = layout.operator("collision_bounds.copy_to_selected", icon="COPYDOWN")
        button.settings, button.collision = False, True


class _InProperties:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}


class _Physics(_InProperties):
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_with_geometry(context) is not None


class COLLISION_BOUNDS_PT_active_object(Tab, Panel):
    """Parent of the panels of the active object in the sidebar."""

    bl_label = "Active Object"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: Context) -> None:
        """Draw the name of the object, in the room that the label leaves."""
        item = context.object
        if item is not None:
            fits = fits_in_sidebar(context, HEADER_SURROUNDINGS)
            label, name = iface_(COLLISION_BOUNDS_PT_active_object.bl_label), name_of(item)
            text = shortened(name, "", lambda text: fits(f"{label} {text}"))
            self.layout.label(text=text, translate=False)

    def draw(self, _context: Context) -> None:
        """Draw nothing: the panels below have the settings."""


class _InActiveObject(Tab):
    bl_parent_id = "COLLISION_BOUNDS_PT_active_object"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}


class COLLISION_BOUNDS_PT_object_settings(_ObjectSettings, _InActiveObject, Panel):
    """Settings of the active object that replace those of the scene."""


class COLLISION_BOUNDS_PT_custom_shape(_CustomShape, _InActiveObject, Panel):
    """Custom shape of the active object."""


class COLLISION_BOUNDS_PT_collision_response(_CollisionResponse, _InActiveObject, Panel):
    """Collision response of the active object."""


class COLLISION_BOUNDS_PT_physics(_Physics, Panel):
    """Parent of the panels in the Physics tab; without a switch, because all objects get bounds."""

    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Draw nothing: the panels below have the settings."""


class _InPhysics(_Physics):
    bl_parent_id = "COLLISION_BOUNDS_PT_physics"


class COLLISION_BOUNDS_PT_physics_object_settings(_ObjectSettings, _InPhysics, Panel):
    """Object settings in the Properties editor."""


class COLLISION_BOUNDS_PT_physics_custom_shape(_CustomShape, _InPhysics, Panel):
    """Custom shape in the Properties editor."""


class COLLISION_BOUNDS_PT_physics_collision_response(_CollisionResponse, _InPhysics, Panel):
    """Collision response in the Properties editor."""


class COLLISION_BOUNDS_PT_measurements(_InActiveObject, Panel):
    bl_label = "Measurements"

    def draw(self, context: Context) -> None:
        layout, item = self.layout, active_with_geometry(context)
        if item is None:
            _draw_reason(layout, context)
            return
        found = find_measurement(item, settings_of(context))
        column = layout.column(align=True)
        if found is not None:
            units = context.scene.unit_settings
            lines = column.column(align=True)
            lines.active = not found.stale
            _draw_sizes(lines, found.quality, units)
            lines.separator()
            _draw_quality(lines, found.quality, units)
        text, icon = meaning_("Measure"), "NONE"
        if found and found.stale:
            text, icon = iface_("Changed: Measure Again"), "FILE_REFRESH"
        measure: Any = column.row()
        measure.operator("collision_bounds.measure_fit", text=text, translate=False, icon=icon)


def _draw_sizes(layout: UILayout, quality: FitQuality, units: Any) -> None:
    """Draw radius or size, length, and center, of each shape, with buttons that copy the numbers."""
    for shape in quality.shapes:
        is_radius = isinstance(shape.size, float)
        _draw_value(layout, meaning_(shape.label), np.ravel(shape.size).tolist(), units, is_radius)
        if shape.length is not None:
            _draw_value(layout, iface_("Length"), [shape.length], units)
        _draw_value(layout, meaning_("Center"), shape.center.tolist(), units)


def _draw_value(
    layout: UILayout, label: str, numbers: list[float], units: Any, is_radius: bool = False
) -> None:
    """Draw a value with its unit, and the button that copies it."""
    line = layout.row(align=True)
    parts = line.split(factor=0.25)
    parts.label(text=label, translate=False)
    value = lengths_text(numbers, units, _DIGITS)
    parts.label(text=iface_("Radius {value}", value=value) if is_radius else value, translate=False)
    text = ", ".join(f"{number:.7g}" for number in numbers)
    line.operator("collision_bounds.copy_value", text="", icon="COPYDOWN", emboss=False).value = text


def _draw_quality(layout: UILayout, quality: FitQuality, units: Any) -> None:
    if quality.volume is None:
        layout.label(text="Not closed: no volume", icon="INFO")
    _line(layout, "", meaning_("Volume"), meaning_("Ratio"), iface_("Touching"))
    if quality.volume is not None:
        total = iface_("of {count}", count=quality.vertices)
        _line(layout, iface_("Mesh"), _volume(quality.volume, units), "", total)
    for shape in quality.shapes:
        ratio = _ratio(shape.volume / quality.volume) if quality.volume else ""
        _line(layout, meaning_(shape.label), _volume(shape.volume, units), ratio, f"{shape.touching}")
    _draw_outside(layout, quality.outside)


def _draw_outside(layout: UILayout, count: int) -> None:
    one, many = n_("{count} vertex lies outside"), n_("{count} vertices lie outside")
    if count:
        draw_line(layout, one if count == 1 else many, "INFO", count=count)


def _ratio(value: float) -> str:
    """Return a ratio in few enough digits for its column."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"


def _volume(value: float, units: Any) -> str:
    """Return a volume in cubic meters or feet.

    Blender's own conversion chooses a unit for each number, so volumes would be hard to compare.
    """
    if units.system == "NONE":
        return f"{value:.3g}"
    value *= units.scale_length**3
    return f"{value:.3g} m³" if units.system == "METRIC" else f"{value / 0.3048**3:.3g} ft³"


def _line(layout: UILayout, *texts: str) -> None:
    remainder = layout
    for text, width in zip(texts, (0.2, 0.36, 0.42, 1.0), strict=True):
        remainder = remainder.split(factor=width)
        remainder.label(text=text, translate=False)


class COLLISION_BOUNDS_PT_collection(_InProperties, Panel):
    bl_label = "Collision Bounds"
    bl_context = "collection"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.collection is not None and context.collection != context.scene.collection

    def draw(self, context: Context) -> None:
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        self.layout.prop(getattr(context.collection, SETTINGS_PROPERTY), "merge_bounds")
