"""Operators of collider objects: Create Colliders and Remove Colliders."""

from __future__ import annotations

from typing import ClassVar

from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator, UILayout

from ...core import CollisionBoundsError
from ...formats.wording import pluralized
from ...scene.blender.object_properties import PADDING
from ...scene.colliders.make import CreatedColliders, has_colliders, make_colliders, remove_colliders
from ...scene.settings import ColliderSettings
from .. import job_state
from ..overlay import handlers as overlay
from ..properties.colliders import (
    COLLECTION,
    COLLIDER_OPTIONS,
    KIND,
    MAX_VERTICES,
    NAMING,
    PATTERN,
    pattern_of,
)
from ..properties.scene import fit_settings
from ..properties.shared_options import SCOPE
from .messages import empty_result_error, skipped_text
from .scene_options import initialized_settings, sync_scope, sync_with_scene


def _may_edit(cls: type[Operator], context: Context) -> bool:
    if not job_state.poll_idle(cls):
        return False
    if context.mode == "OBJECT":
        return True
    cls.poll_message_set("Go to Object Mode first")
    return False


class COLLISION_BOUNDS_OT_create_colliders(Operator):
    """Create a collider mesh below each object, replacing those of earlier runs. Not rendered"""

    bl_idname = "collision_bounds.create_colliders"
    bl_label = "Create Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    kind: EnumProperty(**KIND, options={"SKIP_SAVE"})
    max_vertices: IntProperty(**MAX_VERTICES, default=255, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})
    naming: EnumProperty(**NAMING, options={"SKIP_SAVE"})
    pattern: StringProperty(**PATTERN, options={"SKIP_SAVE"})
    collection: StringProperty(**COLLECTION, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Object Mode, because other modes have undo steps of their own."""
        return _may_edit(cls, context)

    def draw(self, _context: Context) -> None:
        """Draw the options; pattern and vertex limit only where they apply."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_options(self.layout, self, ("scope", "padding", *COLLIDER_OPTIONS))

    def execute(self, context: Context) -> set[str]:
        """Create the colliders."""
        settings = initialized_settings(context)
        selection = sync_scope(self, context, settings)
        sync_with_scene(self, settings, ("padding",))
        sync_with_scene(self, settings.colliders, COLLIDER_OPTIONS)
        options = settings.colliders
        collider_settings = ColliderSettings(
            selection,
            fit_settings(settings),
            options.kind,
            pattern_of(options),
            options.collection,
            options.max_vertices,
        )
        try:
            created = make_colliders(context.scene, collider_settings)
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if problem := empty_result_error(created.sources, created.skipped, selection):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        overlay.refresh(context)
        self.report({"WARNING" if created.skipped else "INFO"}, _summary(created))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_remove_colliders(Operator):
    """Remove all colliders that Collision Bounds created in this scene"""

    bl_idname = "collision_bounds.remove_colliders"
    bl_label = "Remove Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the scene has colliders."""
        if not _may_edit(cls, context):
            return False
        if context.scene is not None and has_colliders(context.scene):
            return True
        cls.poll_message_set("No colliders created by Collision Bounds in this scene")
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove the colliders."""
        count = remove_colliders(context.scene)
        overlay.refresh(context)
        self.report({"INFO"}, f"{pluralized(count, 'collider')} removed")
        return {"FINISHED"}


def draw_options(layout: UILayout, settings: object, names: tuple[str, ...]) -> None:
    """Draw options of a scene or an operator, without those that do not apply."""
    for name in names:
        if name == "pattern" and settings.naming != "custom":  # type: ignore[attr-defined]
            continue
        if name == "max_vertices" and settings.kind != "hull":  # type: ignore[attr-defined]
            continue
        layout.prop(settings, name)


def _summary(created: CreatedColliders) -> str:
    """Return the numbers of created and replaced colliders, and the skipped objects, as text."""
    text = f"{pluralized(created.colliders, 'collider')} for {pluralized(created.sources, 'object')}"
    if created.replaced:
        text += f", {created.replaced} replaced"
    return text + skipped_text(created.skipped)


CLASSES = (COLLISION_BOUNDS_OT_create_colliders, COLLISION_BOUNDS_OT_remove_colliders)
