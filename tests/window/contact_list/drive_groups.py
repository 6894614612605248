"""In Blender's window: the contacts of a robot cell with a conveyor, in groups that a click opens."""

from __future__ import annotations

from typing import Any

import bpy
from scenes import add_box, empty_scene, move
from window_driver import Steps, WindowDriver

ROLLERS, CRATES = 40, 6


def add_objects() -> None:
    """Make a scene: crates slide over rollers, a robot pushes one of them and grazes a fixture."""
    empty_scene(100)
    for index in range(ROLLERS):
        roller = add_box(f"Conveyor_Roller.{index:03}", 0.5 * index)
        roller.scale = 0.2, 3, 0.2
        put(roller, "Conveyor")
    for index in range(CRATES):
        crate = add_box(f"Crate_EUR_600x400.{index:03}", 0)
        crate.scale = 0.3, 0.3, 0.5
        y = 0.8 * index - 2
        move(crate, (1, 0, y, 0.34), (100, 20, y, 0.34))
        put(crate, "Crates")
    for index, (start, end) in enumerate(((6, 0.75), (9, 3.2))):
        link = add_box(f"KR210_link{index + 4}", 0)
        link.scale = 0.3, 0.3, 0.8
        move(link, (1, 3, -2, start), (60, 11.9, -2, end), (100, 11.9, -2, start))
        put(link, "Robot")
    fixture = add_box("Fixture_table_left", 0)
    fixture.location, fixture.scale = (12.1, -2.2, 3.2), (0.3, 0.3, 0.3)
    put(fixture, "Fixtures")


def put(item: bpy.types.Object, name: str) -> None:
    """Move an object to a collection, which is made if it is missing."""
    scene = bpy.context.scene
    collection = bpy.data.collections.get(name)
    if collection is None:
        collection = bpy.data.collections.new(name)
        scene.collection.children.link(collection)
    for owner in item.users_collection:
        owner.objects.unlink(item)
    collection.objects.link(item)


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, open a group, click one of its rows, ignore the pairs of another group, and undo."""
    add_objects()
    driver.set_view((10, 0, 0), 16, (1.1, 0, 0.3))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.find_contacts()
    yield from driver.wait_until(lambda: groups(driver.settings), "rows are grouped")
    yield from driver.note("found", groups=groups(driver.settings))
    yield from driver.click_row("Crates", "Robot")
    yield from driver.note("group of robot is active")
    yield from driver.click_row("Conveyor", "Crates")
    yield from driver.note("group of conveyor is active")
    yield from open_group(driver)
    yield from driver.note("opened", groups=groups(driver.settings))
    yield from driver.click_button("ignore_pairs(which='GROUP')")
    yield from driver.note("ignored", groups=groups(driver.settings))
    yield from driver.move_to_viewport()
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("not ignored", groups=groups(driver.settings))


def open_group(driver: WindowDriver) -> Steps:
    """Click the triangle of the second group."""
    region = driver.region("UI")
    _, top = yield from driver.find_button(region, "collision_bounds.active_row")
    yield from driver.move_mouse(region.x + 0.11 * region.width, top - 20)
    yield from driver.click()


def groups(settings: Any) -> list[tuple[str, str, bool]]:
    """Return the names of the groups, and whether they are open."""
    return [(row.a, row.b, row.is_open) for row in settings.rows if row.is_heading]
