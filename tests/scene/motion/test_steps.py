"""Contacts of objects that Blender moves in steps, or more than once between two frames.

Expected spans follow from the drivers, keys and modifiers. Half sizes are 0.2 for objects, and 0.1 for their
walls, so a pair touches while the centers are up to 0.3 apart on the X axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import bpy
import pytest

from tests.scene.building import curves, key_location, play
from tests.scene.sampling import add_object, add_points, box_points, contacts_by_names, scan_scene

FIRST, LAST = 1, 10
FOUND = 2.0**-13 + 1.1e-4
"""Frames within which a step is found, and within which Blender shows a key before its time."""
WAVE = 5e-3

Spans = list[tuple[float, float]]


def drive(item: bpy.types.Object, expression: str, path: str = "location", index: int = 0) -> None:
    driver = item.driver_add(path, index).driver
    if "whole" in expression:
        variable = driver.variables.new()
        variable.name = "whole"
        variable.targets[0].id_type, variable.targets[0].id = "SCENE", bpy.context.scene
        variable.targets[0].data_path = "frame_current"
    driver.expression = expression


def add_guided(item: bpy.types.Object, place: float, influence: dict[float, float]) -> None:
    """Let an object follow another one while a constraint has an influence."""
    guide = add_object(f"{item.name} guide")
    guide.location.x = place
    constraint = item.constraints.new("COPY_LOCATION")
    constraint.target = guide
    constraint.use_y = False
    for frame, value in influence.items():
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    for curve in curves(item.animation_data.action):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT"


def add_stepped(
    item: bpy.types.Object, step: float, offset: float = 0.0, span: tuple[float, ...] = ()
) -> None:
    """Move at two thirds a frame, in steps of a modifier."""
    place = item.location.copy()
    key_location(item, {1: place, 10: (6, *place[1:])})
    for curve in curves(item.animation_data.action):
        modifier = curve.modifiers.new("STEPPED")
        modifier.frame_step, modifier.frame_offset = step, offset
        if span:
            modifier.use_frame_start = modifier.use_frame_end = True
            modifier.frame_start, modifier.frame_end = span


def add_keys(item: bpy.types.Object, places: dict[float, float], interpolation: str) -> None:
    """Key a location; a constraint that reads the scene makes the object one that is sampled."""
    key_location(item, {frame: (x, *item.location[1:]) for frame, x in places.items()}, interpolation)
    play(item)


def add_spin(item: bpy.types.Object) -> None:
    """Turn a bar once a frame."""
    for vertex in item.data.vertices:
        vertex.co.x, vertex.co.y = 7.5 * vertex.co.x, 0.05 * vertex.co.y
    drive(item, f"{2 * math.pi} * frame + 0 * floor(frame)", "rotation_euler", 2)


def wave_spans(period: float) -> Spans:
    """Return the spans in which 2.6 + 0.6 sin(turns), of a wave, is within 0.3 of 2 or less."""
    # The sine is at most -0.5 from 7/12 to 11/12 of a period.
    spans = [(period * (turn + 7 / 12), period * (turn + 11 / 12)) for turn in range(12)]
    return [(max(begin, FIRST), min(end, LAST)) for begin, end in spans if end > FIRST and begin < LAST]


CASES: dict[str, tuple[Callable[[bpy.types.Object], None], float, Spans]] = {
    "whole frames": (lambda item: drive(item, "0.7 * whole"), 2.6, [(4, 5)]),
    "whole frames over": (lambda item: drive(item, "0 if whole < 4 else 6"), 2.6, []),
    "floor": (lambda item: drive(item, "0.7 * floor(frame)"), 2.6, [(4, 5)]),
    "int": (lambda item: drive(item, "0.5 * int(1.7 * frame)"), 3.1, [(6 / 1.7, 7 / 1.7)]),
    "round": (lambda item: drive(item, "0.7 * round(0.9 * frame)"), 2.75, [(3.5 / 0.9, 4.5 / 0.9)]),
    "comparison": (lambda item: drive(item, "2.8 if 4.37 < frame < 6.81 else 0"), 2.6, [(4.37, 6.81)]),
    "comparison over": (lambda item: drive(item, "6 * (frame > 4.3)"), 2.6, []),
    "remainder": (
        lambda item: drive(item, "2 * (frame % 4)"),
        2.6,
        [(1.15, 1.45), (5.15, 5.45), (9.15, 9.45)],
    ),
    "stepped": (lambda item: add_stepped(item, 1), 3.9, [(7, 8)]),
    "stepped by two": (lambda item: add_stepped(item, 2, 0.5), 3.6, [(6.5, 8.5)]),
    "stepped over": (lambda item: add_stepped(item, 2, 0.5), 3.0, []),
    "constant keys": (
        lambda item: add_keys(item, {frame: 0.7 * frame for frame in range(1, 11)}, "CONSTANT"),
        2.6,
        [(4, 5)],
    ),
    "half frames": (
        lambda item: add_keys(item, {7: 0, 7.5: 3, 8: 0}, "LINEAR"),
        2.6,
        [(7 + 2.3 / 6, 7 + 2.9 / 6), (8 - 2.9 / 6, 8 - 2.3 / 6)],
    ),
    "influence": (lambda item: add_guided(item, 2.6, {1: 0, 4: 1, 6: 0}), 2.6, [(4, 6)]),
    "influence over": (lambda item: add_guided(item, 6, {1: 0, 4.5: 1, 6: 0}), 2.6, []),
    "wave of 1.8": (
        lambda item: drive(item, f"2.6 + 0.6 * sin({2 * math.pi / 1.8} * frame) + 0 * floor(frame)"),
        2.0,
        wave_spans(1.8),
    ),
    "wave of 2": (
        lambda item: drive(item, f"2.6 + 0.6 * sin({math.pi} * frame) + 0 * floor(frame)"),
        2.0,
        wave_spans(2.0),
    ),
}


@pytest.mark.smoke
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("shape", ["aabb", pytest.param("obb", marks=pytest.mark.long)])
def test_steps_and_waves_touch_exactly_in_their_spans(shape):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    for row, (name, (move, place, _)) in enumerate(CASES.items()):
        item = add_points(name, box_points((0.2, 0.2, 0.2)))
        wall = add_points(f"{name} wall", box_points((0.1, 1, 1)))
        item.location.y, wall.location = 10 * row, (place, 10 * row, 0)
        move(item)
    found = contacts_by_names(scan_scene(shape=shape))
    assert all(any(key == {name, f"{name} wall"} for name in CASES) for key in found)
    for name, (_, _, expected) in CASES.items():
        contact = found.get(frozenset((name, f"{name} wall")))
        spans = [(span.start, span.end) for span in contact.intervals] if contact else []
        assert len(spans) == len(expected), (name, spans)
        for number, (span, true) in enumerate(zip(spans, expected, strict=True)):
            details = contact.details[number]
            assert abs(span[0] - true[0]) <= details.uncertainty + FOUND, (name, span, true)
            assert details.uncertainty <= WAVE, name
            assert abs(span[1] - true[1]) <= WAVE, (name, span, true)


@pytest.mark.usefixtures("empty_file")
def test_bar_that_turns_once_a_frame_hits_a_post_twice_a_frame():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 4
    add_spin(add_points("Bar", box_points((0.2, 0.2, 0.2))))
    add_points("Post", box_points((0.1, 0.1, 0.1))).location = (0, 1, 0)
    (contact,) = scan_scene(shape="obb").report.contacts
    # A bar of half width 0.01 touches the post while its angle is about that of a near corner, (0.1, 0.9).
    half = (math.atan2(0.1, 0.9) + math.asin(0.01 / math.hypot(0.1, 0.9))) / (2 * math.pi)
    middles = [1.25, 1.75, 2.25, 2.75, 3.25, 3.75]
    assert len(contact.intervals) == len(middles)
    for span, details, middle in zip(contact.intervals, contact.details, middles, strict=True):
        assert abs(span.start - (middle - half)) <= details.uncertainty + 1e-3
        assert abs(span.end - (middle + half)) <= WAVE
