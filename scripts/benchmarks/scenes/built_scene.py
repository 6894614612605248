"""Scene of a benchmark, which stays in Blender as long as measurements need the same one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def built_scene(name: str, build: Callable[[Any], None]) -> Any:
    """Return the active scene of Blender, emptied and built first if it has another name."""
    import bpy

    scene: Any = bpy.context.scene
    if scene.get("benchmark") != name:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        scene = bpy.context.scene
        scene["benchmark"] = name
        build(scene)
    return scene
