"""Objects and instances that Blender hides and shows between frames, by more than keys.

Expected spans follow from constant speeds, and from the times in drivers, keys and nodes.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy
import pytest

from tests.scene.building import add_instance, curves, hidden_collection, key_location
from tests.scene.mesh_truth.solids import box
from tests.scene.sampling import NEAR_KEY, add_faces, add_object, contacts_by_names, scan_scene

PAIR = frozenset(("Mover", "Mover wall"))
SHOWN, HIDDEN = 3.3, 6.7
"""Times between which objects are shown."""
FOUND = 2.0**-15 + NEAR_KEY
"""Frames within which a change is found, and within which Blender shows a key before its time."""


def hide_by_driver(item: bpy.types.Object) -> None:
    item.driver_add(
        "hide_viewport"
    ).driver.expression = f"not {SHOWN} <= frame < {HIDDEN} if frame > 1 else 0"


def hide_by_another_object(item: bpy.types.Object) -> None:
    guide = add_object("Guide")
    key_location(guide, {1: (1, 0, 0), 11: (11, 0, 0)})
    driver = item.driver_add("hide_viewport").driver
    variable = driver.variables.new()
    variable.name, variable.type = "place", "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].transform_type = guide, "LOC_X"
    driver.expression = f"not {SHOWN} <= place < {HIDDEN} if place > 1 else 0"


def hide_by_steps(item: bpy.types.Object) -> None:
    """Key the visibility, and hold it by a modifier in steps of 1.7 frames, which begin at -0.1."""
    for frame, is_hidden in ((1, False), (2, True), (3.3, False), (6, True)):
        item.hide_viewport = is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    item.hide_viewport = False
    for curve in curves(item.animation_data.action):
        if curve.data_path == "hide_viewport":
            stepped = curve.modifiers.new("STEPPED")
            stepped.frame_step, stepped.frame_offset = 1.7, -0.1


def hide_in_the_nla(item: bpy.types.Object) -> None:
    for frame, is_hidden in ((1, False), (2, True), (SHOWN, False), (HIDDEN, True)):
        item.hide_viewport = is_hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    item.hide_viewport = False
    animation = item.animation_data
    animation.nla_tracks.new().strips.new("Strip", 1, animation.action)
    animation.action = None


WAYS: dict[str, Callable[[bpy.types.Object], None]] = {
    "driver": hide_by_driver,
    "another object": hide_by_another_object,
    "steps": hide_by_steps,
    "NLA": hide_in_the_nla,
}


def add_pair(name: str, row: float, speed: float) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Add a cube of half size 1 that is at -2.5 in frame 1, and moves to a wall from -0.5 to 0.5."""
    mover = add_faces(name, *box(1, 1, 1))
    wall = add_faces(f"{name} wall", *box(0.5, 1, 1))
    wall.location.y = row
    key_location(mover, {1: (-2.5, row, 0), 11: (-2.5 + 10 * speed, row, 0)})
    return mover, wall


@pytest.mark.smoke
@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("hide", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("shape", ["aabb", "obb"])
def test_contacts_are_those_of_the_times_at_which_an_object_is_shown(hide, shape):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    mover, _ = add_pair("Mover", 0, 0.4)
    hide(mover)
    bpy.context.scene.frame_set(1)
    contact = contacts_by_names(scan_scene(shape=shape))[PAIR]
    (span,) = contact.intervals
    # In contact from -1.5, which is 2.5 frames after frame 1.
    begin = max(SHOWN, 3.5)
    assert abs(span.start - begin) <= contact.first.uncertainty + FOUND
    assert abs(span.end - HIDDEN) <= FOUND
    assert contact.depth == pytest.approx(1.5 - (2.5 - 0.4 * (HIDDEN - 1)), abs=0.02)


@pytest.mark.usefixtures("empty_file")
def test_contact_begins_when_a_hidden_object_is_shown_within_another():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    mover, _ = add_pair("Mover", 0, 0.6)
    hide_by_driver(mover)
    bpy.context.scene.frame_set(1)
    contact = contacts_by_names(scan_scene())[PAIR]
    (span,) = contact.intervals
    assert abs(span.start - SHOWN) <= contact.first.uncertainty + FOUND
    assert abs(span.end - HIDDEN) <= FOUND


@pytest.mark.usefixtures("empty_file")
@pytest.mark.parametrize("hides_owner", [False, True])
def test_instances_touch_while_their_source_or_owner_is_shown(hides_owner):
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    mover, _ = add_pair("Mover", 0, 0.4)
    collection = hidden_collection("Sources", mover)
    owner = add_instance("Owner", collection)
    hide_by_driver(owner if hides_owner else mover)
    bpy.context.scene.frame_set(1)
    (contact,) = contacts_by_names(scan_scene()).values()
    (span,) = contact.intervals
    assert abs(span.start - 3.5) <= contact.first.uncertainty + FOUND
    assert abs(span.end - HIDDEN) <= FOUND


@pytest.mark.usefixtures("empty_file")
def test_obstacle_ends_its_contact_when_it_is_hidden():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 11
    _, wall = add_pair("Mover", 0, 0.4)
    hide_by_driver(wall)
    bpy.context.scene.frame_set(1)
    contact = contacts_by_names(scan_scene(shape="sphere", obstacles=("Mover wall",)))[PAIR]
    assert abs(contact.intervals[-1].end - HIDDEN) <= FOUND
