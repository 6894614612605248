"""Matrices of keyed objects from their F-curves, against those of Blender."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from addon.core.curves.easings import FAMILIES
from addon.core.curves.easings import MODES as MODES_OF_EASING
from addon.scene.blender.frames import go_to
from addon.scene.motion.transform_curves import TransformCurves, may_show_more
from tests.scene.building import add_object, curves, key_location

pytestmark = pytest.mark.usefixtures("empty_file")

TIMES = [-3.0, 1.0, 2.25, 8.0, 9.7, 20.0, 21.5, 33.0, 40.0]
MODES = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "QUATERNION", "AXIS_ANGLE")


def known_curves(count=1000):
    """Read the curves of all objects, `count` of them at a time."""
    known, scene = TransformCurves(), bpy.context.scene
    for start in range(0, len(scene.objects), count):
        known.read(scene, scene.objects[start : start + count], (TIMES[0], TIMES[-1]))
    return known


def is_known(item):
    return item.session_uid in known_curves().index_of


def key_at_random(item, generator):
    """Key location, rotation and sometimes scale of an object, with keys of all known kinds."""
    item.rotation_mode = generator.choice(MODES)
    rotation = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    paths = {"location": 50, rotation.get(item.rotation_mode, "rotation_euler"): 3, "scale": 2}
    for path, size in paths.items():
        if path == "scale" and generator.random() < 0.6:
            continue
        for frame in (1, 8, 20.5, 33):
            count = len(getattr(item, path))
            setattr(item, path, [generator.uniform(-size, size) for _ in range(count)])
            item.keyframe_insert(path, frame=frame)
    for curve in curves(item.animation_data.action):
        curve.extrapolation = generator.choice(("CONSTANT", "LINEAR"))
        for key in curve.keyframe_points:
            kinds = ("BEZIER", "LINEAR", "CONSTANT", generator.choice(FAMILIES))
            key.interpolation, key.back = generator.choice(kinds), generator.uniform(0, 3)
            key.amplitude, key.period = generator.uniform(-3, 9), generator.choice((0, 3.3))
            key.easing = generator.choice((*MODES_OF_EASING, "AUTO"))
            key.handle_left_type = key.handle_right_type = generator.choice(("AUTO", "FREE", "VECTOR"))
            if key.handle_left_type == "FREE":
                key.handle_left = key.co[0] - generator.uniform(0, 30), generator.uniform(-9, 9)
                key.handle_right = key.co[0] + generator.uniform(0, 30), generator.uniform(-9, 9)
        curve.update()


@pytest.mark.parametrize("count", [1000, 7])
def test_matrices_are_those_of_blender(count):
    generator, objects = random.Random(1), []
    for number in range(60):
        item = add_object(f"Object {number}")
        key_at_random(item, generator)
        if objects and number % 2:
            item.parent = generator.choice(objects)
            item.matrix_parent_inverse = objects[0].matrix_world.inverted_safe()
        if number % 3 == 0:
            item.delta_location, item.delta_rotation_euler = (1, 2, 3), (0.3, -1, 2)
            item.delta_scale, item.delta_rotation_quaternion = (2, 1, -1), (1, 2, 0.5, -1)
        objects.append(item)
    known = known_curves(count)
    found = known.transforms().world_matrices(np.array(TIMES))
    rows = [known.index_of[item.session_uid] for item in objects]
    same = []
    for time, matrices in zip(TIMES, found[:, rows], strict=True):
        go_to(bpy.context.scene, time)
        expected = np.array([item.matrix_world for item in objects], dtype=np.float32)
        largest = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(matrices - expected) <= 2.0**-21 * largest).all()
        same.append(matrices == expected)
    assert np.mean(same) > 0.99


@pytest.mark.parametrize("settings", [(2.3, 0, 0), (0, -1.5, 2.2), (0, 9, 3.1)])
@pytest.mark.parametrize("mode", [*MODES_OF_EASING, "AUTO"])
@pytest.mark.parametrize("family", FAMILIES)
def test_eased_values_are_those_of_blender(family, mode, settings):
    item = add_object("Object")
    key_location(item, {2: (3, 0, 0), 12.5: (-4, 0, 0)})
    curve = next(curve for curve in curves(item.animation_data.action) if curve.array_index == 0)
    key = curve.keyframe_points[0]
    key.interpolation, key.easing = family, mode
    key.back, key.amplitude, key.period = settings
    times = np.linspace(0, 14, 300)
    found = known_curves().transforms().world_matrices(times)[:, 0, 0, 3]
    expected = np.array([curve.evaluate(time) for time in times.astype(np.float32).tolist()])
    # Libraries round sines differently: by the last bit.
    tolerance = 9 * 2.0**-23 if family in ("SINE", "ELASTIC") else 0
    np.testing.assert_allclose(found, expected, atol=tolerance)


def add_cycles(item, mode="REPEAT_OFFSET", before=None):
    """Repeat the curves of an object after their keys, and before them; return the last modifier."""
    for curve in curves(item.animation_data.action):
        modifier = curve.modifiers.new("CYCLES")
        modifier.mode_after, modifier.mode_before = mode, before or mode
    return modifier


@pytest.mark.smoke
@pytest.mark.parametrize("before", ["NONE", "REPEAT", "REPEAT_OFFSET"])
@pytest.mark.parametrize("after", ["NONE", "REPEAT", "REPEAT_OFFSET"])
def test_cyclic_curves_are_those_of_blender(add_mesh, before, after):
    item = add_mesh("Cube")
    is_closed = "REPEAT" in (before, after)
    key_location(item, {5: (0, 1, 2), 8: (3, -2, 0.5), 12: (0, 1, 2) if is_closed else (4, 1, -2)})
    item.rotation_euler.x = 1
    item.keyframe_insert("rotation_euler", frame=6)
    item.rotation_euler.x = 1 if is_closed else 2.5
    item.keyframe_insert("rotation_euler", frame=9.25)
    add_cycles(item, after, before)
    scene, known = bpy.context.scene, known_curves()
    assert is_known(item)
    transforms = known.transforms()
    for time in [*TIMES, *np.arange(-3, 40, 0.37).tolist(), 12.0, 15.5, 19.0, 15.75]:
        go_to(scene, time)
        found = transforms.world_matrices(np.array([time]))[0, known.index_of[item.session_uid]]
        np.testing.assert_allclose(found, np.array(item.matrix_world), atol=2e-5)


@pytest.mark.parametrize("kind", ["NOISE", "CYCLES"])
def test_muted_modifier_of_a_curve_counts_for_nothing(add_mesh, kind):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    curves(item.animation_data.action)[0].modifiers.new(kind).mute = True
    assert is_known(item)
    transforms = known_curves().transforms()
    assert transforms.world_matrices(np.array([21.0]))[0, 0, 0, 3] == 10


EXPRESSIONS = (
    "frame",
    "frame * 0.1 - 3",
    "-2.5 * sin(frame / 3 + 1)",
    "cos(pi * frame) * 4 / 3",
    "radians(frame * 7.5) * sin(frame)",
    "abs(sin(frame * 0.4)) * 3",
    "degrees(0.01 * frame) - +2",
    "sin(cos(frame / 2) * 3) * 0.5",
    "1.25",
)


@pytest.mark.smoke
@pytest.mark.parametrize("has_curve", [True, False])
def test_drivers_of_the_frame_are_those_of_blender(add_mesh, has_curve):
    generator, objects = random.Random(2), []
    for number in range(30):
        item = add_mesh(f"Cube {number}")
        item.rotation_mode = generator.choice(("ZYX", "XYZ", "QUATERNION"))
        turn = "rotation_quaternion" if item.rotation_mode == "QUATERNION" else "rotation_euler"
        for path in ("location", turn, "scale", "delta_location"):
            curve = item.driver_add(path, generator.randrange(3))
            curve.driver.expression = generator.choice(EXPRESSIONS)
            if not has_curve:
                curve.keyframe_points.clear()
                for modifier in list(curve.modifiers):
                    curve.modifiers.remove(modifier)
        if objects and number % 2:
            item.parent = generator.choice(objects)
        objects.append(item)
    assert_like_blender(objects)


def test_drivers_through_a_diagonal_with_other_handles_are_those_of_blender(add_mesh):
    item = add_mesh("Cube")
    driven_through_keys(item, lambda key: None)
    assert_like_blender([item])


@pytest.mark.smoke
def test_copied_locations_are_those_of_blender(add_mesh):
    objects = []
    for number in range(8):
        target = add_object(f"Target {number}")
        key_location(target, {1: (number, 0, 0), 20: (-3, number, 1), 33: (0, 5, -number)})
        target.delta_location, target.scale = (1, 2, 3), (2, 1, 1)
        target.driver_add("rotation_euler", 0).driver.expression = "frame"
        if number % 2:
            target.driver_remove("rotation_euler", 0)
            target.driver_add("delta_location", 1).driver.expression = "sin(frame)"
        item = add_mesh(f"Cube {number}")
        key_location(item, {1: (9, 9, 9), 20: (1, 2, 3)})
        item.driver_add("rotation_euler", 2).driver.expression = "frame / 5"
        item.delta_location, item.scale = (7, 7, 7), (1, 2, 0.5)
        item.constraints.new("LIMIT_SCALE").mute = True
        item.constraints.new("COPY_LOCATION").target = target
        objects.append(item)
    assert_like_blender(objects)


def assert_like_blender(objects):
    """Compare the matrices of known objects with those of the evaluated scene at many times."""
    scene, known = bpy.context.scene, known_curves()
    rows = [known.index_of[item.session_uid] for item in objects]
    times = np.array([*TIMES, *np.random.default_rng(3).uniform(-3, 40, 60)])
    found = known.transforms().world_matrices(np.sort(times))[:, rows]
    same = []
    for time, matrices in zip(np.sort(times).tolist(), found, strict=True):
        go_to(scene, time)
        expected = np.array([item.matrix_world for item in objects], dtype=np.float32)
        largest = np.abs(expected).max(axis=(1, 2), keepdims=True)
        assert (np.abs(matrices - expected) <= 2.0**-20 * largest).all()
        same.append(matrices == expected)
    assert np.mean(same) > 0.98


@pytest.mark.smoke
def test_muted_driver_counts_for_nothing(add_mesh):
    item = add_mesh("Cube")
    item.driver_add("location", 0).mute = True
    assert is_known(item)
    assert not (known_curves().transforms().curve_of >= 0).any()


@pytest.mark.smoke
def test_keyed_object_is_known(add_mesh):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    item["speed"] = 2.0
    item.keyframe_insert('["speed"]', frame=1)
    item.keyframe_insert("hide_render", frame=1)
    assert is_known(item)


def constrained(item):
    item.constraints.new("LIMIT_LOCATION")


def limited_cycles(item):
    add_cycles(item).cycles_after = 2


def mirrored_cycles(item):
    add_cycles(item, "MIRROR")


def cycles_that_jump(item):
    add_cycles(item, "REPEAT")


def cycles_with_influence(item):
    add_cycles(item).use_influence = True


def cycles_in_a_range(item):
    add_cycles(item).use_restricted_range = True


def cycles_and_noise(item):
    add_cycles(item)
    noisy(item)


def cycles_at_times_that_are_rounded(item):
    add_cycles(item)
    curves(item.animation_data.action)[0].keyframe_points[1].co.x = 10.1


def in_nla_without_tracks_that_count(item):
    item.animation_data.nla_tracks.new().mute = True
    item.animation_data.action_extrapolation = "NOTHING"


def driven(item):
    """Drive a channel that has a curve."""
    item.driver_add("location", 1)


def driven_by_a_variable(item):
    driver = item.driver_add("rotation_euler", 1).driver
    variable = driver.variables.new()
    variable.name, variable.targets[0].id = "value", bpy.data.objects.new("Other", None)
    variable.targets[0].data_path = "location.x"
    driver.expression = "value + frame"


def driven_by_a_sum(item):
    item.driver_add("rotation_euler", 1).driver.type = "SUM"


def driven_by_python(item):
    item.driver_add("rotation_euler", 1).driver.expression = "frame ** 2"


def driven_by_what_is_no_expression(item):
    item.driver_add("rotation_euler", 1).driver.expression = "frame +"


def driven_by_steps(item):
    item.driver_add("rotation_euler", 1).driver.expression = "floor(frame)"


def driven_through_a_curve(item):
    curve = item.driver_add("rotation_euler", 1)
    curve.driver.expression = "frame"
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.keyframe_points.insert(0, 0)
    curve.keyframe_points.insert(1, 5)


def driven_through_keys(item, change):
    """Drive a channel through the curve from 0 to 1 that Blender 5 adds, with other settings of its keys."""
    curve = item.driver_add("rotation_euler", 1)
    curve.driver.expression = "frame / 20 - 0.5"
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.keyframe_points.clear()
    curve.extrapolation = "LINEAR"
    for value in (0, 1):
        key = curve.keyframe_points.insert(value, value)
        key.handle_left_type = key.handle_right_type = "FREE"
        key.handle_left, key.handle_right = (value - 0.3,) * 2, (value + 0.3,) * 2
        change(key)


def driven_through_constant_keys(item):
    driven_through_keys(item, lambda key: setattr(key, "interpolation", "CONSTANT"))


def driven_through_bouncing_keys(item):
    driven_through_keys(item, lambda key: setattr(key, "interpolation", "BOUNCE"))


def driven_through_keys_without_slope(item):
    def put_handle_on_the_last_key(key):
        if key.co.x == 1:
            key.handle_right = key.co

    driven_through_keys(item, put_handle_on_the_last_key)


def driven_delta_rotation(item):
    item.driver_add("delta_rotation_euler", 0).driver.expression = "frame"


def copied_location(item, **settings):
    constraint = item.constraints.new("COPY_LOCATION")
    constraint.target = bpy.data.objects.new("Target", None)
    for name, value in settings.items():
        setattr(constraint, name, value)
    return constraint.target


def location_copied_in_part(item):
    copied_location(item, influence=0.5)


def location_copied_along_two_axes(item):
    copied_location(item, use_z=False)


def location_copied_with_offset(item):
    copied_location(item, use_offset=True)


def location_copied_inverted(item):
    copied_location(item, invert_x=True)


def location_copied_in_local_space(item):
    copied_location(item, target_space="LOCAL")


def location_copied_of_what_is_not_known(item):
    noisy_target = copied_location(item)
    key_location(noisy_target, {1: (0, 0, 0), 11: (10, 0, 0)})
    noisy(noisy_target)


def location_copied_of_a_child(item):
    copied_location(item).parent = bpy.data.objects.new("Parent", None)


def location_copied_of_each_other(item):
    copied_location(copied_location(item)).constraints.new("LIMIT_LOCATION")
    item.constraints[0].target.constraints[0].target = item


def location_copied_by_a_child(item):
    copied_location(item)
    item.parent = bpy.data.objects.new("Parent", None)


def location_copied_from_nothing(item):
    copied_location(item, target=None)


def location_copied_with_keyed_influence(item):
    copied_location(item)
    item.constraints[0].keyframe_insert("influence", frame=1)


def noisy(item):
    curves(item.animation_data.action)[0].modifiers.new("NOISE")


def hide_by_keys(item):
    for frame, is_hidden in ((1, False), (5, True)):
        item.hide_viewport = is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    return curves(item.animation_data.action)[-1]


def hidden_by_a_slope(item):
    hide_by_keys(item).keyframe_points[0].interpolation = "LINEAR"


def hidden_by_a_fraction(item):
    hide_by_keys(item).keyframe_points[1].co.y = 0.7


def hidden_by_a_curve_that_jumps_in_cycles(item):
    hide_by_keys(item).modifiers.new("CYCLES")


def hidden_by_a_driver(item):
    item.driver_add("hide_viewport").driver.expression = "frame > 5"


def hidden_by_keys_and_a_driver(item):
    hide_by_keys(item)
    hidden_by_a_driver(item)


def in_nla(item):
    item.animation_data.nla_tracks.new()


def remapped(_):
    bpy.context.scene.render.frame_map_new = 200


def on_a_path(item):
    curve = add_object("Path", bpy.data.curves.new("Path", "CURVE"))
    item.parent = curve


def child_of_driven(item):
    item.parent = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(item.parent)
    driven_by_steps(item.parent)


@pytest.mark.parametrize(
    "change",
    [
        constrained,
        driven,
        driven_by_a_variable,
        driven_by_a_sum,
        driven_by_python,
        driven_by_what_is_no_expression,
        driven_by_steps,
        driven_through_a_curve,
        driven_through_constant_keys,
        driven_through_bouncing_keys,
        driven_through_keys_without_slope,
        driven_delta_rotation,
        location_copied_in_part,
        location_copied_along_two_axes,
        location_copied_with_offset,
        location_copied_inverted,
        location_copied_in_local_space,
        location_copied_of_what_is_not_known,
        location_copied_of_a_child,
        location_copied_of_each_other,
        location_copied_by_a_child,
        location_copied_from_nothing,
        location_copied_with_keyed_influence,
        noisy,
        limited_cycles,
        mirrored_cycles,
        cycles_that_jump,
        cycles_with_influence,
        cycles_in_a_range,
        cycles_and_noise,
        cycles_at_times_that_are_rounded,
        hidden_by_a_slope,
        hidden_by_a_fraction,
        hidden_by_a_curve_that_jumps_in_cycles,
        hidden_by_a_driver,
        hidden_by_keys_and_a_driver,
        in_nla,
        in_nla_without_tracks_that_count,
        remapped,
        on_a_path,
        child_of_driven,
    ],
)
def test_object_that_something_else_may_move_is_not_known(add_mesh, change):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    assert is_known(item)
    change(item)
    assert not is_known(item)


@pytest.mark.parametrize("count", [1000, 1])
def test_child_of_an_unknown_parent_is_not_known_whenever_that_was_read(add_mesh, count):
    parent, child, last = add_mesh("A"), add_mesh("B"), add_mesh("C")
    for item in (parent, child, last):
        key_location(item, {1: (0, 0, 0), 9: (5, 0, 0)})
    child.parent = parent
    noise = curves(parent.animation_data.action)[0].modifiers.new("NOISE")
    assert set(known_curves(count).index_of) == {last.session_uid}
    noise.mute = True
    assert set(known_curves(count).index_of) == {item.session_uid for item in (parent, child, last)}


def test_muted_curves_and_those_of_another_rotation_mode_have_no_effect(add_mesh):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    item.keyframe_insert("rotation_quaternion", frame=1)
    curves(item.animation_data.action)[1].mute = True
    assert (known_curves().transforms().curve_of[0] >= 0).nonzero()[0].tolist() == [0, 2]


def test_scene_in_which_something_may_appear_differs_from_others(add_mesh):
    item = add_mesh("Cube")
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    assert not may_show_more(bpy.context.scene.objects, lambda _: True)
    hide_by_keys(item)
    assert may_show_more(bpy.context.scene.objects, lambda _: True)
    assert not may_show_more(bpy.context.scene.objects, lambda other: other != item)
