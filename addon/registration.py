"""Everything the extension adds to Blender, in one place, and the way back.

Each attachment pushes its own undo on one stack. A registration that fails half-way unwinds what it did; so
does disabling the extension.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

import bpy

from . import cli
from .options import PROGRAM
from .ui import (
    bounds_operators,
    bounds_panel,
    collider_operators,
    collider_settings,
    contact_list,
    contact_rows,
    contacts_panel,
    display_panel,
    display_settings,
    export_operators,
    export_panel,
    fit_measures,
    gizmos,
    gltf_export,
    markers,
    menus,
    object_operators,
    object_panels,
    object_settings,
    overlay,
    preferences,
    presets,
    properties,
    report_loading,
    results_operators,
    running_scan,
    scan_operator,
)

# Groups of properties before what holds them, and panels in the order of the tab.
_CLASSES = (
    *contact_rows.CLASSES,
    *preferences.CLASSES,
    *display_settings.CLASSES,
    *gltf_export.CLASSES,
    *collider_settings.CLASSES,
    *properties.CLASSES,
    *object_operators.CLASSES,
    *bounds_operators.CLASSES,
    *scan_operator.CLASSES,
    *results_operators.CLASSES,
    *markers.CLASSES,
    *report_loading.CLASSES,
    *export_operators.CLASSES,
    *collider_operators.CLASSES,
    *presets.CLASSES,
    *menus.CLASSES,
    *gizmos.CLASSES,
    *bounds_panel.CLASSES,
    *object_panels.CLASSES,
    *contact_list.CLASSES,
    *contacts_panel.CLASSES,
    *display_panel.CLASSES,
    *export_panel.CLASSES,
)

_attached = ExitStack()


def register() -> None:
    """Add classes, properties, the menu entry, the overlay and the command line."""
    with ExitStack() as stack:
        for cls in _CLASSES:
            bpy.utils.register_class(cls)
            stack.callback(bpy.utils.unregister_class, cls)
        for attach, detach in (
            (properties.attach, properties.detach),
            (running_scan.attach, running_scan.detach),
            (object_settings.attach, object_settings.detach),
            (menus.attach, menus.detach),
            (overlay.attach, overlay.detach),
            (fit_measures.attach, fit_measures.detach),
            (preferences.attach, preferences.detach),
            (gltf_export.attach, gltf_export.detach),
        ):
            attach()
            stack.callback(detach)
        command = bpy.utils.register_cli_command(PROGRAM, _run_command)
        stack.callback(bpy.utils.unregister_cli_command, command)
        _attached.push(stack.pop_all())


def unregister() -> None:
    """Undo all of it, last first."""
    _attached.close()


def _run_command(arguments: list[str]) -> int:
    """`blender FILE --command collision_bounds ...`: the file is open already."""
    code = cli.main(arguments, opens_file=False)
    sys.stdout.flush()
    return code
