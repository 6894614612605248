"""Loader for Unreal, run with a stub of the `unreal` module, whose names are compared with Unreal's API."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import inspect
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.engines.broken_documents import document_for
from tests.engines.checks import (
    assert_box_encloses_tightly,
    assert_sphere_encloses_tightly,
    convert_vertices,
)
from tests.engines.native import unreal_assets
from tests.paths import TOP

LOADER = TOP / "docs" / "loaders" / "collision_bounds_unreal.py"


class Vector:
    def __init__(self, x: float = 0, y: float = 0, z: float = 0) -> None:
        self.x, self.y, self.z = x, y, z


class Rotator:
    """Stores a quaternion; the conversion to angles is Unreal's."""

    def __init__(self, quaternion: Quat | None = None) -> None:
        self.quaternion = quaternion or Quat(0, 0, 0, 1)


class Quat:
    def __init__(self, x: float = 0, y: float = 0, z: float = 0, w: float = 0) -> None:
        self.x, self.y, self.z, self.w = x, y, z, w

    def rotator(self) -> Rotator:
        return Rotator(self)


class Box:
    def __init__(self, min: Any, max: Any) -> None:
        self.min, self.max = min, max


class Sphere:
    def __init__(self, center: Any, w: float) -> None:
        self.center, self.w = center, w


class BoxSphereBounds:
    def __init__(self, origin: Any, box_extent: Any, sphere_radius: float) -> None:
        self.origin, self.box_extent, self.sphere_radius = origin, box_extent, sphere_radius


class Component:
    def set_box_extent(self, box_extent: Any, update_overlaps: bool = True) -> None:
        self.extent = box_extent

    def set_sphere_radius(self, sphere_radius: float, update_overlaps: bool = True) -> None:
        self.radius = sphere_radius

    def set_collision_profile_name(self, collision_profile_name: str, update_overlaps: bool = True) -> None:
        self.profile = collision_profile_name


class Actor:
    def __init__(self) -> None:
        self.collision_component = Component()

    def set_actor_label(self, new_actor_label: str, mark_dirty: bool = True) -> None:
        self.label = new_actor_label

    def set_folder_path(self, new_folder_path: str) -> None:
        self.folder = new_folder_path


class TriggerBox(Actor):
    pass


class TriggerSphere(Actor):
    pass


class EditorActorSubsystem:
    def spawn_actor_from_class(self, actor_class: Any, location: Any, rotation: Any = None) -> Actor:
        actor = actor_class()
        actor.location, actor.rotation = location, rotation or Rotator()
        return actor


STUBS = (Vector, Quat, Box, Sphere, BoxSphereBounds, TriggerBox, TriggerSphere, EditorActorSubsystem)
STUBS += unreal_assets.STUBS


@pytest.fixture
def loader(monkeypatch):
    """Import the loader with the stub as `unreal`, which collects warnings in `unreal.warnings`."""
    return import_loader(monkeypatch)


def import_loader(monkeypatch) -> ModuleType:
    """Import the loader; `monkeypatch` removes it and the stub."""
    unreal = ModuleType("unreal")
    unreal.warnings = []
    unreal.log_warning = unreal.warnings.append
    unreal.get_editor_subsystem = lambda subsystem: subsystem()
    for each in STUBS:
        setattr(unreal, each.__name__, each)
    monkeypatch.setitem(sys.modules, "unreal", unreal)
    spec = importlib.util.spec_from_file_location("collision_bounds_unreal", LOADER)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def xyz(vector: Vector) -> np.ndarray:
    return np.array([vector.x, vector.y, vector.z])


def outside_box(points: np.ndarray, center: Vector, half: Vector, q: Quat) -> float:
    """Largest signed distance of points (n, 3) from an oriented box; negative inside."""
    x, y, z, w = q.x, q.y, q.z, q.w
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return float((np.abs((points - xyz(center)) @ matrix) - xyz(half)).max())


def test_shapes_enclose_every_vertex(loader, difficult):
    bounds = loader.read(difficult.folder / "unreal.json")
    objects = difficult.document("unreal.json")["objects"]
    assert [*bounds] == [entry["id"] for entry in objects]
    for entry in objects:
        found, points = bounds[entry["id"]], convert_vertices("unreal", difficult.vertices_of(entry))
        assert (found.name, found.parent) == (entry["name"], entry["parent"])
        assert xyz(found.location).tolist() == entry["transform"]["translation"]
        world = entry["world"]
        assert [*xyz(found.world.box.min), *xyz(found.world.box.max)] == [
            *world["aabb"]["min"],
            *world["aabb"]["max"],
        ]
        assert [*xyz(found.world.sphere.center), found.world.sphere.w] == [
            *world["sphere"]["center"],
            world["sphere"]["radius"],
        ]
        combined = found.world.box_sphere_bounds
        far = 1e-12 * np.abs(points).max()
        assert outside_box(points, combined.origin, combined.box_extent, Quat(0, 0, 0, 1)) <= far
        reach = np.linalg.norm(points - xyz(combined.origin), axis=1).max()
        assert reach <= combined.sphere_radius <= np.linalg.norm(xyz(combined.box_extent)) * (1 + 1e-12)


@pytest.mark.parametrize("oriented", [True, False])
def test_spawned_boxes_enclose_every_vertex_tightly(loader, difficult, tmp_path, oriented):
    document = difficult.document("unreal.json")
    for entry in document["objects"]:
        if not oriented:
            del entry["world"]["obb"]
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    actors = loader.spawn(loader.read(path))
    assert len(actors) == len(document["objects"])
    for actor, entry in zip(actors, document["objects"], strict=True):
        assert isinstance(actor, TriggerBox) and actor.label == entry["name"]
        points = convert_vertices("unreal", difficult.vertices_of(entry))
        half = actor.collision_component.extent
        outside = outside_box(points, actor.location, half, actor.rotation.quaternion)
        # Rotations have nine decimals.
        size = float(np.abs(points - xyz(actor.location)).max()) + 1e-3 * np.abs(points).max()
        assert -1e-7 * size <= outside <= 1e-8 * size + 1e-6, entry["name"]


def test_spawned_spheres_enclose_every_vertex(loader, difficult):
    actors = loader.spawn(loader.read(difficult.folder / "unreal.json"), "sphere")
    for actor, entry in zip(actors, difficult.document("unreal.json")["objects"], strict=True):
        assert isinstance(actor, TriggerSphere) and actor.collision_component.profile == "BlockAll"
        radius = actor.collision_component.radius
        assert float(np.float32(radius)) == radius
        points = convert_vertices("unreal", difficult.vertices_of(entry))
        reach = np.linalg.norm(points - xyz(actor.location), axis=1).max()
        assert reach <= radius <= reach * (1 + 3e-7) + 1e-6 + 1e-9 * np.abs(points).max()


def test_detailed_shapes_have_the_numbers_of_the_document(loader, tmp_path):
    document = document_for("unreal")
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    plain, entry = document["objects"][:2]
    bounds = loader.read(path)
    found, world = bounds[entry["id"]], entry["world"]
    assert found.bone == "Arm" and bounds[plain["id"]].bone is None
    for kind in ("capsule", "cylinder"):
        axial = getattr(found.world, kind)
        assert xyz(axial.center).tolist() == world[kind]["center"]
        assert xyz(axial.axis) == pytest.approx(np.array(world[kind]["axis"]), abs=1e-15)
        assert (axial.half_length, axial.radius) == (world[kind]["halfLength"], world[kind]["radius"])
        assert getattr(bounds[plain["id"]].world, kind) is None
    assert [xyz(vertex).tolist() for vertex in found.world.hull.vertices] == world["hull"]["vertices"]
    assert found.world.hull.faces == world["hull"]["faces"]
    assert [
        {"center": xyz(node.sphere.center).tolist(), "radius": node.sphere.w, "children": node.children}
        for node in found.world.spheres
    ] == world["spheres"]
    box = entry["envelope"]["local"]["aabb"]
    envelope = found.local_envelope.box
    assert [xyz(envelope.min).tolist(), xyz(envelope.max).tolist()] == [box["min"], box["max"]]
    assert bounds[plain["id"]].local_envelope is None


def test_tracks_enclose_every_vertex_at_each_frame(loader, tracked):
    tracks = loader.read_tracks(tracked.folder / "unreal.json")
    entries = tracked.entries()
    read = {f"{id}|{index}" for id, track in tracks.items() for index in range(len(track.frames))}
    assert read == set(entries)
    for id, (frame, points) in entries.items():
        name, index = id.split("|")
        track, index = tracks[name], int(index)
        assert len(track.frames) == len(track.boxes) == len(track.spheres)
        assert track.frames[index] == frame
        points = convert_vertices("unreal", points)
        box, sphere = track.boxes[index], track.spheres[index]
        assert_box_encloses_tightly(xyz(box.min), xyz(box.max), points, id)
        assert_sphere_encloses_tightly(np.array([*xyz(sphere.center), sphere.w]), points, id)


def test_tracks_without_spheres_and_documents_without_tracks_are_read(loader, tracked, tmp_path):
    document = tracked.document("unreal")
    for track in document["tracks"]:
        del track["sphere"]
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    tracks = loader.read_tracks(path)
    assert all(track.spheres is None and track.boxes for track in tracks.values())
    path.write_text(json.dumps({**document, "tracks": []}), "utf-8")
    assert loader.read_tracks(path) == {} and len(loader.read(path)) == len(document["objects"])


def test_missing_spheres_are_reported(loader, difficult, tmp_path):
    document = difficult.document("unreal.json")
    for entry in document["objects"]:
        entry["world"] = {"aabb": entry["world"]["aabb"]}
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    assert loader.spawn(loader.read(path), "sphere") == []
    warnings = sys.modules["unreal"].warnings
    assert len(warnings) == len(document["objects"]) and "no sphere" in warnings[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "gltf"}, "not a Collision Bounds document"),
        ({"version": "2.1.0"}, "version 2.1.0"),
        ({"space": {"preset": "unity"}}, "--preset unreal"),
        (None, "not JSON"),
    ],
)
def test_other_files_are_rejected_with_message(loader, difficult, tmp_path, change, message):
    path = tmp_path / "level.json"
    path.write_text(json.dumps({**difficult.document("unreal.json"), **change}) if change else "{", "utf-8")
    with pytest.raises(loader.DocumentError, match=message) as caught:
        loader.read(path)
    assert str(caught.value).startswith(f"{path}: ")


def class_definition(name: str, source: str) -> ast.ClassDef:
    """Parse one class of the description of Unreal's API."""
    start = source.index(f"\nclass {name}(") + 1
    return ast.parse(source[start : source.index("\nclass ", start)]).body[0]


def test_stub_has_names_and_arguments_of_unreal():
    try:
        source = importlib.metadata.distribution("unreal-stub").locate_file("unreal/unreal.py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("unreal-stub is not installed")
    text = Path(source).read_text("utf-8")
    compared = [(each, each.__name__) for each in STUBS if each not in (TriggerBox, TriggerSphere)]
    compared += [(Actor, "Actor"), (Component, "BoxComponent"), (Component, "SphereComponent")]
    seen = set()
    for stub, name in compared:
        methods = {
            node.name: node for node in class_definition(name, text).body if isinstance(node, ast.FunctionDef)
        }
        for method, function in inspect.getmembers(stub, inspect.isfunction):
            if method not in methods or (method == "__init__" and stub in (Actor, Component)):
                continue
            seen.add(method)
            arguments = [argument.arg for argument in methods[method].args.args]
            expected = [*inspect.signature(function).parameters]
            assert arguments[: len(expected)] == expected, f"{name}.{method}"
    assert seen >= {
        "set_box_extent",
        "set_sphere_radius",
        "spawn_actor_from_class",
        "set_actor_label",
        "rotator",
    }
    assert seen >= {"__init__", "set_folder_path"}
    # Attributes that are read and not called.
    for name, read in (
        ("Vector", "xyz"),
        ("Quat", "xyzw"),
        ("Sphere", ("center", "w")),
        ("Box", ("min", "max")),
    ):
        names = {node.name for node in class_definition(name, text).body if isinstance(node, ast.FunctionDef)}
        assert set(read) <= names
    assert "\nclass TriggerBox(TriggerBase):" in text and "\nclass TriggerSphere(TriggerBase):" in text
    trigger = {
        node.name for node in class_definition("TriggerBase", text).body if isinstance(node, ast.FunctionDef)
    }
    assert "collision_component" in trigger
    used = {
        node.attr
        for node in ast.walk(ast.parse(LOADER.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "unreal"
    }
    for name in used:
        assert f"\nclass {name}(" in text or f"\ndef {name}(" in text, name
