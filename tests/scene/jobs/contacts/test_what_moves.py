"""Scale, visibility, curves and text that change while frames go by, beside what else moves things.

The truth is a formula, or Blender evaluated at every 1/128 frame by the tests' own code.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.formats import dumps, parse_document
from tests.scene.sampled import (
    Array,
    add_object,
    add_points,
    ball_points,
    box_points,
    contacts_by_names,
    go_to,
    key,
    scanned,
    touch,
    world_points,
)
from tests.tiers import is_quick

pytestmark = pytest.mark.usefixtures("empty_file")


def assert_first_as_shown(a: str, b: str, frames: tuple[int, int]) -> None:
    """The first contact of two boxes against the boxes of what Blender shows."""
    contact = contacts_by_names(scanned(frames=(*frames, 1)))[frozenset((a, b))]
    times = np.linspace(*frames, 128 * (frames[1] - frames[0]) + 1)
    if is_quick():
        # Look closely only around the half frames that tell when.
        coarse = times[::64]
        first = touch(coarse, gaps_shown(a, b, coarse)).first
        assert first is not None
        begin = np.searchsorted(coarse, first)
        times = times[max(64 * (begin - 2), 0) : 64 * begin + 1]
    truth = touch(times, gaps_shown(a, b, times))
    assert truth.first is not None and truth.first > frames[0]
    assert contact.first.frame == pytest.approx(truth.first, abs=1e-3 + 4e-6 / truth.slope)
    assert contact.first.frame <= truth.first + contact.first.uncertainty + 5e-4
    assert contact.first.motion == "adaptive"


def gaps_shown(a: str, b: str, times: Array) -> Array:
    """(t,) between the boxes of two things as Blender shows them."""
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
    contact = contacts_by_names(scanned(shape="sphere", frames=(1, 11, 5)))[frozenset(("Ball", "Wall"))]
    # Half a metre a frame; the wall's sphere has the root of 8.25 as its radius.
    assert contact.first.frame == pytest.approx(1 + 2 * (3.5 - 8.25**0.5), abs=1e-4)
    # Its box has the wall's near side, at 4, when three metres were added to it. Points of a ball need not
    # reach as far along X as its radius.
    reach = np.abs(ball_points(1.0))[:, 0].max()
    contact = contacts_by_names(scanned(frames=(1, 11, 5)))[frozenset(("Ball", "Wall"))]
    assert contact.first.frame == pytest.approx(1 + 2 * (4 / reach - 1), abs=1e-4)


@pytest.mark.parametrize("interpolation", ["LINEAR", "ELASTIC", "CONSTANT"])
def test_scale_through_zero_to_mirrored(interpolation):
    odd = add_points("Odd", np.array([(0, 0, 0), (1, 0.3, 0.2), (2, -0.2, 0.1)]))
    add_points("Wall", box_points((0.2, 2, 2))).location.x = -3
    key(odd, "scale", [(1, (1, 1, 1)), (12, (-2.5, 1, -1))], interpolation)
    if interpolation == "CONSTANT":
        contact = contacts_by_names(scanned(frames=(1, 14, 1)))[frozenset(("Odd", "Wall"))]
        # At once, at frame 12: a scan may say that they meet while it leaps, never later.
        assert 11 <= contact.first.frame <= 12
    else:
        assert_first_as_shown("Odd", "Wall", (1, 12))


def test_non_uniformly_scaled_parent_shears_rotating_child():
    parent = add_object("Parent")
    bar = add_points("Bar", box_points((1.0, 0.2, 0.2)))
    bar.parent = parent
    add_points("Wall", box_points((0.2, 0.2, 2))).location = (0.5, 2.0, 0)
    key(parent, "scale", [(1, (1, 1, 1)), (15, (1, 3, 1))], "SINE")
    key(bar, "rotation_euler", [(1, (0, 0, 0)), (15, (0, 0, 1.4))])
    assert_first_as_shown("Bar", "Wall", (1, 15))


@pytest.mark.parametrize("hidden_by", [pytest.param("keys", marks=pytest.mark.smoke), "driver"])
def test_hidden_object_has_no_contact_until_visible_again(hidden_by):
    ghost = add_points("Ghost", box_points((0.5, 0.5, 0.5)))
    add_points("Wall", box_points((0.5, 0.5, 0.5)))
    # Through the wall at 11, back through it at 31; hidden from 5 to 24.
    key(ghost, "location", [(1, (-10, 0, 0)), (21, (10, 0, 0)), (41, (-10, 0, 0))])
    if hidden_by == "keys":
        for frame, hidden in ((1, False), (5, True), (25, False)):
            ghost.hide_viewport = hidden
            ghost.keyframe_insert("hide_viewport", frame=frame)
    else:
        ghost.driver_add("hide_viewport").driver.expression = "frame >= 5 and frame < 25"
    bpy.context.scene.frame_set(1)
    result = scanned(frames=(1, 41, 1))
    (span,) = contacts_by_names(result)[frozenset(("Ghost", "Wall"))].intervals
    assert (span.start, span.end) == pytest.approx((30, 32), abs=1e-3)
    assert [(entry.name, "not there at frame 5" in entry.reason) for entry in result.skipped] == [
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
    result = scanned(frames=(1, 21, 1))
    assert contacts_by_names(result) == {}
    assert any(entry.name == "Late" and "comes in at frame 5" in entry.reason for entry in result.skipped)
    # From when it is there it is a subject like any other.
    assert frozenset(("Late", "Wall")) in contacts_by_names(scanned(frames=(5, 21, 1)))


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
    assert_first_as_shown("Text", "Hose", (1, 12))


def test_text_with_changing_words_is_refitted():
    text = bpy.data.curves.new("Text", "FONT")
    text.extrude, text.body = 0.1, "I"
    add_object("Text", text)
    add_points("Wall", box_points((0.1, 5, 5))).location.x = 3
    bpy.app.handlers.frame_change_pre.append(
        lambda scene, _: setattr(bpy.data.curves["Text"], "body", "I" * max(1, int(scene.frame_float)))
    )
    try:
        contact = contacts_by_names(scanned(frames=(1, 30, 1)))[frozenset(("Text", "Wall"))]
        shown = []
        for frame in range(1, 31):
            bpy.context.scene.frame_set(frame)
            shown.append(world_points("Text")[:, 0].max() >= 2.9)
    finally:
        bpy.app.handlers.frame_change_pre.clear()
    first = 1 + shown.index(True)
    assert first > 2
    assert first - 1 <= contact.first.frame <= first


def test_metaballs_that_merge():
    ball = bpy.data.metaballs.new("Drop")
    ball.resolution = 0.2
    ball.elements.new().radius = 1.0
    key(add_object("Drop", ball), "location", [(1, (-4, 0, 0)), (11, (4, 0, 0))])
    add_points("Wall", box_points((0.1, 3, 3))).location.x = 2
    assert_first_as_shown("Drop", "Wall", (1, 11))
