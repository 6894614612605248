"""Loaders for three.js and Babylon.js attach entries of bones to the joints of Blender's glTF files."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import run
from tests.cli.parts.skinned_files import export_glb
from tests.documented import by_language
from tests.node.node import run_program
from tests.paths import TOP
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones

LOADERS = TOP / "docs" / "loaders"
CASES = [("three", "gltf"), ("babylon", "unity"), ("babylon", "gltf")]
BONES = {"Bone 0": "Upper/Arm.L", "Bone 1": "Hero", "Bone 2": "Bone: 2 [x]"}
"""Names with characters that GLTFLoader removes, and the name of the object."""

pytestmark = pytest.mark.long


def add_character(rig_name: str, name: str, x: float) -> None:
    """Add a character in a pose, turned and moved. Renamed bones rename the vertex groups of its mesh."""
    rig = add_rig(rig_name)
    tube = add_tube(rig, name)
    tube.parent = rig
    rig.location, rig.rotation_euler = (x, 2.0, 3.0), (0.3, -0.5, 0.9)
    rotate_bones(rig, {1: 0.8, 2: -0.4})
    for before, after in BONES.items():
        rig.data.bones[before].name = after


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Save two characters, whose bones have the same names, as glTF file and as documents."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    add_character("Rig", "Hero", 1.0)
    add_character("Rig 2", "Other.001", -4.0)
    bpy.context.view_layer.update()
    path = tmp_path / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    export_glb(tmp_path / "character.glb")
    for preset in ("gltf", "unity"):
        target = tmp_path / f"{preset}.json"
        assert run("bounds", path, "--bones", "--preset", preset, "-q", "-o", target).returncode == 0
    return tmp_path


@pytest.mark.parametrize(("engine", "preset"), CASES)
def test_shapes_of_bones_on_their_joints_hold_the_skinned_vertices(files: Path, engine: str, preset: str):
    document = json.loads((files / f"{preset}.json").read_text("utf-8"))
    path = files / "input.json"
    path.write_text(json.dumps({"document": document, "glb": str(files / "character.glb")}), "utf-8")
    result = run_program(f"attach_{engine}.mjs", path, modules=[*LOADERS.glob(f"*{engine}.mjs")])
    assert result["missing"] == []
    assert set(result["outside"]) == set(BONES.values())
    for name, distance in result["outside"].items():
        assert -0.01 < distance <= 1e-5, name


BEGIN = """
import { readFileSync } from "node:fs";
import { Box3Helper } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { attachCollisionBounds, readCollisionBounds } from "./collision-bounds.three.mjs";
globalThis.self = globalThis;
const [path, glb] = process.argv.slice(2);
const gltf = await new GLTFLoader().parseAsync(new Uint8Array(readFileSync(glb)).buffer, "");
attachCollisionBounds(readCollisionBounds(JSON.parse(readFileSync(path, "utf8"))), gltf.scene);
"""
END = """
const found = [];
gltf.scene.traverse((node) => {
  if (node.box) found.push([node.parent.userData.name, node.box.max.toArray()]);
});
console.log(JSON.stringify(found));
"""


def test_lines_of_the_reference_add_the_boxes_of_bones_to_their_joints(files: Path):
    _, block, _ = by_language("docs/engines.md", "js")
    program = files / "hitboxes.mjs"
    program.write_text(f"{BEGIN}{block.text}{END}", "utf-8")
    found = run_program(
        str(program), files / "gltf.json", files / "character.glb", modules=[*LOADERS.glob("*three.mjs")]
    )
    document = json.loads((files / "gltf.json").read_text("utf-8"))
    expected = [[entry["bone"], entry["local"]["aabb"]["max"]] for entry in document["objects"]]
    assert sorted(found) == sorted(expected)
    assert len(found) == 2 * len(BONES)
