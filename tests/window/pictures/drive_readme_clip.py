"""In Blender's window: show frame 24, frame 25, and the contact between them after a click on its row."""

from __future__ import annotations

import subprocess

import bpy
from window_driver import Steps, WindowDriver

STEPS = ("frame 24", "frame 25", "contact")


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, step over the contact, click its row, and join the pictures to a clip."""
    with driver.context():
        bpy.ops.screen.screen_full_area()
    yield from driver.wait_for_redraw()
    view = driver.area.spaces.active
    view.show_gizmo = False
    view.show_region_toolbar = False
    for clutter in ("cursor", "extras", "floor", "axis_x", "axis_y", "object_origins"):
        setattr(view.overlay, f"show_{clutter}", False)
    yield from driver.open_tab("Collision Bounds")
    scene = bpy.context.scene
    for item in scene.objects:
        item.select_set(item.name in ("Plate", "Projectile"))
    driver.settings.scope = "SELECTED"
    with driver.context():
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT")
        bpy.ops.object.select_all(action="DESELECT")
    plate = scene.objects["Plate"].matrix_world.translation
    driver.set_view(tuple(plate), 3.4, (1.3, 0, -0.3))
    yield 10  # until the report in the status bar disappears
    for frame, name in zip((24, 25), STEPS, strict=False):
        scene.frame_set(frame)
        yield from take(driver, name)
    yield from driver.click_row("Plate", "Projectile")
    yield from driver.move_to_viewport()
    yield from take(driver, "contact")
    pictures = [str(driver.folder / f"{name}.png") for name in STEPS]
    clip = str(driver.folder / "contact.webp")
    scaled = ["-resize", "800x", "-quality", "60", "-define", "webp:method=6", "-loop", "0", clip]
    subprocess.run(["convert", "-delay", "200", *pictures, *scaled], check=True)


def take(driver: WindowDriver, name: str) -> Steps:
    """Take a picture, and note the frame and the place of the projectile."""
    yield from driver.take_smoothed_screenshot(driver.folder / f"{name}.png")
    scene = bpy.context.scene
    ball = scene.objects["Projectile"].evaluated_get(bpy.context.evaluated_depsgraph_get())
    place = list(ball.matrix_world.translation)
    yield from driver.note(name, frame=scene.frame_current_final, place=place)
