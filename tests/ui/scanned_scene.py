"""A small scene with results in its contact list."""

from __future__ import annotations

import bpy

from tests.scene.sampling import add_box, key


def build() -> None:
    """Build the scene. All cubes have sides of 1.

    Slider moves 1 per frame from 0: it touches Near at frame 4 and Far at 14, and passes Aside at a distance
    of 0.5. Bullet and Pane are far away. Bullet moves 30 per frame from -97.51, and touches Pane at frame
    3.25, between two frames.
    """
    half = (0.5, 0.5, 0.5)
    key(add_box("Slider", half), "location", [(0, (0, 0, 0)), (20, (20, 0, 0))])
    add_box("Near", half).location = (5, 0, 0)
    add_box("Far", half).location = (15, 0, 0)
    add_box("Aside", half).location = (10, 1.5, 0)
    bullet = add_box("Bullet", (0.01, 0.01, 0.01))
    key(bullet, "location", [(0, (-97.51, 50, 0)), (20, (502.49, 50, 0))])
    add_box("Pane", (0.0, 1, 1)).location = (0, 50, 0)
    for item in bpy.data.objects:
        item.select_set(False)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 20
    scene.frame_set(7, subframe=0.25)


def scan(**options: object) -> None:
    """Find contacts of all visible objects, as a script does, of their boxes unless options say otherwise."""
    options = {"scope": "VISIBLE", "shape": "aabb", **options}
    assert bpy.ops.collision_bounds.find_contacts(**options) == {"FINISHED"}


def row_of(settings, *pair: str) -> int:
    """Return the index of the row of two objects."""
    (index,) = (index for index, row in enumerate(settings.rows) if {row.a, row.b} == set(pair))
    return index
