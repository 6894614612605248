"""Reports: load contacts from a JSON file, and keep those of each scene that wants it in its blend file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Context, Operator

from ....core import CollisionBoundsError
from ....core.messages import message
from ....formats import file_text, parse_document, read_document, read_file
from ....formats.wording import message_line
from ....scene.blender.names import name_of
from ....scene.jobs import result_store
from ....scene.jobs.result import LoadedReport, loaded_report
from ...contact_rows import fill_rows
from ...overlay import handlers as overlay
from ...properties.scene import fit_settings, results_of, settings_of, settings_on
from ...translation import rpt_, rpt_count
from ..command import needs_idle
from ..messages import first_and_count
from . import markers
from .baseline import LoadJson, compared

_NAMED = 3
"""Number of missing objects that are named in the message."""
_STALE = "collision_bounds_stale"
"""Custom property of a text block whose contacts are older than the last change of the scene."""
_UNREADABLE = "collision_bounds_unreadable"
"""Custom property of a text block that could not be read; it stays in the file until the next scan."""


class COLLISION_BOUNDS_OT_load_report(LoadJson, Operator):
    """Load contacts from a JSON report and list them for this scene"""

    bl_idname = "collision_bounds.load_report"
    bl_label = "Load Report"
    needs = (needs_idle,)

    def run(self, context: Context) -> None:
        """Read the report and fill the list."""
        path = Path(bpy.path.abspath(self.filepath))
        loaded, file = loaded_report(context.scene, read_file(path)), message_line(path.name)
        show_report(context.scene, loaded, file)
        markers.renew(context.scene)
        with overlay.paused():
            # Filling rows updates the scene, whose rigid bodies are then reported as moved although nothing
            # did.
            context.view_layer.update()
        overlay.refresh(context)
        if loaded.missing:
            names = first_and_count(loaded.missing, _NAMED)
            self.report({"WARNING"}, rpt_("Not shown in this scene: {names}", names=names))
        else:
            count = len(settings_of(context).rows)
            text = rpt_count(count, "{file}: {count} row", "{file}: {count} rows", file=file)
            self.report({"INFO"}, text)


def show_report(scene: bpy.types.Scene, loaded: LoadedReport, source: str, stale: bool = False) -> None:
    """List the contacts of a report as the results of a scene; `source` names where it is from."""
    settings = settings_on(scene)
    fill_rows(settings, loaded.result)
    results = result_store.Results(loaded.result, loaded.result, stale, source=source)
    if any(entry.envelope for entry in loaded.result.objects):
        results = results.with_envelopes(loaded.result, fit_settings(settings), stale)
    settings.result_id = result_store.put(compared(settings, results)[0])


def store(owner: bpy.types.Scene) -> None:
    """Write the contacts of a scene to its text block; remove the block if it has none, or wants none."""
    settings: Any = settings_on(owner)
    results, text = results_of(settings), settings.kept_results
    if text is not None and any(
        settings_on(scene).kept_results == text for scene in bpy.data.scenes if scene != owner
    ):
        # One of the scenes is a copy.
        text = settings.kept_results = None
    if results.contacts is not None and settings.keep_results:
        if text is None:
            text = settings.kept_results = bpy.data.texts.new(f"Contacts of {name_of(owner)}.json")
        text.from_string("".join(file_text(results.contacts.document(), "json")))
        text[_STALE], text[_UNREADABLE] = results.stale, False
    elif text is not None and not (settings.keep_results and text.get(_UNREADABLE)):
        settings.kept_results = None
        bpy.data.texts.remove(text)


def restore(scene: bpy.types.Scene) -> None:
    """Show the contacts that are kept with a scene. Raises CollisionBoundsError if they cannot be read."""
    settings: Any = settings_on(scene)
    text: Any = settings.kept_results
    if text is None:
        return
    context: Any = bpy.context  # the type stubs describe temp_override wrongly
    with context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        loaded = loaded_report(scene, read_document(parse_document(text.as_string())))
        show_report(scene, loaded, message("this file"), bool(text.get(_STALE)))


@persistent
def _on_save(*_unused: object) -> None:
    for scene in bpy.data.scenes:
        if scene.library is None:
            store(scene)


@persistent
def _on_load(*_unused: object) -> None:
    for scene in bpy.data.scenes:
        try:
            restore(scene)
        except CollisionBoundsError as error:
            text: Any = settings_on(scene).kept_results
            text[_UNREADABLE] = True
            reason = message_line(str(error))
            print(f"Collision Bounds: contacts that are kept with {name_of(scene)} cannot be read: {reason}")
    overlay.refresh(bpy.context)


def attach() -> None:
    """Add the handlers, after those of the overlay, which drop the results of the file before."""
    bpy.app.handlers.save_pre.append(_on_save)
    bpy.app.handlers.load_post.append(_on_load)


def detach() -> None:
    """Remove the handlers."""
    bpy.app.handlers.load_post.remove(_on_load)
    bpy.app.handlers.save_pre.remove(_on_save)
