"""In two windows of Blender, each with a scene of its own: bounds and colors of both, scrubbing in each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run
from mathutils import Quaternion


def _fill(scene: bpy.types.Scene, shift: float) -> None:
    """A wall, and a ball that reaches it at frame 10 and stays; seen from above."""
    wall = bpy.data.meshes.new("Wall")
    corners = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    wall.from_pydata(corners, [], [])
    for name, place in (("Wall", (3 + shift, 0, 0)), ("Ball", (-3 + shift, 0, 0))):
        scene.collection.objects.link(bpy.data.objects.new(f"{name} of {scene.name}", wall))
        scene.objects[-1].location = place
    ball = scene.objects[-1]
    ball.keyframe_insert("location", frame=1)
    ball.location.x = 2 + shift
    ball.keyframe_insert("location", frame=10)
    scene.frame_start, scene.frame_end = 1, 20


def _around(window: bpy.types.Window) -> dict[str, object]:
    area = max(
        (area for area in window.screen.areas if area.type == "VIEW_3D"), key=lambda a: a.width * a.height
    )
    region = next(region for region in area.regions if region.type == "WINDOW")
    return {"window": window, "area": area, "region": region}


def story(hands: Hands) -> Steps:
    """Two scenes, two windows; scrub in the one, then in the other."""
    first = bpy.data.scenes.new("First")
    second = bpy.data.scenes.new("Second")
    _fill(first, 0)
    _fill(second, 0)
    hands.window.scene = first
    yield from hands.settle()
    with bpy.context.temp_override(**_around(hands.window)):
        bpy.ops.wm.window_new_main()
    yield 2.0
    windows = list(bpy.context.window_manager.windows)
    windows[1].scene = second
    yield from hands.settle()
    ids = [hands.id, next(found for found in hands.window_ids() if found != hands.id)]
    for window in windows:
        around = _around(window)
        space = around["area"].spaces.active
        space.show_gizmo = space.overlay.show_floor = space.overlay.show_axis_x = False
        space.overlay.show_axis_y = space.overlay.show_cursor = False
        view = space.region_3d
        view.view_perspective, view.view_rotation = "ORTHO", Quaternion((1, 0, 0, 0))
        view.view_location, view.view_distance = (0, 0, 0), 14
        with bpy.context.temp_override(**around):
            bpy.ops.collision_bounds.find_contacts("EXEC_DEFAULT", scope="VISIBLE")
    yield from hands.settle()

    def look(name: str) -> Steps:
        yield from hands.settle()
        for number, (window, x11) in enumerate(zip(windows, ids, strict=True)):
            hands.xdotool("windowactivate", x11)
            yield 1.0
            path = hands.folder / f"{name} {number}.ppm"
            subprocess.run(["import", "-silent", "-window", x11, "-depth", "8", path], check=True)
            regions = {r.type: (r.x, r.y, r.width, r.height) for r in _around(window)["area"].regions}
            hands.notes[f"{name} {number}"] = {
                "regions": regions,
                "height": window.height,
                "scene": window.scene.name,
                "frame": window.scene.frame_current,
            }

    def play_to(window: bpy.types.Window, frame: int) -> Steps:
        with bpy.context.temp_override(**_around(window)):
            bpy.ops.screen.frame_offset(delta=frame - window.scene.frame_current)
        yield from hands.settle()

    yield from look("begin")
    yield from play_to(windows[0], 12)
    yield from look("first")
    yield from play_to(windows[1], 12)
    yield from play_to(windows[0], 1)
    yield from look("second")
    with bpy.context.temp_override(**_around(windows[1])):
        bpy.ops.collision_bounds.clear_results()
    yield from look("cleared")


run(story)
