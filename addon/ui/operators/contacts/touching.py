"""Select a pair that touches at the playhead."""

from __future__ import annotations

from typing import ClassVar

from bpy.props import IntProperty
from bpy.types import Context, Operator

from ....formats.wording import valid_text
from ....scene.errors import SceneError
from ...overlay.state import find_overlay, object_by_uid
from ...touching import pairs_now
from ...translation import tip_
from .pair_selection import select_only


class COLLISION_BOUNDS_OT_select_touching(Operator):
    """Select both objects"""

    bl_idname = "collision_bounds.select_touching"
    bl_label = "Select Touching Pair"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    a: IntProperty(options={"SKIP_SAVE"})
    b: IntProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: COLLISION_BOUNDS_OT_select_touching) -> str:
        """Return the tooltip, with the full names."""
        try:
            subjects, _ = pairs_now(context)
            a, b = (valid_text(subjects[side].name) for side in (properties.a, properties.b))
            return tip_("Select {a} and {b}", a=a, b=b)
        except (SceneError, IndexError):
            return tip_("Select both objects")

    def execute(self, context: Context) -> set[str]:
        """Select the pair; of an instance, the object that creates it."""
        cached = find_overlay(context.scene, context.view_layer)
        if cached is None or max(self.a, self.b) >= len(cached.subjects.owners):
            self.report({"ERROR"}, "The list is out of date: click the pair again")
            return {"CANCELLED"}
        uids = cached.subjects.owners[[self.a, self.b]].tolist()
        if not select_only(context, [object_by_uid(uid) for uid in uids]):
            self.report({"ERROR"}, "These objects cannot be selected: they are hidden, or not in Object Mode")
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES = (COLLISION_BOUNDS_OT_select_touching,)
