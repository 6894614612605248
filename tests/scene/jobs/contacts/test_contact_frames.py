"""Frames of reported contacts are those of the timeline, for any range, step and frame rate.

The reference is a formula, and the scene itself: the boxes must touch at the reported frame.
"""

from __future__ import annotations

import json
import math

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.settings import BoundsSettings, ContactSettings, FitSettings
from addon.scene.subjects.subject import identify_subjects
from tests.scene.sampling import (
    add_points,
    box_points,
    contacts_by_names,
    curves_of,
    go_to,
    key,
    scan_scene,
    world_points,
)

pytestmark = pytest.mark.usefixtures("empty_file")

PAIR = frozenset(("Dot", "Block"))


def add_pair(*keys: tuple[float, tuple[float, float, float]]) -> bpy.types.Object:
    """Add a block at the origin and a dot with keyed locations, of half size 0.5. Returns the dot."""
    add_points("Block", box_points((0.5, 0.5, 0.5)))
    dot = add_points("Dot", box_points((0.5, 0.5, 0.5)))
    if keys:
        key(dot, "location", keys)
    return dot


def only_contact(**settings: object):
    return contacts_by_names(scan_scene(**settings))[PAIR]


def current_gap() -> float:
    """Gap between both boxes at the current frame."""
    dot, block = world_points("Dot"), world_points("Block")
    return float(np.maximum(dot.min(0) - block.max(0), block.min(0) - dot.max(0)).max())


def assert_contact_starts_at(frame: float, margin: float = 1e-3) -> None:
    """Assert that the boxes are separate just before a frame and overlap just after it."""
    go_to(frame - margin)
    assert current_gap() > 0
    go_to(frame + margin)
    assert current_gap() < 0


# ---- Time remapping and frame rate


@pytest.mark.parametrize(("old", "new"), [(100, 200), (100, 50), (30, 40)])
@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_remapped_time_is_reported_in_timeline_frames(old, new, motion):
    add_pair((0, (-10, 0, 0)), (20, (10, 0, 0)))
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new, render.fps = old, new, 30
    result = scan_scene(frames=(-3, 50, 1), motion=motion)
    contact = contacts_by_names(result)[PAIR]
    # The dot moves by 1 per frame of the animation, from x = -10 at 0. The sum of half sizes is 1: they
    # touch at frame 9 of the animation. Blender scales the animation by new / old.
    expected = 9 * new / old
    assert contact.first.frame == pytest.approx(expected, abs=1e-5)
    assert contact.intervals[0].end == pytest.approx(11 * new / old, abs=1e-5)
    assert_contact_starts_at(contact.first.frame)
    (written,) = parse_document(dumps(result.document()))["contacts"]
    # Rendered frames are those of the timeline, played at the frame rate of the scene.
    assert written["first"]["seconds"] == pytest.approx(expected / 30, abs=1e-5)


def test_bounds_of_remapped_time_report_playhead_frame():
    add_pair((0, (-10, 0, 0)), (20, (10, 0, 0)))
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    scene.frame_set(20)
    document = compute_bounds(scene, BoundsSettings()).document()
    assert document["time"]["referenceFrame"] == 20
    # The frame of the document gives the same document.
    assert compute_bounds(scene, BoundsSettings(frame=20.0)).document() == document


def test_overlay_of_remapped_time_highlights_reported_frames():
    add_pair((0, (-10, 0, 0)), (20, (10, 0, 0)))
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    result = scan_scene(frames=(0, 40, 1))
    live = LiveSubjects(result, identify_subjects(result.subjects))
    # In contact from 18 to 22.
    for frame, touching in ((10, False), (17, False), (18.5, True), (21, True), (23, False)):
        go_to(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        shown = live.update(depsgraph, FitSettings(), ("aabb",), "aabb", use_report=True)
        assert shown.in_contact.all() == shown.in_contact.any() == touching, frame


def test_simulation_in_remapped_time_is_played_from_its_start():
    add_pair((1, (-10, 0, 0)), (21, (10, 0, 0)))
    scene = bpy.context.scene
    # Twice as fast: frame 4 of the timeline is frame 8 of the animation and of the cache.
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 50
    flag = add_points("Flag", [(0, 50, 0)])
    flag.modifiers.new("Cloth", "CLOTH").point_cache.frame_start = 8
    frames = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _: frames.append(scene.frame_current))
    try:
        scan_scene(frames=(7, 9, 1))
    finally:
        bpy.app.handlers.frame_change_post.clear()
    assert frames[:4] == [4, 5, 6, 7]


@pytest.mark.parametrize(("fps", "base"), [(24, 1.0), (24, 1.001), (60, 1.001), (25, 3.0)])
def test_seconds_depend_on_frame_rate_and_frames_do_not(fps, base):
    add_pair((0, (-10, 0, 0)), (10, (0, 0, 0)))
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, base
    (written,) = parse_document(dumps(scan_scene(frames=(0, 10, 1)).document()))["contacts"]
    assert written["first"]["frame"] == pytest.approx(9, abs=1e-5)
    assert written["first"]["seconds"] == pytest.approx(9 * base / fps, abs=1e-5)


# ---- Frame ranges


@pytest.mark.parametrize(
    "step", [0.3, 7.5, *(pytest.param(step, marks=pytest.mark.long) for step in (0.25, 1, 3, 1000))]
)
@pytest.mark.parametrize(
    "start", [-20, 1.5, *(pytest.param(start, marks=pytest.mark.long) for start in (-11.5, 0.999))]
)
def test_first_contact_is_independent_of_start_and_step(start, step):
    # Eased, so that linear motion between samples is not accurate.
    dot = add_pair((-20, (-10, 0, 0)), (30, (10, 0, 0)))
    for curve in curves_of(dot):
        for point in curve.keyframe_points:
            point.interpolation, point.easing = "QUAD", "EASE_IN"
    contact = only_contact(frames=(start, 30, step))
    # x = -10 + 20 ((f + 20) / 50)^2 is -1 at (f + 20) / 50 = sqrt(0.45).
    expected = -20 + 50 * math.sqrt(0.45)
    assert contact.first.frame == pytest.approx(expected, abs=1e-3)
    assert contact.first.frame <= expected + contact.first.uncertainty + 1e-4
    assert_contact_starts_at(contact.first.frame, margin=2e-3)


@pytest.mark.parametrize(
    "frames", [(-500, -400, 1), (400, 500, 1), (-1_048_574, -1_048_570, 1), (1_048_570, 1_048_574, 1)]
)
def test_objects_rest_before_first_and_after_last_key(frames):
    # Before its first key the dot overlaps the block, after its last key it is far away.
    add_pair((0, (0.5, 0, 0)), (20, (10, 0, 0)))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 20
    found = contacts_by_names(scan_scene(frames=frames, static_pairs=True))
    if frames[0] > 0:
        assert found == {}
    else:
        contact = found[PAIR]
        assert contact.first.at_start
        assert contact.first.frame == frames[0]
        assert [(span.start, span.end) for span in contact.intervals] == [frames[:2]]


def test_range_outside_scene_range_is_scanned():
    add_pair((-20, (-10, 0, 0)), (0, (10, 0, 0)), (300, (10, 0, 0)), (320, (-10, 0, 0)))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 10, 50
    bpy.context.scene.use_preview_range = True
    bpy.context.scene.frame_preview_start, bpy.context.scene.frame_preview_end = 20, 30
    assert contacts_by_names(scan_scene()) == {}
    spans = [(span.start, span.end) for span in only_contact(frames=(-30, 400, 1)).intervals]
    assert np.allclose(spans, [(-11, -9), (309, 311)], atol=1e-4)


@pytest.mark.parametrize(
    "frames",
    [
        (1, 1_048_575, 1),
        (-1_048_575, 1, 1),
        (1, math.inf, 1),
        (-math.inf, 1, 1),
        (math.nan, 1, 1),
        (1, math.nan, 1),
        (1, 2, math.inf),
        (1, 2, math.nan),
        (5, 4, 1),
        (1, 2, 0),
        (1, 2, -1),
        (1, 1e300, 1e299),
    ],
)
def test_invalid_frame_range_raises_error_of_one_line(frames):
    add_pair()
    bpy.context.scene.frame_set(3)
    with pytest.raises(CollisionBoundsError, match="frame") as error:
        next(find_contacts(bpy.context.scene, ContactSettings(shape="aabb", frames=frames)))
    assert "\n" not in str(error.value)
    assert bpy.context.scene.frame_current == 3


@pytest.mark.parametrize("frames", ["1:9999999", "-9999999:1", "1:1e300:1e299", "1:inf", "1:2:1e-9"])
def test_command_line_reports_invalid_frame_range_in_one_line(frames, tmp_path, capsys):
    add_pair()
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    capsys.readouterr()  # discards the message of saving
    assert main(["contacts", path, "--frames", frames], opens_file=True) == 2
    output = capsys.readouterr()
    assert output.err.startswith("collision_bounds: ") and output.err.count("\n") == 1
    assert "frame" in output.err


@pytest.mark.parametrize("frame", [1.5, -7.25, -0.5, 4])
def test_single_frame_reports_overlaps_and_keeps_playhead(frame):
    add_pair((-20, (-20, 0, 0)), (20, (20, 0, 0)))
    go_to(-3.75)
    before = bpy.context.scene.frame_float
    assert before == -3.75
    found = contacts_by_names(scan_scene(frames=(frame, frame, 1)))
    # The dot is at x = frame.
    assert (PAIR in found) == (abs(frame) <= 1)
    if PAIR in found:
        assert found[PAIR].first.at_start and found[PAIR].first.frame == frame
        assert (found[PAIR].intervals[0].start, found[PAIR].intervals[0].end) == (frame, frame)
    assert bpy.context.scene.frame_float == before


@pytest.mark.parametrize("playhead", [-3.75, -0.5, -1.0, 0.25, 2.5, 100_000.5])
@pytest.mark.parametrize("ending", ["success", "cancel", "error"])
def test_fractional_and_negative_playhead_is_restored(playhead, ending):
    add_pair((-20, (-20, 0, 0)), (20, (20, 0, 0)))
    scene = bpy.context.scene
    go_to(playhead)
    before = (scene.frame_current, scene.frame_subframe)
    job = find_contacts(scene, ContactSettings(shape="aabb", frames=(-5, 5, 1)))
    next(job)
    if ending == "success":
        list(job)
    elif ending == "cancel":
        job.close()
    else:
        with pytest.raises(RuntimeError, match="on purpose"):
            job.throw(RuntimeError("on purpose"))
    assert (scene.frame_current, scene.frame_subframe) == before
    # The scene is evaluated at the playhead. Before its first and after its last key the dot does not move.
    x = world_points("Dot")[:, 0].mean()
    assert x == pytest.approx(min(max(playhead, -20), 20), abs=1e-5)


# ---- NLA strips and drivers


@pytest.mark.parametrize("reverse", [False, True])
def test_contacts_of_scaled_repeated_and_reversed_nla_strip(reverse):
    dot = add_pair((0, (-10, 0, 0)), (10, (0, 0, 0)))
    action = dot.animation_data.action
    dot.animation_data.action = None
    strip = dot.animation_data.nla_tracks.new().strips.new("Walk", 5, action)
    strip.extrapolation, strip.scale, strip.repeat, strip.use_reverse = "HOLD", 2.0, 2.0, reverse
    spans = [(span.start, span.end) for span in only_contact(frames=(-5, 60, 1)).intervals]
    # The strip is twice as long, so the dot moves by 0.5 per frame. It starts at frame 5, and again at 25,
    # for 20 frames each, and holds its pose outside. They touch at x = -1: 18 frames after a start, or,
    # reversed, until 2 frames after it.
    if reverse:
        assert np.allclose(spans, [(-5, 7), (25, 27)], atol=1e-3)
    else:
        # At frame 25 the dot jumps back. The end of a contact is less accurate than its start.
        assert np.allclose(spans, [(23, 25), (43, 60)], atol=1e-2)
        assert spans[0][0] == pytest.approx(23, abs=1e-3)


@pytest.mark.smoke
def test_contact_during_blend_of_nla_strips():
    dot = add_pair((0, (-10, 0, 0)), (1, (-10, 0, 0)))
    far_action = dot.animation_data.action
    dot.animation_data.action = None
    strip = dot.animation_data.nla_tracks.new().strips.new("Far", 0, far_action)
    strip.action_frame_end, strip.frame_end = 1, 1
    dot.location = (0, 0, 0)
    dot.animation_data.action = None
    dot.keyframe_insert("location", frame=0)
    near_action = dot.animation_data.action
    dot.animation_data.action = None
    upper = dot.animation_data.nla_tracks.new().strips.new("Near", 10, near_action)
    upper.scale = 1.0
    upper.frame_end = 30
    upper.blend_type, upper.blend_in = "REPLACE", 20
    contact = only_contact(frames=(0, 30, 1))
    assert contact.first.motion == "sampled"
    assert not contact.first.at_start
    assert_contact_starts_at(contact.first.frame)
    # Blender blends linearly. A tenth of the distance remains at the contact.
    assert contact.first.frame == pytest.approx(28, abs=1e-2)


@pytest.mark.smoke
def test_contact_of_driver_with_remapped_time():
    dot = add_pair()
    dot.driver_add("location", 0).driver.expression = "frame - 10"
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 300
    contact = only_contact(frames=(0, 60, 1))
    # In a driver, `frame` is that of the animation: x = -1 at its frame 9, which is frame 27 of the timeline.
    assert contact.first.frame == pytest.approx(27, abs=1e-4)
    assert_contact_starts_at(contact.first.frame)
    assert json.loads(dumps(scan_scene(frames=(0, 60, 1)).document()))["time"]["frameEnd"] == 60
