"""In Blender's window: Compute Envelope by its button, Esc in the middle, and the button again."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

PACKAGE = "bl_ext.user_default.collision_bounds"
BUTTON = "collision_bounds.compute_envelope"


def is_running() -> bool:
    """Whether a job is under way."""
    return sys.modules[f"{PACKAGE}.ui.job_state"].running() is not None


def envelopes() -> int:
    """How many objects have an envelope."""
    found = sys.modules[f"{PACKAGE}.scene.jobs.session"].get(bpy.context.scene.collision_bounds.result_id)
    return 0 if found.envelopes is None else sum(bool(entry.envelope) for entry in found.envelopes.objects)


def story(hands: Hands) -> Steps:
    """Stop one of many frames; then one of the scene's own, to its end; then undo."""
    scene = bpy.context.scene
    hands.settings.scope = "VISIBLE"
    bpy.data.objects["Floor"].hide_set(True)
    hands.settings.display.show_spheres = False
    hands.settings.display.line_width = 4.0
    yield from hands.open_tab("Collision Bounds")
    end, scene.frame_end = scene.frame_end, 100_000
    bpy.ops.ed.undo_push(message="Long")
    yield from hands.find(hands.region("UI"), BUTTON)
    yield from hands.click()
    yield from hands.until(lambda: scene.frame_current > 8, "it is on its way")
    yield from hands.note("running")
    hands.notes["stopped"] = {"running": is_running()}
    yield from hands.over_viewport()
    yield from hands.keys("Escape")
    yield from hands.until(lambda: not is_running(), "it has ended")
    hands.notes["stopped"].update(after=is_running(), frame=scene.frame_current, envelopes=envelopes())

    scene.frame_end = end
    bpy.ops.ed.undo_push(message="Short")
    yield from hands.find(hands.region("UI"), BUTTON)
    yield from hands.click()
    yield from hands.until(lambda: envelopes() > 0 and not is_running(), "it is done")
    hands.notes["done"] = {"envelopes": envelopes(), "frame": scene.frame_current}
    yield from hands.over_viewport()
    yield 8  # the report in the status bar goes
    yield from hands.note("shown")
    hands.settings.display.show_envelopes = False
    yield from hands.note("hidden")
    yield from hands.keys("ctrl+z")
    hands.notes["undone"] = {"envelopes": envelopes()}
    yield from hands.keys("ctrl+shift+z")
    hands.notes["redone"] = {"envelopes": envelopes()}


run(story)
