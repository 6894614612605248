"""Sampling of an animation: shapes at a time, recorded samples, and skipped subjects."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import Sphere
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import FitSettings, Selection
from addon.scene.subjects.find import find_subjects
from tests.scene.building import CUBE, key_location

pytestmark = pytest.mark.usefixtures("empty_file")


def create_motion(shape="sphere", padding=0.0):
    """Create the motion of all objects of the scene, without obstacles."""
    scene = bpy.context.scene
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), Selection())
    return SceneMotion(scene, subjects, Selection(), shape, FitSettings(padding=padding))


@pytest.mark.smoke
def test_sub_frames_are_evaluated_between_keys(add_mesh):
    key_location(add_mesh("Cube"), {1: (0, 0, 0), 11: (10, 0, 0)})
    sample = create_motion().sample(3.25)
    # The cube moves by 1 per frame from frame 1: x = 2.25 at 3.25. Its corners are sqrt(3) from its center.
    np.testing.assert_allclose(sample.shapes.center, [[2.25, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(sample.shapes.radius, [np.sqrt(3)], rtol=1e-6)


def test_boxes_are_refitted_to_rotated_points(add_mesh):
    item = add_mesh("Cube")
    item.rotation_euler = (0, 0, 0)
    item.keyframe_insert("rotation_euler", frame=1)
    item.rotation_euler = (0, 0, np.pi / 4)
    item.keyframe_insert("rotation_euler", frame=2)
    box = create_motion("aabb").sample(2).shapes
    # A square of side 2, rotated by 45 degrees, is 2 sqrt(2) wide.
    np.testing.assert_allclose(box.max - box.min, [[2 * np.sqrt(2), 2 * np.sqrt(2), 2]], rtol=1e-6)


@pytest.mark.smoke
def test_subject_hidden_later_is_absent_and_reported_as_skipped(add_mesh):
    item = add_mesh("Ghost")
    add_mesh("Wall")
    for frame, hidden in ((1, False), (5, True)):
        item.hide_viewport = hidden
        item.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    motion = create_motion()
    assert motion.sample(4).present.tolist() == [True, True]
    assert motion.sample(5).present.tolist() == [False, True]
    assert isinstance(motion.sample(5).shapes, Sphere)
    assert [entry.name for entry in motion.skips.records.values()] == ["Ghost"]
    assert "frame 5" in motion.skips.records["Ghost"].reason


def test_object_that_appears_later_is_reported_as_skipped(add_mesh):
    add_mesh("Wall")
    late = add_mesh("Late")
    for frame, hidden in ((1, True), (5, False)):
        late.hide_viewport = hidden
        late.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)
    motion = create_motion()
    for frame in (1, 4, 5, 6):
        assert motion.sample(frame).present.tolist() == [True]
    assert [*motion.skips.records] == ["Late"] and "frame 5" in motion.skips.records["Late"].reason


@pytest.fixture
def animated_objects(add_mesh):
    """Add an object that moves by 1 per frame, one larger at frames 6 to 8, and one hidden at 4 and 5."""
    key_location(add_mesh("A moves"), {1: (0, 0, 0), 21: (20, 0, 0)})
    grows = add_mesh("B grows")
    grows.shape_key_add(name="Basis")
    large = grows.shape_key_add(name="Large")
    for point, corner in zip(large.data, CUBE, strict=True):
        point.co = 2 * corner
    for frame, value in ((5, 0.0), (6, 1.0), (8, 1.0), (9, 0.0)):
        large.value = value
        large.keyframe_insert("value", frame=frame)
    hides = add_mesh("C hides")
    for frame, hidden in ((1, False), (4, True), (6, False)):
        hides.hide_viewport = hidden
        hides.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(1)


def assert_shapes_match_keys(frames, shapes, present):
    """Check shapes against the keys: the corners of the cubes are sqrt(3) from their centers."""
    frames = np.asarray(frames)
    radius = np.sqrt(3)
    np.testing.assert_allclose(shapes.center[:, 0, 0], frames - 1, atol=1e-5)
    np.testing.assert_allclose(shapes.radius[:, 0], radius, rtol=1e-6)
    large = (frames >= 6) & (frames <= 8)
    np.testing.assert_allclose(shapes.radius[:, 1], np.where(large, 2 * radius, radius), rtol=1e-6)
    np.testing.assert_array_equal(present[:, 2], (frames < 4) | (frames > 5))
    assert present[:, :2].all()


@pytest.mark.smoke
@pytest.mark.usefixtures("animated_objects")
def test_recorded_samples_match_keys_when_subjects_deform_and_hide():
    motion = create_motion()
    frames = list(range(1, 13))
    for frame in frames:
        motion.record(frame)
    sample = motion.recorded()
    assert_shapes_match_keys(frames, sample.shapes, sample.present)
    assert [*motion.skips.records] == ["C hides"] and "frame 4:" in motion.skips.records["C hides"].reason


@pytest.mark.usefixtures("animated_objects")
def test_single_sample_keeps_recorded_samples():
    motion = create_motion()
    frames = [1, 2, 3, 5, 6, 8, 9, 10]
    for frame in frames[:4]:
        motion.record(frame)
    single = motion.sample(5.5).as_batch()
    np.testing.assert_allclose(single.shapes.center[:, 0, 0], 4.5, atol=1e-5)
    motion.record(6)
    between = motion.sample_between(7, np.array([0, 1]))
    np.testing.assert_allclose(between.shapes.radius[1], 2 * np.sqrt(3), rtol=1e-6)
    for frame in frames[5:]:
        motion.record(frame)
    sample = motion.recorded()
    assert_shapes_match_keys(frames, sample.shapes, sample.present)


def add_bending_grid():
    """Add a grid that a shape key bends, and a cube next to it."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=30, y_subdivisions=30, size=4)
    grid = bpy.context.object
    grid.shape_key_add(name="Basis")
    bent = grid.shape_key_add(name="Bent")
    for point in bent.data:
        point.co.z = point.co.x**2 + 0.5 * point.co.y
    for frame, value in ((1, 0.0), (11, 1.0)):
        bent.value = value
        bent.keyframe_insert("value", frame=frame)
    bpy.ops.mesh.primitive_cube_add(location=(4, 0, 0))
    bpy.context.scene.frame_set(1)


def test_parts_of_subjects_are_sampled_alone_as_with_all_others():
    add_bending_grid()
    whole, parts = create_motion("spheres"), create_motion("spheres")
    for each in (whole, parts):
        each.sample(1)
    owners = whole.owners
    grid = int(np.bincount(owners).argmax())
    shapes = np.flatnonzero(owners == grid)[[0, 3, 5, 14]]
    for time in (2.5, 7.25):
        expected = whole.sample_between(time, np.array([grid])).shapes[
            shapes - np.flatnonzero(owners == grid)[0]
        ]
        found = parts.sample_parts(time, np.array([grid]), shapes)
        assert np.array_equal(found.shapes.center, expected.center)
        assert np.array_equal(found.shapes.radius, expected.radius)
        assert found.present.all()
    # At the next frame all parts are fitted again.
    assert np.array_equal(parts.sample(8).shapes.radius, whole.sample(8).shapes.radius)


def test_parts_that_no_sample_is_taken_for_do_not_make_a_subject_vanish():
    add_bending_grid()
    grid = bpy.data.objects["Grid"]
    for point in grid.data.shape_keys.key_blocks["Bent"].data:
        point.co *= 0.01
    motion = create_motion("spheres", padding=-0.25)
    assert motion.sample(1).present.all()
    index = int(np.bincount(motion.owners).argmax())
    shapes = np.flatnonzero(motion.owners == index)
    # At frame 11, all its parts are smaller than the padding takes away.
    assert not motion.sample_between(11, np.array([index])).present.any()
    sample = motion.sample_parts(2.5, np.array([index]), shapes[:2])
    assert sample.present.all()
    whole = motion.sample_between(2.5, np.array([index]))
    assert np.array_equal(sample.shapes.radius, whole.shapes.radius[:2])


def test_recorded_samples_equal_single_samples(add_mesh):
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
        recorded, single = create_motion(shape), create_motion(shape)
        for frame in range(1, 31):
            recorded.record(frame)
        sample = recorded.recorded()
        for row, frame in enumerate(range(1, 31)):
            expected = single.sample(frame).shapes
            for name in expected.field_shapes:
                np.testing.assert_array_equal(getattr(sample.shapes, name)[row], getattr(expected, name))
