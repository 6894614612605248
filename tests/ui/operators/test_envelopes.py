"""Compute Swept Bounds without a window: stored, drawn, exported, and out of date."""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.scene.jobs import result_store
from addon.ui import job_state
from addon.ui.panels import bounds as bounds_panel
from addon.ui.properties.preferences import preferences
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene
from tests.ui.drawn_panel import Page
from tests.ui.overlay_data import draw_data_on


@pytest.fixture
def scene(settings):
    """Return the scene. Slider moves from 0 to 20 in frames 0 to 20, and has sides of 1."""
    scanned_scene.build()
    settings.scope = "VISIBLE"
    settings.display.show_spheres = False
    return bpy.context.scene


def compute(**options):
    assert bpy.ops.collision_bounds.compute_envelope(**options) == {"FINISHED"}


def drawn(scene):
    """Return center and half extent of each drawn box along x, rounded and sorted."""
    rows = draw_data_on(scene).by_mesh["boxes"].rows
    return sorted((round(float(row[0, 3]), 3), round(float(row[0, 0]), 3)) for row in rows)


def exported(tmp_path, **options):
    target = tmp_path / "out.json"
    assert bpy.ops.collision_bounds.export_json(filepath=str(target), **options) == {"FINISHED"}
    return json.loads(target.read_text("utf-8"))


def envelope_of(document, name):
    (entry,) = (entry for entry in document["objects"] if entry["name"] == name)
    return entry.get("envelope")


@pytest.mark.smoke
def test_swept_bounds_are_drawn_with_bounds_and_hidden_by_their_switch(scene, settings):
    compute()
    # The box reaches from -0.5 to 20.5.
    assert (10, 10.5) in drawn(scene)
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    count = len(drawn(scene))
    colors = draw_data_on(scene).by_mesh["boxes"].rows[:, 3]
    np.testing.assert_allclose(colors[: count // 2], [preferences().swept_color] * (count // 2), rtol=1e-6)
    settings.display.show_envelopes = False
    assert (10, 10.5) not in drawn(scene)
    assert len(drawn(scene)) == count / 2
    settings.display.show_envelopes = True
    settings.display.show_boxes = False
    assert drawn(scene) == []
    settings.display.show_spheres = True
    assert draw_data_on(scene).by_mesh["spheres"].rows[:, 0, 0].max() > 10.5


def test_hidden_and_unselected_objects_have_no_swept_bounds(scene, settings):
    compute()
    bpy.data.objects["Slider"].hide_set(True)
    bpy.context.view_layer.update()
    assert (10, 10.5) not in drawn(scene)
    bpy.data.objects["Slider"].hide_set(False)
    settings.display.only_selected = True
    assert drawn(scene) == []
    bpy.data.objects["Slider"].select_set(True)
    bpy.context.view_layer.update()
    assert drawn(scene) == [(7.25, 0.5), (10, 10.5)]


def test_export_contains_swept_bounds(scene, tmp_path):
    compute()
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")["aabb"]["min"] == pytest.approx([-0.5, -0.5, -0.5], abs=1e-5)
    assert envelope_of(document, "Slider")["aabb"]["max"] == pytest.approx([20.5, 0.5, 0.5], abs=1e-5)
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"], time["referenceFrame"]) == (0, 20, 7.25)


def test_swept_bounds_and_contacts_are_both_kept_in_either_order(scene, settings, tmp_path):
    scanned_scene.scan()
    rows = len(settings.rows)
    compute()
    assert len(settings.rows) == rows
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")
    assert document["contacts"]
    scanned_scene.scan()
    assert envelope_of(exported(tmp_path), "Slider")
    assert bpy.ops.collision_bounds.compute_bounds() == {"FINISHED"}
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")
    assert document["contacts"] == []


def test_swept_bounds_are_not_exported_with_contacts_of_other_frames(scene, settings, tmp_path):
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, 0, 10
    scanned_scene.scan()
    compute()
    document = exported(tmp_path)
    assert document["time"]["frameEnd"] == 10
    assert envelope_of(document, "Slider") is None


def test_swept_bounds_of_new_object_replace_results_without_it(scene, settings, tmp_path):
    scanned_scene.scan()
    key(add_box("New", (1, 1, 1)), "location", [(0, (0, 9, 0)), (20, (0, 9, 4))])
    bpy.context.view_layer.update()
    compute()
    assert len(settings.rows) == 0
    assert envelope_of(exported(tmp_path), "New")["aabb"]["max"] == pytest.approx([1, 10, 5], abs=1e-5)


def test_outdated_swept_bounds_are_neither_drawn_nor_exported_and_panel_warns(scene, settings, tmp_path):
    compute()
    assert not Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).popovers
    settings.padding = 0.25
    assert (10, 10.5) not in drawn(scene)
    assert Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).popovers == ["Swept bounds out of date"]
    assert envelope_of(exported(tmp_path), "Slider") is None
    settings.padding = 0
    assert (10, 10.5) in drawn(scene)
    bpy.data.objects["Near"].location.y += 1
    bpy.context.view_layer.update()
    assert (10, 10.5) not in drawn(scene)
    assert Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).popovers == ["Swept bounds out of date"]


def test_options_of_operator_are_stored_in_scene(scene, settings):
    compute(padding=0.5)
    assert settings.padding == 0.5
    assert (10, 11) in drawn(scene)


def test_swept_bounds_and_scan_cannot_run_at_once(scene):
    job_state.begin().operator = "collision_bounds.compute_envelope"
    try:
        assert not bpy.ops.collision_bounds.compute_envelope.poll()
        assert not bpy.ops.collision_bounds.find_contacts.poll()
    finally:
        job_state.end()


def test_progress_of_swept_bounds_is_shown_while_their_panel_is_folded(scene):
    job = job_state.begin()
    job.operator = "collision_bounds.compute_envelope"
    try:
        page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
        assert job.esc_text in page.labels and page.progress_bars == 1
        assert "collision_bounds.stop_scan" in page.buttons
        assert "collision_bounds.compute_bounds" not in page.buttons
    finally:
        job_state.end()
    page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
    assert page.progress_bars == 0 and "collision_bounds.stop_scan" not in page.buttons


def test_panel_of_swept_bounds_counts_them_and_says_when_they_are_outdated(scene, settings):
    panel = bounds_panel.COLLISION_BOUNDS_PT_swept_bounds
    assert "No swept bounds yet" in Page(panel).labels
    compute()
    page = Page(panel)
    assert page.labels == [f"{len(scene.objects)} swept bounds, frames 0 to 20"] and not page.popovers
    settings.padding = 0.25
    page = Page(panel)
    assert page.popovers == ["Swept bounds out of date"] and "No swept bounds yet" not in page.labels
    assert page.buttons == ["collision_bounds.compute_envelope"]


def test_without_selection_error_is_reported_and_results_are_unchanged(scene, settings):
    compute()
    before = settings.result_id
    with pytest.raises(RuntimeError, match="select a mesh"):
        bpy.ops.collision_bounds.compute_envelope(scope="SELECTED")
    assert settings.result_id == before
    assert result_store.get(before).envelopes is not None


def test_loaded_report_shows_swept_bounds_and_exports_them_again(scene, settings, tmp_path):
    compute()
    document = exported(tmp_path)
    bpy.ops.collision_bounds.clear_results()
    assert drawn(scene) == []
    assert bpy.ops.collision_bounds.load_report(filepath=str(tmp_path / "out.json")) == {"FINISHED"}
    assert (10, 10.5) in drawn(scene)
    again = exported(tmp_path)
    assert envelope_of(again, "Slider") == envelope_of(document, "Slider")
