"""In Blender's window: a preset from its menu, other colours, and a scan with the folded options."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PACKAGE = "bl_ext.user_default.collision_bounds"
TO_SCAN, TO_PAIRS = -26, 28
"""Pixels from the shape down to the folded heading of Scan, and from Load Report up to that of Pairs."""


def chosen_preset(hands: Hands) -> Steps:
    """Open the menu of presets and click below its button until the padding is the preset's."""
    region = hands.region("UI")
    x, y = region.x + 0.77 * region.width, region.y + region.height - 16
    for entry in range(1, 6):
        yield from hands.point(x, y)
        yield from hands.click()
        yield from hands.point(x - 20, y - 14 - 14 * entry)
        if entry == 1:
            hands.photograph(hands.folder / "menu.ppm")
        yield from hands.click()
        if hands.settings.padding > 0:
            return
        yield from hands.over_viewport()
        yield from hands.keys("Escape")
    raise LookupError("the menu of presets has no entry that sets a padding")


def story(hands: Hands) -> Steps:
    """Colours; keep a preset, forget its settings, choose it; motion, meshes and pairs."""
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    settings = hands.settings
    settings.padding, settings.method, settings.scope = 0.125, "ritter", "VISIBLE"
    bpy.ops.collision_bounds.preset_add(name="Padded")
    settings.padding, settings.method, settings.scope = 0.0, "minimal", "SELECTED"
    bpy.ops.object.select_all(action="SELECT")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("plain")
    preferences = bpy.context.preferences.addons[PACKAGE].preferences
    blue = tuple(preferences.free_color)
    preferences.free_color = (0.0, 1.0, 0.0, 1.0)
    yield from hands.settle()
    yield from hands.note("green")
    preferences.free_color = blue

    yield from chosen_preset(hands)
    yield from hands.over_viewport()
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("by preset")

    # Padded, all that stands on the floor touches it for good: meshes would be asked for minutes.
    hands.settings.padding = 0.0
    region = hands.region("UI")
    yield from hands.point(region.x + 0.4 * region.width, region.y + region.height - 16)
    yield from hands.click()  # fold Bounds: room for what follows
    for anchor, away in (("load_report", TO_PAIRS), ("shape", TO_SCAN)):
        x, y = yield from hands.find(hands.region("UI"), f"collision_bounds.{anchor}")
        yield from hands.point(x, y + away)
        yield from hands.click()
    yield from hands.find(hands.region("UI"), "collision_bounds.motion")
    hands.xdotool("keydown", "ctrl", "click", 5, "keyup", "ctrl")  # the wheel walks through a menu's entries
    yield from hands.settle()
    for option in ("confirm", "ignore_parents", "static_pairs"):
        yield from hands.press(f"collision_bounds.{option}")
    yield from hands.note("options", **{name: getattr(hands.settings, name) for name in OPTIONS})
    before = hands.settings.result_id
    yield from hands.press("collision_bounds.find_contacts")
    yield from hands.until(lambda: hands.settings.result_id != before, "the scan ends")
    told = [(row.a, row.b, row.linear, row.meshes) for row in hands.settings.rows if not row.is_near_miss]
    yield from hands.note("found", told=told)


OPTIONS = ("motion", "confirm", "ignore_parents", "static_pairs")

run(story)
