"""Functions of the loader, called in Godot itself: messages, shapes, bodies and their places in scenes."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.engines import broken_documents
from tests.engines.broken_documents import document_for
from tests.engines.checks import convert_vertices
from tests.engines.godot.conftest import LOADER
from tests.engines.godot.program import new_project, run_godot
from tests.engines.godot.test_enclosure import excess as excess_over
from tests.engines.native.samples_of_shapes import random_parts, sampled

pytestmark = pytest.mark.long

UNREAD = ("space.metersPerUnit", "time", "objects.1.type", "contacts", "clearances")
IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


class Outcome(NamedTuple):
    """Result of a function of the loader, and its errors and warnings."""

    result: Any
    errors: list[str]
    warnings: list[str]


Tasks = list[dict[str, Any]]


@pytest.fixture
def outcomes(godot: str, tmp_path: Path) -> Callable[[Tasks], list[Outcome]]:
    """Return a function that runs tasks in Godot: each has a function and a document, or none."""
    project = new_project(tmp_path)
    for source in (LOADER, Path(__file__).with_name("loader.gd")):
        shutil.copyfile(source, project / source.name)

    def run(tasks: Tasks) -> list[Outcome]:
        for number, task in enumerate(tasks):
            if "document" in task:
                (project / f"{number}.json").write_text(broken_documents.text_of(task["document"]), "utf-8")
            task["document"] = f"res://{number}.json"
        (project / "tasks.json").write_text(json.dumps(tasks), "utf-8")
        _, *printed = run_godot(godot, project, "--script", "loader.gd").split("task\n")
        results = json.loads((project / "results.json").read_text("utf-8"))
        return [
            Outcome(
                result, re.findall("^ERROR: (.*)", lines, re.M), re.findall("^WARNING: (.*)", lines, re.M)
            )
            for result, lines in zip(results, printed, strict=True)
        ]

    return run


def document_of(objects: list[dict[str, Any]]) -> dict[str, Any]:
    document = document_for("gltf")
    plain = {**document["objects"][0], "parent": None}
    entries = [{**plain, "id": entry["name"], **entry} for entry in objects]
    return {**document, "objects": entries, "tracks": [], "contacts": [], "clearances": []}


def excess(node: dict[str, Any], points: np.ndarray) -> np.ndarray:
    """Distances (n,) by which points are outside of a collision shape, in the space of its body."""
    if node["kind"] != "ConvexPolygonShape3D":
        return excess_over(node, points)
    corners = np.array(node["points"]) + node["columns"][3]
    return np.array([np.linalg.norm(corners - point, axis=1).min() for point in points])


def assert_is(node: dict[str, Any], part: dict[str, Any], points: np.ndarray) -> None:
    """Compare a shape with a part of the document, whose surface has these points."""
    ((kind, _),) = part.items()
    expected = {"obb": "Box", "sphere": "Sphere", "capsule": "Capsule", "hull": "ConvexPolygon"}[kind]
    assert node["kind"] == f"{expected}Shape3D"
    found, size = excess(node, points), np.abs(points).max()
    if kind == "hull":
        assert found.max() <= 2e-7 * size
    else:
        assert -6e-6 * size <= found.max() <= 1e-9 * size, kind


def test_message_names_the_broken_key(outcomes):
    cases = [*broken_documents.cases("gltf", *UNREAD)]
    assert len(cases) > 400
    found = outcomes([{"function": "read_tracks", "document": case.document} for case in cases])
    for case, outcome in zip(cases, found, strict=True):
        assert outcome.result == {} and len(outcome.errors) == 1, case.name
    assert broken_documents.unclear_messages(cases, [outcome.errors[0] for outcome in found]) == {}


def test_later_versions_and_other_files(outcomes, tmp_path):
    later = [{"function": "read", "document": each} for each in broken_documents.other_versions("gltf")]
    wrong = {
        "is not a Collision Bounds document": {"format": "gltf"},
        "has version 2.0.0": {"version": "2.0.0"},
        "--preset gltf": {"space": {"preset": "unity"}},
        "cannot be opened": None,
        "is not JSON": None,
    }
    tasks = [
        {"function": "read", **({"document": {**document_for("gltf"), **change}} if change else {})}
        for change in wrong.values()
    ]
    (tmp_path / "project" / f"{len(later) + len(tasks) - 1}.json").write_text("{", "utf-8")
    found = outcomes([*later, *tasks])
    for outcome in found[: len(later)]:
        assert outcome.result and not outcome.errors
    for outcome, message in zip(found[len(later) :], wrong, strict=True):
        (error,) = outcome.errors
        assert outcome.result == [] and message in error


def test_shapes_enclose_every_vertex_in_single_precision(outcomes, difficult):
    document = difficult.document("gltf.json")
    without_obb = copy.deepcopy(document)
    for entry in without_obb["objects"]:
        del entry["world"]["obb"]
    tasks = [
        {"function": "static_body", "shape": shape, "document": each}
        for shape in ("box", "sphere")
        for each in (document, without_obb)
    ]
    for outcome in outcomes(tasks):
        for node, entry in zip(outcome.result["children"], document["objects"], strict=True):
            points = convert_vertices("gltf", difficult.vertices_of(entry))
            size = np.abs(points).max() + np.abs(entry["transform"]["translation"]).max()
            assert -1e-5 * size <= excess(node, points).max() <= 0, entry["name"]


RESPONSES = {
    "solid": {"response": "solid", "group": 1, "mask": 65535, "material": "Ice"},
    "trigger": {"response": "trigger", "group": 3, "mask": 5, "material": "Ice"},
    "other": {"response": "solid", "group": 16, "mask": 0, "material": "Steel"},
    "none": {"response": "none", "group": 1, "mask": 1, "material": None},
    "plain": None,
}


def test_bodies_have_the_parts_and_the_response_of_their_objects(outcomes):
    random = np.random.default_rng(5)
    parts = {name: random_parts(random, 12) for name in RESPONSES}
    objects = [
        {"name": name, "world": {"compound": parts[name]}, **({"collision": each} if each else {})}
        for name, each in RESPONSES.items()
    ]
    (outcome,) = outcomes([{"function": "bodies", "document": document_of(objects)}])
    bodies = outcome.result["children"]
    assert {body["name"]: (body["kind"], body["layers"], body.get("material")) for body in bodies} == {
        "solid": ("StaticBody3D", [1, 65535], "ice"),
        "trigger": ("Area3D", [4, 5], None),
        "other": ("StaticBody3D", [2**15, 0], None),
        "plain": ("StaticBody3D", [1, 65535], None),
    }
    for body in bodies:
        assert len(body["children"]) == 12 == len({child["name"] for child in body["children"]})
        for node, part in zip(body["children"], parts[body["name"]], strict=True):
            assert_is(node, part, sampled(part))


def test_shape_of_an_object_is_the_closest_one_of_the_document(outcomes):
    """Shapes are removed one after the other, in the order of `collision_shapes`."""
    world = document_for("gltf")["objects"][1]["world"]
    local = {"aabb": {"min": [-1, -2, -3], "max": [1, 2, 3]}}
    kinds = {
        "compound": ["ConvexPolygon", "Box", "Sphere", "Capsule"],
        "hull": ["ConvexPolygon"],
        "spheres": ["Sphere", "Sphere"],
        "capsule": ["Capsule"],
        "cylinder": ["Cylinder"],
        "obb": ["Box"],
    }
    objects, expected = [], {}
    for kind, shapes in kinds.items():
        objects.append({"name": kind, "world": dict(world), "local": local})
        expected[kind] = shapes
        world = {key: shape for key, shape in world.items() if key != kind}
    objects.append({"name": "aabb", "world": dict(world), "local": local})
    objects.append({"name": "custom", "override": "sphere", "world": objects[0]["world"], "local": local})
    objects.append({"name": "alone", "world": {"sphere": world["sphere"]}, "local": {}})
    expected |= {"aabb": ["Box"], "custom": ["Sphere"], "alone": ["Sphere"]}
    (outcome,) = outcomes([{"function": "bodies", "document": document_of(objects)}])
    assert {
        body["name"]: [child["kind"].removesuffix("Shape3D") for child in body["children"]]
        for body in outcome.result["children"]
    } == expected


def test_bodies_are_added_to_the_nodes_of_a_scene_and_compensate_their_scale(outcomes):
    random = np.random.default_rng(8)
    plain = document_for("gltf")["objects"][0]["transform"]
    names = ("Crate.001", "a:b/shape.0", "a:b/shape.1", "Absent", "Hero/bone.Arm", "Flat")
    parts = {name: random_parts(random, 4) for name in names}
    # Their product is less than what Godot takes for zero.
    scale = [2**-10, 2**-8, -(2**-10)]
    objects = [
        {
            "name": name,
            "local": {"compound": parts[name]},
            "transform": {**plain, "scale": [1, 0, 1] if name == "Flat" else scale},
            **({"bone": "Arm"} if "bone" in name else {}),
        }
        for name in names
    ]
    crate = {"name": "Crate_001", "children": [{"name": "a_b"}]}
    scene = {"name": "Level", "children": [crate, {"name": "Hero"}, {"name": "Flat"}]}
    (outcome,) = outcomes([{"function": "add_to", "document": document_of(objects), "scene": scene}])
    crate, hero, flat = outcome.result["children"]
    other, body = crate["children"]
    added = [body, *other["children"]]
    assert [body["name"] for body in added] == ["Crate_001", "a_b_shape_0", "a_b_shape_1"]
    assert hero["children"] == flat["children"] == []
    for warning, name in zip(outcome.warnings, ("Absent", "Hero", "Flat"), strict=True):
        assert name in warning
    for body, name in zip(added, names[:3], strict=True):
        assert np.diag(body["columns"][:3]).tolist() == [2**10, 2**8, -(2**10)]
        for node, part in zip(body["children"], parts[name], strict=True):
            assert node["owner"] == "Level"
            assert_is(node, part, sampled(part))


def rotation(turn: Any) -> np.ndarray:
    """Return the matrix of a quaternion, by its products with the axes."""
    *vector, w = turn / np.linalg.norm(turn)
    return np.transpose(
        [
            axis + 2 * (w * np.cross(vector, axis) + np.cross(vector, np.cross(vector, axis)))
            for axis in np.eye(3)
        ]
    )


def test_body_below_a_sheared_node_is_where_the_document_has_it(outcomes):
    """A turned child of a non-uniformly scaled node. Any rotation has the axes of its local shapes."""
    random = np.random.default_rng(9)
    linear, origin, bases = np.eye(3), np.zeros(3), []
    for turn, scale in (([0.1, 0.5, -0.2, 0.8], [1, 4, 0.5]), ([-0.3, 0.2, 0.6, 0.7], [2, 1, -1])):
        basis = rotation(turn) * scale
        linear, origin = linear @ basis, linear @ [1, 2, 3] + origin
        bases.append(basis.T.tolist())
    below = {"name": "Lid", "basis": bases[1]}
    between = {"name": "Empty", "kind": "Node", "children": [below]}
    scene = {"name": "Level", "children": [{"name": "Above", "basis": bases[0], "children": [between]}]}
    turn = random.normal(size=4)
    turn /= np.linalg.norm(turn)
    parts = random_parts(random, 8)
    transform = {"translation": origin.tolist(), "rotation": turn.tolist(), "scale": [2, 3, -2]}
    entry = {"name": "Lid", "local": {"compound": parts}, "transform": transform}
    (outcome,) = outcomes([{"function": "add_to", "document": document_of([entry]), "scene": scene}])
    (body,) = outcome.result["children"][0]["children"][0]["children"][0]["children"]
    # The linear part of the body in the scene is the rotation of the document.
    assert linear @ np.transpose(body["columns"][:3]) == pytest.approx(rotation(turn), abs=1e-6)
    assert body["columns"][3] == [0, 0, 0]
    for node, part in zip(body["children"], parts, strict=True):
        assert_is(node, part, sampled(part))


def test_bodies_of_bones_are_attached_to_the_joints_of_their_meshes(outcomes):
    """Two characters have a bone of one name. Bones without a joint are reported."""
    random = np.random.default_rng(9)
    plain = document_for("gltf")["objects"][0]["transform"]
    bones = {
        "Hero/bone.Arm/L": "Arm/L",
        "Other/bone.Arm/L": "Arm/L",
        "Hero/bone.Leg": "Leg",
        "Hero/no bone": "",
        "Rock/bone.Arm/L": "Arm/L",
        "Box/bone.Arm/L": "Arm/L",
    }
    parts = {name: random_parts(random, 3) for name in bones}
    objects = [
        {
            "name": name,
            "bone": bone,
            "local": {"compound": parts[name]},
            "transform": {**plain, "scale": [2, 2, 2]},
        }
        for name, bone in bones.items()
    ]
    # The importer of Godot replaces / in names of bones.
    nodes = [{"name": f"Rig{k}", "kind": "Skeleton3D", "bones": ["Root", "Arm_L"]} for k in (1, 2)]
    for name, path in (("Hero", "../Rig1"), ("Other", "../Rig2"), ("Box", "")):
        nodes.append({"name": name, "kind": "MeshInstance3D", "skeleton": path})
    scene = {"name": "Level", "children": [*nodes, {"name": "Rock"}]}
    (outcome,) = outcomes([{"function": "add_to", "document": document_of(objects), "scene": scene}])
    *skeletons, hero, other, box, rock = outcome.result["children"]
    assert not any(node["children"] for node in (hero, other, box, rock))
    for skeleton, name in zip(skeletons, [*bones][:2], strict=True):
        (attachment,) = skeleton["children"]
        assert attachment["kind"] == "BoneAttachment3D" and attachment["bone"] == "Arm_L"
        assert attachment["owner"] == "Level"
        (body,) = attachment["children"]
        assert np.diag(body["columns"][:3]).tolist() == [0.5, 0.5, 0.5]
        for node, part in zip(body["children"], parts[name], strict=True):
            assert node["owner"] == "Level"
            assert_is(node, part, sampled(part))
    for warning, name in zip(outcome.warnings, [*bones][2:], strict=True):
        assert name in warning


def test_tracks_have_one_box_and_one_sphere_per_frame(outcomes):
    document = document_for("gltf")
    (outcome,) = outcomes([{"function": "read_tracks", "document": copy.deepcopy(document)}])
    for entry in document["tracks"]:
        track = outcome.result[entry["object"]]
        assert track["frames"] == entry["frames"]
        for k, box in enumerate(track.get("boxes", ())):
            low, high = np.array(box["position"]), np.add(box["position"], box["size"])
            assert (low <= entry["aabb"]["mins"][k]).all() and (high >= entry["aabb"]["maxs"][k]).all()
        assert len(track.get("radii", ())) == len(entry.get("sphere", {}).get("radii", ()))
    assert any("boxes" in track for track in outcome.result.values())
