"""In Blender's window: split meshes into convex parts, stop that by Esc, undo, and show the parts."""

from __future__ import annotations

import sys

import bpy
import numpy as np
from window_driver import Steps, WindowDriver

RINGS = int(sys.argv[-1])


def add_ring(number: int) -> bpy.types.Object:
    """Add a ring of 2880 triangles, each with other proportions."""
    u, v = np.meshgrid(np.arange(60) * np.pi / 30, np.arange(24) * np.pi / 12, indexing="ij")
    out = 1 + (0.25 + 0.02 * number) * np.cos(v)
    points = np.stack([out * np.cos(u), out * np.sin(u), 0.3 * np.sin(v)], axis=-1).reshape(-1, 3)
    index = np.arange(1440).reshape(60, 24)
    corners = (np.roll(np.roll(index, -i, 0), -j, 1).ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    data = bpy.data.meshes.new(f"Ring {number}")
    data.from_pydata(points.tolist(), [], np.stack([*corners], axis=1).tolist())
    item = bpy.data.objects.new(f"Ring {number}", data)
    item.location = (2.8 * (number % 3), 2.8 * (number // 3), 0)
    item.rotation_euler = (0.5, 0.3 * number, 0)
    bpy.context.scene.collection.objects.link(item)
    return item


def colliders() -> int:
    """Return the number of colliders."""
    return sum("collision_bounds_collider" in item for item in bpy.data.objects)


def count_data() -> tuple[int, int, int]:
    """Return the numbers of objects, meshes and collections in the file."""
    return len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.collections)


def scenario(driver: WindowDriver) -> Steps:
    """Bounds, then colliders: stop their splits, run them to the end, change the kind, undo, redo."""
    driver.set_view((1.5, 1.4, 0), 12, (0.7, 0, 0.3))
    bpy.data.batch_remove(bpy.data.objects)
    for number in range(RINGS):
        bpy.context.view_layer.objects.active = add_ring(number)
        bpy.context.view_layer.objects.active.select_set(True)
    bpy.ops.ed.undo_push(message="Rings")
    yield from driver.open_tab("Collision Bounds")
    yield from bounds(driver)
    before = count_data()
    driver.settings.colliders.kind, driver.settings.colliders.parts = "box", 8
    yield from driver.open_collider_panel()
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.wait_until(lambda: driver.scan and driver.scan.done > 0.1, "the splits have begun")
    yield from driver.note("splitting", done=driver.scan.done, text=driver.scan.text)
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the splits are stopped")
    yield from driver.note("stopped", colliders=colliders(), before=before, after=count_data())
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.wait_until(lambda: driver.scan is None and colliders(), "colliders are there")
    yield from driver.note("created", colliders=colliders())
    yield from driver.move_to_redo_option(4)
    yield from driver.turn_wheel()
    names = sorted(item.name for item in bpy.data.objects if "collision_bounds_collider" in item)
    yield from driver.note("changed kind", colliders=colliders(), names=names)
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", screenshot=False, colliders=colliders(), after=count_data())
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("redone", screenshot=False, colliders=colliders())


def bounds(driver: WindowDriver) -> Steps:
    """Fit convex parts with bounds, stopped first; a picture without them, and one with them."""
    driver.settings.parts = 6
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("boxes alone")
    yield from driver.open_bounds_panel("Fit Settings")
    x, y = yield from driver.find_button(driver.region("UI"), "added_shapes")
    yield from driver.move_mouse(x, y - 44)  # the third of three
    yield from driver.click()
    yield from driver.note("parts chosen", added=sorted(driver.settings.added_shapes))
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.scan and driver.scan.done > 0.1, "the splits have begun")
    yield from driver.press_keys("Escape")
    yield from driver.wait_until(lambda: driver.scan is None, "the splits are stopped")
    result_before = driver.settings.result_id
    yield from driver.note("bounds stopped", screenshot=False)
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(
        lambda: driver.scan is None and driver.settings.result_id != result_before, "bounds are there"
    )
    driver.settings.display.show_boxes = False
    yield from driver.wait_for_redraw()
    yield from driver.note("parts", switch=driver.settings.display.show_parts)
    bpy.ops.collision_bounds.export_gltf(filepath=str(driver.folder / "parts.gltf"))
    result = driver.settings.result_id
    yield from driver.press_keys("ctrl+z")
    yield from driver.note(
        "bounds undone", screenshot=False, result=driver.settings.result_id, before=result_before
    )
    yield from driver.press_keys("ctrl+shift+z")
    yield from driver.note("bounds redone", screenshot=False, result=driver.settings.result_id, before=result)
    bpy.ops.collision_bounds.export_gltf(filepath=str(driver.folder / "redone.gltf"))
