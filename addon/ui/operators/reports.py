"""Reports of contacts: load one, compare with one as the baseline, and keep those of scenes in their file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.props import StringProperty
from bpy.types import Context, Operator
from bpy_extras.io_utils import ImportHelper

from ...core import CollisionBoundsError
from ...core.messages import message
from ...formats import compare_contacts, file_text, load_document, parse_document, read_document, read_file
from ...formats.wording import message_line
from ...scene.blender.instances import name_of
from ...scene.errors import SceneError
from ...scene.jobs import result_store
from ...scene.jobs.result import Result, loaded_report
from ..overlay import handlers as overlay
from ..properties.scene import SceneSettings, fit_settings, settings_of, settings_on
from ..result_texts import baseline_counts, first_and_count
from ..row_order import fill_rows
from ..texts import error_text, n_, rpt_, rpt_count
from . import need
from .command import Command, Outcome
from .rows import playhead_stays, renew_markers


def compared(settings: SceneSettings, results: result_store.Results) -> tuple[result_store.Results, str]:
    """Compare contacts with the baseline of a scene, if it has one.

    Returns the results with the comparison, and a sentence if they cannot be compared; otherwise no text.
    """
    comparison, problem, path = None, "", Path(bpy.path.abspath(settings.baseline))
    if settings.baseline and results.contacts is not None:
        try:
            comparison = compare_contacts(results.contacts.document(), load_document(path))
        except CollisionBoundsError as error:
            file, reason = message_line(path.name), message_line(error_text(error))
            problem = rpt_("Not compared with {file}: {reason}", file=file, reason=reason)
    return replace(results, comparison=comparison), problem


def show_changed_results(context: Context, results: result_store.Results, active: int = -1) -> None:
    """Store and show results that replace those of the scene; the row `active` is active then, if not -1."""
    settings = settings_of(context)
    settings.result_id = result_store.put(results)
    fill_rows(settings, results.contacts)
    with playhead_stays():
        settings.active_row = active
    with overlay.paused():
        # The settings of an object have changed, which is no edit of the scene.
        context.view_layer.update()
    overlay.refresh(context)


class LoadJson(Command, ImportHelper):
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})


class COLLISION_BOUNDS_OT_load_baseline(LoadJson, Operator):
    """Compare contacts with an earlier report, now and after each scan: which are new, and which are gone"""

    bl_label = "Load Baseline"
    needs = (need.idle, need.contacts)

    def run(self: Any, context: Context) -> str:
        settings, before = settings_of(context), settings_of(context).baseline
        settings.baseline = self.filepath
        results, problem = compared(settings, settings.results)
        if problem:
            settings.baseline = before
            raise SceneError(problem)
        show_changed_results(context, results)
        return baseline_counts(results.comparison)


class COLLISION_BOUNDS_OT_clear_baseline(Command, Operator):
    """Compare contacts with no earlier report"""

    bl_label = "Clear Baseline"
    needs = (need.that(lambda context: settings_of(context).baseline, n_("There is no baseline")), need.idle)

    def run(self, context: Context) -> None:
        settings = settings_of(context)
        settings.baseline = ""
        results = settings.results
        if results.contacts is not None:
            show_changed_results(context, replace(results, comparison=None))


_STALE = "collision_bounds_stale"
"""Custom property of a text block whose contacts are older than the last change of the scene."""
_UNREADABLE = "collision_bounds_unreadable"
"""Custom property of a text block that could not be read; it stays in the file until the next scan."""


class COLLISION_BOUNDS_OT_load_report(LoadJson, Operator):
    """Load contacts from a JSON report and list them for this scene"""

    bl_label = "Load Report"
    needs = (need.idle,)

    def run(self: Any, context: Context) -> Outcome:
        path = Path(bpy.path.abspath(self.filepath))
        result, missing = loaded_report(context.scene, read_file(path))
        file = message_line(path.name)
        show_report(context.scene, result, file)
        renew_markers(context.scene)
        with overlay.paused():
            # Filling rows updates the scene, whose rigid bodies are then reported as moved although nothing
            # did.
            context.view_layer.update()
        overlay.refresh(context)
        if missing:
            names = first_and_count(missing, 3)
            self.report({"WARNING"}, rpt_("Not shown in this scene: {names}", names=names))
            return None
        count = len(result.report.contacts) + len(result.report.clearances)
        return rpt_count(count, "{file}: {count} row", "{file}: {count} rows", file=file)


def show_report(scene: bpy.types.Scene, result: Result, source: str, stale: bool = False) -> None:
    """List the contacts of a report as the results of a scene; `source` names where it is from."""
    settings = settings_on(scene)
    fill_rows(settings, result)
    results = result_store.Results(result, result, stale, source=source)
    if any(entry.envelope for entry in result.objects):
        results = results.with_envelopes(result, fit_settings(settings), stale)
    settings.result_id = result_store.put(compared(settings, results)[0])


@persistent
def store_all(*_unused: object) -> None:
    """Write the contacts of each scene to its text block; remove the block if it has none, or wants none.

    Linked scenes are not part of this file.
    """
    for owner in [scene for scene in bpy.data.scenes if scene.library is None]:
        settings: Any = settings_on(owner)
        results, text = settings.results, settings.kept_results
        blocks = [settings_on(scene).kept_results for scene in bpy.data.scenes if scene != owner]
        if text is not None and text in blocks:
            # One of the scenes is a copy.
            text = settings.kept_results = None
        if results.contacts is not None and settings.keep_results:
            if text is None:
                text = settings.kept_results = bpy.data.texts.new(f"Contacts of {name_of(owner)}.json")
            text.from_string("".join(file_text(results.contacts.document(), "json")))
            text[_STALE], text[_UNREADABLE] = results.stale, False
        elif text is not None and not (settings.keep_results and text.get(_UNREADABLE)):
            settings.kept_results = None
            bpy.data.texts.remove(text)


@persistent
def restore_all(*_unused: object) -> None:
    """Restore the contacts of all scenes that keep them, also of linked ones, whose own file keeps them."""
    context: Any = bpy.context  # the type stubs describe temp_override wrongly
    for scene in bpy.data.scenes:
        text: Any = settings_on(scene).kept_results
        if text is None:
            continue
        try:
            with context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
                result, _ = loaded_report(scene, read_document(parse_document(text.as_string())))
                show_report(scene, result, message("this file"), bool(text.get(_STALE)))
        except CollisionBoundsError as error:
            text[_UNREADABLE] = True
            reason = message_line(str(error))
            print(f"Collision Bounds: contacts that are kept with {name_of(scene)} cannot be read: {reason}")
    overlay.refresh(bpy.context)
