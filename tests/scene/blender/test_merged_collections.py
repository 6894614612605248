"""Merged collections: one subject encloses all objects of a collection."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.settings import BoundsSettings
from tests.scene.building import CUBE, add_object, key_location, merged_collection
from tests.scene.enclosing import (
    POSE,
    SHAPES,
    add_item,
    animate,
    bounds_by_name,
    encloses,
    join_instances,
    sample_shapes,
    scan_with_static_pairs,
    world_vertices,
)
from tests.scene.sampling import delete_faces_by_frame, scan_scene

pytestmark = pytest.mark.usefixtures("object_settings")


@pytest.fixture
def group(object_settings):
    """Add a merged collection to the scene."""
    return merged_collection("Group")


@pytest.mark.parametrize("shape", SHAPES)
def test_merged_collection_encloses_its_moving_objects(group, shape):
    a = animate(add_item("A", collection=group, **POSE))
    b = add_item("B", collection=group, location=(0, 3, 0))
    add_item("Alone")
    for frame in sample_shapes(shape):
        assert list(frame) == ["Alone", "Group"]
        assert encloses(frame["Group"], np.concatenate([world_vertices(a), world_vertices(b)]))
        assert not encloses(frame["Alone"], world_vertices(b))


def test_members_are_not_subjects_and_their_children_have_collection_as_parent(group):
    a = add_item("A", collection=group)
    add_item("B", collection=group, location=(9, 0, 0))
    add_item("Child", parent=a)
    found, result = bounds_by_name()
    assert list(found) == ["Child", "Group"]
    assert found["Group"].kind == "COLLECTION" and found["Child"].parent == "Group"
    assert found["Group"].parent is None
    assert not result.skipped


def test_object_through_middle_of_merged_collection_touches_it(group):
    add_item("A", CUBE, [], collection=group, location=(-4, 0, 0))
    add_item("B", CUBE, [], collection=group, location=(4, 0, 0))
    key_location(add_item("Ball", CUBE * 0.25, []), {1: (0, 0, 11), 11: (0, 0, -9)})
    (contact,) = scan_with_static_pairs().report.contacts
    # It moves down by 2 per frame; its lower side is at z = 1 after (11 - 0.25 - 1) / 2 frames.
    assert contact.first.frame == pytest.approx(1 + 9.75 / 2, abs=2e-3)


def test_each_instance_of_merged_collection_is_one_subject(group):
    a, b = add_item("A", collection=group), add_item("B", collection=group, location=(0, 3, 0))
    for name, x in (("First", 20.0), ("Second", -20.0)):
        empty = add_object(name)
        empty.instance_type, empty.instance_collection, empty.location = "COLLECTION", group, (x, 0, 0)
    bpy.context.view_layer.update()
    found, _ = bounds_by_name()
    assert list(found) == ["First", "Group", "Second"]
    both, far = np.concatenate([world_vertices(a), world_vertices(b)]), np.array((20, 0, 0))
    assert encloses(found["First"].world[1][None], both + far)
    for frame in sample_shapes("aabb"):
        assert encloses(frame["Second"], both - far)


def test_merged_collection_encloses_sphere_override_tightly(group):
    ball = add_item(
        "Ball", collection=group, location=(1, 2, 3), rotation_euler=(0.3, 0.7, 0.1), scale=(2, 2, 2)
    )
    settings = ball.collision_bounds
    settings.override, settings.radius = "sphere", 1.5
    add_item("Dot", [(1, 2, 3)], [], collection=group)
    found, _ = bounds_by_name()
    sphere, box = found["Group"].world
    assert 3 <= sphere.radius <= 3.03, "a sphere around the box of the override would be 1.73 times as large"
    assert (box.half_extents >= 3).all() and (box.half_extents <= 3.03).all()
    np.testing.assert_allclose(sphere.center, (1, 2, 3), atol=1e-3)


def test_collection_with_instance_of_missing_object_is_not_its_own_parent():
    together = merged_collection("Together")
    elsewhere = bpy.data.collections.new("Elsewhere")
    source = add_item("A", CUBE, [], collection=elsewhere)
    join_instances(add_item("B", CUBE, [], collection=together), source)
    result = compute_bounds(bpy.context.scene, BoundsSettings())
    assert [(entry.name, entry.parent) for entry in result.objects] == [("Together", None)]
    parse_document(dumps(result.document()))


@pytest.mark.parametrize("mirrored", [1, -1])
@pytest.mark.parametrize("is_merged", [False, True])
def test_single_sided_floor_faces_up_also_when_mirrored_or_merged(mirrored, is_merged):
    together = merged_collection("Together")
    together.collision_bounds.merge_bounds = is_merged
    corners = [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)]
    floor = add_item("Floor", corners, [(0, 1, 2, 3)], collection=together)
    floor.scale.x = mirrored
    key_location(add_item("Ball", 0.1 * CUBE, []), {1: (0, 0, 5), 10: (0, 0, 0.05)})
    result = scan_scene(
        shape="sphere", obstacles=("Together" if is_merged else "Floor",), one_sided=True, frames=(1, 10, 1)
    )
    assert len(result.report.contacts) == 1


@pytest.mark.parametrize("frame", [10.3, 30])
def test_ball_lands_on_merged_obstacle_that_gets_its_faces_in_time(group, frame):
    corners = [(x, y, 0) for x in range(-3, 4, 3) for y in (-3, 3)]
    floor = add_item("Floor", corners, [(0, 2, 3, 1), (2, 4, 5, 3)], collection=group)
    add_item("Post", CUBE, [(0, 1, 3, 2)], collection=group)
    key_location(add_item("Ball", 0.1 * CUBE, []), {1: (2, 0, 5), 12: (2, 0, 0.05)})
    delete_faces_by_frame(floor, frame)
    settings = {"shape": "sphere", "obstacles": ("Group",), "frames": (1, 12, 1)}
    contacts = scan_scene(**settings).report.contacts
    if frame == 10.3:
        # The floor below the ball is there when the ball reaches it.
        radius = float(np.linalg.norm(0.1 * np.array(CUBE[0])))
        assert contacts[0].first.frame == pytest.approx(1 + 11 * (5 - radius) / 4.95, abs=1e-3)
    else:
        assert not contacts
