"""Ignore This Pair and Restore Ignored Pairs: rows, files, undo, linked objects."""

from __future__ import annotations

import bpy
import pytest

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


def pairs(settings) -> set[frozenset[str]]:
    """Return the names of each row."""
    return {frozenset((row.a, row.b)) for row in settings.rows}


def ignore(settings, a: str, b: str) -> None:
    settings.active_row = scanned_scene.row_of(settings, a, b)
    assert bpy.ops.collision_bounds.ignore_pair() == {"FINISHED"}


@pytest.mark.smoke
def test_ignored_pair_leaves_the_list_and_the_document_as_a_scan_would(scanned):
    before = pairs(scanned)
    ignore(scanned, "Slider", "Near")
    assert pairs(scanned) == before - {frozenset(("Slider", "Near"))}
    shown = result_store.get(scanned.result_id).contacts.document()
    scanned_scene.scan()
    assert result_store.get(scanned.result_id).contacts.document() == shown


def test_ignored_pair_is_kept_in_the_file(scanned, tmp_path):
    ignore(scanned, "Slider", "Near")
    path = str(tmp_path / "ignored.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    scanned_scene.scan()
    assert frozenset(("Slider", "Near")) not in pairs(bpy.context.scene.collision_bounds)


def test_restored_pair_is_a_warning_until_the_next_scan_finds_it(scanned):
    before = pairs(scanned)
    ignore(scanned, "Slider", "Near")
    ignore(scanned, "Slider", "Far")
    bpy.context.view_layer.update()
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    # Near, Far, Aside and Pane never move: these are six pairs.
    assert "2 pairs ignored in this file:" in page.labels and page.popovers == ["8 pairs skipped"]
    assert {"2 pairs skipped", "Ignored", "6 pairs skipped", "Neither object moves"} <= set(page.labels)
    assert bpy.ops.collision_bounds.restore_pairs(a="Slider", b="Near") == {"FINISHED"}
    page = Page(contacts_panel.COLLISION_BOUNDS_PT_contacts)
    assert "1 pair ignored in this file:" in page.labels
    assert page.popovers == ["Without restored pairs", "8 pairs skipped"]
    assert bpy.ops.collision_bounds.restore_pairs() == {"FINISHED"}
    assert not bpy.ops.collision_bounds.restore_pairs.poll()
    scanned_scene.scan()
    assert pairs(scanned) == before and not Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).popovers


def test_pair_of_a_linked_and_a_local_object_is_kept_at_the_local_one(settings, tmp_path):
    scanned_scene.build()
    path = str(tmp_path / "library.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Near"]})
    bpy.data.objects.remove(bpy.data.objects["Near"])
    with bpy.data.libraries.load(path, link=True) as (_, requested):
        requested.objects = ["Near"]
    bpy.context.scene.collection.objects.link(requested.objects[0])
    scanned_scene.scan()
    ignore(settings, "Slider", "Near")
    scanned_scene.scan()
    assert frozenset(("Slider", "Near")) not in pairs(settings)
    assert len(bpy.data.objects["Slider"].collision_bounds.ignored) == 1
