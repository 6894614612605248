"""Operators of collider objects: around meshes or chosen vertices, remove and check them, select problems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Operator, UILayout

from ...formats.wording import valid_text
from ...scene.blender.instances import full_name_of, name_of
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.colliders.check import ColliderCheck, ColliderFinding, check_colliders
from ...scene.colliders.make import CreatedColliders, colliders_in_parts, has_colliders, remove_colliders
from ...scene.colliders.vertices import make_group_colliders, make_selection_colliders
from ...scene.jobs.part_splits import after_splits, split_meshes
from ...scene.settings import COLLIDER_NAME_PATTERNS, ColliderCheckSettings, ColliderSettings
from ..kept_checks import store_check, stored_check
from ..overlay import handlers as overlay
from ..properties.options import CHOSEN_GROUP, HasOptions, draw_vertex_group, option_property
from ..properties.scene import COLLIDER_OPTIONS, fit_settings, settings_of
from ..result_texts import empty_result_error, input_warning_texts, skipped_texts
from ..texts import joined, n_, rpt_, rpt_count, sentences, tip_, translated
from .command import Command, Job, ModalJob, needs_edit_mode, needs_object_mode, reads_all_frames, shares
from .rows import select_only

_VERTEX_OPTIONS = ("kind", "max_vertices", "naming", "pattern", "collection")
"""Options of colliders around chosen vertices."""


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
class COLLISION_BOUNDS_OT_create_colliders(HasOptions, ModalJob, Operator):
    """Create a collider mesh below each object, replacing those of earlier runs. Not rendered"""

    bl_label = "Create Colliders"
    needs = (needs_object_mode,)

    has_partial_result = False
    busy = n_("Blender is creating colliders: stop it, or wait until it is done")

    def _takes_long(self, context: Context) -> bool:
        is_given = self.properties.is_property_set("parts")
        parts = self.parts if is_given else settings_of(context).colliders.parts
        return parts > 1 or reads_all_frames(context)

    def draw(self, context: Context) -> None:
        """Draw the options, unless the job takes long. Pattern and vertex limit only where they apply."""
        if reads_all_frames(context):
            ModalJob.draw(self, context)
            return
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_options(self.layout, self, ("scope", "padding", *COLLIDER_OPTIONS))

    def _create_job(self, context: Context) -> Job:
        settings = _collider_settings(self, context)
        if self.parts == 1:
            return colliders_in_parts(context.scene, settings)
        splits = split_meshes(context.scene, self.selection, settings.fit, of_bones=True)
        return after_splits(context.scene, splits, lambda scene: colliders_in_parts(scene, settings))

    def _apply_result(self, context: Context, result: CreatedColliders, is_stale: bool = False) -> set[str]:
        if problem := empty_result_error(result.sources, result.skipped, self.selection):
            return self.refuse(problem)
        overlay.refresh(context)
        is_incomplete = result.skipped or result.warnings
        text = sentences([created_summary(result), *input_warning_texts(result)])
        self.report({"WARNING" if is_incomplete else "INFO"}, text)
        return {"FINISHED"}


@shares("padding")
@shares(*_VERTEX_OPTIONS, group="colliders")
class COLLISION_BOUNDS_OT_colliders_from_selection(HasOptions, Command, Operator):
    """Add a collider around the selected vertices, edges or faces of each mesh in Edit Mode"""

    bl_label = "Colliders from Selection"
    needs = (needs_edit_mode,)

    def draw(self, _context: Context) -> None:
        """Draw the options."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_options(self.layout, self, ("padding", *_VERTEX_OPTIONS))

    def run(self, context: Context) -> None:
        """Create the colliders."""
        settings = _collider_settings(self, context)
        _show_created(self, context, make_selection_colliders(context.scene, settings))


@shares("scope", "padding")
@shares(*_VERTEX_OPTIONS, group="colliders")
class COLLISION_BOUNDS_OT_colliders_from_group(HasOptions, Command, Operator):
    """Add a collider around the vertices of a vertex group of each object"""

    bl_label = "Colliders from Vertex Group"
    needs = (needs_object_mode,)  # where weights are up to date

    group: StringProperty(**CHOSEN_GROUP)
    threshold: option_property("group_threshold")

    def draw(self, context: Context) -> None:
        """Draw the options, with the groups of the active object to choose from."""
        self.layout.use_property_split, self.layout.use_property_decorate = True, False
        draw_vertex_group(self.layout, self, context.object)
        draw_options(self.layout, self, ("threshold", "scope", "padding", *_VERTEX_OPTIONS))

    def run(self, context: Context) -> None:
        """Create the colliders."""
        settings = _collider_settings(self, context)
        created = make_group_colliders(context.scene, settings, self.group, self.threshold)
        _show_created(self, context, created)


def _show_created(operator: Operator, context: Context, created: CreatedColliders) -> None:
    """Draw and report colliders around chosen vertices."""
    overlay.refresh(context)
    operator.report({"WARNING" if created.skipped else "INFO"}, created_summary(created))


def _needs_colliders(context: Context) -> str:
    text = n_("No colliders created by Collision Bounds in this scene")
    return "" if has_colliders(context.scene) else text


class COLLISION_BOUNDS_OT_remove_colliders(Command, Operator):
    """Remove all colliders that Collision Bounds created in this scene"""

    bl_label = "Remove Colliders"
    needs = (needs_object_mode, _needs_colliders)

    def run(self, context: Context) -> None:
        """Remove the colliders."""
        count = remove_colliders(context.scene)
        overlay.refresh(context)
        self.report({"INFO"}, rpt_count(count, "{count} collider removed", "{count} colliders removed"))


class COLLISION_BOUNDS_OT_check_colliders(Command, Operator):
    """Check all objects that are named as colliders: names, shapes, enclosed meshes, and filled holes"""

    bl_label = "Check Colliders"
    bl_options: ClassVar = {"REGISTER"}
    needs = (needs_object_mode,)  # meshes in Edit Mode are not up to date

    def run(self, context: Context) -> None:
        """Check the colliders, and store the result for the panel."""
        settings = ColliderCheckSettings(fit=fit_settings(settings_of(context)))
        check = check_colliders(context.scene, settings)
        store_check(context.scene, check)
        self.report({"WARNING" if check.problems else "INFO"}, check_summary(check))


class COLLISION_BOUNDS_OT_clear_collider_check(Command, Operator):
    """Remove the list of problems. The objects are unchanged"""

    bl_label = "Clear Problems"
    bl_options: ClassVar = {"INTERNAL"}

    def run(self, context: Context) -> None:
        """Drop the stored result."""
        store_check(context.scene, None)


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
        """Return the tooltip: the problem in full."""
        problem = _finding(context, properties.index)
        if problem is None:
            return tip_("Select the object")
        return tip_("{name} {problem}", name=valid_text(problem.name), problem=translated(problem.text))

    def run(self, context: Context) -> set[str] | None:
        """Select the object, or all objects of a collection that is treated as one."""
        problem = _finding(context, self.index)
        if problem is None:
            return self.refuse(rpt_("The list is out of date: check the colliders again"))
        items = [item for item in context.scene.objects if full_name_of(item) == problem.id]
        if not items:
            homes = context.scene.collection.children_recursive
            items = [item for home in homes if name_of(home) == problem.id for item in home.all_objects]
        if not items:
            return self.refuse(rpt_("This object no longer exists: check the colliders again"))
        if not select_only(context, items):
            return self.refuse(rpt_("This object cannot be selected: it is hidden, or not in Object Mode"))
        return None


def check_summary(check: ColliderCheck) -> str:
    """Return the numbers of colliders, problems and notes as text."""
    if not check.colliders and not check.problems:
        return rpt_("No colliders in this scene")
    colliders = rpt_count(len(check.colliders), "{count} collider", "{count} colliders")
    problems = rpt_("no problems")
    if check.problems:
        problems = rpt_count(len(check.problems), "{count} problem", "{count} problems")
    notes = [rpt_count(len(check.notes), "{count} note", "{count} notes")] if check.notes else []
    return joined([colliders, problems, *notes])


def draw_options(layout: UILayout, settings: Any, names: tuple[str, ...]) -> None:
    """Draw options of a scene or an operator, without those that do not apply."""
    for name in names:
        if name == "pattern" and settings.naming != "custom":
            continue
        if name == "max_vertices" and settings.kind != "hull":
            continue
        row = layout.row()
        # Greyed out instead of hidden, so that rows stay in place while the number of parts is dragged.
        row.active = name != "parts_tolerance" or settings.parts > 1
        row.prop(settings, name)


def created_summary(created: CreatedColliders) -> str:
    """Return the numbers of created and replaced colliders, and the skipped objects, as text."""
    colliders = rpt_count(created.colliders, "{count} collider", "{count} colliders")
    one, many = n_("{colliders} for {count} object"), n_("{colliders} for {count} objects")
    parts = [rpt_count(created.sources, one, many, colliders=colliders)]
    if created.replaced:
        parts.append(rpt_("{count} replaced", count=created.replaced))
    return joined([*parts, *skipped_texts(created.skipped)])
