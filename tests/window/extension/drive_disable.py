"""In Blender's window: disable the extension while it shows something, then enable it again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PACKAGE = "bl_ext.user_default.collision_bounds"


def traces() -> dict[str, Any]:
    """Everything of the extension that Blender can be asked for."""
    handlers = {
        f"{kind}: {handler.__module__}"
        for kind in dir(bpy.app.handlers)
        if isinstance(listed := getattr(bpy.app.handlers, kind), list)
        for handler in listed
        if handler.__module__.startswith(PACKAGE)
    }
    entries = bpy.types.TOPBAR_MT_file_export._dyn_ui_initialize()
    return {
        "handlers": sorted(handlers),
        "scene property": hasattr(bpy.types.Scene, "collision_bounds"),
        "classes": sorted(name for name in dir(bpy.types) if "collision_bounds" in name.lower()),
        "subclasses": sorted(
            cls.__name__
            for base in (bpy.types.Operator, bpy.types.Panel, bpy.types.UIList, bpy.types.PropertyGroup)
            for cls in base.__subclasses__()
            if cls.__module__.startswith(PACKAGE) and cls.is_registered
        ),
        "operators": sorted(dir(bpy.ops.collision_bounds)),
        "menu entries": sorted(entry.__module__ for entry in entries if entry.__module__.startswith(PACKAGE)),
    }


def story(hands: Hands) -> Steps:
    """Show, disable, enable, show."""
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    yield from hands.note("before")
    hands.settings.scope = "VISIBLE"
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("enabled", traces=traces())
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield from hands.settle()
    yield from hands.note("disabled", traces=traces(), tab=hands.region("UI").active_panel_category)
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    yield from hands.settle()
    yield from hands.note("enabled again", traces=traces())
    yield from hands.open_tab("Collision Bounds")
    hands.settings.scope = "VISIBLE"
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("shown again")


run(story)
