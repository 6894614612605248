"""Contacts of keyed objects within one frame, and jumps past others, against formulas."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.scene.settings import FitSettings
from tests.scene.building import add_object, add_vertices, curves, key_location
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


@pytest.mark.parametrize("family", ["QUAD", "EXPO", "BACK", "BOUNCE"])
def test_eased_motion_touches_when_its_curve_says(family):
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1), (12, 0, 0))
    key_location(mover, {1: (0, 0, 0), 4: (9.9, 0, 0)})
    for curve in curves(mover.animation_data.action):
        curve.keyframe_points[0].interpolation, curve.keyframe_points[0].back = family, 3.0
        curve.keyframe_points[0].easing = "EASE_IN_OUT" if family == "BACK" else "EASE_OUT"
    along_x = next(curve for curve in curves(mover.animation_data.action) if curve.array_index == 0)
    times = np.linspace(1, 4, 300_001)
    gaps = 12 - 2 - np.array([along_x.evaluate(time) for time in times])
    found = contacts("aabb")
    # Back easing goes too far, and touches between two frames; the others stop at a distance of 0.1.
    assert len(found) == int((gaps <= 0).any()) == int(family == "BACK")
    for contact in found.values():
        assert contact.first.motion == "proven" and contact.first.uncertainty < 1e-3
        expected = times[(gaps <= 0).argmax()]
        assert contact.first.frame == pytest.approx(expected, abs=contact.first.uncertainty + 2e-5)


def key_bump(item, start, step, reach):
    """Move an object along x by `reach` within `step` frames, and back."""
    key_location(
        item, {1: (0, 0, 0), start: (0, 0, 0), start + step: (reach, 0, 0), start + 2 * step: (0, 0, 0)}
    )


def ball(name, location=(0, 0, 0)):
    """Vertices whose smallest sphere has radius 1."""
    return add_vertices(name, np.vstack([np.eye(3), -np.eye(3)]), location=location)


def wall(name, x):
    """One triangle across the x axis, which faces both ways."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([(x, -9, -9), (x, 9, -9), (x, 0, 9)], [], [(0, 1, 2)])
    item = add_object(name, mesh)
    return item


def test_bump_of_a_64th_of_a_frame_touches_an_obstacle_at_rest():
    key_bump(ball("Mover"), 10.25, 1 / 64, 6)
    wall("Wall", 5)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    (contact,) = scan_scene(shape="sphere", obstacles=("Wall",)).report.contacts
    # The gap is 4.
    expected = 10.25 + 4 / 6 / 64
    assert contact.first.motion == "proven"
    assert contact.first.frame == pytest.approx(expected, abs=contact.first.uncertainty + 1e-5)
    assert contact.first.uncertainty < 1e-3


def test_contact_with_a_keyed_obstacle_is_proven():
    key_location(ball("Mover"), {1: (0, 0, 0), 20: (19, 0, 0)})
    key_location(wall("Wall", 5), {1: (0, 0, 0), 20: (1, 0, 0)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    (contact,) = scan_scene(shape="sphere", obstacles=("Wall",)).report.contacts
    assert contact.first.motion == "proven"


@pytest.mark.parametrize("obstacle", [{}, {"obstacles": ("Wall",)}])
def test_scan_of_one_frame(obstacle):
    key_location(ball("Mover"), {1: (4.5, 0, 0), 20: (19, 0, 0)})
    key_location(wall("Wall", 5), {1: (0, 0, 0), 20: (1, 0, 0)})
    (contact,) = scan_scene(shape="sphere", frames=(1, 1, 1), **obstacle).report.contacts
    assert (contact.first.frame, contact.first.at_start) == (1, True)


def test_pairs_of_keyed_objects_are_proven_in_a_scene_with_others():
    key_bump(box("Mover", (1, 1, 1)), 10.25, 1 / 64, 4)
    box("Wall", (1, 1, 1), (5, 0, 0))
    driven = box("Driven", (1, 1, 1), (0, 9, 0))
    driven.driver_add("location", 0).driver.expression = "frame / 2 if frame > 0 else 0"
    box("Post", (1, 1, 1), (6, 9, 0))
    found = contacts("aabb")
    assert {tuple(sorted(names)): contact.first.motion for names, contact in found.items()} == {
        ("Mover", "Wall"): "proven",
        ("Driven", "Post"): "sampled",
    }
    first = found[frozenset(("Mover", "Wall"))].first
    assert first.frame == pytest.approx(10.25 + 0.75 / 64, abs=first.uncertainty + 1e-5)
    assert found[frozenset(("Driven", "Post"))].first.frame == pytest.approx(8, abs=2e-4)


@pytest.mark.parametrize("shape", ["aabb", "sphere"])
@pytest.mark.parametrize("frame", [5, 5.5, 12])
def test_contact_begins_where_a_key_lets_an_object_jump_into_another_one(shape, frame):
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1))
    box("Other", (1, 1, 1), (0, 50, 0)).keyframe_insert("location", frame=1)
    key_location(mover, {1: (-9, 0, 0), frame: (0.5, 0, 0)}, "CONSTANT")
    (contact,) = contacts(shape).values()
    assert (contact.first.frame, contact.first.uncertainty, contact.first.motion) == (frame, 0, "proven")
    assert np.isfinite([*contact.first.point, *contact.first.normal]).all()
    assert [(span.start, span.end) for span in contact.intervals] == [(frame, 20)]


def test_scan_of_two_frames_with_a_constrained_object_samples_their_middle():
    mover = box("Mover", (1, 1, 1))
    key_location(mover, {1: (-5, 0, 0), 11: (5, 0, 0)})
    box("Wall", (1, 1, 1), (5, 0, 0)).constraints.new("LIMIT_LOCATION")
    (contact,) = contacts_by_names(scan_scene(shape="aabb", frames=(1, 11, 10))).values()
    # The mover is at x = 3.
    assert contact.first.frame == pytest.approx(9, abs=1e-3)


def test_sphere_trees_of_turning_blades_touch_when_dense_samples_say():
    shells = []
    for name, x in (("Left", -2.2), ("Right", 2.2)):
        bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=2, size=1, location=(x, 0, 0))
        shells.append(bpy.context.object)
        shells[-1].name, shells[-1].scale = name, (5, 1, 1)
    for item, turns in zip(shells, (3, -2.3), strict=True):
        for frame, angle in ((1, 1.0), (11, 1.0 + 10 * turns * math.tau)):
            item.rotation_euler = (0, 0, angle)
            item.keyframe_insert("rotation_euler", frame=frame)
        for curve in curves(item.animation_data.action):
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    (contact,) = scan_scene(shape="spheres", frames=(1, 4, 1)).report.contacts
    (dense,) = scan_scene(shape="spheres", frames=(1, 2, 1 / 512), motion="linear").report.contacts
    assert contact.first.motion == "proven"
    assert contact.first.uncertainty < 1e-3
    # Within 1/512 frame a point moves by 0.04 at most, along an arc with a height of 2e-4.
    assert contact.first.frame == pytest.approx(dense.first.frame, abs=contact.first.uncertainty + 2e-4)


def test_small_gap_of_boxes_that_spin_together_closes_at_a_certain_time():
    # At 20 turns a frame, all that is within reach is in doubt until parts are short. The gap closes once.
    gap, turns = 0.0005, 20
    lower, upper = box("Lower", (1.2, 0.1, 0.1)), box("Upper", (0.1, 0.1, 0.1))
    for vertex in upper.data.vertices:
        vertex.co.x += 1
    for item in (lower, upper):
        for frame, angle in ((1, 0.3), (3, 0.3 + 2 * turns * math.tau)):
            item.rotation_euler = (0, 0, angle)
            item.keyframe_insert("rotation_euler", frame=frame)
    heights = {1: gap, 1.37: -0.2 * gap, 1.45: 0.3 * gap, 3: 0.2 * gap}
    key_location(lower, {frame: (0, 0, 0.2 + height) for frame, height in heights.items()})
    for item in (lower, upper):
        for curve in curves(item.animation_data.action):
            for each in curve.keyframe_points:
                each.interpolation = "LINEAR"
    (contact,) = contacts("obb", last=3).values()
    expected = 1 + 0.37 / 1.2
    # In single precision, the height is rounded to 1.5e-8, at 0.0016 per frame.
    assert contact.first.frame == pytest.approx(expected, abs=contact.first.uncertainty + 1e-4)
    assert contact.first.uncertainty < 1e-3


def crossing_boxes():
    """Two boxes of which one passes through the other, from x = 5 to 0 and on: they touch at x = 2."""
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1))
    key_location(mover, {1: (5, 0, 0), 11: (-5, 0, 0)})
    return frozenset(("Mover", "Wall"))


@pytest.mark.parametrize("shape", ["aabb", "sphere", "obb"])
def test_curve_without_an_end_leaves_its_object_out_and_the_contacts_of_others_in(shape):
    pair, comet = crossing_boxes(), box("Comet", (1, 1, 1), (0, 50, 0))
    key_location(comet, {1: (0, 50, 0), 2: (0, 50, 0), 3: (1e16, 50, 0)})
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    result = scan_scene(shape=shape)
    assert contacts_by_names(result).keys() == {pair}
    reasons = {each.name: each.reason for each in result.skipped}
    assert reasons.keys() == {"Comet"} and "is not a number up to 1e+15" in reasons["Comet"]


@pytest.mark.parametrize("shape", ["aabb", "sphere", "obb"])
def test_object_that_keys_hide_is_reported_with_its_first_absent_frame(shape):
    pair, hidden = crossing_boxes(), box("Hidden", (1, 1, 1), (0, 50, 0))
    for frame, is_hidden in ((1, False), (4, True), (8, False)):
        hidden.hide_viewport = is_hidden
        hidden.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    result = scan_scene(shape=shape)
    assert contacts_by_names(result)[pair].first.motion == "proven"
    assert {each.name: each.reason for each in result.skipped} == {
        "Hidden": "not present at frame 4: skipped while absent"
    }


@pytest.mark.parametrize("shape", ["aabb", "sphere"])
def test_shape_that_its_padding_leaves_nothing_of_while_its_object_is_small_touches_nothing_then(shape):
    # Object and wall overlap all the time; scales between 0.3 and 2 leave something of a padding of -0.4.
    mover = box("Mover", (1, 1, 1))
    box("Wall", (1, 1, 1), (0.1, 0, 0))
    for frame, scale in ((1, 2.0), (6, 0.1), (11, 2.0)):
        mover.scale = (scale, scale, scale)
        mover.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    result = scan_scene(shape=shape, fit=FitSettings(padding=-0.4))
    (contact,) = contacts_by_names(result).values()
    assert any("a padding of -0.4 is larger than the shape" in each.reason for each in result.skipped)
    assert len(contact.intervals) == 2
    assert not any(span.start <= 6 <= span.end for span in contact.intervals)


@pytest.mark.parametrize("shape", ["aabb", "sphere"])
def test_motion_of_shapes_of_negative_padding_that_only_move_is_proven(shape):
    pair = crossing_boxes()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    result = scan_scene(shape=shape, fit=FitSettings(padding=-0.4))
    assert contacts_by_names(result)[pair].first.motion == "proven"
