"""In Blender's window: compare with an earlier report, show new contacts alone, accept one with a comment."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from window_driver import Steps, WindowDriver, run

LOAD, ACCEPT = 6, 8
"""Entries of the menu below the list."""


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, export them, move the plate, find them again, compare, accept."""
    from bl_ext.user_default.collision_bounds.scene.jobs import result_store

    def counts() -> str | None:
        comparison = result_store.get(driver.settings.result_id).comparison
        return None if comparison is None else comparison.counts_text()

    def find() -> Steps:
        before = driver.settings.result_id
        yield from driver.click_button("collision_bounds.find_contacts")
        yield from driver.wait_until(lambda: driver.settings.result_id != before, "the scan ends")

    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    bpy.ops.object.select_all(action="DESELECT")
    yield from find()
    path = driver.folder / "before.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    bpy.data.objects["Plate"].location.z += 30
    bpy.data.objects["Crate"].location = bpy.data.objects["Projectile"].location
    yield from find()
    yield from driver.note("before")
    yield from driver.choose_from_list_menu(LOAD)
    yield from driver.confirm_file_browser(path)
    yield from driver.note("compared", counts=counts(), baseline=Path(driver.settings.baseline).name)
    yield from driver.click_button("collision_bounds.contact_list.new_only", across=0.76)
    yield from driver.note("new only", new_only=driver.settings.contact_list.new_only)
    yield from driver.click_button("collision_bounds.active_row")
    row = driver.settings.rows[driver.settings.active_row]
    yield from driver.note("clicked", pair=sorted((row.a, row.b)))
    yield from driver.choose_from_list_menu(ACCEPT)
    yield 0.5  # the dialog opens; keys that come earlier go to the viewport
    yield from driver.press_keys("h", "i", "n", "g", "e", "Return", "Return")
    yield from driver.wait_for_redraw()
    accepted = [(sorted((row.a, row.b)), row.comment) for row in driver.settings.rows if row.accepted]
    yield from driver.note("accepted", counts=counts(), accepted=accepted)


run(scenario)
