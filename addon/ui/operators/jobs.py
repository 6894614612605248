"""Operators of the main jobs: Compute Bounds, Compute Swept Bounds, Find Contacts, Stop, Clear Results."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from bpy.types import Context, Operator

from ...formats import Comparison
from ...scene.jobs import result_store
from ...scene.jobs.bounds import bounds_in_parts
from ...scene.jobs.contacts import find_contacts
from ...scene.jobs.result import Result
from ...scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from ...scene.subjects.selection import selected_objects, selection_of_uids
from .. import job_state, result_texts
from ..kept_checks import measure_active
from ..overlay import handlers as overlay
from ..properties import options
from ..properties.scene import contact_settings, fit_settings, has_results, settings_of
from ..row_order import fill_rows
from ..texts import joined, n_, rpt_, rpt_count, sentences
from . import need
from .command import Command, DrawsOptions, Job, ModalJob, Outcome, reads_all_frames, shares
from .reports import compared
from .rows import renew_markers


@shares("scope", *options.BOUNDS_OPTIONS)
class COLLISION_BOUNDS_OT_compute_bounds(DrawsOptions, ModalJob, Operator):
    """Fit a bounding sphere and box to each object, and the shapes chosen below, and show them"""

    bl_label = "Compute Bounds"

    has_partial_result = False
    busy = n_("Blender is computing bounds: stop it, or wait until it is done")

    def _takes_long(self, context: Context) -> bool:
        added = self.option(settings_of(context), "added_shapes")
        return "compound" in added or reads_all_frames(context)

    def _create_job(self, context: Context) -> Job:
        settings = self.take_options(context)
        wanted = BoundsSettings(self.selection, settings.bound_shapes, settings.bounds_fit)
        return bounds_in_parts(context.scene, wanted, may_change="compound" in wanted.shapes)

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> None:
        settings = settings_of(context)
        result_texts.check_not_empty(len(result.objects), result.skipped, self.selection)
        found = result_store.Results(bounds=result, stale=is_stale)
        # New bounds invalidate the contacts: they may be of other objects or settings.
        after = found.keeping_envelopes(settings.results, fit_settings(settings))
        _show_bounds(self, context, after, result, result_texts.bounds_count(result))


class COLLISION_BOUNDS_OT_choose_vertex_group(Command, Operator):
    """Enclose the vertices of this group of the active object"""

    # A search field for the name would not be undone: Blender adds no step for text that is searched.
    bl_label = "Choose Vertex Group"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    group: options.option_property("vertex_group", options={"SKIP_SAVE"})

    def run(self, context: Context) -> None:
        settings_of(context).vertex_group = self.group


@shares("scope", "padding")
class COLLISION_BOUNDS_OT_compute_envelope(options.HasOptions, ModalJob, Operator):
    """Fit one box and one sphere around each object's whole animation, between frames too"""

    bl_label = "Compute Swept Bounds"

    has_partial_result = False
    busy = n_("Blender is computing swept bounds: stop it, or wait until it is done")

    _fit = FitSettings()

    def _create_job(self, context: Context) -> Job:
        self._fit = fit_settings(self.take_options(context))
        return bounds_in_parts(context.scene, BoundsSettings(self.selection, fit=self._fit, envelope=True))

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> None:
        result_texts.check_not_empty(len(result.objects), result.skipped, self.selection)
        after = settings_of(context).results.with_envelopes(result, self._fit, is_stale)
        _show_bounds(self, context, after, result, result_texts.swept_count(result))


def _show_bounds(
    operator: Operator, context: Context, after: result_store.Results, result: Result, text: str
) -> None:
    """Replace the results of the scene, and report the bounds that were computed, and cleared contacts."""
    settings, parts = settings_of(context), [text]
    if after.contacts is None:
        before = settings.results.contacts
        if count := 0 if before is None else len(before.report.contacts):
            one, many = n_("{count} contact cleared (undo)"), n_("{count} contacts cleared (undo)")
            parts.append(rpt_count(count, one, many))
        settings.rows.clear()
    settings.result_id = result_store.put(after)
    measure_active(context)
    overlay.refresh(context)
    result_texts.report_result(operator, result, joined(parts))


class COLLISION_BOUNDS_OT_clear_results(Command, Operator):
    """Remove bounds and contacts from the viewport and the list. Objects are not changed"""

    bl_label = "Clear Results"
    needs = (need.idle, need.that(has_results, n_("There are no results to clear")))

    def run(self, context: Context) -> None:
        settings = settings_of(context)
        settings.rows.clear()
        settings.result_id = ""
        overlay.refresh(context)


@shares("scope", *options.CONTACT_OPTIONS)
class COLLISION_BOUNDS_OT_find_contacts(options.HasOptions, ModalJob, Operator):
    """Find when animated objects first touch, between frames too"""

    bl_label = "Find Contacts"

    busy = n_("Blender is finding contacts: stop it, or wait until it is done")
    same_objects: options.flag(
        "Same Objects",
        "Check the objects of the contacts that are shown, whatever is selected now",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    _settings: ContactSettings | None = None
    _selected_uids: frozenset[int] | None = None

    def _create_job(self, context: Context) -> Job:
        settings = self.take_options(context)
        self._selected_uids = None
        if self.same_objects:
            self._selected_uids, self.selection = settings.results.selected_uids, Selection()
            if self._selected_uids is not None:
                self.selection = selection_of_uids(context.scene, self._selected_uids)
        elif self.selection.selected_only:
            self._selected_uids = frozenset(item.session_uid for item in selected_objects())
        self._settings = contact_settings(settings)
        job_settings = replace(self._settings, selection=self.selection)
        return find_contacts(context.scene, job_settings, job_state.is_stopping, job_state.drops_unsolved)

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> Outcome:
        settings = settings_of(context)
        result_texts.check_not_empty(len(result.objects), result.skipped, self.selection)
        before = settings.results
        if self.selection.selected_only and not result.has_pairs and before.contacts is not None:
            # A click on a row and a look at one of its objects must not cost the contacts of a long scan.
            text = rpt_("Only one object is selected: nothing can touch it. The contacts are those of before")
            return self.cancelled(text, "WARNING")
        fill_rows(settings, result)
        results = result_store.Results(
            result, result, is_stale, scan_settings=self._settings, selected_uids=self._selected_uids
        )
        results = results.keeping_envelopes(before, fit_settings(settings))
        results, problem = compared(settings, results)
        settings.result_id = result_store.put(results)
        renew_markers(context.scene)
        overlay.refresh(context)
        result_texts.report_result(self, result, _summary(result, results.comparison))
        if problem:
            self.report({"WARNING"}, problem)
        return None


class COLLISION_BOUNDS_OT_stop_scan(Command, Operator):
    """Stop the running scan (Esc). Contacts found so far are kept; unfinished swept bounds are discarded"""

    bl_label = "Stop"
    bl_options: ClassVar = {"INTERNAL"}
    needs = (
        need.that(lambda _context: job_state.running(), n_("No job is running")),
        need.that(lambda _context: not job_state.is_stopping(), n_("The job is stopping already")),
    )

    def run(self, _context: Context) -> None:
        job_state.running().stop()


def _summary(result: Result, comparison: Comparison | None) -> str:
    contacts = rpt_("No contacts")
    if count := len(result.report.contacts):
        parts = [rpt_count(count, "{count} contact", "{count} contacts")]
        if tunnelling := int(result.report.contacts.pairs.tunnelling.sum()):
            parts.append(rpt_("{count} between frames only", count=tunnelling))
        if at_start := int(result.report.contacts.pairs.at_start.sum()):
            parts.append(rpt_("{count} at the first frame", count=at_start))
        contacts = joined(parts)
    one, many = n_("{contacts} among {count} object"), n_("{contacts} among {count} objects")
    text = rpt_count(result.object_count, one, many, contacts=contacts)
    if not result.has_pairs:
        text = rpt_("Only one object was checked: nothing can touch it")
    if count := result.static_overlap_count:
        one = n_("{count} overlap of objects that never move skipped")
        many = n_("{count} overlaps of objects that never move skipped")
        text = joined([text, rpt_count(count, one, many)])
    if result.partial is not None:
        text = sentences([result_texts.partial_result_text(result), rpt_("{results} so far", results=text)])
    return text if comparison is None else sentences([text, result_texts.baseline_counts(comparison)])
