"""Operators of the active object: copy its settings, custom shape from the fit, measure the fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...scene.blender.instances import MESH_LIKE
from ...scene.blender.names import name_of
from ...scene.blender.object_properties import OVERRIDE_OPTIONS, OWN_OPTIONS, RESPONSE_OPTIONS
from ...scene.blender.object_settings import SETTINGS_PROPERTY, object_fit_settings
from ...scene.blender.overrides import Override, fit_override, override_around
from ...scene.blender.parts.vertex_subsets import (
    NOTHING_SELECTED,
    objects_in_edit_mode,
    selected_vertices,
)
from ...scene.errors import describe_error
from ..fit_measurements import active_with_geometry, measure, measure_active
from ..overlay import handlers as overlay
from ..properties.scene import fit_settings, settings_of
from ..translation import error_text, joined, rpt_, rpt_count, tip_, translated
from .scene_options import poll_edit_mode


def _poll_active(cls: type[Operator], context: Context) -> bool:
    if active_with_geometry(context) is not None:
        return True
    cls.poll_message_set(tip_("The active object has no geometry: click a mesh"))
    return False


def _problem(item: bpy.types.Object, error: CollisionBoundsError) -> str:
    """Return the name of an object, and why it has no shape."""
    return rpt_("{name}: {reason}", name=name_of(item), reason=translated(describe_error(error)))


def _selected(context: Context) -> list[bpy.types.Object]:
    """Return the selected objects with geometry, the active one first even if it is not selected."""
    active = active_with_geometry(context)
    rest = (item for item in context.selected_objects if item != active and item.type in MESH_LIKE)
    return [*([active] if active else []), *rest]


_FITTED_SHAPE = {
    "name": "Shape",
    "description": "Shape to start with",
    "items": (("box", "Box", "A box along the object's own axes"), ("sphere", "Sphere", "A sphere")),
}


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
        if not _poll_active(cls, context):
            return False
        if len(_selected(context)) > 1:
            return True
        cls.poll_message_set(tip_("Select at least one other object with geometry"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Copy the settings."""
        source, *targets = _selected(context)
        names = (
            *(OWN_OPTIONS if self.settings else ()),
            *(OVERRIDE_OPTIONS if self.override else ()),
            *(RESPONSE_OPTIONS if self.collision else ()),
        )
        editable = [item for item in targets if _is_editable(item)]
        for item in editable:
            _copy(getattr(source, SETTINGS_PROPERTY), getattr(item, SETTINGS_PROPERTY), names)
        overlay.refresh(context)
        _add_to_undo_step(context)
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


class COLLISION_BOUNDS_OT_override_from_fit(Operator):
    """Set the custom shape of all selected objects to their fitted bounds, as a starting point"""

    bl_idname = "collision_bounds.override_from_fit"
    bl_label = "Custom Shape from Fit"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is an active object, and one that can be edited."""
        if not _poll_active(cls, context):
            return False
        if any(map(_is_editable, _selected(context))):
            return True
        cls.poll_message_set(tip_("Linked from another file: make a library override first"))
        return False

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        """Start with the kind of shape that the active object has."""
        _start_with_active_shape(self, context)
        return self.execute(context)

    def execute(self, context: Context) -> set[str]:
        """Fit the shapes and set them."""
        fit = fit_settings(settings_of(context))
        depsgraph = context.evaluated_depsgraph_get()
        fitted = []
        for item in filter(_is_editable, _selected(context)):
            try:
                fitted.append((item, fit_override(item.evaluated_get(depsgraph), self.shape, fit)))
            except CollisionBoundsError as error:
                self.report({"WARNING"}, _problem(item, error))
        if not fitted:
            return {"CANCELLED"}
        _set_overrides(context, fitted)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_override_from_selection(Operator):
    """Set the custom shape of each mesh in Edit Mode to bounds of its selected vertices, edges or faces"""

    bl_idname = "collision_bounds.override_from_selection"
    bl_label = "Custom Shape from Selection"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Edit Mode of meshes."""
        return poll_edit_mode(cls, context)

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        """Start with the kind of shape that the active object has."""
        _start_with_active_shape(self, context)
        return self.execute(context)

    def execute(self, context: Context) -> set[str]:
        """Fit the shapes to the selected vertices, and set them."""
        scene_fit, depsgraph = fit_settings(settings_of(context)), context.evaluated_depsgraph_get()
        fitted = []
        for item in objects_in_edit_mode():
            fit = object_fit_settings(item, scene_fit)
            points = selected_vertices(item.evaluated_get(depsgraph), fit.modifiers)
            try:
                if len(points):
                    fitted.append((item, override_around(points, self.shape, fit.method)))
            except CollisionBoundsError as error:
                self.report({"ERROR"}, _problem(item, error))
                return {"CANCELLED"}
        if not fitted:
            self.report({"ERROR"}, rpt_(NOTHING_SELECTED))
            return {"CANCELLED"}
        _set_overrides(context, fitted)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_set_custom_shape(Operator):
    """Bound the active object by a shape of your own, which starts as the fitted one"""

    bl_idname = "collision_bounds.set_custom_shape"
    bl_label = "Set Custom Shape"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    shape: EnumProperty(
        name="Shape",
        description="Shape that replaces the mesh",
        items=(
            ("none", "Fitted", "Bounds that are fitted to the mesh"),
            ("box", "Box", "A box along the object's own axes"),
            ("sphere", "Sphere", "A sphere"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: COLLISION_BOUNDS_OT_set_custom_shape) -> str:
        """Return the tooltip for this shape."""
        if properties.shape == "none":
            return tip_("Use bounds that are fitted to the mesh")
        return tip_(
            "Use a box that you can change. It starts as the fitted one"
            if properties.shape == "box"
            else "Use a sphere that you can change. It starts as the fitted one"
        )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object can be edited."""
        if not _poll_active(cls, context):
            return False
        active: Any = active_with_geometry(context)
        if _is_editable(active):
            return True
        cls.poll_message_set(tip_("Linked from another file: make a library override first"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Set the kind of shape; another kind than before is fitted."""
        active: Any = active_with_geometry(context)
        settings = getattr(active, SETTINGS_PROPERTY)
        if settings.override == self.shape:
            return {"CANCELLED"}
        if self.shape != "none":
            evaluated = active.evaluated_get(context.evaluated_depsgraph_get())
            try:
                fitted = fit_override(evaluated, self.shape, fit_settings(settings_of(context)))
            except CollisionBoundsError as error:
                self.report({"ERROR"}, _problem(active, error))
                return {"CANCELLED"}
            _set_override(settings, fitted)
        settings.override = self.shape
        _show_overrides(context)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_measure_fit(Operator):
    """Measure how tightly the bounds of the active object fit: volumes, and vertices on the surface"""

    bl_idname = "collision_bounds.measure_fit"
    bl_label = "Measure Fit"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is an active object."""
        return _poll_active(cls, context)

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


def _start_with_active_shape(operator: Any, context: Context) -> None:
    """Set the kind of shape to that of the active object, unless it was passed to the operator."""
    active: Any = active_with_geometry(context)
    current = "none" if active is None else getattr(active, SETTINGS_PROPERTY).override
    if current != "none" and not operator.properties.is_property_set("shape"):
        operator.shape = current


def _set_overrides(context: Context, fitted: Iterable[tuple[bpy.types.Object, Override]]) -> None:
    """Set the overrides of objects, measure the active one, and draw them."""
    for item, override in fitted:
        _set_override(getattr(item, SETTINGS_PROPERTY), override)
    _show_overrides(context)


def _show_overrides(context: Context) -> None:
    """Measure and draw overrides that were changed, and make the change part of the next undo step."""
    measure_active(context)
    overlay.refresh(context)
    _add_to_undo_step(context)


def _add_to_undo_step(context: Context) -> None:
    """Make changed settings of objects part of the next undo step, in all modes."""
    if context.mode != "OBJECT":
        # Undo steps of other modes store the edited data only, unless data-blocks were added before them.
        bpy.data.texts.remove(bpy.data.texts.new("Undo"))


def _set_override(settings: Any, override: Override) -> None:
    """Copy a fitted override to the settings of an object."""
    settings.center, settings.override = override.center.tolist(), override.shape
    if override.shape == "sphere":
        settings.radius = override.radius
    else:
        settings.half_extents = override.half_extents.tolist()


def _is_editable(item: bpy.types.Object) -> bool:
    return item.library is None


def _copy(source: Any, target: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


CLASSES = (
    COLLISION_BOUNDS_OT_copy_to_selected,
    COLLISION_BOUNDS_OT_override_from_fit,
    COLLISION_BOUNDS_OT_override_from_selection,
    COLLISION_BOUNDS_OT_set_custom_shape,
    COLLISION_BOUNDS_OT_measure_fit,
    COLLISION_BOUNDS_OT_copy_value,
)
