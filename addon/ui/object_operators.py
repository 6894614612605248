"""What is done to the settings that objects carry themselves."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty
from bpy.types import Context, Operator

from ..core import CollisionBoundsError
from ..formats.wording import counted
from ..scene.errors import reason_of
from ..scene.overrides import fitted_override
from ..scene.own_settings import PROPERTY
from ..scene.walk import MESH_LIKE
from . import overlay
from .fit_measures import measure
from .object_settings import OVERRIDE_OPTIONS, OWN_OPTIONS
from .properties import settings_of
from .scene_settings import fit_settings


def active_with_surface(context: Context) -> bpy.types.Object | None:
    """The active object, if it is something that gets bounds."""
    item = context.object
    return item if item is not None and item.type in MESH_LIKE else None


def _poll_active(cls: type[Operator], context: Context) -> bool:
    if active_with_surface(context) is not None:
        return True
    cls.poll_message_set("The active object is nothing with a surface: click a mesh")
    return False


def _selected(context: Context) -> list[bpy.types.Object]:
    """Selected objects with a surface; the active one first, also if it is not selected."""
    active = active_with_surface(context)
    others = (item for item in context.selected_objects if item != active and item.type in MESH_LIKE)
    return [*([active] if active else []), *others]


class CopySettings(Operator):
    """Give all selected objects the active object's own settings"""

    bl_idname = "collision_bounds.copy_to_selected"
    bl_label = "Copy to Selected"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    own: BoolProperty(name="Own Settings", description="Copy the settings of its fit", default=True)
    override: BoolProperty(name="Override", description="Copy the shape that was set by hand")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs an active object, and others."""
        if not _poll_active(cls, context):
            return False
        if len(_selected(context)) > 1:
            return True
        cls.poll_message_set("Select the objects that get the settings as well")
        return False

    def execute(self, context: Context) -> set[str]:
        """Copy."""
        source, *targets = _selected(context)
        names = (*(OWN_OPTIONS if self.own else ()), *(OVERRIDE_OPTIONS if self.override else ()))
        editable = [item for item in targets if _is_editable(item)]
        for item in editable:
            _copy(getattr(source, PROPERTY), getattr(item, PROPERTY), names)
        overlay.refresh(context)
        left = len(targets) - len(editable)
        self.report(
            {"INFO"},
            f"Settings of {source.name} copied to {counted(len(editable), 'object')}"
            + (f", {left} left out (linked from other files)" if left else ""),
        )
        return {"FINISHED"}


class OverrideFromFit(Operator):
    """Set the override of all selected objects to what is fitted to them, to go on from there"""

    bl_idname = "collision_bounds.override_from_fit"
    bl_label = "Start from Fit"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(
        name="Shape",
        description="Which shape to begin with",
        items=(("box", "Box", "A box along the object's own axes"), ("sphere", "Sphere", "A sphere")),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs an active object, and one that can be changed."""
        if not _poll_active(cls, context):
            return False
        if any(map(_is_editable, _selected(context))):
            return True
        cls.poll_message_set("Linked from another file: make a library override first")
        return False

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        """Keep the shape that the active object has."""
        active: Any = active_with_surface(context)
        own = getattr(active, PROPERTY).override
        if own != "none" and not self.properties.is_property_set("shape"):
            self.shape = own
        return self.execute(context)

    def execute(self, context: Context) -> set[str]:
        """Fit and set."""
        fit = fit_settings(settings_of(context))
        depsgraph = context.evaluated_depsgraph_get()
        found = []
        for item in filter(_is_editable, _selected(context)):
            try:
                found.append((item, fitted_override(item.evaluated_get(depsgraph), self.shape, fit)))
            except CollisionBoundsError as error:
                self.report({"WARNING"}, f"{item.name}: {reason_of(error)}")
        if not found:
            return {"CANCELLED"}
        for item, override in found:
            own: Any = getattr(item, PROPERTY)
            own.center, own.override = override.center.tolist(), override.shape
            if override.shape == "sphere":
                own.radius = override.radius
            else:
                own.half_extents = override.half_extents.tolist()
        measure_active(context)
        overlay.refresh(context)
        return {"FINISHED"}


class MeasureFit(Operator):
    """Measure how well the bounds of the active object fit: volumes, and how many vertices touch them"""

    bl_idname = "collision_bounds.measure_fit"
    bl_label = "Measure Fit"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs an active object."""
        return _poll_active(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Measure, for the panel to show."""
        item: Any = active_with_surface(context)
        try:
            measure(item, fit_settings(settings_of(context)))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def measure_active(context: Context) -> None:
    """Measure the active object, if it can be: the panel then asks to, and that says why not."""
    item = active_with_surface(context)
    if item is not None and item.visible_get():
        with suppress(CollisionBoundsError):
            measure(item, fit_settings(settings_of(context)))


def _is_editable(item: bpy.types.Object) -> bool:
    return item.library is None


def _copy(source: Any, target: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


CLASSES = (CopySettings, OverrideFromFit, MeasureFit)
