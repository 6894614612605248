"""Loaders for C++ and Unity, compiled and run on the difficult scene; loader for Godot, parsed."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from addon.core import capsule_from_points, cylinder_from_points
from tests.engines.checks import (
    assert_box_encloses_tightly,
    assert_encloses_tightly,
    assert_sphere_encloses_tightly,
    convert_vertices,
)
from tests.formats import samples
from tests.paths import TOP


def printed_values(command: list[str | Path]) -> dict[tuple[str, str], str]:
    """Run a program that prints lines of kind, id and values; return the values by kind and id."""
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return {(kind, name): rest for kind, name, rest in lines}


def error_message(command: list[str | Path]) -> str:
    """Run a program that must fail with exit code 2, and return the one line of its message."""
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


def numbers(text: str) -> np.ndarray:
    return np.array(text.split(), dtype=np.float64)


def are_single_precision(values: np.ndarray) -> bool:
    return bool((values.astype(np.float32).astype(np.float64) == values).all())


def rotated_back(points: np.ndarray, xyzw: np.ndarray) -> np.ndarray:
    """Rotate points (n, 3) by the inverse of a rotation, whose quaternion is normalized."""
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


def invalid_documents(difficult, preset: str, folder: Path) -> dict[Path, str]:
    """Write files that a loader must reject; return the expected part of the message by path."""
    good = difficult.document(f"{preset}.json")
    texts = dict(DAMAGED)
    texts["a later version"] = (json.dumps({**good, "version": "2.0.0"}), "version 2.0.0")
    wrong = {**good, "space": {**good["space"], "preset": "custom"}}
    texts["another space"] = (json.dumps(wrong), f"--preset {preset}")
    messages = {}
    for name, (text, message) in texts.items():
        path = folder / f"{name}.json"
        path.write_text(text, "utf-8")
        messages[path] = message
    return messages


@pytest.mark.parametrize("space", ["blender", "unreal"])
def test_cpp_reads_values_of_document(cpp_program, difficult, space):
    printed = printed_values([cpp_program, difficult.folder / f"{space}.json", space])
    for entry in difficult.document(f"{space}.json")["objects"]:
        assert printed["name", entry["id"]] == entry["name"]
        assert numbers(printed["translation", entry["id"]]).tolist() == entry["transform"]["translation"]
        for group in ("world", "local"):
            box, sphere, oriented = (entry[group][shape] for shape in ("aabb", "sphere", "obb"))
            assert numbers(printed[f"{group} aabb", entry["id"]]).tolist() == [*box["min"], *box["max"]]
            assert numbers(printed[f"{group} sphere", entry["id"]]).tolist() == [
                *sphere["center"],
                sphere["radius"],
            ]
            found = numbers(printed[f"{group} obb", entry["id"]])
            assert found[:6].tolist() == [*oriented["center"], *oriented["halfExtents"]]
            np.testing.assert_allclose(found[6:], oriented["rotation"], rtol=0, atol=2e-9)
            assert np.linalg.norm(found[6:]) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("space", ["blender", "unreal"])
def test_cpp_shapes_in_single_precision_enclose_every_vertex(cpp_program, difficult, space):
    printed = printed_values([cpp_program, difficult.folder / f"{space}.json", space])
    for entry in difficult.document(f"{space}.json")["objects"]:
        points = convert_vertices(space, difficult.vertices_of(entry))
        box, sphere, oriented = (
            numbers(printed[f"single {shape}", entry["id"]]) for shape in ("aabb", "sphere", "obb")
        )
        assert are_single_precision(np.concatenate([box, sphere, oriented])), entry["name"]
        assert (points >= box[:3]).all() and (points <= box[3:]).all(), entry["name"]
        outside = np.linalg.norm(points - sphere[:3], axis=1) - sphere[3]
        assert_encloses_tightly(outside, points, sphere[3], entry["name"], 5e-7)
        outside = (np.abs(rotated_back(points - oriented[:3], oriented[6:])) - oriented[3:6]).max(axis=1)
        assert_encloses_tightly(outside, points, float(oriented[3:6].max()), entry["name"], 1e-6)


def axial_excess(kind: str, shape: np.ndarray, points: np.ndarray) -> float:
    """Greatest distance of points outside of a capsule or cylinder, in plain NumPy."""
    center, axis, half, radius = shape[:3], shape[3:6] / np.linalg.norm(shape[3:6]), shape[6], shape[7]
    offset = points - center
    along = offset @ axis
    if kind == "capsule":
        return float(
            (np.linalg.norm(offset - np.clip(along, -half, half)[:, None] * axis, axis=1) - radius).max()
        )
    across = np.linalg.norm(offset - along[:, None] * axis, axis=1) - radius
    return float(max(across.max(), (np.abs(along) - half).max()))


@pytest.mark.long
def test_cpp_capsules_and_cylinders_hold_their_points_in_single_precision_too(
    cpp_program, difficult, tmp_path
):
    random = np.random.default_rng(3)
    good = difficult.document("blender.json")
    entry, clouds, objects = good["objects"][0], [], []
    for number in range(40):
        points = random.normal(size=(50, 3)) * random.uniform(0.1, 3, 3) + random.normal(size=3) * 100
        fitted = {"capsule": capsule_from_points(points), "cylinder": cylinder_from_points(points)}
        world = {
            kind: {
                "center": shape.center.tolist(),
                "axis": shape.axis.tolist(),
                "halfLength": float(shape.half_length),
                "radius": float(shape.radius) + 1e-9,
            }
            for kind, shape in fitted.items()
        }
        clouds.append(points)
        objects.append({**entry, "id": str(number), "world": world})
    path = tmp_path / "rods.json"
    path.write_text(json.dumps({**good, "objects": objects}), "utf-8")
    printed = printed_values([cpp_program, path, "blender"])
    for number, points in enumerate(clouds):
        for kind in ("capsule", "cylinder"):
            exact, single = (
                numbers(printed[f"{group} {kind}", str(number)]) for group in ("world", "single")
            )
            written = objects[number]["world"][kind]
            assert exact.tolist() == [
                *written["center"],
                *written["axis"],
                written["halfLength"],
                written["radius"],
            ]
            assert are_single_precision(single)
            assert -1e-3 < axial_excess(kind, single, points) <= 0


def test_cpp_oriented_boxes_in_single_precision_enclose_their_corners(cpp_program, difficult, tmp_path):
    random = np.random.default_rng(7)
    good = difficult.document("blender.json")
    boxes = []
    for _ in range(300):
        quaternion = random.normal(size=4)
        # Half extents are exact in single precision, so that only the rotation has a rounding error.
        half = random.uniform(0.1, 9, 3).astype(np.float32)
        rotation = (quaternion / np.linalg.norm(quaternion)).tolist()
        boxes.append({"center": [0, 0, 0], "halfExtents": half.tolist(), "rotation": rotation})
    entry = good["objects"][0]
    objects = [{**entry, "id": str(k), "world": {"obb": box}} for k, box in enumerate(boxes)]
    path = tmp_path / "boxes.json"
    path.write_text(json.dumps({**good, "objects": objects}), "utf-8")
    printed = printed_values([cpp_program, path, "blender"])
    signs = np.array([[1 if k >> axis & 1 else -1 for axis in range(3)] for k in range(8)])
    for k, box in enumerate(boxes):
        # Rotating out of the box's axes is rotating into those of the inverse rotation.
        x, y, z, w = box["rotation"]
        corners = rotated_back(signs * box["halfExtents"], np.array([-x, -y, -z, w]))
        found = numbers(printed["single obb", str(k)])
        assert are_single_precision(found)
        outside = np.abs(rotated_back(corners, found[6:])) - found[3:6]
        assert -1e-6 * max(box["halfExtents"]) * 3 < outside.max() <= 0


def test_cpp_reads_contacts(cpp_program, animated, tmp_path):
    path = tmp_path / "contacts.json"
    path.write_text(json.dumps(animated.documents["obb"]), "utf-8")
    printed = printed_values([cpp_program, path, "blender"])
    contacts = animated.documents["obb"]["contacts"]
    assert sum(kind == "contact" for kind, _ in printed) == len(contacts) >= 3
    for contact in contacts:
        first = contact["first"]
        assert numbers(printed["contact", f"{contact['a']}|{contact['b']}"]).tolist() == [
            *(first[key] for key in ("frame", "seconds", "uncertainty")),
            *(first["point"][0], first["normal"][2], first["atStart"], first["tunnelling"]),
        ]


def test_cpp_reads_all_intervals_of_contacts(cpp_program, tmp_path):
    """A pair that touches three times, the last time after a jump, which has no velocity; an old document."""
    contact = samples.contact(0, 1, (2.25, 3.0), (5.5, 5.75), (8.0, 9.5))
    document = samples.document(contacts=(contact,))
    path = tmp_path / "contacts.json"
    path.write_text(json.dumps(document), "utf-8")
    printed = printed_values([cpp_program, path, "blender"])
    (entry,) = document["contacts"]
    pair = f"{entry['a']}|{entry['b']}"
    assert [time["velocity"] is None for time in entry["intervals"]] == [False, False, True]
    assert sum(kind == "interval" for kind, _ in printed) == 3
    for number, time in enumerate(entry["intervals"]):
        name, deepest = f"{pair}|{number}", time["deepest"]
        found = {kind: numbers(printed[kind, each]).tolist() for kind, each in printed if each == name}
        expected = {
            "interval": [time["start"], time["end"]],
            "interval start": [time["uncertainty"], *time["point"], *time["normal"]],
            "interval deepest": [deepest["frame"], deepest["depth"], *deepest["direction"]],
        }
        if time["velocity"] is not None:
            expected |= {"velocity": time["velocity"], "closing speed": [time["closingSpeed"]]}
        assert found == expected
    entry["intervals"] = [{key: time[key] for key in ("start", "end")} for time in entry["intervals"]]
    path.write_text(json.dumps(document), "utf-8")
    printed = printed_values([cpp_program, path, "blender"])
    assert {kind for kind, name in printed if name.startswith(pair + "|")} == {"interval"}


def test_cpp_tracks_enclose_every_vertex_at_each_frame(cpp_program, tracked):
    printed = printed_values([cpp_program, tracked.folder / "blender.json", "blender"])
    entries = tracked.entries()
    assert {id for kind, id in printed if kind == "track frame"} == set(entries)
    for id, (frame, points) in entries.items():
        assert numbers(printed["track frame", id]).tolist() == [frame]
        for kind in ("track", "track single"):
            box, sphere = (numbers(printed[f"{kind} {shape}", id]) for shape in ("aabb", "sphere"))
            assert are_single_precision(np.concatenate([box, sphere])) or kind == "track"
            assert_box_encloses_tightly(box[:3], box[3:], points, id)
            assert_sphere_encloses_tightly(sphere, points, id)


def test_cpp_rejects_invalid_files_with_message(cpp_program, difficult, tmp_path):
    for path, message in invalid_documents(difficult, "unity", tmp_path).items():
        problem = error_message([cpp_program, path, "unity"])
        assert problem.startswith(f"{path}: ") and message in problem
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000, "utf-8")
    assert "is not JSON" in error_message([cpp_program, path, "unity"])
    assert "cannot be opened" in error_message([cpp_program, tmp_path / "gone.json", "unity"])


def test_cpp_reads_escaped_text(cpp_program, difficult, tmp_path):
    good = difficult.document("unity.json")
    name = 'a"b\\c/d\b\f\n\r\té €🚗'
    path = tmp_path / "escaped.json"
    path.write_text(json.dumps({**good, "objects": [{**good["objects"][0], "name": name}]}), "utf-8")
    done = subprocess.run([cpp_program, path, "unity"], capture_output=True, check=True)
    assert f"\t{name}\n" in done.stdout.decode("utf-8")


def test_unity_volumes_enclose_every_vertex(unity_program, difficult):
    printed = printed_values([*unity_program, difficult.folder / "unity.json"])
    for entry in difficult.document("unity.json")["objects"]:
        points = convert_vertices("unity", difficult.vertices_of(entry))
        box, sphere, oriented, collider_sphere = (
            numbers(printed[kind, entry["id"]])
            for kind in ("Bounds", "BoundingSphere", "BoxCollider", "SphereCollider")
        )
        assert are_single_precision(np.concatenate([box, sphere, oriented])), entry["name"]
        outside = (np.abs(points - box[:3]) - box[3:]).max(axis=1)
        assert_encloses_tightly(outside, points, float(box[3:].max()), entry["name"], 5e-7)
        # As Unity computes min and max.
        center, extents = box[:3].astype(np.float32), box[3:].astype(np.float32)
        assert (points >= center - extents).all() and (points <= center + extents).all()
        assert collider_sphere.tolist() == sphere.tolist()
        outside = np.linalg.norm(points - sphere[:3], axis=1) - sphere[3]
        assert_encloses_tightly(outside, points, sphere[3], entry["name"], 5e-7)
        local = rotated_back(points - oriented[:3], oriented[3:7]) - oriented[7:10]
        outside = (np.abs(local) - oriented[10:] / 2).max(axis=1)
        assert_encloses_tightly(outside, points, float(oriented[10:].max()), entry["name"], 1e-6)


def test_unity_local_boxes_are_placed_by_translation_and_rotation(unity_program, difficult, tmp_path):
    document = difficult.document("unity.json")
    for entry in document["objects"]:
        del entry["world"]["obb"]
    path = tmp_path / "local.json"
    path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    printed = printed_values([*unity_program, path])
    for entry in document["objects"]:
        points = convert_vertices("unity", difficult.vertices_of(entry))
        oriented = numbers(printed["BoxCollider", entry["id"]])
        local = rotated_back(points - oriented[:3], oriented[3:7]) - oriented[7:10]
        outside = (np.abs(local) - oriented[10:] / 2).max(axis=1)
        size = float((np.abs(oriented[7:10]) + oriented[10:]).max())
        assert_encloses_tightly(outside, points, size, entry["name"], 2e-6)


def test_unity_tracks_enclose_every_vertex_at_each_frame(unity_program, tracked):
    printed = printed_values([*unity_program, tracked.folder / "unity.json"])
    entries = tracked.entries()
    assert {id for kind, id in printed if kind == "Frame"} == set(entries)
    for id, (frame, points) in entries.items():
        assert numbers(printed["Frame", id]).tolist() == [frame]
        points = convert_vertices("unity", points)
        box, sphere = numbers(printed["TrackBounds", id]), numbers(printed["TrackSphere", id])
        assert are_single_precision(np.concatenate([box, sphere]))
        assert_box_encloses_tightly(box[:3] - box[3:], box[:3] + box[3:], points, id)
        assert_sphere_encloses_tightly(sphere, points, id)


def test_unity_reads_tracks_with_escaped_names_and_without_boxes(unity_program, tracked, tmp_path):
    document = tracked.document("unity")
    id = 'a"b\\c/d\té €🚗'
    track, entry = {**document["tracks"][0], "object": id}, {**document["objects"][0], "id": id}
    del track["aabb"]
    entry["world"]["obb"] = {"center": [0, 0, 0], "halfExtents": [1, 1, 1], "rotation": [0, 0, 0, 1]}
    path = tmp_path / "escaped.json"
    # With escape sequences, and without.
    for ascii in (True, False):
        path.write_text(
            json.dumps({**document, "objects": [entry], "tracks": [track]}, ensure_ascii=ascii), "utf-8"
        )
        done = subprocess.run([*unity_program, path], capture_output=True, check=True)
        kinds = [line.split("\t")[0] for line in done.stdout.decode("utf-8").split("\n")]
        assert kinds[:5] == ["Bounds", "BoundingSphere", "Frame", "TrackSphere", "Frame"]
        assert 'a"b\\c/d\té €🚗|0\t' in done.stdout.decode("utf-8")
        assert b"TrackBounds" not in done.stdout


def test_unity_rejects_invalid_documents_with_message(unity_program, difficult, tmp_path):
    for path, message in invalid_documents(difficult, "unity", tmp_path).items():
        assert message.removeprefix("is ") in error_message([*unity_program, path])
    document = difficult.document("unity.json")
    for entry in document["objects"]:
        del entry["world"]["sphere"]
    path = tmp_path / "no sphere.json"
    path.write_text(json.dumps(document), "utf-8")
    done = subprocess.run([*unity_program, path], capture_output=True, text=True, check=False)
    assert done.returncode and "--shapes sphere" in done.stderr


@pytest.mark.long
def test_godot_loader_is_valid_gdscript():
    parser = pytest.importorskip("gdtoolkit.parser").parser
    tree = parser.parse((TOP / "docs" / "loaders" / "collision_bounds.gd").read_text("utf-8"))
    names = {str(node.children[0]) for node in tree.find_data("func_header")}
    assert {"read", "read_tracks", "to_aabb", "collision_shape", "static_body"} <= names, names
    assert {"collision_shapes", "body", "bodies", "add_to"} <= names, names
    # Godot rejects a script that calls a function of its own that it does not have.
    text = (TOP / "docs" / "loaders" / "collision_bounds.gd").read_text("utf-8")
    called = set(re.findall(r"(?<![\w.])(_[a-z]\w*)\(", text))
    assert called <= names and len(called) > 15, called - names
