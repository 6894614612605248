"""Times within frames at which keys turn, by the keys that were set."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.animated import turning_times
from tests.scene.building import curves, open_empty_file
from tests.scene.sampling import add_box, key


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()


def add_stroke(keys: list[tuple[float, float]]) -> bpy.types.Object:
    """Add a box with keys of its height."""
    box = add_box("Box", (1, 1, 1))
    key(box, "location", [(frame, (0, 0, height)) for frame, height in keys])
    return box


def turns(*times: float) -> list[float]:
    return turning_times(bpy.context.evaluated_depsgraph_get(), times or (1.0, 20.0))


def test_keys_within_frames_turn_where_values_go_back_or_stop():
    add_stroke([(1, 0), (4.25, 0), (4.5, 1), (4.75, 0), (9, 3), (10.5, 5), (12.25, 6), (13.5, 6), (16, 0)])
    # At 9, a whole frame, all are sampled anyway. At 10.5 the box goes on in the same direction.
    assert turns() == [4.25, 4.5, 4.75, 12.25, 13.5]
    assert turns(4.5, 12.25) == [4.75]
    assert turns(2.25, 3.25, 4.25, 5.25) == [4.5, 4.75]


def test_keys_of_what_an_object_depends_on_turn_too():
    box = add_stroke([(1, 0), (9, 0)])
    box.shape_key_add(name="Basis")
    key(box.shape_key_add(name="Tall"), "value", [(1, 0), (3.5, 1), (9, 0)])
    assert turns() == [3.5]


def test_cycles_repeat_turns():
    box = add_stroke([(1, 0), (2, 1), (2.75, 0)])
    for curve in curves(box.animation_data.action):
        curve.modifiers.new("CYCLES")
    # Each cycle takes 1.75 frames; its first key is the last one of the cycle before.
    starts = [1 + 1.75 * cycle for cycle in range(1, 6)]
    expected = sorted({*starts, *(start + 1 for start in starts)})
    assert turns(1, 9.9) == [time for time in expected if time % 1 and time < 9.9]


def test_strips_scale_repeat_and_reverse_turns():
    box = add_stroke([(1, 0), (2, 1), (5, 0)])
    data, action = box.animation_data, box.animation_data.action
    strip = data.nla_tracks.new().strips.new("Strip", 3, action)
    if hasattr(action, "slots"):
        strip.action_slot = action.slots[0]
    data.action = None
    strip.scale, strip.repeat = 0.625, 2
    assert turns() == [3 + 0.625, 3 + 5 * 0.625]
    strip.use_reverse = True
    assert turns() == [3 + 3 * 0.625, 3 + 7 * 0.625]


def test_turns_are_frames_of_the_timeline():
    add_stroke([(1, 0), (5, 1), (8, 0)])
    assert turns() == []
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 50
    assert turns() == [2.5]
