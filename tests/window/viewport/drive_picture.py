"""In Blender's window: the picture for the README, the example scene at a contact that no frame shows."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run


def story(hands: Hands) -> Steps:
    """Maximize the viewport, find the contacts of all but the floor, and go to the projectile's."""
    with bpy.context.temp_override(window=hands.window, area=hands.area, region=hands.region("WINDOW")):
        bpy.ops.screen.screen_full_area()
    yield from hands.settle()
    view = hands.area.spaces.active
    view.show_gizmo = False
    view.show_region_toolbar = False
    for clutter in ("cursor", "extras", "floor", "axis_x", "axis_y", "text", "object_origins"):
        setattr(view.overlay, f"show_{clutter}", False)
    view.shading.show_cavity = True
    yield from hands.open_tab("Collision Bounds")
    for thing in bpy.context.view_layer.objects:
        thing.select_set(thing.name != "Floor")
    hands.settings.scope = "SELECTED"
    with bpy.context.temp_override(window=hands.window, area=hands.area, region=hands.region("WINDOW")):
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT")
        bpy.ops.object.select_all(action="DESELECT")
    rows = [(row.a, row.b) for row in hands.settings.rows]
    hands.settings.active_row = rows.index(("Plate", "Projectile"))
    view.lens = 80
    hands.look_at((-2.75, -0.7, 0.6), 7.6, (1.12, 0.0, -0.42))
    yield 10  # the report in the status bar goes
    yield from hands.over_viewport()
    yield from hands.smoothed(hands.folder / "window.png")
    yield from hands.note("picture")


run(story)
