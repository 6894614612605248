"""Rows of objects that were renamed or deleted since the scan."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import pytest

from addon.ui.panels import contact_list as contact_list_ui
from addon.ui.panels.bounds import COLLISION_BOUNDS_PT_bounds
from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts
from addon.ui.row_order import active_row, counts_of_rows, listed_rows
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Layout, Page


@pytest.fixture
def rows(settings):
    scanned_scene.build()
    scanned_scene.scan()
    return settings


def drawn(settings, index, monkeypatch):
    monkeypatch.setattr(contact_list_ui, "sidebar_width", lambda _context: 400)
    monkeypatch.setattr(contact_list_ui, "measure_texts", lambda _context: lambda _text: 0.0)
    page = SimpleNamespace(labels=[], greyed_labels=[])
    row = settings.rows[index]
    contact_list_ui.COLLISION_BOUNDS_UL_contacts.draw_item(
        None, bpy.context, Layout(page), settings, row, 0, settings, "active_row", index
    )
    return set(page.labels[:2])


def shown(settings):
    listed = listed_rows(settings)
    rows = [settings.rows[row] for row in listed.order.tolist() if listed.passes[row]]
    return {frozenset((row.a, row.b)) for row in rows}


def test_renamed_object_has_its_new_name_in_the_list_and_in_details(rows, monkeypatch):
    index = scanned_scene.row_of(rows, "Near", "Slider")
    bpy.data.objects["Near"].name = "Post"
    assert drawn(rows, index, monkeypatch) == {"Post", "Slider"}
    rows.active_row = index
    assert "Post" in Page(COLLISION_BOUNDS_PT_contacts).labels
    assert {item.name for item in bpy.context.selected_objects} == {"Post", "Slider"}


def test_name_that_another_object_took_over_is_not_confused(rows, monkeypatch):
    index = scanned_scene.row_of(rows, "Near", "Slider")
    bpy.data.objects["Near"].name = "Post"
    bpy.data.objects["Far"].name = "Near"
    assert drawn(rows, index, monkeypatch) == {"Post", "Slider"}


def test_rows_of_a_deleted_object_go_with_their_counts_and_details(rows):
    rows.active_row = scanned_scene.row_of(rows, "Near", "Slider")
    assert active_row(rows) is not None
    bpy.data.objects.remove(bpy.data.objects["Near"])
    bpy.context.view_layer.update()
    assert shown(rows) == {frozenset(("Bullet", "Pane")), frozenset(("Far", "Slider"))}
    assert counts_of_rows(rows)["show_contacts"] == 2
    assert active_row(rows) is None
    assert "Click a row" in Page(COLLISION_BOUNDS_PT_contacts).labels


def test_rows_of_a_loaded_report_without_its_objects_stay(rows, tmp_path):
    path = tmp_path / "contacts.json"
    assert bpy.ops.collision_bounds.export_json(filepath=str(path)) == {"FINISHED"}
    before = shown(rows)
    bpy.data.objects.remove(bpy.data.objects["Near"])
    assert bpy.ops.collision_bounds.load_report(filepath=str(path)) == {"FINISHED"}
    assert shown(rows) == before


def test_parts_of_a_deleted_object_are_not_counted(settings):
    scanned_scene.build()
    parts = bpy.data.objects["Near"]
    points = [tuple(vertex.co) for vertex in parts.data.vertices]
    faces = [tuple(face.vertices) for face in parts.data.polygons]
    moved = [(x + 3, y, z) for x, y, z in points]
    parts.data.clear_geometry()
    parts.data.from_pydata([*points, *moved], [], [*faces, *(tuple(8 + i for i in face) for face in faces)])
    parts.collision_bounds.use_object_settings, parts.collision_bounds.bounds_for = True, "loose_parts"
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE") == {"FINISHED"}
    assert "7 bounds of 6 objects" in Page(COLLISION_BOUNDS_PT_bounds).labels
    bpy.data.objects.remove(parts)
    bpy.context.view_layer.update()
    assert "Bounds of 5 objects" in Page(COLLISION_BOUNDS_PT_bounds).labels


def test_bounds_are_counted_without_deleted_objects(settings):
    scanned_scene.build()
    assert bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE") == {"FINISHED"}
    assert "Bounds of 6 objects" in Page(COLLISION_BOUNDS_PT_bounds).labels
    for name in ("Near", "Far"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bpy.context.view_layer.update()
    assert "Bounds of 4 objects" in Page(COLLISION_BOUNDS_PT_bounds).labels
