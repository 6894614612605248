"""Make Colliders and Remove Colliders."""

from __future__ import annotations

from typing import ClassVar

from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator, UILayout

from ..core import CollisionBoundsError
from ..formats.wording import counted
from ..scene.colliders import ColliderSettings, Made, has_colliders, make_colliders, remove_colliders
from . import overlay, running_scan
from .collider_settings import COLLECTION, COLLIDER_OPTIONS, KIND, MOST, NAMING, PATTERN, pattern_of
from .messages import left_out, nothing_to_do
from .options import PADDING, SCOPE, settle
from .properties import OnObjects, begun, bounds_settings


def _may_edit(cls: type[Operator], context: Context) -> bool:
    if not running_scan.lets(cls):
        return False
    if context.mode == "OBJECT":
        return True
    cls.poll_message_set("Go to Object Mode first")
    return False


class MakeColliders(OnObjects, Operator):
    """Make a collider object for each object, below it, in place of those made before. Not rendered"""

    bl_idname = "collision_bounds.make_colliders"
    bl_label = "Make Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    kind: EnumProperty(**KIND, options={"SKIP_SAVE"})
    most: IntProperty(**MOST, default=255, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})
    naming: EnumProperty(**NAMING, options={"SKIP_SAVE"})
    pattern: StringProperty(**PATTERN, options={"SKIP_SAVE"})
    collection: StringProperty(**COLLECTION, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs Object Mode: other modes undo by themselves."""
        return _may_edit(cls, context)

    def draw(self, _context: Context) -> None:
        """The pattern, and the corners of a hull, only where they count."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_options(self.layout, self, ("scope", "padding", *COLLIDER_OPTIONS))

    def execute(self, context: Context) -> set[str]:
        """Make them."""
        settings = begun(context)
        settle(self, settings, ("scope", "padding"))
        settle(self, settings.colliders, COLLIDER_OPTIONS)
        asked, own = bounds_settings(settings), settings.colliders
        wanted = ColliderSettings(
            asked.selection, asked.fit, own.kind, pattern_of(own), own.collection, own.most
        )
        try:
            made = make_colliders(context.scene, wanted)
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if problem := nothing_to_do(made.sources, made.skipped, settings.scope):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        overlay.refresh(context)
        self.report({"WARNING" if made.skipped else "INFO"}, _told(made))
        return {"FINISHED"}


class RemoveColliders(Operator):
    """Remove all collider objects of this scene that were made here, and nothing else"""

    bl_idname = "collision_bounds.remove_colliders"
    bl_label = "Remove Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs colliders."""
        if not _may_edit(cls, context):
            return False
        if context.scene is not None and has_colliders(context.scene):
            return True
        cls.poll_message_set("There are no colliders that were made here")
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove them."""
        count = remove_colliders(context.scene)
        overlay.refresh(context)
        self.report({"INFO"}, f"{counted(count, 'collider')} removed")
        return {"FINISHED"}


def draw_options(layout: UILayout, settings: object, names: tuple[str, ...]) -> None:
    """Options of a scene or an operator, those left out that do not count."""
    for name in names:
        if name == "pattern" and settings.naming != "own":  # type: ignore[attr-defined]
            continue
        if name == "most" and settings.kind != "hull":  # type: ignore[attr-defined]
            continue
        layout.prop(settings, name)


def _told(made: Made) -> str:
    """What was made, and who got none."""
    text = f"{counted(made.colliders, 'collider')} for {counted(made.sources, 'object')}"
    if made.replaced:
        text += f", {made.replaced} replaced"
    return text + left_out(made.skipped)


CLASSES = (MakeColliders, RemoveColliders)
