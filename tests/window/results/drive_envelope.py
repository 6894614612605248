"""In Blender's window: run Compute Envelope with its button, stop it with Esc, and run it to its end."""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

BUTTON = "collision_bounds.compute_envelope"


def count_envelopes(driver: WindowDriver) -> int:
    """Return the number of objects with an envelope."""
    envelopes = driver.result.envelopes
    return 0 if envelopes is None else sum(bool(entry.envelope) for entry in envelopes.objects)


def adjust_last_operation(driver: WindowDriver) -> Steps:
    """Open Adjust Last Operation, which has a hint, and turn the wheel where other operators have options."""
    before = driver.settings.result_id
    for row in (0, 1):
        yield from driver.move_to_redo_option(row)
        yield from driver.turn_wheel()
    height = driver.region("HUD").height
    yield from driver.note(
        "adjusted",
        height=height,
        is_same=driver.settings.result_id == before,
        envelopes=count_envelopes(driver),
    )


def scenario(driver: WindowDriver) -> Steps:
    """Stop a job of many frames, complete a job of the scene's frames, hide the envelopes, undo, redo."""
    scene = bpy.context.scene
    driver.settings.scope = "VISIBLE"
    bpy.data.objects["Floor"].hide_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects["Plate"]
    driver.settings.display.show_spheres = False
    driver.settings.display.line_width = 4.0
    yield from driver.open_tab("Collision Bounds")
    end, scene.frame_end = scene.frame_end, 100_000
    bpy.ops.ed.undo_push(message="Long")
    yield from driver.open_bounds_panel("Swept Bounds")
    yield from driver.click_button(BUTTON)
    yield from driver.wait_until(lambda: scene.frame_current > 8, "the job has started")
    yield from driver.note("running")
    driver.notes["stopped"] = {"running": driver.scan is not None}
    yield from driver.move_to_viewport()
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the job has stopped")
    driver.notes["stopped"].update(
        running_after=driver.scan is not None, frame=scene.frame_current, envelopes=count_envelopes(driver)
    )

    scene.frame_end = end
    bpy.ops.ed.undo_push(message="Short")
    yield from driver.click_button(BUTTON)
    yield from driver.wait_until(lambda: driver.scan is None and count_envelopes(driver), "the job is done")
    driver.notes["done"] = {"envelopes": count_envelopes(driver), "frame": scene.frame_current}
    yield from driver.note("shown")
    driver.settings.display.show_envelopes = False
    yield from driver.note("hidden")
    yield from adjust_last_operation(driver)
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    driver.notes["undone"] = {"envelopes": count_envelopes(driver)}
    yield from driver.press_keys("ctrl+shift+z")
    driver.notes["redone"] = {"envelopes": count_envelopes(driver)}
