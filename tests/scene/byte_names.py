"""Scenes with names that are not UTF-8, as old versions of Blender and damaged files have them."""

from __future__ import annotations

from pathlib import Path

import bpy

from tests.scene.building import CUBE, add_vertices, key_location, open_empty_file

FACES = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))

BYTES = {
    b"OBBad1": b"OBBad\xff",
    b"OBBad2": b"OBBad\xe9",
    b"GRHome1": b"GRHome\xe9",
    b"SCStage1": b"SCStage\xfc",
    b"MEBad1": b"MEBad\xff",
}
"""Names in the file, after Blender's codes of their types, and the bytes that replace them."""


def save_scene_with_byte_names(path: Path) -> None:
    r"""Save a scene in which Good moves through Bad\xff and Bad\xe9, which are at rest in Home\xe9.

    Another object has the name of the first one as it is shown.
    """
    open_empty_file()
    scene = bpy.context.scene
    scene.name, scene.frame_end = "Stage1", 12
    home = bpy.data.collections.new("Home1")
    scene.collection.children.link(home)
    for name, place in (("Bad1", 0), ("Bad2", 5), (r"Bad\xff", 50)):
        item = add_vertices(name, CUBE * 0.5, FACES, location=(place, 0, 0))
        scene.collection.objects.unlink(item)
        home.objects.link(item)
    key_location(add_vertices("Good", CUBE * 0.5, FACES), {1: (-10, 0, 0), 12: (12, 0, 0)})
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    data = path.read_bytes()
    for before, after in BYTES.items():
        assert data.count(before + b"\0") == 1, before
        data = data.replace(before + b"\0", after + b"\0" * (len(before) - len(after) + 1))
    path.write_bytes(data)
