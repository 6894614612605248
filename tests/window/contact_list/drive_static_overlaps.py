"""In Blender's window: contacts of two objects at rest that overlap, alone and while another one moves.

After a click on a row, which selects its pair, Include scans the objects of the scan that is shown.
"""

from __future__ import annotations

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver


def select(*names: str) -> None:
    """Select objects by their names, and no others."""
    for item in bpy.data.objects:
        item.select_set(item.name in names)


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, find contacts where nothing moves, and where something moves; include static pairs."""
    empty_scene(20)
    for name, x in (("Warehouse Floor Left", -0.3), ("Warehouse Floor Right", 0.3)):
        add_box(name, x)
    driver.set_view((0.8, 0, 0), 7, (1.1, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed")
    yield from driver.find_contacts()
    yield from driver.note("nothing moves")
    move(add_box("Mover", 20, 9), (1, 20, 9, 0), (20, 30, 9, 0))
    yield from driver.find_contacts()
    yield from driver.note("mover added")
    yield from driver.find_contacts("same_objects=True")
    yield from driver.note("included", static_pairs=driver.settings.static_pairs)
    add_box("Post", 25, 9)  # the mover goes through it
    for name, checked in (("all", ()), ("some", ("Warehouse Floor Left", "Warehouse Floor Right", "Mover"))):
        driver.settings.scope, driver.settings.static_pairs = "SELECTED", False
        select(*checked)
        yield from driver.find_contacts()
        yield from driver.note(f"found among {name}")
        if checked:
            select("Post")
        else:
            yield from driver.click_row("Mover", "Post")
        selected = sorted(item.name for item in bpy.context.selected_objects)
        yield from driver.find_contacts("same_objects=True")
        yield from driver.note(f"included among {name}", selected=selected, scope=driver.settings.scope)
    yield from ignore_all_with_the_floor(driver)


def ignore_all_with_the_floor(driver: WindowDriver) -> Steps:
    """Find contacts of boxes that drop on a floor, ignore these by one click, and undo."""
    empty_scene(20)
    floor = add_box("Warehouse_Floor_Section_North", 10, z=-5, size=10)
    floor.scale.x = 3
    for number in range(10):
        move(add_box(f"Crate_{number:03}", 2 * number), (1, 2 * number, 0, 3), (20, 2 * number, 0, 0.3))
    driver.settings.scope = "VISIBLE"
    driver.settings.active_row = -1
    yield from driver.find_contacts()
    yield from driver.wait_until(lambda: len(driver.settings.rows) == 10, "contacts are found")
    yield from driver.note("dropped")
    yield from driver.click_button("ignore_pairs(which='OBJECT')")
    yield from driver.note("ignored")
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("not ignored")
