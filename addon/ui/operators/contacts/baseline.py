"""Compare contacts with those of an earlier report, and show results that replace others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Operator
from bpy_extras.io_utils import ImportHelper

from ....core import CollisionBoundsError
from ....formats import compare_contacts, load_document
from ....formats.wording import message_line
from ....scene.jobs import result_store
from ...contact_rows import fill_rows
from ...overlay import handlers as overlay
from ...properties.scene import SceneSettings, results_of, settings_of
from ...translation import error_text, n_, rpt_
from ..command import Command, needs_contacts, needs_idle
from ..messages import baseline_counts
from .pair_selection import playhead_stays


def compared(settings: SceneSettings, results: result_store.Results) -> tuple[result_store.Results, str]:
    """Compare contacts with the baseline of a scene, if it has one.

    Returns the results with the comparison, and a sentence if they cannot be compared; otherwise no text.
    """
    if not settings.baseline or results.contacts is None:
        return replace(results, comparison=None), ""
    path = Path(bpy.path.abspath(settings.baseline))
    try:
        comparison = compare_contacts(results.contacts.document(), load_document(path))
    except CollisionBoundsError as error:
        file, reason = message_line(path.name), message_line(error_text(error))
        problem = rpt_("Not compared with {file}: {reason}", file=file, reason=reason)
        return replace(results, comparison=None), problem
    return replace(results, comparison=comparison), ""


def show_changed_results(
    context: Context, settings: SceneSettings, results: result_store.Results, active: int = -1
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


class LoadJson(Command, ImportHelper):
    """Base of operators that choose a JSON file."""

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str  # ImportHelper declares it as a property
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})


class COLLISION_BOUNDS_OT_load_baseline(LoadJson, Operator):
    """Compare contacts with an earlier report, now and after each scan: which are new, and which are gone"""

    bl_idname = "collision_bounds.load_baseline"
    bl_label = "Load Baseline"
    needs = (needs_idle, needs_contacts)

    def run(self, context: Context) -> set[str] | None:
        """Compare, and keep the path of the report in the scene."""
        settings, before = settings_of(context), settings_of(context).baseline
        settings.baseline = self.filepath
        results, problem = compared(settings, results_of(settings))
        if problem:
            settings.baseline = before
            return self.refuse(problem)
        show_changed_results(context, settings, results)
        assert results.comparison is not None, "compared without a problem"
        self.report({"INFO"}, baseline_counts(results.comparison))
        return None


def _needs_baseline(context: Context) -> str:
    return "" if settings_of(context).baseline else n_("There is no baseline")


class COLLISION_BOUNDS_OT_clear_baseline(Command, Operator):
    """Compare contacts with no earlier report"""

    bl_idname = "collision_bounds.clear_baseline"
    bl_label = "Clear Baseline"
    needs = (_needs_baseline, needs_idle)

    def run(self, context: Context) -> None:
        """Forget the baseline."""
        settings = settings_of(context)
        settings.baseline = ""
        results = results_of(settings)
        if results.contacts is not None:
            show_changed_results(context, settings, replace(results, comparison=None))
