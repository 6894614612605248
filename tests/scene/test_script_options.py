"""Options that scripts pass to `api`: their settings, and errors for wrong and contradictory ones."""

from __future__ import annotations

import math

import pytest

from addon.scene.errors import SceneError
from addon.scene.script_options import FitOptions, bounds_with_options, fit_with_options
from addon.scene.settings import FitSettings, Selection, VertexGroup


def settings_of(shapes=("sphere", "aabb"), **given):
    return bounds_with_options(Selection(), shapes, FitSettings(padding=0.5), None, given)


def test_options_become_settings():
    settings = settings_of(
        bones=True,
        bone_weight=0.3,
        bone_frames="all",
        box_axes="smallest",
        modifiers="base",
        frames=(1, 9, 2),
        parts=3,
        parts_tolerance=0.25,
        part_shape="capsule",
    )
    assert settings.shapes == ("sphere", "aabb", "compound")
    assert settings.selection == Selection(split_by_bones=True, bone_weight=0.3)
    assert settings.fit == FitSettings(
        padding=0.5,
        axes="smallest",
        modifiers="base",
        parts=3,
        parts_tolerance=0.25,
        part_shape="capsule",
        bone_frames="all",
    )
    assert settings.frames == (1, 9, 2) and not settings.envelope
    group = settings_of(vertex_group="Head", group_threshold=0.25).fit.vertex_group
    assert group == VertexGroup("Head", 0.25)
    assert settings_of(envelope=True, frames=[1, 5, 1]).envelope
    assert settings_of() == settings_of(**{})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bnes": True}, "option 'bnes': choose from bone_frames, bone_weight, bones"),
        ({"box_axes": "checked"}, "box_axes 'checked': choose from world, object, smallest"),
        ({"modifiers": "none"}, "modifiers 'none': choose from evaluated, base"),
        ({"parts": 0}, "parts 0: must be a whole number from 1 to 256"),
        ({"parts": 2.5}, "parts 2.5: must be a whole number"),
        ({"parts": 2, "part_shape": "cube"}, "part_shape 'cube': choose from hull, box"),
        ({"parts": 2, "parts_tolerance": -1}, "parts_tolerance -1: must be a number of 0 or more"),
        ({"parts_tolerance": 1}, "parts_tolerance: only valid with parts"),
        ({"part_shape": "box"}, "part_shape: only valid with parts"),
        ({"bone_weight": 0.5}, "bone_weight: only valid with bones=True"),
        ({"bone_frames": "all"}, "bone_frames: only valid with bones=True"),
        ({"bones": True, "bone_weight": math.nan}, "bone_weight nan: must be a number from 0 to 1"),
        ({"bones": True, "bone_weight": "1"}, "bone_weight '1': must be a number from 0 to 1"),
        ({"frames": (1, 2, 1)}, "frames: only valid with envelope=True"),
        ({"envelope": True, "frames": (1, 2)}, r"frames \(1, 2\): must be the first frame"),
        ({"group_threshold": 0.5}, "group_threshold: only valid with vertex_group"),
        ({"vertex_group": "Head", "bones": True}, "vertex_group: not valid with bones or envelope"),
    ],
)
def test_wrong_options_are_errors_that_name_them(given, message):
    with pytest.raises(SceneError, match=message):
        settings_of(**given)


def test_envelopes_need_a_sphere_or_a_box():
    with pytest.raises(SceneError, match="shapes hull: envelopes need sphere or aabb"):
        settings_of(shapes=("hull",), envelope=True)


def test_scans_have_no_options_of_bounds_alone():
    with pytest.raises(SceneError, match="option 'part_shape': choose from bone_weight"):
        fit_with_options(FitSettings(), {"part_shape": "box"}, FitOptions)
