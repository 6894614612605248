"""Everything the extension adds to Blender, in one place, and the way back.

Each attachment pushes its own undo on one stack. A registration that fails half-way unwinds what it did; so
does disabling the extension.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack

import bpy

from .cli import main as cli
from .cli.parser import PROGRAM
from .scene.blender import object_properties
from .ui import fit_measures, gizmos, gltf_export, job_state
from .ui.operators import bounds as bounds_operators
from .ui.operators import colliders as collider_operators
from .ui.operators import contacts as scan_operator
from .ui.operators import export as export_operators
from .ui.operators import load_report as report_loading
from .ui.operators import markers, pair_selection
from .ui.operators import object as object_operators
from .ui.operators import results as results_operators
from .ui.overlay import handlers as overlay
from .ui.panels import bounds as bounds_panel
from .ui.panels import contact_list, menus, presets, sidebar
from .ui.panels import contacts as contacts_panel
from .ui.panels import display as display_panel
from .ui.panels import export as export_panel
from .ui.panels import object as object_panels
from .ui.properties import collider as collider_settings
from .ui.properties import contact_list as contact_rows
from .ui.properties import display as display_settings
from .ui.properties import gltf as gltf_settings
from .ui.properties import preferences
from .ui.properties import scene as properties

# Groups of properties before what holds them, and panels in the order of the tab.
_CLASSES = (
    *contact_rows.CLASSES,
    *preferences.CLASSES,
    *display_settings.CLASSES,
    *gltf_settings.CLASSES,
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
            (job_state.attach, job_state.detach),
            (object_properties.attach, object_properties.detach),
            (menus.attach, menus.detach),
            (overlay.attach, overlay.detach),
            (fit_measures.attach, fit_measures.detach),
            (pair_selection.attach, pair_selection.detach),
            (sidebar.attach, sidebar.detach),
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
