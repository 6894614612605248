"""More collections of a group of pairs, or of obstacles."""

from __future__ import annotations

from typing import Any, ClassVar

from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Operator

from ..properties.scene import settings_of
from . import need
from .command import Command


class _OfGroup(Command):
    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (need.idle,)

    option: StringProperty(
        name="Group", description="Option of the group, such as group_a", options={"SKIP_SAVE", "HIDDEN"}
    )

    def chosen(self: Any, context: Context) -> Any:
        """Return the collections of the group after the first one."""
        return getattr(settings_of(context).pickers, self.option).more


class COLLISION_BOUNDS_OT_add_collection(_OfGroup, Operator):
    """Choose one more collection for this group"""

    bl_label = "Add Collection"

    def run(self, context: Context) -> None:
        self.chosen(context).add()


class COLLISION_BOUNDS_OT_remove_collection(_OfGroup, Operator):
    """Remove this collection from the group"""

    bl_label = "Remove Collection"

    index: IntProperty(name="Index", description="Place of the collection", options={"SKIP_SAVE", "HIDDEN"})

    def run(self, context: Context) -> None:
        self.chosen(context).remove(self.index)
