"""Simple collision of static meshes, written by the loader for Unreal with a stub of the `unreal` module."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines.broken_documents import document_for
from tests.engines.native import unreal_assets
from tests.engines.native.samples_of_shapes import random_parts, sampled
from tests.engines.native.test_native_loaders import rotated_back
from tests.engines.native.test_unreal_loader import import_loader, xyz
from tests.engines.native.unreal_assets import PhysicalMaterial, StaticMesh

KINDS = {"hull": "convex_elems", "obb": "box_elems", "sphere": "sphere_elems", "capsule": "sphyl_elems"}


@pytest.fixture
def loader(monkeypatch):
    return import_loader(monkeypatch)


def add_collision(
    loader, monkeypatch, path: Path, objects: list[dict[str, Any]], assets: dict[str, Any], **options: Any
) -> list[Any]:
    """Write a document with these objects, and add their simple collision to assets."""
    plain = {**document_for("unreal")["objects"][0], "parent": None}
    plain["transform"] = {**plain["transform"], "scale": [1, 1, 1]}
    entries = [{**plain, "id": entry["name"], **entry} for entry in objects]
    document = {**document_for("unreal"), "objects": entries, "tracks": [], "contacts": [], "clearances": []}
    path /= "level.json"
    path.write_text(json.dumps(document), "utf-8")
    monkeypatch.setattr(unreal_assets.AssetRegistry, "assets", assets)
    return loader.add_simple_collision(loader.read(path), **options)


def body_of(mesh: StaticMesh) -> Any:
    return mesh.get_editor_property("body_setup")


def elements_of(mesh: StaticMesh) -> dict[str, list[Any]]:
    geometry = body_of(mesh).get_editor_property("agg_geom")
    return {key: geometry.get_editor_property(key) for key in KINDS.values()}


def assert_encloses_tightly(kind: str, element: Any, points: np.ndarray) -> None:
    """Check points of the surface of a shape, in centimeters of the same space."""
    get, size = element.get_editor_property, float(np.abs(points).max())
    local = points - xyz(get("center"))
    if kind == "sphere":
        outside = np.linalg.norm(local, axis=1) - get("radius")
    else:
        q = get("rotation").quaternion
        local = rotated_back(local, np.array([q.x, q.y, q.z, q.w]))
        if kind == "obb":
            outside = (np.abs(local) - [get(axis) / 2 for axis in "xyz"]).max(axis=1)
        else:
            half = get("length") / 2
            local[:, 2] -= np.clip(local[:, 2], -half, half)
            outside = np.linalg.norm(local, axis=1) - get("radius")
    assert -1e-6 * size <= outside.max() <= 1e-9 * size, kind


@pytest.mark.parametrize("space", ["local", "world"])
def test_convex_parts_become_elements_of_the_mesh(loader, monkeypatch, tmp_path, space):
    parts = random_parts(np.random.default_rng(4), 24)
    # Capsules along the axis of Unreal's, in both directions.
    for part, axis in zip((parts[3], parts[7]), ([0, 0, 1], [0, 0, -1]), strict=True):
        part["capsule"]["axis"] = axis
    other = {"aabb": {"min": [0, 0, 0], "max": [1, 1, 1]}}
    groups = {"local": other, "world": other, space: {"compound": parts}}
    mesh = StaticMesh()
    assets = {"/Game/Level/Crate_001": mesh}
    objects = [{"name": "Crate.001", **groups}]
    changed = add_collision(loader, monkeypatch, tmp_path, objects, assets, space=space)
    assert changed == [mesh] and mesh.modified and body_of(mesh).modified
    found = elements_of(mesh)
    assert {key: len(each) for key, each in found.items()} == dict.fromkeys(KINDS.values(), 6)
    for kind, key in KINDS.items():
        of_kind = [part for part in parts if kind in part]
        for part, element in zip(of_kind, found[key], strict=True):
            if kind == "hull":
                vertices = np.array(part["hull"]["vertices"])
                assert np.array_equal(element.vertices, vertices)
                assert element.low == vertices.min(axis=0).tolist()
                assert element.high == vertices.max(axis=0).tolist()
                continue
            assert_encloses_tightly(kind, element, sampled(part))
            for name in {"x", "y", "z", "radius", "length"} & {*element.values}:
                value = element.get_editor_property(name)
                assert float(np.float32(value)) == value
    assert mesh.get_editor_property("customized_collision") is True
    assert mesh.notified is unreal_assets.PropertyAccessChangeNotifyMode.ALWAYS


def test_response_and_material_of_the_object_are_those_of_the_body(loader, monkeypatch, tmp_path):
    ice = PhysicalMaterial()
    names = {"solid": "BlockAll", "trigger": "OverlapAll", "none": "NoCollision"}
    assets = {f"/Game/{name}": StaticMesh() for name in names} | {"/Game/Materials/Ice": ice}
    box = {"obb": {"center": [0, 0, 0], "halfExtents": [1, 2, 3], "rotation": [0, 0, 0, 1]}}
    objects = [
        {
            "name": name,
            "local": box,
            "collision": {"response": name, "group": 2, "mask": 1, "material": material},
        }
        for name, material in zip(names, ("Ice", None, "Steel"), strict=True)
    ]
    add_collision(loader, monkeypatch, tmp_path, objects, assets)
    for name, profile in names.items():
        body = body_of(assets[f"/Game/{name}"])
        instance = body.get_editor_property("default_instance")
        assert instance.get_editor_property("collision_profile_name") == profile
        assert body.values.get("phys_material") is (ice if name == "solid" else None)
        assert len(elements_of(assets[f"/Game/{name}"])["box_elems"]) == (name != "none")
    assert [text for text in sys.modules["unreal"].warnings if "Steel" in text]


def test_several_entries_of_an_object_are_one_mesh(loader, monkeypatch, tmp_path):
    """Loose parts and custom shapes; an FBX file puts its own name before those of the meshes."""
    mesh = StaticMesh()
    sphere = {"sphere": {"center": [1, 2, 3], "radius": 4}, "aabb": {"min": [-3, -2, -1], "max": [5, 6, 7]}}
    objects = [
        {"name": "Crate/shape.0", "override": "box", "local": sphere},
        {"name": "Crate/shape.1", "override": "sphere", "local": sphere},
    ]
    assert add_collision(loader, monkeypatch, tmp_path, objects, {"/Game/Level_Crate": mesh}) == [mesh]
    found = elements_of(mesh)
    assert [len(each) for each in found.values()] == [0, 1, 1, 0]
    box = found["box_elems"][0]
    assert xyz(box.get_editor_property("center")).tolist() == [1, 2, 3]
    assert [box.get_editor_property(axis) for axis in "xyz"] == pytest.approx([8, 8, 8], rel=1e-6)


def test_objects_without_a_suitable_mesh_are_reported(loader, monkeypatch, tmp_path):
    transform = {**document_for("unreal")["objects"][0]["transform"], "scale": [1, 1, 2]}
    objects = [
        {"name": "Absent"},
        {"name": "Scaled", "transform": transform},
        {"name": "Hero/bone.Arm", "bone": "Arm"},
        {"name": "Elsewhere"},
    ]
    assets = {
        "/Game/Level/Scaled": StaticMesh(),
        "/Game/Level/Hero": StaticMesh(),
        "/Game/Levels/Elsewhere": StaticMesh(),
    }
    assert add_collision(loader, monkeypatch, tmp_path, objects, assets, folder="/Game/Level") == []
    warnings = sys.modules["unreal"].warnings
    for name, reason in (
        ("Absent", "no static mesh"),
        ("Scaled", "apply it"),
        ("Hero", "skeletal"),
        ("Elsewhere", "no "),
    ):
        assert [text for text in warnings if f"Bounds: {name}: " in text and reason in text], name
    # In world space, the scale is in the vertices of the mesh.
    changed = add_collision(loader, monkeypatch, tmp_path, objects[1:2], assets, space="world")
    assert changed == [assets["/Game/Level/Scaled"]]


def test_stub_has_names_and_arguments_of_unreal():
    try:
        source = importlib.metadata.distribution("unreal-stub").locate_file("unreal/unreal.py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("unreal-stub is not installed")
    text = Path(source).read_text("utf-8")

    def body(name: str) -> str:
        start = text.index(f"\nclass {name}(") + 1
        return text[start : text.index("\nclass ", start)]

    def arguments(source: str, method: str) -> list[str]:
        found = re.search(rf"def {method}\(([^)]*)\)", source)
        assert found, method
        return [part.split(":")[0].strip() for part in found[1].split(",")]

    for stub in unreal_assets.DESCRIBED:
        described = body(stub.__name__)
        for name in getattr(stub, "NAMES", ()):
            assert f"- ``{name}`` (" in described and f"``{name}`` (" in described, name
            assert "[Read-Write]" in described.split(f"``{name}`` (")[1].split("\n")[0], name
        for name, function in inspect.getmembers(stub, inspect.isfunction):
            base = (
                body("_ObjectBase")
                if name in ("modify", "get_editor_property", "set_editor_property")
                else described
            )
            if (
                name == "__init__" and issubclass(stub, unreal_assets.Properties)
            ) or stub is unreal_assets.AssetData:
                continue
            expected = [*inspect.signature(function).parameters]
            found = [each for each in arguments(base, name) if each not in ("cls",)]
            assert found[: len(expected)] == expected, f"{stub.__name__}.{name}"
    assert {"asset_name", "package_path"} <= {*re.findall(r"``(\w+)`` \(", body("AssetData"))}
    # Hulls are set by text: no editor property has their vertices.
    assert "def import_text(self, content: str) -> bool" in body("StructBase")
    assert "vertex" not in body("KConvexElem").lower() and "(KShapeElem)" in body("KConvexElem")
    assert "ALWAYS" in body("PropertyAccessChangeNotifyMode")
