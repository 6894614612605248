"""Operators of bounds: Compute Bounds, Compute Swept Bounds and Clear Results."""

from __future__ import annotations

from typing import ClassVar

from bpy.types import Context, Operator

from ...scene.jobs import result_store
from ...scene.jobs.bounds import bounds_in_parts, play_bounds
from ...scene.jobs.part_splits import after_splits, split_meshes
from ...scene.jobs.result import Result
from ...scene.settings import BoundsSettings, FitSettings
from ..fit_measurements import measure_active
from ..overlay import handlers as overlay
from ..properties.options import (
    BOUNDS_OPTIONS,
    PART_OPTIONS,
    HasOptions,
    draw_vertex_group,
    option_property,
)
from ..properties.scene import (
    bound_shapes,
    bounds_fit_settings,
    fit_settings,
    has_results,
    results_of,
    settings_of,
)
from ..result_texts import (
    bounds_counted,
    cleared_contacts_text,
    empty_result_error,
    report_result,
    swept_counted,
)
from ..translation import joined, n_, rpt_count
from .command import Command, needs_idle, reads_all_frames, shares
from .modal_job import Job, ModalJob


@shares("scope", *BOUNDS_OPTIONS)
class COLLISION_BOUNDS_OT_compute_bounds(HasOptions, ModalJob, Operator):
    """Fit a bounding sphere and box to each object, and the shapes chosen below, and show them"""

    bl_label = "Compute Bounds"

    has_partial_result = False
    busy = n_("Blender is computing bounds: stop it, or wait until it is done")

    def _takes_long(self, context: Context) -> bool:
        is_given = self.properties.is_property_set("added_shapes")
        added = self.added_shapes if is_given else settings_of(context).added_shapes
        return "compound" in added or reads_all_frames(context)

    def draw(self, context: Context) -> None:
        """Draw the options, unless bones take long; those of parts and of a group only where they apply."""
        if reads_all_frames(context):
            ModalJob.draw(self, context)
            return
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        hidden = set() if "compound" in self.added_shapes else set(PART_OPTIONS)
        if not self.vertex_group:
            hidden.add("group_threshold")
        for name in ("scope", *BOUNDS_OPTIONS):
            if name == "vertex_group":
                draw_vertex_group(self.layout, self, context.object, name)
            elif name not in hidden:
                self.layout.prop(self, name)

    def _create_job(self, context: Context) -> Job:
        settings = self.take_options(context)
        wanted = BoundsSettings(self.selection, bound_shapes(settings), bounds_fit_settings(settings))
        if "compound" not in wanted.shapes:
            return bounds_in_parts(context.scene, wanted)
        splits = split_meshes(context.scene, self.selection, wanted.fit)
        return after_splits(context.scene, splits, lambda scene: bounds_in_parts(scene, wanted, True))

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        settings = settings_of(context)
        if problem := empty_result_error(len(result.objects), result.skipped, self.selection):
            return self.refuse(problem)
        # New bounds invalidate the contacts: they may be of other objects or settings.
        settings.rows.clear()
        before = results_of(settings)
        found = result_store.Results(bounds=result, stale=is_stale)
        settings.result_id = result_store.put(found.keeping_envelopes(before, fit_settings(settings)))
        measure_active(context)
        overlay.refresh(context)
        one, many = bounds_counted(result)
        text = rpt_count(result.object_count, one, many, bounds=len(result.objects))
        report_result(self, result, joined([text, *cleared_contacts_text(before.contacts)]))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_choose_vertex_group(Command, Operator):
    """Enclose the vertices of this group of the active object"""

    # A search field for the name would not be undone: Blender adds no step for text that is searched.
    bl_label = "Choose Vertex Group"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    group: option_property("vertex_group", options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        """Set the group of the scene."""
        settings_of(context).vertex_group = self.group


@shares("scope", "padding")
class COLLISION_BOUNDS_OT_compute_envelope(HasOptions, ModalJob, Operator):
    """Fit one box and one sphere around each object's whole animation, between frames too"""

    bl_label = "Compute Swept Bounds"

    has_partial_result = False
    busy = n_("Blender is computing swept bounds: stop it, or wait until it is done")

    _fit = FitSettings()

    def _create_job(self, context: Context) -> Job:
        self._fit = fit_settings(self.take_options(context))
        return play_bounds(context.scene, BoundsSettings(self.selection, fit=self._fit, envelope=True))

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        settings = settings_of(context)
        if problem := empty_result_error(len(result.objects), result.skipped, self.selection):
            return self.refuse(problem)
        before = results_of(settings)
        after = before.with_envelopes(result, self._fit, is_stale)
        if after.contacts is None:
            settings.rows.clear()
        settings.result_id = result_store.put(after)
        measure_active(context)
        overlay.refresh(context)
        time, (one, many) = result.time, swept_counted()
        text = rpt_count(result.envelope_count, one, many, start=time.start, end=time.end)
        cleared = cleared_contacts_text(before.contacts) if after.contacts is None else []
        report_result(self, result, joined([text, *cleared]))
        return {"FINISHED"}


def _needs_results(context: Context) -> str:
    return "" if has_results(context) else n_("There are no results to clear")


class COLLISION_BOUNDS_OT_clear_results(Command, Operator):
    """Remove bounds and contacts from the viewport and the list. Objects are not changed"""

    bl_label = "Clear Results"
    needs = (needs_idle, _needs_results)

    def run(self, context: Context) -> None:
        """Clear bounds, contacts and the rows of the list."""
        settings = settings_of(context)
        settings.rows.clear()
        settings.result_id = ""
        overlay.refresh(context)
