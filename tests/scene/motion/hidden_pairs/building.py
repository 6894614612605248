"""Keys that hide and show the objects of random pairs."""

from __future__ import annotations

from random import Random

import bpy

from tests.scene.building import curves
from tests.scene.motion.keyed_pairs.building import FIRST, LAST, Pair


def add_visibility(pairs: list[Pair], seed: int) -> None:
    """Hide objects of pairs for some time, and some of their parents; at the first frame all are shown."""
    generator = Random(f"hidden {seed}")
    for pair in pairs:
        for name in pair.names:
            item = bpy.data.objects[name]
            if generator.random() < 0.6:
                _hide(item, generator)
            if item.parent is not None and generator.random() < 0.3:
                _hide(item.parent, generator)
    bpy.context.scene.frame_set(FIRST)


def _hide(item: bpy.types.Object, generator: Random) -> None:
    """Key the visibility: at whole frames, halves, 64ths, or any time; sometimes repeated or muted."""
    kind = generator.choice((1, 2, 64, None))
    times = {generator.uniform(FIRST - 1, LAST + 1) for _ in range(generator.randint(1, 6))}
    times = sorted({round(time * kind) / kind for time in times} if kind else times)
    for time in times:
        item.hide_viewport = generator.random() < 0.5
        item.keyframe_insert("hide_viewport", frame=time)
    item.hide_viewport = False
    (curve,) = (each for each in curves(item.animation_data.action) if each.data_path == "hide_viewport")
    if kind and len(times) > 1 and generator.random() < 0.3:
        curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
        curve.modifiers.new("CYCLES")
    curve.mute = generator.random() < 0.1
    if curve.evaluate(FIRST) > 0.5:
        for key in curve.keyframe_points:
            key.co.y = 1 - key.co.y
    curve.update()
