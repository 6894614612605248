"""Operators of collider objects: create, remove and check them, and select those with problems."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import ClassVar

import bpy
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from bpy.types import Context, Operator, UILayout

from ...core import CollisionBoundsError, Progress
from ...core.scan.scan import never
from ...formats.wording import valid_text
from ...scene.blender.names import full_name_of, name_of
from ...scene.blender.object_properties import PADDING
from ...scene.blender.object_settings import decimal_from_float32
from ...scene.colliders.check import check_colliders
from ...scene.colliders.check_records import ColliderCheck
from ...scene.colliders.make import CreatedColliders, colliders_in_parts, has_colliders, remove_colliders
from ...scene.jobs.part_splits import after_splits, split_meshes
from ...scene.settings import ColliderCheckSettings, ColliderSettings, Selection
from .. import job_state
from ..collider_check import store_check, stored_check
from ..overlay import handlers as overlay
from ..properties.colliders import (
    COLLECTION,
    COLLIDER_OPTIONS,
    COLLIDER_PARTS,
    KIND,
    MAX_VERTICES,
    NAMING,
    PATTERN,
    pattern_of,
)
from ..properties.scene import fit_settings, settings_of
from ..properties.shared_options import PARTS_TOLERANCE, SCOPE
from ..translation import error_text, joined, n_, rpt_, rpt_count, sentences, tip_, translated
from .contacts.pair_selection import select_only
from .messages import empty_result_error, input_warning_texts, skipped_texts
from .modal_job import ModalJob
from .scene_options import initialized_settings, reads_all_frames, sync_scope, sync_with_scene


def poll_object_mode(cls: type[Operator], context: Context) -> bool:
    """Return whether Blender is in Object Mode and no job runs; else set the reason."""
    if not job_state.poll_idle(cls):
        return False
    if context.mode == "OBJECT":
        return True
    cls.poll_message_set(tip_("Go to Object Mode first"))
    return False


class COLLISION_BOUNDS_OT_create_colliders(ModalJob, Operator):
    """Create a collider mesh below each object, replacing those of earlier runs. Not rendered"""

    bl_idname = "collision_bounds.create_colliders"
    bl_label = "Create Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    has_partial_result = False
    busy = n_("Blender is creating colliders: stop it, or wait until it is done")
    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    kind: EnumProperty(**KIND, options={"SKIP_SAVE"})
    parts: IntProperty(**COLLIDER_PARTS, default=1, options={"SKIP_SAVE"})
    parts_tolerance: FloatProperty(**PARTS_TOLERANCE, options={"SKIP_SAVE"})
    max_vertices: IntProperty(**MAX_VERTICES, default=255, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})
    naming: EnumProperty(**NAMING, options={"SKIP_SAVE"})
    pattern: StringProperty(**PATTERN, options={"SKIP_SAVE"})
    collection: StringProperty(**COLLECTION, options={"SKIP_SAVE"})

    _selection = Selection()

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Object Mode, because other modes have undo steps of their own."""
        return poll_object_mode(cls, context)

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

    def _create_job(
        self, context: Context, _stops: Callable[[], bool] = never, _drops: Callable[[], bool] = never
    ) -> Generator[Progress, None, CreatedColliders]:
        settings = initialized_settings(context)
        self._selection = sync_scope(self, context, settings)
        sync_with_scene(self, settings, ("padding",))
        sync_with_scene(self, settings.colliders, COLLIDER_OPTIONS)
        options = settings.colliders
        collider_settings = ColliderSettings(
            self._selection,
            fit_settings(settings),
            options.kind,
            pattern_of(options),
            options.collection,
            options.max_vertices,
            options.parts,
            decimal_from_float32(options.parts_tolerance),
        )
        if options.parts == 1:
            return colliders_in_parts(context.scene, collider_settings)
        fit = replace(
            collider_settings.fit,
            parts=collider_settings.parts,
            parts_tolerance=collider_settings.parts_tolerance,
        )
        splits = split_meshes(context.scene, self._selection, fit, of_bones=True)
        return after_splits(context.scene, splits, lambda scene: colliders_in_parts(scene, collider_settings))

    def _apply_result(self, context: Context, result: CreatedColliders, is_stale: bool = False) -> set[str]:
        if problem := empty_result_error(result.sources, result.skipped, self._selection):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        overlay.refresh(context)
        is_incomplete = result.skipped or result.warnings
        text = sentences([created_summary(result), *input_warning_texts(result)])
        self.report({"WARNING" if is_incomplete else "INFO"}, text)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_remove_colliders(Operator):
    """Remove all colliders that Collision Bounds created in this scene"""

    bl_idname = "collision_bounds.remove_colliders"
    bl_label = "Remove Colliders"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the scene has colliders."""
        if not poll_object_mode(cls, context):
            return False
        if context.scene is not None and has_colliders(context.scene):
            return True
        cls.poll_message_set(tip_("No colliders created by Collision Bounds in this scene"))
        return False

    def execute(self, context: Context) -> set[str]:
        """Remove the colliders."""
        count = remove_colliders(context.scene)
        overlay.refresh(context)
        self.report({"INFO"}, rpt_count(count, "{count} collider removed", "{count} colliders removed"))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_check_colliders(Operator):
    """Check all objects that are named as colliders: names, shapes, enclosed meshes, and filled holes"""

    bl_idname = "collision_bounds.check_colliders"
    bl_label = "Check Colliders"
    bl_options: ClassVar = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether Blender is in Object Mode, because meshes in Edit Mode are not up to date."""
        return poll_object_mode(cls, context)

    def execute(self, context: Context) -> set[str]:
        """Check the colliders, and store the result for the panel."""
        scene = context.scene
        settings = ColliderCheckSettings(fit=fit_settings(settings_of(context)))
        try:
            check = check_colliders(scene, settings)
        except CollisionBoundsError as error:
            self.report({"ERROR"}, error_text(error))
            return {"CANCELLED"}
        store_check(scene, check)
        self.report({"WARNING" if check.problems else "INFO"}, check_summary(check))
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_clear_collider_check(Operator):
    """Remove the list of problems. The objects are unchanged"""

    bl_idname = "collision_bounds.clear_collider_check"
    bl_label = "Clear Problems"
    bl_options: ClassVar = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        """Drop the stored result."""
        store_check(context.scene, None)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_select_collider_problem(Operator):
    """Select the object"""

    bl_idname = "collision_bounds.select_collider_problem"
    bl_label = "Select Object with Problem"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    index: IntProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: COLLISION_BOUNDS_OT_select_collider_problem) -> str:
        """Return the tooltip: the problem in full."""
        check = stored_check(context.scene)
        if check is None or not 0 <= properties.index < len(check.findings):
            return tip_("Select the object")
        problem = check.findings[properties.index]
        return tip_("{name} {problem}", name=valid_text(problem.name), problem=translated(problem.text))

    def execute(self, context: Context) -> set[str]:
        """Select the object, or all objects of a collection that is treated as one."""
        check = stored_check(context.scene)
        if check is None or not 0 <= self.index < len(check.findings):
            self.report({"ERROR"}, "The list is out of date: check the colliders again")
            return {"CANCELLED"}
        id = check.findings[self.index].id
        items = [item for item in context.scene.objects if full_name_of(item) == id]
        if not items:
            items = [item for home in _collections_named(context.scene, id) for item in home.all_objects]
        if not items:
            self.report({"ERROR"}, "This object no longer exists: check the colliders again")
            return {"CANCELLED"}
        if not select_only(context, items):
            self.report({"ERROR"}, "This object cannot be selected: it is hidden, or not in Object Mode")
            return {"CANCELLED"}
        return {"FINISHED"}


def _collections_named(scene: bpy.types.Scene, name: str) -> list[bpy.types.Collection]:
    return [home for home in scene.collection.children_recursive if name_of(home) == name]


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


def draw_options(layout: UILayout, settings: object, names: tuple[str, ...]) -> None:
    """Draw options of a scene or an operator, without those that do not apply."""
    for name in names:
        if name == "pattern" and settings.naming != "custom":  # type: ignore[attr-defined]
            continue
        if name == "max_vertices" and settings.kind != "hull":  # type: ignore[attr-defined]
            continue
        row = layout.row()
        # Greyed out instead of hidden, so that rows stay in place while the number of parts is dragged.
        row.active = name != "parts_tolerance" or settings.parts > 1  # type: ignore[attr-defined]
        row.prop(settings, name)


def created_summary(created: CreatedColliders) -> str:
    """Return the numbers of created and replaced colliders, and the skipped objects, as text."""
    colliders = rpt_count(created.colliders, "{count} collider", "{count} colliders")
    parts = [
        rpt_count(
            created.sources,
            "{colliders} for {count} object",
            "{colliders} for {count} objects",
            colliders=colliders,
        )
    ]
    if created.replaced:
        parts.append(rpt_("{count} replaced", count=created.replaced))
    return joined([*parts, *skipped_texts(created.skipped)])


CLASSES = (
    COLLISION_BOUNDS_OT_create_colliders,
    COLLISION_BOUNDS_OT_remove_colliders,
    COLLISION_BOUNDS_OT_check_colliders,
    COLLISION_BOUNDS_OT_clear_collider_check,
    COLLISION_BOUNDS_OT_select_collider_problem,
)
