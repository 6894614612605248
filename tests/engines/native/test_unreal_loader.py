"""The loader for Unreal: run with a stand-in, whose names are looked up in Unreal's own description."""

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

from tests.engines.in_engines import SHORT_TRACK, ball_holds_tightly, box_holds_tightly, vertices_in
from tests.paths import TOP

LOADER = TOP / "docs" / "loaders" / "collision_bounds_unreal.py"


class Vector:
    def __init__(self, x: float = 0, y: float = 0, z: float = 0) -> None:
        self.x, self.y, self.z = x, y, z


class Rotator:
    """Holds its quaternion: how Unreal takes that apart into angles is not ours."""

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


STAND_INS = (Vector, Quat, Box, Sphere, BoxSphereBounds, TriggerBox, TriggerSphere, EditorActorSubsystem)


@pytest.fixture
def loader(monkeypatch):
    """The loader, imported where `unreal` is the stand-in; what it warned of is in `unreal.warned`."""
    unreal = ModuleType("unreal")
    unreal.warned = []
    unreal.log_warning = unreal.warned.append
    unreal.get_editor_subsystem = lambda subsystem: subsystem()
    for each in STAND_INS:
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
    x, y, z, w = q.x, q.y, q.z, q.w
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return float((np.abs((points - xyz(center)) @ matrix) - xyz(half)).max())


def test_shapes_hold_every_vertex(loader, hurting):
    bounds = loader.read(hurting.folder / "unreal.json")
    objects = hurting.document("unreal.json")["objects"]
    assert [*bounds] == [entry["id"] for entry in objects]
    for entry in objects:
        found, points = bounds[entry["id"]], vertices_in("unreal", hurting.vertices_of(entry))
        assert (found.name, found.parent) == (entry["name"], entry["parent"])
        assert xyz(found.location).tolist() == entry["transform"]["translation"]
        told = entry["world"]
        assert [*xyz(found.world.box.min), *xyz(found.world.box.max)] == [
            *told["aabb"]["min"],
            *told["aabb"]["max"],
        ]
        assert [*xyz(found.world.sphere.center), found.world.sphere.w] == [
            *told["sphere"]["center"],
            told["sphere"]["radius"],
        ]
        both = found.world.both
        far = 1e-12 * np.abs(points).max()
        assert outside_box(points, both.origin, both.box_extent, Quat(0, 0, 0, 1)) <= far
        reach = np.linalg.norm(points - xyz(both.origin), axis=1).max()
        assert reach <= both.sphere_radius <= np.linalg.norm(xyz(both.box_extent)) * (1 + 1e-12)


@pytest.mark.parametrize("oriented", [True, False])
def test_boxes_that_are_spawned_hold_every_vertex_and_are_tight(loader, hurting, tmp_path, oriented):
    document = hurting.document("unreal.json")
    for entry in document["objects"]:
        if not oriented:
            del entry["world"]["obb"]
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    actors = loader.spawn(loader.read(path))
    assert len(actors) == len(document["objects"])
    for actor, entry in zip(actors, document["objects"], strict=True):
        assert isinstance(actor, TriggerBox) and actor.label == entry["name"]
        points = vertices_in("unreal", hurting.vertices_of(entry))
        half = actor.collision_component.extent
        outside = outside_box(points, actor.location, half, actor.rotation.quaternion)
        # Rotations have nine decimals.
        size = float(np.abs(points - xyz(actor.location)).max()) + 1e-3 * np.abs(points).max()
        assert -1e-7 * size <= outside <= 1e-8 * size + 1e-6, entry["name"]


def test_spheres_that_are_spawned_hold_every_vertex(loader, hurting):
    actors = loader.spawn(loader.read(hurting.folder / "unreal.json"), "sphere")
    for actor, entry in zip(actors, hurting.document("unreal.json")["objects"], strict=True):
        assert isinstance(actor, TriggerSphere)
        radius = actor.collision_component.radius
        assert float(np.float32(radius)) == radius
        points = vertices_in("unreal", hurting.vertices_of(entry))
        reach = np.linalg.norm(points - xyz(actor.location), axis=1).max()
        assert reach <= radius <= reach * (1 + 3e-7) + 1e-6 + 1e-9 * np.abs(points).max()


def test_tracks_hold_every_vertex_at_each_frame(loader, moved_by_frames):
    tracks = loader.read_tracks(moved_by_frames.folder / "unreal.json")
    there = moved_by_frames.shown()
    assert {f"{id}|{place}" for id, track in tracks.items() for place in range(len(track.frames))} == set(
        there
    )
    for id, (frame, points) in there.items():
        name, place = id.split("|")
        track, place = tracks[name], int(place)
        assert len(track.frames) == len(track.boxes) == len(track.spheres)
        assert track.frames[place] == frame
        points = vertices_in("unreal", points)
        box, ball = track.boxes[place], track.spheres[place]
        box_holds_tightly(xyz(box.min), xyz(box.max), points, id)
        ball_holds_tightly(np.array([*xyz(ball.center), ball.w]), points, id)


def test_tracks_without_spheres_and_documents_without_tracks_are_read(loader, moved_by_frames, tmp_path):
    document = moved_by_frames.document("unreal")
    for track in document["tracks"]:
        del track["sphere"]
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    tracks = loader.read_tracks(path)
    assert all(track.spheres is None and track.boxes for track in tracks.values())
    path.write_text(json.dumps({**document, "tracks": []}), "utf-8")
    assert loader.read_tracks(path) == {} and len(loader.read(path)) == len(document["objects"])


@pytest.mark.parametrize(
    "track", [SHORT_TRACK, {"object": "A"}, {**SHORT_TRACK, "sphere": {"centers": 1}}, 1, None]
)
def test_tracks_that_are_damaged_are_refused_in_a_sentence(loader, moved_by_frames, tmp_path, track):
    path = tmp_path / "level.json"
    path.write_text(json.dumps({**moved_by_frames.document("unreal"), "tracks": [track]}), "utf-8")
    with pytest.raises(loader.DocumentError, match="is damaged") as told:
        loader.read_tracks(path)
    assert str(told.value).startswith(f"{path}: ")


def test_what_is_missing_is_told(loader, hurting, tmp_path):
    document = hurting.document("unreal.json")
    for entry in document["objects"]:
        entry["world"] = {"aabb": entry["world"]["aabb"]}
    path = tmp_path / "level.json"
    path.write_text(json.dumps(document), "utf-8")
    assert loader.spawn(loader.read(path), "sphere") == []
    warned = sys.modules["unreal"].warned
    assert len(warned) == len(document["objects"]) and "no sphere" in warned[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": "gltf"}, "not a Collision Bounds document"),
        ({"version": "2.1.0"}, "version 2.1.0"),
        ({"space": {"preset": "unity"}}, "--preset unreal"),
        ({"objects": [{"id": "a"}]}, "damaged"),
        (None, "not JSON"),
    ],
)
def test_other_files_are_refused_in_a_sentence(loader, hurting, tmp_path, change, says):
    path = tmp_path / "level.json"
    path.write_text(json.dumps({**hurting.document("unreal.json"), **change}) if change else "{", "utf-8")
    with pytest.raises(loader.DocumentError, match=says) as told:
        loader.read(path)
    assert str(told.value).startswith(f"{path}: ")


def described(name: str, source: str) -> ast.ClassDef:
    """A class of Unreal's description, of which only that part is parsed."""
    start = source.index(f"\nclass {name}(") + 1
    return ast.parse(source[start : source.index("\nclass ", start)]).body[0]


def test_names_and_arguments_of_the_stand_in_are_those_of_unreal():
    try:
        source = importlib.metadata.distribution("unreal-stub").locate_file("unreal/unreal.py")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("unreal-stub is not installed")
    text = Path(source).read_text("utf-8")
    compared = [(each, each.__name__) for each in STAND_INS if each not in (TriggerBox, TriggerSphere)]
    compared += [(Actor, "Actor"), (Component, "BoxComponent"), (Component, "SphereComponent")]
    seen = set()
    for stand_in, name in compared:
        methods = {
            node.name: node for node in described(name, text).body if isinstance(node, ast.FunctionDef)
        }
        for method, function in inspect.getmembers(stand_in, inspect.isfunction):
            if method not in methods or (method == "__init__" and stand_in in (Actor, Component)):
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
    # What is read and not called.
    for name, read in (
        ("Vector", "xyz"),
        ("Quat", "xyzw"),
        ("Sphere", ("center", "w")),
        ("Box", ("min", "max")),
    ):
        names = {node.name for node in described(name, text).body if isinstance(node, ast.FunctionDef)}
        assert set(read) <= names
    assert "\nclass TriggerBox(TriggerBase):" in text and "\nclass TriggerSphere(TriggerBase):" in text
    trigger = {node.name for node in described("TriggerBase", text).body if isinstance(node, ast.FunctionDef)}
    assert "collision_component" in trigger
    used = {
        node.attr
        for node in ast.walk(ast.parse(LOADER.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "unreal"
    }
    for name in used:
        assert f"\nclass {name}(" in text or f"\ndef {name}(" in text, name
