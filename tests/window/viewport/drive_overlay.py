"""In Blender's window: the overlay with filled shapes, in local view, with a hidden object, in quad view."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, and change the overlay, the visible objects and the views."""
    view = driver.area.spaces.active
    view.show_gizmo = False
    driver.settings.shape = "aabb"
    with driver.context():
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
    settings, display = driver.settings, driver.settings.display
    rows = [(row.a, row.b) for row in settings.rows]
    settings.active_row = rows.index(("Plate", "Projectile"))
    driver.set_view((-2.75, -0.7, 0.6), 12, (1.12, 0.0, -0.42))
    display.show_contact = display.show_ghosts = False
    yield from driver.wait_for_redraw()
    yield from driver.note("active row")
    settings.active_row = -1  # the playhead stays there; while a row is active, all but its pair is faint
    yield from driver.wait_for_redraw()
    yield from driver.note("wire")
    display.show_overlay = False
    yield from driver.note("off")
    display.show_overlay = display.show_contact = display.show_ghosts = True
    display.draw_as, display.show_names = "BOTH", True
    display.in_front = False
    yield from driver.note("filled")
    display.draw_as, display.show_names, display.in_front = "WIRE", False, True
    for item in bpy.context.view_layer.objects:
        item.select_set(item.name == "Plate")
    with driver.context():
        bpy.ops.view3d.localview(frame_selected=False)
    yield from driver.wait_for_redraw()
    from bl_ext.user_default.collision_bounds.ui.overlay.state import find_overlay

    boxes = len(find_overlay(bpy.context.scene, bpy.context.view_layer).draw_data.by_mesh["boxes"])
    yield from driver.note("local view", boxes=boxes)
    with driver.context():
        bpy.ops.view3d.localview(frame_selected=False)
    bpy.data.objects["Plate"].hide_set(True)
    yield from driver.wait_for_redraw()
    yield from driver.note("hidden")
    bpy.data.objects["Plate"].hide_set(False)
    with driver.context():
        bpy.ops.screen.region_quadview()
    yield from driver.wait_for_redraw()
    yield from driver.note("quad view")
    with driver.context():
        bpy.ops.screen.region_quadview()
    yield from driver.wait_for_redraw()
