"""Compute Bounds, Compute Envelope, and Clear Results."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import ClassVar

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, Operator

from ..core import CollisionBoundsError, Progress
from ..core.contacts import never
from ..formats.wording import counted
from ..scene import session
from ..scene.jobs import BoundsSettings, compute_bounds, play_bounds
from ..scene.result import Result
from . import overlay, running_scan
from .messages import left_out, nothing_to_do, stayed_linear, sticking_out
from .object_operators import measure_active
from .options import METHOD, PADDING, SCOPE, settle
from .properties import OnObjects, begun, bounds_settings, has_results, settings_of
from .scene_settings import fit_settings
from .sliced_job import SlicedJob


class ComputeBounds(OnObjects, Operator):
    """Fit a bounding sphere and box to each object and show them"""

    bl_idname = "collision_bounds.compute"
    bl_label = "Compute Bounds"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    method: EnumProperty(**METHOD, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene, and no scan that is under way in it."""
        return running_scan.lets(cls) and context.scene is not None

    def execute(self, context: Context) -> set[str]:
        """Compute and keep the result."""
        settings = begun(context)
        settle(self, settings, ("scope", "method", "padding"))
        try:
            result = compute_bounds(context.scene, bounds_settings(settings))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if problem := nothing_to_do(len(result.objects), result.skipped, settings.scope):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        # New bounds replace contacts of other objects or other settings: two truths would be one too many.
        settings.rows.clear()
        before, found = session.get(settings.result_id), session.Results(bounds=result)
        settings.result_id = session.put(found.keeping_envelopes(before, fit_settings(settings)))
        measure_active(context)
        overlay.refresh(context)
        remarks = left_out(result.skipped) + sticking_out(result)
        self.report({"INFO"}, f"Bounds of {counted(len(result.objects), 'object')}{remarks}")
        return {"FINISHED"}


class ComputeEnvelope(OnObjects, SlicedJob, Operator):
    """Put one box and one sphere around all that each object sweeps over the animation, between frames too"""

    bl_idname = "collision_bounds.compute_envelope"
    bl_label = "Compute Envelope"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    keeps_part = False
    doing = "computing envelopes"
    scope: EnumProperty(**SCOPE, options={"SKIP_SAVE"})
    method: EnumProperty(**METHOD, options={"SKIP_SAVE"})
    padding: FloatProperty(**PADDING, options={"SKIP_SAVE"})

    _asked: BoundsSettings | None = None

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene, and no scan that is under way in it."""
        return running_scan.lets(cls) and context.scene is not None

    def _started(
        self, context: Context, _stops: Callable[[], bool] = never
    ) -> Generator[Progress, None, Result]:
        settings = begun(context)
        settle(self, settings, ("scope", "method", "padding"))
        self._asked = replace(bounds_settings(settings), envelope=True)
        return play_bounds(context.scene, self._asked)

    def _finished(self, context: Context, result: Result, is_stale: bool = False) -> set[str]:
        settings = settings_of(context)
        if problem := nothing_to_do(len(result.objects), result.skipped, settings.scope):
            self.report({"ERROR"}, problem)
            return {"CANCELLED"}
        assert self._asked is not None, "it was started"
        before = session.get(settings.result_id)
        after = before.with_envelopes(result, self._asked.fit, is_stale)
        if after.contacts is None:
            settings.rows.clear()
        settings.result_id = session.put(after)
        measure_active(context)
        overlay.refresh(context)
        count = sum(bool(entry.envelope) for entry in result.objects)
        time = result.time
        what = f"{counted(count, 'envelope')}, frames {time.start:g} to {time.end:g}"
        self.report({"INFO"}, what + stayed_linear(result) + left_out(result.skipped))
        return {"FINISHED"}


class ClearResults(Operator):
    """Remove the bounds and contacts that are shown; objects are not touched"""

    bl_idname = "collision_bounds.clear"
    bl_label = "Clear Results"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs results, and no scan that is under way."""
        if not running_scan.lets(cls):
            return False
        if has_results(context):
            return True
        cls.poll_message_set("There are no results to clear")
        return False

    def execute(self, context: Context) -> set[str]:
        """Forget them."""
        settings = settings_of(context)
        settings.rows.clear()
        settings.result_id = ""
        overlay.refresh(context)
        return {"FINISHED"}


CLASSES = (ComputeBounds, ComputeEnvelope, ClearResults)
