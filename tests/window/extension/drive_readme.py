"""In Blender's window: what the README says, from a Blender without the extension to an exported contact."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from reader_steps import export_document, install
from window_driver import Steps, WindowDriver, run


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
    before = driver.settings.result_id
    yield from driver.click_button("collision_bounds.find_contacts")
    yield from driver.wait_until(lambda: driver.settings.result_id != before, "the scan ends")
    yield from driver.note("found", rows=[(row.a, row.b) for row in driver.settings.rows])
    yield from driver.click_row("Plate", "Projectile")
    yield from driver.note("clicked", sub_frame=bpy.context.scene.frame_subframe, scope=driver.settings.scope)
    yield from export_document(driver, "exported")


run(scenario)
