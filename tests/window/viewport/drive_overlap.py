"""In Blender's window: the overlap of the meshes of the active pair, at several frames."""

from __future__ import annotations

import bpy
from scenes import empty_scene, move
from window_driver import Steps, WindowDriver, module


def add_objects() -> None:
    """Make a scene: a ball goes through a ring, both of 20,000 triangles."""
    empty_scene(60)
    bpy.ops.mesh.primitive_torus_add(major_segments=200, minor_segments=50, minor_radius=0.4)
    bpy.context.object.name = "Ring"
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=6, radius=0.7)
    bpy.context.object.name = "Ball"
    move(bpy.context.object, (1, 0.3, -3, 0.2), (60, 0.3, 3, 0.2))
    bpy.ops.object.select_all(action="DESELECT")


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click the row, and scrub to where the meshes overlap and where they are apart."""
    add_objects()
    view = driver.area.spaces.active
    view.show_gizmo = view.overlay.show_floor = False
    driver.set_view((0, 0, 0), 5, (0.7, 0.0, 0.4))
    yield from driver.open_tab("Collision Bounds")
    yield from driver.find_contacts()
    yield from driver.note("found")
    yield from driver.click_row("Ball", "Ring")
    yield from driver.wait_for_redraw()
    yield from driver.note("first touch")
    state = module("ui.overlay.state")

    def overlay() -> object:
        return state.find_overlay(bpy.context.scene, bpy.context.view_layer)

    for frame in (22, 26, 30):
        bpy.context.scene.frame_set(frame)
        yield from driver.wait_for_redraw()
        drawn = overlay()
        depth = drawn.overlap[1].depth
        lines, faces = len(drawn.overlap[1].curve), len(drawn.draw_data.faces)
        yield from driver.note(f"at {frame}", depth=depth, lines=lines, faces=faces)
    bpy.context.scene.frame_set(2)
    yield from driver.note("apart", depth=overlay().overlap[1].depth)
