"""Contacts of whole scenes over a frame range, against closed forms."""

from __future__ import annotations

import json
import pickle

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings
from tests.finished import finished
from tests.scene.building import CUBE, key_location, play
from tests.scene.mesh_truth import boxes_and_meshes
from tests.scene.sampling import contacts_by_names, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.mark.parametrize("shape", ["sphere", "aabb"])
def test_projectile_through_thin_plate_is_found_between_frames(add_mesh, shape):
    dot = add_mesh("Dot", CUBE * 0.05)
    key_location(dot, {0: (-15, 0, 0), 1: (5, 0, 0)})
    add_mesh("Plate", CUBE * (0.01, 0.01, 0.01))
    (contact,) = scan_scene(shape=shape, frames=(0, 1, 1)).report.contacts
    # x(t) = -15 + 20 t. The boxes touch when the centers are 0.06 apart, the sum of half sizes. The radii of
    # the spheres are sqrt(3) times as large.
    contact_distance = 0.06 * (np.sqrt(3) if shape == "sphere" else 1)
    assert contact.first.frame == pytest.approx((15 - contact_distance) / 20, abs=1e-6)
    assert contact.intervals[0].end == pytest.approx((15 + contact_distance) / 20, abs=1e-6)
    assert contact.first.tunnelling and not contact.first.at_start


@pytest.mark.parametrize(
    ("settings", "shape", "expected"),
    [
        (ContactSettings(), "mesh", boxes_and_meshes.OF_MESHES),
        (ContactSettings(shape="aabb"), "aabb", boxes_and_meshes.OF_BOXES),
    ],
)
def test_scan_is_of_meshes_unless_another_shape_is_set(settings, shape, expected):
    boxes_and_meshes.build()
    result = finished(find_contacts(bpy.context.scene, settings))
    assert result.scanned.shape == shape
    found = {pair: contact.first.frame for pair, contact in contacts_by_names(result).items()}
    assert found == pytest.approx(expected, abs=1e-5)


def test_groups_ignored_pairs_and_clearance_select_pairs(add_mesh):
    for name, x in (("A", 0), ("B", 2.5), ("C", 5)):
        add_mesh(name, location=(x, 0, 0))

    def pairs(**settings):
        result = scan_scene(frames=(1, 1, 1), **settings)
        return [(result.subjects[c.a].name, result.subjects[c.b].name) for c in result.report.contacts]

    assert pairs() == []  # gaps of 0.5 between neighbors
    assert pairs(clearance=0.5) == [("A", "B"), ("B", "C")]
    assert pairs(clearance=0.49) == []
    assert pairs(clearance=0.5, group_a=("C",)) == [("C", "B")]
    assert pairs(clearance=0.5, group_a=("A",), group_b=("C",)) == []
    assert pairs(clearance=0.5, ignored=("B:A",)) == [("B", "C")]
    with pytest.raises(CollisionBoundsError, match="'Z'"):
        pairs(group_b=("Z",))


@pytest.mark.smoke
def test_eased_motion_is_timed_exactly_and_linear_motion_is_marked(add_mesh):
    dot = add_mesh("Dot", CUBE * 0.5)
    key_location(dot, {0: (-8, 0, 0), 8: (8, 0, 0)}, "QUAD")
    add_mesh("Block", CUBE * 0.5)
    first = {}
    for motion in ("adaptive", "linear"):
        (contact,) = scan_scene(frames=(0, 8, 4), motion=motion).report.contacts
        first[motion] = contact.first
    # Quadratic easing: x(t) = -8 + 16 (t / 8)^2. The sum of half sizes is 1, and x = -1 at t = sqrt(28).
    assert first["adaptive"].frame == pytest.approx(np.sqrt(28), abs=1e-3)
    assert first["adaptive"].motion == "proven"
    # Linear interpolation from x = -4 at frame 4 to x = 8 at frame 8.
    assert first["linear"].frame == pytest.approx(5, abs=1e-6)
    assert first["linear"].motion == "linear"


@pytest.mark.smoke
def test_unbaked_simulation_makes_all_subjects_linear_and_marks_contacts(add_mesh):
    key_location(add_mesh("Dot", CUBE * 0.5), {1: (-4, 0, 0), 9: (4, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    without = scan_scene(frames=(1, 9, 1))
    assert without.linear_only == ()
    assert [contact.first.motion for contact in without.report.contacts] == ["proven"]
    # The simulation is not baked, and its object is far from both.
    add_mesh("Flag", location=(0, 50, 0)).modifiers.new("Cloth", "CLOTH")
    simulated = scan_scene(frames=(1, 9, 1))
    assert simulated.linear_only == ("Block", "Dot", "Flag")
    assert [contact.first.motion for contact in simulated.report.contacts] == ["linear"]
    # With linear motion, or a single frame, nothing is evaluated between frames anyway.
    assert scan_scene(frames=(1, 9, 1), motion="linear").linear_only == ()
    assert scan_scene(frames=(5, 5, 1)).linear_only == ()


def test_scan_with_fractional_start_and_step(add_mesh):
    key_location(add_mesh("Dot", CUBE * 0.5), {-2: (-10, 0, 0), 8: (0, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    result = scan_scene(frames=(-1.75, 7.6, 0.5))
    (contact,) = result.report.contacts
    # The dot moves by 1 per frame, from x = -10 at frame -2. The sum of half sizes is 1: contact at frame 7.
    assert contact.first.frame == pytest.approx(7, abs=1e-5)
    assert result.document()["time"]["referenceFrame"] == -1.75
    # This scan starts during the contact.
    (contact,) = scan_scene(frames=(7.5, 8, 1)).report.contacts
    assert contact.first.at_start and contact.first.frame == 7.5


def test_size_of_result_is_independent_of_number_of_frames(add_mesh):
    for name, x in (("Dot", -10), ("Other", -20)):
        key_location(add_mesh(name, CUBE * 0.5), {1: (x, 0, 0), 11: (x + 10, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    sizes = [len(pickle.dumps(scan_scene(frames=(1, end, 1)))) for end in (20, 400)]
    assert sizes[1] - sizes[0] < 16  # a larger frame number takes one or two more bytes


def test_closed_scan_restores_frame(add_mesh):
    cube = add_mesh("Cube")
    key_location(cube, {1: (0, 0, 0), 11: (10, 0, 0)})
    play(cube)
    scene = bpy.context.scene
    scene.frame_set(5, subframe=0.5)
    job = find_contacts(scene, ContactSettings(shape="aabb", frames=(1, 100, 1)))
    while next(job).done < 2:
        pass
    assert scene.frame_current == 2
    job.close()
    assert (scene.frame_current, scene.frame_subframe) == (5, 0.5)


def test_object_deleted_during_scan_is_skipped_and_renamed_object_is_followed(add_mesh):
    for name in ("Doomed", "Other"):
        play(add_mesh(name))
    job = find_contacts(bpy.context.scene, ContactSettings(shape="aabb", frames=(1, 4, 1)))
    while next(job).done < 1:
        pass
    bpy.data.objects.remove(bpy.data.objects["Doomed"])
    bpy.data.objects["Other"].name = "Renamed"
    result = finished(job)
    # A renamed object is still sampled.
    assert {entry.name for entry in result.skipped} == {"Doomed"}
    (contact,) = result.report.contacts  # they overlapped while both were present
    assert contact.first.at_start


def test_empty_scene_and_single_object_make_valid_documents(add_mesh):
    for _ in range(2):
        result = scan_scene(frames=(1, 3, 1))
        assert result.report.contacts == ()
        parse_document(dumps(result.document()))
        add_mesh("Alone")


def test_seconds_use_exact_frame_rate(add_mesh):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    key_location(add_mesh("Dot", CUBE * 0.5), {0: (-10, 0, 0), 10: (0, 0, 0)})
    add_mesh("Block", CUBE * 0.5)
    (contact,) = json.loads(dumps(scan_scene(frames=(0, 10, 1)).document()))["contacts"]
    # The dot moves by 1 per frame. The sum of half sizes is 1: contact at frame 9.
    assert contact["first"]["frame"] == pytest.approx(9, abs=1e-5)
    assert contact["first"]["seconds"] == pytest.approx(9 * 1.001 / 30, abs=1e-5)
