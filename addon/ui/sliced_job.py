"""A job that an operator works at in slices, so that the window stays alive; one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.types import Context, Event, Header, Operator

from ..core import CollisionBoundsError, Progress
from ..core.contacts import never
from ..scene.result import Result
from . import overlay, running_scan

_SLICE, _LONGEST_SLICE = 0.04, 0.15
"""Seconds that a scan works before Blender may look at the keyboard again."""

_SCAN_TO_DRAWING = 10
"""How many times as long as the drawing in between, where that is within the longest slice."""


class SlicedJob(Operator if TYPE_CHECKING else object):
    """The part of an operator that runs a job, in slices or at once.

    keeps_part : whether a job that is stopped has a result; else it is dropped
    doing : what it does, in a sentence that says why something else cannot be done
    """

    keeps_part = True
    doing: ClassVar[str]

    def draw(self, _context: Context) -> None:
        """For F9, no options: changed there, the job would run again in one piece and hold up the window."""
        column = self.layout.column(align=True)
        for number, text in enumerate(("Set its options in the sidebar,", "and run it again")):
            column.label(text=text, icon="BLANK1" if number else "INFO")

    _job: Generator[Progress, None, Result] | None = None
    _timer: bpy.types.Timer | None = None
    _slice_ended = 0.0

    def _started(
        self, context: Context, stops: Callable[[], bool] = never
    ) -> Generator[Progress, None, Result]:
        """The job, with the settings of the operator; `stops` tells whether it was asked to stop."""
        raise NotImplementedError

    def _finished(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        """Show what it found. Something was edited meanwhile if `is_stale`."""
        raise NotImplementedError

    def execute(self, context: Context) -> set[str]:
        """Work without stopping, for scripts; in slices again for Repeat Last."""
        if self.options.is_repeat_last and not bpy.app.background and context.window is not None:
            return self._begun_anew()
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
        """Work in slices, so that the window stays alive and Esc works."""
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        scan = running_scan.begin()
        scan.doing, scan.keeps_part = self.doing, self.keeps_part
        self._job = self._started(context, lambda: scan.is_stopping)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        scan.drop = partial(_drop, self._job, self._timer)
        return {"RUNNING_MODAL"}

    def _begun_anew(self) -> set[str]:
        """Blender repeats by executing, which cannot be the beginning of slices: another operator has them.

        Nor can this be done for Repeat History, which first undoes, and redoes if nothing has come of it.
        """
        given = {
            name: value for name, value in self.as_keywords().items() if self.properties.is_property_set(name)
        }
        group, name = type(self).bl_idname.split(".")
        getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", **given)
        return {"CANCELLED"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Work for one slice a timer tick; Esc stops, and keeps what was found."""
        scan = running_scan.running()
        if self._job is None or scan is None:
            # Cancelled already, as by another file.
            return {"CANCELLED"}
        # Held, it repeats, which is not asking again.
        if event.type == "ESC" and event.value == "PRESS" and not event.is_repeat:
            if scan.may_be_dropped:
                self.cancel(context)
                self.report({"WARNING"}, "Dropped: nothing of this scan was kept")
                return {"CANCELLED"}
            scan.stop()
        if scan.is_stopping and not self.keeps_part:
            self.cancel(context)
            self.report({"WARNING"}, "Stopped: nothing was kept")
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"} if _passes(context, event) else {"RUNNING_MODAL"}
        begun = time.monotonic()
        # Blender draws once after each slice, which must not take more than a small part of the time.
        drawing = begun - self._slice_ended if self._slice_ended else 0.0
        until = begun + min(max(_SLICE, drawing * _SCAN_TO_DRAWING), _LONGEST_SLICE)
        try:
            with overlay.paused():
                while True:
                    scan.take(next(self._job))
                    if time.monotonic() > until:
                        break
        except StopIteration as stop:
            self._end_slices(context)
            return self._finished(context, stop.value, scan.was_disturbed)
        except CollisionBoundsError as error:
            self._end_slices(context)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except Exception:
            self._end_slices(context)
            raise
        self._slice_ended = time.monotonic()
        context.window_manager.progress_update(100 * scan.done)
        context.workspace.status_text_set(_draw_status)
        _redraw_sidebars(context)
        return {"PASS_THROUGH"}

    def cancel(self, context: Context) -> None:
        """Drop it in the middle, as when the window closes; the job itself brings the playhead back.

        And so the overlay, which has stayed as it was, is right again. Looking at the scene anew while a
        window closes makes Blender 4.3 crash.
        """
        if self._job is not None:
            with overlay.paused():
                self._job.close()
        self._end_slices(context)

    def _end_slices(self, context: Context) -> None:
        running_scan.end()
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            context.window_manager.progress_end()
            # None of a window that closes.
            if context.workspace is not None:
                context.workspace.status_text_set(None)
        self._job = self._timer = None
        _redraw_sidebars(context)


def _drop(job: Generator[Progress, None, Result], timer: bpy.types.Timer) -> None:
    """End a scan whose operator is no more."""
    with overlay.paused():
        job.close()
    context = bpy.context
    context.window_manager.event_timer_remove(timer)
    context.window_manager.progress_end()
    for workspace in bpy.data.workspaces:
        workspace.status_text_set(None)


_LOOKING_AROUND = frozenset(
    {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN"}
    | {"TRACKPADZOOM", "MOUSEROTATE", "NDOF_MOTION", "WINDOW_DEACTIVATE"}
)
"""What turns the view, and changes nothing in the scene when no key is held."""


def _passes(context: Context, event: Event) -> bool:
    """Whether Blender gets an event: what looks around, and clicks in the sidebar, for Stop."""
    if event.type.startswith("TIMER") or event.type == "WINDOW_DEACTIVATE":
        return True
    if event.type in _LOOKING_AROUND:
        return not (event.alt or event.ctrl)
    return event.type == "LEFTMOUSE" and any(
        region.type == "UI"
        and 0 <= event.mouse_x - region.x < region.width
        and 0 <= event.mouse_y - region.y < region.height
        for area in context.screen.areas
        if area.type == "VIEW_3D"
        for region in area.regions
    )


def _draw_status(header: Header, _context: Context) -> None:
    """The status bar while a scan runs."""
    scan = running_scan.running()
    if scan is None:
        return
    row = header.layout.row()
    row.label(text="Drop" if scan.may_be_dropped else "Stop", icon="EVENT_ESC")
    bar = row.row()
    bar.ui_units_x = 14
    scan.draw(bar)


def _redraw_sidebars(context: Context) -> None:
    """Show how far it is in every window."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI":
                        region.tag_redraw()
