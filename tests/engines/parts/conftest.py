"""Fixtures with animated scenes: meshes with notches, by convex parts, and an arm, by bones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.engines.difficult_scene import PRISMS
from tests.engines.from_blender import (
    EMPTY_ANIMATION,
    SETUP,
    AnimatedExport,
    export_animation,
    in_blender,
    read_animation,
)

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


# An arm of two bones, each with a box, which swings through plates.
_ARM = (
    EMPTY_ANIMATION
    + """
rig = put(bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig")))
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
above = None
for number, name in enumerate(("Upper", "Fore")):
    bone = rig.data.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = (0, 0, 2 * number), (0, 0, 2 * number + 2), above
    above = bone
bpy.ops.object.mode_set(mode="OBJECT")
boxes = mesh("Arm", (0.2, 0.15, 0.8), (0, 0, 1)), mesh("Fore", (0.15, 0.2, 0.8), (0, 0, 3))
points = [tuple(corner.co) for item in boxes for corner in item.data.vertices]
faces = [
    [i + 8 * number for i in face.vertices]
    for number, item in enumerate(boxes)
    for face in item.data.polygons
]
boxes[0].data.clear_geometry()
boxes[0].data.from_pydata(points, [], faces)
arm = put(boxes[0])
for number, name in enumerate(("Upper", "Fore")):
    arm.vertex_groups.new(name=name).add(range(8 * number, 8 * number + 8), 1.0, "REPLACE")
arm.modifiers.new("Armature", "ARMATURE").object = rig
for name, angle in (("Upper", 0.9), ("Fore", 1.1)):
    bone = rig.pose.bones[name]
    bone.rotation_mode = "XYZ"
    for frame, value in ((1, 0.0), (12, angle)):
        bone.rotation_euler = (value, 0.3 * value, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
for side in (-1, 1):
    put(mesh(f"Low {side}", (1, 0.1, 0.2)), (0, side, 1.3), (0.2, 0, 0))
    put(mesh(f"High {side}", (1, 0.1, 0.2)), (0, 1.3 * side, 3.5), (0, 0, 0.2))
    put(mesh(f"Far {side}", (1, 0.1, 0.2)), (0, 2.2 * side, 2.6), (0.1, 0, 0))
bpy.context.view_layer.update()
"""
)

_BONES = """
from mathutils import Matrix, Quaternion

documents = {}
for shape in ("obb", "sphere", "capsule"):
    export_document(shape + ".json", "contacts", "--bones", "--shape", shape, "--decimals", "9")
    with open(folder + f"/{shape}.json") as stream:
        documents[shape] = json.load(stream)
shapes = ("--shapes", "aabb,sphere,capsule", "--decimals", "9")
export_document("rest.json", "bounds", "--bones", "--frame", "1", *shapes)
with open(folder + "/rest.json") as stream:
    bounds = {entry["id"]: entry for entry in json.load(stream)["objects"]}
firsts = [each["first"]["frame"] for document in documents.values() for each in document["contacts"]]
near = [first + step * AROUND / 8 for first in firsts for step in range(-8, 9)]
times = sorted({*np.arange(1, 12, 1 / 16).tolist(), *(time for time in near if 1 <= time <= 12)})

def matrices():
    return {
        id: rig.matrix_world @ rig.pose.bones[entry["bone"]].matrix
        if entry.get("bone")
        else bpy.data.objects[entry["name"]].matrix_world.copy()
        for id, entry in bounds.items()
    }

def frame_of(entry):  # of its local shapes, at frame 1
    x, y, z, w = entry["transform"]["rotation"]
    position = Matrix.Translation(entry["transform"]["translation"])
    return position @ Quaternion((w, x, y, z)).to_matrix().to_4x4()

scene.frame_set(1)
offsets = {id: matrix.inverted() @ frame_of(bounds[id]) for id, matrix in matrices().items()}
poses = {}
for time in times:
    scene.frame_set(int(time), subframe=time - int(time))
    for id, matrix in matrices().items():
        position, rotation, _ = (matrix @ offsets[id]).decompose()
        poses.setdefault(id, []).append([*position, *rotation])
with open(folder + "/poses.json", "w") as stream:
    json.dump([documents, bounds, times, poses], stream)
"""


@pytest.fixture(scope="session")
def bones(tmp_path_factory) -> AnimatedExport:
    """Return contacts of bones and plates, and the poses of their local shapes."""
    folder = tmp_path_factory.mktemp("bones")
    in_blender(_ARM + "AROUND = 0.002\n" + SETUP + _BONES, folder)
    return read_animation(folder)
