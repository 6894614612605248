"""Frames to sample, and restoring the frame."""

from __future__ import annotations

import bpy
import pytest

from addon.core import CollisionBoundsError
from addon.scene.blender.frames import preserve_frame, sample_times

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
