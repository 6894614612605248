"""Find Contacts: the scan, and the rows that it fills."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import ClassVar

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Operator

from ..core import ContactReport, Progress
from ..core.contacts import never
from ..formats.wording import counted
from ..scene import session
from ..scene.jobs import ContactSettings, find_contacts
from ..scene.result import Result
from . import markers, overlay, running_scan
from .contact_rows import fill_rows
from .messages import left_out, nothing_to_do, stayed_linear, stopped_text
from .options import (
    CLEARANCE,
    CONFIRM,
    CONTACT_OPTIONS,
    GROUP_A,
    GROUP_B,
    IGNORE_COLLECTION,
    IGNORE_PARENTS,
    IGNORED,
    MOTION,
    OBSTACLES,
    ONE_SIDED,
    SCOPE,
    SHAPE,
    STATIC_PAIRS,
    settle,
)
from .properties import OnObjects, begun, contact_settings, settings_of
from .scene_settings import fit_settings
from .sliced_job import SlicedJob


class FindContacts(OnObjects, SlicedJob, Operator):
    """Find when objects first touch over the animation, between frames too"""

    bl_idname = "collision_bounds.find_contacts"
    bl_label = "Find Contacts"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    doing = "finding contacts"
    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    shape: EnumProperty(**SHAPE, options={"SKIP_SAVE"})
    obstacles: StringProperty(**OBSTACLES, options={"SKIP_SAVE"})
    one_sided: BoolProperty(**ONE_SIDED, options={"SKIP_SAVE"})
    motion: EnumProperty(**MOTION, options={"SKIP_SAVE"})
    clearance: FloatProperty(**CLEARANCE, options={"SKIP_SAVE"})
    confirm: BoolProperty(**CONFIRM, options={"SKIP_SAVE"})
    group_a: StringProperty(**GROUP_A, options={"SKIP_SAVE"})
    group_b: StringProperty(**GROUP_B, options={"SKIP_SAVE"})
    ignored: StringProperty(**IGNORED, options={"SKIP_SAVE"})
    ignore_parents: BoolProperty(**IGNORE_PARENTS, options={"SKIP_SAVE"})
    ignore_collection: BoolProperty(**IGNORE_COLLECTION, options={"SKIP_SAVE"})
    static_pairs: BoolProperty(**STATIC_PAIRS, options={"SKIP_SAVE"})

    _asked: ContactSettings | None = None

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene, and no other scan."""
        return running_scan.lets(cls) and context.scene is not None

    def _started(
        self, context: Context, stops: Callable[[], bool] = never
    ) -> Generator[Progress, None, Result]:
        settings = begun(context)
        settle(self, settings, CONTACT_OPTIONS)
        self._asked = contact_settings(settings)
        return find_contacts(context.scene, self._asked, stops)

    def _finished(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        settings = settings_of(context)
        if problem := nothing_to_do(len(result.objects), result.skipped, settings.scope):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        assert result.report is not None, "this job always reports"
        fill_rows(settings, result)
        found = session.Results(result, result, is_stale, asked=self._asked)
        found = found.keeping_envelopes(session.get(settings.result_id), fit_settings(settings))
        settings.result_id = session.put(found)
        markers.renew(context.scene)
        overlay.refresh(context)
        what = f"{_contacts(result.report)} among {counted(len(result.objects), 'object')}"
        if result.partial is not None:
            self.report({"WARNING"}, f"{stopped_text(result)}. {what} so far{left_out(result.skipped)}")
        else:
            self.report({"INFO"}, what + stayed_linear(result) + left_out(result.skipped))
        return {"FINISHED"}


class StopScan(Operator):
    """Stop what is running; contacts found so far are kept, envelopes are not. Esc does the same"""

    bl_idname = "collision_bounds.stop_scan"
    bl_label = "Stop"
    bl_options: ClassVar = {"INTERNAL"}

    @classmethod
    def poll(cls, _context: Context) -> bool:
        """Needs a scan that was not stopped yet."""
        scan = running_scan.running()
        if scan is not None and not scan.is_stopping:
            return True
        cls.poll_message_set("Nothing is running" if scan is None else "It is stopping")
        return False

    def execute(self, _context: Context) -> set[str]:
        """Ask it to stop."""
        scan = running_scan.running()
        assert scan is not None, "poll makes sure of a scan"
        scan.stop()
        return {"FINISHED"}


def _contacts(report: ContactReport) -> str:
    """How many contacts, and how many of them are special."""
    if not report.contacts:
        return "No contacts"
    tunnelling = sum(contact.first.tunnelling for contact in report.contacts)
    at_start = sum(contact.first.at_start for contact in report.contacts)
    between = f", {tunnelling} between frames only" if tunnelling else ""
    from_start = f", {at_start} from the start" if at_start else ""
    return counted(len(report.contacts), "contact") + between + from_start


CLASSES = (FindContacts, StopScan)
