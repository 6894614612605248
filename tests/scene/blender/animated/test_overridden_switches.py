"""Library overrides of animated properties by which the source of a motion is chosen."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from addon.scene.blender.private_scene import keeping_open
from tests.scene.blender.animated.switching_scene import (
    animate,
    build_scene,
    known_subjects,
    motion_of_scene,
    other_value,
    owners,
    wrong_boxes,
)
from tests.scene.building import open_empty_file

pytestmark = pytest.mark.usefixtures("object_settings")

ROWS = [
    ("Plain", "rotation_mode"),
    ("Plain", "hide_viewport"),
    ("Plain", "scale"),
    ("Carrier", "instance_type"),
    ("Carrier", "delta_rotation_euler"),
    ("copied scale", "mute"),
    ("copied location", "mute"),
    ("copied location", "influence"),
    ("armature modifier", "show_viewport"),
    ("cast modifier", "show_viewport"),
    ("IK", "mute"),
    ("IK", "influence"),
    ("copied rotation", "mute"),
    ("bone", "rotation_mode"),
    ("bone", "scale"),
    ("armature", "pose_position"),
    ("shape key", "value"),
]


def override_scene(folder: Path) -> None:
    """Save all objects as a library, and link them to an empty file, overridden."""
    names = [item.name for item in bpy.data.objects]
    collection = bpy.data.collections.new("Linked")
    for item in list(bpy.data.objects):
        bpy.context.scene.collection.objects.unlink(item)
        collection.objects.link(item)
        item.name = f"Linked {item.name}"
    path = folder / "library.blend"
    bpy.data.libraries.write(str(path), {collection}, fake_user=True)
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_end = 20
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["Linked"]
    wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    for item in [each for each in bpy.data.objects if each.library is None]:
        assert item.override_library is not None
        item.name = item.override_library.reference.name.removeprefix("Linked ")
    assert {item.name for item in scene.objects} == set(names)
    bpy.context.view_layer.update()


def copy_action(block: bpy.types.ID) -> None:
    """Give a data-block a copy of its linked action, to which keys cannot be added."""
    animation = block.animation_data
    if animation is not None and animation.action is not None:
        slot = getattr(animation, "action_slot", None)
        animation.action = animation.action.copy()
        if slot is not None:
            animation.action_slot = animation.action.slots[slot.identifier]


def animate_property(place: str, name: str, method: str) -> None:
    owner = owners()[place]
    if not animate(owner, name, other_value(owner, name), method):
        pytest.skip("this Blender cannot animate the property")


@pytest.mark.smoke
@pytest.mark.parametrize("is_local", [False, True], ids=["in the library", "in the override"])
@pytest.mark.parametrize(
    "method", ["keyed", *(pytest.param(each, marks=pytest.mark.long) for each in ("driven", "in the NLA"))]
)
@pytest.mark.parametrize(("place", "name"), ROWS, ids=[f"{name} of {place}" for place, name in ROWS])
def test_animated_switch_of_an_override_is_followed_or_not_known(place, name, method, is_local, tmp_path):
    build_scene()
    if not is_local:
        animate_property(place, name, method)
    override_scene(tmp_path)
    if is_local:
        copy_action(owners()[place].id_data)
        animate_property(place, name, method)
    with keeping_open():
        wrong = [each for each in wrong_boxes() if each[2]]
    assert wrong == []


def test_overrides_without_an_animated_switch_are_known(tmp_path):
    build_scene()
    override_scene(tmp_path)
    names, motion = motion_of_scene()
    known = {name for name, is_known in zip(names, known_subjects(motion), strict=True) if is_known}
    assert known == {"Free", "On 0", "On 1", "On 2", "On 3", "Plain", "Skin"}


@pytest.mark.parametrize(("place", "name"), ROWS, ids=[f"{name} of {place}" for place, name in ROWS])
def test_value_of_an_override_is_that_of_the_motion(place, name, tmp_path):
    build_scene()
    override_scene(tmp_path)
    owner = owners()[place]
    setattr(owner, name, other_value(owner, name))
    bpy.context.view_layer.update()
    with keeping_open():
        assert list(wrong_boxes()) == []
