"""Operators of the active object: copy its settings, measure the fit, copy a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...scene.blender.instances import MESH_LIKE
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
from ..translation import error_text, joined, rpt_, rpt_count, tip_


def poll_active(cls: type[Operator], context: Context) -> bool:
    """Return whether the active object has geometry, and say why not."""
    if active_with_geometry(context) is not None:
        return True
    cls.poll_message_set(tip_("The active object has no geometry: click a mesh"))
    return False


def selected_with_geometry(context: Context) -> list[bpy.types.Object]:
    """Return the selected objects with geometry, the active one first even if it is not selected."""
    active = active_with_geometry(context)
    rest = (item for item in context.selected_objects if item != active and item.type in MESH_LIKE)
    return [*([active] if active else []), *rest]


class COLLISION_BOUNDS_OT_copy_to_selected(Operator):
    """Copy the object settings of the active object to all selected objects"""

    bl_idname = "collision_bounds.copy_to_selected"
    bl_label = "Copy Settings to Selected"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    settings: BoolProperty(name="Object Settings", description="Copy the settings of the fit", default=True)
    override: BoolProperty(name="Custom Shape", description="Copy the custom shape")
    collision: BoolProperty(
        name="Collision Response", description="Copy response, group, mask and physics material"
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is an active object, and others are selected."""
        if not poll_active(cls, context):
            return False
        if len(selected_with_geometry(context)) > 1:
            return True
        cls.poll_message_set(tip_("Select at least one other object with geometry"))
        return False

    def execute(self, context: Context) -> set[str]:
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
        text = rpt_count(
            len(editable),
            "Settings of {name} copied to {count} object",
            "Settings of {name} copied to {count} objects",
            name=name_of(source),
        )
        if skipped:
            text = joined([text, rpt_("{count} skipped (linked from other files)", count=skipped)])
        self.report({"INFO"}, text)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_measure_fit(Operator):
    """Measure how tightly the bounds of the active object fit: volumes, and vertices on the surface"""

    bl_idname = "collision_bounds.measure_fit"
    bl_label = "Measure Fit"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is an active object."""
        return poll_active(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Measure the fit for the panel."""
        item: Any = active_with_geometry(context)
        try:
            measure(item, settings_of(context))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, error_text(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_copy_value(Operator):
    """Copy these numbers to the clipboard, in Blender units"""

    bl_idname = "collision_bounds.copy_value"
    bl_label = "Copy Value"
    bl_options: ClassVar = {"INTERNAL"}

    value: StringProperty(name="Value", description="Text to copy")

    def execute(self, context: Context) -> set[str]:
        """Copy the text."""
        context.window_manager.clipboard = self.value
        self.report({"INFO"}, rpt_("Copied {value}", value=self.value))
        return {"FINISHED"}


def add_to_undo_step(context: Context) -> None:
    """Make changed settings of objects part of the next undo step, in all modes."""
    if context.mode != "OBJECT":
        # Undo steps of other modes store the edited data only, unless data-blocks were added before them.
        bpy.data.texts.remove(bpy.data.texts.new("Undo"))


def is_editable(item: bpy.types.Object) -> bool:
    """Return whether an object is stored in this file."""
    return item.library is None


def _copy(source: Any, target: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


def _copy_more_shapes(source: bpy.types.Object, target: bpy.types.Object) -> None:
    """Copy the custom shapes after the first one."""
    copies: Any = getattr(target, SETTINGS_PROPERTY).more_shapes
    copies.clear()
    for entry in getattr(source, SETTINGS_PROPERTY).more_shapes:
        _copy(entry, copies.add(), SHAPE_OPTIONS)


CLASSES = (
    COLLISION_BOUNDS_OT_copy_to_selected,
    COLLISION_BOUNDS_OT_measure_fit,
    COLLISION_BOUNDS_OT_copy_value,
)
