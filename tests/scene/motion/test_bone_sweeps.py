"""Bones at all frames: poses without keys stay, and the scene is played only where it must be."""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
import pytest

from addon.scene.colliders.make import colliders_in_parts
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.motion.over_time import BoneMotion, sweep_bones
from addon.scene.settings import BoundsSettings, ColliderSettings, FitSettings, Selection
from addon.scene.subjects.find import find_subjects
from tests.finished import finished
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.colliders.creating import make_colliders

pytestmark = pytest.mark.usefixtures("object_settings")

ALL = FitSettings(bone_frames="all")
BONES = Selection(split_by_bones=True)
JOBS = {
    "bounds": lambda: compute_bounds(bpy.context.scene, BoundsSettings(BONES, fit=ALL)),
    "colliders": lambda: make_colliders(bpy.context.scene, ColliderSettings(BONES, replace(ALL, parts=1))),
}


def add_character() -> tuple[bpy.types.Object, bpy.types.Object]:
    rig = add_rig()
    tube = add_tube(rig)
    tube.parent = rig
    for frame, angle in ((1, 0.0), (4, 1.3), (9, 0.2)):
        rotate_bones(rig, {1: angle, 2: -angle}, frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 9
    bpy.context.scene.frame_set(3)
    return rig, tube


def add_driver(item: bpy.types.Object, expression: str) -> None:
    """Drive the X scale of an object."""
    driver = item.driver_add("scale", 0).driver
    driver.type, driver.expression = "SCRIPTED", expression


def spoil_private_source(rig: bpy.types.Object, tube: bpy.types.Object) -> None:
    """Let a driver run Python, so that the scene has to be played."""
    bpy.app.driver_namespace["one"] = lambda: 1.0
    add_driver(rig, "one()")


@pytest.mark.smoke
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("is_played", [False, True])
def test_values_without_keys_stay_as_they_are(job, is_played):
    rig, tube = add_character()
    tube["wide"] = 1.0
    tube.keyframe_insert('["wide"]', frame=1)
    tube.shape_key_add(name="Basis")
    tube.shape_key_add(name="Thick").keyframe_insert("value", frame=1)
    rig.keyframe_insert("location", frame=1)
    if is_played:
        spoil_private_source(rig, tube)
    bpy.context.view_layer.update()
    # Changed without a key: a pose, a location, a custom property, a shape key.
    rotate_bones(rig, {1: 0.77})
    rig.location, tube["wide"] = (3, 4, 5), 0.25
    tube.data.shape_keys.key_blocks["Thick"].value = 0.5
    bpy.context.view_layer.update()
    matrix = np.array(rig.pose.bones["Bone 2"].matrix)
    JOBS[job]()
    assert bpy.context.scene.frame_current == 3
    assert rig.pose.bones["Bone 1"].rotation_euler.x == pytest.approx(0.77)
    assert tuple(rig.location) == (3, 4, 5) and tube["wide"] == 0.25
    assert tube.data.shape_keys.key_blocks["Thick"].value == 0.5
    # Evaluated too, not only set.
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert tuple(evaluated.location) == (3, 4, 5)
    assert np.allclose(np.array(rig.pose.bones["Bone 2"].matrix), matrix, atol=1e-6)


def test_bounds_of_other_objects_are_those_of_the_pose_without_keys(add_mesh):
    rig, _ = add_character()
    cube = add_mesh("Cube", [(0, 0, 0), (1, 0, 0), (0, 1, 1)])
    cube.location = (1, 0, 0)
    cube.keyframe_insert("location", frame=1)
    cube.location = (20, 0, 0)
    spoil_private_source(rig, cube)
    bpy.context.view_layer.update()
    (entry,) = (each for each in JOBS["bounds"]().objects if each.name == "Cube")
    assert entry.translation == pytest.approx([20, 0, 0])
    assert cube.location.x == 20


def motion(scene: bpy.types.Scene) -> BoneMotion:
    """Choose the source of all bones."""
    subjects, _ = find_subjects(scene, bpy.context.evaluated_depsgraph_get(), BONES)
    found = BoneMotion(scene, list(subjects), ALL)
    finished(found.choose_source([1.0, 5.0, 9.0]))
    return found


def test_objects_that_depend_on_nothing_else_are_evaluated_alone():
    add_character()
    frames: list[float] = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _: frames.append(scene.frame_current))
    try:
        assert len(motion(bpy.context.scene).alone) == 3
        JOBS["bounds"]()
    finally:
        del bpy.app.handlers.frame_change_post[-1]
    # The user's scene went to a few frames to compare, and back; not to those between the frames.
    assert 4 <= len(frames) <= 10


def test_objects_that_depend_on_the_scene_are_played_with_it():
    rig, tube = add_character()
    second_rig = add_rig("Second Rig")
    add_tube(second_rig, "Second")
    spoil_private_source(rig, tube)
    subjects, _ = find_subjects(bpy.context.scene, bpy.context.evaluated_depsgraph_get(), BONES)
    alone = {subjects[index].key[0] for index in motion(bpy.context.scene).alone}
    assert alone == {"Second"}


def test_both_sources_have_the_same_vertices():
    rig, tube = add_character()
    scene = bpy.context.scene
    from_private = motion(scene)
    spoil_private_source(rig, tube)
    from_scene = motion(scene)
    assert (len(from_private.alone), len(from_scene.alone)) == (3, 0)
    for time in (1.0, 2.25, 4.0, 7.7):
        first, second = from_private.sample(time), from_scene.sample(time)
        assert first.keys() == second.keys()
        assert all(np.array_equal(first[index], second[index]) for index in first)


@pytest.mark.parametrize("is_played", [False, True])
@pytest.mark.parametrize("job", ["bounds", "colliders"])
def test_job_that_is_stopped_leaves_nothing(job, is_played):
    rig, tube = add_character()
    if is_played:
        spoil_private_source(rig, tube)
    rotate_bones(rig, {1: 0.77})
    scene = bpy.context.scene
    objects, scenes = len(bpy.data.objects), len(bpy.data.scenes)
    if job == "bounds":
        parts = bounds_in_parts(scene, BoundsSettings(BONES, fit=ALL))
    else:
        parts = colliders_in_parts(scene, ColliderSettings(BONES, replace(ALL, parts=1)))
    shares = [next(parts).share for _ in range(6)]
    assert shares == sorted(shares) and 0 <= shares[0] < shares[-1] < 1
    assert len(bpy.data.scenes) == scenes  # no private scene while others can look
    parts.close()
    assert len(bpy.data.objects) == objects and scene.frame_current == 3
    assert rig.pose.bones["Bone 1"].rotation_euler.x == pytest.approx(0.77)


def test_scene_without_such_bones_is_not_played():
    add_character()
    subjects, _ = find_subjects(bpy.context.scene, bpy.context.evaluated_depsgraph_get(), Selection())
    for fit, found in ((ALL, subjects), (FitSettings(), subjects)):
        assert not list(sweep_bones(bpy.context.scene, found, fit, (1, 9, 1)))
