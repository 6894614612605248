"""Operators of the contact scan: Find Contacts and Stop."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from bpy.props import BoolProperty
from bpy.types import Context, Operator

from ...formats import Comparison
from ...scene.jobs import result_store
from ...scene.jobs.contacts import find_contacts
from ...scene.jobs.result import Result
from ...scene.settings import ContactSettings, Selection
from ...scene.subjects.selection import selected_objects, selection_of_uids
from .. import job_state
from ..contact_rows import fill_rows
from ..overlay import handlers as overlay
from ..properties.options import CONTACT_OPTIONS, HasOptions
from ..properties.scene import contact_settings, fit_settings, results_of, settings_of
from ..result_texts import baseline_counts, empty_result_error, partial_result_text, report_result
from ..translation import joined, n_, rpt_, rpt_count, sentences
from . import markers
from .command import Command, shares
from .modal_job import Job, ModalJob
from .reports import compared


@shares("scope", *CONTACT_OPTIONS)
class COLLISION_BOUNDS_OT_find_contacts(HasOptions, ModalJob, Operator):
    """Find when animated objects first touch, between frames too"""

    bl_label = "Find Contacts"

    busy = n_("Blender is finding contacts: stop it, or wait until it is done")
    same_objects: BoolProperty(
        name="Same Objects",
        description="Check the objects of the contacts that are shown, whatever is selected now",
        options={"SKIP_SAVE", "HIDDEN"},
    )

    _settings: ContactSettings | None = None
    _selected_uids: frozenset[int] | None = None

    def _create_job(self, context: Context) -> Job:
        settings = self.take_options(context)
        self._selected_uids = None
        if self.same_objects:
            self._selected_uids, self.selection = results_of(settings).selected_uids, Selection()
            if self._selected_uids is not None:
                self.selection = selection_of_uids(context.scene, self._selected_uids)
        elif self.selection.selected_only:
            self._selected_uids = frozenset(item.session_uid for item in selected_objects())
        self._settings = contact_settings(settings)
        job_settings = replace(self._settings, selection=self.selection)
        return find_contacts(context.scene, job_settings, job_state.is_stopping, job_state.drops_unsolved)

    def _apply_result(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        settings = settings_of(context)
        if problem := empty_result_error(len(result.objects), result.skipped, self.selection):
            return self.refuse(problem)
        assert result.report is not None, "this job always reports"
        before = results_of(settings)
        if self.selection.selected_only and not result.has_pairs and before.contacts is not None:
            # A click on a row and a look at one of its objects must not cost the contacts of a long scan.
            text = rpt_("Only one object is selected: nothing can touch it. The contacts are those of before")
            self.report({"WARNING"}, text)
            return {"CANCELLED"}
        fill_rows(settings, result)
        results = result_store.Results(
            result, result, is_stale, scan_settings=self._settings, selected_uids=self._selected_uids
        )
        results = results.keeping_envelopes(before, fit_settings(settings))
        results, problem = compared(settings, results)
        settings.result_id = result_store.put(results)
        markers.renew(context.scene)
        overlay.refresh(context)
        report_result(self, result, _summary(result, results.comparison))
        if problem:
            self.report({"WARNING"}, problem)
        return {"FINISHED"}


def _needs_job(_context: Context) -> str:
    scan = job_state.running()
    if scan is None:
        return n_("No job is running")
    return n_("The job is stopping already") if scan.is_stopping else ""


class COLLISION_BOUNDS_OT_stop_scan(Command, Operator):
    """Stop the running scan (Esc). Contacts found so far are kept; unfinished swept bounds are discarded"""

    bl_label = "Stop"
    bl_options: ClassVar = {"INTERNAL"}
    needs = (_needs_job,)

    def run(self, _context: Context) -> None:
        """Stop the running job."""
        scan = job_state.running()
        assert scan is not None, "a job is needed"
        scan.stop()


def _summary(result: Result, comparison: Comparison | None) -> str:
    """Return the numbers of the report: contacts, objects, skipped overlaps, and what the baseline says."""
    assert result.report is not None, "this job always reports"
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
        text = sentences([partial_result_text(result), rpt_("{results} so far", results=text)])
    return text if comparison is None else sentences([text, baseline_counts(comparison)])
