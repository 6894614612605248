"""Loaders for three.js and Babylon.js read convex parts and responses, and attach entries to nodes."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.broken_documents import document_for
from tests.engines.native.samples_of_shapes import random_parts, sampled
from tests.node.node import PROGRAMS, run_program
from tests.paths import TOP

LOADERS = TOP / "docs" / "loaders"
ENGINES = {"three": "gltf", "babylon": "unity"}

pytestmark = pytest.mark.long


def document_of(space: str, objects: list[dict[str, Any]]) -> dict[str, Any]:
    document = document_for(space)
    plain = {**document["objects"][0], "parent": None}
    entries = [{**plain, "id": entry["name"], **entry} for entry in objects]
    return {**document, "objects": entries, "tracks": [], "contacts": [], "clearances": []}


@pytest.mark.parametrize("engine", ENGINES)
def test_union_of_convex_parts_encloses_all_parts(tmp_path: Path, engine: str):
    """No point of any part is outside; without a part, its own points are, because parts are far apart."""
    parts = random_parts(np.random.default_rng(6), 16)
    points = []
    for part in parts:
        surface = sampled(part)
        points.append(surface.mean(axis=0) + (surface - surface.mean(axis=0)) * (1 - 1e-6))
    # The mean of the samples is near the center of each part, and parts are convex.
    names = [f"Part {number}" for number in range(len(parts))]
    objects = [{"name": name, "world": {"compound": [*parts]}, "local": {}} for name in names]
    whole = document_of(ENGINES[engine], objects)
    reduced = copy.deepcopy(whole)
    for number, entry in enumerate(reduced["objects"]):
        del entry["world"]["compound"][number]
    path = tmp_path / "input.json"
    vertices = {name: each.tolist() for name, each in zip(names, points, strict=True)}
    path.write_text(json.dumps({"documents": [whole, reduced], "vertices": vertices}), "utf-8")
    modules = (PROGRAMS / "volumes.mjs", *LOADERS.glob("*.mjs"))
    result, without = run_program(f"{engine}_volumes.mjs", path, modules=modules)
    assert {name: kinds["compound"] for name, kinds in result["outside"]["world"].items()} == dict.fromkeys(
        names, 0
    )
    for name, each in zip(names, points, strict=True):
        assert without["outside"]["world"][name]["compound"] > len(each) / 2, name


RESPONSE = {"response": "trigger", "group": 3, "mask": 5, "material": "Ice"}
SOLID = {"response": "solid", "group": 1, "mask": 65535, "material": None}


MESH_WITH_TWO_MATERIALS = {
    "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64," + "A" * 48}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}],
    "accessors": [
        {
            "bufferView": 0,
            "componentType": 5126,
            "count": 3,
            "type": "VEC3",
            "min": [0, 0, 0],
            "max": [0, 0, 0],
        }
    ],
    "materials": [{"name": "A"}, {"name": "B"}],
    # Named as its object, as in most files.
    "meshes": [
        {"name": "Box", "primitives": [{"attributes": {"POSITION": 0}, "material": k} for k in range(2)]}
    ],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_entries_are_attached_to_the_nodes_of_their_objects(tmp_path: Path, engine: str):
    nodes = ["Crate.001", "a/b:c [d]", "Hero", "Rest/part.0", "Rest", "Box_1", "Box"]
    objects = [
        {"name": "Crate.001", "collision": RESPONSE},
        {"name": "a/b:c [d]/shape.0"},
        {"name": "a/b:c [d]/shape.1"},
        {"name": "Hero/bone.Hand/L", "bone": "Hand/L"},  # Hero has no joints in this file
        {"name": "Hero/no bone", "bone": ""},
        {"name": "Rest/part.0"},
        {"name": "Absent"},
        {"name": "Box"},
        {"name": "Box_1"},
    ]
    gltf = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [*range(len(nodes))]}],
        "nodes": [{"name": name} for name in nodes],
        **MESH_WITH_TWO_MATERIALS,
    }
    gltf["nodes"][nodes.index("Box")]["mesh"] = 0
    path = tmp_path / "input.json"
    path.write_text(json.dumps({"document": document_of(ENGINES[engine], objects), "gltf": gltf}), "utf-8")
    result = run_program(f"attach_{engine}.mjs", path, modules=[*LOADERS.glob(f"*{engine}.mjs")])
    assert result["missing"] == ["Hero/bone.Hand/L", "Absent"]
    assert {name: [entry["id"] for entry in entries] for name, entries in result["attached"].items()} == {
        "Crate.001": ["Crate.001"],
        "a/b:c [d]": ["a/b:c [d]/shape.0", "a/b:c [d]/shape.1"],
        "Hero": ["Hero/no bone"],
        # An object whose name is that of a part of another one.
        "Rest/part.0": ["Rest/part.0"],
        "Box": ["Box"],
        "Box_1": ["Box_1"],
    }
    # The nodes of the objects, and not those that engines make of their materials: three.js calls one Box_1.
    assert result["parents"]["Box_1"] == result["parents"]["Box"]
    assert result["attached"]["Crate.001"][0]["collision"] == RESPONSE
    assert result["attached"]["Hero"][0]["collision"] == SOLID
