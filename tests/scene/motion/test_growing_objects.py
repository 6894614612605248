"""Objects that scales of 0 make flat or a point at some time, and that have other scales at other times."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.scene.building import add_object, add_vertices, hidden_collection
from tests.scene.mesh_truth.solids import box, joined, moved
from tests.scene.sampling import contacts_by_names, key, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

PAIR = frozenset(("Grows", "Wall"))
LAST = 9
HALF = np.array([0.5, 0.9, 0.3])
TURN = (0.3, 0.7, -0.4)


def long(shape):
    """Leave a shape to the longer tiers."""
    return pytest.param(shape, marks=pytest.mark.long)


COMPOUND = long("compound")


def add_growing(scales):
    """Add a box that turns by no angle and has the scales (frame, scale), and return its axes as columns."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    item = add_vertices("Grows", *box(*HALF), rotation_euler=TURN)
    key(item, "scale", scales)
    bpy.context.view_layer.update()
    return item, np.array(item.rotation_euler.to_matrix())


def add_wall(axes, direction, distance):
    """Add a thin box with the same axes, whose surface has a distance from the origin in a direction."""
    half = np.where(np.arange(3) == direction, 0.05, 2.0)
    wall = add_vertices("Wall", *box(*half), rotation_euler=TURN)
    wall.location = axes[:, direction] * (distance + 0.05)


def contact_of(shape):
    bpy.context.scene.frame_set(1)
    return contacts_by_names(scan_scene(shape=shape)).get(PAIR)


@pytest.mark.parametrize("shape", ["obb", COMPOUND])
@pytest.mark.parametrize("direction", range(3))
def test_box_that_grows_from_nothing_touches_when_its_side_does(shape, direction):
    _, axes = add_growing([(1, (0, 0, 0)), (LAST, (2, 2, 2))])
    add_wall(axes, direction, HALF[direction])
    contact = contact_of(shape)
    assert abs(contact.first.frame - 5) <= contact.first.uncertainty + 1e-4


@pytest.mark.parametrize("shape", ["capsule", "spheres", "sphere", "obb", COMPOUND])
def test_object_that_grows_from_nothing_has_the_shape_of_one_that_grows_from_nearly_nothing(shape):
    found = []
    for least in (0, 1e-3):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        angle = joined(box(0.9, 0.1, 0.1), moved(box(0.1, 0.8, 0.1), (0.8, 0.7, 0)))
        item = add_vertices("Grows", *angle, rotation_euler=TURN)
        key(item, "scale", [(1, (least,) * 3), (LAST, (2, 2, 2))])
        key(item, "location", [(1, (0, 0, 0)), (LAST, (1, 2, 3))])
        # Where the longer arm is in frame 7.
        place = np.array(item.rotation_euler.to_matrix()) @ (1.2, 1.8, 0) + (0.75, 1.5, 2.25)
        add_vertices("Wall", *box(0.1, 0.1, 0.1), location=place)
        bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
        found.append(contact_of(shape))
    assert abs(found[0].first.frame - found[1].first.frame) <= 0.02
    assert found[0].depth == pytest.approx(found[1].depth, abs=0.02)


FLAT = {"at the start": [(1, 0), (LAST, 1)], "in between": [(1, 1), (5, 0), (LAST, 1)]}


@pytest.mark.parametrize("shape", ["obb", COMPOUND])
@pytest.mark.parametrize("keys", FLAT.values(), ids=FLAT)
@pytest.mark.parametrize("flat", range(3))
def test_box_that_is_flat_at_times_does_not_touch_what_is_near_it(flat, keys, shape):
    _, axes = add_growing([(frame, np.where(np.arange(3) == flat, value, 1)) for frame, value in keys])
    for direction in range(3):
        if direction != flat:
            add_wall(axes, direction, HALF[direction] + 0.01)
    contacts = contacts_by_names(scan_scene(shape=shape))
    assert not any("Grows" in pair for pair in contacts)


@pytest.mark.parametrize("shape", ["obb", COMPOUND])
@pytest.mark.parametrize("flat", range(3))
def test_instances_on_faces_of_an_object_that_is_flat_at_times_do_not_touch_what_is_near_it(flat, shape):
    scales = [(1, 0.2), (5, 0.0), (LAST, 0.2)]
    parent, axes = add_growing([(frame, np.where(np.arange(3) == flat, scale, 1)) for frame, scale in scales])
    child = add_vertices("Child", *box(0.3, 0.4, 0.2), parent=parent)
    parent.instance_type = "FACES"
    # Faces are no farther than 0.2 times 0.9, and what is on them no farther than 0.2 times 0.4 from them.
    add_wall(axes, flat, 0.2 * (0.9 + 0.4) + 0.1)
    child.location = (0, 0, 0)
    contacts = contacts_by_names(scan_scene(shape=shape))
    # The child itself is as large and turned as its parent.
    assert not any("Wall" in pair for pair in contacts)


@pytest.mark.parametrize(
    "shape", ["aabb", "obb", *(long(shape) for shape in ("sphere", "spheres", "capsule", "compound"))]
)
@pytest.mark.parametrize("instancing", ["COLLECTION", "FACES"])
def test_instances_that_are_keyed_through_nothing_touch_what_they_reach(instancing, shape):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    child = add_vertices("Child", *box(0.5, 0.5, 0.5))
    if instancing == "COLLECTION":
        owner = add_object("Owner")
        collection = hidden_collection("Children", child)
        owner.instance_collection = collection
    else:
        corners = [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)]
        owner = add_vertices("Owner", corners, [(0, 1, 2, 3)])
        child.parent = owner
    owner.instance_type = instancing
    key(owner, "scale", [(1, (1, 1, 1)), (LAST, (-1, 1, -1))])
    key(owner, "rotation_euler", [(1, (0, 0, 0)), (LAST, (0, 0, 1.5))])
    # Spheres around faces reach 0.5 and 0.71 from the center, and those of the far box 0.25.
    add_vertices("Near", *box(0.1, 0.1, 0.1), location=(0, 0, 0.45))
    add_vertices("Far", *box(0.1, 0.1, 0.1), location=(0, 0, 1.6))
    contacts = contacts_by_names(scan_scene(shape=shape))
    of_near = [contact for pair, contact in contacts.items() if "Near" in pair]
    assert of_near and min(contact.first.frame for contact in of_near) == 1
    assert not any("Far" in pair for pair in contacts)
