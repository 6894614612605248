"""Fixture with an animated scene of meshes with notches, exported by convex parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engines.difficult_scene import PRISMS
from tests.engines.from_blender import EMPTY_ANIMATION, AnimatedExport, export_animation

# A peg that goes into the notch of a U, an L that tumbles onto a floor, and a bar that turns in a frame.
NOTCHED = (
    EMPTY_ANIMATION
    + PRISMS
    + """
put(prism("U", *U))
peg = put(mesh("Peg", (0.3, 0.3, 0.3)), rotation=(0, 0, 0.2))
keyed(peg, "location", (1, (1.5, 6, 0.5)), (12, (1.5, 1.1, 0.5)), ease="LINEAR")
step = put(prism("L", *L), scale=(1.5, 1.5, 1.5))
keyed(step, "location", (1, (20, 0, 9)), (12, (22, 0, 0)))
keyed(step, "rotation_euler", (1, (0.3, 0.1, 0)), (12, (2, 1, -3)))
put(prism("Floor", *L), (18, -3, -1), scale=(3, 3, 0.5))
frame = put(prism("Frame", *U), (40, 0, 0), scale=(2, 2, 2))
bar = put(mesh("Bar", (0.1, 1.4, 0.1)), (43, 3.6, 1))
keyed(bar, "rotation_euler", (1, (0, 0, 0)), (12, (0, 0, 1.5)), ease="LINEAR")
bpy.context.view_layer.update()
"""
)

STEP = 0.01
"""Frames before and after each first contact at which engines are tested."""

_DOCUMENTS = """
parts = ("--parts", "8", "--decimals", "9")
boxes = (*parts, "--part-shape", "box")
export_document("boxes.json", "bounds", "--frame", "1", "--shapes", "aabb", *boxes)
export_document("hulls.json", "bounds", "--frame", "1", "--shapes", "aabb", *parts)
for name, options in (("boxes", boxes), ("hulls", parts)):
    export_document(f"{name}.xml", "bounds", "--frame", "1", "--free-joints", *options)
export_document("boxes.urdf", "bounds", "--frame", "1", *boxes)
export_document("hulls.usda", "bounds", "--frame", "1", *parts)
for number, contact in enumerate(documents["compound"]["contacts"]):
    for side in (-1, 1):
        time = contact["first"]["frame"] + side * STEP
        for preset in ("blender", "gltf", "unity"):
            options = ("--frame", repr(time), "--preset", preset, "--shapes", "sphere,aabb,obb", *boxes)
            export_document(f"{preset}_{number}_{side}.json", "bounds", *options)
vertices = {}
for item in scene.objects:
    scene.frame_set(1)
    local = np.array([corner.co for corner in item.data.vertices], np.float64)
    matrix = np.array(item.matrix_world, np.float64)
    item.data.calc_loop_triangles()
    triangles = [list(each.vertices) for each in item.data.loop_triangles]
    vertices[item.name] = (local @ matrix[:3, :3].T + matrix[:3, 3]).tolist(), triangles
with open(folder + "/meshes.json", "w") as stream:
    json.dump(vertices, stream)
"""


class NotchedExport(NamedTuple):
    """Files of the scene, its poses, and the world-space vertices and triangles of its meshes at frame 1."""

    folder: Path
    animation: AnimatedExport
    meshes: dict[str, tuple[list[list[float]], list[list[int]]]]

    def document(self, name: str) -> dict[str, Any]:
        """Read a document."""
        return json.loads((self.folder / f"{name}.json").read_text("utf-8"))

    @property
    def contacts(self) -> list[dict[str, Any]]:
        """Contacts of the convex parts."""
        return self.animation.documents["compound"]["contacts"]


@pytest.fixture(scope="session")
def notched(tmp_path_factory) -> NotchedExport:
    folder = tmp_path_factory.mktemp("notched")
    animation = export_animation(folder, NOTCHED, ("compound",), f"STEP = {STEP}\n" + _DOCUMENTS)
    meshes = json.loads((folder / "meshes.json").read_text("utf-8"))
    return NotchedExport(folder, animation, meshes)
