"""In Blender's window: local view, four views, names, filled shapes behind objects, the chosen contact."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run


def story(hands: Hands) -> Steps:
    """Bounds of everything, hidden and shown in the ways that Blender has."""
    view = hands.area.spaces.active
    view.show_gizmo = False
    window = {"window": hands.window, "area": hands.area, "region": hands.region("WINDOW")}
    with bpy.context.temp_override(**window):
        bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
    settings, display = hands.settings, hands.settings.display
    rows = [(row.a, row.b) for row in settings.rows]
    settings.active_row = rows.index(("Plate", "Projectile"))
    hands.look_at((-2.75, -0.7, 0.6), 12, (1.12, 0.0, -0.42))
    yield from hands.settle()
    yield from hands.note("wire")
    display.fill, display.show_names = "BOTH", True
    display.in_front = False
    yield from hands.note("filled")
    display.fill, display.show_names, display.in_front = "WIRE", False, True
    for thing in bpy.context.view_layer.objects:
        thing.select_set(thing.name == "Plate")
    with bpy.context.temp_override(**window):
        bpy.ops.view3d.localview(frame_selected=False)
    yield from hands.settle()
    from bl_ext.user_default.collision_bounds.ui.overlay.state import find_overlay

    kept = len(find_overlay(bpy.context.scene, bpy.context.view_layer).draw_data.boxes)
    yield from hands.note("local", kept=kept)
    with bpy.context.temp_override(**window):
        bpy.ops.view3d.localview(frame_selected=False)
    bpy.data.objects["Plate"].hide_set(True)
    yield from hands.settle()
    yield from hands.note("hidden")
    bpy.data.objects["Plate"].hide_set(False)
    with bpy.context.temp_override(**window):
        bpy.ops.screen.region_quadview()
    yield from hands.settle()
    yield from hands.note("quad")
    with bpy.context.temp_override(**window):
        bpy.ops.screen.region_quadview()
    yield from hands.settle()


run(story)
