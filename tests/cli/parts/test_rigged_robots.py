"""Robots rigged by parenting meshes to bones: parents in documents, joints that touch, and free joints."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import pytest

from tests.cli.command_line import run
from tests.engines.difficult_scene import SCENE
from tests.engines.from_blender import EMPTY_ANIMATION
from tests.engines.rigged_robot import PARENTS, ROBOT


def saved_robot(folder: Path, has_foot: bool) -> Path:
    """Save the robot, with a foot on a bone that is below no other mesh."""
    variables = {"HAS_FOOT": has_foot}
    exec(compile(SCENE + EMPTY_ANIMATION + ROBOT, "robot", "exec"), variables)
    path = folder / "robot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def robot(tmp_path: Path, empty_file: None) -> Path:
    """File of the robot, with the foot."""
    return saved_robot(tmp_path, has_foot=True)


def document(command: str, path: Path, *options: str) -> dict:
    result = run(command, path, *options, "-q", "-o", "-")
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)


@pytest.mark.smoke
def test_parents_follow_bones(robot):
    written = document("bounds", robot)
    assert {entry["name"]: entry["parent"] for entry in written["objects"]} == {**PARENTS, "Foot": None}
    assert written["extras"]["armatureRoots"] == [{"armature": "Robot", "ids": ["Foot", "Pedestal"]}]


def test_objects_that_are_not_selected_are_passed_over(robot):
    written = document("bounds", robot, "--objects", "Pedestal", "--objects", "Tool", "--objects", "Grip")
    parents = {entry["name"]: entry["parent"] for entry in written["objects"]}
    assert parents == {"Pedestal": None, "Tool": "Pedestal", "Grip": "Tool"}


def test_bones_of_a_skin_are_below_objects_of_bones_above_them(robot):
    written = document("bounds", robot, "--bones")
    parents = {entry["name"]: entry["parent"] for entry in written["objects"]}
    assert parents["Grip/bone.Finger"] == "Tool"


def test_joints_of_a_robot_are_no_contacts(robot):
    options = ("--shape", "obb", "--frames", "1:2", "--static-pairs")
    pairs = {
        frozenset((entry["a"], entry["b"]))
        for entry in document("contacts", robot, *options, "--no-ignore-parents")["contacts"]
    }
    adjacent = {frozenset(pair) for pair in PARENTS.items() if None not in pair}
    assert len(pairs & adjacent) >= 3
    tested = {
        frozenset((entry["a"], entry["b"])) for entry in document("contacts", robot, *options)["contacts"]
    }
    assert tested == pairs - adjacent


def test_robot_of_several_roots_is_refused_with_free_joints(robot, tmp_path):
    target = tmp_path / "robot.xml"
    result = run("bounds", robot, "--shapes", "obb", "-q", "-o", target, "--free-joints")
    assert result.returncode == 2
    assert (
        "object 'Robot': would fall apart with free joints, because 'Foot' and 'Pedestal' have no parent"
        in result.stderr
    )
    assert not target.exists()


def test_robot_of_one_root_has_one_free_joint(tmp_path, empty_file):
    result = run(
        "bounds", saved_robot(tmp_path, has_foot=False), "--format", "mjcf", "--free-joints", "-q", "-o", "-"
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("<freejoint") == 1
