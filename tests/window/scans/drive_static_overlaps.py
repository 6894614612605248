"""In Blender's window: contacts of two objects at rest that overlap, alone and while another one moves.

After a click on a row, which selects its pair, Include scans the objects of the scan that is shown.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run


def build_scene() -> None:
    """Replace the example by two boxes that overlap, without animation."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    mesh = bpy.data.meshes.new("Box")
    mesh.from_pydata(corners, [], [(0, 1, 3, 2), (4, 5, 7, 6)])
    for name, x in (("Warehouse Floor Left", -0.3), ("Warehouse Floor Right", 0.3)):
        item = bpy.data.objects.new(name, mesh)
        bpy.context.scene.collection.objects.link(item)
        item.location = x, 0, 0
    bpy.context.scene.frame_end = 20


def add_mover() -> None:
    """Add an object that moves far from the boxes."""
    mover = bpy.data.objects.new("Mover", bpy.data.objects["Warehouse Floor Left"].data)
    bpy.context.scene.collection.objects.link(mover)
    for frame, x in ((1, 20.0), (20, 30.0)):
        mover.location = x, 9, 0
        mover.keyframe_insert("location", frame=frame)


def add_post() -> None:
    """Add an object that the mover goes through."""
    post = bpy.data.objects.new("Post", bpy.data.objects["Mover"].data)
    bpy.context.scene.collection.objects.link(post)
    post.location = 25, 9, 0


def select(*names: str) -> None:
    """Select objects by their names, and no others."""
    for item in bpy.data.objects:
        item.select_set(item.name in names)


def find_contacts(driver: WindowDriver, button: str = "collision_bounds.find_contacts") -> Steps:
    """Click a button that finds contacts, and wait for the result."""
    before = driver.settings.result_id
    yield from driver.click_button(button)
    yield from driver.wait_until(lambda: driver.settings.result_id != before, "the scan ends")


def scenario(driver: WindowDriver) -> Steps:
    """Compute bounds, find contacts where nothing moves, and where something moves; include static pairs."""
    build_scene()
    driver.set_view((0.8, 0, 0), 7, (1.1, 0, 0.5))
    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.note("computed")
    yield from find_contacts(driver)
    yield from driver.note("nothing moves")
    add_mover()
    yield from find_contacts(driver)
    yield from driver.note("mover added")
    yield from find_contacts(driver, "same_objects=True")
    yield from driver.note("included", static_pairs=driver.settings.static_pairs)
    add_post()
    for name, checked in (("all", ()), ("some", ("Warehouse Floor Left", "Warehouse Floor Right", "Mover"))):
        driver.settings.scope, driver.settings.static_pairs = "SELECTED", False
        select(*checked)
        yield from find_contacts(driver)
        yield from driver.note(f"found among {name}")
        if checked:
            select("Post")
        else:
            yield from driver.click_row("Mover", "Post")
        selected = sorted(item.name for item in bpy.context.selected_objects)
        yield from find_contacts(driver, "same_objects=True")
        yield from driver.note(f"included among {name}", selected=selected, scope=driver.settings.scope)


run(scenario)
