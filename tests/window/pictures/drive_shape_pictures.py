"""In Blender's window: pictures of custom shapes with handles, Move Apart, a click on a red bound."""

from __future__ import annotations

import bpy
from mathutils import Vector
from picture_steps import Pictures, find, toggle_panel, with_look
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver


def handles(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the handles of a custom box and of a custom sphere, also while one is dragged."""
    crate = bpy.data.objects["Crate"]
    bpy.context.view_layer.objects.active = crate
    crate.select_set(True)
    driver.set_view(tuple(crate.matrix_world.translation), 4, (1.1, 0, 0.6))
    settings = crate.collision_bounds
    with bpy.context.temp_override(window=driver.window):
        bpy.ops.collision_bounds.compute_bounds()
    for shape in ("box", "sphere"):
        with bpy.context.temp_override(window=driver.window):
            bpy.ops.collision_bounds.set_custom_shape(shape=shape)
        yield from driver.move_to_viewport()
        yield from pictures.take(f"custom-{shape}")
        half = settings.half_extents[0] if shape == "box" else settings.radius
        place = crate.matrix_world @ (Vector(settings.center) + Vector((half, 0, 0)))
        yield from driver.move_mouse(*driver.window_position(tuple(place)))
        yield 0.5
        yield from pictures.take(f"custom-{shape}-handle")
    yield from driver.scroll_sidebar(5)
    yield from driver.scroll_sidebar(4)


def panels(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of the panels for the active object."""
    scale = bpy.context.preferences.system.ui_scale
    yield from driver.open_active_object()
    for number, name in ((3, "measurements"), (1, "custom-shape"), (0, "object-settings")):
        x, y = yield from driver.find_button(driver.region("UI"), "use_object_settings", across=0.16)
        yield from driver.move_mouse(x + 60 * scale, y - 26 * number * scale)
        yield from driver.click()
        yield from driver.move_to_viewport()
        yield from pictures.take(f"panel-{name}")
        yield from driver.scroll_sidebar(5)
        yield from pictures.take(f"panel-{name}-end")
        yield from driver.scroll_sidebar(4)
    yield from toggle_panel(driver, 0)


def pairs(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take pictures of a click on a red bound, and of Move Apart with its options."""
    empty_scene(50)
    add_box("Wall of a Long Name", 0)
    move(add_box("Cart", -4), (10, -4, 0, 0), (30, 4, 0, 0))
    add_box("Crate on the Floor", 0.3, 0.4, 0.7)
    driver.set_view((0, 0, 0.4), 9, (1.1, 0, 0.5))
    find(driver)
    bpy.context.scene.frame_set(19)
    yield from driver.wait_for_redraw()
    x, y, z = bpy.data.objects["Cart"].matrix_world.translation
    corner = driver.window_position((x - 0.5, y - 0.5, z))
    yield from driver.move_mouse(corner[0] + 1, corner[1])
    yield from driver.click()
    yield 0.7
    yield from pictures.take("clicked-red-bound")
    with driver.context():
        bpy.ops.collision_bounds.move_apart("INVOKE_DEFAULT")
    yield from pictures.take("moved-apart")
    region = driver.region("HUD")
    yield from driver.move_mouse(region.x + region.width / 2, region.y + region.height / 2)
    yield from driver.click()
    yield from driver.wait_for_redraw()
    yield from pictures.take("moved-apart-options")


@with_look
def scenario(driver: WindowDriver, pictures: Pictures) -> Steps:
    """Take all pictures of shapes and pairs."""
    yield from handles(driver, pictures)
    yield from panels(driver, pictures)
    yield from pairs(driver, pictures)
