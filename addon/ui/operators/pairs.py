"""Operators of a pair: ignore or accept its contacts for good, move it apart, its separation over time.

Also the pairs that touch at the playhead, of the bounds that the overlay reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any, ClassVar

import bpy
import numpy as np
from bpy.props import IntProperty, StringProperty
from bpy.types import Context, Event, Operator
from mathutils import Matrix

from ...core import CollisionBoundsError
from ...core.messages import message
from ...formats import write_text
from ...formats.export.csv_table import separation_csv
from ...formats.wording import message_line, valid_text
from ...scene.blender.frames import go_to, playhead
from ...scene.blender.instances import full_name_of
from ...scene.errors import SceneError
from ...scene.jobs.pair_separation import MAX_NAME, key_separation, separation_over_time
from ...scene.live.contact_state import LiveShapes
from ...scene.live.touching import (
    TouchingPairs,
    find_touching_pairs,
    separating_translation,
    touching_meshes,
)
from ...scene.subjects.selection import make_scan_settings
from ...scene.subjects.subject import Subject
from ...translations import CONTEXT
from .. import job_state
from ..overlay import handlers as overlay
from ..overlay.over_time import active_curve, active_pair
from ..overlay.state import CachedOverlay, find_overlay, object_by_uid, redraw
from ..properties.options import one_of
from ..properties.scene import contact_settings, settings_of
from ..row_order import active_row, entry_of_row
from ..texts import length_text, n_, rpt_, rpt_count, sentences, tip_
from . import need
from .command import Command, Job, ModalJob, Outcome, refusal, row_of
from .export import FileExport, suggested_path
from .ignored_pairs import pair_to_set, remove_pairs, settings_of_object
from .reports import compared, show_changed_results
from .rows import deepest_frame_now, interval_at, pair_of_row, select_only, starts_of_row

_found = SimpleNamespace(
    **{"results": None, "settings": None, "visible": None, "pair_filter": None},
    **{"live": None, "pairs": None, "search": iter(()), "seconds": 0.0},
)
"""Filter and pairs that were found last, and what they were found for; what is left of a search of meshes.

A panel is drawn far more often than anything moves, and the filter needs a loop over all subjects.
"""
_SECONDS_AT_ONCE = 0.05
"""Time after which a search of meshes goes on with the next drawing of the panel."""


def overlay_now(context: Context) -> tuple[CachedOverlay, LiveShapes]:
    """Return the overlay and its shapes. Raises SceneError, in the words of the user, if it shows none."""
    if job_state.running():
        raise SceneError(message("A scan is running"))
    settings = settings_of(context)
    results = settings.results
    if not (results.contacts or results.bounds):
        raise SceneError(message("Compute bounds or find contacts first"))
    cached = find_overlay(context.scene, context.view_layer) if settings.display.show_overlay else None
    if cached is None or cached.live is None:
        raise SceneError(message("Switch Display on to see it"))
    return cached, cached.live


def pairs_now(context: Context) -> tuple[Sequence[Subject], TouchingPairs]:
    """Return all subjects, and the pairs of them whose checked shapes overlap at the playhead.

    Of meshes, what is found so far: each call goes on for about `_SECONDS_AT_ONCE`. Raises SceneError, with a
    sentence for the user, if there is nothing to check.
    """
    (cached, shown), settings = overlay_now(context), settings_of(context)
    results, wanted = settings.results, contact_settings(settings)
    # The array of flags is a new one after every change of collections, objects and visibility.
    is_same = _found.results is results and _found.visible is shown.visible and _found.settings == wanted
    if not is_same:
        result = cached.result
        parents: list[Any] = [None] * len(result.subjects)
        if wanted.ignore_parents:
            parents = [entry.parent for entry in result.objects]
        _found.pair_filter = make_scan_settings(context.scene, result.subjects, parents, wanted).tested
        _found.live = None
        _found.results, _found.settings, _found.visible = results, wanted, shown.visible
    begin = perf_counter()
    if _found.live is not shown:
        _found.live, _found.seconds = shown, 0.0
        shapes, pair_filter = shown.shapes, _found.pair_filter
        _found.search = (
            touching_meshes(shapes["mesh"], pair_filter)
            if "mesh" in shapes
            else iter([find_touching_pairs(shapes[settings.shape_of_bounds], pair_filter)])
        )
    for found in _found.search:
        _found.pairs = found
        if perf_counter() - begin > _SECONDS_AT_ONCE:
            break
    _found.seconds += perf_counter() - begin
    return cached.result.subjects, _found.pairs._replace(seconds=_found.seconds)


_SIDES = (
    ("FIRST", "First Object", "The first object of the row"),
    ("SECOND", "Second Object", "The second object of the row"),
)
_AT_START = 1e-3
"""Frames from the begin of a contact within which a click on its row has gone there."""
_ATTEMPTS = 3
"""A parent with a scale, or a location of large numbers, rounds a movement: it is then repeated."""


class COLLISION_BOUNDS_OT_accept_contacts(Command, Operator):
    """Accept contacts of this pair, with a comment: they stay in the list, and are never new"""

    bl_label = "Accept Contacts"
    needs = (need.row, need.idle, need.contacts)

    comment: StringProperty(
        name="Comment",
        description="Why contacts of this pair are accepted",
        translation_context=CONTEXT,
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: Context, _event: Event) -> set[str]:
        self.comment = row_of(context)[1].comment
        outcome: Any = context.window_manager.invoke_props_dialog(self, width=400)
        return set(outcome)

    def draw(self, context: Context) -> None:
        layout: Any = self.layout
        row = active_row(settings_of(context))
        for name in (row.a, row.b) if row is not None else ():
            layout.label(text=name, translate=False, icon="OBJECT_DATA")
        layout.activate_init = True
        layout.prop(self, "comment")

    def run(self, context: Context) -> str:
        names, a, b = pair_to_set(context)
        if a is None or b is None or a.library is not None:
            raise refusal("{a} and {b}: only pairs with an object of this file can be accepted", **names)
        remove_pairs("accepted", full_name_of(a), full_name_of(b))
        entry = settings_of_object(a).accepted.add()
        entry.name, entry.comment = full_name_of(b), self.comment
        _show_accepted(context)
        return rpt_("Contacts of {a} and {b} are accepted in this file", **names)


_needs_accepted_row = need.that(
    lambda context: row_of(context)[1].accepted, n_("Contacts of this pair are not accepted")
)


class COLLISION_BOUNDS_OT_revoke_acceptance(Command, Operator):
    """Accept contacts of this pair no longer"""

    bl_label = "Revoke Acceptance"
    needs = (need.row, need.idle, need.contacts, _needs_accepted_row)

    def run(self, context: Context) -> None:
        _, a, b = pair_to_set(context)
        if a is not None and b is not None:
            remove_pairs("accepted", full_name_of(a), full_name_of(b))
        _show_accepted(context)


def _show_accepted(context: Context) -> None:
    """Show the results of the scene with what is accepted now, compared again. The active row stays."""
    settings = settings_of(context)
    results, active = settings.results, settings.active_row
    results = replace(results, contacts=results.contacts.with_accepted_pairs())
    show_changed_results(context, compared(settings, results)[0], active)


class COLLISION_BOUNDS_OT_move_apart(Command, Operator):
    """Move one object by the shortest distance that ends the overlap of this pair"""

    bl_label = "Move Apart"
    needs = (need.idle, need.row)

    moved: one_of(
        "Move",
        "Object to move",
        (
            "AUTOMATIC",
            "Automatic",
            "The one without animation, else the active one, if it can be moved",
        ),
        *_SIDES,
        options={"SKIP_SAVE"},
    )

    def run(self, context: Context) -> Outcome:
        """Move the object that was chosen, or the first one that can be moved."""
        objects = [item for _, item in pair_of_row(context.view_layer, *row_of(context))]
        sides = {"FIRST": [0], "SECOND": [1]}.get(self.moved) or _sides_to_move(context, objects)
        refusals = []
        for side in sides:
            try:
                return self._move_side(context, objects[side], side)
            except SceneError as error:
                refusals.append(error)
        raise refusals[0]

    def _move_side(self, context: Context, item: bpy.types.Object | None, side: int) -> Outcome:
        settings, row = row_of(context)
        pair, result = entry_of_row(settings, row), settings.results.contacts
        subjects = (pair.b, pair.a) if side else (pair.a, pair.b)
        name = valid_text(result.subjects[subjects[0]].name)
        if item is None or result.subjects[subjects[0]].key[2]:
            raise refusal("{name} is not an object of this scene: move the other one", name=name)
        if item.library is not None:
            raise refusal("{name} is linked: make a library override, or move the other one", name=name)
        if (frame := _deepest_after_click(context)) is not None:
            go_to(context.scene, frame)
        distance = _move(context, item, subjects)
        if distance == 0:
            return self.cancelled(rpt_("They do not overlap at this frame"))
        length = length_text(distance, context.scene.unit_settings)
        text = rpt_("{name} moved by {distance}", name=name, distance=length)
        if not _is_animated(item):
            return text
        warning = rpt_("It is animated: insert a key, or the next frame moves it back")
        self.report({"WARNING"}, sentences([text, warning]))
        return None


def _sides_to_move(context: Context, objects: Sequence[bpy.types.Object | None]) -> list[int]:
    """Return the indices of both objects, first that which stands still, such as a table, or is active."""
    active = context.view_layer.objects.active

    def rank(side: int) -> tuple[bool, bool]:
        item: Any = objects[side]
        above = item
        while above is not None and not (_is_animated(above) or above.constraints):
            above = above.parent
        return item is None or above is not None, item != active

    return sorted((0, 1), key=rank)


def _is_animated(item: bpy.types.Object) -> bool:
    data: Any = item.animation_data
    return data is not None and bool(data.action is not None or data.nla_tracks or data.drivers)


def _deepest_after_click(context: Context) -> float | None:
    """Return the deepest frame of the active pair where its contact begins at the playhead; None elsewhere.

    A click on a row goes there, where there is nothing to move apart yet, unless that is the first frame.
    """
    settings, row = row_of(context)
    frame, starts = playhead(context.scene), starts_of_row(settings, row)
    index = interval_at(starts, frame)
    begins_now = abs(starts[index] - frame) < _AT_START and not (row.at_start and index == 0)
    return deepest_frame_now(settings, row, frame) if begins_now else None


def _move(context: Context, item: bpy.types.Object, subjects: tuple[int, int]) -> float:
    """Move an object, the first of two subjects, and return how far; 0 without an overlap.

    Raises SceneError if the object does not move, as with a constraint.
    """
    before, distance = item.matrix_world.copy(), 0.0
    for _ in range(_ATTEMPTS):
        shapes = overlay_now(context)[1].shapes
        shape = "mesh" if "mesh" in shapes else settings_of(context).shape_of_bounds
        translation = separating_translation(shapes[shape], *subjects)
        if not translation.any():
            if distance and context.scene.tool_settings.use_keyframe_insert_auto:
                item.keyframe_insert("location", frame=context.scene.frame_current_final)
            return distance
        item.matrix_world = Matrix.Translation(translation.tolist()) @ item.matrix_world
        context.view_layer.update()
        distance = (item.matrix_world.translation - before.translation).length
    item.matrix_world = before
    context.view_layer.update()
    text = n_("{name} cannot be moved apart: a constraint, a driver or its parent holds it")
    raise refusal(text, name=valid_text(item.name))


class COLLISION_BOUNDS_OT_select_touching(Command, Operator):
    """Select both objects"""

    bl_label = "Select Touching Pair"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    a: IntProperty(options={"SKIP_SAVE"})
    b: IntProperty(options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: Context, properties: COLLISION_BOUNDS_OT_select_touching) -> str:
        try:
            subjects, _ = pairs_now(context)
            a, b = (valid_text(subjects[side].name) for side in (properties.a, properties.b))
            return tip_("Select {a} and {b}", a=a, b=b)
        except (SceneError, IndexError):
            return tip_("Select both objects")

    def run(self, context: Context) -> None:
        """Select the pair; of an instance, the object that creates it."""
        cached = find_overlay(context.scene, context.view_layer)
        if cached is None or max(self.a, self.b) >= len(cached.subjects.owners):
            raise refusal("The list is out of date: click the pair again")
        uids = cached.subjects.owners[[self.a, self.b]].tolist()
        if not select_only(context, [object_by_uid(uid) for uid in uids]):
            raise refusal("These objects cannot be selected: they are hidden, or not in Object Mode")


_needs_fresh_result = need.that(
    lambda context: not settings_of(context).results.stale,
    n_("The scene changed since the scan: find contacts again"),
)
_needs_curve = need.that(
    lambda context: active_curve(settings_of(context)), n_("Compute the separation of this pair first")
)


class COLLISION_BOUNDS_OT_compute_separation(ModalJob, Operator):
    """Compute the separation of this pair's bounds at each frame of the scan, and more often near contacts"""

    bl_label = "Compute Separation"
    # Not registered: the graph starts it by itself, and it must not replace the last operation of the user.
    bl_options: ClassVar[Any] = set()

    has_partial_result = None
    busy = n_("Blender is computing a separation: stop it, or wait until it is done")
    needs = (need.idle, need.row, _needs_fresh_result)

    def _create_job(self, context: Context) -> Job:
        settings = settings_of(context)
        # The pair is that of the click: another row may be active when the job begins.
        pair, results = active_pair(settings), settings.results
        used = results.scan_settings or contact_settings(settings)
        job = separation_over_time(context.scene, results.contacts, used, pair)
        return _recorded(results.separations, pair, job)

    def _apply_result(self, context: Context, result: Any, is_stale: bool = False) -> None:
        overlay.refresh(context)
        redraw()
        if context.area is not None:
            context.area.tag_redraw()


def _recorded(separations: dict[tuple[int, int], Any], pair: tuple[int, int], job: Job) -> Job:
    """Run a job, and keep its curve, or the reason why there is none."""
    found = separations.get(pair)
    known = None if isinstance(found, str) else found
    separations[pair] = known or message("Stopped: click Compute")
    try:
        curve = yield from job
    except CollisionBoundsError as error:
        separations[pair] = known or error.message
        raise
    separations[pair] = curve
    return curve


class COLLISION_BOUNDS_OT_export_separation(FileExport, Operator):
    """Export the separation of this pair over time as CSV: frame, separation and unit"""

    bl_label = "Export Separation"
    needs = (need.idle, need.row, _needs_curve)

    filename_ext = ".csv"

    def suggest(self, context: Context) -> str:
        curve = active_curve(settings_of(context))
        names = "_".join(map(valid_text, curve.names if curve else ()))
        file = bpy.path.clean_name(f"separation_{names}")[:200] + ".csv"
        return suggested_path(context.blend_data.filepath, file)

    def run(self, context: Context) -> str:
        curve = active_curve(settings_of(context))
        units, path = context.scene.unit_settings, Path(bpy.path.abspath(self.filepath))
        has_units = units.system != "NONE"
        lengths = curve.values * (units.scale_length if has_units else 1.0)
        cells = [None if np.isnan(length) else length for length in lengths.tolist()]
        write_text(path, separation_csv(curve.frames.tolist(), cells, "m" if has_units else "units"))
        return rpt_("Exported {path}", path=message_line(str(path)))


class COLLISION_BOUNDS_OT_key_separation(Command, Operator):
    """Key the separation of this pair as a custom property, for drivers, sound and Geometry Nodes"""

    bl_label = "Key Separation"
    needs = (need.idle, need.row, _needs_curve)

    target: one_of("Object", "Object that gets the property", *_SIDES)
    property_name: StringProperty(
        name="Property",
        description="Name of the custom property. One of this name is replaced, with its keys",
        default="separation",
        maxlen=MAX_NAME,
    )

    def run(self, context: Context) -> str:
        settings, row = row_of(context)
        curve = active_curve(settings)
        name, item = pair_of_row(context.view_layer, settings, row)[int(self.target == "SECOND")]
        if item is None:
            text = n_("{name} is no longer in the scene: choose the other object")
            raise refusal(text, name=valid_text(name))
        with overlay.paused():
            # A property that only this operator has set makes no contact out of date.
            count = key_separation(context.scene, item, self.property_name, curve)
            context.view_layer.update()
        overlay.refresh(context)
        one, many = n_("{count} key of {property!r} on {name}"), n_("{count} keys of {property!r} on {name}")
        values = {"property": self.property_name, "name": valid_text(item.name)}
        return message_line(rpt_count(count, one, many, **values))
