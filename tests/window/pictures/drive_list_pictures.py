"""In Blender's window: pictures of names of 60 characters, pickers, ignored pairs and the baseline."""

from __future__ import annotations

import bpy
from picture_steps import Pictures, find, reach_button, toggle_panel, with_look
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

_NAMES = (
    "Warehouse_Building_North_Conveyor_Belt_Segment_Left_Upper_001",
    "Warehouse_Building_North_Conveyor_Belt_Segment_Right_Upper_01",
    "Warehouse_Building_South_Packaging_Station_Robot_Arm_Gripper1",
    "Loading Dock Gate With Pneumatic Hinge Closer, Second Version",
    "Cart",
)


def add_objects() -> None:
    """Make a scene: boxes of long names at rest, and two that pass them."""
    empty_scene(60)
    for number, name in enumerate(_NAMES[1:]):
        add_box(name, 2.5 * number)
    move(add_box(_NAMES[0], -3), (1, -3, 0.4, 0), (60, 10, 0.4, 0))
    move(add_box("Drone", -3, 1), (1, 10, -0.6, 0), (60, -3, -0.6, 0))
    gates = bpy.data.collections.new("Warehouse_Building_North_Collection_Of_Gates")
    bpy.context.scene.collection.children.link(gates)
    gates.objects.link(bpy.data.objects[_NAMES[3]])


def names(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of long names in the list, in the details, and next to the bounds."""
    add_objects()
    driver.set_view((3, 0, 0.5), 15, (1.0, 0, 0.3))
    driver.settings.scope = "VISIBLE"
    yield from toggle_panel(driver, 0)
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: driver.settings.rows, "the scan ends")
    yield from pictures.take("names-of-60-characters")
    driver.settings.display.show_names = True
    yield from driver.click_button("collision_bounds.active_row")
    yield from pictures.take("names-of-60-characters-active")
    yield from driver.scroll_sidebar(5)
    yield from pictures.take("names-of-60-characters-details")
    yield from driver.scroll_sidebar(4)
    driver.settings.display.show_names = False
    yield from driver.move_to_viewport()


def baseline(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the comparison with a baseline, and of a contact that is accepted."""
    path = driver.write_document("before")
    bpy.data.objects["Cart"].location.y += 9
    add_box("Pallet", 4.0, 0.3)
    find(driver)
    bpy.ops.collision_bounds.load_baseline(filepath=str(path))
    yield from pictures.take("baseline")
    scale = bpy.context.preferences.system.ui_scale
    new = yield from driver.find_button(driver.region("UI"), "contact_list.new_only", across=0.76)
    yield from driver.move_mouse(driver.region("UI").x + 80 * scale, new[1])
    yield from driver.click()
    yield from pictures.take("baseline-in-full")
    yield from driver.move_to_viewport()
    yield from driver.click_button("contact_list.new_only", across=0.76)
    yield from driver.click_button("collision_bounds.active_row")
    yield from pictures.take("new-only")
    yield from driver.move_to_viewport()
    with driver.context():
        bpy.ops.collision_bounds.accept_contacts("INVOKE_DEFAULT")
    yield from driver.wait_for_redraw()
    yield from pictures.take("accept-dialog")
    yield from driver.press_keys("h", "i", "n", "g", "e", "Return", "Return")
    yield from driver.click_button("contact_list.new_only", across=0.76)
    yield from pictures.take("accepted")


def pickers(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the pickers and the ignored pairs."""
    settings = driver.settings
    with bpy.context.temp_override(window=driver.window):
        bpy.ops.collision_bounds.ignore_pair()
    settings.pickers.group_a.object = bpy.data.objects[_NAMES[0]]
    settings.pickers.group_b.collection = bpy.data.collections[0]
    yield from driver.move_to_viewport()
    region, scale = driver.region("UI"), bpy.context.preferences.system.ui_scale
    x, y = yield from reach_button(driver, "collision_bounds.shape")
    while y - 45 * scale < region.y:
        driver.xdotool("click", 5)
        x, y = yield from reach_button(driver, "collision_bounds.shape")
    yield from driver.move_mouse(x, y - 45 * scale)
    yield from driver.click()
    yield from pictures.take("pairs-opened")
    yield from driver.scroll_sidebar(5)
    yield from pictures.take("pickers")
    settings.shape = "SPHERES" if "SPHERES" in settings.bl_rna.properties["shape"].enum_items else "spheres"
    yield from reach_button(driver, "pickers.group_a.object")
    yield from pictures.take("pickers-of-spheres")
    x, y = yield from reach_button(driver, "pickers.group_a.collection")
    yield from driver.click()
    yield from pictures.take("collections-to-pick")
    yield from driver.press_keys("Escape")


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take all pictures of lists."""
    yield from names(driver, pictures)
    yield from baseline(driver, pictures)
    yield from pickers(driver, pictures)
