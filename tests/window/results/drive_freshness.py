"""In Blender's window: an object is dragged by hand, the drag undone, done again, and one called off."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run


def story(hands: Hands) -> Steps:
    """Whether results are stale after each step."""
    from bl_ext.user_default.collision_bounds.scene.jobs import session

    def told() -> bool:
        return session.get(hands.settings.result_id).stale

    box = bpy.data.objects.new("Dragged", bpy.data.objects["Plate"].data)
    bpy.context.scene.collection.objects.link(box)
    box.location = (0, 30, 0)
    yield from hands.settle()
    window = {"window": hands.window, "area": hands.area, "region": hands.region("WINDOW")}
    with bpy.context.temp_override(**window):
        bpy.ops.object.select_all(action="DESELECT")
        box.select_set(True)
        bpy.context.view_layer.objects.active = box
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", True, scope="VISIBLE")
        bpy.ops.ed.undo_push(message="Found")
    yield from hands.settle()
    steps = {"found": told()}
    yield from hands.over_viewport()
    yield from hands.keys("g", "x")
    region = hands.region("WINDOW")
    for part in (0.5, 0.55, 0.6):
        yield from hands.point(region.x + part * region.width, region.y + 0.2 * region.height)
    steps["while dragged"] = told()
    yield from hands.keys("Return")
    steps["dragged"] = told()
    place = bpy.data.objects["Dragged"].location.x
    yield from hands.keys("ctrl+z")
    steps["undone"] = told()
    back = bpy.data.objects["Dragged"].location.x
    yield from hands.keys("ctrl+shift+z")
    steps["redone"] = told()
    yield from hands.keys("ctrl+z")
    steps["undone again"] = told()
    yield from hands.keys("g", "x")
    for part in (0.5, 0.55, 0.6):
        yield from hands.point(region.x + part * region.width, region.y + 0.2 * region.height)
    steps["dragged again"] = told()
    yield from hands.keys("Escape")
    steps["called off"] = told()
    yield from hands.keys("g", "x", "0", "Return")
    steps["confirmed where it was"] = told()
    yield from hands.note("end", picture=False, steps=steps, places=[place, back])


run(story)
