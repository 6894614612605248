"""Contacts that are kept with the file: the JSON document of each scene that wants it, in a text block."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ....core import CollisionBoundsError
from ....core.messages import message
from ....formats import file_text, parse_document, read_document
from ....formats.wording import message_line
from ....scene.blender.names import name_of
from ....scene.jobs import result_store
from ....scene.jobs.loaded_report import loaded_report
from ...overlay import handlers as overlay
from ...properties.scene import settings_on
from .load_report import show_report

_STALE = "collision_bounds_stale"
"""Custom property of a text block whose contacts are older than the last change of the scene."""
_UNREADABLE = "collision_bounds_unreadable"
"""Custom property of a text block that could not be read; it stays in the file until the next scan."""


def store(owner: bpy.types.Scene) -> None:
    """Write the contacts of a scene to its text block; remove the block if it has none, or wants none."""
    settings: Any = settings_on(owner)
    results, text = result_store.get(settings.result_id), settings.kept_results
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
