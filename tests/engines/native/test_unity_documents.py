"""Colliders of the loader for Unity from convex parts and responses, and the importer of documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.broken_documents import document_for
from tests.engines.checks import convert_vertices
from tests.engines.conftest import NATIVE, UNITY_COMPILER, UNITY_LOADERS, compile_program
from tests.engines.native.samples_of_shapes import Part, random_parts, sampled
from tests.engines.native.test_native_loaders import (
    are_single_precision,
    numbers,
    printed_values,
    rotated_back,
)

Printed = dict[tuple[str, str], str]


def excess(printed: Printed, id: str, points: np.ndarray) -> np.ndarray:
    """Distances (n,) by which points in the world are outside of a printed collider."""
    place = numbers(printed["place", id])
    local = rotated_back(points - place[:3], place[3:7])
    if ("box", id) in printed:
        box = numbers(printed["box", id])
        return (np.abs(local - box[:3]) - box[3:] / 2).max(axis=1)
    if ("sphere", id) in printed:
        return np.linalg.norm(local, axis=1) - numbers(printed["sphere", id])[0]
    if ("capsule", id) in printed:
        direction, radius, height = numbers(printed["capsule", id])
        assert direction == 1  # along Y
        local[:, 1] -= np.clip(local[:, 1], radius - height / 2, height / 2 - radius)
        return np.linalg.norm(local, axis=1) - radius
    corners = numbers(printed["hull", id]).reshape(-1, 3)
    return np.array([np.linalg.norm(corners - point, axis=1).min() for point in local])


def assert_is(printed: Printed, id: str, part: Part) -> None:
    """Compare a collider with a part of the document: no point of the part is outside."""
    points = sampled(part)
    size = np.abs(points).max()
    found = excess(printed, id, points)
    kind = {"obb": "box"}.get(next(iter(part)), next(iter(part)))
    assert (kind, id) in printed
    if kind == "hull":
        # The corners are those of the part, but for rounding.
        assert found.max() <= 1e-6 * size and len(numbers(printed["hull", id])) == points.size
        return
    # Samples of round surfaces are not in all directions.
    assert found.max() <= 1e-9 * size, id
    assert found.max() >= -3e-6 * size, id


def written(document: dict[str, Any], folder: Path, name: str = "level.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document), "utf-8")
    return path


def document_of(objects: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a document for Unity with these objects, each with the keys that differ from a plain one."""
    document = document_for("unity")
    plain = {**document["objects"][0], "parent": None}
    entries = [{**plain, "id": entry["name"], **entry} for entry in objects]
    return {**document, "objects": entries, "tracks": [], "contacts": [], "clearances": []}


RESPONSES = {
    "solid": {"response": "solid", "group": 1, "mask": 65535, "material": "Ice"},
    "trigger": {"response": "trigger", "group": 3, "mask": 4, "material": "Ice"},
    "other": {"response": "solid", "group": 2, "mask": 32769, "material": None},
    "none": {"response": "none", "group": 1, "mask": 0, "material": None},
}


def test_each_convex_part_becomes_a_collider_with_the_response_of_its_object(unity_program, tmp_path):
    random = np.random.default_rng(5)
    parts = {name: random_parts(random, 12) for name in RESPONSES}
    objects = [
        {
            "name": name,
            "world": {"compound": parts[name], "aabb": {"min": [0] * 3, "max": [0] * 3}},
            "collision": each,
        }
        for name, each in RESPONSES.items()
    ]
    printed = printed_values([*unity_program, "--create", written(document_of(objects), tmp_path)])
    ids = [id for kind, id in printed if kind == "place"]
    # With the response "none", there is no collider.
    assert ids == [
        f"{name}|{12 * row + k}" for row, name in enumerate(("solid", "trigger", "other")) for k in range(12)
    ]
    for number, id in enumerate(ids):
        name = id.split("|")[0]
        assert_is(printed, id, parts[name][number % 12])
        assert are_single_precision(numbers(printed["place", id]))
        # Layers 8, 9 and 31 are those of groups 1, 3 and 16. The project has none for group 2.
        trigger, layer, excluded = {
            "solid": (0, 8, 0),
            "trigger": (1, 9, 2**8 + 2**31),
            "other": (0, 0, 2**9),
        }[name]
        assert numbers(printed["responds", id])[:2].tolist() == [trigger, layer]
        assert int(numbers(printed["responds", id])[2]) % 2**32 == excluded
        assert printed["material", id] == ("Ice" if name == "solid" else "none")


def test_shape_of_an_object_is_the_closest_one_of_the_document(unity_program, tmp_path):
    """Shapes are removed one after the other, in the order of `Colliders.Create`."""
    world = document_for("unity")["objects"][1]["world"]
    local = {"aabb": {"min": [-1, -2, -3], "max": [1, 2, 3]}}
    expected, objects = [], []
    for kind, count in (("compound", 4), ("hull", 1), ("spheres", 2), ("capsule", 1), ("obb", 1)):
        objects.append({"name": kind, "world": dict(world), "local": local})
        expected += [(kind, {"spheres": "sphere", "obb": "box"}.get(kind, kind))] * count
        world = {key: shape for key, shape in world.items() if key != kind}
    objects.append({"name": "aabb", "world": dict(world), "local": local})
    objects.append({"name": "custom", "override": "sphere", "world": objects[0]["world"], "local": local})
    objects.append({"name": "alone", "world": {"sphere": world["sphere"]}, "local": {}})
    expected += [("aabb", "box"), ("custom", "sphere"), ("alone", "sphere")]
    printed = printed_values([*unity_program, "--create", written(document_of(objects), tmp_path)])
    found = [(id.split("|")[0], kind) for kind, id in printed if kind in ("box", "sphere", "capsule", "hull")]
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert [pair for pair in found if pair[0] != "compound"] == [
        pair for pair in expected if pair[0] != "compound"
    ]
    assert {kind for name, kind in found if name == "compound"} == {"box", "sphere", "capsule", "hull"}


def test_convex_parts_of_blender_enclose_every_vertex(unity_program, difficult):
    document = difficult.document("unity_parts.json")
    printed = printed_values([*unity_program, "--create", difficult.folder / "unity_parts.json"])
    owners = [entry for entry in document["objects"] for _ in entry["world"]["compound"]]
    ids = [id for kind, id in printed if kind == "place"]
    assert len(ids) == len(owners) > len(document["objects"])
    lows: dict[str, np.ndarray] = {}
    for id, entry in zip(ids, owners, strict=True):
        assert id.rpartition("|")[0] == entry["name"] and ("box", id) in printed
        points = convert_vertices("unity", difficult.vertices_of(entry))
        found = excess(printed, id, points) - 1e-9 * np.abs(points).max()
        lows[entry["id"]] = np.minimum(lows.get(entry["id"], np.inf), found)
    assert len(lows) == len(document["objects"])
    assert {id: low.max() for id, low in lows.items() if low.max() > 0} == {}


IDENTITY = "0 0 0 0 0 0 1 1 1 1"
MODEL = f"""Level\t\t{IDENTITY}
Crate\tLevel\t1 2 3 -0.7071068 0 0 0.7071068 100 100 100
Lid\tCrate\t0.01 0 0.02 0 0 0.7071068 0.7071068 0.5 0.5 0.5
Rig\tLevel\t0 5 0 0 0 0 1 1 1 1
Hand.L\tRig\t1 0 0 0 0.6 0 0.8 1 1 1
"""


@pytest.mark.parametrize("times", [1, 2])
def test_document_of_a_model_makes_colliders_on_its_objects(unity_program, tmp_path, times):
    random = np.random.default_rng(8)
    parts = {
        name: random_parts(random, 4) for name in ("Crate", "Lid/shape.0", "Lid/part.1", "Rig/bone.Hand.L")
    }
    objects = [
        {"name": name, "world": {"compound": each}, "collision": {**RESPONSES["solid"], "material": material}}
        for (name, each), material in zip(parts.items(), ("Ice", "ce", "Steel", None), strict=True)
    ]
    objects[-1]["bone"] = "Hand.L"
    objects.append({"name": "Absent", "world": {"compound": random_parts(random, 2)}})
    written(document_of(objects), tmp_path)
    model = tmp_path / "level.fbx"
    model.write_text(MODEL, "utf-8")
    printed = printed_values([*unity_program, "--document", model, str(times)])
    assert printed["depends", ""] == str(tmp_path / "level.json")
    # One of the four parts of each object is a hull.
    assert numbers(printed["meshes", ""]).tolist() == [4]
    ids = [id for kind, id in printed if kind == "place"]
    by_name: dict[str, list[str]] = {}
    for id in ids:
        by_name.setdefault(id.split("|")[0], []).append(id)
    assert {*by_name} == {f"{name} collider" for name in parts}
    for name, each in parts.items():
        found = by_name[f"{name} collider"]
        assert len(found) == 4  # children of an earlier run are replaced
        for id, part in zip(found, each, strict=True):
            assert printed["parent", id] == ("Hand.L" if "bone" in name else name.split("/")[0])
            place = numbers(printed["place", id])
            assert place[7:] == pytest.approx([1, 1, 1], rel=1e-5)
            points = sampled(part)
            # At the place of the document, although the objects have places, rotations and scales.
            slack = 2e-5 * np.abs(points).max()
            assert -slack <= excess(printed, id, points).max() <= slack, id
            assert printed["material", id] == ("Ice" if name == "Crate" else "none")
    warning = printed["warning", ""]
    assert "Absent" in warning or "physics material" in warning


TWO_CHARACTERS = f"""Level\t\t{IDENTITY}
A\tLevel\t{IDENTITY}
Hand\tA\t0 1 0 0 0 0 1 1 1 1
B\tLevel\t{IDENTITY}
Hand\tB\t0 2 0 0 0 0 1 1 1 1
Second\tLevel\t{IDENTITY}\tB/Hand
First\tLevel\t{IDENTITY}\tA/Hand
"""


def test_bones_of_one_name_belong_to_the_skin_of_their_object(unity_program, tmp_path):
    parts = random_parts(np.random.default_rng(3), 2)
    objects = [
        {"name": f"{name}/bone.Hand", "bone": "Hand", "world": {"compound": [part]}}
        for name, part in zip(("First", "Second"), parts, strict=True)
    ]
    written(document_of(objects), tmp_path)
    model = tmp_path / "level.fbx"
    model.write_text(TWO_CHARACTERS, "utf-8")
    printed = printed_values([*unity_program, "--document", model, "2"])
    hands = {id.split("/")[0]: float(number) for (kind, id), number in printed.items() if kind == "parent y"}
    assert hands == {"First": 1, "Second": 2}


def test_objects_named_as_colliders_stay(unity_program, tmp_path):
    """Children of an earlier run have colliders; objects of the model have none."""
    objects = [{"name": "Crate", "world": {"compound": random_parts(np.random.default_rng(3), 1)}}]
    written(document_of(objects), tmp_path)
    model = tmp_path / "level.fbx"
    child = f"Crate collider\tCrate\t{IDENTITY}\nBelow\tCrate collider\t{IDENTITY}\n"
    model.write_text(f"Level\t\t{IDENTITY}\nCrate\tLevel\t{IDENTITY}\n{child}", "utf-8")
    printed = printed_values([*unity_program, "--document", model, "2"])
    assert [id for kind, id in printed if kind == "place"] == ["Crate collider|0"]
    assert printed["objects", ""] == "Level Crate Crate collider Below Crate collider"


def test_model_of_one_object_has_no_container(unity_program, tmp_path):
    """Unity replaces the container by the object, with or without its location."""
    for number, place in enumerate(("1 2 3", "0 0 0")):
        part = random_parts(np.random.default_rng(2), 4)[1:2]
        entry = document_for("unity")["objects"][0]
        transform = {**entry["transform"], "translation": [1, 2, 3]}
        objects = [{"name": "Crate", "transform": transform, "world": {"compound": part}}]
        written(document_of(objects), tmp_path, f"crate{number}.json")
        model = tmp_path / f"crate{number}.fbx"
        model.write_text(f"Crate\t\t{place} -0.7071068 0 0 0.7071068 100 100 100\n", "utf-8")
        printed = printed_values([*unity_program, "--document", model, "1"])
        (id,) = [id for kind, id in printed if kind == "place"]
        moved = sampled(part[0]) + np.array(place.split(), dtype=float) - [1, 2, 3]
        assert abs(excess(printed, id, moved).max()) <= 2e-5 * np.abs(moved).max()


def test_broken_document_of_a_model_is_reported(unity_program, tmp_path):
    model = tmp_path / "level.fbx"
    model.write_text(f"Level\t\t{IDENTITY}\n", "utf-8")
    objects = [{"name": "Crate", "collision": {**RESPONSES["solid"], "group": 17}}]
    path = written(document_of(objects), tmp_path)
    printed = printed_values([*unity_program, "--document", model, "1"])
    assert printed["error", ""] == f"{path}: objects[0].collision.group: must be a whole number, 1 to 16"
    # A JSON of another program is ignored.
    path.write_text('{"format": "another"}', "utf-8")
    assert ("error", "") not in printed_values([*unity_program, "--document", model, "1"])


@pytest.mark.parametrize("defines", [(), ("UNITY_2022_2_OR_NEWER", "UNITY_6000_0_OR_NEWER")])
def test_loaders_compile_for_older_and_newer_unity(tmp_path, defines):
    flags = [f"-define:{name}" for name in defines]
    files = (*UNITY_LOADERS, NATIVE / "unity_stub.cs")
    compile_program([*UNITY_COMPILER, *flags, "-target:library", *files, f"-out:{tmp_path / 'loaders.dll'}"])
