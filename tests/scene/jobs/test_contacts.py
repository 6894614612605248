"""Bounds and contacts of whole scenes, against closed forms."""

from __future__ import annotations

import json
import pickle

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document
from addon.scene.blender.timeline import sample_times
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings, Selection
from tests.finished import finished
from tests.scene.building import CUBE, key_location

pytestmark = pytest.mark.usefixtures("empty_file")


def bounds(**settings):
    return compute_bounds(bpy.context.scene, BoundsSettings(**settings))


def contacts(**settings):
    return finished(find_contacts(bpy.context.scene, ContactSettings(**settings)))


def only_object(result, preset="blender"):
    document = parse_document(dumps(result.document(preset)))
    (entry,) = document["objects"]
    return entry


@pytest.mark.smoke
def test_cube_away_from_the_origin_in_both_spaces(add_mesh):
    add_mesh("Cube", location=(10, 20, 30), scale=(1, 2, 3))
    entry = only_object(bounds())
    # Half sizes 1, 2, 3: the sphere's radius is the root of 14, 3.741657.
    assert entry["world"]["aabb"] == {"min": [9, 18, 27], "max": [11, 22, 33]}
    assert entry["world"]["sphere"]["center"] == [10, 20, 30]
    assert entry["world"]["sphere"]["radius"] == 3.741658
    assert entry["local"]["aabb"] == {"min": [-1, -2, -3], "max": [1, 2, 3]}
    in_gltf = only_object(bounds(), "gltf")
    # (x, y, z) becomes (x, z, -y): Blender's y from 18 to 22 is z from -22 to -18.
    assert in_gltf["world"]["aabb"] == {"min": [9, 27, -22], "max": [11, 33, -18]}
    assert in_gltf["transform"]["scale"] == [1, 3, 2]


def test_scale_length_converts_blender_units_to_meters_for_gltf(add_mesh):
    bpy.context.scene.unit_settings.scale_length = 0.01
    add_mesh("Cube", location=(100, 0, 0))
    assert only_object(bounds(), "gltf")["world"]["aabb"] == {
        "min": [0.99, -0.01, -0.01],
        "max": [1.01, 0.01, 0.01],
    }
    document = bounds().document()
    assert (document["space"]["unit"], document["space"]["metersPerUnit"]) == ("blender unit", 0.01)


def test_sheared_child_is_enclosed_where_longest_matrix_column_is_too_short(add_mesh):
    parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.scale = (3, 1, 1)
    points = np.random.default_rng(1).normal(size=(500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    child = add_mesh("Child", points, rotation_euler=(0, 0, np.pi / 4))
    child.parent = parent
    entry = only_object(bounds())
    world = np.array([parent.matrix_world @ child.matrix_local @ vertex.co for vertex in child.data.vertices])
    offset = np.linalg.norm(world - entry["world"]["sphere"]["center"], axis=1)
    # Evaluated by mathutils in single precision, hence the allowance.
    assert offset.max() <= entry["world"]["sphere"]["radius"] + 1e-6
    assert offset.max() > 2.9  # a unit sphere stretched by 3, not by the longest column, 2.236


def test_objects_without_usable_geometry_are_reported_as_skipped(add_mesh):
    add_mesh("Cube")
    add_mesh("Nothing", np.empty((0, 3)))
    add_mesh("Broken", [(0, 0, 0), (float("nan"), 0, 0)])
    result = bounds()
    assert [entry.name for entry in result.objects] == ["Cube"]
    reasons = {entry.name: entry.reason for entry in result.skipped}
    assert reasons["Nothing"] == "no vertices"
    assert reasons["Broken"] == "the place of a vertex is not a finite number"


def test_padding_grows_every_shape_and_too_negative_padding_is_reported(add_mesh):
    add_mesh("Cube")
    entry = only_object(bounds(fit=FitSettings(padding=0.5)))
    assert entry["world"]["aabb"] == {"min": [-1.5] * 3, "max": [1.5] * 3}
    assert entry["local"]["sphere"]["radius"] == pytest.approx(np.sqrt(3) + 0.5, abs=2e-6)
    assert [entry.reason for entry in bounds(fit=FitSettings(padding=-9)).skipped] == [
        "a padding of -9 leaves nothing of it"
    ]


def test_bounds_of_other_frame_keep_playhead_and_bounds_of_current_frame_keep_unkeyed_changes(add_mesh):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene = bpy.context.scene
    scene.frame_set(3)
    assert only_object(bounds(frame=11.0))["world"]["aabb"]["max"] == [11, 1, 1]
    assert scene.frame_current == 3
    item.location.x = 100  # not keyed, so that moving the playhead would revert it
    assert only_object(bounds())["world"]["aabb"]["max"] == [101, 1, 1]
    assert item.location.x == 100


@pytest.mark.parametrize("shape", ["sphere", "aabb"])
def test_projectile_through_thin_plate_is_found_between_frames(add_mesh, shape):
    dot = add_mesh("Dot", CUBE * 0.05)
    key_location(dot, {0: (-15, 0, 0), 1: (5, 0, 0)})
    add_mesh("Plate", CUBE * (0.01, 0.01, 0.01))
    (contact,) = contacts(shape=shape, frames=(0, 1, 1)).report.contacts
    # x(t) = -15 + 20 t meets the plate where the halves, 0.06 apart along X, touch; spheres are the root of 3
    # times as wide.
    reach = 0.06 * (np.sqrt(3) if shape == "sphere" else 1)
    assert contact.first.frame == pytest.approx((15 - reach) / 20, abs=1e-6)
    assert contact.intervals[0].end == pytest.approx((15 + reach) / 20, abs=1e-6)
    assert contact.first.tunnelling and not contact.first.at_start


def test_groups_ignored_pairs_and_clearance(add_mesh):
    for name, x in (("A", 0), ("B", 2.5), ("C", 5)):
        add_mesh(name, location=(x, 0, 0))

    def pairs(**settings):
        result = contacts(frames=(1, 1, 1), **settings)
        return [(result.subjects[c.a].name, result.subjects[c.b].name) for c in result.report.contacts]

    assert pairs() == []  # half a metre between neighbours
    assert pairs(clearance=0.5) == [("A", "B"), ("B", "C")]
    assert pairs(clearance=0.49) == []
    assert pairs(clearance=0.5, group_a="C") == [("C", "B")]
    assert pairs(clearance=0.5, group_a="A", group_b="C") == []
    assert pairs(clearance=0.5, ignored=("B:A",)) == [("B", "C")]
    with pytest.raises(CollisionBoundsError, match="'Z'"):
        pairs(group_b="Z")


@pytest.mark.smoke
def test_eased_motion_is_timed_exactly_and_linear_motion_is_marked(add_mesh):
    dot = add_mesh("Dot", CUBE * 0.5)
    key_location(dot, {0: (-8, 0, 0), 8: (8, 0, 0)}, "QUAD")
    add_mesh("Block", CUBE * 0.5)
    first = {}
    for motion in ("adaptive", "linear"):
        (contact,) = contacts(frames=(0, 8, 4), motion=motion).report.contacts
        first[motion] = contact.first
    # Eased in by a square, x(t) = -8 + 16 (t / 8)^2: halves add up to 1, x is -1 at the root of 28.
    assert first["adaptive"].frame == pytest.approx(np.sqrt(28), abs=1e-3)
    assert first["adaptive"].motion == "adaptive"
    # By the straight line from -4 at frame 4 to 8 at frame 8.
    assert first["linear"].frame == pytest.approx(5, abs=1e-6)
    assert first["linear"].motion == "linear"


@pytest.mark.smoke
def test_unbaked_simulation_makes_all_subjects_linear_and_marks_contacts(add_mesh):
    key_location(add_mesh("Dot", CUBE * 0.5), {1: (-4, 0, 0), 9: (4, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    plain = contacts(frames=(1, 9, 1))
    assert plain.linear_only == ()
    assert [contact.first.motion for contact in plain.report.contacts] == ["adaptive"]
    # A simulation that is not baked, of an object far from both.
    add_mesh("Flag", location=(0, 50, 0)).modifiers.new("Cloth", "CLOTH")
    played = contacts(frames=(1, 9, 1))
    assert played.linear_only == ("Block", "Dot", "Flag")
    assert [contact.first.motion for contact in played.report.contacts] == ["linear"]
    # With linear motion, or a single frame, nothing is evaluated between frames anyway.
    assert contacts(frames=(1, 9, 1), motion="linear").linear_only == ()
    assert contacts(frames=(5, 5, 1)).linear_only == ()


def test_scan_may_start_and_step_between_frames(add_mesh):
    key_location(add_mesh("Dot", CUBE * 0.5), {-2: (-10, 0, 0), 8: (0, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    result = contacts(frames=(-1.75, 7.6, 0.5))
    (contact,) = result.report.contacts
    # A metre a frame from -10 at frame -2, halves add up to 1: contact at frame 7.
    assert contact.first.frame == pytest.approx(7, abs=1e-5)
    assert result.document()["time"]["referenceFrame"] == -1.75
    # The scan begins after the contact: it was there at the start.
    (contact,) = contacts(frames=(7.5, 8, 1)).report.contacts
    assert contact.first.at_start and contact.first.frame == 7.5


def test_oriented_boxes_are_written_when_scan_tests_them(add_mesh):
    item = add_mesh("Bar", CUBE * (3, 0.5, 0.5), location=(5, 0, 0), rotation_euler=(0, 0, np.pi / 4))
    assert set(only_object(contacts(frames=(1, 1, 1)))["world"]) == {"aabb", "sphere"}
    entry = only_object(contacts(frames=(1, 1, 1), shape="obb"))
    # Turned by 45 degrees around Z: sine and cosine of 22.5 degrees.
    assert entry["world"]["obb"]["center"] == [5, 0, 0]
    assert entry["world"]["obb"]["halfExtents"] == pytest.approx([3, 0.5, 0.5], abs=2e-6)
    assert entry["world"]["obb"]["rotation"] == pytest.approx([0, 0, 0.382683432, 0.923879533], abs=1e-7)
    assert entry["local"]["obb"]["rotation"] == [0, 0, 0, 1]
    item.scale = (1, 2, 1)
    bpy.context.view_layer.update()
    padded = only_object(bounds(shapes=("obb",), fit=FitSettings(padding=0.25)))
    assert padded["local"]["obb"]["halfExtents"] == pytest.approx([3.25, 1.25, 0.75], abs=2e-6)
    assert set(padded["world"]) == {"obb"}


def test_result_does_not_grow_with_the_frames(add_mesh):
    for name, x in (("Dot", -10), ("Other", -20)):
        key_location(add_mesh(name, CUBE * 0.5), {1: (x, 0, 0), 11: (x + 10, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    sizes = [len(pickle.dumps(contacts(frames=(1, end, 1)))) for end in (20, 400)]
    assert sizes[1] - sizes[0] < 16  # a larger whole number is written with a byte or two more


def test_closing_a_scan_restores_the_frame_and_so_does_an_error(add_mesh):
    key_location(add_mesh("Cube"), {1: (0, 0, 0), 11: (10, 0, 0)})
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.5)
    job = find_contacts(scene, ContactSettings(frames=(1, 100, 1)))
    while next(job).done < 2:
        pass
    assert scene.frame_current == 2
    job.close()
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.5)


def test_object_deleted_during_scan_is_skipped_and_renamed_object_is_followed(add_mesh):
    for name in ("Doomed", "Other"):
        add_mesh(name)
    job = find_contacts(bpy.context.scene, ContactSettings(frames=(1, 4, 1)))
    while next(job).done < 1:
        pass
    bpy.data.objects.remove(bpy.data.objects["Doomed"])
    bpy.data.objects["Other"].name = "Renamed"
    result = finished(job)
    # A renamed object is still sampled.
    assert {entry.name for entry in result.skipped} == {"Doomed"}
    (contact,) = result.report.contacts  # they overlapped while both were present
    assert contact.first.at_start


def test_last_frame_is_sampled_when_step_passes_over_it():
    assert sample_times(1, 10, 4) == [1, 5, 9, 10]
    assert sample_times(-3, -3, 1) == [-3]
    assert sample_times(-0.5, 1, 1) == [-0.5, 0.5, 1]
    # 0.3 / 0.1 is below 3 in floats: neither a sample too few, nor two at nearly the same time.
    assert sample_times(0, 0.3, 0.1) == [0, 0.1, 0.2, 0.3]
    assert len(sample_times(1, 10, 0.1)) == 91
    for wrong in ((5, 4, 1), (1, 2, 0), (1, 2, -1), (1, 2, float("nan")), (float("nan"), 2, 1)):
        with pytest.raises(CollisionBoundsError):
            sample_times(*wrong)


def test_empty_scene_and_single_object_make_valid_documents(add_mesh):
    for _ in range(2):
        result = contacts(frames=(1, 3, 1))
        assert result.report.contacts == ()
        parse_document(dumps(result.document()))
        add_mesh("Alone")


def test_seconds_use_exact_frame_rate(add_mesh):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    key_location(add_mesh("Dot", CUBE * 0.5), {0: (-10, 0, 0), 10: (0, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    (contact,) = json.loads(dumps(contacts(frames=(0, 10, 1)).document()))["contacts"]
    # A metre a frame; half sizes add up to 1: contact at frame 9.
    assert contact["first"]["frame"] == pytest.approx(9, abs=1e-5)
    assert contact["first"]["seconds"] == pytest.approx(9 * 1.001 / 30, abs=1e-5)


def test_empty_selection_gives_empty_result(add_mesh):
    add_mesh("Cube").select_set(False)
    assert bounds(selection=Selection(selected_only=True)).objects == ()


@pytest.mark.smoke
def test_frames_outside_blenders_range_are_rejected(add_mesh):
    add_mesh("Cube")
    for job, frame in (
        (lambda: bounds(frame=1e300), "1e\\+300"),
        (lambda: bounds(frame=-9_999_999), "-9999999"),
        (lambda: bounds(frame=-1_048_575), "-1048575"),
        (lambda: contacts(frames=(1, 300_000_000_000, 1)), "300000000000"),
    ):
        # The limits of Blender's own property.
        message = f"^frame {frame}: Blender's frames go from -1048574 to 1048574$"
        with pytest.raises(CollisionBoundsError, match=message):
            job()


def test_scale_too_large_to_decompose_is_skipped_with_reason(add_mesh):
    add_mesh("Huge", scale=(1e20, 1, 1))
    result = bounds()
    assert result.objects == ()
    assert result.skipped[0].reason == "its place or size is too large, or not a number"


@pytest.mark.smoke
def test_hair_converted_to_mesh_by_nodes_gets_bounds_like_other_objects(add_mesh):
    add_mesh("Cube")
    group = bpy.data.node_groups.new("To Mesh", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    cube, out = group.nodes.new("GeometryNodeMeshCube"), group.nodes.new("NodeGroupOutput")
    group.links.new(cube.outputs["Mesh"], out.inputs[0])
    hair = bpy.data.objects.new("Hair", bpy.data.hair_curves.new("Hair"))
    bpy.context.scene.collection.objects.link(hair)
    hair.modifiers.new("Nodes", "NODES").node_group = group
    names = [entry.name for entry in bounds().objects]
    assert names[0] == "Cube" and len(names) == 2


def test_inactive_scene_is_rejected(add_mesh):
    other = bpy.data.scenes.new("Other")
    with pytest.raises(CollisionBoundsError, match="'Other'"):
        compute_bounds(other, BoundsSettings())
