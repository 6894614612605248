"""Operators of colliders around chosen vertices: the selection in Edit Mode, or a vertex group."""

from __future__ import annotations

from typing import Any, ClassVar

from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...scene.blender.object_properties import PADDING
from ...scene.colliders.vertices import make_group_colliders, make_selection_colliders
from ...scene.settings import ColliderSettings, Selection
from ..overlay import handlers as overlay
from ..properties.colliders import COLLECTION, KIND, MAX_VERTICES, NAMING, PATTERN, pattern_of
from ..properties.scene import fit_settings
from ..properties.shared_options import GROUP_THRESHOLD, SCOPE, VERTEX_GROUP, draw_vertex_group
from ..translation import error_text
from .colliders import created_summary, draw_options, poll_object_mode
from .scene_options import initialized_settings, poll_edit_mode, sync_scope, sync_with_scene

_OPTIONS = ("kind", "max_vertices", "naming", "pattern", "collection")


class _VertexColliders:
    """Options of both operators, which are those of Create Colliders."""

    bl_options: ClassVar = {"REGISTER", "UNDO"}

    kind: EnumProperty(**KIND, options={"SKIP_SAVE"})
    max_vertices: IntProperty(**MAX_VERTICES, default=255, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})
    naming: EnumProperty(**NAMING, options={"SKIP_SAVE"})
    pattern: StringProperty(**PATTERN, options={"SKIP_SAVE"})
    collection: StringProperty(**COLLECTION, options={"SKIP_SAVE"})


def _collider_settings(operator: Any, context: Context, selection: Selection) -> ColliderSettings:
    """Return the settings of an operator, shared with those of the scene."""
    settings = initialized_settings(context)
    sync_with_scene(operator, settings, ("padding",))
    sync_with_scene(operator, settings.colliders, _OPTIONS)
    options = settings.colliders
    return ColliderSettings(
        selection,
        fit_settings(settings),
        options.kind,
        pattern_of(options),
        options.collection,
        options.max_vertices,
    )


def _draw(operator: Any, names: tuple[str, ...]) -> None:
    operator.layout.use_property_split, operator.layout.use_property_decorate = True, False
    draw_options(operator.layout, operator, (*names, "padding", *_OPTIONS))


class COLLISION_BOUNDS_OT_colliders_from_selection(_VertexColliders, Operator):
    """Add a collider around the selected vertices, edges or faces of each mesh in Edit Mode"""

    bl_idname = "collision_bounds.colliders_from_selection"
    bl_label = "Colliders from Selection"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Edit Mode of meshes."""
        return poll_edit_mode(cls, context)

    def draw(self, _context: Context) -> None:
        """Draw the options."""
        _draw(self, ())

    def execute(self, context: Context) -> set[str]:
        """Create the colliders."""
        try:
            created = make_selection_colliders(context.scene, _collider_settings(self, context, Selection()))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, error_text(error))
            return {"CANCELLED"}
        overlay.refresh(context)
        self.report({"WARNING" if created.skipped else "INFO"}, created_summary(created))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_colliders_from_group(_VertexColliders, Operator):
    """Add a collider around the vertices of a vertex group of each object"""

    bl_idname = "collision_bounds.colliders_from_group"
    bl_label = "Colliders from Vertex Group"

    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    group: StringProperty(**VERTEX_GROUP)
    threshold: FloatProperty(**GROUP_THRESHOLD)

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Object Mode, where weights are up to date."""
        return poll_object_mode(cls, context)

    def draw(self, context: Context) -> None:
        """Draw the options, with the groups of the active object to choose from."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_vertex_group(self.layout, self, context.object)
        _draw(self, ("threshold", "scope"))

    def execute(self, context: Context) -> set[str]:
        """Create the colliders."""
        selection = sync_scope(self, context, initialized_settings(context))
        settings = _collider_settings(self, context, selection)
        try:
            created = make_group_colliders(context.scene, settings, self.group, self.threshold)
        except CollisionBoundsError as error:
            self.report({"ERROR"}, error_text(error))
            return {"CANCELLED"}
        overlay.refresh(context)
        self.report({"WARNING" if created.skipped else "INFO"}, created_summary(created))
        return {"FINISHED"}


CLASSES = (
    COLLISION_BOUNDS_OT_colliders_from_selection,
    COLLISION_BOUNDS_OT_colliders_from_group,
)
