"""The buttons. Thin: read options, call a job, keep its result, report."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator
from bpy_extras.io_utils import ExportHelper

from ..core import CollisionBoundsError, ContactReport, Progress
from ..formats import DEFAULT_DECIMALS, LEAST_DECIMALS, MOST_DECIMALS, dumps, write_text
from ..scene import session
from ..scene.jobs import Result, compute_bounds, find_contacts
from ..scene.subjects import HIDDEN
from . import overlay
from .options import (
    CLEARANCE,
    CONFIRM,
    CONTACT_OPTIONS,
    GROUP_A,
    GROUP_B,
    IGNORE_COLLECTION,
    IGNORE_PARENTS,
    IGNORED,
    METHOD,
    MOTION,
    OBSTACLES,
    ONE_SIDED,
    PADDING,
    SCOPE,
    SHAPE,
    STATIC_PAIRS,
)
from .properties import SceneSettings, bounds_settings, contact_settings, settings_of

# A scan works this long, in seconds, before Blender may look at the keyboard again.
_SLICE = 0.04


def _settle(operator: Operator, settings: SceneSettings, names: tuple[str, ...]) -> None:
    """Options that were given go to the scene; those that were not come from there."""
    for name in names:
        if operator.properties.is_property_set(name):
            setattr(settings, name, getattr(operator, name))
        else:
            setattr(operator, name, getattr(settings, name))


def _nothing_to_do(result: Result, settings: SceneSettings) -> str | None:
    """Why a result is empty, in words that say what to do; None when it is not."""
    if result.objects:
        return None
    if result.skipped:
        entry = result.skipped[0]
        return f"{entry.name}: {entry.reason}"
    if settings.scope == "SELECTED":
        return "Nothing with a surface is selected: select a mesh, or set Objects to All Visible"
    return "The scene shows nothing with a surface"


def _left_out(result: Result) -> str:
    """What got no bounds although it is on show; that hidden things get none is no news to who hid them."""
    missing = [entry for entry in result.skipped if entry.reason != HIDDEN]
    return f", {len(missing)} left out ({missing[0].name}: {missing[0].reason})" if missing else ""


class ComputeBounds(Operator):
    """Fit a bounding sphere and box to each object and show them"""

    bl_idname = "collision_bounds.compute"
    bl_label = "Compute Bounds"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    method: EnumProperty(**METHOD, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene."""
        return context.scene is not None

    def execute(self, context: Context) -> set[str]:
        """Compute and keep the result."""
        settings = settings_of(context)
        _settle(self, settings, ("scope", "method", "padding"))
        try:
            result = compute_bounds(context.scene, bounds_settings(settings))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if problem := _nothing_to_do(result, settings):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        # New bounds replace contacts of other objects or other settings: two truths would be one too many.
        settings.rows.clear()
        settings.result_id = session.put(session.Results(bounds=result))
        overlay.refresh(context)
        self.report({"INFO"}, f"Bounds of {len(result.objects)} objects{_left_out(result)}")
        return {"FINISHED"}


class FindContacts(Operator):
    """Find when objects first touch over the animation, between frames too"""

    bl_idname = "collision_bounds.find_contacts"
    bl_label = "Find Contacts"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

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

    _job: Generator[Progress, None, Result] | None = None
    _timer: bpy.types.Timer | None = None

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene."""
        return context.scene is not None

    def execute(self, context: Context) -> set[str]:
        """Scan without stopping, for scripts and for changed options."""
        job = self._started(context)
        try:
            with overlay.paused():
                while True:
                    next(job)
        except StopIteration as stop:
            return self._finished(context, stop.value)
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    def invoke(self, context: Context, _event: Event) -> set[str]:
        """Scan in slices, so that the window stays alive and Esc works."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        self._job = self._started(context)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Work for one slice a timer tick; Esc stops."""
        if event.type == "ESC":
            self.cancel(context)
            self.report({"WARNING"}, "Stopped: no contacts kept, the playhead is back where it was")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        assert self._job is not None, "the timer only runs while there is a job"
        until = time.monotonic() + _SLICE
        try:
            with overlay.paused():
                while True:
                    progress = next(self._job)
                    if time.monotonic() > until:
                        break
        except StopIteration as stop:
            self._end_slices(context)
            return self._finished(context, stop.value)
        except CollisionBoundsError as error:
            self._end_slices(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except Exception:
            self._end_slices(context)
            raise
        done = progress.done / progress.total
        context.window_manager.progress_update(100 * done)
        context.workspace.status_text_set(
            f"Finding contacts: {done:.0%}, frame {progress.time:g}. Esc stops."
        )
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Stop in the middle; the job itself brings the playhead back."""
        if self._job is not None:
            with overlay.paused():
                self._job.close()
        self._end_slices(context)
        overlay.refresh(context)

    def _started(self, context: Context) -> Generator[Progress, None, Result]:
        settings = settings_of(context)
        _settle(self, settings, CONTACT_OPTIONS)
        return find_contacts(context.scene, contact_settings(settings))

    def _end_slices(self, context: Context) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.window_manager.progress_end()
            context.workspace.status_text_set(None)
        self._job = self._timer = None

    def _finished(self, context: Context, result: Result) -> set[str]:
        settings = settings_of(context)
        if problem := _nothing_to_do(result, settings):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        assert result.report is not None, "this job always reports"
        _fill_rows(settings, result)
        kept = replace(session.get(settings.result_id), bounds=result, contacts=result, stale=False)
        settings.result_id = session.put(kept)
        overlay.refresh(context)
        what = f"{_counted(result.report)} among {len(result.objects)} objects"
        self.report({"INFO"}, what + _stayed_linear(result) + _left_out(result))
        return {"FINISHED"}


def _counted(report: ContactReport) -> str:
    """How many contacts, and how many of them are special."""
    if not report.contacts:
        return "No contacts"
    tunnelling = sum(contact.first.tunnelling for contact in report.contacts)
    at_start = sum(contact.first.at_start for contact in report.contacts)
    between = f", {tunnelling} between frames only" if tunnelling else ""
    from_start = f", {at_start} from the start" if at_start else ""
    return f"{len(report.contacts)} contacts{between}{from_start}"


def _stayed_linear(result: Result) -> str:
    """What could not be looked at between frames."""
    names = result.linear_only
    return f", {len(names)} linear for the sake of simulations ({names[0]})" if names else ""


def _fill_rows(settings: SceneSettings, result: Result) -> None:
    """Contacts by time, those from the start after them, then near misses by gap.

    No row is active, so that the playhead stays.
    """
    assert result.report is not None, "rows are made from a report"
    settings.rows.clear()
    settings.active_row = -1
    names = [subject.name for subject in result.subjects]
    ordered = sorted(enumerate(result.report.contacts), key=lambda entry: entry[1].first.at_start)
    for index, contact in ordered:
        row = settings.rows.add()
        row.a, row.b = names[contact.a], names[contact.b]
        row.frame, row.value = contact.first.frame, contact.depth
        row.tunnelling, row.at_start = contact.first.tunnelling, contact.first.at_start
        answer = result.confirmed[index] if result.confirmed else None
        if answer is not None:
            row.meshes = "NEVER" if answer.first is None else "TOUCH"
            row.mesh_frame = answer.first.time if answer.first else 0.0
        row.uncertainty, row.linear = contact.first.uncertainty, contact.first.motion == "linear"
    for near in result.report.clearances:
        row = settings.rows.add()
        row.a, row.b, row.is_near_miss = names[near.a], names[near.b], True
        row.frame, row.value = near.frame, near.gap


class ClearResults(Operator):
    """Remove the bounds and contacts that are shown; objects are not touched"""

    bl_idname = "collision_bounds.clear"
    bl_label = "Clear Results"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs results."""
        if _has_results(context):
            return True
        cls.poll_message_set("There are no results to clear")
        return False

    def execute(self, context: Context) -> set[str]:
        """Forget them."""
        settings = settings_of(context)
        settings.rows.clear()
        settings.result_id = ""
        overlay.refresh(context)
        return {"FINISHED"}


def _has_results(context: Context) -> bool:
    return context.scene is not None and session.get(settings_of(context).result_id).bounds is not None


class ExportJson(Operator, ExportHelper):
    """Write the bounds and contacts that are shown as JSON"""

    bl_idname = "collision_bounds.export_json"
    bl_label = "Export JSON"
    bl_options: ClassVar = {"REGISTER"}

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str  # ExportHelper declares it as a property
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    preset: EnumProperty(
        name="Axes",
        description="Axes and unit of the file",
        items=(
            ("blender", "Blender", "Z up, Blender's own units"),
            ("gltf", "glTF", "Y up, metres: glTF, three.js and Godot"),
        ),
    )
    decimals: IntProperty(
        name="Decimals",
        description="Decimals of lengths; shapes are rounded outward",
        default=DEFAULT_DECIMALS,
        min=LEAST_DECIMALS,
        max=MOST_DECIMALS,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs results."""
        if _has_results(context):
            return True
        cls.poll_message_set("Compute bounds or find contacts first")
        return False

    def execute(self, context: Context) -> set[str]:
        """Write what the panel shows."""
        results = session.get(settings_of(context).result_id)
        result = results.contacts or results.bounds
        assert result is not None, "poll makes sure of results"
        path = Path(bpy.path.abspath(self.filepath))
        try:
            write_text(path, dumps(result.document(self.preset, self.decimals)))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if results.stale:
            self.report({"WARNING"}, f"Written: {path.name}, as computed before the scene was changed")
        else:
            self.report({"INFO"}, f"Written: {path}")
        return {"FINISHED"}


def draw_export_entry(self: bpy.types.Menu, _context: Context) -> None:
    """File > Export."""
    self.layout.operator(ExportJson.bl_idname, text="Collision Bounds (.json)")


def attach_menu() -> None:
    """Add the entry to File > Export."""
    bpy.types.TOPBAR_MT_file_export.append(draw_export_entry)  # type: ignore[arg-type]


def detach_menu() -> None:
    """Take the entry away again."""
    bpy.types.TOPBAR_MT_file_export.remove(draw_export_entry)  # type: ignore[arg-type]


CLASSES = (ComputeBounds, FindContacts, ClearResults, ExportJson)
