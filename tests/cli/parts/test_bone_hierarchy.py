"""Bones are below their parent bones in documents, and in files for robots and simulators."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.cli.command_line import run
from tests.formats.export.robotics.robot_files import read_mjcf, read_urdf
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.building import CUBE, add_object

PARENTS = {
    "Tube/bone.Bone 0": None,
    "Tube/bone.Bone 1": "Tube/bone.Bone 0",
    # Bone 2 deforms nothing.
    "Tube/bone.Bone 3": "Tube/bone.Bone 1",
    "Tube/bone.Bone 4": "Tube/bone.Bone 3",
}


def add_base() -> bpy.types.Object:
    """Add a cube that intersects all bones."""
    mesh = bpy.data.meshes.new("Base")
    mesh.from_pydata((CUBE * 8).tolist(), [], [(0, 1, 3, 2), (4, 5, 7, 6)])
    base = add_object("Base", mesh)
    return base


@pytest.fixture
def character(tmp_path: Path, empty_file: None) -> Path:
    """Save a bent character, of whose bones one has no vertices."""
    rig = add_rig(bones=5)
    tube = add_tube(rig, is_smooth=False)
    tube.parent = rig
    rig.data.bones["Bone 2"].use_deform = False
    # Vertices of the bone that does not deform go to the next one.
    group = tube.vertex_groups["Bone 3"]
    group.add([v.index for v in tube.data.vertices if 2 <= v.co.z < 3], 1.0, "REPLACE")
    rotate_bones(rig, {1: 0.7, 3: -0.4})
    return save(tmp_path)


def save(folder: Path) -> Path:
    path = folder / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def written(path: Path, *options: str) -> str:
    result = run("bounds", path, "--bones", *options, "-q", "-o", "-")
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_parent_of_a_bone_is_the_nearest_bone_above_it_with_bounds(character):
    entries = json.loads(written(character))["objects"]
    assert {entry["id"]: entry["parent"] for entry in entries} == PARENTS


def test_root_bone_is_below_the_parent_of_its_armature(character, tmp_path):
    bpy.data.objects["Rig"].parent = add_base()
    entries = json.loads(written(save(tmp_path)))["objects"]
    expected = {**PARENTS, "Base": None, "Tube/bone.Bone 0": "Base"}
    assert {entry["id"]: entry["parent"] for entry in entries} == expected


def test_links_of_bones_are_below_those_of_their_parents_at_the_same_places(character):
    text = written(character, "--format", "mjcf", "--free-joints", "--shapes", "sphere", "--decimals", "9")
    tree = ElementTree.fromstring(text)
    names = {entry: entry.replace("/", "_").replace(".", "_").replace(" ", "_") for entry in PARENTS}
    above = {child.get("name"): each.get("name") for each in tree.iter("body") for child in each.iter("body")}
    direct = {
        child.get("name"): each.get("name") for each in tree.iter("body") for child in each.findall("body")
    }
    assert set(above) == set(names.values())
    assert direct == {names[id]: names[parent] for id, parent in PARENTS.items() if parent is not None}
    # One joint, so that the character stays in one piece.
    assert [joint.get("name") for joint in tree.iter("freejoint")] == [names["Tube/bone.Bone 0"]]
    urdf, joints = written(character, "--format", "urdf", "--shapes", "sphere", "--decimals", "9"), {}
    for joint in ElementTree.fromstring(urdf).iter("joint"):
        joints[joint.find("child").get("link")] = joint.find("parent").get("link")
    expected = {names[id]: "world" if parent is None else names[parent] for id, parent in PARENTS.items()}
    assert {name: joints[name] for name in expected} == expected
    solids, of_urdf = read_mjcf(text)[0], read_urdf(urdf)[0]
    for entry in json.loads(written(character, "--shapes", "sphere", "--decimals", "9"))["objects"]:
        for (solid,) in ((solids[names[entry["id"]]]), of_urdf[names[entry["id"]]]):
            assert np.abs(np.array(solid.translation) - entry["world"]["sphere"]["center"]).max() < 1e-8
            assert solid.sizes == pytest.approx((entry["world"]["sphere"]["radius"],), abs=1e-8)


def test_character_that_would_fall_apart_with_free_joints_is_refused(character, tmp_path):
    rig = bpy.data.objects["Rig"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Bone 3"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")
    path, target = save(tmp_path), tmp_path / "bones.xml"
    result = run("bounds", path, "--bones", "-q", "-o", target, "--free-joints")
    assert result.returncode == 2
    assert "object 'Tube': would fall apart with free joints" in result.stderr
    assert "'Tube/bone.Bone 0' and 'Tube/bone.Bone 3' have no parent" in result.stderr
    assert not target.exists()
    assert run("bounds", path, "--bones", "-q", "-o", target).returncode == 0


def test_scan_ignores_contacts_of_all_bones_with_the_parent_of_their_object(character, tmp_path):
    add_base()
    arguments = ("--shape", "aabb", "--bones", "--frames", "1:2", "--static-pairs", "-q", "-o", "-")
    apart = json.loads(run("contacts", save(tmp_path), *arguments).stdout)
    assert {(entry["a"], entry["b"]) for entry in apart["contacts"]} == {("Base", id) for id in PARENTS}
    bpy.data.objects["Rig"].parent = bpy.data.objects["Base"]
    below = json.loads(run("contacts", save(tmp_path), *arguments).stdout)
    assert below["contacts"] == []
