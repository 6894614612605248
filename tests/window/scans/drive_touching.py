"""In Blender's window: the panel of what touches now, a click on a pair, and a move."""

from __future__ import annotations

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

LONG = "Warehouse_Shelf_Section_North_"


def add_objects() -> None:
    """Make a scene: a long cart moves past boxes, several of which it touches at a time."""
    empty_scene(50)
    for number in range(12):
        add_box(f"{LONG}Box_{number:02}", 2 * number)
    cart = add_box(f"{LONG}Cart", -10, 0.6)
    cart.scale.x = 5
    move(cart, (1, -10, 0.6, 0), (50, 22, 0.6, 0))


def add_notch() -> None:
    """Add an L, and in its notch a box that touches nothing; far from all others."""
    mesh = bpy.data.meshes.new("L")
    outline = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3)]
    points = [(x, y + 10, z) for z in (0, 1) for x, y in outline]
    sides = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
    mesh.from_pydata(points, [], [tuple(range(5, -1, -1)), tuple(range(6, 12)), *sides])
    bpy.context.collection.objects.link(bpy.data.objects.new("L", mesh))
    add_box("In Notch", 2, 12, 0.5)


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, open the panel, play, click a pair, move an object."""
    add_objects()
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    driver.set_view((8, 0, 0), 40, (0, 0, 0))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id, "bounds are computed")
    # The panel has no button while it is closed. It is above Display.
    x, y = yield from driver.find_button(
        driver.region("UI"), "collision_bounds.display.show_overlay", across=0.12
    )
    yield from driver.move_mouse(x + 80, y + 27)
    yield from driver.click()
    yield from driver.note("nothing")
    bpy.context.scene.frame_set(26)
    yield from driver.note("at 26")
    yield from driver.click_button("collision_bounds.select_touching", across=0.2)
    yield from driver.note("clicked")
    yield from driver.press_keys("g", "y", "9", "Return")
    yield from driver.wait_for_redraw()
    yield from driver.note("moved")
    # The same of meshes: a tilted box in the notch of an L is in its bounds, and does not touch it.
    yield from driver.press_keys("ctrl+z")
    add_notch()
    bpy.ops.object.select_all(action="DESELECT")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.choose_from_menu("collision_bounds.shape", "mesh")
    yield from driver.wait_for_redraw()
    yield from driver.note("meshes")
    yield from driver.click_button("collision_bounds.select_touching", across=0.2)
    yield from driver.note("clicked mesh")
