"""Envelopes in the frames of objects enclose every evaluated vertex, in the axes of each frame."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from addon.formats import document_problems, dumps, gltf, parse_document, read_document
from addon.scene.blender.frames import playhead
from addon.scene.jobs.bounds import bounds_in_parts
from addon.scene.settings import BoundsSettings, Selection
from tests.engines.gltf_reader import matrix, reach
from tests.finished import finished
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.building import CUBE
from tests.scene.sampling import add_object, add_points, go_to, key

pytestmark = pytest.mark.usefixtures("object_settings")

FIRST, LAST, PARTS = 1, 13, 16
GLTF_FROM_BLENDER = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
ROUNDING = 3e-6
"""Rounding error of vertices and matrices in single precision."""


def played_document(preset: str, decimals: int, split_by_bones: bool = False, **settings: object) -> dict:
    go_to(FIRST)
    all_settings = {"envelope": True, "frames": (FIRST, LAST, 1), **settings}
    selection = Selection(split_by_bones=split_by_bones)
    result = finished(bounds_in_parts(bpy.context.scene, BoundsSettings(selection, **all_settings)))
    return parse_document(dumps(result.document(preset, decimals)))


def play(split_by_bones: bool = False, **settings: object) -> dict:
    document = played_document("blender", 6, split_by_bones, **settings)
    assert list(document_problems(document)) == []
    return {entry["name"]: entry for entry in document["objects"]}


def local_vertices(name: str) -> np.ndarray:
    """Vertices at all times, moved back by the rotation and the place of the object at each time."""
    found = []
    for time in np.linspace(FIRST, LAST, (LAST - FIRST) * PARTS + 1):
        go_to(time)
        item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
        place, turn, _ = item.matrix_world.decompose()
        back = (Matrix.Translation(place) @ turn.to_matrix().to_4x4()).inverted()
        found.append([back @ item.matrix_world @ vertex.co for vertex in item.data.vertices])
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def assert_tight(envelope: dict, points: np.ndarray, share: float = 0.01) -> None:
    """Assert that box and sphere hold all points, the box with at most a share of its size to spare."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = float((high - low).max())
    box, sphere = envelope["aabb"], envelope["sphere"]
    assert (box["min"] <= low + ROUNDING * (1 + size)).all()
    assert (box["max"] >= high - ROUNDING * (1 + size)).all()
    assert (low - box["min"]).max() <= share * size and (box["max"] - high).max() <= share * size
    distances = np.linalg.norm(points - sphere["center"], axis=1)
    assert -0.15 * size < distances.max() - sphere["radius"] <= ROUNDING * (1 + size)


def add_turning() -> None:
    item = add_points("Moving", CUBE * (3, 0.2, 0.1))
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (0.4, 0, 2 * np.pi))])
    key(item, "location", [(1, (0, 0, 0)), (13, (50, 0, 9))])


def add_scaled() -> None:
    item = add_points("Moving", CUBE)
    key(item, "scale", [(1, (1, 1, 1)), (6.5, (2, 1, 0.5)), (13, (1, 3, 1))], "BEZIER")
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (1, 2, 3))])


def add_deforming_on_arm() -> None:
    arm, item = add_object("Arm"), add_points("Moving", CUBE)
    item.parent, item.location = arm, (4, 0, 1)
    key(arm, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0.5, 3))], "BEZIER")
    item.shape_key_add(name="Basis")
    bulge = item.shape_key_add(name="Bulge")
    for point in bulge.data[:2]:
        point.co = (-3, -1.5, 2)
    key(bulge, "value", [(1, 0.0), (6.3, 1.0), (13, 0.2)], "BEZIER")


@pytest.mark.parametrize("add_item", [add_turning, add_scaled, add_deforming_on_arm])
def test_local_envelope_encloses_every_vertex_between_frames(add_item):
    add_item()
    entry = play()["Moving"]
    assert_tight(entry["envelope"]["local"], local_vertices("Moving"))


def add_walking_character() -> None:
    rig = add_rig()
    tube = add_tube(rig)
    tube.parent = rig
    for frame, angle in ((1, 0.0), (5, 0.9), (9, -1.1), (13, 0.0)):
        rotate_bones(rig, {1: angle, 2: angle / 2}, frame)
    key(rig, "location", [(1, (0, 0, 0)), (13, (100, 0, 0))])


def test_character_has_a_local_envelope_around_all_its_poses():
    """Engines cull a skinned mesh by this: in its own space, however far it walks."""
    add_walking_character()
    entry = play()["Tube"]
    assert_tight(entry["envelope"]["local"], local_vertices("Tube"))
    assert entry["envelope"]["aabb"]["max"][0] > 99
    assert entry["envelope"]["local"]["aabb"]["max"][0] < 1


@pytest.mark.parametrize("shapes", [("sphere", "aabb"), ("sphere",)])
def test_bounding_volume_of_gltf_holds_character_in_all_its_poses(shapes):
    add_walking_character()
    file = gltf(played_document("gltf", 9, shapes=shapes), ("omi", "volumes"))
    root, child = file["nodes"]
    points = local_vertices("Tube") @ GLTF_FROM_BLENDER.T
    volume = root["boundingVolume"]
    used = reach(file["shapes"][volume["shape"]], matrix(volume, unit_length=True), points)
    assert 0.85 < used.max() <= 1 + ROUNDING
    shapes_of_colliders = file["extensions"]["OMI_physics_shape"]["shapes"]
    collider = shapes_of_colliders[child["extensions"]["OMI_physics_body"]["collider"]["shape"]]
    assert reach(collider, matrix(child, unit_length=True), points).max() > 1.1  # that of one frame


@pytest.mark.smoke
def test_object_that_only_moves_has_its_local_bounds():
    """But for the single precision of the matrices, in which a turned object is not quite as long."""
    add_turning()
    entry = play()["Moving"]
    for shape in ("aabb", "sphere"):
        for field, numbers in entry["local"][shape].items():
            assert entry["envelope"]["local"][shape][field] == pytest.approx(numbers, abs=3e-6)


def test_bones_have_no_local_envelope():
    add_tube(add_rig())
    for entry in play(split_by_bones=True).values():
        assert "local" not in entry["envelope"]
    file = gltf(played_document("gltf", 9, split_by_bones=True), ("volumes",))
    assert file["nodes"] and not any("boundingVolume" in node for node in file["nodes"])


@pytest.mark.parametrize("preset", ["gltf", "unreal"])
def test_local_envelope_is_converted_and_read_again(preset):
    add_deforming_on_arm()
    go_to(FIRST)
    frame = playhead(bpy.context.scene)
    settings = BoundsSettings(envelope=True, frames=(FIRST, LAST, 1))
    result = finished(bounds_in_parts(bpy.context.scene, settings))
    assert playhead(bpy.context.scene) == frame
    document = parse_document(dumps(result.document(preset, 6)))
    assert list(document_problems(document)) == []
    again = read_document(json.loads(json.dumps(document)))
    (entry,) = again.objects
    box, _ = sorted(entry.local_envelope, key=lambda shape: type(shape).__name__)
    expected = next(each.local_envelope for each in result.objects)
    np.testing.assert_allclose(box.min, expected[0].min, atol=1e-5)
    # A local envelope that is too small is found.
    low = document["objects"][0]["envelope"]["local"]["aabb"]["min"]
    high = document["objects"][0]["envelope"]["local"]["aabb"]["max"]
    low[:], high[:] = [x / 2 for x in low], [x / 2 for x in high]
    assert any("envelope.local" in problem for problem in document_problems(document))
