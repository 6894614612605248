"""Operators that ignore contacts of a pair of objects for good, and restore them. Kept in the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Operator

from ....formats.wording import valid_text
from ....scene.blender.names import full_name_of
from ....scene.blender.object_settings import SETTINGS_PROPERTY, ignored_pairs
from ....scene.jobs import result_store
from ... import job_state
from ...contact_rows import active_row, fill_rows
from ...overlay import handlers as overlay
from ...properties.scene import COLLISION_BOUNDS_PG_scene, settings_of
from ...translation import n_, rpt_, rpt_count, tip_
from .pair_selection import pair_of_row, playhead_stays


def requires_row(cls: type[Operator], context: Context) -> bool:
    """Return whether a row is active, and set the message of the operator if not."""
    if context.scene is not None and active_row(settings_of(context)) is not None:
        return True
    cls.poll_message_set(tip_("Click a row first"))
    return False


class COLLISION_BOUNDS_OT_ignore_pair(Operator):
    """Ignore contacts of this pair from now on, in all scans of this file"""

    bl_idname = "collision_bounds.ignore_pair"
    bl_label = "Ignore This Pair"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a row is active and no scan runs."""
        return job_state.poll_idle(cls) and requires_row(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Add the pair to the settings of one of its objects, and drop it from the results."""
        settings = settings_of(context)
        row, before = active_row(settings), result_store.get(settings.result_id)
        assert row is not None, "poll requires a row"
        if before.contacts is None:
            self.report({"ERROR"}, "Find contacts again: this session has lost their result")
            return {"CANCELLED"}
        (name_a, a), (name_b, b) = pair_of_row(context.view_layer, settings, row)
        if a is None or b is None:
            missing = valid_text(name_a if a is None else name_b)
            text = n_("{name} is not in the view layer: only pairs of objects can be ignored")
            self.report({"ERROR"}, rpt_(text, name=missing))
            return {"CANCELLED"}
        names = {"a": valid_text(name_a), "b": valid_text(name_b)}
        owner, partner = (b, a) if a.library is not None else (a, b)
        if owner.library is not None:
            text = n_("{a} and {b} are linked: make a library override of one of them")
            self.report({"ERROR"}, rpt_(text, **names))
            return {"CANCELLED"}
        of_owner: Any = getattr(owner, SETTINGS_PROPERTY)
        of_owner.ignored.add().name = full_name_of(partner)
        contacts = before.contacts.without_pair(full_name_of(a), full_name_of(b))
        show_changed_results(context, settings, replace(before, contacts=contacts))
        self.report({"INFO"}, rpt_("Contacts of {a} and {b} are ignored in this file", **names))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_restore_pairs(Operator):
    """Find contacts of this pair again, or of all pairs that are ignored in this file"""

    bl_idname = "collision_bounds.restore_pairs"
    bl_label = "Restore Ignored Pairs"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    a: StringProperty(
        name="A", description="First object of the pair; empty for all pairs", options={"SKIP_SAVE"}
    )
    b: StringProperty(name="B", description="Second object", options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, _context: Context) -> bool:
        """Return whether there are ignored pairs, and no scan runs."""
        if not job_state.poll_idle(cls):
            return False
        if ignored_pairs():
            return True
        cls.poll_message_set(tip_("No pair is ignored in this file"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove the pairs from the settings of their objects; contacts lack them until the next scan."""
        count = 0
        for item in bpy.data.objects:
            ignored = getattr(item, SETTINGS_PROPERTY).ignored
            for index in reversed(range(len(ignored))):
                pair = {valid_text(full_name_of(item)), valid_text(ignored[index].name)}
                if item.library is None and (not self.a or pair == {self.a, self.b}):
                    ignored.remove(index)
                    count += 1
        settings = settings_of(context)
        before = result_store.get(settings.result_id)
        if count and before.contacts is not None:
            show_changed_results(context, settings, replace(before, lacks_restored_pairs=True))
        self.report({"INFO"}, rpt_count(count, "{count} pair restored", "{count} pairs restored"))
        return {"FINISHED"}


def show_changed_results(
    context: Context, settings: COLLISION_BOUNDS_PG_scene, results: result_store.Results, active: int = -1
) -> None:
    """Store and show results that replace those of the scene; the row `active` is active then, if not -1."""
    settings.result_id = result_store.put(results)
    assert results.contacts is not None, "only called with contacts"
    fill_rows(settings, results.contacts)
    with playhead_stays():
        settings.active_row = active
    with overlay.paused():
        # The settings of an object have changed, which is no edit of the scene.
        context.view_layer.update()
    overlay.refresh(context)


CLASSES = (COLLISION_BOUNDS_OT_ignore_pair, COLLISION_BOUNDS_OT_restore_pairs)
