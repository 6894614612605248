"""In Blender's window: choose shapes, axes of boxes, and bounds of each bone at all frames, and stop that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
from window_driver import Steps, WindowDriver

POSE = 0.37


def object_settings() -> Any:
    """Return the settings of the object, looked up in each call because undo replaces them."""
    return bpy.data.objects["Arm"].collision_bounds


def pose_angle() -> float:
    """Return the angle of a keyed bone that was changed without a key."""
    return float(bpy.data.objects["Arm Armature"].pose.bones["Fore"].rotation_euler.x)


def turn_wheel(driver: WindowDriver, wanted: str, value: Callable[[], str], until: str) -> Steps:
    """Step through the entries of a menu of the sidebar with Ctrl and the wheel until it has a value.

    Return the values that it had.
    """
    passed = []
    yield from driver.find_button(driver.region("UI"), wanted)
    for _ in range(4):
        if value() == until:
            return passed
        passed.append(value())
        yield from driver.turn_wheel()
    raise LookupError(f"{wanted} has no entry {until} below {value()}")


def bounds_of(driver: WindowDriver) -> dict[str, Any]:
    """Return the shapes in the latest bounds, by the names of their objects."""
    return {
        entry.name: {
            "shapes": [type(shape).__name__ for shape in entry.world],
            "bone": entry.bone,
            "all_frames": entry.all_frames,
            "weight": entry.bone_weight,
        }
        for entry in driver.result.bounds.objects
    }


def choose_shapes(driver: WindowDriver) -> Steps:
    """Choose the axes of boxes and a shape to fit, and compute bounds."""
    yield from driver.open_bounds_panel("Fit Settings")
    yield from turn_wheel(
        driver, "collision_bounds.box_axes", lambda: str(driver.settings.box_axes), "smallest"
    )
    yield from driver.click_button("collision_bounds.added_shapes", across=0.4)
    yield from driver.note(
        "chosen", box_axes=driver.settings.box_axes, added=sorted(driver.settings.added_shapes)
    )
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("whole", bounds=bounds_of(driver))


def choose_bones(driver: WindowDriver) -> Steps:
    """Give the object settings for bones at all frames."""
    yield from driver.toggle_panels(0)  # object settings
    yield from driver.click_button("collision_bounds.use_object_settings", across=0.16)
    for option, until in (("bounds_for", "bones"), ("bone_frames", "all")):

        def value(option: str = option) -> str:
            return str(getattr(object_settings(), option))

        passed = yield from turn_wheel(driver, f"collision_bounds.{option}", value, until)
        yield from driver.note(f"{option} chosen", before=passed[-1], value=value())
        yield from driver.move_to_viewport()
        yield from driver.press_keys("ctrl+z")
        yield from driver.note(f"{option} undone", screenshot=False, value=value())
        yield from driver.press_keys("ctrl+shift+z")
        yield from driver.note(f"{option} redone", screenshot=False, value=value())


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds of each bone of the arm at all frames, whose pose has no key, and stop that once."""
    arm = bpy.data.objects["Arm"]
    driver.select(arm)
    driver.set_view(tuple(arm.matrix_world.translation), 5.0, (1.1, 0, 0.6))
    yield from driver.open_tab("Collision Bounds")
    yield from choose_shapes(driver)
    yield from choose_bones(driver)
    bpy.data.objects["Arm Armature"].pose.bones["Fore"].rotation_euler.x = POSE
    bpy.context.view_layer.update()
    frame, before = bpy.context.scene.frame_current, driver.settings.result_id
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id != before, "bounds of bones")
    yield from driver.note(
        "bones", bounds=bounds_of(driver), pose=pose_angle(), moved=bpy.context.scene.frame_current - frame
    )
    bpy.context.scene.frame_end = 5000
    before = driver.settings.result_id
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.scan and driver.scan.done > 0.1, "progress")
    yield from driver.note("running", done=driver.scan.done, text=driver.scan.text)
    yield from driver.move_to_viewport()
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the end after Esc")
    yield from driver.note(
        "stopped",
        is_same=driver.settings.result_id == before,
        pose=pose_angle(),
        moved=bpy.context.scene.frame_current - frame,
        scenes=len(bpy.data.scenes),
    )
