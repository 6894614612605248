"""--bone-frames of the command line: bounds of bones that hold their vertices at all of --frames."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import run
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones


@pytest.fixture
def character(tmp_path: Path, empty_file: None) -> Path:
    """Save a character that bends from frame 1 to 5."""
    rig = add_rig()
    add_tube(rig).parent = rig
    for frame, angle in ((1, 0.0), (5, 1.2)):
        rotate_bones(rig, {1: angle}, frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
    bpy.context.scene.frame_set(1)
    path = tmp_path / "character.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def height(path: Path, *options: str) -> float:
    """Size of the middle bone's box along the bone."""
    result = run("bounds", path, "--bones", *options, "-q", "-o", "-")
    assert result.returncode == 0, result.stderr
    (entry,) = (each for each in json.loads(result.stdout)["objects"] if each["bone"] == "Bone 1")
    assert entry.get("allFrames", False) == ("all" in options)
    return float(entry["local"]["aabb"]["max"][1] - entry["local"]["aabb"]["min"][1])


def test_bones_are_held_at_the_frames_of_the_scene_or_of_the_option(character):
    at_first, all_frames = height(character), height(character, "--bone-frames", "all")
    two_frames = height(character, "--bone-frames", "all", "--frames", "1:2")
    assert at_first + 0.001 < two_frames < all_frames - 0.01


def test_frames_alone_are_an_error_that_names_the_options(character):
    result = run("bounds", character, "--bones", "--frames", "1:2", "-o", "-")
    assert result.returncode == 2
    assert "--frames: only valid with --envelope, --tracks or --bone-frames all" in result.stderr


def test_weight_of_bones_adds_vertices_and_is_in_the_document(character):
    result = run("bounds", character, "--bones", "--bone-weight", "0.3", "-q", "-o", "-")
    assert result.returncode == 0, result.stderr
    (entry,) = (each for each in json.loads(result.stdout)["objects"] if each["bone"] == "Bone 1")
    assert entry["boneWeight"] == 0.3
    box = entry["local"]["aabb"]
    assert box["max"][1] - box["min"][1] > height(character) + 0.2


def test_weight_needs_bones_and_a_number_from_0_to_1(character):
    for command in ("bounds", "contacts"):
        result = run(command, character, "--bone-weight", "0.3")
        assert (result.returncode, result.stdout) == (2, "")
        assert "--bone-weight: only valid with --bones" in result.stderr
    for value in ("1.5", "-1", "nan", "half"):
        result = run("bounds", character, "--bones", f"--bone-weight={value}")
        assert (result.returncode, result.stdout) == (2, "")
        assert "argument --bone-weight" in result.stderr and len(result.stderr.splitlines()) < 4


def test_bone_frames_need_bones(character):
    result = run("bounds", character, "--bone-frames", "all")
    assert (result.returncode, result.stdout) == (2, "")
    assert "--bone-frames all: only valid with --bones" in result.stderr
