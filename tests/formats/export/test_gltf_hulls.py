"""Hulls in glTF files of colliders, by exact fractions, three.js, Babylon.js and Khronos's validator."""

from __future__ import annotations

import base64
import json
from fractions import Fraction

import numpy as np
import pytest

from addon.core import hull_from_points, obb_from_points, sphere_from_points
from addon.core.compound.convex_parts import Compound
from addon.core.numeric.arrays import rotation_matrix
from addon.formats import GltfError, ObjectBounds, dumps, gltf, space_for
from tests.core.exact import cross, dot, subtract, vector
from tests.engines.exact_hulls import Hull, assert_encloses, convex_mesh, matrix_columns, numbers, transform
from tests.formats import samples
from tests.node.node import errors_in, run_program

# Size of the point clouds, their center in local axes, and the position of their object.
SCENES = {
    "plain": (1.0, (0, 0, 0), (1, 2, 3)),
    "off_center": (1.0, (300, -20, 7), (0.1, 0.2, 0.3)),
    "tiny": (1e-4, (0, 0, 0), (0.3, 0.1, -2)),
    "huge": (1e5, (10, 0, 0), (1, 1, 1)),
    "tiny_and_far": (1e-2, (0.1, 0, 0), (1e5, -1e5, 3e4)),
    "flat": ((1.0, 2.0, 1e-3), (0, 0, 0), (0.1, 0, 0)),
}
PARTS = 3


def object_of_hulls(name: str, *, is_compound: bool = True, **changes: object) -> ObjectBounds:
    """Return an object with three hulls next to each other, or one."""
    size, middle, place = SCENES[name]
    random = np.random.default_rng(11)
    quaternion = np.round(random.normal(size=4), 9)
    quaternion = np.round(quaternion / np.linalg.norm(quaternion) * np.sign(quaternion[0]), 9)
    turn = rotation_matrix(quaternion)
    clouds = [
        random.normal(size=(60, 3)) * size + middle + np.multiply(4 * k * np.array([1, 0, 0]), size)
        for k in range(PARTS)
    ]
    local = tuple(hull_from_points(cloud) for cloud in clouds)
    world = tuple(hull_from_points(cloud @ turn.T + place, decimals=9) for cloud in clouds)
    shapes = ((Compound(each),) if is_compound else each[:1] for each in (local, world))
    about = name, name, "MESH", None, np.array(place, dtype=float), quaternion, np.ones(3)
    return ObjectBounds(*about, *shapes, **changes)


def document_of(*objects: ObjectBounds) -> dict:
    return json.loads(dumps(samples.document_of(objects, space_for("gltf"), 9)))


def exact_hulls(document: dict, extension: str, unit_length: bool) -> list[Hull]:
    """Hulls of a written file in the world, each with the vertices of the document's hull."""
    file = json.loads(dumps(gltf(document, [extension])))
    buffer = base64.b64decode(file["buffers"][0]["uri"].split(",")[1]) if "buffers" in file else b""
    found = []
    for root, entry in zip(file["nodes"], document["objects"], strict=False):
        columns = matrix_columns({"rotation": root.get("rotation", (0, 0, 0, 1))}, unit_length)
        parts = entry["world"].get("compound") or [entry["world"]]
        for index, part in zip(root["children"], parts, strict=True):
            child = file["nodes"][index]
            assert not {"rotation", "scale"} & child.keys()
            (primitive,) = file["meshes"][convex_mesh(file, child["extensions"], extension)]["primitives"]
            vertices = numbers(file, buffer, primitive["attributes"]["POSITION"]).astype(np.float64)
            shift = vector(child.get("translation", (0, 0, 0)))
            origin = vector(root.get("translation", (0, 0, 0)))
            corners = [added(origin, transform(columns, added(shift, vector(corner)))) for corner in vertices]
            faces = numbers(file, buffer, primitive["indices"]).reshape(-1, 3)
            found.append(Hull(entry["name"], np.array(part["hull"]["vertices"]), corners, faces))
    return found


def added(a, b):
    return tuple(x + y for x, y in zip(a, b, strict=True))


def volume(corners, faces) -> Fraction:
    """Volume of a closed surface, with exact fractions."""
    total = Fraction(0)
    for a, b, c in faces:
        u, v, w = (subtract(corners[index], corners[0]) for index in (a, b, c))
        total += dot(u, cross(v, w)) / 6
    return total


@pytest.mark.parametrize("unit_length", [True, False])
@pytest.mark.parametrize("extension", ["omi", "khr"])
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("is_compound", [True, False])
def test_hulls_enclose_those_of_the_document_exactly_and_tightly(scene, extension, unit_length, is_compound):
    document = document_of(object_of_hulls(scene, is_compound=is_compound))
    found = exact_hulls(document, extension, unit_length)
    assert len(found) == (PARTS if is_compound else 1)
    parts = document["objects"][0]["world"].get("compound") or [document["objects"][0]["world"]]
    for hull, part in zip(found, parts, strict=True):
        assert_encloses(hull)
        before = volume([vector(each) for each in part["hull"]["vertices"]], part["hull"]["faces"])
        ratio = float(volume(hull.corners, hull.faces.tolist()) / before)
        # Single precision of the node's rotation, as far as the hull is from the origin of its object.
        size, middle, _ = SCENES[scene]
        slack = 1e-4 + 1e-5 * np.linalg.norm(middle) / np.min(size) + 4e-6 / np.min(size)
        assert 1 <= ratio <= 1 + slack


def test_khr_has_hulls_as_geometry_and_omi_as_shapes():
    file = gltf(document_of(object_of_hulls("plain")))
    root, *children = file["nodes"]
    assert root["children"] == [1, 2, 3]
    assert [node["name"] for node in children] == ["plain collider", "plain collider 2", "plain collider 3"]
    for number, node in enumerate(children):
        geometry = node["extensions"]["KHR_physics_rigid_bodies"]["collider"]["geometry"]
        assert geometry == {"mesh": number, "convexHull": True}
    assert file["extensions"] == {
        "OMI_physics_shape": {
            "shapes": [{"type": "convex", "convex": {"mesh": number}} for number in range(PARTS)]
        }
    }
    assert file["extensionsUsed"] == ["KHR_physics_rigid_bodies", "OMI_physics_body", "OMI_physics_shape"]
    # No node draws a hull.
    assert not any("mesh" in node for node in file["nodes"])


def test_equal_hulls_are_written_once():
    one = object_of_hulls("plain")
    copies = [ObjectBounds(**{**vars(one), "id": str(n), "name": str(n)}) for n in range(4)]
    assert len(gltf(document_of(*copies))["meshes"]) == PARTS


def test_mixed_parts_and_custom_sphere():
    points = np.random.default_rng(2).normal(size=(30, 3))
    parts = Compound((hull_from_points(points), obb_from_points(points), sphere_from_points(points)))
    ball = sphere_from_points(points)
    about = "a", "a", "MESH", None, np.zeros(3), np.array([1.0, 0, 0, 0]), np.ones(3)
    mixed = ObjectBounds(*about, (ball, parts), (ball, parts))
    for entry, kinds in (
        (mixed, ["convex", "box", "sphere"]),
        (ObjectBounds(**{**vars(mixed), "override": "sphere"}), ["sphere"]),
    ):
        file = gltf(document_of(entry), ["omi"])
        assert [shape["type"] for shape in file["extensions"]["OMI_physics_shape"]["shapes"]] == kinds


def test_hulls_are_no_bounding_volumes():
    file = gltf(document_of(object_of_hulls("plain")), ["volumes", "omi"])
    assert "boundingVolume" not in file["nodes"][0] and "shapes" not in file
    assert len(file["nodes"][0]["children"]) == PARTS


def test_hull_beyond_single_precision_is_named():
    document = document_of(object_of_hulls("plain"))
    for part in document["objects"][0]["world"]["compound"]:
        for vertex in part["hull"]["vertices"]:
            vertex[0] += 1e39
    with pytest.raises(GltfError, match=r"object 'plain': is too large, or too far from the origin"):
        gltf(document)


@pytest.mark.parametrize("extensions", [("omi",), ("khr",), ("omi", "khr"), ("omi", "khr", "volumes")])
def test_khronos_validator_finds_no_error(tmp_path, extensions):
    path = tmp_path / "hulls.gltf"
    document = document_of(*(object_of_hulls(scene) for scene in SCENES))
    path.write_text(dumps(gltf(document, extensions)), "utf-8")
    assert errors_in(path) == []
    # A position beyond the limits of its accessor.
    file = json.loads(path.read_text("utf-8"))
    file["accessors"][0]["max"][0] += 1
    path.write_text(dumps(file), "utf-8")
    assert errors_in(path) != []


@pytest.mark.parametrize("program", ["read_gltf.mjs", "read_gltf_babylon.mjs"])
def test_engines_read_hulls_that_enclose_those_of_the_document(tmp_path, program):
    # Babylon.js computes in single precision, with a mirrored X axis.
    axes = [-1, 1, 1] if program == "read_gltf_babylon.mjs" else [1, 1, 1]
    scenes = ["plain", "tiny", "flat"]
    document = document_of(*(object_of_hulls(scene) for scene in scenes))
    path = tmp_path / "hulls.gltf"
    path.write_text(dumps(gltf(document)), "utf-8")
    read = run_program(program, path)["colliders"]
    assert len(read) == 2 * PARTS * len(scenes)
    for entry in document["objects"]:
        size = np.max(SCENES[entry["name"]][0])
        for body in ("OMI_physics_body", "KHR_physics_rigid_bodies"):
            matching = [each for each in read if each["parent"] == entry["name"] and each["body"] == body]
            for collider, part in zip(matching, entry["world"]["compound"], strict=True):
                assert collider["shape"]["type"] == "convex"
                vertices = np.array(collider["shape"]["vertices"]) * axes
                a, b, c = vertices[np.array(collider["shape"]["faces"]).reshape(-1, 3)].transpose(1, 0, 2)
                normals = np.cross(b - a, c - a)
                normals /= np.linalg.norm(normals, axis=1, keepdims=True)
                points = np.array(part["hull"]["vertices"])
                heights = ((points[:, None] - a) * normals).sum(axis=-1)
                # Single precision of Babylon.js, at coordinates of up to ten; flipped faces are far above it.
                slack = 0.0 if program == "read_gltf.mjs" else 5e-6
                assert heights.max() <= slack
                assert heights.max(axis=0).min() >= -0.05 * size - slack
