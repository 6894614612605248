"""CSV, 3D Tiles and glTF files of a scene, read by programs that share no code with the writers."""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from addon.formats import ExportOptions, file_text
from tests.engines.gltf_reader import reach
from tests.javascript.conftest import MATRICES, Exported
from tests.javascript.volumes import grown, single_precision
from tests.node.node import PROGRAMS, errors_in, run_program

# The scene takes two seconds, and every Blender version exports the same documents, so one is enough.
pytestmark = pytest.mark.long


def results_of_rapier(documents: list[dict], vertices: dict[str, list], folder: Path) -> list[dict]:
    """Test documents in Rapier."""
    path = folder / "input.json"
    path.write_text(json.dumps({"documents": documents, "vertices": vertices}), "utf-8")
    return run_program("rapier_volumes.mjs", path, modules=(PROGRAMS / "volumes.mjs",))


def read_csv(text: str) -> list[dict]:
    """Convert the rows of a table of bounds to objects of a document."""

    def numbers(row: dict[str, str], *columns: str) -> list[float]:
        return [float(row[column]) for column in columns]

    return [
        {
            "id": row["id"],
            "world": {
                "aabb": {
                    "min": numbers(row, "min_x", "min_y", "min_z"),
                    "max": numbers(row, "max_x", "max_y", "max_z"),
                },
                "sphere": {
                    "center": numbers(row, "sphere_x", "sphere_y", "sphere_z"),
                    "radius": float(row["sphere_radius"]),
                },
                "obb": {
                    "center": numbers(row, "obb_x", "obb_y", "obb_z"),
                    "halfExtents": numbers(row, "obb_half_x", "obb_half_y", "obb_half_z"),
                    "rotation": numbers(row, *(f"obb_rotation_{axis}" for axis in "xyzw")),
                },
            },
        }
        for row in csv.DictReader(io.StringIO(text, newline=""))
    ]


@pytest.mark.parametrize("space", MATRICES)
def test_shapes_of_csv_enclose_all_vertices(exported: Exported, tmp_path, space):
    text = "".join(file_text(exported.bounds[space], "csv"))
    table = {"objects": read_csv(text)}
    assert {entry["id"] for entry in table["objects"]} == {*exported.vertices}
    (result,) = results_of_rapier([grown(table, single_precision)], exported.vertices_in(space), tmp_path)
    counts = result["outside"]["world"]
    assert len(counts) == 31
    assert not [(id, kinds) for id, kinds in counts.items() if any(kinds.values()) or len(kinds) < 3]


def test_contacts_of_csv_match_document(exported: Exported):
    document = exported.contacts["obb"]["unreal"]
    text = "".join(file_text(document, "csv", ExportOptions("contacts")))
    rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["kind"] == "contact"]
    expected = [(c["a"], c["b"], c["first"]["frame"], c["first"]["point"]) for c in document["contacts"]]
    read = [
        (row["a_id"], row["b_id"], float(row["frame"]), [float(row[axis]) for axis in "xyz"]) for row in rows
    ]
    assert read == expected
    assert len(read) == 3


@pytest.mark.parametrize("shapes", [("obb",), ("aabb",), ("sphere",)])
def test_tiles_enclose_all_vertices_tightly(exported: Exported, shapes):
    """Evaluate the numbers of boxes and spheres as the 3D Tiles specification defines them."""
    document = copy.deepcopy(exported.bounds["blender"])
    for entry in document["objects"]:
        for shape in {"obb", "aabb", "sphere"} - {*shapes}:
            del entry["world"][shape]
    tiles = json.loads("".join(file_text(document, "3dtiles")))
    children = tiles["root"]["children"]
    assert {tile["extras"]["id"] for tile in children} == {*exported.vertices}
    whole = np.concatenate([*exported.vertices.values()])
    assert relative_position(tiles["root"]["boundingVolume"], whole) <= 1
    for tile in children:
        id, volume = tile["extras"]["id"], tile["boundingVolume"]
        assert [*volume] == ["sphere" if shapes == ("sphere",) else "box"]
        position = relative_position(volume, exported.vertices[id])
        assert position <= 1, id
        # Six decimals are coarse for a length of a ten-thousandth of a meter.
        assert position > (0.98 if id in ("Tiny", "Dot") else 1 - 1e-5) or id == "Dot", id


def relative_position(volume: dict, points: np.ndarray) -> float:
    """Largest relative position of points in a bounding volume: 1 is on its surface."""
    if ball := volume.get("sphere"):
        return float(np.linalg.norm(points - ball[:3], axis=1).max() / ball[3])
    numbers = np.array(volume["box"])
    center, axes = numbers[:3], numbers[3:].reshape(3, 3)
    axes = axes[np.linalg.norm(axes, axis=1) > 0]
    along = (points - center) @ axes.T / (axes**2).sum(axis=1)
    # A flat volume has an axis of length zero, along which no point may be outside.
    assert np.abs(points - center - along @ axes).max() < 1e-9 * np.abs(numbers).max()
    return float(np.abs(along).max())


@pytest.mark.parametrize(
    ("program", "space"), [("read_gltf.mjs", "gltf"), ("read_gltf_babylon.mjs", "unity")]
)
def test_gltf_colliders_enclose_all_vertices(exported: Exported, tmp_path, program, space):
    """Compare in Unity's space for Babylon.js, because it converts files to its left-handed space."""
    path = tmp_path / "bounds.gltf"
    path.write_text("".join(file_text(exported.bounds["gltf"], "gltf")), "utf-8")
    assert errors_in(path) == []
    roots = [node for node in json.loads(path.read_text("utf-8"))["nodes"] if "extras" in node]
    colliders = run_program(program, path)["colliders"]
    assert len(colliders) == 2 * len(roots) == 62
    entries = {entry["id"]: entry for entry in exported.bounds[space]["objects"]}
    vertices = exported.vertices_in(space)
    for index, root in enumerate(roots):
        id = root["extras"]["id"]
        pair = colliders[2 * index : 2 * index + 2]
        assert {collider["body"] for collider in pair} == {"OMI_physics_body", "KHR_physics_rigid_bodies"}
        for collider in pair:
            matrix = np.array(collider["matrix"], dtype=np.float64).reshape(4, 4).T
            shape = collider["shape"]
            # Babylon.js stores matrices in single precision.
            tolerance = (
                single_precision(entries[id])
                if space == "unity"
                else 1e-9 * entries[id]["world"]["sphere"]["radius"]
            )
            size = {"size": [side + 2 * tolerance for side in shape["box"]["size"]]}
            position = reach({"type": "box", "box": size}, matrix, np.array(vertices[id])).max()
            assert position <= 1, id
            assert position > (0.9 if id == "Far" else 0.99) or id in ("Tiny", "Dot"), id
