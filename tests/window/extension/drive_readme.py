"""In Blender's window: the README, from Blender alone to an exported contact, and docs/how-to/unreal.md."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
from reader_steps import export_document, install
from window_driver import Steps, WindowDriver


def scenario(driver: WindowDriver) -> Steps:
    """Install, compute bounds, find contacts, click the one between two frames, export."""
    # A copy, because the file browser proposes the folder of the scene.
    bpy.ops.wm.save_as_mainfile(filepath=str(driver.folder / "level.blend"))
    yield from driver.press_keys("Escape")  # closes the splash screen of a Blender without preferences
    yield from driver.note("not installed", is_registered=hasattr(bpy.types.Scene, "collision_bounds"))
    yield from install(driver, Path(sys.argv[-1]))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.note("installed")
    # Nothing is selected in the scene, so the button works on all visible objects.
    yield from driver.click_button("collision_bounds.compute_bounds")
    yield from driver.wait_until(lambda: driver.settings.result_id, "the bounds are computed")
    yield from driver.note("computed")
    yield from driver.find_contacts()
    yield from driver.note("found", rows=[(row.a, row.b) for row in driver.settings.rows])
    yield from driver.click_row("Plate", "Projectile")
    yield from driver.note("clicked", sub_frame=bpy.context.scene.frame_subframe, scope=driver.settings.scope)
    yield from export_document(driver, "exported")
    yield from make_colliders(driver)


def make_colliders(driver: WindowDriver) -> Steps:
    """Choose hulls with Unreal's names, create and check colliders, and export FBX with the file browser."""
    bpy.ops.object.select_all(action="DESELECT")
    bpy.ops.ed.undo_push(message="Deselected")
    yield from driver.scroll_sidebar(4)
    yield from driver.open_collider_panel()
    for name, entry in (("kind", 4), ("naming", 1)):
        yield from driver.find_button(driver.region("UI"), f"collision_bounds.colliders.{name}")
        yield from driver.click()
        yield from driver.press_keys(str(entry))  # Blender numbers the entries of a menu
        yield from driver.wait_for_redraw()
    yield from driver.click_button("collision_bounds.create_colliders")
    chosen = (driver.settings.colliders.kind, driver.settings.colliders.naming)
    yield from driver.note(
        "colliders", chosen=chosen, names=[item.name for item in bpy.context.scene.objects]
    )
    yield from driver.click_button("collision_bounds.check_colliders")
    yield from driver.note("checked")
    with driver.context():
        bpy.ops.export_scene.fbx("INVOKE_DEFAULT", object_types={"MESH"})
    yield from driver.confirm_file_browser()
    yield from driver.note("exported", size=Path(bpy.data.filepath).with_suffix(".fbx").stat().st_size)
