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
from .ui import operators, overlay, panels, properties

_CLASSES = (properties.ContactRow, properties.SceneSettings, *operators.CLASSES, *panels.CLASSES)

_attached = ExitStack()


def register() -> None:
    """Add classes, properties, the menu entry, the overlay and the command line."""
    with ExitStack() as stack:
        for cls in _CLASSES:
            bpy.utils.register_class(cls)
            stack.callback(bpy.utils.unregister_class, cls)
        for attach, detach in (
            (properties.attach, properties.detach),
            (operators.attach_menu, operators.detach_menu),
            (overlay.attach, overlay.detach),
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
