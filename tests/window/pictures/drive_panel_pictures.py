"""In Blender's window: take a picture of each part of the interface, in a theme and at a scale."""

from __future__ import annotations

import bpy
from picture_steps import Pictures, find, toggle_panel, with_look
from window_driver import Steps, WindowDriver

LONG = ("Warehouse Conveyor Belt Left Segment", "Warehouse Conveyor Belt Right Segment")


def results(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take the pictures of results in the sidebar and the viewport."""
    settings, display = driver.settings, driver.settings.display
    yield from pictures.take("nothing-selected")
    with driver.context():
        bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    yield from pictures.take("bounds")
    yield from toggle_panel(driver, 0)
    find(driver)
    yield from pictures.take("list-and-counts")
    settings.active_row = next(k for k, row in enumerate(settings.rows) if row.frame % 1)
    yield from pictures.take("active-row-and-subframe")
    pictures.crop_panel("contacts", 84, 560)
    display.show_names = True
    yield from pictures.take("labels")
    display.show_names = False
    settings.active_row = -1
    yield from pictures.take("contact-and-free")
    for name, item in zip(LONG, ("Projectile", "Plate"), strict=True):
        bpy.data.objects[item].name = name
    find(driver)
    yield from pictures.take("long-names")
    settings.active_row = 0
    yield from pictures.take("long-names-active")
    region = driver.region("UI")
    yield from driver.move_mouse(region.x + 0.4 * region.width, region.y + 0.7 * region.height)
    yield 1.5
    yield from pictures.take("tooltip")


def objects(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take the pictures of panels further down."""
    item = bpy.data.objects["Crate"]
    bpy.context.view_layer.objects.active = item
    item.select_set(True)
    item.collision_bounds.use_object_settings = True
    yield from toggle_panel(driver, 3)  # Contacts, while Bounds is folded
    bpy.context.scene.frame_set(40)  # four pairs touch
    for number, name, tall in ((2, "colliders", 318), (4, "touching-now", 134), (5, "display", 298)):
        yield from toggle_panel(driver, number)
        yield from pictures.take(name)
        pictures.crop_panel(name, 28 * number, tall)
        yield from toggle_panel(driver, number)
    yield from pictures.take("export")
    pictures.crop_panel("export", 170, 78)  # below six headings
    yield from toggle_panel(driver, 0)
    yield from pictures.take("bounds-of-active-object")
    pictures.crop_panel("bounds", 0, 196)
    with driver.context():
        bpy.ops.collision_bounds.create_colliders(scope="SELECTED", kind="hull")
    yield from pictures.take("colliders-drawn")
    yield from driver.move_to_viewport()
    with driver.context():
        bpy.ops.wm.call_menu_pie("INVOKE_DEFAULT", name="COLLISION_BOUNDS_MT_pie")
    yield from pictures.take("menu")
    yield from driver.press_keys("Escape")


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take all pictures of the panels, in the example scene."""
    yield from results(driver, pictures)
    yield from objects(driver, pictures)
