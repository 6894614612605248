"""Compute Swept Bounds without a window: stored, drawn, exported, and out of date."""

from __future__ import annotations

import json

import bpy
import pytest

from addon.scene.jobs import session
from addon.ui import job_state
from addon.ui.panels import bounds as bounds_panel
from tests.scene.sampled import add_box, key
from tests.ui import results
from tests.ui.drawn import Page
from tests.ui.overlay_data import draw_data_on


@pytest.fixture
def scene(settings):
    """Slider goes from 0 to 20 in frames 0 to 20; it and all others have sides of 1, or nearly nothing."""
    results.build()
    settings.scope = "VISIBLE"
    settings.display.show_spheres = False
    return bpy.context.scene


def compute(**options):
    assert bpy.ops.collision_bounds.compute_envelope(**options) == {"FINISHED"}


def drawn(scene):
    """Middles and half sizes of boxes by their length along x, rounded."""
    rows = draw_data_on(scene).boxes.rows
    return sorted((round(float(row[0, 3]), 3), round(float(row[0, 0]), 3)) for row in rows)


def exported(tmp_path, **options):
    target = tmp_path / "out.json"
    assert bpy.ops.collision_bounds.export_json(filepath=str(target), **options) == {"FINISHED"}
    return json.loads(target.read_text("utf-8"))


def envelope_of(document, name):
    (entry,) = (entry for entry in document["objects"] if entry["name"] == name)
    return entry.get("envelope")


@pytest.mark.smoke
def test_it_is_drawn_beside_the_bounds_and_goes_with_its_switch(scene, settings):
    compute()
    # From -0.5 to 20.5.
    assert (10, 10.5) in drawn(scene)
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    count = len(drawn(scene))
    settings.display.show_envelopes = False
    assert (10, 10.5) not in drawn(scene)
    assert len(drawn(scene)) == count / 2
    settings.display.show_envelopes = True
    settings.display.show_boxes = False
    assert drawn(scene) == []
    settings.display.show_spheres = True
    assert draw_data_on(scene).spheres.rows[:, 0, 0].max() > 10.5


def test_what_is_hidden_or_not_selected_has_none(scene, settings):
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


def test_export_has_them(scene, tmp_path):
    compute()
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")["aabb"]["min"] == pytest.approx([-0.5, -0.5, -0.5], abs=1e-5)
    assert envelope_of(document, "Slider")["aabb"]["max"] == pytest.approx([20.5, 0.5, 0.5], abs=1e-5)
    time = document["time"]
    assert (time["frameStart"], time["frameEnd"], time["referenceFrame"]) == (0, 20, 7.25)


def test_beside_contacts_both_are_kept_in_either_order(scene, settings, tmp_path):
    results.scan()
    rows = len(settings.rows)
    compute()
    assert len(settings.rows) == rows
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")
    assert document["contacts"]
    results.scan()
    assert envelope_of(exported(tmp_path), "Slider")
    assert bpy.ops.collision_bounds.compute_bounds() == {"FINISHED"}
    document = exported(tmp_path)
    assert envelope_of(document, "Slider")
    assert document["contacts"] == []


def test_beside_contacts_of_other_frames_they_are_not_exported(scene, settings, tmp_path):
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, 0, 10
    results.scan()
    compute()
    document = exported(tmp_path)
    assert document["time"]["frameEnd"] == 10
    assert envelope_of(document, "Slider") is None


def test_one_more_object_replaces_what_does_not_know_it(scene, settings, tmp_path):
    results.scan()
    key(add_box("New", (1, 1, 1)), "location", [(0, (0, 9, 0)), (20, (0, 9, 4))])
    bpy.context.view_layer.update()
    compute()
    assert len(settings.rows) == 0
    assert envelope_of(exported(tmp_path), "New")["aabb"]["max"] == pytest.approx([1, 10, 5], abs=1e-5)


def test_out_of_date_they_are_gone_from_sight_and_from_the_file_and_the_panel_says_so(
    scene, settings, tmp_path
):
    compute()
    assert not Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels
    settings.padding = 0.25
    assert (10, 10.5) not in drawn(scene)
    assert Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels == ["Swept bounds are out of date"]
    assert envelope_of(exported(tmp_path), "Slider") is None
    settings.padding = 0
    assert (10, 10.5) in drawn(scene)
    bpy.data.objects["Near"].location.y += 1
    bpy.context.view_layer.update()
    assert (10, 10.5) not in drawn(scene)
    assert Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).labels == ["Swept bounds are out of date"]


def test_options_of_the_operator_become_those_of_the_panel(scene, settings):
    compute(padding=0.5, method="box")
    assert (settings.padding, settings.method) == (0.5, "box")
    assert (10, 11) in drawn(scene)


def test_it_waits_for_a_scan_and_a_scan_for_it(scene):
    job_state.begin().has_partial_result = False
    try:
        assert not bpy.ops.collision_bounds.compute_envelope.poll()
        assert not bpy.ops.collision_bounds.find_contacts.poll()
        page = Page(bounds_panel.COLLISION_BOUNDS_PT_bounds)
        assert "collision_bounds.compute_envelope" not in page.buttons
    finally:
        job_state.end()
    assert "collision_bounds.compute_envelope" in Page(bounds_panel.COLLISION_BOUNDS_PT_bounds).buttons


def test_nothing_to_do_is_an_error_and_what_was_there_stays(scene, settings):
    compute()
    before = settings.result_id
    settings.scope = "SELECTED"
    with pytest.raises(RuntimeError, match="select a mesh"):
        bpy.ops.collision_bounds.compute_envelope()
    assert settings.result_id == before
    assert session.get(before).envelopes is not None


def test_a_report_with_envelopes_shows_them_and_exports_them_again(scene, settings, tmp_path):
    compute()
    document = exported(tmp_path)
    bpy.ops.collision_bounds.clear_results()
    assert drawn(scene) == []
    assert bpy.ops.collision_bounds.load_report(filepath=str(tmp_path / "out.json")) == {"FINISHED"}
    assert (10, 10.5) in drawn(scene)
    again = exported(tmp_path)
    assert envelope_of(again, "Slider") == envelope_of(document, "Slider")
