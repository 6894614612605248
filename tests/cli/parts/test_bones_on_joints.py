"""Shapes of bones in documents fit the joints of files that Blender's own exporters write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from addon.formats import dumps, make_document, space_for
from addon.formats.document.conversion import read_file
from addon.scene.blender.parts import known_rows
from tests.cli.command_line import run
from tests.cli.parts.skinned_files import Joint, bind_rotations_of_fbx, export_glb, joints_of_glb
from tests.paths import TOP
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.tiers import times

SAMPLES = TOP.parent / "shared" / "samples"
CHARACTERS = ["RobotExpressive.blend", "animation_with_skeleton.fbx"]

FRAMES = (1, 3, 5)
SHAPES = "aabb,obb,sphere,capsule,cylinder,hull"

TO_GLTF = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
MIRRORS = {"unity": np.diag([-1, 1, 1]), "unreal": np.diag([1, -1, 1])}
"""Conversion of local coordinates by the importers of the engines, which do not run in tests."""

IMPORTED = {"unity": MIRRORS["unity"], "unreal": MIRRORS["unreal"] @ TO_GLTF.T}
"""Conversion of world coordinates: Unreal also turns the Y axis of the file up to its Z axis."""


@pytest.fixture
def character(tmp_path: Path, empty_file: None) -> Path:
    """Save a character that bends from frame 1 to 5, with bones of unequal roll, turned in the world."""
    rig = add_rig()
    bpy.ops.object.mode_set(mode="EDIT")
    for number, bone in enumerate(rig.data.edit_bones):
        bone.roll = 0.7 * number + 0.3
    bpy.ops.object.mode_set(mode="OBJECT")
    tube = add_tube(rig)
    tube.parent = rig
    rig.location, rig.rotation_euler = (1.0, 2.0, 3.0), (0.3, -0.5, 0.9)
    # At frame 1 the character is at rest.
    for frame, angle in ((1, 0.0), (3, 0.5), (5, 1.2)):
        rotate_bones(rig, {0: -angle / 2, 1: angle, 2: angle}, frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    path = tmp_path / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.mark.smoke
def test_evaluations_are_watched_for_bones_in_files_with_armatures_alone(character, scene):
    known_rows.detach()
    for path, count in ((scene, 0), (character, 1), (character, 1)):
        assert run("bounds", path, "-q").returncode == 0
        for handlers in (bpy.app.handlers.depsgraph_update_post, bpy.app.handlers.frame_change_post):
            assert len([each for each in handlers if each in known_rows.HANDLERS]) == count
    known_rows.detach()


def entries_of(path: Path, *options: str) -> dict[str, dict[str, Any]]:
    result = run("bounds", path, "--bones", "--shapes", SHAPES, *options, "-q", "-o", "-")
    assert result.returncode == 0, result.stderr
    return {entry["name"]: entry for entry in json.loads(result.stdout)["objects"] if entry.get("bone")}


def rotation_of(quaternion: list[float]) -> np.ndarray:
    x, y, z, w = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def outside(shapes: dict[str, Any], points: np.ndarray) -> dict[str, float]:
    """Greatest distance by which points are outside of each shape; negative if all are inside."""
    box, oriented, sphere, hull = (shapes[key] for key in ("aabb", "obb", "sphere", "hull"))
    found = {
        "aabb": float(np.maximum(np.array(box["min"]) - points, points - np.array(box["max"])).max()),
        "sphere": float(np.linalg.norm(points - sphere["center"], axis=1).max() - sphere["radius"]),
    }
    turned = (points - oriented["center"]) @ rotation_of(oriented["rotation"])
    found["obb"] = float((np.abs(turned) - oriented["halfExtents"]).max())
    corners = np.array(hull["vertices"])[np.array(hull["faces"])]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    found["hull"] = float((points @ normals.T - (normals * corners[:, 0]).sum(axis=1)).max())
    for key in ("capsule", "cylinder"):
        along = (points - shapes[key]["center"]) @ np.array(shapes[key]["axis"])
        across = points - shapes[key]["center"] - along[:, None] * shapes[key]["axis"]
        beyond, radius = np.abs(along) - shapes[key]["halfLength"], np.linalg.norm(across, axis=1)
        if key == "capsule":
            found[key] = float((np.hypot(np.maximum(beyond, 0), radius) - shapes[key]["radius"]).max())
        else:
            found[key] = float(np.maximum(beyond, radius - shapes[key]["radius"]).max())
    return found


def in_joint(joint: Joint) -> np.ndarray:
    inverse = np.linalg.inv(joint.world)
    return joint.vertices @ inverse[:3, :3].T + inverse[:3, 3]


def joints_at(frame: int, folder: Path) -> dict[str, Joint]:
    bpy.context.scene.frame_set(frame)
    path = folder / f"{frame}.glb"
    export_glb(path)
    return joints_of_glb(path)


@pytest.mark.parametrize("frame", [1, pytest.param(5, marks=pytest.mark.smoke)])
def test_shapes_on_the_joints_of_blenders_gltf_hold_the_vertices_of_each_bone(character, tmp_path, frame):
    """At rest and posed; the frame of each entry is that of its joint."""
    entries = entries_of(character, "--preset", "gltf", "--frame", str(frame))
    joints = joints_at(frame, tmp_path)
    assert set(entries) == set(joints) == {f"Tube/bone.Bone {number}" for number in range(3)}
    for name, joint in joints.items():
        distances = outside(entries[name]["local"], in_joint(joint))
        assert max(distances.values()) <= 1e-5, (name, distances)
        assert min(distances.values()) > -0.05, (name, distances)
        assert max(outside(entries[name]["world"], joint.vertices).values()) <= 1e-5
        placed = entries[name]["transform"]
        assert placed["scale"] == pytest.approx([1, 1, 1], abs=1e-6)
        assert np.abs(rotation_of(placed["rotation"]) - joint.world[:3, :3]).max() < 1e-5
        assert placed["translation"] == pytest.approx(joint.world[:3, 3], abs=1e-5)


@pytest.mark.long
def test_shapes_of_all_frames_on_the_joints_hold_the_vertices_at_each_frame(character, tmp_path):
    entries = entries_of(character, "--preset", "gltf", "--bone-frames", "all")
    for frame in FRAMES:
        for name, joint in joints_at(frame, tmp_path).items():
            assert entries[name]["allFrames"]
            distances = outside(entries[name]["local"], in_joint(joint))
            assert max(distances.values()) <= 1e-5, (frame, name, distances)


@pytest.mark.long
@pytest.mark.parametrize("name", CHARACTERS)
def test_shapes_on_the_joints_of_characters_by_others_hold_their_vertices(tmp_path, name):
    """At frames of up to two actions. Joints are not scaled by the shapes, which include the scale."""
    source, checked = SAMPLES / name, 0
    if not source.exists():
        pytest.skip(f"{name} is not here")
    if source.suffix == ".blend":
        bpy.ops.wm.open_mainfile(filepath=str(source))
    else:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.import_scene.fbx(filepath=str(source))
    actions = [action.name for action in bpy.data.actions][: times(1, full=2)]
    for action_name in actions:
        action = bpy.data.actions[action_name]
        for rig in (item for item in bpy.data.objects if item.type == "ARMATURE"):
            rig.animation_data_create()
            rig.animation_data.action = action
        frame, path = round(sum(action.frame_range) / 2), tmp_path / "character.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        entries = entries_of(path, "--preset", "gltf", "--frame", str(frame))
        for joint_name, joint in joints_at(frame, tmp_path).items():
            world = joint.world.copy()
            world[:3, :3] /= np.linalg.norm(world[:3, :3], axis=0)
            distances = outside(entries[joint_name]["local"], in_joint(joint._replace(world=world)))
            assert max(distances.values()) <= 1e-5, (frame, joint_name, distances)
            checked += len(joint.vertices)
    assert checked > 1000


@pytest.mark.long
@pytest.mark.parametrize("preset", MIRRORS)
def test_frames_of_left_handed_presets_are_those_of_blenders_fbx_with_one_mirrored_axis(
    character, tmp_path, preset
):
    """The bones of the file keep the axes that they have in Blender; engines mirror one of them."""
    bpy.context.scene.frame_set(1)
    entries = entries_of(character, "--preset", preset, "--frame", "1")
    rotations = bind_rotations_of_fbx(tmp_path / "character.fbx")
    assert {f"Tube/bone.{name}" for name in rotations} == set(entries)
    for bone, rotation in rotations.items():
        name = f"Tube/bone.{bone}"
        expected = IMPORTED[preset] @ rotation @ MIRRORS[preset]
        found = rotation_of(entries[name]["transform"]["rotation"])
        assert np.abs(found - expected).max() < 1e-5, name
        # The mirror of the local shapes of Blender's axes.
        in_blender = entries_of(character, "--frame", "1")[name]["local"]["aabb"]
        unit = 100 if preset == "unreal" else 1
        corners = np.sort(
            [unit * MIRRORS[preset] @ in_blender["min"], unit * MIRRORS[preset] @ in_blender["max"]], axis=0
        )
        box = entries[name]["local"]["aabb"]
        assert np.abs(corners - [box["min"], box["max"]]).max() < 1e-5 * unit


SPACES = (
    ("--preset", "gltf"),
    ("--preset", "unity"),
    ("--preset", "unreal"),
    ("--preset", "custom", "--up", "+X", "--forward", "-Z", "--handedness", "left", "--scale", "10"),
    ("--preset", "custom", "--up", "+Y", "--forward", "-X", "--handedness", "right"),
)


@pytest.mark.long
@pytest.mark.parametrize("options", SPACES)
def test_document_of_bones_is_valid_and_the_same_after_it_is_read_in_blender(character, tmp_path, options):
    """The axes of bones return to Blender's, so that other spaces can be written from any document."""
    path, frame = tmp_path / "bones.json", ("--frame", "3")
    shapes = ("--bones", "--shapes", SHAPES, "-q")
    for name, more in (("bones.json", options), ("blender.json", ())):
        assert run("bounds", character, *shapes, *frame, *more, "-o", tmp_path / name).returncode == 0
    assert run("validate", path).returncode == 0
    loaded = read_file(path)
    written = make_document(loaded, space_for("blender", loaded.scale_length))
    expected = json.loads((tmp_path / "blender.json").read_text("utf-8"))["objects"]
    for one, other in zip(json.loads(dumps(written))["objects"], expected, strict=True):
        for key in ("translation", "rotation", "scale"):
            assert one["transform"][key] == pytest.approx(other["transform"][key], abs=3e-6)
        for key in ("min", "max"):
            assert one["local"]["aabb"][key] == pytest.approx(other["local"]["aabb"][key], abs=3e-6)
