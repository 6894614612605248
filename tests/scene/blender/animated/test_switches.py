"""Properties by which the source of a motion is chosen: none may change while it counts as known."""

from __future__ import annotations

import re

import bpy
import pytest

from addon.scene.blender import animated
from addon.scene.blender.animated import changing
from addon.scene.blender.private_scene import keeping_open
from tests.scene.blender.animated.switching_scene import (
    METHODS,
    animatable_properties,
    animate,
    build_scene,
    known_subjects,
    motion_of_scene,
    other_value,
    owners,
    wrong_boxes,
)

pytestmark = pytest.mark.usefixtures("object_settings")

EXAMPLES = {
    "TRANSFORM": [
        ("Plain", "rotation_mode"),
        ("Plain", "scale"),
        ("Plain", "delta_location"),
        ("Plain", "delta_scale"),
        ("Plain", "delta_rotation_euler"),
        ("Carrier", "rotation_mode"),
        ("Carrier", "delta_rotation_euler"),
        ("On 2", "parent_type"),
        ("copied scale", "mute"),
        ("copied scale", "enabled"),
        ("copied location", "mute"),
        ("copied location", "influence"),
        ("copied location", "use_x"),
        ("copied location", "use_offset"),
        ("copied location", "invert_y"),
        ("copied location", "owner_space"),
        ("armature modifier", "show_viewport"),
        ("armature modifier", "use_deform_preserve_volume"),
        ("cast modifier", "show_viewport"),
        ("cast modifier", "factor"),
        ("animation", "action_influence"),
        ("animation", "action_blend_type"),
        ("animation", "action_extrapolation"),
        ("animation", "use_nla"),
    ],
    "BONE_TRANSFORMS": [
        ("bone", "rotation_mode"),
        ("bone", "scale"),
        ("pose", "ik_solver"),
        ("animation of the rig", "action_influence"),
    ],
    "BONE_CONSTRAINTS": [
        ("IK", "mute"),
        ("IK", "enabled"),
        ("IK", "influence"),
        ("IK", "use_tail"),
        ("copied rotation", "mute"),
        ("copied rotation", "enabled"),
    ],
    "VISIBILITY": [("Plain", "hide_viewport"), ("Carrier", "hide_viewport"), ("Target", "hide_viewport")],
    "INSTANCING": [("Carrier", "instance_type")],
    "REST_BONES": [
        ("armature", "pose_position"),
        ("rest bone", "use_deform"),
        ("rest bone", "use_inherit_rotation"),
        ("rest bone", "inherit_scale"),
        ("rest bone", "use_local_location"),
        ("rest bone", "use_relative_parent"),
        ("rest bone", "bbone_segments"),
        ("rest bone", "use_envelope_multiply"),
    ],
    "VERTICES": [("shape key", "value"), ("shape key", "mute"), ("shape keys", "use_relative")],
    "SIMPLIFICATION": [("render settings", "use_simplify"), ("render settings", "simplify_subdivision")],
}
"""Owners and properties, by the entry of the table that they belong to."""
ALL_SWITCHES = {name: value for name, value in vars(animated).items() if isinstance(value, re.Pattern)}
OTHER_OWNERS = {"REST_BONES": "ARMATURE", "VERTICES": "MESH", "SIMPLIFICATION": "SCENE"}
"""Types of the data-blocks whose animation has the properties, other than objects."""
ROWS = [row for rows in EXAMPLES.values() for row in rows]
FURTHER = {
    "VERTICES": ("mesh", "use_auto_texspace"),
}
"""Another property that stands for an entry: a scene has no mesh with keyed vertices."""


UNSTEADY = {"pose_position", "parent_type"}
"""Blender evaluates these properties and the bones in parallel: a pose may be that of the frame before."""
RARELY_UNSTEADY = {"use_tail", "parent_bone_head_tail_factor"}
"""About one frame in four hundred, another pose is sampled with these properties if the machine is busy."""
IS_UNSTEADY = bpy.app.version < (5, 2, 0)
"""Whether this Blender does so with all properties."""


def test_each_entry_of_the_table_has_examples():
    assert EXAMPLES.keys() == ALL_SWITCHES.keys()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("entry", ALL_SWITCHES)
def test_animated_property_of_each_entry_is_found(entry, method):
    build_scene()
    switch = ALL_SWITCHES[entry]
    place, name = FURTHER.get(entry, EXAMPLES[entry][0])
    owner = owners()[place]
    # Each scene has some keyed motion already.
    before = changing(owner.id_data, switch)
    assert animate(owner, name, other_value(owner, name), method)
    assert changing(owner.id_data, switch) - before == {owner.path_from_id(name)}
    assert owner.id_data.id_type == OTHER_OWNERS.get(entry, "OBJECT")


@pytest.mark.smoke
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("place", "name"), ROWS, ids=[f"{name} of {place}" for place, name in ROWS])
def test_animated_switch_is_followed_or_not_known(place, name, method):
    build_scene()
    owner = owners()[place]
    value = "ITASC" if name == "ik_solver" else other_value(owner, name)
    if not animate(owner, name, value, method):
        pytest.skip("this Blender cannot animate the property")
    wrong = steadily_wrong_boxes(name)
    if IS_UNSTEADY:
        wrong = [each for each in wrong if each[2]]
    assert wrong == []


def steadily_wrong_boxes(name):
    """Compare boxes with Blender's while a property is animated: see `wrong_boxes`."""
    with keeping_open():
        wrong = list(wrong_boxes())
        if name in RARELY_UNSTEADY:
            for _ in range(2):
                if not any(is_known for _, _, is_known in wrong):
                    wrong = wrong and list(wrong_boxes())
    if name in UNSTEADY:
        # What is sampled then may be wrong, but nothing is proven wrongly.
        wrong = [each for each in wrong if each[2]]
    return wrong


def test_without_an_animated_switch_the_subjects_are_known():
    build_scene()
    names, motion = motion_of_scene()
    known = {name for name, is_known in zip(names, known_subjects(motion), strict=True) if is_known}
    assert known == {"Free", "On 0", "On 1", "On 2", "On 3", "Plain", "Skin"}


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("place", ["Rig", "Plain", "Carrier", "Free", "Target", "Skin", "On 2"])
def test_any_property_of_an_object_is_followed_or_not_known(place, method):
    assert_none_is_wrong(place, method)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_any_other_property_is_followed_or_not_known(method):
    build_scene()
    for place, owner in owners().items():
        if not isinstance(owner, bpy.types.Object):
            assert_none_is_wrong(place, method)


def assert_none_is_wrong(place, method):
    """Animate all properties of an owner, one after another, and compare all boxes with Blender's."""
    build_scene()
    wrong, tried = {}, 0
    for name in animatable_properties(owners()[place]):
        build_scene()
        owner = owners()[place]
        value = other_value(owner, name)
        if value is None or not animate(owner, name, value, method):
            continue
        tried += 1
        if found := steadily_wrong_boxes(name):
            wrong[name] = found
    assert tried
    assert wrong == {}
