"""A scene in which boxes touch before the meshes in them do, or alone: what the default shape decides."""

from __future__ import annotations

import bpy

from tests.scene.sampling import add_box, add_faces, key

OF_MESHES = {frozenset(("Mover", "Wall")): 10.2}
"""Frames of first contacts of meshes.

The centers of Mover and Wall are side by side at frame 11, and Mover moves 1 per frame. Its tip is 0.3 behind
a side of Wall, so it is as wide there, and Wall begins 0.5 before its center: they touch 0.8 before.
"""

OF_BOXES = {frozenset(("Mover", "Wall")): 9.5, frozenset(("Aside", "Wall")): 9.5}
"""Frames of first contacts of boxes: 1 + 0.5 before frame 11.

Aside passes an edge of Wall, 0.7 away in Y and in Z: together, these are more than its size, 1.
"""


def add_octahedron(name: str) -> bpy.types.Object:
    """Add an octahedron whose tips are 1 from its origin."""
    tips = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    return add_faces(name, tips, faces)


def build() -> None:
    """Build the scene, of frames 1 to 21."""
    for name, y, z in (("Mover", 1.2, 0), ("Aside", -1.2, 1.2)):
        key(add_octahedron(name), "location", [(1, (-10, y, z)), (21, (10, y, z))])
    add_box("Wall", (0.5, 0.5, 0.5))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 21
