"""Separation of the active pair: computed, exported as CSV, and keyed on an object."""

from __future__ import annotations

import csv

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.animated import curves_of_action
from addon.scene.jobs import result_store
from addon.ui.operators.pairs import COLLISION_BOUNDS_OT_compute_separation
from addon.ui.overlay.over_time import active_curve, request_missing
from tests.ui import scanned_scene


@pytest.fixture
def scanned(settings):
    """Return the settings of a scanned scene, with the row of Slider and Far active."""
    scanned_scene.build()
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Far")
    return settings


@pytest.fixture
def computed(scanned):
    """Return the settings with the separation of the active pair."""
    assert bpy.ops.collision_bounds.compute_separation() == {"FINISHED"}
    return scanned


def expected(frames):
    """Cubes of side 1: Slider is at x = frame, Far at 15."""
    return np.abs(15 - np.asarray(frames)) - 1


def target_of(name, settings):
    return "FIRST" if settings.rows[settings.active_row].a == name else "SECOND"


def keys_of(name, prop="separation"):
    curves = list(curves_of_action(bpy.data.objects[name].animation_data))
    (curve,) = (curve for curve in curves if curve.data_path == f'["{prop}"]')
    return curve


@pytest.mark.smoke
def test_curve_is_kept_with_the_result_and_nothing_else_changes(computed):
    curve = active_curve(computed)
    assert curve.values == pytest.approx(expected(curve.frames), abs=1e-5)
    assert not result_store.get(computed.result_id).stale
    computed.active_row = scanned_scene.row_of(computed, "Slider", "Near")
    assert active_curve(computed) is None
    computed.active_row = scanned_scene.row_of(computed, "Slider", "Far")
    assert active_curve(computed) is curve


@pytest.mark.parametrize("later_pair", [("Slider", "Near"), None])
def test_separation_is_that_of_the_row_at_the_click_whichever_is_active_later(scanned, later_pair):
    far = scanned.active_row
    job = COLLISION_BOUNDS_OT_compute_separation._create_job(None, bpy.context)
    scanned.active_row = -1 if later_pair is None else scanned_scene.row_of(scanned, *later_pair)
    run_to_end(job)
    assert active_curve(scanned) is None
    scanned.active_row = far
    curve = active_curve(scanned)
    assert curve.values == pytest.approx(expected(curve.frames), abs=1e-5)


def test_scene_that_has_changed_has_to_be_scanned_again(scanned):
    result_store.set_stale(scanned.result_id, True)
    assert not bpy.ops.collision_bounds.compute_separation.poll()
    assert request_missing(scanned) == "The scene changed: find contacts again"


def test_export_and_keys_need_the_curve(scanned):
    assert not bpy.ops.collision_bounds.export_separation.poll()
    assert not bpy.ops.collision_bounds.key_separation.poll()


@pytest.mark.smoke
@pytest.mark.parametrize(("system", "factor", "unit"), [("METRIC", 0.01, "m"), ("NONE", 1.0, "units")])
def test_csv_has_frame_separation_and_unit(computed, tmp_path, system, factor, unit):
    units, path = bpy.context.scene.unit_settings, tmp_path / "pair.csv"
    units.system, units.scale_length = system, 0.01
    assert bpy.ops.collision_bounds.export_separation(filepath=str(path)) == {"FINISHED"}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["unit"] for row in rows} == {unit}
    frames = [float(row["frame"]) for row in rows]
    assert set(range(21)) <= set(frames)
    lengths = [float(row["separation"]) for row in rows]
    assert lengths == pytest.approx(expected(frames) * factor, abs=1e-5)


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["Slider", "Far"])
def test_keyed_property_follows_the_separation_and_contacts_stay_valid(computed, name):
    target = target_of(name, computed)
    for _ in range(2):  # again: replaced
        assert bpy.ops.collision_bounds.key_separation(target=target) == {"FINISHED"}
    curve = active_curve(computed)
    points = keys_of(name).keyframe_points
    assert len(points) == len(curve.frames)
    assert {point.interpolation for point in points} == {"LINEAR"}
    for frame in (0, 7.5, 14, 20):
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1)
        assert bpy.data.objects[name]["separation"] == pytest.approx(expected(frame), abs=1e-4)
    assert not result_store.get(computed.result_id).stale
    if name == "Slider":
        bpy.context.scene.frame_set(10)
        assert bpy.data.objects["Slider"].matrix_world.translation.x == pytest.approx(10), "still animated"


def test_time_remapping_stretches_the_keys(settings):
    scanned_scene.build()
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 50
    scanned_scene.scan()
    settings.active_row = scanned_scene.row_of(settings, "Slider", "Near")
    assert bpy.ops.collision_bounds.compute_separation() == {"FINISHED"}
    assert bpy.ops.collision_bounds.key_separation(property_name="gap") == {"FINISHED"}
    name = settings.rows[settings.active_row].a
    # Animation is twice as fast: Slider is at x = 6 at frame 3, and Near at 5.
    bpy.context.scene.frame_set(3)
    assert bpy.data.objects["Slider"].matrix_world.translation.x == pytest.approx(6)
    assert bpy.data.objects[name]["gap"] == pytest.approx(abs(5 - 6) - 1, abs=1e-4)


@pytest.mark.parametrize(("value", "message"), [("text", "is no number"), ([1.0, 2.0], "is no number")])
def test_property_that_is_no_number_is_kept(computed, value, message):
    far = bpy.data.objects["Far"]
    far["separation"] = value
    with pytest.raises(RuntimeError, match=f"Far has a property 'separation' that {message}"):
        bpy.ops.collision_bounds.key_separation(target=target_of("Far", computed))
    assert far.animation_data is None


def test_driven_property_is_kept(computed):
    far = bpy.data.objects["Far"]
    far["separation"] = 1.0
    far.driver_add('["separation"]')
    with pytest.raises(RuntimeError, match="Far has a driver"):
        bpy.ops.collision_bounds.key_separation(target=target_of("Far", computed))


def test_empty_name_is_refused_and_quotes_are_not(computed):
    target = target_of("Far", computed)
    with pytest.raises(RuntimeError, match="needs a name"):
        bpy.ops.collision_bounds.key_separation(target=target, property_name="")
    assert bpy.ops.collision_bounds.key_separation(target=target, property_name='a"b') == {"FINISHED"}
    assert bpy.data.objects["Far"]['a"b'] is not None


def test_linked_object_is_named(settings, tmp_path):
    scanned_scene.build()
    far = bpy.data.objects["Far"]
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {far})
    bpy.data.objects.remove(far)
    with bpy.data.libraries.load(str(path), link=True) as (_, target):
        target.objects = ["Far"]
    bpy.context.scene.collection.objects.link(target.objects[0])
    scanned_scene.scan()
    (row,) = (number for number, row in enumerate(settings.rows) if "Far" in f"{row.a} {row.b}")
    settings.active_row = row
    assert bpy.ops.collision_bounds.compute_separation() == {"FINISHED"}
    which = "FIRST" if "Far" in settings.rows[row].a else "SECOND"
    with pytest.raises(RuntimeError, match="Far is linked: make a library override"):
        bpy.ops.collision_bounds.key_separation(target=which)


def test_undo_removes_the_property_and_its_keys(computed):
    target = target_of("Far", computed)
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.collision_bounds.key_separation(target=target)
    bpy.ops.ed.undo_push(message="Keyed")
    bpy.ops.ed.undo()
    far = bpy.data.objects["Far"]
    assert "separation" not in far and far.animation_data is None
    bpy.ops.ed.redo()
    assert len(keys_of("Far").keyframe_points) > 20
