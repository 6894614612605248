"""Load Baseline and Accept Contacts: new and gone contacts, files, scans, documents."""

from __future__ import annotations

import json
from types import SimpleNamespace

import bpy
import pytest

from addon.formats import parse_document
from addon.scene.jobs import result_store
from addon.ui.operators.pairs import COLLISION_BOUNDS_OT_accept_contacts
from addon.ui.panels.contacts import COLLISION_BOUNDS_PT_contacts
from addon.ui.row_order import listed_rows
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page


@pytest.fixture
def baseline(settings, tmp_path):
    """Return the report of a scan, and scan a scene in which Far was moved to where Slider never is."""
    scanned_scene.build()
    scanned_scene.scan()
    path = tmp_path / "before.json"
    assert bpy.ops.collision_bounds.export_json(filepath=str(path)) == {"FINISHED"}
    bpy.data.objects["Far"].location = (15, 30, 0)
    bpy.data.objects["Aside"].location = (10, 0, 0)
    bpy.context.view_layer.update()
    scanned_scene.scan()
    return path


def comparison_of(settings):
    return result_store.get(settings.result_id).comparison


def shown_pairs(settings):
    order, shown = listed_rows(settings)[:2]
    rows = (settings.rows[index] for index in order.tolist() if shown[index])
    return [{row.a, row.b} for row in rows]


def test_new_and_gone_contacts_are_counted_and_listed(settings, baseline):
    assert bpy.ops.collision_bounds.load_baseline(filepath=str(baseline)) == {"FINISHED"}
    assert comparison_of(settings).counts_text() == "1 new, 1 gone, 2 unchanged"
    page = Page(COLLISION_BOUNDS_PT_contacts)
    assert "1 new, 1 gone" in page.popovers
    assert any(label.startswith("Aside and Slider: 9.0") for label in page.labels)
    assert "New: 1 contact" in page.labels and "Gone: 1 contact" in page.labels
    settings.contact_list.new_only = True
    assert shown_pairs(settings) == [{"Slider", "Aside"}]


def test_each_scan_is_compared_until_the_baseline_is_cleared(settings, baseline):
    bpy.ops.collision_bounds.load_baseline(filepath=str(baseline))
    bpy.data.objects["Aside"].location = (10, 40, 0)
    bpy.context.view_layer.update()
    scanned_scene.scan()
    assert comparison_of(settings).counts_text() == "0 new, 1 gone, 2 unchanged"
    assert bpy.ops.collision_bounds.clear_baseline() == {"FINISHED"}
    assert comparison_of(settings) is None and len(settings.rows) == 2
    scanned_scene.scan()
    assert comparison_of(settings) is None


def test_dialog_of_accept_contacts_names_the_pair(settings, baseline):
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Aside")
    page = Page(COLLISION_BOUNDS_PT_contacts)
    page.labels.clear()
    shown = SimpleNamespace(layout=page.layout, comment="")
    shown.bl_rna = SimpleNamespace(properties={"comment"})
    COLLISION_BOUNDS_OT_accept_contacts.draw(shown, bpy.context)
    assert sorted(page.labels) == ["Aside", "Slider"]


def test_accepted_contact_is_not_new_and_its_comment_is_in_the_document(settings, baseline, tmp_path):
    bpy.ops.collision_bounds.load_baseline(filepath=str(baseline))
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Aside")
    bpy.context.scene.frame_set(12)
    assert bpy.ops.collision_bounds.accept_contacts(comment="guide rail") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 12
    row = settings.rows[settings.active_row]
    assert {row.a, row.b} == {"Slider", "Aside"} and row.comment == "guide rail"
    assert comparison_of(settings).counts_text() == "0 new, 1 gone, 2 unchanged, 1 accepted"
    scanned_scene.scan()
    assert comparison_of(settings).accepted == 1, "kept in the file, not in the result"
    path = tmp_path / "now.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    document = parse_document(path.read_text("utf-8"))
    assert [entry["accepted"] for entry in document["contacts"] if "accepted" in entry] == ["guide rail"]
    bpy.ops.collision_bounds.load_report(filepath=str(path))
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Aside")
    again = tmp_path / "again.json"
    bpy.ops.collision_bounds.export_json(filepath=str(again))
    assert json.loads(again.read_text("utf-8"))["contacts"] == document["contacts"]


def test_revoked_contact_is_new_again(settings, baseline):
    bpy.ops.collision_bounds.load_baseline(filepath=str(baseline))
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Aside")
    bpy.ops.collision_bounds.accept_contacts(comment="")
    assert settings.rows[settings.active_row].accepted
    assert bpy.ops.collision_bounds.revoke_acceptance() == {"FINISHED"}
    assert not settings.rows[settings.active_row].accepted
    assert comparison_of(settings).counts_text() == "1 new, 1 gone, 2 unchanged"
    assert not bpy.ops.collision_bounds.revoke_acceptance.poll()


def test_missing_baseline_is_one_sentence_and_the_scan_is_kept(settings, baseline, tmp_path):
    with pytest.raises(RuntimeError, match=r"Not compared with missing\.json: "):
        bpy.ops.collision_bounds.load_baseline(filepath=str(tmp_path / "missing.json"))
    assert not settings.baseline
    bpy.ops.collision_bounds.load_baseline(filepath=str(baseline))
    baseline.unlink()
    scanned_scene.scan()
    assert len(settings.rows) == 3 and comparison_of(settings) is None
    assert "Not compared" in Page(COLLISION_BOUNDS_PT_contacts).popovers
