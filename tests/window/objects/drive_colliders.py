"""In Blender's window: make colliders by their button, change the kind below, undo, remove."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

HEADER, TO_HEADING = 26, 24
"""Pixels from one folded heading to the next, and from the last row of Export to the heading below."""


def colliders() -> list[list[object]]:
    """Names, parents and corners."""
    found = [item for item in bpy.context.scene.objects if "collision_bounds_collider" in item]
    return sorted([item.name, item.parent.name, len(item.data.vertices)] for item in found)


def opened(hands: Hands) -> Steps:
    """Fold every panel but Export, and open the part of it with colliders."""
    region = hands.region("UI")
    x, top = region.x + 0.4 * region.width, region.y + region.height - 16
    yield from hands.point(x, top)
    hands.xdotool("keydown", "ctrl", "click", 1, "keyup", "ctrl")
    yield from hands.settle()
    yield from hands.click()
    yield from hands.point(x, top - 3 * HEADER)
    yield from hands.click()
    x, y = yield from hands.find(region, "collision_bounds.export_unreal", across=0.75)
    yield from hands.point(region.x + 0.4 * region.width, y - TO_HEADING)
    yield from hands.click()


def story(hands: Hands) -> Steps:
    """Boxes, spheres by the panel of the last operation, hulls in their place, back, away."""
    hands.look_at((-3.4, -1.3, 0.6), 9, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    bpy.ops.object.select_all(action="DESELECT")
    for name in ("Crate", "Launcher"):
        bpy.data.objects[name].select_set(True)
    bpy.ops.ed.undo_push(message="Selected")  # changed options begin from here
    before = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.collections)
    yield from opened(hands)
    yield from hands.press("collision_bounds.create_colliders")
    yield from hands.note("boxes", colliders=colliders())
    yield from hands.over_option(2)
    hands.xdotool("keydown", "ctrl", "click", 5, "keyup", "ctrl")
    yield from hands.settle()
    yield from hands.note("spheres", colliders=colliders())
    hands.settings.colliders.kind = "hull"
    yield from hands.press("collision_bounds.create_colliders")
    yield from hands.note("hulls", colliders=colliders())
    yield from hands.keys("ctrl+z")
    yield from hands.note("undone", picture=False, colliders=colliders())
    yield from hands.keys("ctrl+shift+z")
    yield from hands.note("again", picture=False, colliders=colliders())
    yield from hands.press("collision_bounds.remove_colliders", across=0.82)
    after = len(bpy.data.objects), len(bpy.data.meshes), len(bpy.data.collections)
    yield from hands.note("removed", colliders=colliders(), before=before, after=after)
    yield from hands.keys("ctrl+z")
    yield from hands.note("back", picture=False, colliders=colliders())


run(story)
