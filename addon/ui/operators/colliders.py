"""Operators of collider objects: around meshes or chosen vertices, remove and check them, select problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from bpy.props import BoolProperty, IntProperty, StringProperty
from bpy.types import Context, Operator

from ...core.progress import run_to_end
from ...formats.wording import valid_text
from ...scene.blender.instances import full_name_of, name_of
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.blender.private_scene import keeping_open
from ...scene.colliders import chosen_vertices, make, mend
from ...scene.colliders.check import ColliderCheck, ColliderFinding, check_colliders
from ...scene.settings import COLLIDER_NAME_PATTERNS, ColliderCheckSettings, ColliderSettings
from ..kept_checks import is_outdated, store_check, stored_check
from ..overlay import handlers as overlay
from ..properties.options import CHOSEN_GROUP, option_property
from ..properties.scene import COLLIDER_OPTIONS, fit_settings, settings_of
from ..result_texts import check_not_empty, input_warning_texts, skipped_texts
from ..texts import joined, n_, rpt_, rpt_count, sentences, tip_, translated
from . import need
from .command import Command, DrawsOptions, Job, ModalJob, reads_all_frames, refusal, shares
from .rows import select_only

_VERTEX_OPTIONS = ("kind", "max_vertices", "naming", "pattern", "collection")
"""Options of colliders around chosen vertices."""
_RECIPE_OPTIONS = ("kind", "parts", "parts_tolerance", "max_vertices")
"""Options that objects keep from their colliders, unless one of them is passed to the operator."""


def _collider_settings(operator: Command, context: Context) -> ColliderSettings:
    """Return the settings of an operator, which shares them with its scene."""
    settings = operator.take_options(context)
    options, fit = settings.colliders, fit_settings(settings)
    if "parts" in operator.shared["colliders"]:
        tolerance = decimal_from_float32(options.parts_tolerance)
        fit = replace(fit, parts=options.parts, parts_tolerance=tolerance)
    pattern = COLLIDER_NAME_PATTERNS.get(options.naming, options.pattern)
    return ColliderSettings(
        operator.selection, fit, options.kind, pattern, options.collection, options.max_vertices
    )


@shares("scope", "padding")
@shares(*COLLIDER_OPTIONS, group="colliders")
class COLLISION_BOUNDS_OT_create_colliders(DrawsOptions, ModalJob, Operator):
    """Create a collider mesh below each object, replacing those of earlier runs. Not rendered"""

    bl_label = "Create Colliders"
    needs = (need.idle, need.object_mode)
    drawn = ("replace_edited", "keep_kinds")

    replace_edited: BoolProperty(
        name="Replace Edited",
        description="Also replace colliders whose mesh or transform was edited manually",
        options={"SKIP_SAVE"},
    )
    keep_kinds: BoolProperty(
        name="Keep Kinds",
        description="Objects that are not selected keep the kind, parts and number of vertices of their "
        "colliders. Only selected and new ones get those of the panel",
        default=True,
        options={"SKIP_SAVE"},
    )

    has_partial_result = False
    busy = n_("Blender is creating colliders: stop it, or wait until it is done")

    def _takes_long(self, context: Context) -> bool:
        return self.option(settings_of(context).colliders, "parts") > 1 or reads_all_frames(context)

    def _create_job(self, context: Context) -> Job:
        is_set = self.properties.is_property_set
        if not is_set("keep_kinds"):
            # Options that a script passes are for all objects.
            self.keep_kinds = not any(map(is_set, _RECIPE_OPTIONS))
        settings = _collider_settings(self, context)
        settings = replace(
            settings,
            kept_kinds="unselected" if self.keep_kinds else "none",
            replace_edited=self.replace_edited,
        )
        return make.colliders_in_parts(context.scene, settings)

    def _apply_result(self, context: Context, result: make.CreatedColliders, is_stale: bool = False) -> None:
        check_not_empty(result.sources + result.edited, result.skipped, self.selection)
        _show_created(self, context, result)


@shares("padding")
@shares(*_VERTEX_OPTIONS, group="colliders")
class COLLISION_BOUNDS_OT_colliders_from_selection(DrawsOptions, Command, Operator):
    """Add a collider around the selected vertices, edges or faces of each mesh in Edit Mode"""

    bl_label = "Colliders from Selection"
    needs = (need.idle, need.edit_mode)

    def run(self, context: Context) -> None:
        settings = _collider_settings(self, context)
        _show_created(self, context, chosen_vertices.make_selection_colliders(context.scene, settings))


@shares("scope", "padding")
@shares(*_VERTEX_OPTIONS, group="colliders")
class COLLISION_BOUNDS_OT_colliders_from_group(DrawsOptions, Command, Operator):
    """Add a collider around the vertices of a vertex group of each object"""

    bl_label = "Colliders from Vertex Group"
    needs = (need.idle, need.object_mode)  # where weights are up to date

    group: StringProperty(**CHOSEN_GROUP)
    threshold: option_property("group_threshold")
    drawn = ("group", "threshold")

    def run(self, context: Context) -> None:
        settings = _collider_settings(self, context)
        created = chosen_vertices.make_group_colliders(context.scene, settings, self.group, self.threshold)
        _show_created(self, context, created)


def _show_created(operator: Operator, context: Context, created: make.CreatedColliders) -> None:
    overlay.refresh(context)
    colliders = rpt_count(created.colliders, "{count} collider", "{count} colliders")
    one, many = n_("{colliders} for {count} object"), n_("{colliders} for {count} objects")
    parts = [rpt_count(created.sources, one, many, colliders=colliders)]
    if created.replaced:
        parts.append(rpt_("{count} replaced", count=created.replaced))
    if created.edited:
        parts.append(rpt_("{count} edited manually: kept", count=created.edited))
    summary = joined([*parts, *skipped_texts(created.skipped)])
    text = sentences([summary, *input_warning_texts(created)])
    operator.report({"WARNING" if created.skipped or created.warnings else "INFO"}, text)


_needs_colliders = need.that(
    lambda context: make.has_colliders(context.scene),
    n_("No colliders created by Collision Bounds in this scene"),
)


class COLLISION_BOUNDS_OT_remove_colliders(Command, Operator):
    """Remove all colliders that Collision Bounds created in this scene"""

    bl_label = "Remove Colliders"
    needs = (need.idle, need.object_mode, _needs_colliders)

    def run(self, context: Context) -> str:
        count = make.remove_colliders(context.scene)
        overlay.refresh(context)
        return rpt_count(count, "{count} collider removed", "{count} colliders removed")


class COLLISION_BOUNDS_OT_check_colliders(Command, Operator):
    """Check all objects that are named as colliders: names, shapes, enclosed meshes, and filled holes"""

    bl_label = "Check Colliders"
    bl_options: ClassVar = {"REGISTER"}
    needs = (need.idle, need.object_mode)  # meshes in Edit Mode are not up to date

    def run(self, context: Context) -> None:
        settings = ColliderCheckSettings(fit=fit_settings(settings_of(context)))
        check = check_colliders(context.scene, settings)
        store_check(context.scene, check)
        self.report({"WARNING" if check.problems else "INFO"}, check_summary(check))


class COLLISION_BOUNDS_OT_clear_collider_check(Command, Operator):
    """Remove the list of problems. The objects are unchanged"""

    bl_label = "Clear Problems"
    bl_options: ClassVar = {"INTERNAL"}

    def run(self, context: Context) -> None:
        store_check(context.scene, None)


class _Mend(Command):
    """Mixin of commands that mend a problem of the list, or all problems that they can mend.

    The list is checked again then, so that it has the others.
    """

    bl_options: ClassVar = {"INTERNAL", "UNDO"}
    needs = (need.idle, need.object_mode)

    index: IntProperty(default=-1, options={"SKIP_SAVE"})
    """Number of a problem; negative for all."""

    def _mend(self, context: Context, findings: Sequence[ColliderFinding]) -> int:
        """Mend findings, and return the number of mended objects. Raises CollisionBoundsError."""
        raise NotImplementedError

    def _text(self, count: int) -> str:
        raise NotImplementedError

    def run(self, context: Context) -> None:
        check = stored_check(context.scene)
        if check is None or is_outdated(context.scene) or self.index >= len(check.findings):
            raise refusal("The list is out of date: check the colliders again")
        findings = check.findings if self.index < 0 else (check.findings[self.index],)
        text = self._text(self._mend(context, findings))
        # Updates because of the changes would make the new list out of date.
        context.view_layer.update()
        overlay.refresh(context)
        check = check_colliders(context.scene, ColliderCheckSettings(fit=fit_settings(settings_of(context))))
        store_check(context.scene, check)
        self.report({"INFO"}, joined([text, check_summary(check)]))


class COLLISION_BOUNDS_OT_rename_colliders(_Mend, Operator):
    """Rename the collider as its engine needs it"""

    bl_label = "Rename"

    def _mend(self, context: Context, findings: Sequence[ColliderFinding]) -> int:
        count = mend.rename_colliders(context.scene, findings)
        if not count:
            raise refusal("This collider is linked from another file: rename it there")
        return count

    def _text(self, count: int) -> str:
        return rpt_count(count, "{count} collider renamed", "{count} colliders renamed")


class COLLISION_BOUNDS_OT_rebuild_colliders(_Mend, Operator):
    """Create the colliders of this object again, with their kind. Edits of them are lost"""

    bl_label = "Rebuild"

    def _mend(self, context: Context, findings: Sequence[ColliderFinding]) -> int:
        settings, count = settings_of(context), 0
        options = ColliderSettings(
            fit=replace(fit_settings(settings), parts=1), collection=settings.colliders.collection
        )
        for each in mend.rebuilding_settings(context.scene, options, findings):
            with overlay.paused(), keeping_open():
                created = run_to_end(make.colliders_in_parts(context.scene, each))
            check_not_empty(created.sources, created.skipped, each.selection)
            count += created.sources
        return count

    def _text(self, count: int) -> str:
        return rpt_count(count, "Colliders of {count} object created", "Colliders of {count} objects created")


def _finding(context: Context, index: int) -> ColliderFinding | None:
    """Return a problem or a note of the last check of the scene; None if there is no such one now."""
    check = stored_check(context.scene)
    return check.findings[index] if check is not None and 0 <= index < len(check.findings) else None


class COLLISION_BOUNDS_OT_select_collider_problem(Command, Operator):
    """Select the object"""

    bl_label = "Select Object with Problem"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    index: IntProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: COLLISION_BOUNDS_OT_select_collider_problem) -> str:
        problem = _finding(context, properties.index)
        if problem is None:
            return tip_("Select the object")
        return tip_("{name} {problem}", name=valid_text(problem.name), problem=translated(problem.text))

    def run(self, context: Context) -> None:
        problem = _finding(context, self.index)
        if problem is None:
            raise refusal("The list is out of date: check the colliders again")
        items = [item for item in context.scene.objects if full_name_of(item) == problem.id]
        if not items:
            homes = context.scene.collection.children_recursive
            items = [item for home in homes if name_of(home) == problem.id for item in home.all_objects]
        if not items:
            raise refusal("This object no longer exists: check the colliders again")
        if not select_only(context, items):
            raise refusal("This object cannot be selected: it is hidden, or not in Object Mode")


def check_summary(check: ColliderCheck) -> str:
    if not check.colliders and not check.problems:
        return rpt_("No colliders in this scene")
    colliders = rpt_count(len(check.colliders), "{count} collider", "{count} colliders")
    problems = rpt_("no problems")
    if check.problems:
        problems = rpt_count(len(check.problems), "{count} problem", "{count} problems")
    notes = [rpt_count(len(check.notes), "{count} note", "{count} notes")] if check.notes else []
    return joined([colliders, problems, *notes])
