"""Load Report: what the command line wrote, looked at in the scene."""

from __future__ import annotations

import json

import bpy
import pytest

from addon.scene.jobs import session
from tests.ui import results


@pytest.fixture
def report(settings, tmp_path):
    """A file of the scene's contacts, in metres and with Y up, whose results were cleared."""
    results.build()
    bpy.context.scene.unit_settings.scale_length = 0.01
    results.scan()
    path = tmp_path / "farm.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path), preset="gltf")
    bpy.ops.collision_bounds.clear_results()
    return path


def load(path):
    return bpy.ops.collision_bounds.load_report(filepath=str(path))


def test_rows_jumps_markers_and_colours_work_on_the_open_scene(settings, report):
    assert load(report) == {"FINISHED"}
    assert [round(row.frame, 3) for row in settings.rows[:3]] == [3.25, 4, 14]
    assert settings.rows[3].value == pytest.approx(0.5, abs=1e-3), "Blender units, not metres"
    kept = session.get(settings.result_id)
    assert kept.source == "farm.json" and not kept.stale
    assert [subject.key[0] for subject in kept.contacts.subjects] == sorted(bpy.data.objects.keys())
    settings.active_row = results.row_of(settings, "Far", "Slider")
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
def test_exported_again_in_its_own_space_it_is_the_same_file(settings, tmp_path, axes, length):
    results.build()
    bpy.context.scene.unit_settings.scale_length = length
    for index, item in enumerate(bpy.data.objects):
        item.rotation_euler = (index / 3, index, 1)
    settings.shape = "obb"
    results.scan()
    bpy.ops.collision_bounds.compute_envelope()
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    bpy.ops.collision_bounds.export_json(filepath=str(first), decimals=5, **axes)
    bpy.ops.collision_bounds.clear_results()
    assert load(first) == {"FINISHED"}
    bpy.ops.collision_bounds.export_json(filepath=str(second), decimals=5, **axes)
    told = first.read_text("utf-8")
    assert all(word in told for word in ("obb", "envelope", "contacts", "uncertainty"))
    assert second.read_text("utf-8").splitlines() == told.splitlines()


def test_what_is_missing_is_named_and_the_rest_is_listed(settings, report, capfd):
    bpy.data.objects.remove(bpy.data.objects["Far"])
    assert load(report) == {"FINISHED"}
    assert "Not shown in this scene: Far" in "".join(capfd.readouterr())
    assert len(settings.rows) == 4
    settings.active_row = results.row_of(settings, "Far", "Slider")
    assert {item.name for item in bpy.context.selected_objects} == {"Slider"}


def test_a_broken_file_gives_one_sentence_and_changes_nothing(settings, report):
    results.scan()
    before = settings.result_id
    document = json.loads(report.read_text("utf-8"))
    document["contacts"][0]["a"] = "Nobody"
    report.write_text(json.dumps(document), "utf-8")
    with pytest.raises(RuntimeError, match=r"farm\.json: contacts\[0\]\.a: there is no object 'Nobody'"):
        load(report)
    assert settings.result_id == before and len(settings.rows) == 4


def test_a_report_of_bounds_alone_has_no_rows(settings, tmp_path):
    results.build()
    bpy.ops.collision_bounds.compute_bounds(scope="VISIBLE")
    path = tmp_path / "bounds.json"
    bpy.ops.collision_bounds.export_json(filepath=str(path))
    assert load(path) == {"FINISHED"}
    assert len(settings.rows) == 0


def test_a_report_is_not_out_of_date_at_once_where_rigid_bodies_are(settings, report):
    # What is active reports that it moved whenever anything of the scene changes.
    with bpy.context.temp_override(object=bpy.data.objects["Near"]):
        bpy.context.view_layer.objects.active = bpy.data.objects["Near"]
        bpy.ops.rigidbody.object_add()
    bpy.context.view_layer.update()
    assert load(report) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert not session.get(settings.result_id).stale
