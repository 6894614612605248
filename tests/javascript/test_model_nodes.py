"""Loaders for three.js and Babylon.js, on the nodes of a glTF file that Blender's exporter wrote."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from tests.node.node import run_program
from tests.paths import TOP
from tests.scene.building import add_instance, add_object

pytestmark = pytest.mark.long

MIRROR = np.diag([-1.0, 1, 1])
"""From glTF's axes to those of left-handed Babylon.js: (x, z, -y) to (-x, z, -y)."""


def wedge(
    name: str, location=(0, 0, 0), rotation=(0, 0, 0), scale=(1, 1, 1), parent=None
) -> bpy.types.Object:
    """Add a tetrahedron without symmetry."""
    mesh = bpy.data.meshes.new(name)
    corners, faces = (
        [(0, 0, 0), (3, 0, 0), (0, 1, 0), (0, 0, 2)],
        [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)],
    )
    mesh.from_pydata(corners, [], faces)
    item = add_object(name, mesh)
    item.location, item.rotation_euler, item.scale, item.parent = location, rotation, scale, parent
    return item


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Documents at frame 6, and the glTF files of frame 6 and of Blender's default, frame 0."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    turn = (0.4, 0.5, 0.6)
    first = wedge("Wedge", (1, 2, 3), turn)
    child = wedge("Child.001", (1, 0, 0), turn, (1, 2, 3), first)
    wedge("Mirror", (-5, 2, 3), turn, (-1, 2, 1))
    wedge("Sheared", (0, 0, 2), turn, parent=child)
    post = wedge("Post", (0, 1, 0), (0, 0.3, 0))
    rail = wedge("Rail", (0, 3, 0), parent=post)
    gate = bpy.data.collections.new("Gate")
    for item in (post, rail):
        gate.objects.link(item)
    for number, name in enumerate(("Gate Far", "Gate Near")):
        add_instance(name, gate, location=(10 * number, 8, 0))
    moving = wedge("Moving")
    for frame, x in ((1, 0), (11, 10)):
        moving.location.x = x
        moving.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(6)
    path = tmp_path_factory.mktemp("model")
    bpy.ops.wm.save_as_mainfile(filepath=str(path / "scene.blend"))
    for preset in ("gltf", "unity"):
        options = ["-q", "-o", str(path / f"{preset}.json"), "--preset", preset, "--decimals", "6"]
        assert main(["bounds", *options], opens_file=False, out=io.StringIO()) == 0
    for name, is_current in (("current", True), ("default", False)):
        options = {"export_format": "GLTF_SEPARATE", "export_current_frame": is_current}
        bpy.ops.export_scene.gltf(filepath=str(path / f"{name}.gltf"), **options)
    return path


def attached(
    folder: Path, engine: str, preset: str, model: str = "current", **options: bool
) -> dict[str, Any]:
    document = json.loads((folder / f"{preset}.json").read_text("utf-8"))
    gltf = json.loads((folder / f"{model}.gltf").read_text("utf-8"))
    for buffer in gltf["buffers"]:
        content = base64.b64encode((folder / buffer["uri"]).read_bytes()).decode()
        buffer["uri"] = f"data:application/octet-stream;base64,{content}"
    path = folder / "input.json"
    path.write_text(json.dumps({"document": document, "gltf": gltf, **options}), "utf-8")
    loaders = (TOP / "docs" / "loaders").glob(f"*{engine}.mjs")
    result = run_program(f"attach_{engine}.mjs", path, modules=[*loaders])
    return {**result, "objects": {entry["id"]: entry for entry in document["objects"]}}


def assert_boxes_fit(result: dict[str, Any], to_document: np.ndarray) -> None:
    """Compare boxes with the vertices of their nodes, in the world and in the axes of each node.

    `to_document` converts from the world of the engine to that of the document.
    """
    assert result["missing"] == [] and len(result["placed"]) == len(result["objects"]) == 11
    for id, node in result["placed"].items():
        entry = result["objects"][id]
        rows = np.array(node["matrix"]).reshape(4, 4)
        points = np.array(node["points"]).reshape(-1, 3)
        world = (points @ rows[:3, :3] + rows[3, :3]) @ to_document.T
        box = entry["world"]["aabb"]
        assert world.min(axis=0) == pytest.approx(box["min"], abs=1e-5), id
        assert world.max(axis=0) == pytest.approx(box["max"], abs=1e-5), id
        if id == "Sheared":
            continue  # has no right-angled axes of its own
        # Local shapes have the scale of the node applied.
        local, box = points * entry["transform"]["scale"], entry["local"]["aabb"]
        assert local.min(axis=0) == pytest.approx(box["min"], abs=1e-5), id
        assert local.max(axis=0) == pytest.approx(box["max"], abs=1e-5), id


def test_boxes_of_a_right_handed_document_fit_the_nodes_of_three(folder):
    result = attached(folder, "three", "gltf")
    assert_boxes_fit(result, np.eye(3))
    assert result["displaced"] == []


@pytest.mark.parametrize("right_handed", [True, False])
def test_boxes_of_a_right_handed_document_fit_the_nodes_of_babylon(folder, right_handed):
    """In a left-handed scene, `world` is in the coordinates of `__root__`, which mirrors X."""
    result = attached(folder, "babylon", "gltf", rightHanded=right_handed)
    assert_boxes_fit(result, np.eye(3) if right_handed else MIRROR)
    assert result["displaced"] == []


def test_nodes_of_gltf_files_are_mirrored_to_a_left_handed_document(folder):
    """World shapes are right, local shapes are not: all nodes are reported, even the unturned ones."""
    result = attached(folder, "babylon", "unity")
    for id, node in result["placed"].items():
        rows = np.array(node["matrix"]).reshape(4, 4)
        world = np.array(node["points"]).reshape(-1, 3) @ rows[:3, :3] + rows[3, :3]
        box = result["objects"][id]["world"]["aabb"]
        assert world.min(axis=0) == pytest.approx(box["min"], abs=1e-5), id
        assert world.max(axis=0) == pytest.approx(box["max"], abs=1e-5), id
    # The shear of a node is not compared.
    assert result["displaced"] == [id for id in result["objects"] if id != "Sheared"]


@pytest.mark.parametrize("engine", ["three", "babylon"])
def test_nodes_of_another_frame_are_displaced(folder, engine):
    """Blender's exporter writes the poses of frame 0, where Moving is at the origin."""
    result = attached(folder, engine, "gltf", "default")
    assert result["displaced"] == ["Moving"] and result["missing"] == []


def test_seconds_of_documents_are_times_of_exported_animations(folder):
    """Moving has keys at frames 1 and 11. The exporter writes a key per frame, from frame / 24 seconds."""
    gltf = json.loads((folder / "default.gltf").read_text("utf-8"))
    (sampler,) = gltf["animations"][0]["samplers"]
    times = gltf["accessors"][sampler["input"]]
    assert sampler["interpolation"] == "LINEAR" and times["count"] == 11
    assert times["min"] == pytest.approx([1 / 24]) and times["max"] == pytest.approx([11 / 24])
