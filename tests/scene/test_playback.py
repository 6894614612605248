"""Sampling an animation, and leaving the scene as it was found."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import Sphere
from addon.scene.fitting import FitSettings
from addon.scene.obstacles import MeshObstacles
from addon.scene.playback import Playback
from addon.scene.playhead import frame_kept
from addon.scene.selection import Selection
from addon.scene.subjects import find_subjects
from tests.scene.building import CUBE, key_location

pytestmark = pytest.mark.usefixtures("empty_file")


def playback(shape="sphere"):
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    nothing = MeshObstacles(subjects, np.zeros(len(subjects), dtype=bool), one_sided=False)
    return Playback(scene, subjects, Selection(), shape, FitSettings(), nothing)


@pytest.mark.smoke
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


@pytest.mark.smoke
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


@pytest.fixture
def eventful(add_mesh):
    """One goes a metre a frame; one is twice as large in frames 6 to 8; one is away in frames 4 and 5."""
    key_location(add_mesh("A goes"), {1: (0, 0, 0), 21: (20, 0, 0)})
    grows = add_mesh("B grows")
    grows.shape_key_add(name="Basis")
    large = grows.shape_key_add(name="Large")
    for point, corner in zip(large.data, CUBE, strict=True):
        point.co = 2 * corner
    for frame, value in ((5, 0.0), (6, 1.0), (8, 1.0), (9, 0.0)):
        large.value = value
        large.keyframe_insert("value", frame=frame)
    leaves = add_mesh("C leaves")
    for frame, hidden in ((1, False), (4, True), (6, False)):
        leaves.hide_viewport = hidden
        leaves.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


def assert_eventful(frames, shapes, present):
    """As the keys say: cubes of side 2, whose corners are the root of 3 away."""
    frames = np.asarray(frames)
    ball = np.sqrt(3)
    np.testing.assert_allclose(shapes.center[:, 0, 0], frames - 1, atol=1e-5)
    np.testing.assert_allclose(shapes.radius[:, 0], ball, rtol=1e-6)
    large = (frames >= 6) & (frames <= 8)
    np.testing.assert_allclose(shapes.radius[:, 1], np.where(large, 2 * ball, ball), rtol=1e-6)
    np.testing.assert_array_equal(present[:, 2], (frames < 4) | (frames > 5))
    assert present[:, :2].all()


@pytest.mark.smoke
@pytest.mark.usefixtures("eventful")
def test_recorded_frames_are_what_they_were_when_something_else_came_of_them():
    motion = playback()
    frames = list(range(1, 13))
    for frame in frames:
        motion.record(frame)
    sample = motion.recorded()
    assert_eventful(frames, sample.shapes, sample.present)
    assert [(entry.name, "frame 4:" in entry.reason) for entry in motion.left_out] == [("C leaves", True)]


@pytest.mark.usefixtures("eventful")
def test_frame_asked_for_alone_leaves_recorded_ones_as_they_are():
    motion = playback()
    frames = [1, 2, 3, 5, 6, 8, 9, 10]
    for frame in frames[:4]:
        motion.record(frame)
    alone = motion.sample(5.5).as_batch()
    np.testing.assert_allclose(alone.shapes.center[:, 0, 0], 4.5, atol=1e-5)
    motion.record(6)
    between = motion.sample_between(7, np.array([0, 1]))
    np.testing.assert_allclose(between.shapes.radius[1], 2 * np.sqrt(3), rtol=1e-6)
    for frame in frames[5:]:
        motion.record(frame)
    sample = motion.recorded()
    assert_eventful(frames, sample.shapes, sample.present)


def test_what_turns_and_grows_is_placed_together_as_alone(add_mesh):
    rng = np.random.default_rng(3)
    for index in range(7):
        item = add_mesh(f"Body {index}", rng.normal(size=(20, 3)))
        for frame in (1, 30):
            item.location, item.rotation_euler = rng.normal(size=3) * 5, rng.uniform(-3, 3, 3)
            item.scale = np.full(3, rng.uniform(0.5, 2)) if index else rng.uniform(0.5, 2, 3)
            for path in ("location", "rotation_euler", "scale"):
                item.keyframe_insert(path, frame=frame)
    for shape in ("sphere", "aabb", "obb"):
        bpy.context.scene.frame_set(1)
        together, alone = playback(shape), playback(shape)
        for frame in range(1, 31):
            together.record(frame)
        sample = together.recorded()
        for row, frame in enumerate(range(1, 31)):
            expected = alone.sample(frame).shapes
            for name in expected.tails:
                np.testing.assert_array_equal(getattr(sample.shapes, name)[row], getattr(expected, name))


@pytest.mark.smoke
def test_collections_list_objects_in_the_order_of_the_scene(add_mesh):
    scene = bpy.context.scene
    items = [add_mesh(name) for name in "DBECA"]
    outer, inner, other = (bpy.data.collections.new(name) for name in ("Outer", "Inner", "Other"))
    scene.collection.children.link(other)
    scene.collection.children.link(outer)
    outer.children.link(inner)
    for item, home in zip(items[1:], (inner, outer, other, inner), strict=True):
        scene.collection.objects.unlink(item)
        home.objects.link(item)
    outer.objects.link(items[4])
    other.children.link(inner)
    items[2].hide_viewport = outer.hide_viewport = True
    bpy.context.view_layer.layer_collection.children["Other"].exclude = True
    # Places among the one are places among the other.
    assert list(scene.collection.all_objects) == list(scene.objects)
