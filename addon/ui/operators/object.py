"""Operators of the active object: copy its settings, measure the fit, copy a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Operator

from ...scene.blender.names import name_of
from ...scene.blender.object_properties import (
    OVERRIDE_OPTIONS,
    OWN_OPTIONS,
    RESPONSE_OPTIONS,
    SHAPE_OPTIONS,
)
from ...scene.blender.object_settings import SETTINGS_PROPERTY
from ..fit_measurements import active_with_geometry, measure
from ..overlay import handlers as overlay
from ..properties.scene import settings_of
from ..translation import joined, n_, rpt_, rpt_count
from .command import Command, is_editable, needs_geometry, selected_with_geometry


def _needs_several(context: Context) -> str:
    is_several = len(selected_with_geometry(context)) > 1
    return "" if is_several else n_("Select at least one other object with geometry")


class COLLISION_BOUNDS_OT_copy_to_selected(Command, Operator):
    """Copy the object settings of the active object to all selected objects"""

    bl_idname = "collision_bounds.copy_to_selected"
    bl_label = "Copy Settings to Selected"
    needs = (needs_geometry, _needs_several)

    settings: BoolProperty(name="Object Settings", description="Copy the settings of the fit", default=True)
    override: BoolProperty(name="Custom Shape", description="Copy the custom shape")
    collision: BoolProperty(
        name="Collision Response", description="Copy response, group, mask and physics material"
    )

    def run(self, context: Context) -> None:
        """Copy the settings."""
        source, *targets = selected_with_geometry(context)
        names = (
            *(OWN_OPTIONS if self.settings else ()),
            *(OVERRIDE_OPTIONS if self.override else ()),
            *(RESPONSE_OPTIONS if self.collision else ()),
        )
        editable = [item for item in targets if is_editable(item)]
        for item in editable:
            _copy(getattr(source, SETTINGS_PROPERTY), getattr(item, SETTINGS_PROPERTY), names)
            if self.override:
                _copy_more_shapes(source, item)
        overlay.refresh(context)
        add_to_undo_step(context)
        skipped = len(targets) - len(editable)
        one = n_("Settings of {name} copied to {count} object")
        many = n_("Settings of {name} copied to {count} objects")
        text = rpt_count(len(editable), one, many, name=name_of(source))
        if skipped:
            text = joined([text, rpt_("{count} skipped (linked from other files)", count=skipped)])
        self.report({"INFO"}, text)


class COLLISION_BOUNDS_OT_measure_fit(Command, Operator):
    """Measure how tightly the bounds of the active object fit: volumes, and vertices on the surface"""

    bl_idname = "collision_bounds.measure_fit"
    bl_label = "Measure Fit"
    bl_options: ClassVar = {"REGISTER"}
    needs = (needs_geometry,)

    def run(self, context: Context) -> None:
        """Measure the fit for the panel."""
        item: Any = active_with_geometry(context)
        measure(item, settings_of(context))


class COLLISION_BOUNDS_OT_copy_value(Command, Operator):
    """Copy these numbers to the clipboard, in Blender units"""

    bl_idname = "collision_bounds.copy_value"
    bl_label = "Copy Value"
    bl_options: ClassVar = {"INTERNAL"}

    value: StringProperty(name="Value", description="Text to copy")

    def run(self, context: Context) -> None:
        """Copy the text."""
        context.window_manager.clipboard = self.value
        self.report({"INFO"}, rpt_("Copied {value}", value=self.value))


def add_to_undo_step(context: Context) -> None:
    """Make changed settings of objects part of the next undo step, in all modes."""
    if context.mode != "OBJECT":
        # Undo steps of other modes store the edited data only, unless data-blocks were added before them.
        bpy.data.texts.remove(bpy.data.texts.new("Undo"))


def _copy(source: Any, target: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


def _copy_more_shapes(source: bpy.types.Object, target: bpy.types.Object) -> None:
    """Copy the custom shapes after the first one."""
    copies: Any = getattr(target, SETTINGS_PROPERTY).more_shapes
    copies.clear()
    for entry in getattr(source, SETTINGS_PROPERTY).more_shapes:
        _copy(entry, copies.add(), SHAPE_OPTIONS)
