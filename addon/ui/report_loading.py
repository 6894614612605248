"""Load Report: what the command line has found, to be looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Operator
from bpy_extras.io_utils import ImportHelper

from ..core import CollisionBoundsError
from ..formats import read_file
from ..formats.wording import counted
from ..scene import session
from ..scene.loaded_report import loaded_report
from . import markers, overlay, running_scan
from .contact_rows import fill_rows
from .properties import settings_of
from .scene_settings import fit_settings

_NAMED = 3
"""Missing objects that are named; of more, how many."""


class LoadReport(Operator, ImportHelper):
    """Read contacts that the command line has written, and list them for this scene"""

    bl_idname = "collision_bounds.load_report"
    bl_label = "Load Report"
    bl_options: ClassVar = {"REGISTER", "UNDO"}

    filename_ext = ".json"
    if TYPE_CHECKING:
        filepath: str  # ImportHelper declares it as a property
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Needs a scene, and no scan under way."""
        return running_scan.lets(cls) and context.scene is not None

    def execute(self, context: Context) -> set[str]:
        """Read the file and show what it tells."""
        path = Path(bpy.path.abspath(self.filepath))
        try:
            loaded = loaded_report(context.scene, read_file(path))
        except CollisionBoundsError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        settings = settings_of(context)
        fill_rows(settings, loaded.result)
        kept = session.Results(loaded.result, loaded.result, source=path.name)
        if any(entry.envelope for entry in loaded.result.objects):
            kept = kept.with_envelopes(loaded.result, fit_settings(settings), stale=False)
        settings.result_id = session.put(kept)
        markers.renew(context.scene)
        with overlay.paused():
            # Rows belong to the scene; with it rigid bodies report that they moved, which nobody did.
            context.view_layer.update()
        overlay.refresh(context)
        if loaded.missing:
            self.report({"WARNING"}, f"Not shown in this scene: {_listed(loaded.missing)}")
        else:
            self.report({"INFO"}, f"{path.name}: {counted(len(settings.rows), 'row')}")
        return {"FINISHED"}


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown


CLASSES = (LoadReport,)
