"""Keep Results in File: contacts are there again when the file is opened."""

from __future__ import annotations

import bpy
import pytest

from addon import registration
from addon.scene.jobs import result_store
from addon.ui.panels import contacts as contacts_panel
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.fixture
def scanned(settings):
    """Return the settings of a scanned scene."""
    scanned_scene.build()
    scanned_scene.scan()
    return settings


def reopen(path) -> object:
    """Save and open the file, and return the settings of its scene."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.scene.collision_bounds


def rows(settings) -> list[tuple[object, ...]]:
    return [(row.a, row.b, row.frame, row.value, row.is_near_miss, row.tunnelling) for row in settings.rows]


@pytest.mark.smoke
def test_kept_contacts_are_listed_and_exported_as_before(scanned, tmp_path):
    scanned.keep_results = True
    before = rows(scanned)
    document = result_store.get(scanned.result_id).contacts.document()
    settings = reopen(tmp_path / "kept.blend")
    assert rows(settings) == before != []
    again = result_store.get(settings.result_id).contacts.document()
    assert {key: again[key] for key in ("contacts", "clearances", "objects")} == {
        key: document[key] for key in ("contacts", "clearances", "objects")
    }
    assert "From this file" in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels


def test_contacts_are_not_kept_at_first(scanned, tmp_path):
    settings = reopen(tmp_path / "kept.blend")
    assert not settings.rows and not bpy.data.texts


def test_contacts_of_a_changed_scene_are_marked_after_opening_too(scanned, tmp_path):
    scanned.keep_results = True
    bpy.data.objects["Near"].location.y += 1
    bpy.context.view_layer.update()
    reopen(tmp_path / "kept.blend")
    assert "The scene changed" in Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).labels


def test_cleared_contacts_leave_the_file(scanned, tmp_path):
    scanned.keep_results = True
    reopen(tmp_path / "kept.blend")
    assert len(bpy.data.texts) == 1
    bpy.ops.collision_bounds.clear_results()
    settings = reopen(tmp_path / "kept.blend")
    assert not settings.rows and not bpy.data.texts


def test_contacts_of_every_scene_are_kept(scanned, tmp_path):
    scanned.keep_results = True
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    scanned_scene.build()
    scanned_scene.scan()
    other.collision_bounds.keep_results = True
    reopen(tmp_path / "kept.blend")
    assert all(scene.collision_bounds.rows for scene in bpy.data.scenes) and len(bpy.data.scenes) == 2


def test_text_that_was_edited_is_one_sentence_and_stays(scanned, tmp_path, capfd):
    scanned.keep_results = True
    settings = reopen(tmp_path / "kept.blend")
    registration.unregister()
    bpy.data.texts[0].from_string("{")
    bpy.ops.wm.save_mainfile()
    registration.register()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    assert "contacts that are kept with Scene cannot be read: " in capfd.readouterr().out
    settings = reopen(tmp_path / "again.blend")
    assert not settings.rows and settings.kept_results.as_string().startswith("{")


def test_copied_scene_leaves_the_contacts_of_the_original(scanned, tmp_path):
    scanned.keep_results = True
    reopen(tmp_path / "kept.blend")
    original = bpy.context.scene.name
    bpy.ops.scene.new(type="FULL_COPY")
    reopen(tmp_path / "copied.blend")
    assert bpy.data.scenes[original].collision_bounds.rows


@pytest.mark.parametrize("cannot_be_read", [False, True])
def test_linked_scene_shows_what_its_file_keeps_and_is_not_stored(scanned, tmp_path, capfd, cannot_be_read):
    scanned.keep_results = True
    before = rows(reopen(tmp_path / "kept.blend"))
    if cannot_be_read:
        registration.unregister()
        bpy.data.texts[0].from_string("{")
        bpy.ops.wm.save_mainfile()
        registration.register()
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "kept.blend"), link=True) as (source, target):
        target.scenes = source.scenes
    reopen(tmp_path / "linking.blend")
    (linked,) = (scene for scene in bpy.data.scenes if scene.library is not None)
    kept = linked.collision_bounds.kept_results
    assert rows(linked.collision_bounds) == ([] if cannot_be_read else before) and kept.library is not None
    assert ("cannot be read" in capfd.readouterr().out) == cannot_be_read
    reopen(tmp_path / "linking.blend")
    (linked,) = (scene for scene in bpy.data.scenes if scene.library is not None)
    assert linked.collision_bounds.kept_results.as_string() and len(bpy.data.texts) == 1
