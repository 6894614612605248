"""Contacts of keyed objects within one frame, and jumps past others, against formulas."""

from __future__ import annotations

import math

import bpy
import pytest

from tests.scene.building import add_vertices, curves, key_location
from tests.scene.sampling import contacts_by_names, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")


def box(name, half_extents, location=(0, 0, 0)):
    x, y, z = half_extents
    corners = [(sx * x, sy * y, sz * z) for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)]
    return add_vertices(name, corners, location=location)


def contacts(shape, last=20):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last
    return contacts_by_names(scan_scene(shape=shape))


@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_bump_of_a_64th_of_a_frame_touches(shape):
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1), (5, 0, 0))
    # Forth by 4 within 1/64 frame, and back. The gap is 3: contact at 3/4 of the way.
    start, step = 10.25, 1 / 64
    key_location(
        mover, {1: (0, 0, 0), start: (0, 0, 0), start + step: (4, 0, 0), start + 2 * step: (0, 0, 0)}
    )
    (contact,) = contacts(shape).values()
    assert contact.first.frame == pytest.approx(start + 0.75 * step, abs=contact.first.uncertainty + 1e-5)
    assert contact.first.uncertainty < 1e-3
    assert contact.first.tunnelling


@pytest.mark.parametrize("turns", [0.75, 1, 2, 3])
def test_blade_that_turns_more_than_half_a_turn_a_frame_touches(turns):
    blade = box("Blade", (3, 0.01, 0.5))
    # At a quarter of a turn the blade, seen from above, reaches the post at (0, 2).
    box("Post", (0.1, 0.1, 1), (0, 2, 0))
    for frame, angle in ((1, 0), (20, 19 * turns * math.tau)):
        blade.rotation_euler = (0, 0, angle)
        blade.keyframe_insert("rotation_euler", frame=frame)
    for curve in curves(blade.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    (contact,) = contacts("obb", last=5).values()
    # The right side of the post, at x = 0.1 and y = 1.9, touches the upper side of the blade.
    touch = math.atan2(1.9, 0.1) - math.asin(0.01 / math.hypot(1.9, 0.1))
    expected = 1 + touch / math.tau / turns
    assert contact.first.frame == pytest.approx(expected, abs=contact.first.uncertainty + 1e-4)
    assert contact.first.uncertainty < 1e-3


@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb"])
@pytest.mark.parametrize("frame", [10, 10.5])
def test_jump_past_a_wall_is_no_contact(shape, frame):
    mover = box("Mover", (1, 1, 1), (-9, 0, 0))
    box("Wall", (1, 1, 1))
    key_location(mover, {1: (-9, 0, 0), frame: (9, 0, 0)}, "CONSTANT")
    assert not contacts(shape)


def test_jump_into_a_wall_is_a_contact_from_that_time_on():
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1))
    key_location(mover, {1: (-9, 0, 0), 10.5: (1.5, 0, 0), 12: (9, 0, 0)}, "CONSTANT")
    (contact,) = contacts("aabb").values()
    assert contact.first.frame == pytest.approx(10.5, abs=2e-4)
    ((start, end),) = contact.intervals
    assert (start, end) == pytest.approx((10.5, 12), abs=2e-4)
