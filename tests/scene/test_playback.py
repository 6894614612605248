"""Sampling an animation, and leaving the scene as it was found."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import Sphere
from addon.scene.fitting import FitSettings
from addon.scene.obstacles import MeshObstacles
from addon.scene.playback import Playback, frame_kept
from addon.scene.subjects import Selection, find_subjects
from tests.scene.building import key_location

pytestmark = pytest.mark.usefixtures("empty_file")


def playback(shape="sphere"):
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    nothing = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), one_sided=False)
    return Playback(scene, subjects, Selection(), shape, FitSettings(), nothing)


def test_sub_frames_are_evaluated_between_keys(add_mesh):
    key_location(add_mesh("Cube"), {1: (0, 0, 0), 11: (10, 0, 0)})
    sample = playback().sample(3.25)
    # A metre a frame from frame 1: 2.25 at 3.25. The cube's corners are the root of 3 away.
    np.testing.assert_allclose(sample.shapes.center, [[2.25, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(sample.shapes.radius, [np.sqrt(3)], rtol=1e-6)


def test_boxes_are_refitted_to_turned_points(add_mesh):
    item = add_mesh("Cube")
    item.rotation_euler = (0, 0, 0)
    item.keyframe_insert("rotation_euler", frame=1)
    item.rotation_euler = (0, 0, np.pi / 4)
    item.keyframe_insert("rotation_euler", frame=2)
    box = playback("aabb").sample(2).shapes
    # A square of side 2 on its corner is 2 times the root of 2 wide.
    np.testing.assert_allclose(box.max - box.min, [[2 * np.sqrt(2), 2 * np.sqrt(2), 2]], rtol=1e-6)


def test_subject_that_is_hidden_later_is_absent_then_and_named(add_mesh):
    item = add_mesh("Ghost")
    add_mesh("Wall")
    for frame, hidden in ((1, False), (5, True)):
        item.hide_viewport = hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    motion = playback()
    assert motion.sample(4).present.tolist() == [True, True]
    assert motion.sample(5).present.tolist() == [False, True]
    assert isinstance(motion.sample(5).shapes, Sphere)
    assert [entry.name for entry in motion.left_out] == ["Ghost"]
    assert "frame 5" in motion.left_out[0].reason


@pytest.mark.parametrize("fails", [False, True])
def test_frame_and_sub_frame_come_back_also_after_an_error(add_mesh, fails):
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.25)
    try:
        with frame_kept(scene):
            scene.frame_set(42)
            if fails:
                raise RuntimeError("on purpose")
    except RuntimeError:
        pass
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)


def test_what_comes_in_after_the_first_frame_is_named(add_mesh):
    add_mesh("Wall")
    late = add_mesh("Late")
    for frame, hidden in ((1, True), (5, False)):
        late.hide_viewport = hidden
        late.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    motion = playback()
    for frame in (1, 4, 5, 6):
        assert motion.sample(frame).present.tolist() == [True]
    assert [(entry.name, "frame 5" in entry.reason) for entry in motion.left_out] == [("Late", True)]
