"""The lines of docs/engines.md that cull skinned meshes in three.js, on a character that Blender exported."""

from __future__ import annotations

import io
from pathlib import Path

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from tests.documented import by_language
from tests.node.node import run_program
from tests.paths import TOP
from tests.scene.building import add_object

pytestmark = pytest.mark.long

BEGIN = """
import { readFileSync } from "node:fs";
import { AnimationMixer, Matrix4, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { readCollisionBounds } from "./collision-bounds.three.mjs";
globalThis.self = globalThis;
globalThis.ProgressEvent ??= Event;
const bounds = readCollisionBounds(JSON.parse(readFileSync(process.argv[2], "utf-8")));
const gltf = await new GLTFLoader().parseAsync(new Uint8Array(readFileSync(process.argv[3])).buffer, "");
"""
END = """
const mixer = new AnimationMixer(gltf.scene);
mixer.clipAction(gltf.animations[0]).play();
const found = [];
for (let frame = 1; frame <= 20; frame += 0.5) {
  mixer.setTime(frame / 24);
  gltf.scene.updateMatrixWorld(true);
  gltf.scene.traverse((mesh) => {
    if (!mesh.isSkinnedMesh) return;
    for (let i = 0; i < mesh.geometry.attributes.position.count; i += 1) {
      const point = mesh.getVertexPosition(i, new Vector3());
      const scale = mesh.getWorldScale(new Vector3()).x;
      const outside = mesh.boundingBox.distanceToPoint(point) * scale;
      found.push({ mesh: mesh.name, outside, beyond: mesh.boundingSphere.distanceToPoint(point) * scale });
    }
  });
}
process.stdout.write(JSON.stringify(found));
"""


def put_character(scale: float) -> None:
    """Add a column on two bones, the upper one of which bends, with a material for each half."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.object.armature_add(location=(3, -2, 1))
    rig = bpy.context.object
    rig.scale, rig.rotation_euler = (scale,) * 3, (0.2, 0.5, 0.3)
    bpy.ops.object.mode_set(mode="EDIT")
    first = rig.data.edit_bones[0]
    first.name, first.head, first.tail = "Lower", (0, 0, 0), (0, 0, 1)
    second = rig.data.edit_bones.new("Upper")
    second.head, second.tail, second.parent = (0, 0, 1), (0, 0, 2), first
    bpy.ops.object.mode_set(mode="OBJECT")
    corners = [(x, y, z) for z in (0, 1, 2) for x, y in ((-0.2, -0.1), (0.3, -0.1), (0.3, 0.4), (-0.2, 0.4))]
    faces = [
        (k + 4 * z, (k + 1) % 4 + 4 * z, (k + 1) % 4 + 4 * z + 4, k + 4 * z + 4)
        for z in (0, 1)
        for k in range(4)
    ]
    mesh = bpy.data.meshes.new("Hero")
    mesh.from_pydata(corners, [], faces)
    for number in range(2):
        mesh.materials.append(bpy.data.materials.new(f"Half {number}"))
    for face in mesh.polygons:
        face.material_index = face.index // 4
    hero = add_object("Hero", mesh)
    hero.parent = rig
    hero.modifiers.new("Armature", "ARMATURE").object = rig
    for name, rows in (("Lower", range(8)), ("Upper", range(8, 12))):
        hero.vertex_groups.new(name=name).add([*rows], 1, "REPLACE")
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0), (20, 2)):
        bone.rotation_euler = (angle, 0, 0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_end = 20
    bpy.context.scene.frame_set(1)


@pytest.mark.parametrize("scale", [0.5, 3])
def test_bounds_of_a_skinned_mesh_with_two_materials_hold_it_at_all_frames(tmp_path: Path, scale: float):
    put_character(scale)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    options = ["bounds", "--envelope", "--preset", "gltf", "-q", "-o", str(tmp_path / "hero.json")]
    assert main(options, opens_file=False, out=io.StringIO()) == 0
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "hero.glb"), export_current_frame=True)
    *_, block = by_language("docs/engines.md", "js")
    program = tmp_path / "culling.mjs"
    program.write_text(f"{BEGIN}{block.text}{END}", "utf-8")
    loader = TOP / "docs" / "loaders" / "collision-bounds.three.mjs"
    found = run_program(str(program), tmp_path / "hero.json", tmp_path / "hero.glb", modules=[loader])
    assert len({each["mesh"] for each in found}) == 2
    outside, beyond = (np.array([each[key] for each in found]) for key in ("outside", "beyond"))
    assert outside.max() <= 1e-5 and beyond.max() <= 1e-5
    # The sphere is not larger than the character needs by more than half its length.
    assert -scale <= beyond.max()
