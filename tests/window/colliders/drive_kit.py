"""In Blender's window: create the colliders of a kit of props again, and mend one that is too small.

The props have colliders of mixed kinds, one of which was edited. Six clicks from the opened tab.
"""

from __future__ import annotations

import bpy
from window_driver import Steps, WindowDriver

KINDS = {
    "Crate": "box",
    "Barrel": "capsule",
    "Rock": "hull",
    "Ball": "sphere",
    "Vase": "hull",
    "Chest": "box",
}


def add_kit() -> None:
    """Add props in a row with colliders of mixed kinds, one edited, and one that its prop has outgrown."""
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    for number, (name, kind) in enumerate(KINDS.items()):
        bpy.ops.mesh.primitive_ico_sphere_add(radius=0.4, location=(number - 2.5, 0, 0.4))
        item = bpy.context.object
        item.name = f"SM_{name}"
        bpy.ops.collision_bounds.create_colliders(scope="SELECTED", kind=kind, naming="unreal")
    bpy.ops.object.select_all(action="DESELECT")
    bpy.data.objects["UBX_SM_Crate_00"].scale.z = 1.5
    for vertex in bpy.data.objects["SM_Chest"].data.vertices:
        vertex.co *= 1.3
    bpy.context.scene.collision_bounds.colliders.kind = "box"


def colliders() -> dict[str, list[float]]:
    """Return the dimensions of all colliders by name."""
    items = [item for item in bpy.context.scene.objects if "collision_bounds_collider" in item]
    return {item.name: list(item.dimensions) for item in items}


def outgrow() -> None:
    """Enlarge the vase, whose collider is too small then."""
    mesh = bpy.data.objects["SM_Vase"].data
    for vertex in mesh.vertices:
        vertex.co *= 1.2
    mesh.update()
    bpy.ops.ed.undo_push(message="Outgrown")


def scenario(driver: WindowDriver) -> Steps:
    """Open the panel, create the colliders again, check them, and rebuild one that is too small."""
    add_kit()
    driver.set_view((0.2, -1.0, 0.5), 9, (0.6, 0, 0.3))
    yield from driver.open_tab("Collision Bounds")
    bpy.ops.ed.undo_push(message="Kit")
    yield from driver.note("tab", colliders=colliders())
    yield from driver.click_panel_headers(0, 2)
    yield from driver.note("panel")
    yield from driver.click_button("collision_bounds.create_colliders")
    yield from driver.note("again", colliders=colliders())
    outgrow()
    yield from driver.click_button("collision_bounds.check_colliders")
    yield from driver.note("checked")
    yield from driver.click_button("collision_bounds.rebuild_colliders", across=0.85)
    yield from driver.note("rebuilt", colliders=colliders())
    yield from driver.press_keys("ctrl+z")
    yield from driver.note("undone", colliders=colliders())
