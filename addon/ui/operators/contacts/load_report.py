"""Load Report: show contacts from a JSON report, for example one of a render farm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Operator
from bpy_extras.io_utils import ImportHelper

from ....core import CollisionBoundsError
from ....formats import read_file
from ....formats.wording import message_line
from ....scene.jobs import result_store
from ....scene.jobs.loaded_report import LoadedReport, loaded_report
from ... import job_state
from ...contact_rows import fill_rows
from ...overlay import handlers as overlay
from ...properties.scene import fit_settings, settings_of, settings_on
from ...translation import error_text, rpt_, rpt_count
from . import markers
from .baseline import compared

_NAMED = 3
"""Number of missing objects that are named in the message."""


class COLLISION_BOUNDS_OT_load_report(Operator, ImportHelper):
    """Load contacts from a JSON report and list them for this scene"""

    bl_idname = "collision_bounds.load_report"
    bl_label = "Load Report"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str  # ImportHelper declares it as a property
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Return whether there is a scene, and no job is running."""
        return job_state.poll_idle(cls) and context.scene is not None

    def execute(self, context: Context) -> set[str]:
        """Read the report and fill the list."""
        path = Path(bpy.path.abspath(self.filepath))
        try:
            loaded = loaded_report(context.scene, read_file(path))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, message_line(error_text(error)))
            return {"CANCELLED"}
        show_report(context.scene, loaded, message_line(path.name))
        markers.renew(context.scene)
        with overlay.paused():
            # Filling rows updates the scene, whose rigid bodies are then reported as moved although nothing
            # did.
            context.view_layer.update()
        overlay.refresh(context)
        if loaded.missing:
            names = _shortened_list(loaded.missing)
            self.report({"WARNING"}, rpt_("Not shown in this scene: {names}", names=names))
        else:
            text = rpt_count(
                len(settings_of(context).rows),
                "{file}: {count} row",
                "{file}: {count} rows",
                file=message_line(path.name),
            )
            self.report({"INFO"}, text)
        return {"FINISHED"}


def show_report(scene: bpy.types.Scene, loaded: LoadedReport, source: str, stale: bool = False) -> None:
    """List the contacts of a report as the results of a scene; `source` names where it is from."""
    settings = settings_on(scene)
    fill_rows(settings, loaded.result)
    results = result_store.Results(loaded.result, loaded.result, stale, source=source)
    if any(entry.envelope for entry in loaded.result.objects):
        results = results.with_envelopes(loaded.result, fit_settings(settings), stale)
    settings.result_id = result_store.put(compared(settings, results)[0])


def _shortened_list(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    return rpt_("{first} and {count} more", first=shown, count=more) if more > 0 else shown


CLASSES = (COLLISION_BOUNDS_OT_load_report,)
