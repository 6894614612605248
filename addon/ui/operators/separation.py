"""Operators of the separation over time of the active pair: compute, click the graph, export, key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import bpy
import numpy as np
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Event, Operator
from bpy_extras.io_utils import ExportHelper

from ...core import CollisionBoundsError
from ...core.messages import message
from ...formats import write_text
from ...formats.export.csv_table import separation_csv
from ...formats.wording import message_line, valid_text
from ...scene.blender.frames import go_to
from ...scene.jobs import result_store
from ...scene.jobs.pair_separation import MAX_NAME, key_separation, separation_over_time
from ..overlay import handlers as overlay
from ..overlay.separation_graph import frame_at
from ..overlay.state import redraw
from ..properties.scene import contact_settings, settings_of
from ..separation import ActivePair, active_curve, active_pair, record
from ..translation import n_, rpt_, rpt_count
from .command import Command, Named, needs_idle, needs_row, row_of
from .modal_job import Job, ModalJob
from .rows import pair_of_row


def _needs_fresh_result(context: Context) -> str:
    active = active_pair(settings_of(context))
    is_fresh = active is not None and not result_store.get(active.result_id).stale
    return "" if is_fresh else n_("The scene changed since the scan: find contacts again")


def _needs_curve(context: Context) -> str:
    curve = active_curve(settings_of(context))
    return n_("Compute the separation of this pair first") if curve is None else ""


class COLLISION_BOUNDS_OT_compute_separation(ModalJob, Operator):
    """Compute the separation of this pair's bounds at each frame of the scan, and more often near contacts"""

    bl_label = "Compute Separation"
    # Not registered: the graph starts it by itself, and it must not replace the last operation of the user.
    bl_options: ClassVar[Any] = set()

    has_partial_result = None
    busy = n_("Blender is computing a separation: stop it, or wait until it is done")
    needs = (needs_idle, needs_row, _needs_fresh_result)

    def _create_job(self, context: Context) -> Job:
        settings = settings_of(context)
        active = active_pair(settings)
        assert active is not None, "a pair is needed"
        used = result_store.get(active.result_id).scan_settings or contact_settings(settings)
        return _with_record(active, separation_over_time(context.scene, active.result, used, active.pair))

    def _apply_result(self, context: Context, result: Any, is_stale: bool = False) -> set[str]:
        overlay.refresh(context)
        redraw()
        if context.area is not None:
            context.area.tag_redraw()
        return {"FINISHED"}


def _with_record(active: ActivePair, job: Job) -> Job:
    """Run a job, and keep its curve, or the reason why there is none."""
    record(active, message("Stopped: click Compute"))
    try:
        curve = yield from job
    except CollisionBoundsError as error:
        record(active, error.message)
        raise
    record(active, curve)
    return curve


class COLLISION_BOUNDS_OT_click_graph(Named, Operator):
    """Jump to the frame under the mouse in the graph of the separation"""

    bl_label = "Go to Frame of Graph"
    bl_options: ClassVar = {"INTERNAL", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether the context is a 3D viewport with the graph."""
        return (
            context.scene is not None
            and context.area is not None
            and context.area.type == "VIEW_3D"
            and settings_of(context).display.show_separation
        )

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Jump to the frame; a click elsewhere passes through."""
        frame = frame_at(context, (event.mouse_region_x, event.mouse_region_y))
        if frame is None:
            return {"PASS_THROUGH"}
        go_to(context.scene, frame)
        return {"FINISHED"}


class COLLISION_BOUNDS_OT_export_separation(Command, Operator, ExportHelper):
    """Export the separation of this pair over time as CSV: frame, separation and unit"""

    bl_label = "Export Separation"
    bl_options: ClassVar = {"REGISTER"}
    needs = (needs_idle, needs_row, _needs_curve)

    filename_ext = ".csv"
    filter_glob: StringProperty(default="*.csv", options={"HIDDEN"})
    if TYPE_CHECKING:
        filepath: str  # ExportHelper declares it as a property

    def invoke(self, context: Context, event: Event) -> set[str]:
        """Suggest a file next to the blend file, named after the pair."""
        curve = active_curve(settings_of(context))
        if curve is not None:
            names = "_".join(valid_text(name) for name in curve.names)
            file = bpy.path.clean_name(f"separation_{names}")[:200] + ".csv"
            self.filepath = str(Path(context.blend_data.filepath or "untitled.blend").with_name(file))
        invoked: Any = super().invoke(context, event)  # the type stubs return literals
        return set(invoked)

    def run(self, context: Context) -> None:
        """Write the file."""
        curve = active_curve(settings_of(context))
        assert curve is not None, "a curve is needed"
        units, path = context.scene.unit_settings, Path(bpy.path.abspath(self.filepath))
        has_units = units.system != "NONE"
        lengths = curve.values * (units.scale_length if has_units else 1.0)
        cells = [None if np.isnan(length) else length for length in lengths.tolist()]
        write_text(path, separation_csv(curve.frames.tolist(), cells, "m" if has_units else "units"))
        self.report({"INFO"}, rpt_("Exported {path}", path=message_line(str(path))))


class COLLISION_BOUNDS_OT_key_separation(Command, Operator):
    """Key the separation of this pair as a custom property, for drivers, sound and Geometry Nodes"""

    bl_label = "Key Separation"
    needs = (needs_idle, needs_row, _needs_curve)

    target: EnumProperty(
        name="Object",
        description="Object that gets the property",
        items=(
            ("FIRST", "First Object", "The first object of the row"),
            ("SECOND", "Second Object", "The second object of the row"),
        ),
    )
    property_name: StringProperty(
        name="Property",
        description="Name of the custom property. One of this name is replaced, with its keys",
        default="separation",
        maxlen=MAX_NAME,
    )

    def run(self, context: Context) -> set[str] | None:
        """Write the keys."""
        settings, row = row_of(context)
        curve = active_curve(settings)
        assert curve is not None, "a curve is needed"
        name, item = pair_of_row(context.view_layer, settings, row)[int(self.target == "SECOND")]
        if item is None:
            text = n_("{name} is no longer in the scene: choose the other object")
            return self.refuse(rpt_(text, name=valid_text(name)))
        with overlay.paused():
            # A property that only this operator has set makes no contact out of date.
            count = key_separation(context.scene, item, self.property_name, curve)
            context.view_layer.update()
        overlay.refresh(context)
        one, many = n_("{count} key of {property!r} on {name}"), n_("{count} keys of {property!r} on {name}")
        values = {"property": self.property_name, "name": valid_text(item.name)}
        text = rpt_count(count, one, many, **values)
        self.report({"INFO"}, message_line(text))
        return None
