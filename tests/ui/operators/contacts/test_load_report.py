"""Load Report: contacts of a JSON report, shown in the open scene."""

from __future__ import annotations

import json
import os
from pathlib import Path

import bpy
import pytest

from addon.scene.jobs import result_store
from tests.ui import scanned_scene


@pytest.fixture
def report(settings, tmp_path):
    """Return a report of the scene's contacts, in meters with Y up; the results of the scene are cleared."""
    scanned_scene.build()
    bpy.context.scene.unit_settings.scale_length = 0.01
    scanned_scene.scan()
    path = tmp_path / "farm.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path), preset="gltf")
    bpy.ops.collision_bounds.clear_results()
    return path


def load(path):
    return bpy.ops.collision_bounds.load_report(filepath=str(path))


def test_rows_selection_and_markers_work_in_open_scene(settings, report):
    assert load(report) == {"FINISHED"}
    assert [round(row.frame, 3) for row in settings.rows[:3]] == [3.25, 4, 14]
    assert settings.rows[3].value == pytest.approx(0.5, abs=1e-3), "Blender units, not meters"
    kept = result_store.get(settings.result_id)
    assert kept.source == "farm.json" and not kept.stale
    assert [subject.key[0] for subject in kept.contacts.subjects] == sorted(bpy.data.objects.keys())
    settings.active_row = scanned_scene.row_of(settings, "Far", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Far", "Slider"}
    assert bpy.context.scene.frame_current in (13, 14)
    bpy.ops.collision_bounds.contact_markers()
    assert len(bpy.context.scene.timeline_markers) == 3
    ((first, *_),) = [kept.contacts.report.contacts[:1]]
    assert first.first.point.tolist() == pytest.approx([0, 50, 0], abs=0.1)


@pytest.mark.parametrize("length", [pytest.param(1, marks=pytest.mark.long), 0.3048])
@pytest.mark.parametrize(
    "axes",
    [
        *({"preset": preset} for preset in ("blender", "gltf", "unity", "unreal")),
        {"preset": "custom", "up": "-X", "forward": "+Z", "handedness": "left", "units": 39.37},
    ],
    ids=lambda axes: axes["preset"],
)
def test_exporting_loaded_report_in_its_space_gives_same_file(settings, tmp_path, axes, length):
    scanned_scene.build()
    bpy.context.scene.unit_settings.scale_length = length
    for index, item in enumerate(bpy.data.objects):
        item.rotation_euler = (index / 3, index, 1)
    scanned_scene.scan(shape="obb")
    bpy.ops.collision_bounds.compute_envelope()
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bpy.ops.collision_bounds.export_json(filepath=str(first), decimals=5, **axes)
    bpy.ops.collision_bounds.clear_results()
    assert load(first) == {"FINISHED"}
    bpy.ops.collision_bounds.export_json(filepath=str(second), decimals=5, **axes)
    text = first.read_text("utf-8")
    assert all(word in text for word in ("obb", "envelope", "contacts", "uncertainty"))
    assert second.read_text("utf-8").splitlines() == text.splitlines()


def test_missing_objects_are_named_and_all_rows_listed(settings, report, capfd):
    bpy.data.objects.remove(bpy.data.objects["Far"])
    assert load(report) == {"FINISHED"}
    assert "Not shown in this scene: Far" in "".join(capfd.readouterr())
    assert len(settings.rows) == 4
    settings.active_row = scanned_scene.row_of(settings, "Far", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Slider"}


def test_invalid_report_is_refused_and_results_are_unchanged(settings, report):
    scanned_scene.scan()
    before = settings.result_id
    document = json.loads(report.read_text("utf-8"))
    document["contacts"][0]["a"] = "Nobody"
    report.write_text(json.dumps(document), "utf-8")
    with pytest.raises(RuntimeError, match=r"farm\.json: contacts\[0\]\.a: there is no object 'Nobody'"):
        load(report)
    assert settings.result_id == before and len(settings.rows) == 4


def test_report_without_contacts_has_no_rows(settings, tmp_path):
    scanned_scene.build()
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    path = tmp_path / "bounds.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    assert load(path) == {"FINISHED"}
    assert len(settings.rows) == 0


def test_loaded_report_is_fresh_in_scene_with_rigid_bodies(settings, report):
    # Blender reports an active rigid body as moved whenever the scene changes.
    with bpy.context.temp_override(object=bpy.data.objects["Near"]):
        bpy.context.view_layer.objects.active = bpy.data.objects["Near"]
        bpy.ops.rigidbody.object_add()
    bpy.context.view_layer.update()
    assert load(report) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert not result_store.get(settings.result_id).stale


@pytest.mark.skipif(os.name != "posix", reason="needs file names of bytes")
def test_files_whose_names_are_not_utf8_are_written_loaded_and_refused(settings, report):
    assert load(report) == {"FINISHED"}
    path = os.fsdecode(os.fsencode(report.parent) + b"/caf\xe9.json")
    assert bpy.ops.collision_bounds.export_json(filepath=path) == {"FINISHED"}
    assert load(path) == {"FINISHED"}
    assert result_store.get(settings.result_id).source == r"caf\xe9.json"
    with pytest.raises(RuntimeError, match=r"the folder .*caf\\xe9 does not exist"):
        bpy.ops.collision_bounds.export_json(filepath=f"{path.removesuffix('.json')}/a.json")
    Path(path).write_text("no document")
    with pytest.raises(RuntimeError, match=r"caf\\xe9\.json: not JSON"):
        load(path)
