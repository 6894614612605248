"""Scans of keyed objects without playing the scene: same results, and only if the scene agrees."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.jobs.contacts import find_contacts
from addon.scene.motion.scene_motion import SceneMotion
from addon.scene.settings import ContactSettings
from tests.scene.building import add_object, key_location

pytestmark = pytest.mark.usefixtures("empty_file")


@pytest.fixture
def crossing(add_mesh):
    """Add a cube that passes between two others, one of them a child of a turning empty."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 60
    key_location(add_mesh("Mover"), {1: (-9, 0, 0), 60: (9, 0.5, 0)})
    add_mesh("Wall").location = (4, 1.8, 0)
    hub = add_object("Hub")
    for frame, angle in ((1, 0), (60, 9)):
        hub.rotation_euler = (0, 0, angle)
        hub.keyframe_insert("rotation_euler", frame=frame)
    arm = add_mesh("Arm")
    arm.parent, arm.location = hub, (3.5, 0, 0)


@pytest.fixture
def frames_played():
    """List the frames at which Blender evaluates the scene."""
    played = []

    def record(scene, _=None):
        played.append(scene.frame_current_final)

    bpy.app.handlers.frame_change_post.append(record)
    yield played
    bpy.app.handlers.frame_change_post.remove(record)


def result_of(settings):
    job = find_contacts(bpy.context.scene, settings)
    while True:
        try:
            next(job)
        except StopIteration as ended:
            return ended.value


@pytest.mark.parametrize("motion", ["linear", "adaptive"])
@pytest.mark.parametrize("shape", ["sphere", "aabb", "obb"])
@pytest.mark.usefixtures("crossing")
def test_results_are_those_of_playing_the_scene(monkeypatch, frames_played, shape, motion):
    settings = ContactSettings(shape=shape, motion=motion)
    found = result_of(settings)
    assert len(frames_played) < 10
    frames_played.clear()
    monkeypatch.setattr(SceneMotion, "comparing", lambda self, times, home: iter(()))
    expected = result_of(settings)
    assert len(frames_played) >= 60
    assert found.report.contacts
    if motion == "linear":
        assert repr(found.report) == repr(expected.report)
    for proven, sampled in zip(found.report.contacts, expected.report.contacts, strict=True):
        assert (proven.a, proven.b) == (sampled.a, sampled.b)
        both = proven.first.uncertainty + sampled.first.uncertainty
        assert proven.first.frame == pytest.approx(sampled.first.frame, abs=both + 1e-9)
        assert proven.depth == pytest.approx(sampled.depth, rel=0.05)
    assert found.skipped == expected.skipped


@pytest.mark.usefixtures("crossing")
def test_scene_that_a_handler_changes_is_played(frames_played):
    def push(scene, _=None):
        scene.objects["Wall"].location.x = 4 - scene.frame_current / 20

    bpy.app.handlers.frame_change_pre.append(push)
    try:
        result_of(ContactSettings(shape="aabb", motion="linear"))
    finally:
        bpy.app.handlers.frame_change_pre.remove(push)
    assert len(frames_played) >= 60


@pytest.mark.usefixtures("crossing")
def test_object_that_appears_later_is_named_as_before():
    late = add_object("Late", bpy.data.objects["Wall"].data)
    for frame, is_hidden in ((1, True), (7, False)):
        late.hide_viewport = is_hidden
        late.keyframe_insert("hide_viewport", frame=frame)
    skipped = result_of(ContactSettings(shape="aabb", motion="linear")).skipped
    assert [entry.name for entry in skipped if "frame 7" in entry.reason] == ["Late"]
