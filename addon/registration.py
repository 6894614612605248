"""Registration of everything that the extension adds to Blender, and its removal.

Each step pushes its undo step onto one stack. The stack is unwound if a registration fails half-way, and when
the extension is disabled.
"""

from __future__ import annotations

import atexit
import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib import import_module
from types import ModuleType
from typing import Any, get_type_hints

import bpy

from . import api
from .cli import PROGRAM
from .cli.main import run_process
from .scene.blender import object_properties, private_scene
from .scene.blender.parts import known_rows
from .ui import job_state, texts
from .ui.operators import pointing, reports, rows
from .ui.overlay import handlers as overlay
from .ui.overlay.state import redraw
from .ui.panels import export, menus, sidebar
from .ui.properties import options, preferences
from .ui.properties import scene as scene_properties
from .ui.row_order import regroup

# Property groups come before the groups that contain them; panels are in the order of the tab.
_MODULES = (
    *("properties.contact_list", "properties.preferences", "properties.scene"),
    *("operators.object", "operators.jobs", "operators.rows", "operators.ignored_pairs", "operators.pairs"),
    "operators.groups",
    *("operators.reports", "operators.pointing", "operators.export", "operators.colliders"),
    *("panels.menus", "gizmos"),
    *("panels.bounds", "panels.object", "panels.colliders", "panels.contact_list", "panels.contacts"),
    *("panels.display", "panels.export"),
)
"""Modules of `ui` with classes of Blender."""


def _classes_of(module: ModuleType) -> Iterator[type]:
    """Yield the classes of Blender that a module defines, in the order of their definition."""
    for cls in dict.fromkeys(filter(inspect.isclass, vars(module).values())):
        if issubclass(cls, bpy.types.bpy_struct) and cls.__module__ == module.__name__:
            yield cls


_CLASSES = tuple(cls for name in _MODULES for cls in _classes_of(import_module(f".ui.{name}", __package__)))


def _subscriptions() -> tuple[tuple[Any, Callable[..., None]], ...]:
    """Return what Blender and the properties call: lists and menus, each with the function to append."""
    handlers: Any = bpy.app.handlers
    return (
        *private_scene.subscriptions(),
        (bpy.types.VIEW3D_MT_object, menus.draw_in_object),
        (bpy.types.TOPBAR_MT_file_export, menus.draw_in_export),
        (bpy.types.TOPBAR_MT_file_import, menus.draw_in_import),
        (options.display_changed, lambda _owner, context: overlay.refresh(context)),
        (options.style_changed, lambda _owner, _context: redraw()),
        (options.active_contact_changed, rows.go_to_active_row),
        (options.grouping_changed, lambda owner, _context: regroup(owner.id_data)),
        (options.tab_renamed, sidebar.rename),
        (handlers.frame_change_post, overlay.after_frame),
        (handlers.depsgraph_update_post, overlay.after_update),
        (handlers.undo_post, overlay.after_undo),
        (handlers.redo_post, overlay.after_undo),
        (handlers.save_pre, reports.store_all),
        (handlers.load_post, overlay.after_load),
        # After the overlay has dropped the results of the file before.
        (handlers.load_post, reports.restore_all),
    )


_attached = ExitStack()


def register() -> None:
    """Add classes, properties, the menu entry, the overlay and the command line."""
    with ExitStack() as stack:
        texts.attach()
        stack.callback(texts.detach)
        for cls in _CLASSES:
            # Nothing of a scene can be keyframed: a key on the active row would choose it at each frame.
            if issubclass(cls, bpy.types.PropertyGroup):
                cls.__annotations__ = get_type_hints(cls)
                for definition in cls.__annotations__.values():
                    definition.keywords.setdefault("options", set())
            bpy.utils.register_class(cls)
            stack.callback(bpy.utils.unregister_class, cls)
        scene_properties.attach()
        stack.callback(scene_properties.detach)
        stack.callback(job_state.detach)
        for module in (
            object_properties,
            known_rows,
            menus,
            overlay,
            pointing,
            sidebar,
            export,
            preferences,
            api,
        ):
            module.attach()
            stack.callback(module.detach)
        for listeners, listener in _subscriptions():
            listeners.append(listener)
            stack.callback(listeners.remove, listener)
        command = bpy.utils.register_cli_command(PROGRAM, _run_command)
        stack.callback(bpy.utils.unregister_cli_command, command)
        _attached.push(stack.pop_all())
    # Blender as a module calls handlers and frees classes after Python has cleared the modules they need.
    atexit.register(unregister)


def unregister() -> None:
    """Remove everything again, in reverse order."""
    atexit.unregister(unregister)
    _attached.close()


def _run_command(arguments: list[str]) -> int:
    """Run `blender FILE --command collision_bounds ...`; Blender has opened the file already."""
    windows = bpy.context.window_manager.windows
    # Without a current window, Blender would evaluate another view layer than the one that was saved.
    context: Any = bpy.context
    with context.temp_override(window=windows[0] if windows else None):
        return run_process(arguments, opens_file=False)
