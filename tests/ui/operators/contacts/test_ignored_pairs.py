"""Ignore This Pair and Restore Ignored Pairs: rows, files, undo, linked objects."""

from __future__ import annotations

import bpy
import pytest

from addon.scene.jobs import result_store
from addon.ui.panels import contacts as contacts_panel
from tests.scene.sampling import add_box, key
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
    assert "Without restored pairs" in page.labels and page.popovers == ["8 pairs skipped"]
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


@pytest.fixture
def crowded(settings):
    """Return the settings of a scanned scene: four boxes rest on a floor, and six drop on it.

    A ram passes the boxes that rest, and touches two of those.
    """
    half = (0.4, 0.4, 0.4)
    add_box("Floor", (20, 20, 1)).location = (0, 0, -1)
    for number in range(4):
        key(add_box(f"Resting {number}", half), "rotation_euler", [(0, (0, 0, 0)), (20, (0, 0, 0.1))])
        bpy.data.objects[f"Resting {number}"].location = (2 * number, 0, 0.4)
    for number in range(6):
        drop = add_box(f"Dropping {number}", half)
        key(drop, "location", [(0, (2 * number, 4, 3)), (20, (2 * number, 4, 0))])
    ram = add_box("Ram", half)
    key(ram, "location", [(0, (-3, 0, 1.1)), (20, (1.9, 0, 1.1))])
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 20
    scanned_scene.scan()
    return settings


def with_floor(settings) -> int:
    return sum("Floor" in pair for pair in pairs(settings))


def test_pairs_always_in_contact_are_ignored_by_one_button(crowded):
    assert (len(pairs(crowded)), with_floor(crowded)) == (12, 10)
    assert (
        Page(contacts_panel.COLLISION_BOUNDS_PT_contacts).buttons.count("collision_bounds.ignore_pairs") == 2
    )
    assert bpy.ops.collision_bounds.ignore_pairs(which="ALWAYS") == {"FINISHED"}
    assert (len(pairs(crowded)), with_floor(crowded)) == (8, 6)
    shown = result_store.get(crowded.result_id).contacts.document()
    scanned_scene.scan()
    assert result_store.get(crowded.result_id).contacts.document() == shown
    assert bpy.ops.collision_bounds.restore_pairs() == {"FINISHED"}
    scanned_scene.scan()
    assert len(pairs(crowded)) == 12


def test_pairs_of_the_object_that_touches_most_others_are_ignored_by_one_button(crowded):
    assert bpy.ops.collision_bounds.ignore_pairs(which="OBJECT") == {"FINISHED"}
    assert pairs(crowded) == {frozenset(("Ram", f"Resting {number}")) for number in (0, 1)}
    assert bpy.ops.collision_bounds.ignore_pairs(which="OBJECT") == {"CANCELLED"}, "few contacts are left"


def test_few_contacts_offer_no_pairs_to_ignore(scanned):
    assert bpy.ops.collision_bounds.ignore_pairs(which="ALWAYS") == {"CANCELLED"}
