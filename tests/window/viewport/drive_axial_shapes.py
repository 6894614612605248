"""In Blender's window: compute cylinders and the smallest boxes, and show cylinders and capsules."""

from __future__ import annotations

from pathlib import Path

import bpy
from window_driver import Steps, WindowDriver


def scenario(driver: WindowDriver) -> Steps:
    """Compute shapes, and look at them in two themes."""
    driver.set_view((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    settings, display = driver.settings, driver.settings.display
    settings.scope = "VISIBLE"
    settings.shape = "aabb"  # of these, some are in contact, so that both colors are seen
    settings.added_shapes = {"cylinder"}
    yield from driver.note("chosen", added=sorted(settings.added_shapes), drawn=display.shapes_drawn)
    with driver.context():
        bpy.ops.collision_bounds.compute_bounds("EXEC_DEFAULT", scope="VISIBLE", box_axes="smallest")
    yield from driver.move_to_viewport()

    def shapes_of(name: str) -> list[str]:
        entry = next(entry for entry in driver.result.bounds.objects if entry.name == name)
        return [type(shape).__name__ for shape in entry.world]

    yield from driver.note("computed", shapes=shapes_of("Plate"))
    settings = driver.settings
    for shown in ("nothing", "show_capsules", "show_cylinders"):
        for switch in ("show_boxes", "show_capsules", "show_cylinders"):
            setattr(settings.display, switch, switch == shown)
        yield from driver.wait_for_redraw()
        yield from driver.note(shown)
    settings.display.show_capsules, settings.display.draw_as = True, "BOTH"
    settings.display.in_front = False
    path = next(Path(bpy.utils.resource_path("SYSTEM")).rglob("Blender_Light.xml"), None)
    path = path or next(Path(bpy.utils.resource_path("LOCAL")).rglob("Blender_Light.xml"))
    bpy.ops.script.execute_preset(filepath=str(path), menu_idname="USERPREF_MT_interface_theme_presets")
    yield from driver.wait_for_redraw()
    yield from driver.note("light theme")
