"""Compare contacts with those of an earlier report, and accept those that are meant to be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Event, Operator
from bpy_extras.io_utils import ImportHelper

from ....core import CollisionBoundsError
from ....formats import compare_contacts, load_document
from ....formats.wording import message_line, valid_text
from ....scene.blender.names import full_name_of
from ....scene.blender.object_settings import SETTINGS_PROPERTY
from ....scene.jobs import result_store
from ....translations import CONTEXT
from ... import job_state
from ...contact_rows import active_row
from ...properties.scene import COLLISION_BOUNDS_PG_scene, settings_of
from ...translation import error_text, n_, rpt_, tip_
from ..messages import baseline_counts
from .ignored_pairs import requires_row, show_changed_results
from .pair_selection import pair_of_row


def compared(
    settings: COLLISION_BOUNDS_PG_scene, results: result_store.Results
) -> tuple[result_store.Results, str]:
    """Compare contacts with the baseline of a scene, if it has one.

    Returns the results with the comparison, and a sentence if they cannot be compared; otherwise no text.
    """
    if not settings.baseline or results.contacts is None:
        return replace(results, comparison=None), ""
    path = Path(bpy.path.abspath(settings.baseline))
    try:
        comparison = compare_contacts(results.contacts.document(), load_document(path))
    except CollisionBoundsError as error:
        problem = rpt_(
            "Not compared with {file}: {reason}",
            file=message_line(path.name),
            reason=message_line(error_text(error)),
        )
        return replace(results, comparison=None), problem
    return replace(results, comparison=comparison), ""


def _has_contacts(cls: type[Operator], context: Context) -> bool:
    """Return whether the scene has contacts and no job runs, and set the message if not."""
    if not job_state.poll_idle(cls) or context.scene is None:
        return False
    if result_store.get(settings_of(context).result_id).contacts is None:
        cls.poll_message_set(tip_("There are no contacts: find contacts or load a report first"))
        return False
    return True


class COLLISION_BOUNDS_OT_load_baseline(Operator, ImportHelper):
    """Compare contacts with an earlier report, now and after each scan: which are new, and which are gone"""

    bl_idname = "collision_bounds.load_baseline"
    bl_label = "Load Baseline"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str  # ImportHelper declares it as a property
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there are contacts to compare."""
        return _has_contacts(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Compare, and keep the path of the report in the scene."""
        settings, before = settings_of(context), settings_of(context).baseline
        settings.baseline = self.filepath
        results, problem = compared(settings, result_store.get(settings.result_id))
        if problem:
            settings.baseline = before
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        show_changed_results(context, settings, results)
        assert results.comparison is not None, "compared without a problem"
        self.report({"INFO"}, baseline_counts(results.comparison))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_clear_baseline(Operator):
    """Compare contacts with no earlier report"""

    bl_idname = "collision_bounds.clear_baseline"
    bl_label = "Clear Baseline"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is a baseline."""
        if context.scene is not None and settings_of(context).baseline:
            return job_state.poll_idle(cls)
        cls.poll_message_set(tip_("There is no baseline"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Forget the baseline."""
        settings = settings_of(context)
        settings.baseline = ""
        results = result_store.get(settings.result_id)
        if results.contacts is not None:
            show_changed_results(context, settings, replace(results, comparison=None))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_accept_contacts(Operator):
    """Accept contacts of this pair, with a comment: they stay in the list, and are never new"""

    bl_idname = "collision_bounds.accept_contacts"
    bl_label = "Accept Contacts"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    comment: StringProperty(
        name="Comment",
        description="Why contacts of this pair are accepted",
        translation_context=CONTEXT,
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether a contact is active."""
        return requires_row(cls, context) and _has_contacts(cls, context)

    def invoke(self, context: Context, _event: Event) -> set[str]:
        """Show a dialog for the comment."""
        row = active_row(settings_of(context))
        self.comment = row.comment if row is not None else ""
        outcome: Any = context.window_manager.invoke_props_dialog(self, width=400)
        return set(outcome)

    def draw(self, context: Context) -> None:
        """Draw the names of the pair, and the comment, ready to type."""
        layout: Any = self.layout
        row = active_row(settings_of(context))
        for name in (row.a, row.b) if row is not None else ():
            layout.label(text=name, translate=False, icon="OBJECT_DATA")
        layout.activate_init = True
        layout.prop(self, "comment")

    def execute(self, context: Context) -> set[str]:
        """Add the pair and the comment to the settings of one of its objects."""
        settings = settings_of(context)
        row = active_row(settings)
        assert row is not None, "poll requires a row"
        (name_a, a), (name_b, b) = pair_of_row(context.view_layer, settings, row)
        names = {"a": valid_text(name_a), "b": valid_text(name_b)}
        owner, partner = (b, a) if a is not None and a.library is not None else (a, b)
        if owner is None or partner is None or owner.library is not None:
            text = n_("{a} and {b}: only pairs with an object of this file can be accepted")
            self.report({"ERROR"}, rpt_(text, **names))
            return {"CANCELLED"}
        _remove_accepted(owner, partner)
        of_owner: Any = getattr(owner, SETTINGS_PROPERTY)
        entry = of_owner.accepted.add()
        entry.name, entry.comment = full_name_of(partner), self.comment
        _show_accepted(context, settings)
        self.report({"INFO"}, rpt_("Contacts of {a} and {b} are accepted in this file", **names))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_revoke_acceptance(Operator):
    """Accept contacts of this pair no longer"""

    bl_idname = "collision_bounds.revoke_acceptance"
    bl_label = "Revoke Acceptance"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the active row is an accepted contact."""
        if not (requires_row(cls, context) and _has_contacts(cls, context)):
            return False
        row = active_row(settings_of(context))
        if row is not None and row.accepted:
            return True
        cls.poll_message_set(tip_("Contacts of this pair are not accepted"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove the pair from the settings of its objects."""
        settings = settings_of(context)
        row = active_row(settings)
        assert row is not None, "poll requires a row"
        (_, a), (_, b) = pair_of_row(context.view_layer, settings, row)
        if a is not None and b is not None:
            _remove_accepted(a, b)
        _show_accepted(context, settings)
        return {"FINISHED"}


def _remove_accepted(a: bpy.types.Object, b: bpy.types.Object) -> None:
    """Remove a pair from the accepted ones of both of its objects, unless they are linked."""
    for owner, partner in ((a, b), (b, a)):
        accepted = getattr(owner, SETTINGS_PROPERTY).accepted
        for index in reversed(range(len(accepted))):
            if owner.library is None and accepted[index].name == full_name_of(partner):
                accepted.remove(index)


def _show_accepted(context: Context, settings: COLLISION_BOUNDS_PG_scene) -> None:
    """Show the results of the scene with what is accepted now, compared again. The active row stays."""
    results, active = result_store.get(settings.result_id), settings.active_row
    assert results.contacts is not None, "poll requires contacts"
    results = replace(results, contacts=results.contacts.with_accepted_pairs())
    show_changed_results(context, settings, compared(settings, results)[0], active)


CLASSES = (
    COLLISION_BOUNDS_OT_load_baseline,
    COLLISION_BOUNDS_OT_clear_baseline,
    COLLISION_BOUNDS_OT_accept_contacts,
    COLLISION_BOUNDS_OT_revoke_acceptance,
)
