"""glTF files of the command line enclose all vertices of a difficult scene."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.cli.command_line import Completed, run, start
from tests.engines.difficult_scene import SCENE
from tests.engines.gltf_reader import colliders, convex_colliders, reach
from tests.node.node import errors_in

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def scene(tmp_path) -> Path:
    """Save the difficult scene."""
    exec(compile(SCENE, "scene", "exec"), {})
    # Centimeters, as in scenes for Unreal.
    bpy.context.scene.unit_settings.scale_length = 0.01
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def world_vertices() -> dict[str, np.ndarray]:
    """Return the vertices (n, 3) of each object with a mesh, in glTF axes and meters."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for item in bpy.context.scene.objects:
        if item.type not in ("MESH", "CURVE"):
            continue
        evaluated = item.evaluated_get(depsgraph)
        mesh = evaluated.to_mesh()
        points = np.array([vertex.co[:] for vertex in mesh.vertices], dtype=np.float64)
        matrix = np.array(item.matrix_world, dtype=np.float64)
        x, y, z = (points @ matrix[:3, :3].T + matrix[:3, 3]).T
        found[item.name] = np.stack([x, z, -y], axis=1)
        evaluated.to_mesh_clear()
    return found


@pytest.mark.parametrize("shapes", ["aabb", pytest.param("obb", marks=pytest.mark.smoke), "sphere"])
def test_colliders_enclose_vertices_of_difficult_scene(scene, tmp_path, shapes):
    target = tmp_path / "bounds.gltf"
    # Read first, because the command line opens the file in this process.
    vertices = world_vertices()
    completed = run("bounds", scene, "--shapes", shapes, "-o", target, "--decimals", "9")
    assert (completed.returncode, completed.stderr) == (0, "")
    file = json.loads(target.read_text("utf-8"))
    roots = [file["nodes"][index] for index in file["scenes"][0]["nodes"]]
    found = colliders(file)
    assert len(found) == 2 * len(roots)
    names = [root["name"] for root in roots]
    assert {*vertices} < {*names}
    assert sum("InCollection" in name for name in names) == 2
    for index, name in enumerate(names):
        for _, shape, placed in found[2 * index : 2 * index + 2]:
            # Objects of different libraries may have the same name.
            if name in vertices and names.count(name) == 1:
                used = reach(shape, placed, vertices[name]).max()
                # Both sides are computed in double precision, in a different order.
                assert used <= 1 + 1e-12, name
                # Nine decimals of a meter are a thousandth of an object of one micrometer.
                assert used > 0.99 or name in ("Flattened", "Dot"), name
    # Last, because it skips the test where Node is missing.
    assert errors_in(target) == []


@pytest.mark.parametrize(
    "run",
    [
        pytest.param(run, id="in process"),
        # The order of sets differs between processes.
        pytest.param(start, id="program", marks=pytest.mark.long),
    ],
)
def test_bytes_are_reproducible_with_requested_extensions(run: Callable[..., Completed], scene, tmp_path):
    targets = [tmp_path / f"{number}.GLTF" for number in range(2)]
    for target in targets:
        assert run("bounds", scene, "-q", "--gltf", "khr,volumes", "-o", target).returncode == 0
    assert targets[0].read_bytes() == targets[1].read_bytes()
    file = json.loads(targets[0].read_text("utf-8"))
    assert file["extensionsUsed"] == ["KHR_implicit_shapes", "KHR_physics_rigid_bodies"]
    assert file["asset"]["version"] == "2.1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("contacts",), "bounds.gltf: a glTF file cannot store contacts; write a .json or .csv file instead"),
        (
            ("bounds", "--envelope"),
            "bounds.gltf: a glTF file stores --envelope as volumes only; add --gltf volumes",
        ),
        (
            ("bounds", "--tracks"),
            "bounds.gltf: a glTF file cannot store --tracks; write a .json file instead",
        ),
        (("bounds", "--preset", "unity"), "a glTF file has fixed axes and units"),
        (("bounds", "--gltf", "usd"), "--gltf: unknown glTF extension 'usd'"),
    ],
)
def test_unsupported_gltf_request_is_rejected_in_one_line(scene, tmp_path, arguments, message):
    target = tmp_path / "bounds.gltf"
    completed = run(arguments[0], scene, *arguments[1:], "-o", target)
    assert completed.returncode == 2
    assert message in completed.stderr
    assert completed.stderr.count("\n") == 1
    assert not target.exists()


@pytest.mark.long
@pytest.mark.parametrize("arguments", [("--shapes", "hull"), ("--parts", "4")])
def test_hulls_enclose_vertices_of_difficult_scene(scene, tmp_path, arguments):
    target = tmp_path / "bounds.gltf"
    vertices = world_vertices()
    completed = run("bounds", scene, *arguments, "-o", target, "--decimals", "9")
    assert (completed.returncode, completed.stderr) == (0, "")
    file = json.loads(target.read_text("utf-8"))
    roots = [file["nodes"][index] for index in file["scenes"][0]["nodes"]]
    names = [root["name"] for root in roots]
    found = convex_colliders(file)
    assert {*vertices} < {*names} == {name for name, *_ in found}
    for name, points in vertices.items():
        if names.count(name) == 1:
            outside = np.ones(len(points), dtype=bool)
            for _, corners, faces in (each for each in found if each[0] == name):
                a, b, c = corners[faces].transpose(1, 0, 2)
                normals = np.cross(b - a, c - a)
                normals /= np.linalg.norm(normals, axis=1, keepdims=True)
                outside &= ((points[:, None] - a) * normals).sum(axis=-1).max(axis=1) > 0
            assert not outside.any(), name
    assert errors_in(target) == []
