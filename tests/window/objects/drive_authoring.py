"""In Blender's window: a box set by hand, sized and moved by its handles, undone and done again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run
from mathutils import Vector

_FAR = 0.5


def own() -> Any:
    """The settings of the object, looked up anew: undo makes others of them."""
    return bpy.data.objects["Crate"].collision_bounds


def facts() -> dict[str, Any]:
    """The override as it is now."""
    return {
        "override": own().override,
        "center": list(own().center),
        "half_extents": list(own().half_extents),
    }


def on_screen(hands: Hands, place: Vector) -> tuple[float, float]:
    """Where a place of the object's own space is in the window."""
    return hands.seen_at(tuple(bpy.data.objects["Crate"].matrix_world @ place))


def bound_corner() -> Vector:
    """The corner of the bound that is farthest down, right and in front."""
    signs = [Vector((x, y, z)) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    matrix = bpy.data.objects["Crate"].matrix_world
    center, half = Vector(own().center), Vector(own().half_extents)
    corners = [matrix @ (center + sign * half) for sign in signs]
    return Vector((max(c.x for c in corners), min(c.y for c in corners), min(c.z for c in corners)))


def story(hands: Hands) -> Steps:
    """Compute, start from the fit, size, undo, redo, move, hide."""
    crate = bpy.data.objects["Crate"]
    for item in bpy.context.selected_objects:
        item.select_set(False)
    crate.select_set(True)
    bpy.context.view_layer.objects.active = crate
    bpy.ops.ed.undo_push(message="Select")
    hands.look_at(tuple(crate.matrix_world.translation), 3.5, (1.1, 0, 0.6))
    yield from hands.open_tab("Collision Bounds")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.unfold(2, 1)  # fit, override
    yield from hands.note("unfolded", **facts())
    yield from hands.press("collision_bounds.override_from_fit")
    yield from hands.note("started", **facts())

    half = own().half_extents[0]
    corner = Vector((half + _FAR, own().half_extents[1], own().half_extents[2]))
    places = {"new_corner": on_screen(hands, corner)}
    side, there = Vector((half, 0, 0)), Vector((half + _FAR, 0, 0))
    yield from hands.drag(on_screen(hands, side), on_screen(hands, there))
    yield from hands.note("sized", **facts(), **places)
    yield from hands.keys("ctrl+z")
    yield from hands.note("undone", **facts(), **places)
    yield from hands.keys("ctrl+shift+z")
    yield from hands.note("redone", **facts(), **places)

    x, y = on_screen(hands, Vector(own().center))
    yield from hands.drag((x, y), (x + 60, y + 40))
    yield from hands.note("moved", **facts(), **places)
    hands.area.spaces.active.show_gizmo = False
    places["bound_corner"] = hands.seen_at(tuple(bound_corner()))
    yield from hands.note("without handles", **facts(), **places)
    for shape in ("sphere", "box"):  # the one before is not what counts
        own().override = shape
        yield from hands.press("collision_bounds.override_from_fit")
        yield from hands.note(f"{shape} again", **facts())
    yield from hands.unfold(0)  # own settings
    yield from hands.note("own settings")


run(story)
