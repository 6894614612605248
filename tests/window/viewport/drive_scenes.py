"""In two windows of Blender, each with a different scene: find contacts in both, change the frame in each."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

import bpy
from mathutils import Quaternion
from window_driver import Steps, WindowDriver


def _add_objects(scene: bpy.types.Scene, shift: float) -> None:
    """Add a wall, and a ball that reaches it at frame 10 and stays; both are seen from above."""
    wall = bpy.data.meshes.new("Wall")
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    wall.from_pydata(corners, [], faces)
    for name, location in (("Wall", (3 + shift, 0, 0)), ("Ball", (-3 + shift, 0, 0))):
        scene.collection.objects.link(bpy.data.objects.new(f"{name} of {scene.name}", wall))
        scene.objects[-1].location = location
    ball = scene.objects[-1]
    ball.keyframe_insert("location", frame=1)
    ball.location.x = 2 + shift
    ball.keyframe_insert("location", frame=10)
    scene.frame_start, scene.frame_end = 1, 20


def _viewport_context(window: bpy.types.Window) -> dict[str, object]:
    area = max(
        (area for area in window.screen.areas if area.type == "VIEW_3D"), key=lambda a: a.width * a.height
    )
    region = next(region for region in area.regions if region.type == "WINDOW")
    return {"window": window, "area": area, "region": region}


def open_windows(driver: WindowDriver) -> Steps:
    """Open a second window, give each window a scene, and return the windows and their X11 identifiers."""
    first = bpy.data.scenes.new("First")
    second = bpy.data.scenes.new("Second")
    _add_objects(first, 0)
    _add_objects(second, 0)
    driver.window.scene = first
    yield from driver.wait_for_redraw()
    with bpy.context.temp_override(**_viewport_context(driver.window)):
        bpy.ops.wm.window_new_main()
    yield 2.0
    windows = list(bpy.context.window_manager.windows)
    windows[1].scene = second
    yield from driver.wait_for_redraw()
    ids = [driver.x11_id, next(x11 for x11 in driver.x11_ids() if x11 != driver.x11_id)]
    return windows, ids


def note(driver: WindowDriver, windows: Sequence[bpy.types.Window], ids: Sequence[str], name: str) -> Steps:
    """Write down the state of each window and take a screenshot of it."""
    yield from driver.wait_for_redraw()
    for number, (window, x11) in enumerate(zip(windows, ids, strict=True)):
        driver.xdotool("windowactivate", x11)
        yield 1.0
        path = driver.folder / f"{name} {number}.ppm"
        subprocess.run(["import", "-silent", "-window", x11, "-depth", "8", path], check=True)
        regions = {r.type: (r.x, r.y, r.width, r.height) for r in _viewport_context(window)["area"].regions}
        driver.notes[f"{name} {number}"] = {
            "regions": regions,
            "height": window.height,
            "scene": window.scene.name,
            "frame": window.scene.frame_current,
        }


def scenario(driver: WindowDriver) -> Steps:
    """Find contacts in both windows, then change the frame in the first, in the second, and in the first."""
    windows, ids = yield from open_windows(driver)
    for window in windows:
        context = _viewport_context(window)
        space = context["area"].spaces.active
        space.show_gizmo = space.overlay.show_floor = space.overlay.show_axis_x = False
        space.overlay.show_axis_y = space.overlay.show_cursor = False
        view = space.region_3d
        view.view_perspective, view.view_rotation = "ORTHO", Quaternion((1, 0, 0, 0))
        view.view_location, view.view_distance = (0, 0, 0), 14
        with bpy.context.temp_override(**context):
            bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
    yield from driver.wait_for_redraw()

    def go_to_frame(window: bpy.types.Window, frame: int) -> Steps:
        with bpy.context.temp_override(**_viewport_context(window)):
            bpy.ops.screen.frame_offset(delta=frame - window.scene.frame_current)
        yield from driver.wait_for_redraw()

    yield from note(driver, windows, ids, "start")
    yield from go_to_frame(windows[0], 12)
    yield from note(driver, windows, ids, "contact in first")
    yield from go_to_frame(windows[1], 12)
    yield from go_to_frame(windows[0], 1)
    yield from note(driver, windows, ids, "contact in second")
    with bpy.context.temp_override(**_viewport_context(windows[1])):
        bpy.ops.collision_bounds.clear_results()
    yield from note(driver, windows, ids, "second cleared")
