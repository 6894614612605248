"""In Blender's window: disable the extension while its overlay is shown, then enable it again."""

from __future__ import annotations

from typing import Any

import bpy
from window_driver import PACKAGE, Steps, WindowDriver


def registrations() -> dict[str, Any]:
    """Return everything of the extension that is registered in Blender."""
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


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, disable, enable, compute bounds."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.note("before")
    driver.settings.scope = "VISIBLE"
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("enabled", registrations=registrations())
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    yield from driver.wait_for_redraw()
    tab = driver.region("UI").active_panel_category
    yield from driver.note("disabled", registrations=registrations(), tab=tab)
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    yield from driver.wait_for_redraw()
    yield from driver.note("enabled again", registrations=registrations())
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed again")
