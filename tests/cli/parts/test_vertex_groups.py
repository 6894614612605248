"""--vertex-group of the command line: bounds and colliders of the vertices of a group."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.cli.command_line import run
from tests.scene.building import add_vertices

CLOUD = np.random.default_rng(3).normal(size=(40, 3)).astype(np.float32).astype(np.float64)
WEIGHTS = np.linspace(0, 1, 40)
FACES = [(row, row + 1, row + 2) for row in range(0, 30, 3)]
"""The last vertices are in no face."""


@pytest.fixture
def scene(tmp_path: Path, empty_file: None) -> Path:
    """Save objects with the group, without vertices in it, and without the group."""
    from addon.scene.blender import object_properties

    object_properties.attach()
    armed = add_vertices("Armed", CLOUD, location=(5, 0, 0), scale=(1, 2, 1))
    armed.data.clear_geometry()
    armed.data.from_pydata(CLOUD.tolist(), [], FACES)
    armed.vertex_groups.new(name="Leg")
    group = armed.vertex_groups.new(name="Arm")
    for row, weight in enumerate(WEIGHTS.tolist()):
        group.add([row], weight, "REPLACE")
    add_vertices("Empty", CLOUD).vertex_groups.new(name="Arm")
    add_vertices("Plain", CLOUD)
    custom = add_vertices("Custom", CLOUD)
    custom.vertex_groups.new(name="Arm").add(range(40), 1.0, "REPLACE")
    custom.collision_bounds.override = "box"
    path = tmp_path / "groups.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def document(path: Path, *options: str) -> dict:
    result = run("bounds", path, "--vertex-group", "Arm", *options, "-q", "-o", "-")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def chosen(threshold: float) -> np.ndarray:
    """World positions of the vertices of the group."""
    weights = WEIGHTS.astype(np.float32)
    return CLOUD[(weights >= np.float32(threshold)) & (weights > 0)] * (1, 2, 1) + (5, 0, 0)


@pytest.mark.smoke
@pytest.mark.parametrize(("options", "threshold"), [((), 0.5), (("--group-threshold", "0"), 0.0)])
def test_bounds_are_those_of_the_vertices_of_the_group(scene, options, threshold):
    found = document(scene, "--decimals", "9", *options)
    (entry,) = found["objects"]
    points = chosen(threshold)
    box = entry["world"]["aabb"]
    assert box["min"] == pytest.approx(points.min(axis=0), abs=1e-6)
    assert box["max"] == pytest.approx(points.max(axis=0), abs=1e-6)
    reach = (
        np.linalg.norm(points - entry["world"]["sphere"]["center"], axis=1)
        - entry["world"]["sphere"]["radius"]
    )
    assert -1e-6 <= reach.max() <= 1e-6
    assert entry["name"] == "Armed" and found["extras"]["vertexGroup"] == "Arm"
    reasons = {each["name"]: each["reason"] for each in found["skipped"]}
    nothing = f"has no vertices of weight {threshold:g} or more in vertex group 'Arm'"
    assert reasons == {
        "Empty": nothing,
        "Plain": nothing,
        "Custom": "has a custom shape, and so no vertices of a group",
    }


def test_all_shapes_enclose_the_vertices_of_the_group_alone(scene):
    shapes = "obb,hull,capsule,cylinder,spheres,compound"
    (entry,) = document(scene, "--shapes", shapes, "--decimals", "9")["objects"]
    points, world = chosen(0.5), entry["world"]
    hull = np.array(world["hull"]["vertices"])
    assert hull.min(axis=0) == pytest.approx(points.min(axis=0), abs=1e-3)
    for face in world["hull"]["faces"]:
        a, b, c = hull[face]
        normal = np.cross(b - a, c - a)
        assert ((points - a) @ (normal / np.linalg.norm(normal))).max() <= 1e-9
    leaves = [node for node in world["spheres"] if not node["children"]]
    gaps = [np.linalg.norm(points - node["center"], axis=1) - node["radius"] for node in leaves]
    assert np.min(gaps, axis=0).max() <= 1e-9
    parts = [np.array(part["hull"]["vertices"]) for part in world["compound"]]
    assert np.concatenate(parts).max(axis=0) == pytest.approx(points.max(axis=0), abs=1e-2)
    for kind in ("capsule", "cylinder"):
        axial = world[kind]
        offset = points - axial["center"]
        along = offset @ np.array(axial["axis"])
        if kind == "capsule":
            along = np.clip(along, -axial["halfLength"], axial["halfLength"])
        across = np.linalg.norm(offset - along[:, None] * axial["axis"], axis=1)
        assert across.max() <= axial["radius"] + 1e-9


def test_collider_in_gltf_is_around_the_group(scene, tmp_path):
    path = tmp_path / "arm.gltf"
    result = run("bounds", scene, "--vertex-group", "Arm", "-q", "-o", path)
    assert result.returncode == 0, result.stderr
    found = json.loads(path.read_text("utf-8"))
    (shape,) = found["extensions"]["OMI_physics_shape"]["shapes"]
    size = np.ptp(chosen(0.5), axis=0)[[0, 2, 1]]
    assert shape["box"]["size"] == pytest.approx(size, rel=1e-5)


def test_errors_name_object_and_group(scene):
    for objects, group, message in (
        (["Plain"], "Arm", "object 'Plain': has no vertices of weight 0.5 or more in vertex group 'Arm'"),
        (
            ["Armed", "Empty"],
            "Arm",
            "object 'Empty': has no vertices of weight 0.5 or more in vertex group 'Arm'",
        ),
        (["Custom"], "Arm", "object 'Custom': has a custom shape, and so no vertices of a group"),
        ([], "Hand", "no visible object has vertices of weight 0.5 or more in vertex group 'Hand'"),
        ([], "Leg", "no visible object has vertices of weight 0.5 or more in vertex group 'Leg'"),
    ):
        options = [part for name in objects for part in ("--objects", name)]
        result = run("bounds", scene, "--vertex-group", group, *options, "-o", "-")
        assert result.returncode == 2 and message in result.stderr, message
        assert result.stderr.count("\n") == 1 and result.stdout == ""


def test_options_that_contradict_a_group_are_errors(scene):
    for options, message in (
        (["--group-threshold", "0.5"], "--group-threshold: only valid with --vertex-group"),
        (["--vertex-group", "Arm", "--bones"], "--vertex-group: not valid with --bones"),
        (["--vertex-group", "Arm", "--envelope"], "--vertex-group: not valid with --bones, --envelope"),
        (["--vertex-group", "Arm", "--group-threshold", "1.5"], "is not a number from 0 to 1"),
    ):
        result = run("bounds", scene, *options, "-o", "-")
        assert result.returncode == 2 and message in result.stderr, options
