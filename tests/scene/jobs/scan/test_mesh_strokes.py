"""Scans of meshes that deform and are back within a frame, against closed forms."""

from __future__ import annotations

import math

import bpy
import pytest

from tests.scene.building import add_armature, open_empty_file
from tests.scene.sampling import add_box, key, scan_scene

FIRST, LAST = 1, 9


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST


def assert_touches(begin: float, end: float) -> None:
    """Check that the only pair is found to touch between two times, within its uncertainty and rounding."""
    (contact,) = scan_scene(shape="mesh").report.contacts
    assert abs(contact.first.frame - begin) <= contact.first.uncertainty + 1e-5
    assert contact.first.uncertainty < 1e-3
    (span,) = contact.intervals
    assert (span.start, span.end) == pytest.approx((begin, end), abs=1e-3)


def add_pillar(height: float) -> bpy.types.Object:
    """Add a pillar whose top is at a height of 1, and at another one with a shape key."""
    pillar = add_box("Pillar", (0.2, 0.2, 1.0))
    pillar.shape_key_add(name="Basis")
    tall = pillar.shape_key_add(name="Tall")
    for point in tall.data:
        if point.co.z > 0:
            point.co.z = height
    return tall


def test_shape_key_that_strokes_within_a_frame():
    key(add_pillar(3.0), "value", [(FIRST, 0), (4.2, 0), (4.3, 1), (4.4, 0), (LAST, 0)])
    slab = add_box("Slab", (0.5, 0.5, 0.5))
    slab.location = (0.1, 0.0, 2.5)
    # The top is at 1 + 2 (t - 4.2) / 0.1, and the slab begins at 2.
    assert_touches(4.25, 4.35)


@pytest.mark.long
def test_boxes_that_overlap_all_the_time_do_not_hide_a_stroke():
    key(add_pillar(3.0), "value", [(FIRST, 0), (6.55, 0), (6.6, 1), (6.65, 0), (LAST, 0)])
    # A beam that leans over the pillar.
    beam = add_box("Beam", (0.2, 0.2, 1.0))
    beam.location = (0.45, 0, 1.8)
    for vertex in beam.data.vertices:
        if vertex.co.z > 0:
            vertex.co.x -= 0.4
    # Its side begins at x = 0.25, z = 0.8, and passes x = 0.2, where the pillar ends, at z = 1.05.
    after = 0.05 * (1.05 - 1) / 2
    assert_touches(6.55 + after, 6.65 - after)


def test_bone_that_strokes_within_a_frame():
    rig = add_armature("Rig", {"Bone": ((0, 0, 0), (0, 0, 2))})
    pose = rig.pose.bones["Bone"]
    pose.rotation_mode = "XYZ"
    # The z axis of a bone along z is the world's -y, so this turns towards x.
    turn = 1.2
    keys = [(FIRST, 0.0), (3.5, 0.0), (3.75, -turn), (3.875, 0.0), (LAST, 0.0)]
    key(pose, "rotation_euler", [(frame, (0, 0, angle)) for frame, angle in keys])
    bar = add_box("Bar", (0.1, 0.1, 1.0))
    for vertex in bar.data.vertices:
        vertex.co.z += 1.0
    bar.vertex_groups.new(name="Bone").add(range(8), 1.0, "REPLACE")
    bar.modifiers.new("Armature", "ARMATURE").object = rig
    bar.parent = rig
    wall = add_box("Wall", (0.5, 1.0, 2.0))
    wall.location = (1.5, 0.0, 0.0)
    # The corner (0.1, 2) gets to x = 1 where 0.1 cos a + 2 sin a = 1.
    angle = math.asin(1 / math.hypot(0.1, 2)) - math.atan2(0.1, 2)
    assert_touches(3.5 + 0.25 * angle / turn, 3.875 - 0.125 * angle / turn)
