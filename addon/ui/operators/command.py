"""Mixins of operators: commands, which report and refuse, options shared with a scene, and jobs in slices."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Generator
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar

import bpy
from bpy.types import Context, Event, Header, Operator, UILayout

from ...core import CollisionBoundsError, Progress
from ...core.progress import pausing, run_to_end
from ...formats.wording import message_line
from ...scene.blender.frames import scenes_away
from ...scene.blender.instances import MESH_LIKE
from ...scene.blender.object_settings import may_sweep
from ...scene.blender.private_scene import end_step, keeping_open
from ...scene.errors import SceneError
from ...scene.settings import Selection
from .. import job_state
from ..kept_checks import active_with_geometry
from ..overlay import handlers as overlay
from ..overlay.state import redraw
from ..properties.contact_list import ContactRow
from ..properties.options import HasOptions, draw_options, option_property, with_properties
from ..properties.preferences import preferences
from ..properties.scene import SceneSettings, collider_property, fit_settings, settings_of
from ..row_order import active_row
from ..texts import draw_note, error_text, iface_, rpt_, tip_
from . import need

Outcome: TypeAlias = set[str] | str | None
"""What to report of work that is finished, or how it ended if it is not."""

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
    needs: ClassVar[tuple[need.Need, ...]] = ()
    shared: ClassVar[dict[str, tuple[str, ...]]] = {}
    selection = Selection()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the scene has everything that is needed; set the operator's message if not."""
        reason = next(filter(None, (each(context) for each in cls.needs)), "") if context.scene else None
        if reason:
            cls.poll_message_set(tip_(reason))
        return reason == ""

    def execute(self, context: Context) -> set[str]:
        """Run; errors are reported in the words of the user."""
        return self.attempt(lambda: self.run(context))

    def run(self, context: Context) -> Outcome:
        """Do the work. Raises CollisionBoundsError, such as a `refusal`, if nothing was done."""
        raise NotImplementedError

    def attempt(self, work: Callable[[], Outcome]) -> set[str]:
        """Do a work, and report its text or its error."""
        try:
            outcome = work()
        except CollisionBoundsError as error:
            return self.refuse(error)
        if isinstance(outcome, str):
            self.report({"INFO"}, outcome)
        return outcome if isinstance(outcome, set) else {"FINISHED"}

    def refuse(self, error: CollisionBoundsError) -> set[str]:
        """Report an error because of which nothing was done."""
        return self.cancelled(message_line(error_text(error)), "ERROR")

    def cancelled(self, text: str, level: str = "INFO") -> set[str]:
        """Report why nothing was done; the text is translated already."""
        self.report({level}, text)
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


class OfItem(Command):
    """Command whose tooltip is that of the item of an option, such as a direction, that a button has set."""

    option: ClassVar[str] = "direction"

    @classmethod
    def description(cls, _context: Context, properties: OfItem) -> str:
        return UILayout.enum_item_description(properties, cls.option, getattr(properties, cls.option))


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


def refusal(text: str, /, **values: Any) -> SceneError:
    """Return the error to raise where an operator does nothing: the text is translated here."""
    return SceneError(rpt_(text, **values))


def row_of(context: Context) -> tuple[SceneSettings, ContactRow]:
    """Return the settings of the scene, and the active row, for an operator that needs one."""
    settings = settings_of(context)
    return settings, active_row(settings)


def selected_with_geometry(context: Context) -> list[bpy.types.Object]:
    """Return the selected objects with geometry, the active one first even if it is not selected."""
    active = active_with_geometry(context)
    rest = (item for item in context.selected_objects if item != active and item.type in MESH_LIKE)
    return [*([active] if active else []), *rest]


def reads_all_frames(context: Context) -> bool:
    """Return whether there may be bones that bounds and colliders enclose at all frames."""
    return may_sweep(fit_settings(settings_of(context)))


_SLICE = 0.04
"""Seconds of a slice; Blender handles events and draws between slices."""
_LONGEST_AWAY = 0.1
"""Most seconds of a slice in which the scene has left its frame, to which it returns at the end."""
_STEP_DECAY = 0.9
"""Factor of the time that a step is expected to take at most, for each shorter step."""
_SCAN_TO_DRAWING = 10
"""Least ratio of the time between two updates of the progress to the time that Blender draws one."""
_SHOWN_EVERY, _SHOWN_AT_LEAST_EVERY = 0.2, 1.0
"""Least and most seconds between two updates of the progress, which may take longer to draw than a slice."""

Job: TypeAlias = Generator[Progress, None, Any]


class ModalJob(Command):
    """Mixin of operators that run a job: in slices from a window, in one piece from a script.

    has_partial_result : Whether a stopped job keeps its results so far. None: it has none, and no panel
        shows its progress in place of its main button.
    busy : Message of operators that have to wait, not translated.
    """

    has_partial_result: ClassVar[bool | None] = True
    busy: ClassVar[str]
    needs: ClassVar[tuple[need.Need, ...]] = (need.idle,)

    def draw(self, _context: Context) -> None:
        """Draw no options for F9: changing one would run the job again in one piece and block the window."""
        text = iface_("Set its options in the sidebar,\nand run it again")
        draw_note(self.layout.column(align=True), text)

    _job: Job | None = None
    _timer: bpy.types.Timer | None = None
    _slice_ended = _shown_at = 0.0
    _drawing = _step = 0.0
    _was_shown = _was_clicked = False

    def _create_job(self, context: Context) -> Job:
        """Return the job for the operator's settings."""
        raise NotImplementedError

    def _apply_result(self, context: Context, result: Any, is_stale: bool = False) -> Outcome:
        """Store and show the result; `is_stale` if the scene was edited during the job."""
        raise NotImplementedError

    def _takes_long(self, _context: Context) -> bool:
        """Return whether the job may take long: if not, it runs in one piece."""
        return True

    def option(self, settings: Any, name: str) -> Any:
        """Return an option that was passed to the operator, else that of the settings."""
        return getattr(self if self.properties.is_property_set(name) else settings, name)

    def execute(self, context: Context) -> set[str]:
        """Run in one piece, for scripts; in slices for Repeat Last.

        Repeat History still runs in one piece: it undoes first, and redoes when an operator cancels.
        """
        if not self.options.is_repeat_last or not self._runs_in_slices(context):
            return super().execute(context)
        # A new operator with the same options, because `execute` cannot start a modal one.
        given = {
            name: value for name, value in self.as_keywords().items() if self.properties.is_property_set(name)
        }
        group, name = type(self).bl_idname.split(".")
        getattr(getattr(bpy.ops, group), name)("INVOKE_DEFAULT", **given)
        return {"CANCELLED"}

    def run(self, context: Context) -> Outcome:
        """Run the job in one piece."""
        job = self._create_job(context)
        with overlay.paused(), keeping_open():
            result = run_to_end(job)
        return self._apply_result(context, result)

    def _runs_in_slices(self, context: Context) -> bool:
        return not bpy.app.background and context.window is not None and self._takes_long(context)

    def invoke(self, context: Context, _event: Event) -> set[str]:
        """Start the job in slices."""
        if not self._runs_in_slices(context):
            return self.execute(context)
        return self.attempt(lambda: self._start(context))

    def _start(self, context: Context) -> set[str]:
        self._job = self._create_job(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        running = job_state.begin()
        running.operator, running.busy = type(self).bl_idname, self.busy
        running.has_partial_result = self.has_partial_result
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        running.abort = partial(_end_slices, bpy.context, self._job, self._timer)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        """Run one slice per timer event.

        Esc stops the job and keeps partial results, if it has any. Another Esc, over a second later, discards
        them.
        """
        running = job_state.running()
        if self._job is None or running is None:
            # Opening another file has cancelled the job already.
            return {"CANCELLED"}
        # A key that is held down repeats: that is not a second press.
        if event.type == "ESC" and event.value == "PRESS" and not event.is_repeat:
            if running.can_be_aborted:
                self.cancel(context)
                return self.cancelled(rpt_("Discarded: no results of this scan were kept"), "WARNING")
            running.stop()
        if running.is_stopping and not running.has_results:
            self.cancel(context)
            return self.cancelled(rpt_("Stopped: no results were kept"), "WARNING")
        if event.type != "TIMER":
            if not _is_passed_on(context, event):
                return {"RUNNING_MODAL"}
            if event.type not in _HARMLESS_EVENTS:
                # What is clicked may store the file for an undo, at any time from now on.
                self._was_clicked = True
                end_step()
            return {"PASS_THROUGH"}
        slice_began = time.monotonic()
        if self._was_shown:
            self._drawing = slice_began - self._slice_ended
        try:
            keeps_scenes = not self._was_clicked and _may_keep_scenes(context)
            with overlay.paused(), keeping_open(keeps_scenes), pausing():
                now = slice_began
                while True:
                    running.update(next(self._job))
                    step_began, now = now, time.monotonic()
                    self._step = max(now - step_began, _STEP_DECAY * self._step)
                    # The next step may take as long as those before it.
                    if now + self._step > slice_began + (_LONGEST_AWAY if scenes_away() else _SLICE):
                        break
        except StopIteration as stop:
            self.cancel(context)
            result = stop.value
            return self.attempt(lambda: self._apply_result(context, result, running.was_scene_edited))
        except CollisionBoundsError as error:
            self.cancel(context)
            return self.refuse(error)
        except Exception:
            self.cancel(context)
            # If it were raised here, Blender would add a step of undo.
            return self.cancelled(f"Python: {traceback.format_exc()}", "ERROR")
        self._slice_ended = time.monotonic()
        # The progress is not drawn where that would take a large part of the time.
        interval = max(_SHOWN_EVERY, min(self._drawing * _SCAN_TO_DRAWING, _SHOWN_AT_LEAST_EVERY))
        self._was_shown = self._slice_ended - self._shown_at >= interval
        if self._was_shown:
            self._shown_at = self._slice_ended
            running.show()
            context.window_manager.progress_update(100 * running.done)
            context.workspace.status_text_set(_draw_status)
            redraw(["VIEW_3D"], "UI")
        return {"PASS_THROUGH"}

    def cancel(self, context: Context) -> None:
        """Discard the job, for example when the window closes; the job restores the playhead.

        The overlay needs no update, because it has not changed since before the job. Evaluating the scene
        while a window closes crashes Blender 4.3.
        """
        if self._job is not None:
            _end_slices(context, self._job, self._timer)
        self._job = self._timer = None


class DrawsOptions(HasOptions):
    """Mixin of commands that draw their options that apply: those of `drawn`, then shared ones."""

    drawn: ClassVar[tuple[str, ...]] = ()

    def draw(self: Any, context: Context) -> None:
        """Draw the options, unless the job takes long."""
        if hasattr(self, "modal") and reads_all_frames(context):
            ModalJob.draw(self, context)
            return
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        shared = chain.from_iterable(reversed(self.shared.values()))
        draw_options(self.layout, self, (*self.drawn, *shared), context.object)


def _end_slices(context: Context, job: Job, timer: bpy.types.Timer | None) -> None:
    """Close a job, whose operator may no longer exist, and remove what shows it."""
    with overlay.paused():
        job.close()
    end_step()
    job_state.end()
    if timer is not None:
        context.window_manager.event_timer_remove(timer)
        context.window_manager.progress_end()
        # Of all: a window that closes has no workspace.
        for workspace in bpy.data.workspaces:
            workspace.status_text_set(None)
    redraw(["VIEW_3D"], "UI")


_NAVIGATION_EVENTS = frozenset(
    {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "TRACKPADPAN"}
    | {"TRACKPADZOOM", "MOUSEROTATE", "NDOF_MOTION", "WINDOW_DEACTIVATE"}
)
"""Events that navigate the view and, without modifier keys, change nothing in the scene."""
_HARMLESS_EVENTS = _NAVIGATION_EVENTS - {"WINDOW_DEACTIVATE"} | {"TIMER"}
"""Events after which nobody saves or stores the file."""


def _may_keep_scenes(context: Context) -> bool:
    """Return whether no user can see, save or undo what a job adds to the file until its next slice.

    In another window Blender responds to everything, and an outliner can list all scenes.
    """
    outliners: list[Any] = [area.spaces.active for area in context.screen.areas if area.type == "OUTLINER"]
    return len(context.window_manager.windows) == 1 and all(
        outliner.display_mode == "VIEW_LAYER" for outliner in outliners
    )


def _is_passed_on(context: Context, event: Event) -> bool:
    """Return whether Blender gets an event: navigation, and clicks in the sidebar, for its Stop button."""
    if event.type.startswith("TIMER") or event.type == "WINDOW_DEACTIVATE":
        return True
    if event.type in _NAVIGATION_EVENTS:
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
    running = job_state.running()
    if running is None:
        return
    row = header.layout.row()
    row.label(text=running.esc_text, translate=False)
    bar = row.row()
    bar.ui_units_x = 14
    running.draw(bar)
