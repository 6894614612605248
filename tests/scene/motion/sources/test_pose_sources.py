"""Sources of poses: which objects need the whole scene, and whether all others are the same without it."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.formats import dumps
from addon.scene.blender.private_scene import keeping_open
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import BoundsSettings, FitSettings, Selection
from tests.scene.blender.animated.switching_scene import known_subjects
from tests.scene.building import open_empty_file
from tests.scene.independent.files import load, sample_files
from tests.scene.motion.sources.scenes_of_sources import (
    DIFFERENT,
    SAME,
    copied_location,
    driver_of_the_frame,
    follower_of_what_reads_the_scene,
    mesh_bent_by_an_armature,
    shape_keys,
)
from tests.scene.sampling import scan_scene

TIMES = [float(frame) for frame in range(1, 21)]


def motion_of_scene(times: list[float], is_played: bool = False) -> SceneMotion:
    """Return the motion of all meshes of the scene, which is always played or compared first."""
    scene = bpy.context.scene
    scene.frame_set(int(times[0]))
    subjects = compute_bounds(scene, BoundsSettings()).subjects
    motion = SceneMotion(scene, subjects, Selection(), "aabb", FitSettings())
    if not is_played:
        run_to_end(motion.comparing(times))
    return motion


def differences(motion: SceneMotion, played: SceneMotion, times: list[float]) -> list[tuple[str, float]]:
    """Names and times of subjects whose box is another one than in the scene that is played.

    Those that are known from their curves may differ by rounding.
    """
    names, wrong = played.skips.names, []
    for time in times:
        everything = np.arange(len(names))
        found, expected = (each.sample_between(time, everything) for each in (motion, played))
        is_same = found.present == expected.present
        for side in ("min", "max"):
            mine, theirs = getattr(found.shapes, side), getattr(expected.shapes, side)
            tolerance = np.where(known_subjects(motion), 2e-6 * (1 + np.abs(theirs).max(axis=-1)), 0)
            is_near = np.abs(mine - theirs).max(axis=-1) <= tolerance
            is_same &= is_near | ~expected.present
        wrong += [(names[row], time) for row in np.flatnonzero(~is_same)]
    return wrong


@pytest.fixture(autouse=True)
def own_handlers():
    """Remove the handlers of the scene that was built."""
    before = list(bpy.app.handlers.frame_change_pre)
    yield
    bpy.app.handlers.frame_change_pre[:] = before


@pytest.mark.smoke
@pytest.mark.parametrize("build", [*SAME, *DIFFERENT], ids=lambda build: build.__name__)
def test_objects_that_need_the_whole_scene_are_found_and_all_others_are_the_same(build):
    open_empty_file()
    build()
    motion, played = motion_of_scene(TIMES), motion_of_scene(TIMES, is_played=True)
    names = played.skips.names
    assert names
    assert {names[row] for row in motion.sources.reasons} == {
        name for name in names if name.startswith("Scene")
    }
    assert motion.sources.is_played == (build in DIFFERENT or motion.may_have_late_instances)
    times = [1.0, 20.0, *np.random.default_rng(1).uniform(1, 20, 12).tolist()]
    with keeping_open():
        assert differences(motion, played, times) == []


def test_recorded_boxes_of_a_bent_mesh_and_of_evaluated_objects_are_those_of_playing():
    open_empty_file()
    for build in (copied_location, mesh_bent_by_an_armature, shape_keys, driver_of_the_frame):
        build()
    bent = next(item for item in bpy.context.scene.objects if item.vertex_groups)
    # Its box follows from the curves of the bones, and those of the others from a private scene.
    bent.modifiers["Armature"].use_deform_preserve_volume = False
    motion, played = motion_of_scene(TIMES), motion_of_scene(TIMES, is_played=True)
    assert not motion.sources.is_played
    assert [motion.sources.curves.is_skinned.sum(), known_subjects(motion).sum()] == [1, 1]
    with keeping_open():
        for time in TIMES:
            motion.record(time)
        recorded = motion.recorded().shapes
    for frame, time in enumerate(TIMES):
        expected = played.sample(time).shapes
        assert np.abs(recorded.min[frame] - expected.min).max() < 1e-5
        assert np.abs(recorded.max[frame] - expected.max).max() < 1e-5


@pytest.mark.parametrize("path", sample_files(), ids=lambda path: path.name)
def test_objects_of_sample_files_are_the_same_in_their_source(path):
    load(path)
    scene = bpy.context.scene
    times = np.linspace(scene.frame_start, min(scene.frame_end, scene.frame_start + 60), 13).tolist()
    motion, played = motion_of_scene(times), motion_of_scene(times, is_played=True)
    between = (np.diff(times) / 2 + times[:-1]).tolist()
    with keeping_open():
        assert differences(motion, played, [*times, *between]) == []


def scanned_document(monkeypatch, shape: str, is_played: bool) -> dict:
    with monkeypatch.context() as patch:
        if is_played:
            patch.setattr(SceneMotion, "comparing", lambda self, times, home: iter(()))
        return json.loads(dumps(scan_scene(shape=shape).document()))


@pytest.mark.parametrize(
    "shape",
    ["aabb", *(pytest.param(name, marks=pytest.mark.long) for name in ("obb", "sphere", "spheres", "mesh"))],
)
def test_documents_do_not_depend_on_a_private_scene(monkeypatch, shape):
    open_empty_file()
    for build in (copied_location, mesh_bent_by_an_armature, shape_keys, driver_of_the_frame):
        build()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    found, played = (scanned_document(monkeypatch, shape, is_played) for is_played in (False, True))
    assert found["contacts"]
    assert found == played


def test_report_says_for_which_objects_and_why_the_scene_was_played(monkeypatch):
    open_empty_file()
    follower_of_what_reads_the_scene()
    bpy.context.scene.frame_end = 20
    document = scanned_document(monkeypatch, "aabb", is_played=False)
    assert document["extras"]["playedInScene"] == [
        {"reason": "a driver reads the scene", "ids": ["Scene cube", "Scene follower"]}
    ]
    linear = json.loads(dumps(scan_scene(shape="aabb", motion="linear").document()))
    assert linear["extras"] == {}
