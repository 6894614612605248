"""In Blender's window: compare with an earlier report, show new contacts alone, accept one with a comment."""

from __future__ import annotations

from pathlib import Path

import bpy
from window_driver import Steps, WindowDriver

LOAD, ACCEPT = 9, "alt+1"
"""Entries of the menu below the list."""


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, export them, move the plate, find them again, compare, accept."""

    def counts() -> str | None:
        comparison = driver.result.comparison
        return None if comparison is None else comparison.counts_text()

    yield from driver.open_tab("Collision Bounds")
    driver.settings.scope = "VISIBLE"
    bpy.ops.object.select_all(action="DESELECT")
    yield from driver.find_contacts()
    path = driver.write_document("before")
    bpy.data.objects["Plate"].location.z += 30
    bpy.data.objects["Crate"].location = bpy.data.objects["Projectile"].location
    yield from driver.find_contacts()
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
