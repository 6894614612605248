"""Operators of custom shapes: from the fit, selected vertices or a vertex group, added and removed.

The code calls a custom shape an override, as the JSON document does.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...scene.blender.names import name_of
from ...scene.blender.object_settings import SETTINGS_PROPERTY, object_fit_settings
from ...scene.blender.overrides import (
    Override,
    fit_override,
    override_around,
    read_override,
    read_overrides,
)
from ...scene.blender.parts.vertex_subsets import (
    NOTHING_SELECTED,
    group_vertices,
    objects_in_edit_mode,
    selected_vertices,
)
from ...scene.errors import describe_error
from ...translations import CONTEXT
from ..fit_measurements import active_with_geometry, measure_active
from ..overlay import handlers as overlay
from ..properties.scene import fit_settings, settings_of
from ..properties.shared_options import GROUP_THRESHOLD, VERTEX_GROUP, draw_vertex_group
from ..translation import rpt_, tip_, translated
from .colliders import poll_object_mode
from .object import add_to_undo_step, is_editable, poll_active, selected_with_geometry
from .scene_options import poll_edit_mode

_FITTED_SHAPE = {
    "name": "Shape",
    "description": "Shape to start with",
    "translation_context": CONTEXT,
    "items": (("box", "Box", "A box along the object's own axes"), ("sphere", "Sphere", "A sphere")),
}


class COLLISION_BOUNDS_OT_override_from_fit(Operator):
    """Set the custom shape of all selected objects to their fitted bounds, as a starting point"""

    bl_idname = "collision_bounds.override_from_fit"
    bl_label = "Custom Shape from Fit"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is an active object, and one that can be edited."""
        if not poll_active(cls, context):
            return False
        if any(map(is_editable, selected_with_geometry(context))):
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
        for item in filter(is_editable, selected_with_geometry(context)):
            try:
                fitted.append((item, fit_override(item.evaluated_get(depsgraph), self.shape, fit)))
            except CollisionBoundsError as error:
                self.report({"WARNING"}, _problem(item, error))
        if not fitted:
            return {"CANCELLED"}
        _set_overrides(context, fitted)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_override_from_selection(Operator):
    """Set the custom shape of each mesh in Edit Mode to bounds of its selected vertices, or add one"""

    bl_idname = "collision_bounds.override_from_selection"
    bl_label = "Custom Shape from Selection"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})
    add: BoolProperty(
        name="Add",
        translation_context=CONTEXT,
        description="Keep the custom shapes that the meshes have, and add one",
        options={"SKIP_SAVE"},
    )

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
                    fitted.append((item, override_around(points, self.shape)))
            except CollisionBoundsError as error:
                self.report({"ERROR"}, _problem(item, error))
                return {"CANCELLED"}
        if not fitted:
            self.report({"ERROR"}, rpt_(NOTHING_SELECTED))
            return {"CANCELLED"}
        _set_overrides(context, fitted, keeps_shapes=self.add)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_override_from_group(Operator):
    """Set the custom shape of all selected objects to bounds of a vertex group, or add one"""

    bl_idname = "collision_bounds.override_from_group"
    bl_label = "Custom Shape from Vertex Group"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})
    group: StringProperty(**VERTEX_GROUP)
    threshold: FloatProperty(**GROUP_THRESHOLD)
    add: BoolProperty(
        name="Add",
        translation_context=CONTEXT,
        description="Keep the custom shapes that the objects have, and add one",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Object Mode, and the active object can be edited."""
        return poll_object_mode(cls, context) and _poll_editable(cls, context)

    def draw(self, context: Context) -> None:
        """Draw the options, with the groups of the active object to choose from."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_vertex_group(self.layout, self, context.object)
        for name in ("threshold", "shape", "add"):
            self.layout.prop(self, name)

    def execute(self, context: Context) -> set[str]:
        """Fit the shapes to the vertices of the group, and set them."""
        scene_fit, depsgraph = fit_settings(settings_of(context)), context.evaluated_depsgraph_get()
        fitted = []
        for item in filter(is_editable, selected_with_geometry(context)):
            fit = object_fit_settings(item, scene_fit)
            evaluated = item.evaluated_get(depsgraph)
            try:
                points = group_vertices(evaluated, fit.modifiers, self.group, self.threshold)
                fitted.append((item, override_around(points, self.shape)))
            except CollisionBoundsError as error:
                self.report({"WARNING"}, _problem(item, error))
        if not fitted:
            return {"CANCELLED"}
        _set_overrides(context, fitted, keeps_shapes=self.add)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_set_custom_shape(Operator):
    """Bound the active object by a shape of your own, which starts as the fitted one"""

    bl_idname = "collision_bounds.set_custom_shape"
    bl_label = "Set Custom Shape"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    shape: EnumProperty(
        name="Shape",
        description="Shape that replaces the mesh",
        translation_context=CONTEXT,
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
        return _poll_editable(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Set the kind of shape; another kind than before is fitted."""
        active: Any = active_with_geometry(context)
        settings = getattr(active, SETTINGS_PROPERTY)
        if settings.override == self.shape:
            return {"CANCELLED"}
        if self.shape == "none":
            settings.more_shapes.clear()
            settings.override = "none"
        else:
            fitted = _fitted_to_active(self, context)
            if fitted is None:
                return {"CANCELLED"}
            _set_override(settings, fitted)
        _show_overrides(context)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_add_custom_shape(Operator):
    """Add a custom shape to the active object, which starts as the fitted one. Each shape gets bounds"""

    bl_idname = "collision_bounds.add_custom_shape"
    bl_label = "Add Custom Shape"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    shape: EnumProperty(**_FITTED_SHAPE, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object can be edited."""
        return _poll_editable(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Fit the shape and add it."""
        fitted = _fitted_to_active(self, context)
        if fitted is None:
            return {"CANCELLED"}
        active: Any = active_with_geometry(context)
        _set_overrides(context, [(active, fitted)], keeps_shapes=True)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_remove_custom_shape(Operator):
    """Remove a custom shape of the active object"""

    bl_idname = "collision_bounds.remove_custom_shape"
    bl_label = "Remove Custom Shape"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    index: IntProperty(name="Index", description="Number of the shape, from 0", min=0, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active object has a custom shape and can be edited."""
        if not _poll_editable(cls, context):
            return False
        if read_override(active_with_geometry(context)) is not None:
            return True
        cls.poll_message_set(tip_("The active object has no custom shape"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove the shape; the next one takes the place of the first."""
        active: Any = active_with_geometry(context)
        overrides = read_overrides(active)
        if self.index >= len(overrides):
            text = rpt_("{name}: has no custom shape {index}", name=name_of(active), index=self.index)
            self.report({"ERROR"}, text)
            return {"CANCELLED"}
        settings = getattr(active, SETTINGS_PROPERTY)
        if len(overrides) > 1:
            try:
                settings.more_shapes.remove(max(self.index - 1, 0))
            except TypeError:  # shapes of a library override are those of its file, but for added ones
                text = rpt_(
                    "{name}: this shape is from a linked file, and cannot be removed here",
                    name=name_of(active),
                )
                self.report({"ERROR"}, text)
                return {"CANCELLED"}
            if self.index == 0:
                _set_override(settings, overrides[1])
        else:
            settings.override = "none"
        _show_overrides(context)
        return {"FINISHED"}


def _problem(item: bpy.types.Object, error: CollisionBoundsError) -> str:
    """Return the name of an object, and why it has no shape."""
    return rpt_("{name}: {reason}", name=name_of(item), reason=translated(describe_error(error)))


def _poll_editable(cls: type[Operator], context: Context) -> bool:
    """Return whether the active object can be edited, and say why not."""
    if not poll_active(cls, context):
        return False
    active: Any = active_with_geometry(context)
    if is_editable(active):
        return True
    cls.poll_message_set(tip_("Linked from another file: make a library override first"))
    return False


def _fitted_to_active(operator: Any, context: Context) -> Override | None:
    """Return the shape of an operator, fitted to the active object; None, with a report, if there is none."""
    active: Any = active_with_geometry(context)
    evaluated = active.evaluated_get(context.evaluated_depsgraph_get())
    try:
        return fit_override(evaluated, operator.shape, fit_settings(settings_of(context)))
    except CollisionBoundsError as error:
        operator.report({"ERROR"}, _problem(active, error))
        return None


def _start_with_active_shape(operator: Any, context: Context) -> None:
    """Set the kind of shape to that of the active object, unless it was passed to the operator."""
    active: Any = active_with_geometry(context)
    current = "none" if active is None else getattr(active, SETTINGS_PROPERTY).override
    if current != "none" and not operator.properties.is_property_set("shape"):
        operator.shape = current


def _set_overrides(
    context: Context, fitted: Iterable[tuple[bpy.types.Object, Override]], keeps_shapes: bool = False
) -> None:
    """Set or add the overrides of objects, measure the active one, and draw them."""
    for item, override in fitted:
        settings: Any = getattr(item, SETTINGS_PROPERTY)
        if keeps_shapes:
            _add_override(settings, override)
        else:
            settings.more_shapes.clear()
            _set_override(settings, override)
    _show_overrides(context)


def _show_overrides(context: Context) -> None:
    """Measure and draw overrides that were changed, and make the change part of the next undo step."""
    measure_active(context)
    overlay.refresh(context)
    add_to_undo_step(context)


def _set_override(settings: Any, override: Override) -> None:
    """Copy a fitted override to the settings of an object."""
    settings.override = override.shape
    _set_size(settings, override)


def _add_override(settings: Any, override: Override) -> None:
    """Add an override to the settings of an object."""
    if settings.override == "none":
        settings.more_shapes.clear()
        _set_override(settings, override)
        return
    entry = settings.more_shapes.add()
    entry.shape = override.shape
    _set_size(entry, override)


def _set_size(properties: Any, override: Override) -> None:
    properties.center = override.center.tolist()
    if override.shape == "sphere":
        properties.radius = override.radius
    else:
        properties.half_extents = override.half_extents.tolist()


CLASSES = (
    COLLISION_BOUNDS_OT_override_from_fit,
    COLLISION_BOUNDS_OT_override_from_selection,
    COLLISION_BOUNDS_OT_override_from_group,
    COLLISION_BOUNDS_OT_set_custom_shape,
    COLLISION_BOUNDS_OT_add_custom_shape,
    COLLISION_BOUNDS_OT_remove_custom_shape,
)
