"""Operators of the active object: copy its settings, measure the fit, copy a number, set custom shapes.

The code calls a custom shape an override, as the JSON document does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar

import bpy
from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...core.messages import message
from ...scene.blender.instances import MESH_LIKE, name_of
from ...scene.blender.mesh_data import vertex_positions
from ...scene.blender.object_properties import OVERRIDE_OPTIONS, OWN_OPTIONS, RESPONSE_OPTIONS, SHAPE_OPTIONS
from ...scene.blender.object_settings import (
    SETTINGS_PROPERTY,
    Override,
    OverrideShape,
    bounds_for,
    is_collider,
    object_fit_settings,
    override_around,
    read_overrides,
)
from ...scene.blender.parts import weights
from ...scene.errors import SceneError, describe_error
from ...translations import CONTEXT
from ..kept_checks import measure, measure_active, settings_of_active
from ..overlay import handlers as overlay
from ..properties.options import CHOSEN_GROUP, flag, one_of, option_property
from ..properties.scene import fit_settings, settings_of
from ..texts import error_text, joined, n_, rpt_, rpt_count
from . import need
from .command import Command, DrawsOptions, OfItem, Outcome, refusal, selected_with_geometry

_needs_several = need.that(
    lambda context: len(selected_with_geometry(context)) > 1,
    n_("Select at least one other object with geometry"),
)


class COLLISION_BOUNDS_OT_copy_to_selected(Command, Operator):
    """Copy the object settings of the active object to all selected objects"""

    bl_label = "Copy Settings to Selected"
    needs = (need.geometry, _needs_several)

    settings: flag("Object Settings", "Copy the settings of the fit", default=True)
    override: flag("Custom Shape", "Copy the custom shape")
    collision: flag("Collision Response", "Copy response, group, mask and physics material")

    def run(self, context: Context) -> str:
        source, *targets = selected_with_geometry(context)
        names = (
            *(OWN_OPTIONS if self.settings else ()),
            *(OVERRIDE_OPTIONS if self.override else ()),
            *(RESPONSE_OPTIONS if self.collision else ()),
        )
        editable = [item for item in targets if item.library is None]
        for item in editable:
            settings, copies = getattr(source, SETTINGS_PROPERTY), getattr(item, SETTINGS_PROPERTY)
            _copy(settings, copies, names)
            if self.override:
                copies.more_shapes.clear()
                for entry in settings.more_shapes:
                    _copy(entry, copies.more_shapes.add(), SHAPE_OPTIONS)
        overlay.refresh(context)
        add_to_undo_step(context)
        skipped = len(targets) - len(editable)
        one = n_("Settings of {name} copied to {count} object")
        many = n_("Settings of {name} copied to {count} objects")
        text = rpt_count(len(editable), one, many, name=name_of(source))
        linked = [rpt_("{count} skipped (linked from other files)", count=skipped)] if skipped else []
        return joined([text, *linked])


class COLLISION_BOUNDS_OT_split_objects(Command, Operator):
    """Give each bone or loose part bounds of its own, of the selected objects, or of all visible ones"""

    bl_label = "Split by"
    needs = (need.idle,)

    bounds_for: one_of(
        "Split by",
        "Parts with bounds of their own",
        ("object", "Nothing", "Fit bounds to whole objects", 0),
        ("loose_parts", "Loose Parts", "Fit bounds to each connected part of a mesh", 1),
        ("bones", "Bones", "Fit bounds to each bone that deforms a mesh", 2),
    )

    def run(self, context: Context) -> Outcome:
        """Change the settings of the objects that can be split so; others keep theirs."""
        items = [item for item in context.selected_objects if item.type in MESH_LIKE]
        items = items or [item for item in context.visible_objects if item.type in MESH_LIKE]
        items = [item for item in items if not is_collider(item) and item.library is None]
        if self.bounds_for == "bones":
            items = [item for item in items if item.find_armature() is not None]
        changed = [item for item in items if bounds_for(item) != self.bounds_for]
        if not changed:
            return self.cancelled(rpt_("There is nothing to change: no object has such parts"), "WARNING")
        for item in changed:
            settings = getattr(item, SETTINGS_PROPERTY)
            settings.use_object_settings, settings.bounds_for = True, self.bounds_for
        overlay.refresh(context)
        add_to_undo_step(context)
        return rpt_count(len(changed), "{count} object changed", "{count} objects changed")


class COLLISION_BOUNDS_OT_measure_fit(Command, Operator):
    """Measure how tightly the bounds of the active object fit: volumes, and vertices on the surface"""

    bl_label = "Measure Fit"
    bl_options: ClassVar = {"REGISTER"}
    needs = (need.geometry,)

    def run(self, context: Context) -> None:
        measure(settings_of_active(context).id_data, settings_of(context))


class COLLISION_BOUNDS_OT_copy_value(Command, Operator):
    """Copy these numbers to the clipboard, in Blender units"""

    bl_label = "Copy Value"
    bl_options: ClassVar = {"INTERNAL"}

    value: StringProperty(name="Value", description="Text to copy")

    def run(self, context: Context) -> str:
        context.window_manager.clipboard = self.value
        return rpt_("Copied {value}", value=self.value)


def add_to_undo_step(context: Context) -> None:
    """Make changed settings of objects part of the next undo step, in all modes."""
    if context.mode != "OBJECT":
        # Undo steps of other modes store the edited data only, unless data-blocks were added before them.
        bpy.data.texts.remove(bpy.data.texts.new("Undo"))


def _copy(source: Any, target: Any, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


_MORE = {"translation_context": CONTEXT, "options": {"SKIP_SAVE"}}

_needs_any_editable = need.that(
    lambda context: any(item.library is None for item in selected_with_geometry(context)), need.LINKED
)


class _FitCommand(Command):
    shape: one_of(
        "Shape",
        "Shape to start with",
        ("box", "Box", "A box along the object's own axes"),
        ("sphere", "Sphere", "A sphere"),
        **_MORE,
    )

    def _fit_selected(
        self, context: Context, read: Callable[..., Any] = vertex_positions
    ) -> list[tuple[bpy.types.Object, Any]]:
        """Fit a shape to each selected object; report problems."""
        fitted = []
        for item in selected_with_geometry(context):
            try:
                if item.library is None:
                    fitted.append((item, _fitted(item, context, self.shape, read)))
            except CollisionBoundsError as error:
                self.report({"WARNING"}, error_text(error))
        return fitted


class _LikeActive(_FitCommand):
    """Base of those whose buttons start with the kind of shape that the active object has."""

    def invoke(self, context: Context, _event: bpy.types.Event) -> set[str]:
        """Set the kind of shape to that of the active object, unless it was passed to the operator."""
        settings = settings_of_active(context)
        current = "none" if settings is None else settings.override
        if current != "none" and not self.properties.is_property_set("shape"):
            self.shape = current
        return self.execute(context)


class COLLISION_BOUNDS_OT_override_from_fit(_LikeActive, Operator):
    """Set the custom shape of all selected objects to their fitted bounds, as a starting point"""

    bl_label = "Custom Shape from Fit"
    needs = (need.geometry, _needs_any_editable)

    def run(self, context: Context) -> set[str]:
        return _set_overrides(context, self._fit_selected(context))


class COLLISION_BOUNDS_OT_override_from_selection(_LikeActive, Operator):
    """Set the custom shape of each mesh in Edit Mode to bounds of its selected vertices, or add one"""

    bl_label = "Custom Shape from Selection"
    needs = (need.idle, need.edit_mode)

    add: flag("Add", "Keep the custom shapes that the meshes have, and add one", **_MORE)

    def run(self, context: Context) -> set[str]:
        edited, read = weights.objects_in_edit_mode(), weights.selected_vertices
        found = [(item, _fitted(item, context, self.shape, read)) for item in edited]
        fitted = [(item, override) for item, override in found if override is not None]
        if not fitted:
            raise refusal(weights.NOTHING_SELECTED)
        return _set_overrides(context, fitted, keeps_shapes=self.add)


class COLLISION_BOUNDS_OT_override_from_group(DrawsOptions, _FitCommand, Operator):
    """Set the custom shape of all selected objects to bounds of a vertex group, or add one"""

    bl_label = "Custom Shape from Vertex Group"
    needs = (need.idle, need.object_mode, need.geometry, need.editable)

    group: StringProperty(**CHOSEN_GROUP)
    threshold: option_property("group_threshold")
    add: flag("Add", "Keep the custom shapes that the objects have, and add one", **_MORE)

    drawn = ("group", "threshold", "shape", "add")

    def run(self, context: Context) -> set[str]:
        read = partial(weights.group_vertices, group=self.group, threshold=self.threshold)
        return _set_overrides(context, self._fit_selected(context, read), keeps_shapes=self.add)


class COLLISION_BOUNDS_OT_set_custom_shape(OfItem, Operator):
    """Bound the active object by a shape of your own, which starts as the fitted one"""

    bl_label = "Set Custom Shape"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (need.geometry, need.editable)

    shape: one_of(
        "Shape",
        "Shape that replaces the mesh",
        ("none", "Fitted", "Use bounds that are fitted to the mesh"),
        ("box", "Box", "Use a box that you can change. It starts as the fitted one"),
        ("sphere", "Sphere", "Use a sphere that you can change. It starts as the fitted one"),
        **_MORE,
    )
    option = "shape"

    def run(self, context: Context) -> Outcome:
        """Set the kind of shape; another kind than before is fitted."""
        settings = settings_of_active(context)
        if settings.override == self.shape:
            return {"CANCELLED"}
        if self.shape == "none":
            settings.more_shapes.clear()
            settings.override = "none"
        else:
            _set_shape(settings, "override", _fitted(context.object, context, self.shape))
        _show_overrides(context)
        return None


class COLLISION_BOUNDS_OT_add_custom_shape(_FitCommand, Operator):
    """Add a custom shape to the active object, which starts as the fitted one. Each shape gets bounds"""

    bl_label = "Add Custom Shape"
    needs = (need.geometry, need.editable)

    def run(self, context: Context) -> set[str]:
        fitted = _fitted(context.object, context, self.shape)
        return _set_overrides(context, [(context.object, fitted)], keeps_shapes=True)


_needs_custom_shape = need.that(
    lambda context: bool(read_overrides(context.object)), n_("The active object has no custom shape")
)


class COLLISION_BOUNDS_OT_remove_custom_shape(Command, Operator):
    """Remove a custom shape of the active object"""

    bl_label = "Remove Custom Shape"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (need.geometry, need.editable, _needs_custom_shape)

    index: IntProperty(name="Index", description="Number of the shape, from 0", min=0, options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        """Remove the shape; the next one takes the place of the first."""
        settings = settings_of_active(context)
        overrides, name = read_overrides(settings.id_data), name_of(settings.id_data)
        if self.index >= len(overrides):
            raise refusal("{name}: has no custom shape {index}", name=name, index=self.index)
        if len(overrides) > 1:
            try:
                settings.more_shapes.remove(max(self.index - 1, 0))
            except TypeError:  # shapes of a library override are those of its file, but for added ones
                text = n_("{name}: this shape is from a linked file, and cannot be removed here")
                raise refusal(text, name=name) from None
            if self.index == 0:
                _set_shape(settings, "override", overrides[1])
        else:
            settings.override = "none"
        _show_overrides(context)


def _fitted(
    item: Any, context: Context, shape: OverrideShape, read: Callable[..., Any] = vertex_positions
) -> Any:
    """Fit a shape to the vertices that are read of an object as it is evaluated; None if none is selected.

    Errors begin with the name of the object.
    """
    evaluated = item.evaluated_get(context.evaluated_depsgraph_get())
    fit = object_fit_settings(item, fit_settings(settings_of(context)))
    try:
        points = read(evaluated, fit.modifiers)
        is_skipped = read is weights.selected_vertices and not len(points)
        return None if is_skipped else override_around(points, shape)
    except CollisionBoundsError as error:
        reason = describe_error(error)
        raise SceneError(message("{name}: {reason}", name=name_of(item), reason=reason)) from error


def _set_overrides(
    context: Context, fitted: Sequence[tuple[bpy.types.Object, Override]], keeps_shapes: bool = False
) -> set[str]:
    """Set or add the overrides of objects, measure the active one, and draw them; cancel without any."""
    if not fitted:
        return {"CANCELLED"}
    for item, override in fitted:
        settings: Any = getattr(item, SETTINGS_PROPERTY)
        if keeps_shapes and settings.override != "none":
            _set_shape(settings.more_shapes.add(), "shape", override)
        else:
            settings.more_shapes.clear()
            _set_shape(settings, "override", override)
    _show_overrides(context)
    return {"FINISHED"}


def _show_overrides(context: Context) -> None:
    """Measure and draw overrides that were changed, and make the change part of the next undo step."""
    measure_active(context)
    overlay.refresh(context)
    add_to_undo_step(context)


def _set_shape(properties: Any, kind: str, override: Override) -> None:
    """Copy an override to the settings of an object, or to an added shape; `kind` is the name of its kind."""
    setattr(properties, kind, override.shape)
    properties.center = override.center.tolist()
    if override.shape == "sphere":
        properties.radius = override.radius
    else:
        properties.half_extents = override.half_extents.tolist()
