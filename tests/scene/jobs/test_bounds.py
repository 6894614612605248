"""Bounds of whole scenes at one frame, against closed forms."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings, FitSettings, Selection
from tests.scene.building import CUBE, Nodes, add_object, key_location
from tests.scene.sampling import scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")


def compute(**settings):
    """Compute bounds of the active scene."""
    return compute_bounds(bpy.context.scene, BoundsSettings(**settings))


def only_object(result, preset="blender"):
    """Return the entry of the only object in the document."""
    document = parse_document(dumps(result.document(preset)))
    (entry,) = document["objects"]
    return entry


@pytest.mark.smoke
def test_bounds_of_cube_in_blender_and_gltf_space(add_mesh):
    add_mesh("Cube", location=(10, 20, 30), scale=(1, 2, 3))
    entry = only_object(compute())
    # The half sizes are 1, 2, 3: the radius of the sphere is sqrt(14) = 3.741657.
    assert entry["world"]["aabb"] == {"min": [9, 18, 27], "max": [11, 22, 33]}
    assert entry["world"]["sphere"]["center"] == [10, 20, 30]
    assert entry["world"]["sphere"]["radius"] == 3.741658
    assert entry["local"]["aabb"] == {"min": [-1, -2, -3], "max": [1, 2, 3]}
    in_gltf = only_object(compute(), "gltf")
    # (x, y, z) becomes (x, z, -y): y from 18 to 22 becomes z from -22 to -18.
    assert in_gltf["world"]["aabb"] == {"min": [9, 27, -22], "max": [11, 33, -18]}
    assert in_gltf["transform"]["scale"] == [1, 3, 2]


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("system", "scale"),
    [("METRIC", 1), ("METRIC", 0.01), ("METRIC", 100), ("NONE", 0.01), ("IMPERIAL", 0.3048)],
)
def test_documents_have_size_of_meshes_of_blenders_exporters(tmp_path, system, scale):
    units = bpy.context.scene.unit_settings
    units.system, units.scale_length = system, scale
    bpy.ops.mesh.primitive_cube_add(size=2, location=(100, 0, 0))
    result = compute()
    widths = {name: only_object(result, name)["world"]["aabb"] for name in ("gltf", "unity", "unreal")}
    widths = {name: box["max"][0] - box["min"][0] for name, box in widths.items()}
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "cube.glb"))
    bpy.ops.export_scene.fbx(filepath=str(tmp_path / "cube.fbx"))
    binary = (tmp_path / "cube.glb").read_bytes()
    content = json.loads(binary[20 : 20 + int.from_bytes(binary[12:16], "little")])
    accessor = next(each for each in content["accessors"] if each["type"] == "VEC3" and "max" in each)
    assert widths["gltf"] == pytest.approx(accessor["max"][0] - accessor["min"][0], rel=1e-6)
    # FBX files are in centimeters, and Blender reads them into a scene of meters.
    units.system, units.scale_length = "METRIC", 1
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    bpy.ops.import_scene.fbx(filepath=str(tmp_path / "cube.fbx"))
    bpy.context.view_layer.update()
    imported = float(bpy.data.objects["Cube"].dimensions[0])
    assert widths["unity"] == pytest.approx(imported, rel=1e-5)
    assert widths["unreal"] == pytest.approx(imported * 100, rel=1e-5)


@pytest.mark.parametrize(("system", "meters", "unit"), [("METRIC", 0.01, "blender unit"), ("NONE", 1, "m")])
def test_document_in_blender_units_has_their_length(add_mesh, system, meters, unit):
    bpy.context.scene.unit_settings.system = system
    bpy.context.scene.unit_settings.scale_length = 0.01
    add_mesh("Cube", location=(100, 0, 0))
    document = compute().document()
    assert (document["space"]["unit"], document["space"]["metersPerUnit"]) == (unit, meters)


def test_sheared_child_is_enclosed_although_longest_matrix_column_is_too_short(add_mesh):
    parent = add_object("Parent")
    parent.scale = (3, 1, 1)
    points = np.random.default_rng(1).normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    child = add_mesh("Child", points, rotation_euler=(0, 0, np.pi / 4))
    child.parent = parent
    entry = only_object(compute())
    world = np.array([parent.matrix_world @ child.matrix_local @ vertex.co for vertex in child.data.vertices])
    offset = np.linalg.norm(world - entry["world"]["sphere"]["center"], axis=1)
    # The tolerance is for mathutils, which computes in single precision.
    assert offset.max() <= entry["world"]["sphere"]["radius"] + 1e-6
    assert offset.max() > 2.9  # a unit sphere stretched by 3, not by the longest column, 2.236


@pytest.mark.smoke
@pytest.mark.parametrize("preset", ["blender", "gltf", "unreal"])
def test_rotations_of_sheared_objects_are_unit_quaternions_that_place_them(add_mesh, preset):
    rng = np.random.default_rng(3)
    for number in range(20):
        parent = add_object(f"Parent {number}")
        parent.scale = rng.uniform(0.3, 3, 3)
        item = add_mesh(f"Cube {number}", parent=parent, rotation_euler=rng.uniform(-3, 3, 3))
        item.scale = rng.uniform(0.3, 3, 3) * rng.choice([1, -1], 3)
    bpy.context.view_layer.update()
    # Reading it validates it: Blender's own quaternions of these matrices are up to a tenth too short.
    document = parse_document(dumps(compute(shapes=("sphere", "obb")).document(preset, 6)))
    for entry in document["objects"]:
        *vector, w = entry["transform"]["rotation"]
        assert np.linalg.norm([*vector, w]) == pytest.approx(1, abs=2e-9)
        for kind in ("sphere", "obb"):
            local = np.array(entry["local"][kind]["center"])
            turned = local + 2 * w * np.cross(vector, local) + 2 * np.cross(vector, np.cross(vector, local))
            placed = turned + entry["transform"]["translation"]
            unit = document["space"]["metersPerUnit"]
            assert placed == pytest.approx(entry["world"][kind]["center"], abs=5e-6 / min(unit, 1))


def test_objects_without_usable_geometry_are_reported_as_skipped(add_mesh):
    add_mesh("Cube")
    add_mesh("Empty", np.empty((0, 3)))
    add_mesh("Broken", [(0, 0, 0), (float("nan"), 0, 0)])
    result = compute()
    assert [entry.name for entry in result.objects] == ["Cube"]
    reasons = {entry.name: entry.reason for entry in result.skipped}
    assert reasons["Empty"] == "no vertices"
    assert reasons["Broken"] == "has a vertex with non-finite coordinates"


def test_padding_grows_every_shape_and_too_negative_padding_is_reported(add_mesh):
    add_mesh("Cube")
    entry = only_object(compute(fit=FitSettings(padding=0.5)))
    assert entry["world"]["aabb"] == {"min": [-1.5] * 3, "max": [1.5] * 3}
    assert entry["local"]["sphere"]["radius"] == pytest.approx(np.sqrt(3) + 0.5, abs=2e-6)
    assert [entry.reason for entry in compute(fit=FitSettings(padding=-9)).skipped] == [
        "a padding of -9 is larger than the shape"
    ]


def test_bounds_keep_playhead_and_unkeyed_changes(add_mesh):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene = bpy.context.scene
    scene.frame_set(3)
    assert only_object(compute(frame=11.0))["world"]["aabb"]["max"] == [11, 1, 1]
    assert scene.frame_current == 3
    item.location.x = 100  # not keyed, so that moving the playhead would revert it
    assert only_object(compute())["world"]["aabb"]["max"] == [101, 1, 1]
    assert item.location.x == 100


def test_empty_selection_gives_empty_result(add_mesh):
    add_mesh("Cube").select_set(False)
    assert not compute(selection=Selection(selected_only=True)).objects


@pytest.mark.smoke
def test_frames_outside_blenders_range_are_rejected(add_mesh):
    add_mesh("Cube")
    for job, frame in (
        (lambda: compute(frame=1e300), "1e\\+300"),
        (lambda: compute(frame=-9_999_999), "-9999999"),
        (lambda: compute(frame=-1_048_575), "-1048575"),
        (lambda: scan_scene(frames=(1, 300_000_000_000, 1)), "300000000000"),
    ):
        # The limits are those of Blender's property.
        message = f"^frame {frame}: Blender's frames go from -1048574 to 1048574$"
        with pytest.raises(CollisionBoundsError, match=message):
            job()


def test_scale_too_large_to_decompose_is_skipped_with_reason(add_mesh):
    add_mesh("Huge", scale=(1e20, 1, 1))
    result = compute()
    assert not result.objects
    assert result.skipped[0].reason == "its location or scale is too large, or not a number"


@pytest.mark.smoke
def test_hair_converted_to_mesh_by_nodes_gets_bounds_like_other_objects(add_mesh):
    add_mesh("Cube")
    nodes = Nodes(add_object("Hair", bpy.data.hair_curves.new("Hair")))
    nodes.end(nodes.add("GeometryNodeMeshCube").outputs["Mesh"])
    names = [entry.name for entry in compute().objects]
    assert names[0] == "Cube" and len(names) == 2


def test_inactive_scene_is_rejected(add_mesh):
    other = bpy.data.scenes.new("Other")
    with pytest.raises(CollisionBoundsError, match="'Other'"):
        compute_bounds(other, BoundsSettings())


def test_oriented_boxes_are_written_when_scan_tests_them(add_mesh):
    item = add_mesh("Bar", CUBE * (3, 0.5, 0.5), location=(5, 0, 0), rotation_euler=(0, 0, np.pi / 4))
    assert set(only_object(scan_scene(frames=(1, 1, 1)))["world"]) == {"aabb", "sphere"}
    entry = only_object(scan_scene(frames=(1, 1, 1), shape="obb"))
    # A rotation by 45 degrees around Z: sine and cosine of 22.5 degrees.
    assert entry["world"]["obb"]["center"] == [5, 0, 0]
    assert entry["world"]["obb"]["halfExtents"] == pytest.approx([3, 0.5, 0.5], abs=2e-6)
    assert entry["world"]["obb"]["rotation"] == pytest.approx([0, 0, 0.382683432, 0.923879533], abs=1e-7)
    assert entry["local"]["obb"]["rotation"] == [0, 0, 0, 1]
    item.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    padded = only_object(compute(shapes=("obb",), fit=FitSettings(padding=0.25)))
    assert padded["local"]["obb"]["halfExtents"] == pytest.approx([3.25, 1.25, 0.75], abs=2e-6)
    assert set(padded["world"]) == {"obb"}
