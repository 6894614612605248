"""Panels for the active object: its own settings, its override, and how well its bounds fit.

They are in the sidebar under Bounds, and in the Physics tab of the Properties editor.
"""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.types import Context, Panel, UILayout

from ..formats.wording import counted
from ..scene.fit_quality import FitQuality
from ..scene.own_settings import PROPERTY, is_one
from .bounds_panel import BoundsPanel
from .fit_measures import measure_of
from .object_operators import CopySettings, MeasureFit, OverrideFromFit, active_with_surface
from .properties import settings_of
from .scene_settings import fit_settings
from .tab import Tab


def _draw_nothing(layout: UILayout, context: Context) -> None:
    """Why there is nothing to set."""
    item = context.object
    shown = None if item is None or item.instance_type != "COLLECTION" else item.instance_collection
    if item is None:
        layout.label(text="No object is active: click one", icon="INFO")
    elif shown is not None:
        column = layout.column(align=True)
        column.label(text=f"{item.name} shows {shown.name}:", icon="INFO")
        column.label(text="click an object of that", icon="BLANK1")
    else:
        layout.label(text=f"{item.name} has no surface", icon="INFO")


def _draw_linked(layout: UILayout, own: Any) -> None:
    """Why nothing of it can be changed."""
    if own.id_data.library is not None:
        layout.label(text="Linked: make a library override", icon="LIBRARY_DATA_DIRECT")


def _own(context: Context) -> Any:
    """The settings of the active object, None when there is nothing to set."""
    item = active_with_surface(context)
    return None if item is None else getattr(item, PROPERTY)


def _draw_switch(layout: UILayout, context: Context) -> None:
    own = _own(context)
    row = layout.row()
    row.enabled = own is not None
    if own is None:
        row.label(text="", icon="CHECKBOX_DEHLT")
    else:
        row.prop(own, "use_own", text="")


def _draw_own(layout: UILayout, context: Context) -> None:
    """Settings of the fit."""
    own = _own(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if own is None:
        _draw_nothing(layout, context)
        return
    _draw_linked(layout, own)
    column = layout.column()
    column.active = own.use_own
    column.prop(own, "made_of")
    if own.use_own and own.made_of == "loose" and own.override != "none":
        column.label(text="With an override it is one whole", icon="INFO")
    column.prop(own, "method")
    row = column.row()
    row.use_property_decorate = True  # it can be animated
    row.prop(own, "padding")
    for option in ("modifiers", "axes", "depth"):
        column.prop(own, option)
    layout.operator(CopySettings.bl_idname, icon="COPYDOWN")
    _draw_collections(layout, own.id_data)


def _draw_collections(layout: UILayout, item: bpy.types.Object) -> None:
    """Whether the collections that the object is in are taken as one."""
    for collection in item.users_collection:
        if not collection.is_embedded_data:  # as the scene's own is
            row = layout.row(heading="Take as One")
            row.prop(getattr(collection, PROPERTY), "take_as_one", text=collection.name)
            if is_one(collection):
                layout.label(text="Only Mesh and Override count", icon="INFO")


def _draw_override(layout: UILayout, context: Context) -> None:
    """The shape that stands for the mesh."""
    own = _own(context)
    layout.use_property_split = True
    layout.use_property_decorate = False
    if own is None:
        _draw_nothing(layout, context)
        return
    _draw_linked(layout, own)
    row = layout.row()
    row.use_property_split = False  # the whole width: the Properties editor is narrow
    row.prop(own, "override", expand=True)
    if own.override == "box":
        layout.prop(own, "center")
        layout.prop(own, "half_extents")
    elif own.override == "sphere":
        layout.prop(own, "center")
        layout.prop(own, "radius")
    layout.operator(OverrideFromFit.bl_idname, icon="SHADING_BBOX")
    found = measure_of(own.id_data, fit_settings(settings_of(context)))
    if own.override != "none" and found and not found.stale and found.quality.outside:
        layout.label(text=_outside(found.quality), icon="INFO")


def _draw_fit(layout: UILayout, context: Context) -> None:
    """What was measured."""
    item = active_with_surface(context)
    if item is None:
        _draw_nothing(layout, context)
        return
    found = measure_of(item, fit_settings(settings_of(context)))
    if found is None:
        layout.operator(MeasureFit.bl_idname, icon="DRIVER_DISTANCE")
        return
    column = layout.column(align=True)
    column.active = not found.stale
    _draw_quality(column, found.quality, context.scene.unit_settings)
    if found.stale:
        layout.operator(MeasureFit.bl_idname, text="Changed: Measure Again", icon="FILE_REFRESH")


def _draw_quality(layout: UILayout, quality: FitQuality, units: Any) -> None:
    if quality.volume is None:
        layout.label(text="Not closed: no volume", icon="INFO")
    _line(layout, "", "Volume", "Ratio", "Touch")
    if quality.volume is not None:
        _line(layout, "Mesh", _volume(quality.volume, units), "", f"of {quality.vertices}")
    for shape in quality.shapes:
        ratio = _ratio(shape.volume / quality.volume) if quality.volume else ""
        _line(layout, shape.label, _volume(shape.volume, units), ratio, f"{shape.touching}")
    if quality.outside:
        layout.label(text=_outside(quality), icon="INFO")


def _outside(quality: FitQuality) -> str:
    return f"{counted(quality.outside, 'vertex lies', 'vertices lie')} outside"


def _ratio(value: float) -> str:
    """In the width that there is."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}" if value < 1e5 else f"{value:.0e}"


def _volume(value: float, units: Any) -> str:
    """In metres or feet: Blender's own text would go by the size of each, and they are to be compared."""
    value *= units.scale_length**3
    if units.system == "METRIC":
        return f"{value:.3g} m³"
    return f"{value / 0.3048**3:.3g} ft³" if units.system == "IMPERIAL" else f"{value:.3g}"


def _line(layout: UILayout, *texts: str) -> None:
    rest = layout
    for text, width in zip(texts, (0.24, 0.45, 0.45, 1.0), strict=True):
        rest = rest.split(factor=width)
        rest.label(text=text)


class OwnSettingsPanel(Tab, Panel):
    """Settings of the active object that count instead of the scene's."""

    bl_idname = "COLLISION_BOUNDS_PT_own"
    bl_label = "Own Settings"
    bl_parent_id = BoundsPanel.bl_idname
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw_header(self, context: Context) -> None:
        """The switch."""
        _draw_switch(self.layout, context)

    def draw(self, context: Context) -> None:
        """The settings."""
        _draw_own(self.layout, context)


class OverridePanel(Tab, Panel):
    """A shape set by hand for the active object."""

    bl_idname = "COLLISION_BOUNDS_PT_override"
    bl_label = "Override"
    bl_parent_id = BoundsPanel.bl_idname
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Shape, place and size."""
        _draw_override(self.layout, context)


class FitPanel(Tab, Panel):
    """How well the bounds of the active object fit."""

    bl_idname = "COLLISION_BOUNDS_PT_fit"
    bl_label = "Fit"
    bl_parent_id = BoundsPanel.bl_idname
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Numbers, or a button to get them."""
        _draw_fit(self.layout, context)


class _Physics:
    """Where objects have their physics."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Only for what gets bounds."""
        return active_with_surface(context) is not None


class PhysicsPanel(_Physics, Panel):
    """What holds them there. No switch: all objects get bounds."""

    bl_idname = "COLLISION_BOUNDS_PT_physics"
    bl_label = "Collision Bounds"

    def draw(self, _context: Context) -> None:
        """Nothing of its own."""


class PhysicsOwnPanel(_Physics, Panel):
    """The same in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_physics_own"
    bl_label = "Own Settings"
    bl_parent_id = PhysicsPanel.bl_idname

    def draw_header(self, context: Context) -> None:
        """The switch."""
        _draw_switch(self.layout, context)

    def draw(self, context: Context) -> None:
        """The settings."""
        _draw_own(self.layout, context)


class PhysicsOverridePanel(_Physics, Panel):
    """The override in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_physics_override"
    bl_label = "Override"
    bl_parent_id = PhysicsPanel.bl_idname

    def draw(self, context: Context) -> None:
        """Shape, place and size."""
        _draw_override(self.layout, context)


class CollectionPanel(Panel):
    """A collection's own settings, in the Properties editor."""

    bl_idname = "COLLISION_BOUNDS_PT_collection"
    bl_label = "Collision Bounds"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "collection"
    bl_options: ClassVar = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """The scene's own collection is never one."""
        return context.collection is not None and context.collection != context.scene.collection

    def draw(self, context: Context) -> None:
        """The one flag there is."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        self.layout.prop(getattr(context.collection, PROPERTY), "take_as_one")


CLASSES = (
    OwnSettingsPanel,
    OverridePanel,
    FitPanel,
    PhysicsPanel,
    PhysicsOwnPanel,
    PhysicsOverridePanel,
    CollectionPanel,
)
