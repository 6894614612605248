"""Mixin of operators: what a button needs before it can be clicked, how it refuses, options of its scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import bpy
from bpy.types import Context, Operator

from ...core import CollisionBoundsError
from ...formats.wording import message_line
from ...scene.blender.instances import MESH_LIKE
from ...scene.motion.over_time import may_sweep
from ...scene.settings import Selection
from .. import job_state
from ..contact_rows import active_row
from ..fit_measurements import active_with_geometry
from ..properties.colliders import collider_property
from ..properties.contact_list import ContactRow
from ..properties.options import option_property, with_properties
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, fit_settings, results_of, settings_of
from ..translation import error_text, n_, tip_

Need = Callable[[Context], str]
"""Returns why an operator cannot run now, not translated; an empty text if it can."""

_Class = TypeVar("_Class", bound="type[Command]")


class Named(Operator if TYPE_CHECKING else object):
    """Mixin of operators whose identifier follows from the name of their class."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.bl_idname = cls.__name__.replace("COLLISION_BOUNDS_OT_", "collision_bounds.")


class Command(Named):
    """Mixin of operators that a script and a button run in the same way.

    needs : A greyed out button shows the first reason.
    shared : Names of the options that `shares` has added, by the group of settings.
    selection : Objects of an operator with a scope, see `take_options`.
    """

    bl_options: ClassVar[Any] = {"REGISTER", "UNDO"}
    needs: ClassVar[tuple[Need, ...]] = ()
    shared: ClassVar[dict[str, tuple[str, ...]]] = {}
    selection = Selection()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the scene has everything that is needed; set the operator's message if not."""
        reason = next(filter(None, (need(context) for need in cls.needs)), "") if context.scene else None
        if reason:
            cls.poll_message_set(tip_(reason))
        return reason == ""

    def execute(self, context: Context) -> set[str]:
        """Run; errors are reported in the words of the user."""
        try:
            return self.run(context) or {"FINISHED"}
        except CollisionBoundsError as error:
            return self.refuse(error_text(error))

    def run(self, context: Context) -> set[str] | None:
        """Do the work. Returns None if it is finished."""
        raise NotImplementedError

    def refuse(self, reason: str) -> set[str]:
        """Report why nothing was done; the text is translated already."""
        self.report({"ERROR"}, message_line(reason))
        return {"CANCELLED"}

    def take_options(self, context: Context) -> SceneSettings:
        """Copy options that were passed to the operator to its scene, and the other ones from there.

        Without a selection, the objects are all visible ones. A scope that was passed counts as it is.
        """
        settings = settings_of(context)
        if not settings.is_property_set("padding") and preferences().padding:
            settings.padding = preferences().padding
        for group, names in self.shared.items():
            source: Any = getattr(settings, group) if group else settings
            for name in names:
                if self.properties.is_property_set(name):
                    setattr(source, name, getattr(self, name))
                elif name != "scope" or settings.scope != "SELECTED" or context.view_layer.objects.selected:
                    # An unset scope stays so without objects: Adjust Last Operation decides again.
                    setattr(self, name, getattr(source, name))
        if "scope" in self.shared.get("", ()):
            is_set = self.properties.is_property_set("scope")
            self.selection = Selection(selected_only=is_set and settings.scope == "SELECTED")
        return settings


def shares(*names: str, group: str = "") -> Callable[[_Class], _Class]:
    """Return a decorator that gives a command options which are shared with settings of the scene.

    group : Property with the group of these settings; empty for the settings of the scene themselves.
    """
    define = collider_property if group == "colliders" else option_property
    added = {name: define(name, options={"SKIP_SAVE"}) for name in names}

    def add(cls: _Class) -> _Class:
        cls.shared = {**cls.shared, group: names}
        return with_properties(**added)(cls)

    return add


def needs_idle(_context: Context) -> str:
    """Need that no job runs."""
    job = job_state.running()
    return "" if job is None else job.busy


def needs_object_mode(context: Context) -> str:
    """Need that no job runs, and Blender is in Object Mode: other modes have undo steps of their own."""
    return needs_idle(context) or ("" if context.mode == "OBJECT" else n_("Go to Object Mode first"))


def needs_edit_mode(context: Context) -> str:
    """Need that no job runs, and Blender is in Edit Mode of meshes."""
    text = n_("Go to Edit Mode of a mesh, and select vertices, edges or faces")
    return needs_idle(context) or ("" if context.mode == "EDIT_MESH" else text)


def needs_row(context: Context) -> str:
    """Need that a row of the contact list is active."""
    return n_("Click a row first") if active_row(settings_of(context)) is None else ""


def needs_rows(context: Context) -> str:
    """Need that the contact list has rows."""
    text = n_("There are no contacts: find contacts or load a report first")
    return "" if settings_of(context).rows else text


def needs_contacts(context: Context) -> str:
    """Need that the session has contacts of the scene."""
    text = n_("There are no contacts: find contacts or load a report first")
    return text if results_of(settings_of(context)).contacts is None else ""


def needs_geometry(context: Context) -> str:
    """Need that the active object has geometry."""
    text = n_("The active object has no geometry: click a mesh")
    return text if active_with_geometry(context) is None else ""


def needs_editable(context: Context) -> str:
    """Need that the active object has geometry, and is stored in this file."""
    active: Any = active_with_geometry(context)
    text = n_("Linked from another file: make a library override first")
    return needs_geometry(context) or ("" if is_editable(active) else text)


def row_of(context: Context) -> tuple[SceneSettings, ContactRow]:
    """Return the settings of the scene, and the active row, for an operator that needs one."""
    settings = settings_of(context)
    row = active_row(settings)
    assert row is not None, "a row is needed"
    return settings, row


def is_editable(item: bpy.types.Object) -> bool:
    """Return whether an object is stored in this file."""
    return item.library is None


def selected_with_geometry(context: Context) -> list[bpy.types.Object]:
    """Return the selected objects with geometry, the active one first even if it is not selected."""
    active = active_with_geometry(context)
    rest = (item for item in context.selected_objects if item != active and item.type in MESH_LIKE)
    return [*([active] if active else []), *rest]


def reads_all_frames(context: Context) -> bool:
    """Return whether there may be bones that bounds and colliders enclose at all frames."""
    return may_sweep(fit_settings(settings_of(context)))
