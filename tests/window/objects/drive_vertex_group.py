"""In Blender's window: shapes of a vertex group, and shapes that are added, undone, redone and changed."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from window_driver import Steps, WindowDriver


def crate() -> bpy.types.Object:
    """Return the object, looked up in each call because undo replaces it."""
    return bpy.data.objects["Crate"]


def state(driver: WindowDriver) -> dict[str, Any]:
    """Return the colliders and the custom shapes of the crate, and the shapes to fit."""
    boxes = {}
    for item in bpy.context.scene.objects:
        if "collision_bounds_collider" in item:
            points = np.array([vertex.co for vertex in item.data.vertices])
            boxes[item.name] = [points.min(axis=0).tolist(), points.max(axis=0).tolist()]
    settings = crate().collision_bounds
    return {
        "boxes": boxes,
        "override": settings.override,
        "center": list(settings.center),
        "half_extents": list(settings.half_extents),
        "more": [entry.shape for entry in settings.more_shapes],
        "added": sorted(driver.settings.added_shapes),
        "box_axes": driver.settings.box_axes,
        "vertex_group": driver.settings.vertex_group,
        "padding": driver.settings.padding,
        "bounds": [[*box.min], [*box.max]] if (box := box_of_bounds(driver)) else None,
    }


def box_of_bounds(driver: WindowDriver) -> Any:
    """Return the box of the crate in the latest bounds, or None."""
    result = driver.result.bounds
    if result is None:
        return None
    (entry,) = result.objects
    return next(shape for shape in entry.local if type(shape).__name__ == "Aabb")


def undo_and_redo(driver: WindowDriver, name: str) -> Steps:
    """Note the state, undo, redo, and note it after each."""
    yield from driver.note(name, screenshot=False, **state(driver))
    yield from driver.move_to_viewport()
    for keys, step in (("ctrl+z", "undone"), ("ctrl+shift+z", "redone")):
        yield from driver.press_keys(keys)
        yield from driver.note(f"{name} {step}", screenshot=False, **state(driver))


def change_option(driver: WindowDriver, name: str, from_below: int) -> Steps:
    """Step to the next entry of a menu below Adjust Last Operation with Ctrl and the wheel."""
    yield from driver.move_to_redo_option(from_below)
    yield from driver.turn_wheel()
    yield from driver.note(f"{name} changed", **state(driver))


def scenario(driver: WindowDriver) -> Steps:
    """Go through the commands that no other script undoes and changes."""
    item = crate()
    upper = [vertex for vertex in item.data.vertices if vertex.co.z > 0]
    item.vertex_groups.new(name="Top").add([vertex.index for vertex in upper], 1.0, "REPLACE")
    points = np.array([vertex.co for vertex in upper])
    driver.notes["group"] = {"low": points.min(axis=0).tolist(), "high": points.max(axis=0).tolist()}
    driver.select(item)
    driver.set_view(tuple(item.matrix_world.translation), 3.5, (1.0, 0, 0.9))
    yield from driver.open_tab("Collision Bounds")
    yield from fit_settings(driver)
    yield from driver.toggle_panels(1)  # custom shape
    yield from driver.click_button("collision_bounds.override_from_group")
    yield from undo_and_redo(driver, "shape")
    yield from driver.press_keys("ctrl+z")
    yield from driver.click_button("collision_bounds.override_from_group")
    yield from change_option(driver, "shape", 1)
    yield from driver.click_button("collision_bounds.add_custom_shape", across=0.3)
    yield from undo_and_redo(driver, "added shape")
    yield from driver.press_keys("ctrl+z")
    yield from driver.click_button("collision_bounds.add_custom_shape", across=0.3)
    yield from change_option(driver, "added shape", 0)
    yield from driver.scroll_sidebar(4)
    yield from driver.open_collider_panel()
    yield from driver.click_button("collision_bounds.colliders_from_group")
    yield from undo_and_redo(driver, "collider")
    yield from driver.press_keys("ctrl+z")
    yield from driver.click_button("collision_bounds.colliders_from_group")
    yield from change_option(driver, "collider", 2)


def fit_settings(driver: WindowDriver) -> Steps:
    """Compute bounds of the group, then choose capsules as well, and the smallest boxes."""
    yield from driver.open_bounds_panel("Fit Settings")
    yield from driver.note("panel without a group")
    yield from driver.click_button("collision_bounds.vertex_group")
    yield from driver.press_keys("T", "o", "p", "Return")
    yield from undo_and_redo(driver, "typed group")
    yield from driver.press_keys("ctrl+z")
    # Blender gives menus no path: the arrow is at the end of the field.
    region = driver.region("UI")
    _, y = yield from driver.find_button(region, "collision_bounds.vertex_group")
    yield from driver.move_mouse(region.x + 0.87 * region.width, y)
    yield from driver.click()
    yield from driver.press_keys("1")
    yield from undo_and_redo(driver, "vertex group")
    yield from driver.note("panel with a group")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from undo_and_redo(driver, "bounds")
    yield from driver.press_keys("ctrl+z")
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.move_to_redo_option(3)  # padding
    yield from driver.click(times=2)
    yield from driver.press_keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from driver.note("bounds changed", **state(driver))
    yield from driver.press_keys("ctrl+z")  # the padding, too
    yield from driver.click_button("collision_bounds.added_shapes", across=0.4)
    yield from undo_and_redo(driver, "also fit")
    yield from driver.find_button(driver.region("UI"), "collision_bounds.box_axes")
    for _ in range(3):
        yield from driver.turn_wheel()
    yield from undo_and_redo(driver, "axes")
