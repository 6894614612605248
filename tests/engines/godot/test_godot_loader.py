"""Loader for Godot, translated to Python and run with substitutes for Godot's classes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.engines import broken_documents
from tests.engines.broken_documents import document_for
from tests.engines.checks import convert_vertices
from tests.engines.godot import classes
from tests.engines.godot.gdscript import load_script
from tests.engines.native.samples_of_shapes import random_parts, sampled

UNREAD = ("space.metersPerUnit", "time", "objects.1.type", "contacts", "clearances")


@pytest.fixture(scope="module")
def loader():
    return load_script()


def written(document: dict[str, Any], folder: Path) -> str:
    path = folder / "level.json"
    path.write_text(broken_documents.text_of(document), "utf-8")
    return str(path)


def document_of(objects: list[dict[str, Any]]) -> dict[str, Any]:
    document = document_for("gltf")
    plain = {**document["objects"][0], "parent": None}
    entries = [{**plain, "id": entry["name"], **entry} for entry in objects]
    return {**document, "objects": entries, "tracks": [], "contacts": [], "clearances": []}


def excess(node: Any, points: np.ndarray) -> np.ndarray:
    """Distances (n,) by which points are outside of a collision shape, in the space of its body."""
    placed, shape = node.transform, node.shape
    local = (points - placed.origin.numbers.astype(np.float64)) @ placed.basis.matrix.astype(np.float64)
    if isinstance(shape, classes.BoxShape3D):
        return (np.abs(local) - shape.size.numbers.astype(np.float64) / 2).max(axis=1)
    if isinstance(shape, classes.SphereShape3D):
        return np.linalg.norm(local, axis=1) - shape.radius
    if isinstance(shape, classes.ConvexPolygonShape3D):
        corners = np.array([point.numbers for point in shape.points], dtype=np.float64)
        return np.array([np.linalg.norm(corners - point, axis=1).min() for point in local])
    # Along Y. The height of a capsule includes its ends.
    half = shape.height / 2 - (shape.radius if isinstance(shape, classes.CapsuleShape3D) else 0)
    beyond = local[:, 1] - np.clip(local[:, 1], -half, half)
    if isinstance(shape, classes.CapsuleShape3D):
        return np.linalg.norm(np.stack([local[:, 0], beyond, local[:, 2]], axis=1), axis=1) - shape.radius
    return np.maximum(np.linalg.norm(local[:, [0, 2]], axis=1) - shape.radius, np.abs(beyond))


def assert_is(node: Any, part: dict[str, Any], points: np.ndarray) -> None:
    """Compare a shape with a part of the document, whose surface has these points."""
    ((kind, _),) = part.items()
    expected = {"obb": "Box", "sphere": "Sphere", "capsule": "Capsule", "hull": "ConvexPolygon"}[kind]
    assert type(node.shape).__name__ == f"{expected}Shape3D"
    found, size = excess(node, points), np.abs(points).max()
    if kind == "hull":
        assert found.max() <= 2e-7 * size
    else:
        assert -6e-6 * size <= found.max() <= 1e-9 * size, kind


def test_message_names_the_broken_key(loader, tmp_path):
    cases = [*broken_documents.cases("gltf", *UNREAD)]
    assert len(cases) > 400
    messages = []
    for case in cases:
        loader.errors.clear()
        assert loader.read_tracks(written(case.document, tmp_path)) == {}
        messages.append(loader.errors[0] if loader.errors else None)
        assert len(loader.errors) == 1, case.name
    assert broken_documents.unclear_messages(cases, messages) == {}


def test_later_versions_and_other_files(loader, tmp_path):
    loader.errors.clear()
    for document in broken_documents.other_versions("gltf"):
        assert loader.read(written(document, tmp_path)) and not loader.errors
    for change, message in (
        ({"format": "gltf"}, "is not a Collision Bounds document"),
        ({"version": "2.0.0"}, "has version 2.0.0"),
        ({"space": {"preset": "unity"}}, "--preset gltf"),
    ):
        assert loader.read(written({**document_for("gltf"), **change}, tmp_path)) == {}
        assert message in loader.errors.pop()
    (tmp_path / "level.json").write_text("{", "utf-8")
    for path, message in ((tmp_path / "level.json", "is not JSON"), (tmp_path / "none", "cannot be opened")):
        assert loader.read(str(path)) == {} and message in loader.errors.pop()


@pytest.mark.parametrize("oriented", [True, False])
@pytest.mark.parametrize("shape", ["box", "sphere"])
def test_shapes_enclose_every_vertex_in_single_precision(loader, difficult, tmp_path, shape, oriented):
    document = copy.deepcopy(difficult.document("gltf.json"))
    for entry in document["objects"]:
        if not oriented:
            del entry["world"]["obb"]
    body = loader.static_body(loader.read(written(document, tmp_path)), shape)
    assert len(body.children) == len(document["objects"])
    for node, entry in zip(body.children, document["objects"], strict=True):
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


def test_bodies_have_the_parts_and_the_response_of_their_objects(loader, tmp_path):
    random = np.random.default_rng(5)
    parts = {name: random_parts(random, 12) for name in RESPONSES}
    objects = [
        {"name": name, "world": {"compound": parts[name]}, **({"collision": each} if each else {})}
        for name, each in RESPONSES.items()
    ]
    ice = object()
    bodies = loader.bodies(
        loader.read(written(document_of(objects), tmp_path)), classes.Dictionary(Ice=ice)
    ).children
    assert [body.name for body in bodies] == ["solid", "trigger", "other", "plain"]
    found = {body.name: body for body in bodies}
    assert [type(body).__name__ for body in bodies] == [
        "StaticBody3D",
        "Area3D",
        "StaticBody3D",
        "StaticBody3D",
    ]
    layers = {body.name: (body.collision_layer, body.collision_mask) for body in bodies}
    expected = {"solid": (1, 65535), "trigger": (4, 5), "other": (2**15, 0), "plain": (1, 65535)}
    assert layers == expected
    assert found["solid"].physics_material_override is ice
    assert found["other"].physics_material_override is None
    for body in bodies:
        assert len(body.children) == 12 == len({child.name for child in body.children})
        for node, part in zip(body.children, parts[body.name], strict=True):
            assert_is(node, part, sampled(part))


def test_shape_of_an_object_is_the_closest_one_of_the_document(loader, tmp_path):
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
    found = loader.bodies(loader.read(written(document_of(objects), tmp_path)))
    assert {
        body.name: [type(child.shape).__name__.removesuffix("Shape3D") for child in body.children]
        for body in found.children
    } == expected


def test_bodies_are_added_to_the_nodes_of_a_scene_and_compensate_their_scale(loader, tmp_path):
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
    root, crate, other, hero, flat = (classes.Node3D() for _ in range(5))
    nodes = {"Level": root, "Crate_001": crate, "a_b": other, "Hero": hero, "Flat": flat}
    for name, node in nodes.items():
        node.name = classes.String(name)
    for child, parent in ((crate, root), (other, crate), (hero, root), (flat, root)):
        parent.add_child(child)
    loader.warnings.clear()
    added = loader.add_to(root, loader.read(written(document_of(objects), tmp_path)))
    assert [body.name for body in added] == ["Crate_001", "a_b_shape_0", "a_b_shape_1"]
    assert added[0] in crate.children and added[1:] == other.children
    assert hero.children == flat.children == []
    for warning, name in zip(loader.warnings, ("Absent", "Hero", "Flat"), strict=True):
        assert name in warning
    for body, name in zip(added, names[:3], strict=True):
        assert np.diag(body.transform.basis.matrix).tolist() == [2**10, 2**8, -(2**10)]
        for node, part in zip(body.children, parts[name], strict=True):
            assert node.owner is root
            assert_is(node, part, sampled(part))


def test_body_below_a_sheared_node_is_where_the_document_has_it(loader, tmp_path):
    """A turned child of a non-uniformly scaled node. Any rotation has the axes of its local shapes."""
    random = np.random.default_rng(9)
    root, above, between, below = classes.Node3D(), classes.Node3D(), classes.Node(), classes.Node3D()
    placed = (np.eye(3), np.zeros(3))
    for node, turn, scale in (
        (above, [0.1, 0.5, -0.2, 0.8], [1, 4, 0.5]),
        (below, [-0.3, 0.2, 0.6, 0.7], [2, 1, -1]),
    ):
        rotation = classes.Basis(classes.Quaternion(*turn).normalized())
        node.transform = classes.Transform3D(
            rotation * classes.Basis.from_scale(classes.Vector3(*scale)), classes.Vector3(1, 2, 3)
        )
        matrix, origin = node.transform.basis.matrix, node.transform.origin.numbers
        placed = placed[0] @ matrix, placed[0] @ origin + placed[1]
    for parent, child, name in ((root, above, "Above"), (above, between, "Empty"), (between, below, "Lid")):
        child.name = classes.String(name)
        parent.add_child(child)
    turn = random.normal(size=4)
    turn /= np.linalg.norm(turn)
    axes = classes.Basis(classes.Quaternion(*turn)).matrix.astype(np.float64)
    parts = random_parts(random, 8)
    transform = {"translation": placed[1].tolist(), "rotation": turn.tolist(), "scale": [2, 3, -2]}
    entry = {"name": "Lid", "local": {"compound": parts}, "transform": transform}
    (body,) = loader.add_to(root, loader.read(written(document_of([entry]), tmp_path)))
    assert body.parent is below
    # The linear part of the body in the scene is the rotation of the document.
    assert placed[0] @ body.transform.basis.matrix == pytest.approx(axes, abs=1e-6)
    assert body.transform.origin.numbers.tolist() == [0, 0, 0]
    for node, part in zip(body.children, parts, strict=True):
        assert_is(node, part, sampled(part))


def test_bodies_of_bones_are_attached_to_the_joints_of_their_meshes(loader, tmp_path):
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
    skeletons = [classes.Skeleton3D(["Root", "Arm_L"]) for _ in range(2)]
    root, rock = classes.Node3D(), classes.Node3D()
    meshes = [classes.MeshInstance3D(skeleton) for skeleton in (*skeletons, None)]
    for name, node in zip(("Level", "Hero", "Other", "Box", "Rock"), (root, *meshes, rock), strict=True):
        node.name = classes.String(name)
    for child in (*skeletons, *meshes, rock):
        root.add_child(child)
    loader.warnings.clear()
    added = loader.add_to(root, loader.read(written(document_of(objects), tmp_path)))
    assert len(added) == 2
    for body, skeleton, name in zip(added, skeletons, [*bones][:2], strict=True):
        (attachment,) = skeleton.children
        assert isinstance(attachment, classes.BoneAttachment3D) and attachment.bone_name == "Arm_L"
        assert attachment.children == [body] and attachment.owner is root
        assert np.diag(body.transform.basis.matrix).tolist() == [0.5, 0.5, 0.5]
        for node, part in zip(body.children, parts[name], strict=True):
            assert node.owner is root
            assert_is(node, part, sampled(part))
    for warning, name in zip(loader.warnings, [*bones][2:], strict=True):
        assert name in warning


def test_tracks_have_one_box_and_one_sphere_per_frame(loader, tmp_path):
    document = document_for("gltf")
    tracks = loader.read_tracks(written(document, tmp_path))
    for entry in document["tracks"]:
        track = tracks[entry["object"]]
        assert track["frames"] == entry["frames"]
        for k, box in enumerate(track.get("boxes", ())):
            low = box.position.numbers.astype(np.float64)
            high = low + box.size.numbers.astype(np.float64)
            assert (low <= entry["aabb"]["mins"][k]).all() and (high >= entry["aabb"]["maxs"][k]).all()
        assert len(track.get("radii", ())) == len(entry.get("sphere", {}).get("radii", ()))
    assert any("boxes" in track for track in tracks.values())


def test_translation_keeps_the_meaning_of_the_script():
    """Cases in which GDScript and Python differ."""
    script = load_script(
        """static func several(value: Variant, parts := [1, 2]) -> Array:
	var found: Array[int] = []
	for k: int in parts.size():
		found.append(k)
	if not value is String and value != null:
		found.append(7)
	match str(value):
		"x":
			found.append(8)
		_:
			found.append(9)
	return found


static func text(a: float) -> String:
	return "%s and %d" % ["x", a]
"""
    )
    assert script.several(classes.String("x")) == [0, 1, 8] and script.several(classes.String("y")) == [
        0,
        1,
        9,
    ]
    assert script.several(3.0) == [0, 1, 7, 9] and script.several(None, classes.Array()) == [9]
    assert script.text(3.0) == "x and 3"
