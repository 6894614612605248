"""Scenes that drive scripts build in place of the example."""

from __future__ import annotations

from typing import Any

import bpy


def add_box(name: str, x: float, y: float = 0.0, z: float = 0.0, size: float = 1.0) -> Any:
    """Add a box to the scene."""
    h = size / 2
    corners = [(i, j, k) for i in (-h, h) for j in (-h, h) for k in (-h, h)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], faces)
    item = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(item)
    item.location = x, y, z
    return item


def move(item: Any, *keys: tuple[float, float, float, float]) -> None:
    """Key the location of an object: frame, x, y, z."""
    for frame, *location in keys:
        item.location = location
        item.keyframe_insert("location", frame=frame)


def empty_scene(end: int) -> None:
    """Remove all objects, and set the frames from 1 to `end`."""
    bpy.data.batch_remove(bpy.data.objects)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, end
    bpy.context.scene.frame_set(1)
