"""Contacts of objects with animated scale, visibility, curves, text and metaballs.

The reference is a formula, or Blender evaluated at every 1/128 frame by code of the test.
"""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.formats import dumps, parse_document
from tests.scene.sampling import (
    Array,
    add_box,
    add_faces,
    add_object,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    find_touch,
    go_to,
    key,
    scan_scene,
    world_points,
)
from tests.tiers import is_quick

pytestmark = pytest.mark.usefixtures("empty_file")


def assert_first_contact_matches(a: str, b: str, frames: tuple[int, int]) -> None:
    """Compare the first contact of two boxes with boxes around the evaluated vertices."""
    contact = contacts_by_names(scan_scene(frames=(*frames, 1)))[frozenset((a, b))]
    times = np.linspace(*frames, 128 * (frames[1] - frames[0]) + 1)
    if is_quick():
        # Sample densely only around the half frame of the contact.
        coarse = times[::64]
        first = find_touch(coarse, box_gaps(a, b, coarse)).first
        assert first is not None
        start = np.searchsorted(coarse, first)
        times = times[max(64 * (start - 2), 0) : 64 * start + 1]
    reference = find_touch(times, box_gaps(a, b, times))
    assert reference.first is not None and reference.first > frames[0]
    assert contact.first.frame == pytest.approx(reference.first, abs=1e-3 + 4e-6 / reference.slope)
    assert contact.first.frame <= reference.first + contact.first.uncertainty + 5e-4
    assert contact.first.motion in ("sampled", "proven")


def box_gaps(a: str, b: str, times: Array) -> Array:
    """Gaps (t,) between the boxes of two objects around their evaluated vertices."""
    gaps = []
    for time in times:
        go_to(time)
        first, second = world_points(a), world_points(b)
        gaps.append(np.maximum(first.min(0) - second.max(0), second.min(0) - first.max(0)).max())
    return np.array(gaps)


def test_growing_ball_touches_wall():
    ball = add_points("Ball", ball_points(1.0))
    add_points("Wall", box_points((0.5, 2, 2))).location.x = 4.5
    key(ball, "scale", [(1, (1, 1, 1)), (11, (6, 6, 6))])
    contact = contacts_by_names(scan_scene(shape="sphere", frames=(1, 11, 5)))[frozenset(("Ball", "Wall"))]
    # The radius grows by 0.5 per frame. The sphere of the wall has the radius sqrt(8.25).
    assert contact.first.frame == pytest.approx(1 + 2 * (3.5 - 8.25**0.5), abs=1e-4)
    # The near side of the wall is at x = 4. The box of the ball ends at its greatest x, which is less than
    # its radius.
    reach = np.abs(ball_points(1.0))[:, 0].max()
    contact = contacts_by_names(scan_scene(frames=(1, 11, 5)))[frozenset(("Ball", "Wall"))]
    assert contact.first.frame == pytest.approx(1 + 2 * (4 / reach - 1), abs=1e-4)


def test_blade_that_turns_within_its_sphere_hits_post_with_its_mesh():
    # The blade's sphere is at rest. Its half width is 0.05, and the post's near edge is at y = 0.9 - 0.02.
    blade = add_box("Blade", (1, 0.05, 0.05))
    key(blade, "rotation_euler", [(1, (0, 0, 0)), (24, (0, 0, math.radians(46)))])
    post = add_box("Post", (0.01, 0.01, 0.01))
    post.location = (0.5, 0.5, 0)
    (contact,) = scan_scene(shape="sphere", frames=(1, 24, 1)).report.contacts
    assert contact.first.at_start
    assert [(span.start, span.end) for span in contact.intervals] == [(1, 24)]
    # The corner (0.51, 0.49) is at an angle below 45 degrees, the blade's side ahead of its center line.
    reach = math.hypot(0.51, 0.49)
    angle = math.atan2(0.49, 0.51) - math.asin(0.05 / reach)
    (contact,) = scan_scene(shape="mesh", frames=(1, 24, 1)).report.contacts
    assert contact.first.frame == pytest.approx(1 + 23 * math.degrees(angle) / 46, abs=1e-3)
    assert [span.end for span in contact.intervals] == [24]


@pytest.mark.parametrize("obstacle", [False, True])
def test_shape_key_that_moves_vertices_within_the_bounds_is_a_motion(obstacle):
    # A membrane in a frame, of which the middle swings from side to side within the bounds.
    frame = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    membrane = add_faces("Membrane", [*frame, (0, 0, -0.5)], [(0, 1, 8), (2, 3, 8), (0, 1, 3, 2)])
    membrane.shape_key_add(name="Basis")
    up = membrane.shape_key_add(name="Up")
    up.data[8].co.z = 0.5
    key(up, "value", [(1, 0.0), (24, 1.0)])
    ball = add_box("Ball", (0.1, 0.1, 0.1))
    shape = {"shape": "aabb"}
    if obstacle:
        # The obstacle turns about an axis through the center of the sphere.
        key(ball, "rotation_euler", [(1, (0, 0, 0)), (24, (0, 0, 1))])
        shape = {"shape": "sphere", "obstacles": ("Ball",)}
    assert scan_scene(frames=(1, 1, 1), **shape).report.contacts
    (contact,) = scan_scene(frames=(1, 24, 1), **shape).report.contacts
    assert [(span.start, span.end) for span in contact.intervals] == [(1, 24)]
    membrane.data.shape_keys.animation_data_clear()
    ball.animation_data_clear()
    key(add_box("Far", (1, 1, 1)), "location", [(1, (0, 0, 50)), (24, (0, 0, 90))])
    report = scan_scene(frames=(1, 24, 1), **shape).report
    assert not report.contacts and len(report.static_overlaps) == 1


@pytest.mark.parametrize("interpolation", ["LINEAR", "ELASTIC", "CONSTANT"])
def test_scale_that_passes_zero_and_mirrors_causes_contact(interpolation):
    mirrored = add_points("Mirrored", np.array([(0, 0, 0), (1, 0.3, 0.2), (2, -0.2, 0.1)]))
    add_points("Wall", box_points((0.2, 2, 2))).location.x = -3
    key(mirrored, "scale", [(1, (1, 1, 1)), (12, (-2.5, 1, -1))], interpolation)
    if interpolation == "CONSTANT":
        contact = contacts_by_names(scan_scene(frames=(1, 14, 1)))[frozenset(("Mirrored", "Wall"))]
        # The scale jumps at frame 12. The reported contact may be during the jump, but not later.
        assert 11 <= contact.first.frame <= 12
    else:
        assert_first_contact_matches("Mirrored", "Wall", (1, 12))


def test_rotating_child_sheared_by_parent_touches_wall():
    parent = add_object("Parent")
    bar = add_points("Bar", box_points((1.0, 0.2, 0.2)))
    bar.parent = parent
    add_points("Wall", box_points((0.2, 0.2, 2))).location = (0.5, 2.0, 0)
    key(parent, "scale", [(1, (1, 1, 1)), (15, (1, 3, 1))], "SINE")
    key(bar, "rotation_euler", [(1, (0, 0, 0)), (15, (0, 0, 1.4))])
    assert_first_contact_matches("Bar", "Wall", (1, 15))


@pytest.mark.parametrize("hidden_by", [pytest.param("keys", marks=pytest.mark.smoke), "driver"])
def test_hidden_object_has_no_contact_until_visible_again(hidden_by):
    ghost = add_points("Ghost", box_points((0.5, 0.5, 0.5)))
    add_points("Wall", box_points((0.5, 0.5, 0.5)))
    # It is in the wall at frames 11 and 31, and hidden from 5 to 24.
    key(ghost, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0)), (41, (-10, 0, 0))])
    if hidden_by == "keys":
        for frame, hidden in ((1, False), (5, True), (25, False)):
            ghost.hide_viewport = hidden
            ghost.keyframe_insert("hide_viewport", frame=frame)
    else:
        ghost.driver_add("hide_viewport").driver.expression = "frame >= 5 and frame < 25"
    bpy.context.scene.frame_set(1)
    result = scan_scene(frames=(1, 41, 1))
    (span,) = contacts_by_names(result)[frozenset(("Ghost", "Wall"))].intervals
    assert (span.start, span.end) == pytest.approx((30, 32), abs=1e-3)
    assert [(entry.name, "not present at frame 5" in entry.reason) for entry in result.skipped] == [
        ("Ghost", True)
    ]
    parse_document(dumps(result.document()))


def test_object_hidden_at_first_frame_is_reported_as_late():
    late = add_points("Late", box_points((0.5, 0.5, 0.5)))
    key(late, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0))])
    add_points("Wall", box_points((0.5, 0.5, 0.5)))
    for frame, hidden in ((1, True), (5, False)):
        late.hide_viewport = hidden
        late.keyframe_insert("hide_viewport", frame=frame)
    result = scan_scene(frames=(1, 21, 1))
    assert contacts_by_names(result) == {}
    assert any(entry.name == "Late" and "appears at frame 5" in entry.reason for entry in result.skipped)
    # A scan that starts when it is visible includes it.
    assert frozenset(("Late", "Wall")) in contacts_by_names(scan_scene(frames=(5, 21, 1)))


def test_rotating_growing_text_touches_moving_curve():
    text = bpy.data.curves.new("Text", "FONT")
    text.body, text.extrude, text.resolution_u = "Bounds", 0.1, 2
    key(add_object("Text", text), "rotation_euler", [(1, (0, 0, 0)), (12, (0.3, 0, 1.5))], "SINE")
    key(text, "extrude", [(1, 0.1), (12, 0.4)])
    hose = bpy.data.curves.new("Hose", "CURVE")
    hose.dimensions, hose.bevel_depth, hose.bevel_resolution = "3D", 0.1, 1
    line = hose.splines.new("BEZIER")
    line.bezier_points.add(1)
    line.bezier_points[0].co, line.bezier_points[1].co = (0, 0, 0), (1, 1, 0)
    key(add_object("Hose", hose), "location", [(1, (-3, 1.5, 0)), (12, (0.5, 1.5, 0))], "QUAD")
    assert_first_contact_matches("Text", "Hose", (1, 12))


def test_text_that_handler_changes_is_refitted():
    text = bpy.data.curves.new("Text", "FONT")
    text.extrude, text.body = 0.1, "I"
    add_object("Text", text)
    add_points("Wall", box_points((0.1, 5, 5))).location.x = 3
    bpy.app.handlers.frame_change_pre.append(
        lambda scene, _: setattr(bpy.data.curves["Text"], "body", "I" * max(1, int(scene.frame_float)))
    )
    try:
        contact = contacts_by_names(scan_scene(frames=(1, 30, 1)))[frozenset(("Text", "Wall"))]
        touching = []
        for frame in range(1, 31):
            bpy.context.scene.frame_set(frame)
            touching.append(world_points("Text")[:, 0].max() >= 2.9)
    finally:
        bpy.app.handlers.frame_change_pre.clear()
    first = 1 + touching.index(True)
    assert first > 2
    assert first - 1 <= contact.first.frame <= first


def test_moving_metaball_touches_wall():
    ball = bpy.data.metaballs.new("Drop")
    ball.resolution = 0.2
    ball.elements.new().radius = 1.0
    key(add_object("Drop", ball), "location", [(1, (-4, 0, 0)), (11, (4, 0, 0))])
    add_points("Wall", box_points((0.1, 3, 3))).location.x = 2
    assert_first_contact_matches("Drop", "Wall", (1, 11))
