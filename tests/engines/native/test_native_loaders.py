"""Loaders for C++, Unity and Godot: compiled and run on documents of the scene that hurts, or parsed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.engines.in_engines import (
    SHORT_TRACK,
    ball_holds_tightly,
    box_holds_tightly,
    holds_tightly,
    vertices_in,
)

HERE = Path(__file__).parent
LOADERS = HERE.parents[2] / "docs" / "loaders"


def output_of(command: list[str | Path]) -> dict[tuple[str, str], str]:
    """Lines of a kind, an id and the rest, by the first two."""
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return {(kind, name): rest for kind, name, rest in lines}


def error_of(command: list[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


def compiled(command: list[str | Path]) -> None:
    """Skips the test where the compiler is not there; what it warns of is an error."""
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"there is no {command[0]} here")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def numbers(text: str) -> np.ndarray:
    return np.array(text.split(), dtype=np.float64)


def are_single(values: np.ndarray) -> bool:
    return bool((values.astype(np.float32).astype(np.float64) == values).all())


def turned_back(points: np.ndarray, xyzw: np.ndarray) -> np.ndarray:
    """Points (n, 3) in the axes of a rotation, of the unit length that its quaternion may just miss."""
    x, y, z, w = xyzw / np.linalg.norm(xyzw)
    matrix = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return points @ matrix


DAMAGED = {
    "not json": ("{", "is not JSON"),
    "another format": ('{"format": "gltf"}', "not a Collision Bounds document"),
    "a list": ("[1, 2]", "not a Collision Bounds document"),
}


def documents(hurting, preset: str, folder: Path) -> dict[Path, str]:
    """Files that a loader must refuse, and what it must say of them."""
    good = hurting.document(f"{preset}.json")
    texts = dict(DAMAGED)
    texts["a later version"] = (json.dumps({**good, "version": "2.0.0"}), "version 2.0.0")
    wrong = {**good, "space": {**good["space"], "preset": "custom"}}
    texts["another space"] = (json.dumps(wrong), f"--preset {preset}")
    made = {}
    for name, (text, says) in texts.items():
        path = folder / f"{name}.json"
        path.write_text(text, "utf-8")
        made[path] = says
    return made


@pytest.fixture(scope="module")
def in_cpp(tmp_path_factory) -> Path:
    program = tmp_path_factory.mktemp("cpp") / "ask"
    flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
    compiled(["g++", *flags, "-I", LOADERS, HERE / "ask_loader.cpp", "-o", program])
    return program


@pytest.mark.parametrize("space", ["blender", "unreal"])
def test_cpp_reads_what_is_in_the_document(in_cpp, hurting, space):
    printed = output_of([in_cpp, hurting.folder / f"{space}.json", space])
    for entry in hurting.document(f"{space}.json")["objects"]:
        assert printed["name", entry["id"]] == entry["name"]
        assert numbers(printed["place", entry["id"]]).tolist() == entry["transform"]["translation"]
        for place in ("world", "local"):
            box, ball, turned = (entry[place][shape] for shape in ("aabb", "sphere", "obb"))
            assert numbers(printed[f"{place} aabb", entry["id"]]).tolist() == [*box["min"], *box["max"]]
            assert numbers(printed[f"{place} sphere", entry["id"]]).tolist() == [
                *ball["center"],
                ball["radius"],
            ]
            found = numbers(printed[f"{place} obb", entry["id"]])
            assert found[:6].tolist() == [*turned["center"], *turned["halfExtents"]]
            np.testing.assert_allclose(found[6:], turned["rotation"], rtol=0, atol=2e-9)
            assert np.linalg.norm(found[6:]) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("space", ["blender", "unreal"])
def test_cpp_shapes_in_single_precision_hold_every_vertex(in_cpp, hurting, space):
    printed = output_of([in_cpp, hurting.folder / f"{space}.json", space])
    for entry in hurting.document(f"{space}.json")["objects"]:
        points = vertices_in(space, hurting.vertices_of(entry))
        box, ball, turned = (
            numbers(printed[f"single {shape}", entry["id"]]) for shape in ("aabb", "sphere", "obb")
        )
        assert are_single(np.concatenate([box, ball, turned])), entry["name"]
        assert (points >= box[:3]).all() and (points <= box[3:]).all(), entry["name"]
        outside = np.linalg.norm(points - ball[:3], axis=1) - ball[3]
        holds_tightly(outside, points, ball[3], entry["name"], 5e-7)
        outside = (np.abs(turned_back(points - turned[:3], turned[6:])) - turned[3:6]).max(axis=1)
        holds_tightly(outside, points, float(turned[3:6].max()), entry["name"], 1e-6)


def test_cpp_oriented_boxes_in_single_precision_hold_their_corners(in_cpp, hurting, tmp_path):
    random = np.random.default_rng(7)
    good = hurting.document("blender.json")
    boxes = []
    for _ in range(300):
        turn = random.normal(size=4)
        # Numbers that single precision has: whatever is lost, the rotation loses.
        half = random.uniform(0.1, 9, 3).astype(np.float32)
        rotation = (turn / np.linalg.norm(turn)).tolist()
        boxes.append({"center": [0, 0, 0], "halfExtents": half.tolist(), "rotation": rotation})
    entry = good["objects"][0]
    objects = [{**entry, "id": str(k), "world": {"obb": box}} for k, box in enumerate(boxes)]
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps({**good, "objects": objects}), "utf-8")
    printed = output_of([in_cpp, path, "blender"])
    signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
    for k, box in enumerate(boxes):
        # Out of the box's axes is into those of the opposite rotation.
        x, y, z, w = box["rotation"]
        corners = turned_back(signs * box["halfExtents"], np.array([-x, -y, -z, w]))
        found = numbers(printed["single obb", str(k)])
        assert are_single(found)
        outside = np.abs(turned_back(corners, found[6:])) - found[3:6]
        assert -1e-6 * max(box["halfExtents"]) * 3 < outside.max() <= 0


def test_cpp_reads_contacts(in_cpp, moving, tmp_path):
    path = tmp_path / "contacts.json"
    path.write_text(json.dumps(moving.documents["obb"]), "utf-8")
    printed = output_of([in_cpp, path, "blender"])
    contacts = moving.documents["obb"]["contacts"]
    assert sum(kind == "contact" for kind, _ in printed) == len(contacts) >= 3
    for contact in contacts:
        first = contact["first"]
        assert numbers(printed["contact", f"{contact['a']}|{contact['b']}"]).tolist() == [
            *(first[key] for key in ("frame", "seconds", "uncertainty")),
            *(first["point"][0], first["normal"][2], first["atStart"], first["tunnelling"]),
        ]


def test_cpp_tracks_hold_every_vertex_at_each_frame(in_cpp, moved_by_frames):
    printed = output_of([in_cpp, moved_by_frames.folder / "blender.json", "blender"])
    there = moved_by_frames.shown()
    assert {id for kind, id in printed if kind == "track frame"} == set(there)
    for id, (frame, points) in there.items():
        assert numbers(printed["track frame", id]).tolist() == [frame]
        for kind in ("track", "track single"):
            box, ball = (numbers(printed[f"{kind} {shape}", id]) for shape in ("aabb", "sphere"))
            assert are_single(np.concatenate([box, ball])) or kind == "track"
            box_holds_tightly(box[:3], box[3:], points, id)
            ball_holds_tightly(ball, points, id)


def test_cpp_says_what_is_wrong_with_a_file(in_cpp, hurting, tmp_path):
    for path, says in documents(hurting, "unity", tmp_path).items():
        problem = error_of([in_cpp, path, "unity"])
        assert problem.startswith(f"{path}: ") and says in problem
    good = hurting.document("unity.json")
    for name, broken in {
        "no objects": {**good, "objects": None},
        "short": {**good, "objects": [{**good["objects"][0], "world": {"aabb": {"min": [1], "max": [2]}}}]},
        "a key gone": {key: value for key, value in good.items() if key != "time"},
        "a short track": {**good, "tracks": [SHORT_TRACK]},
    }.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(broken), "utf-8")
        assert "is damaged" in error_of([in_cpp, path, "unity"])
    path.write_text("[" * 100_000, "utf-8")
    assert "is not JSON" in error_of([in_cpp, path, "unity"])
    assert "cannot be opened" in error_of([in_cpp, tmp_path / "gone.json", "unity"])


def test_cpp_reads_escaped_text(in_cpp, hurting, tmp_path):
    good = hurting.document("unity.json")
    name = 'a"b\\c/d\b\f\n\r\té €🚗'
    path = tmp_path / "escaped.json"
    path.write_text(json.dumps({**good, "objects": [{**good["objects"][0], "name": name}]}), "utf-8")
    done = subprocess.run([in_cpp, path, "unity"], capture_output=True, check=True)
    assert f"\t{name}\n" in done.stdout.decode("utf-8")


@pytest.fixture(scope="module")
def in_unity(tmp_path_factory) -> list[str | Path]:
    program = tmp_path_factory.mktemp("unity") / "ask.exe"
    # Fields that only JsonUtility sets are no mistake.
    flags = ("-warn:4", "-warnaserror", "-nowarn:0649", "-langversion:7", "-r:System.Core")
    files = (LOADERS / "CollisionBounds.cs", HERE / "unity_stand_in.cs", HERE / "ask_unity.cs")
    compiled(["mcs", *flags, *files, f"-out:{program}"])
    return ["mono", program]


def test_unity_volumes_hold_every_vertex(in_unity, hurting):
    printed = output_of([*in_unity, hurting.folder / "unity.json"])
    for entry in hurting.document("unity.json")["objects"]:
        points = vertices_in("unity", hurting.vertices_of(entry))
        box, ball, turned, globe = (
            numbers(printed[kind, entry["id"]])
            for kind in ("Bounds", "BoundingSphere", "BoxCollider", "SphereCollider")
        )
        assert are_single(np.concatenate([box, ball, turned])), entry["name"]
        outside = (np.abs(points - box[:3]) - box[3:]).max(axis=1)
        holds_tightly(outside, points, float(box[3:].max()), entry["name"], 5e-7)
        # As Unity computes min and max.
        center, extents = box[:3].astype(np.float32), box[3:].astype(np.float32)
        assert (points >= center - extents).all() and (points <= center + extents).all()
        assert globe.tolist() == ball.tolist()
        outside = np.linalg.norm(points - ball[:3], axis=1) - ball[3]
        holds_tightly(outside, points, ball[3], entry["name"], 5e-7)
        local = turned_back(points - turned[:3], turned[3:7]) - turned[7:10]
        outside = (np.abs(local) - turned[10:] / 2).max(axis=1)
        holds_tightly(outside, points, float(turned[10:].max()), entry["name"], 1e-6)


def test_unity_boxes_without_oriented_ones_are_placed_by_place_and_rotation(in_unity, hurting, tmp_path):
    document = hurting.document("unity.json")
    for entry in document["objects"]:
        del entry["world"]["obb"]
    path = tmp_path / "local.json"
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    printed = output_of([*in_unity, path])
    for entry in document["objects"]:
        points = vertices_in("unity", hurting.vertices_of(entry))
        turned = numbers(printed["BoxCollider", entry["id"]])
        local = turned_back(points - turned[:3], turned[3:7]) - turned[7:10]
        outside = (np.abs(local) - turned[10:] / 2).max(axis=1)
        size = float((np.abs(turned[7:10]) + turned[10:]).max())
        holds_tightly(outside, points, size, entry["name"], 2e-6)


def test_unity_tracks_hold_every_vertex_at_each_frame(in_unity, moved_by_frames):
    printed = output_of([*in_unity, moved_by_frames.folder / "unity.json"])
    there = moved_by_frames.shown()
    assert {id for kind, id in printed if kind == "Frame"} == set(there)
    for id, (frame, points) in there.items():
        assert numbers(printed["Frame", id]).tolist() == [frame]
        points = vertices_in("unity", points)
        box, ball = numbers(printed["TrackBounds", id]), numbers(printed["TrackSphere", id])
        assert are_single(np.concatenate([box, ball]))
        box_holds_tightly(box[:3] - box[3:], box[:3] + box[3:], points, id)
        ball_holds_tightly(ball, points, id)


def test_unity_reads_tracks_of_escaped_names_and_without_boxes(in_unity, moved_by_frames, tmp_path):
    document = moved_by_frames.document("unity")
    track = {**document["tracks"][0], "object": 'a"b\\c/d\té €🚗'}
    del track["aabb"]
    path = tmp_path / "escaped.json"
    # With escapes, and without.
    for ascii in (True, False):
        path.write_text(
            json.dumps({**document, "objects": [], "tracks": [track]}, ensure_ascii=ascii), "utf-8"
        )
        done = subprocess.run([*in_unity, path], capture_output=True, check=True)
        lines = done.stdout.decode("utf-8").split("\n")
        assert [line.split("\t")[0] for line in lines[:3]] == ["Frame", "TrackSphere", "Frame"]
        assert 'a"b\\c/d\té €🚗|0\t' in done.stdout.decode("utf-8")
        assert b"TrackBounds" not in done.stdout


def test_unity_says_what_is_wrong_with_a_document(in_unity, hurting, tmp_path):
    for path, says in documents(hurting, "unity", tmp_path).items():
        assert says.removeprefix("is ") in error_of([*in_unity, path])
    document = hurting.document("unity.json")
    path = tmp_path / "short.json"
    for track in (SHORT_TRACK, {**SHORT_TRACK, "frames": [1, None]}, {"object": "A"}, 1):
        path.write_text(json.dumps({**document, "tracks": [track]}), "utf-8")
        assert "damaged, in its tracks" in error_of([*in_unity, path])
    for entry in document["objects"]:
        del entry["world"]["sphere"]
    path = tmp_path / "no sphere.json"
    path.write_text(json.dumps(document), "utf-8")
    done = subprocess.run([*in_unity, path], capture_output=True, text=True, check=False)
    assert done.returncode and "--shapes sphere" in done.stderr


@pytest.mark.long
def test_godots_loader_is_parsed():
    parser = pytest.importorskip("gdtoolkit.parser").parser
    tree = parser.parse((LOADERS / "collision_bounds.gd").read_text("utf-8"))
    names = {str(node.children[0]) for node in tree.find_data("func_header")}
    assert {"read", "read_tracks", "to_aabb", "collision_shape", "static_body"} <= names, names
