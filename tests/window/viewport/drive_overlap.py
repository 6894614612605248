"""In Blender's window: how the meshes of the active pair overlap, while scrubbing and while it plays."""

from __future__ import annotations

import time

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


def seconds_of_frames(count: int) -> float:
    """Return the time in which so many frames are shown, one after the other."""
    scene, begin = bpy.context.scene, time.perf_counter()
    for frame in range(20, 20 + count):
        scene.frame_set(frame)
        bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)
    return time.perf_counter() - begin


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts, click the row, scrub, and compare with the overlap turned off."""
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
        yield from driver.note(
            f"at {frame}", depth=depth, lines=lines, faces=faces, seconds=drawn.overlap_seconds
        )
    bpy.context.scene.frame_set(2)
    yield from driver.note("apart", depth=overlay().overlap[1].depth)
    with_overlap = min(seconds_of_frames(10) for _ in range(3))
    driver.settings.display.show_overlap = False
    without = min(seconds_of_frames(10) for _ in range(3))
    yield from driver.note("off", with_overlap=with_overlap, without=without)
