"""Options that scripts pass: their settings, and errors for wrong and contradictory ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from addon.scene.declarations import FrameSpan, completed_keywords, with_options
from addon.scene.errors import SceneError
from addon.scene.settings import (
    JOB_OPTIONS,
    JOB_RULES,
    BoundsSettings,
    ContactSettings,
    FitSettings,
    Selection,
    VertexGroup,
)


def settings_of(command="bounds", **given):
    """Return the settings of options that a script passes, with a padding."""
    values = completed_keywords(given, JOB_OPTIONS[command], JOB_RULES[command])
    plain = BoundsSettings() if command == "bounds" else ContactSettings()
    return with_options(plain, {"padding": 0.5, **values})


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
    assert settings_of() == settings_of(bone_frames="current")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bnes": True}, "option 'bnes': choose from bone_frames, bone_weight, bones, box_axes"),
        ({"box_axes": "checked"}, "box_axes 'checked': choose from world, object, smallest"),
        ({"modifiers": "none"}, "modifiers 'none': choose from evaluated, base"),
        ({"parts": 0}, "parts 0: must be a whole number from 1 to 256"),
        ({"parts": 2.5}, "parts 2.5: must be a whole number"),
        ({"parts": 2, "part_shape": "cube"}, "part_shape 'cube': choose from hull, box"),
        ({"parts": 2, "parts_tolerance": -1}, "parts_tolerance -1: must be a number of 0 or more"),
        ({"parts_tolerance": 1}, "parts_tolerance: only valid with parts"),
        ({"part_shape": "box"}, "part_shape: only valid with parts"),
        ({"bone_weight": 0.5}, "bone_weight: only valid with bones=True"),
        ({"bone_frames": "all"}, 'bone_frames="all": only valid with bones=True'),
        ({"bones": True, "bone_weight": math.nan}, "bone_weight nan: must be a number from 0 to 1"),
        ({"bones": True, "bone_weight": "1"}, "bone_weight '1': must be a number from 0 to 1"),
        ({"frames": (1, 2, 1)}, "frames: only valid with envelope=True"),
        ({"envelope": True, "frames": ()}, r"frames \(\): must be a frame, first and last, or first, last"),
        ({"envelope": True, "frames": (1, 2, 3, 4)}, r"frames \(1, 2, 3, 4\): must be a frame"),
        ({"envelope": True, "frames": (1, "2")}, r"frames \(1, '2'\): must be a frame"),
        ({"envelope": True, "frames": math.inf}, "frames inf: must be a frame"),
        ({"vertex_group": 5}, "vertex_group 5: must be a name"),
        ({"modifiers": ["base"]}, r"modifiers \['base'\]: choose from evaluated, base"),
        ({"group_threshold": 0.5}, "group_threshold: only valid with vertex_group"),
        (
            {"vertex_group": "Head", "bones": True},
            "vertex_group: not valid with bones=True, envelope=True or",
        ),
        ({"bone_weight": -1, "bones": True}, "bone_weight -1: must be a number from 0 to 1"),
        ({"shapes": ["cube"]}, "shapes 'cube': choose from sphere, aabb"),
        ({"shapes": None}, "shapes None: must be a sequence of names"),
        ({"envelope": True, "frames": (9, 1)}, r"frames \(9, 1\): the end is before the start"),
        ({"envelope": True, "frames": (1, 9, 0)}, r"frames \(1, 9, 0\): the step must be greater than 0"),
    ],
)
def test_wrong_options_are_errors_that_name_them(given, message):
    with pytest.raises(SceneError, match=message):
        settings_of(**given)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (10, (10, 10, 1)),
        ((2, 9), (2, 9, 1)),
        ([2.5, 9, 0.5], (2.5, 9, 0.5)),
        ((np.float32(1), np.int64(3)), (1, 3, 1)),
    ],
)
def test_frames_are_those_of_the_command_line(frames, expected):
    assert FrameSpan().check(frames) == expected
    text = ":".join(f"{number:g}" for number in (frames if isinstance(frames, tuple | list) else [frames]))
    assert FrameSpan().read(text) == expected


def test_envelopes_need_a_sphere_or_a_box():
    with pytest.raises(SceneError, match="shapes hull: envelopes and tracks need sphere or aabb"):
        settings_of(shapes=("hull",), envelope=True)


def test_scans_have_no_options_of_bounds_alone():
    with pytest.raises(SceneError, match="option 'part_shape': choose from a, b, bone_weight"):
        settings_of("contacts", part_shape="box")


def test_rules_of_contacts_are_those_of_the_command_line():
    assert settings_of("contacts", parts=4).shape == "compound"
    assert settings_of("contacts").shape == settings_of("contacts", obstacles="Level*").shape == "mesh"
    assert (
        settings_of("contacts").ignore_parents
        and not settings_of("contacts", ignore_parents=False).ignore_parents
    )
    assert settings_of("contacts", a=["Car*"], ignore="Lid:Box").ignored == ("Lid:Box",)
    for given, message in (
        ({"shape": "obb", "parts": 4}, 'parts: only valid with shape="compound"'),
        ({"one_sided": True}, "one_sided=True: only valid with obstacles"),
        ({"ignore": "Lid"}, "ignore 'Lid': expected A:B"),
        ({"motion": "fast"}, "motion 'fast': choose from adaptive, linear"),
    ):
        with pytest.raises(SceneError, match=message):
            settings_of("contacts", **given)
