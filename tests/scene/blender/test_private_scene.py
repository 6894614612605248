"""A private scene exists only within a step, unless it is kept, and nobody notices it."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.blender.frames import go_to, returning_between_steps, scenes_away
from addon.scene.blender.private_scene import PrivateScene, end_step, keeping_open, subscriptions
from addon.scene.errors import SceneError
from addon.scene.jobs.contacts import find_contacts
from addon.scene.settings import ContactSettings
from tests.scene.building import key_location
from tests.scene.motion.sources.scenes_of_sources import (
    copied_location,
    cube,
    mesh_bent_by_an_armature,
    shape_keys,
)

pytestmark = pytest.mark.usefixtures("empty_file")


def attach():
    for handlers, function in subscriptions():
        handlers.append(function)


def detach():
    for handlers, function in subscriptions():
        handlers.remove(function)


HANDLERS = ("frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post")


@pytest.fixture
def calls():
    """List the calls of foreign handlers, with the scene of each."""
    made = []

    def record(scene, _=None):
        made.append((scene.name, scene.frame_current))

    for name in HANDLERS:
        getattr(bpy.app.handlers, name).append(record)
    yield made
    for name in HANDLERS:
        handlers = getattr(bpy.app.handlers, name)
        if record in handlers:
            handlers.remove(record)


@pytest.fixture
def scan():
    """Return a scan of objects of which none follows curves alone."""
    for build in (copied_location, mesh_bent_by_an_armature, shape_keys):
        build()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    scene.frame_set(7, subframe=0.25)
    return find_contacts(scene, ContactSettings(shape="aabb"))


def test_no_scene_exists_between_the_steps_of_a_scan(scan):
    steps = 0
    for _ in scan:
        steps += 1
        assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
    assert steps > 20


@pytest.mark.parametrize("end", ["closed", "error"])
def test_no_scene_is_left_by_a_scan_that_ends_early(scan, end):
    with keeping_open():
        seen = set()
        while not any("Collision" in name for name in seen):
            next(scan)
            seen = {scene.name for scene in bpy.data.scenes}
        if end == "closed":
            scan.close()
        else:
            with pytest.raises(RuntimeError, match="on purpose"):
                scan.throw(RuntimeError("on purpose"))
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (7, 0.25)


def test_deletion_of_a_kept_scene_is_reported():
    item = cube("Cube")
    with keeping_open():
        private = PrivateScene(bpy.context.scene, {item.session_uid})
        private.evaluate(1)
        bpy.data.scenes.remove(next(scene for scene in bpy.data.scenes if scene.session_uid == private.uid))
        with pytest.raises(SceneError, match="was deleted during the computation"):
            private.evaluate(2)
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_playhead_stays_while_a_private_scene_is_read(scan):
    # First the scene is compared at a few times.
    frames = []
    for progress in scan:
        if progress.done:
            frames.append((bpy.context.scene.frame_current, bpy.context.scene.frame_subframe))
    assert len(frames) >= 20
    assert set(frames) == {(7, 0.25)}


@pytest.mark.smoke
def test_scene_returns_to_its_frame_between_steps_and_not_within_them(calls):
    scene, other = bpy.context.scene, bpy.data.scenes.new("Other")
    scene.frame_set(7, subframe=0.25)
    with returning_between_steps(scene, 7.25):
        calls.clear()
        with keeping_open():
            for frame in (1, 9):
                scene.frame_set(frame)
                end_step()
                assert scenes_away() and scene.frame_current == frame
            other.frame_set(3)
        assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
        assert not scenes_away()
        end_step()
        # Once there, it is not evaluated again.
        moves = [call for call in calls if call[0] == "Scene"]
        assert [frame for _, frame in moves if frame in (1, 7, 9)][-1] == 7
        assert len([frame for _, frame in moves if frame == 7]) == len([f for _, f in moves if f == 1])
        scene.frame_set(5)
        end_step()
        assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    scene.frame_set(5)
    end_step()
    assert (scene.frame_current, other.frame_current) == (5, 3) and not scenes_away()


def test_handlers_of_others_are_not_called_for_a_private_scene(calls):
    item = cube()
    item.constraints.new("LIMIT_SCALE")
    bpy.context.view_layer.update()
    private = PrivateScene(bpy.context.scene, [item.session_uid])
    calls.clear()
    before = [list(getattr(bpy.app.handlers, name)) for name in HANDLERS]
    for frame in (3.5, 8):
        private.evaluate(frame)
    end_step()
    bpy.context.view_layer.update()
    assert calls == []
    assert [list(getattr(bpy.app.handlers, name)) for name in HANDLERS] == before
    assert item.users == 1


def test_handlers_are_those_of_before_after_an_error(calls):
    private = PrivateScene(bpy.context.scene, [cube().session_uid])
    before = [list(getattr(bpy.app.handlers, name)) for name in HANDLERS]
    with pytest.raises(ValueError, match="frame"):
        private.evaluate(1e30)
    assert [list(getattr(bpy.app.handlers, name)) for name in HANDLERS] == before
    end_step()
    assert len(bpy.data.scenes) == 1


@pytest.mark.smoke
def test_edits_between_steps_are_followed_and_a_deleted_object_is_missing():
    stays, goes = cube("Stays"), cube("Goes")
    key_location(stays, {1: (0, 0, 0), 11: (10, 0, 0)})
    private = PrivateScene(bpy.context.scene, [stays.session_uid, goes.session_uid])
    assert len(private.evaluate(6).objects) == 2
    end_step()
    bpy.data.objects.remove(goes)
    stays.delta_location.z = 3
    (evaluated,) = private.evaluate(6).objects
    assert evaluated.matrix_world.translation[:] == (5, 0, 3)
    end_step()


@pytest.mark.smoke
def test_objects_of_the_file_are_not_moved_by_a_private_scene():
    item = cube()
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    bpy.context.scene.frame_set(1)
    private = PrivateScene(bpy.context.scene, [item.session_uid])
    with keeping_open():
        for frame in (11, 5, 1, 11):
            (evaluated,) = private.evaluate(frame).objects
            assert evaluated.matrix_world.translation[:] == (frame - 1, 0, 0)
            assert item.matrix_world.translation[:] == (0, 0, 0)
            assert item.location[:] == (0, 0, 0)
    assert item.matrix_world.translation[:] == (0, 0, 0)


@pytest.fixture
def kept(tmp_path):
    """Return two keyed objects, and a private scene with them that was kept after a block."""
    stays, goes = cube("Stays"), cube("Goes")
    key_location(stays, {1: (0, 0, 0), 11: (10, 0, 0)})
    private = PrivateScene(bpy.context.scene, [stays.session_uid, goes.session_uid])
    with keeping_open(afterwards=True):
        private.evaluate(6)
    assert len(bpy.data.scenes) == 2
    attach()
    yield stays, goes, private
    end_step()
    detach()
    assert len(bpy.data.scenes) == 1


@pytest.mark.smoke
def test_scene_that_is_kept_for_the_next_step_follows_edits(kept):
    stays, goes, private = kept
    uid = private.uid
    bpy.data.objects.remove(goes)
    stays.delta_location.z = 3
    with keeping_open(afterwards=True):
        (evaluated,) = private.evaluate(6).objects
        assert evaluated.matrix_world.translation[:] == (5, 0, 3)
        assert private.original(stays.session_uid) == stays
    assert private.uid == uid


@pytest.mark.smoke
def test_scene_that_is_kept_for_the_next_step_is_not_saved(kept, tmp_path):
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    with bpy.data.libraries.load(path) as (saved, _):
        assert saved.scenes == ["Scene"]
    stays, _, private = kept
    with keeping_open(afterwards=True):
        assert len(private.evaluate(6).objects) == 2
        assert stays.location[:] == (0, 0, 0)


@pytest.mark.smoke
def test_scene_that_was_stored_when_blender_was_quit_is_removed_on_load(kept, tmp_path):
    path = str(tmp_path / "quit.blend")
    detach()
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    attach()
    with bpy.data.libraries.load(path) as (saved, _):
        assert len(saved.scenes) == 2
    bpy.ops.wm.open_mainfile(filepath=path)
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]
    assert bpy.context.scene.name == "Scene"


@pytest.mark.smoke
@pytest.mark.parametrize("has_handler", [False, True])
def test_scene_that_returns_is_moved_with_the_frame_handlers_of_others(calls, has_handler):
    item = cube()
    key_location(item, {1: (0, 0, 0), 11: (10, 0, 0)})
    scene = bpy.context.scene
    scene.frame_set(3)
    calls.clear()
    if not has_handler:
        for name in ("frame_change_pre", "frame_change_post"):
            getattr(bpy.app.handlers, name).clear()
    with returning_between_steps(scene, 3):
        with keeping_open():
            go_to(scene, 6, within_step=True)
            assert item.location.x == 5 and scene.frame_current == 6
        assert item.location.x == 2 and scene.frame_current == 3
    # Those of dependency graphs are not called for a frame.
    assert [frame for _, frame in calls] == ([6, 6, 3, 3] if has_handler else [])
