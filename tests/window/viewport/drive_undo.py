"""In Blender's window: undo, redo, changed options, and a scan that is stopped with Esc."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run


def is_running() -> bool:
    """Whether a scan is under way."""
    return sys.modules["bl_ext.user_default.collision_bounds.ui.job_state"].running() is not None


def write_bounds(hands: Hands, name: str) -> None:
    """The shown result as a file; the export button has its own test."""
    bpy.ops.collision_bounds.export_json(filepath=str(hands.folder / f"{name}.json"))


def story(hands: Hands) -> Steps:
    """One step back, one forward, options, then Esc."""
    hands.look_at((-3.4, -1.3, 0.6), 4.5, (1.15, 0, 0.5))
    yield from hands.open_tab("Collision Bounds")
    hands.settings.scope = "VISIBLE"
    bpy.ops.ed.undo_push(message="Objects")
    yield from hands.note("before")
    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.note("computed")
    write_bounds(hands, "computed")
    yield from hands.keys("ctrl+z")
    yield from hands.note("undone")
    yield from hands.keys("ctrl+shift+z")
    yield from hands.note("redone")
    write_bounds(hands, "redone")

    yield from hands.press("collision_bounds.compute_bounds")
    yield from hands.over_option(0)  # padding
    yield from hands.click(times=2)
    yield from hands.keys("ctrl+a", "0", "period", "2", "5", "Return")
    yield from hands.note("padded")
    write_bounds(hands, "padded")
    yield from hands.over_option(1)  # method
    hands.xdotool("keydown", "ctrl", "click", 5, "keyup", "ctrl")  # the wheel walks through a menu's entries
    yield from hands.settle()
    yield from hands.note("other method")
    write_bounds(hands, "other method")

    scene = bpy.context.scene
    for name in ("Crate", "Cart"):
        bpy.data.objects[name].select_set(True)
    scene.frame_set(7, subframe=0.25)
    hands.settings.use_scene_range = False
    hands.settings.frame_end = 1_000_000
    yield from hands.note("before scan")
    yield from hands.press("collision_bounds.find_contacts")
    yield 1.5
    yield from hands.note("scanning")
    yield from hands.keys("Escape")
    # The status bar shows the hints for what the mouse entered last, and a scan sees to it that this waits.
    yield from hands.point(hands.region("UI").x + 20, hands.region("UI").y + 20)
    yield from hands.until(lambda: len(hands.settings.rows), "the scan stops")
    yield from hands.note("stopped")
    write_bounds(hands, "stopped")
    hands.settings.use_scene_range = True
    partial = hands.settings.result_id
    yield from hands.press("collision_bounds.find_contacts")
    yield from hands.until(lambda: hands.settings.result_id != partial, "the second scan ends")
    yield from hands.note("again")

    again = hands.settings.result_id
    hands.settings.use_scene_range, hands.settings.frame_end = False, 20_000
    yield from hands.over_viewport()
    yield from hands.keys("shift+r")
    hands.notes["repeating"] = {"running": is_running()}
    yield from hands.keys("Escape")
    yield from hands.until(lambda: not is_running(), "the repeated scan stops")
    hands.settings.use_scene_range = True
    yield from hands.note("repeated", is_new=hands.settings.result_id != again)
    yield from hands.keys("ctrl+z")
    yield from hands.note("repeat undone", is_new=hands.settings.result_id != again)


run(story)
