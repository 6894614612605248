"""Frames to sample, and restoring the frame."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.scene.blender.frames import go_to, go_to_without_redraw, preserve_frame, sample_times
from tests.scene.sampling import add_object

pytestmark = pytest.mark.usefixtures("empty_file")


def test_last_frame_is_sampled_when_step_passes_over_it():
    assert sample_times(1, 10, 4) == [1, 5, 9, 10]
    assert sample_times(-3, -3, 1) == [-3]
    assert sample_times(-0.5, 1, 1) == [-0.5, 0.5, 1]
    # 0.3 / 0.1 is less than 3 in floats. No sample is missing, and no two samples are nearly equal.
    assert sample_times(0, 0.3, 0.1) == [0, 0.1, 0.2, 0.3]
    assert len(sample_times(1, 10, 0.1)) == 91
    for wrong in ((5, 4, 1), (1, 2, 0), (1, 2, -1), (1, 2, float("nan")), (float("nan"), 2, 1)):
        with pytest.raises(CollisionBoundsError):
            sample_times(*wrong)


@pytest.mark.parametrize("fails", [False, True])
def test_frame_and_subframe_are_restored_also_after_error(add_mesh, fails):
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.25)
    try:
        with preserve_frame(scene):
            scene.frame_set(42)
            if fails:
                raise RuntimeError("on purpose")
    except RuntimeError:
        pass
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)


@pytest.mark.parametrize(
    ("path", "index"), [("location", [0]), ("color", [0]), ("constraints[0].influence", [])]
)
def test_drivers_of_bones_have_the_values_of_their_frame_where_the_armature_is_driven_too(path, index):
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for number in range(3):
        bone = rig.data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail = (0, 0, number), (0, 0, number + 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    rates = [(bone, axis, 0.5 + axis) for axis, bone in enumerate(rig.pose.bones)]
    rig.constraints.new("LIMIT_LOCATION")
    rig.driver_add(path, *index).driver.expression = "frame / 100"
    for bone, axis, rate in rates:
        bone.rotation_mode = "XYZ"
        bone.driver_add("rotation_euler", axis).driver.expression = f"{rate} * frame"
    scene = bpy.context.scene
    for time in np.random.default_rng(0).uniform(1, 90, 3000).tolist():
        go_to(scene, time)
        driven = rig.path_resolve(path)
        assert (driven[0] if index else driven) == pytest.approx(time / 100, rel=1e-6)
        for bone, axis, rate in rates:
            assert bone.rotation_euler[axis] == pytest.approx(rate * time, rel=1e-6)


@pytest.mark.smoke
def test_scene_is_evaluated_the_same_without_a_redraw_and_others_stay_at_their_frame(tmp_path):
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    path = str(tmp_path / "scene.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path, link=True) as (_, requested):
        requested.scenes = ["Other"]
    scene.view_layers.new("Second")
    item = add_object("Keyed", bpy.data.meshes.new("Keyed"))
    for frame, place in ((-20, 3), (1, 0), (90, 7)):
        item.location.x = place
        item.keyframe_insert("location", frame=frame)
    item.driver_add("rotation_euler", 2).driver.expression = "frame"

    def state(function, time):
        function(scene, time)
        graphs = [layer.depsgraph for layer in scene.view_layers]
        evaluated = [np.array(item.evaluated_get(graph).matrix_world).tobytes() for graph in graphs]
        return scene.frame_current, scene.frame_subframe, evaluated, item.location.x, item.rotation_euler.z

    times = [7, 7.3, 0.1, 89.999, 100000.3, 1048574, -3.4, 1.25, *np.random.default_rng(0).uniform(0, 99, 50)]
    expected = [state(go_to, time) for time in times]
    other.frame_set(3, subframe=0.3)
    rest = [each for each in bpy.data.scenes if each != scene]
    frames = [(each.frame_current, each.frame_subframe) for each in rest]
    assert [state(go_to_without_redraw, time) for time in times] == expected
    assert [(each.frame_current, each.frame_subframe) for each in rest] == frames
    assert len(rest) == 2
