"""In Blender's window: type what people would into the search, and take its first answer."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bpy
from hands import Hands, Steps, run

WORDS = ("bounding sphere", "bounding boxes", "contacts", "find collisions", "overlaps")


def done() -> int:
    """How many operators Blender lists as run."""
    return len(bpy.context.window_manager.operators)


def story(hands: Hands) -> Steps:
    """Search and press Return, for each of the words."""
    settings = hands.settings
    settings.scope, settings.use_scene_range, settings.frame_end = "VISIBLE", False, 3
    for words in WORDS:
        # With room below: the mouse then rests on the field for typing, and chooses none of the answers.
        region = hands.region("WINDOW")
        yield from hands.point(region.x + 0.45 * region.width, region.y + 0.6 * region.height)
        # Its key, F3, is one that some window managers keep for themselves.
        with bpy.context.temp_override(window=hands.window, area=hands.area, region=hands.region("WINDOW")):
            bpy.ops.wm.search_menu("INVOKE_DEFAULT")
        yield from hands.settle()
        hands.xdotool("type", "--delay", 60, words)
        yield 0.6

        wanted = done() + 1
        yield from hands.keys("Return")
        # A scan is listed when it has come to its end.
        yield from hands.until(lambda least=wanted: done() >= least, f"an operator has run for {words}")
        yield from hands.note(words, picture=False)


run(story)
