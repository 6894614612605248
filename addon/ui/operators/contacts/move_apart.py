"""Move Apart: end the overlap of the active pair at the playhead."""

from __future__ import annotations

from typing import Any, ClassVar

import bpy
from bpy.props import EnumProperty
from bpy.types import Context, Operator
from mathutils import Matrix

from ....core.messages import message
from ....formats.wording import valid_text
from ....scene.errors import SceneError
from ....scene.jobs import result_store
from ....scene.live.touching import separating_translation
from ... import job_state
from ...contact_rows import active_row
from ...number_texts import length_text
from ...properties.scene import settings_of
from ...touching import overlay_now
from ...translation import error_text, rpt_, sentences
from .ignored_pairs import requires_row
from .pair_selection import pair_of_row

_ATTEMPTS = 3
"""A parent with a scale, or a location of large numbers, rounds a movement: it is then repeated."""


class COLLISION_BOUNDS_OT_move_apart(Operator):
    """Move one object by the shortest distance that ends the overlap of this pair's bounds at this frame"""

    bl_idname = "collision_bounds.move_apart"
    bl_label = "Move Apart"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    moved: EnumProperty(
        name="Move",
        description="Object to move",
        items=(
            ("ACTIVE", "Active Object", "The active object if it is one of the pair, otherwise the second"),
            ("FIRST", "First Object", "The first object of the row"),
            ("SECOND", "Second Object", "The second object of the row"),
        ),
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a row is active and no job runs."""
        return job_state.poll_idle(cls) and requires_row(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Move the object, and say how far."""
        settings = settings_of(context)
        row = active_row(settings)
        result = result_store.get(settings.result_id).contacts
        if row is None or result is None or result.report is None:
            return self._refused(rpt_("Find contacts again: this session has lost their result"))
        pair = (result.report.clearances if row.is_near_miss else result.report.contacts)[row.index]
        objects = [item for _, item in pair_of_row(context.view_layer, settings, row)]
        second = self.moved == "SECOND" or (
            self.moved == "ACTIVE" and context.view_layer.objects.active != objects[0]
        )
        subjects = (pair.b, pair.a) if second else (pair.a, pair.b)
        item = objects[int(second)]
        name = valid_text(result.subjects[subjects[0]].name)
        if item is None or result.subjects[subjects[0]].key[2]:
            return self._refused(rpt_("{name} is not an object of this scene: move the other one", name=name))
        if item.library is not None:
            return self._refused(
                rpt_("{name} is linked: make a library override, or move the other one", name=name)
            )
        try:
            distance = _move(context, item, subjects)
        except SceneError as error:
            return self._refused(error_text(error))
        if distance == 0:
            self.report({"INFO"}, "They do not overlap at this frame")
            return {"CANCELLED"}
        text = rpt_(
            "{name} moved by {distance}",
            name=name,
            distance=length_text(distance, context.scene.unit_settings),
        )
        if _is_animated(item):
            warning = rpt_("It is animated: insert a key, or the next frame moves it back")
            self.report({"WARNING"}, sentences([text, warning]))
        else:
            self.report({"INFO"}, text)
        return {"FINISHED"}

    def _refused(self, reason: str) -> set[str]:
        self.report({"ERROR"}, reason)
        return {"CANCELLED"}


def _move(context: Context, item: bpy.types.Object, subjects: tuple[int, int]) -> float:
    """Move an object, the first of two subjects, and return how far; 0 without an overlap.

    Raises SceneError if the object does not move, as with a constraint.
    """
    shape = settings_of(context).shape
    before, distance = item.matrix_world.copy(), 0.0
    for _ in range(_ATTEMPTS):
        translation = separating_translation(overlay_now(context).shapes[shape], *subjects)
        if not translation.any():
            if distance and context.scene.tool_settings.use_keyframe_insert_auto:
                item.keyframe_insert("location", frame=context.scene.frame_current_final)
            return distance
        item.matrix_world = Matrix.Translation(translation.tolist()) @ item.matrix_world
        context.view_layer.update()
        distance = (item.matrix_world.translation - before.translation).length
    item.matrix_world = before
    context.view_layer.update()
    name = valid_text(item.name)
    raise SceneError(
        message("{name} cannot be moved apart: a constraint, a driver or its parent holds it", name=name)
    )


def _is_animated(item: bpy.types.Object) -> bool:
    """Return whether keys or drivers may set the location of an object."""
    data: Any = item.animation_data
    if data is None:
        return False
    return data.action is not None or bool(data.nla_tracks) or bool(data.drivers)


CLASSES = (COLLISION_BOUNDS_OT_move_apart,)
