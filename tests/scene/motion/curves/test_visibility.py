"""When keys hide and show objects, compared with what Blender shows."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.motion.known_motion import read_curve_poses
from addon.scene.settings import Selection
from tests.scene.building import add_object, add_vertices, curves, key_location
from tests.scene.sampling import contacts_by_names, go_to, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

FIRST, LAST = 1, 9


def hide(item, keys):
    """Hide or show an object by keys, a dict of frames; return the curve."""
    for frame, is_hidden in keys.items():
        item.hide_viewport = is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    (curve,) = (each for each in curves(item.animation_data.action) if each.data_path == "hide_viewport")
    return curve


def known_poses(items):
    uids = np.array([item.session_uid for item in items])
    is_candidate = np.ones(len(items), dtype=bool)
    steps = read_curve_poses(bpy.context.scene.session_uid, uids, is_candidate, (FIRST, LAST), ~is_candidate)
    return run_to_end(steps)


def shown_by_blender(items, times):
    names = [item.name for item in items]
    result = []
    for time in times:
        go_to(time)
        instances = bpy.context.evaluated_depsgraph_get().object_instances
        shown = {instance.object.name for instance in instances}
        result.append([name in shown for name in names])
    return np.array(result)


def add_hidden_at_random(generator, number):
    """Add an object with keys that hide it, at whole frames, parts or any times; repeated, muted, or not."""
    item = add_vertices(f"Object {number}")
    parts = generator.choice((1, 2, 64, None))
    times = [generator.uniform(FIRST - 2, LAST + 2) for _ in range(generator.randint(1, 5))]
    times = {round(time * parts) / parts for time in times} if parts else times
    curve = hide(item, {time: generator.random() < 0.5 for time in sorted(times)})
    item.hide_viewport = False
    curve.extrapolation = generator.choice(("CONSTANT", "LINEAR"))
    if parts and len(times) > 1 and generator.random() < 0.5:
        curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
        curve.modifiers.new("CYCLES")
    curve.mute = generator.random() < 0.1
    curve.update()
    return item


@pytest.mark.smoke
def test_objects_are_shown_when_blender_shows_them():
    generator = random.Random(1)
    items = [add_hidden_at_random(generator, number) for number in range(40)]
    poses = known_poses(items)
    assert poses.is_known.all()
    switches = poses.visibility.switches(poses.rows)
    assert len(switches) > 25
    # Blender shows a key from 0.0001 frames before it on.
    near = (switches[:, None] + np.array([-3e-4, -1.5e-4, -5e-5, 0, 5e-5])).ravel()
    times = np.unique([*np.arange(FIRST * 16, LAST * 16 + 1) / 16, *near])
    times = times[(times >= FIRST) & (times <= LAST)]
    shown = poses.visibility.are_shown(poses.rows, times[:, None])
    np.testing.assert_array_equal(shown, shown_by_blender(items, times))
    # All changes are switches.
    is_change = (shown[1:] != shown[:-1]).any(axis=1)
    changed = np.flatnonzero(is_change)
    assert all(((switches > times[row]) & (switches < times[row + 1] + 1.1e-4)).any() for row in changed)


def test_curve_with_an_index_hides_too():
    item = add_vertices("Item")
    curve = hide(item, {1: False, 5: True})
    curve.array_index = 3
    poses = known_poses([item])
    times = np.arange(FIRST, LAST + 1.0)
    shown = shown_by_blender([item], times)
    assert shown[:, 0].tolist() == [time < 5 for time in times]
    np.testing.assert_array_equal(poses.visibility.are_shown(poses.rows, times[:, None]), shown)


def test_object_that_something_else_hides_is_not_known():
    item, other = add_vertices("Item"), add_vertices("Other")
    for each in (item, other):
        hide(each, {1: False, 5: True})
    poses = known_poses([item, other])
    both = np.ones(2, dtype=bool)
    matrices = np.tile(np.eye(4), (2, 1, 1))
    poses.compare(2, both, matrices, {})
    assert poses.is_known.all()
    poses.compare(6, np.array([False, True]), matrices, {})
    assert poses.is_known.tolist() == [True, False]


def crossing():
    """Add a box that passes another one in x, both of side 2, and touches it from frame 4 to 8."""
    mover, wall = add_vertices("Mover"), add_vertices("Wall")
    key_location(mover, {1: (-5, 0, 0), 11: (5, 0, 0)})
    for curve in curves(mover.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    bpy.context.scene.frame_set(1)
    return mover, wall


def only_contact(**settings):
    (contact,) = contacts_by_names(scan_scene(shape="aabb", **settings)).values()
    return contact, [pytest.approx((span.start, span.end), abs=1e-3) for span in contact.intervals]


@pytest.mark.parametrize("step", [1, 10])
@pytest.mark.parametrize("hidden", [0, 1])
def test_contact_begins_and_ends_where_an_object_is_shown(hidden, step):
    hide(crossing()[hidden], {1: False, 2: True, 5.25: False, 7.125: True})
    contact, spans = only_contact(frames=(1, 11, step))
    assert spans == [(5.25, 7.125)]
    assert contact.first.motion == "proven"
    assert contact.first.frame == 5.25
    assert contact.first.uncertainty == 0


def carry(item, carrier_name="Carrier"):
    """Move an object by a constraint to an empty with its animation: its motion must be sampled."""
    empty = add_object(carrier_name)
    key_location(empty, {1: (-5, 0, 0), 11: (5, 0, 0)})
    for curve in curves(empty.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    item.animation_data_clear()
    item.constraints.new("COPY_TRANSFORMS").target = empty
    bpy.context.scene.frame_set(1)


@pytest.mark.parametrize("step", [1, 10])
@pytest.mark.parametrize("hidden", [0, 1])
def test_contact_of_sampled_motion_begins_and_ends_where_an_object_is_shown(hidden, step):
    pair = crossing()
    carry(pair[0])
    hide(pair[hidden], {1: False, 2: True, 5.25: False, 7.125: True})
    contact, spans = only_contact(frames=(1, 11, step))
    assert spans == [(5.25, 7.125)]
    assert contact.first.motion == "sampled"
    assert contact.first.frame == pytest.approx(5.25, abs=3e-4)


@pytest.mark.parametrize(("end", "expected"), [(4.125, [(4, 4.125)]), (3.875, [])])
def test_object_with_sampled_motion_moves_until_it_disappears(end, expected):
    mover, _ = crossing()
    carry(mover)
    hide(mover, {1: False, end: True})
    found = contacts_by_names(scan_scene(shape="aabb", frames=(1, 11, 10)))
    spans = [(span.start, span.end) for contact in found.values() for span in contact.intervals]
    assert spans == [pytest.approx(span, abs=1e-3) for span in expected]


@pytest.mark.parametrize(("end", "expected"), [(4.125, [(4, 4.125)]), (3.875, [])])
def test_object_moves_until_it_disappears(end, expected):
    # It would touch from frame 4 on.
    hide(crossing()[0], {1: False, end: True})
    found = contacts_by_names(scan_scene(shape="aabb", frames=(1, 11, 10)))
    spans = [(span.start, span.end) for contact in found.values() for span in contact.intervals]
    assert spans == [pytest.approx(span, abs=1e-3) for span in expected]


def test_pair_of_which_one_is_always_hidden_has_no_contact():
    mover, wall = crossing()
    hide(mover, {1: False, 3: True, 6: False})
    hide(wall, {1: False, 6: True})
    assert contacts_by_names(scan_scene(shape="aabb", frames=(1, 11, 1))) == {}


def test_object_shown_only_between_two_frames_touches():
    hide(crossing()[0], {1: False, 2: True, 5.25: False, 5.75: True})
    contact, spans = only_contact(frames=(1, 11, 1))
    assert spans == [(5.25, 5.75)]
    assert contact.first.tunnelling


def test_linear_scans_do_not_sample_more_frames():
    hide(crossing()[0], {1: False, 2: True, 5.25: False})
    _, spans = only_contact(frames=(1, 11, 1), motion="linear")
    assert spans == [(6, 8)]


def test_obstacle_that_is_shown_for_some_time():
    _, wall = crossing()
    corners = [(1, -9, -9), (1, 9, -9), (1, 0, 9)]
    wall.data.clear_geometry()
    wall.data.from_pydata([(x - 1, y, z) for x, y, z in corners], [], [(0, 1, 2)])
    hide(wall, {1: False, 2: True, 5.25: False, 7.125: True})
    selection = Selection(("Mover", "Wall"))
    result = scan_scene(shape="sphere", obstacles=("Wall",), frames=(1, 11, 1), selection=selection)
    (contact,) = result.report.contacts
    # The sphere around the box has a radius of sqrt(3), and is in the plane from frame 4.27 to 7.73.
    assert [(span.start, span.end) for span in contact.intervals] == [pytest.approx((5.25, 7.125), abs=1e-3)]
    assert contact.first.motion == "proven"


def test_scan_with_simulated_object_is_not_sampled_when_another_one_appears():
    hide(crossing()[0], {1: False, 2: True, 5.25: False, 7.125: True})
    cloth = add_vertices("Flag", location=(0, 50, 0))
    cache = cloth.modifiers.new("Cloth", "CLOTH").point_cache
    cache.frame_start, cache.frame_end = 1, 11
    for frame in range(1, 12):
        bpy.context.scene.frame_set(frame)
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake_from_cache()
    bpy.context.scene.frame_set(1)
    result = scan_scene(shape="aabb", frames=(1, 11, 1))
    assert result.linear_only == ("Flag",)
    (contact,) = result.report.contacts
    # It is shown at frames 6 and 7.
    assert [(span.start, span.end) for span in contact.intervals] == [(6, 8)]
    assert contact.first.motion == "sampled"
