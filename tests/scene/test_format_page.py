"""The examples of docs/format.md equal the documents of the scenes that the page describes."""

from __future__ import annotations

import copy
import json
import math
import re

import bpy
import numpy as np
import pytest

from addon.formats import document_problems, dumps
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings
from tests.finished import finished
from tests.paths import TOP
from tests.scene.building import CUBE, key_location
from tests.scene.independent.geometry import rotation_matrix

pytestmark = pytest.mark.usefixtures("empty_file")

PAGE = (TOP / "docs" / "format.md").read_text("utf-8")
DOCUMENT, CONTACT, SHAPES, TRACK = (
    json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
)


def write_document(result):
    """Return the document of a result in glTF space."""
    return json.loads(dumps(result.document("gltf")))


@pytest.fixture
def pair(add_mesh):
    """Return a scene with a dot that touches a wall."""
    key_location(add_mesh("Dot", CUBE * 0.5), {1: (-10, 0, 0), 11: (0, 0, 0)})
    add_mesh("Wall", CUBE * 0.5)
    bpy.context.scene.frame_end = 11
    return bpy.context.scene


def test_example_document_is_valid_and_equals_that_of_its_scene(add_mesh, tmp_path):
    assert list(document_problems(DOCUMENT)) == []
    cube = add_mesh("Cube", CUBE)
    cube.location, cube.scale = (10, 20, 30), (1, 2, 3)
    add_mesh("Fence", np.empty((0, 3)))
    scene = bpy.context.scene
    scene.frame_end = 60
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "level.blend"))
    found = write_document(compute_bounds(bpy.context.scene, BoundsSettings()))
    for document in (found, DOCUMENT):
        assert document["generator"].pop("blender").count(".") == 2
    assert found == DOCUMENT


def test_numbers_of_example_document_match_arithmetic():
    (entry,) = DOCUMENT["objects"]
    half, center = (1 * 1, 1 * 2, 1 * 3), (10, 20, 30)
    corners = [
        [p + s * h for p, s, h in zip(center, signs, half, strict=True)]
        for signs in ((x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1))
    ]
    rows = [DOCUMENT["space"]["fromBlender"][k : k + 3] for k in (0, 3, 6)]
    rotated = [[sum(a * b for a, b in zip(row, corner, strict=True)) for row in rows] for corner in corners]
    low, high = ([side(values) for values in zip(*rotated, strict=True)] for side in (min, max))
    assert entry["world"]["aabb"] == {"min": low, "max": high}
    assert entry["world"]["sphere"]["center"] == entry["transform"]["translation"] == [10, 30, -20]
    assert entry["world"]["sphere"]["radius"] == math.ceil(math.sqrt(1 + 4 + 9) * 1e6) / 1e6
    world_max = [t + p for t, p in zip([10, 30, -20], entry["local"]["aabb"]["max"], strict=True)]
    assert world_max == high


def test_example_contact_is_found_and_matches_arithmetic(pair):
    (found,) = write_document(finished(find_contacts(pair, ContactSettings(shape="aabb"))))["contacts"]
    assert found == CONTACT
    assert CONTACT["first"]["frame"] == 1 + (10 - (0.5 + 0.5)) / ((10 - 0) / (11 - 1))
    assert CONTACT["first"]["seconds"] == math.floor(10 / 24 * 1e6) / 1e6


TENT = np.array([(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)


def test_example_shapes_equal_those_of_their_scene(add_mesh):
    tent = add_mesh("Tent", TENT, [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    tent.location = (10, 20, 30)
    kinds = ("sphere", "aabb", "obb", "capsule", "hull", "spheres", "compound")
    fit = FitSettings(depth=1, part_shape="box")
    settings = BoundsSettings(shapes=kinds, fit=fit, envelope=True, frames=(1, 2, 1))
    (found,) = write_document(finished(bounds_in_parts(bpy.context.scene, settings)))["objects"]
    # Blenders list the same faces in different orders, and begin them with different vertices.
    expected = copy.deepcopy(SHAPES)
    for entry in (found, expected):
        hull = entry["local"]["hull"]
        turned = ([face[k:] + face[:k] for k in range(3)] for face in hull["faces"])
        hull["faces"] = sorted(min(each) for each in turned)
    assert {key: found[key] for key in expected} == expected


def test_example_shapes_match_arithmetic():
    """The corners are in each shape, and exact where a shape is known."""
    corners = np.stack([TENT[:, 0], TENT[:, 2], -TENT[:, 1]], axis=1)
    local = SHAPES["local"]
    vertices = np.array(local["hull"]["vertices"])
    assert vertices[np.lexsort(vertices.round(4).T)] == pytest.approx(
        corners[np.lexsort(corners.T)], abs=2e-5
    )
    # The smallest sphere is through three corners, of a triangle with sides of sqrt 5, sqrt 5 and sqrt 2.
    sphere = local["sphere"]
    assert sphere["radius"] == math.ceil(5 * math.sqrt(2) / 6 * 1e6) / 1e6
    assert np.linalg.norm(corners - sphere["center"], axis=1).max() <= sphere["radius"]
    capsule = local["capsule"]
    along = np.clip(
        (corners - capsule["center"]) @ capsule["axis"], -capsule["halfLength"], capsule["halfLength"]
    )
    nearest = np.array(capsule["center"]) + along[:, None] * np.array(capsule["axis"])
    assert np.linalg.norm(corners - nearest, axis=1).max() <= capsule["radius"]
    (part,) = local["compound"]
    for box in (local["obb"], part["obb"]):
        offsets = (corners - box["center"]) @ rotation_matrix(box["rotation"])
        assert (np.abs(offsets) <= np.array(box["halfExtents"]) + 1e-9).all()


def test_example_track_equals_that_of_its_scene(pair):
    settings = BoundsSettings(tracks=True, frames=(10, 11, 1))
    found = write_document(finished(bounds_in_parts(pair, settings)))["tracks"]
    assert found[0] == TRACK
    assert TRACK["sphere"]["radii"][0] == math.ceil(math.sqrt(0.75) * 1e6) / 1e6


def test_page_has_every_key_of_schema():
    from addon.formats import schema

    def keys(value):
        if isinstance(value, dict):
            yield from value.get("properties", {})
            for item in value.values():
                yield from keys(item)

    assert {key for key in keys(schema()) if not re.search(rf"(?<!\w){re.escape(key)}\b", PAGE)} == set()
