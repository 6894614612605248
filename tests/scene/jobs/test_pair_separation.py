"""Separation of a pair over time: closed forms of keyed objects, and agreement with the contacts found."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.errors import SceneError
from addon.scene.jobs.contacts import find_contacts
from addon.scene.jobs.pair_separation import separation_over_time
from addon.scene.settings import ContactSettings
from tests.scene.sampling import add_box, key
from tests.ui import scanned_scene

BULLET_SPEED = 30.0


def scanned(**options):
    """Return the scene, its contacts, and the settings."""
    settings = ContactSettings(**{"shape": "aabb", **options})
    scene = bpy.context.scene
    return scene, run_to_end(find_contacts(scene, settings)), settings


def index_of(result, *names):
    listed = [subject.name for subject in result.subjects]
    return tuple(listed.index(name) for name in names)


def curve_of(scene, result, settings, *names):
    return run_to_end(separation_over_time(scene, result, settings, index_of(result, *names)))


def contact_of(result, *names):
    pair = set(index_of(result, *names))
    (found,) = (entry for entry in result.report.contacts if {entry.a, entry.b} == pair)
    return found


@pytest.mark.smoke
def test_boxes_that_slide_have_the_separation_of_their_distance(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned()
    curve = curve_of(scene, result, settings, "Slider", "Far")
    # Cubes of side 1 along x: apart by the distance of their centers, less 1.
    assert curve.values == pytest.approx(np.abs(15 - curve.frames) - 1, abs=1e-5)
    assert set(range(21)) <= set(curve.frames.tolist()) and (np.diff(curve.frames) > 0).all()
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25), "the playhead is back"


def test_curve_is_zero_at_the_contact_and_shows_a_contact_between_frames(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned()
    curve, contact = curve_of(scene, result, settings, "Bullet", "Pane"), contact_of(result, "Bullet", "Pane")
    assert contact.first.tunnelling
    for span in contact.intervals:
        for time in span:
            (row,) = np.flatnonzero(curve.frames == time)
            # The bullet moves 30 per frame, and a time is known to a thousandth.
            assert abs(curve.values[row]) < 0.001 * BULLET_SPEED
    assert curve.values.min() == pytest.approx(-contact.depth, abs=1e-4)
    whole = np.isin(curve.frames, np.arange(21))
    assert curve.values[whole].min() > 0, "no whole frame shows it"


def test_near_miss_has_its_gap_and_no_value_below_zero(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned()
    curve = curve_of(scene, result, settings, "Slider", "Aside")
    distance = np.maximum(np.abs(10 - curve.frames) - 1, 0)
    assert curve.values == pytest.approx(np.hypot(distance, 0.5), abs=1e-5)


@pytest.mark.parametrize("motion", ["adaptive", "linear"])
def test_spheres_with_eased_keys_have_the_closed_form(empty_file, motion):
    ball, wall = add_box("Ball", (0.5, 0.5, 0.5)), add_box("Wall", (0.5, 0.5, 0.5))
    wall.location = (5, 0, 0)
    key(ball, "location", [(0, (0, 0, 0)), (10, (10, 0, 0))])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 0, 10
    scene, result, settings = scanned(shape="sphere", motion=motion)
    curve = curve_of(scene, result, settings, "Ball", "Wall")
    contact = contact_of(result, "Ball", "Wall")
    # Spheres around cubes of side 1 have radius sqrt(3)/2.
    assert curve.values == pytest.approx(np.abs(5 - curve.frames) - np.sqrt(3), abs=1e-5)
    assert contact.intervals[0].start in curve.frames and contact.intervals[0].end in curve.frames


def test_clearance_is_the_separation_at_the_contact(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned(clearance=0.25)
    curve, contact = curve_of(scene, result, settings, "Slider", "Near"), contact_of(result, "Slider", "Near")
    (row,) = np.flatnonzero(curve.frames == contact.first.frame)
    assert curve.values[row] == pytest.approx(0.25, abs=1e-3) and curve.clearance == 0.25


@pytest.mark.parametrize("shape", ["spheres", "obb", "sphere", "compound"])
def test_every_shape_is_deepest_as_deep_as_the_contact(empty_file, shape):
    scanned_scene.build()
    bpy.data.objects["Near"].rotation_euler = (0.3, 0.2, 0.5)
    scene, result, settings = scanned(shape=shape)
    curve, contact = curve_of(scene, result, settings, "Slider", "Near"), contact_of(result, "Slider", "Near")
    assert np.nanmin(curve.values) == pytest.approx(-contact.depth, abs=0.01)


def test_obstacle_is_measured_as_a_mesh(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned(shape="sphere", obstacles=("Near",))
    curve, contact = curve_of(scene, result, settings, "Slider", "Near"), contact_of(result, "Slider", "Near")
    (row,) = np.flatnonzero(curve.frames == contact.first.frame)
    assert curve.values[row] == pytest.approx(0, abs=1e-3)
    # The sphere around the cube, with radius sqrt(3)/2, and the near face at x = 4.5.
    assert curve.values[0] == pytest.approx(4.5 - np.sqrt(3) / 2, abs=1e-5)


def test_hidden_object_leaves_a_gap(empty_file):
    scanned_scene.build()
    far = bpy.data.objects["Far"]
    for frame, hidden in ((0, False), (3, True), (6, False)):
        far.hide_viewport = hidden
        far.keyframe_insert("hide_viewport", frame=frame)
    scene, result, settings = scanned()
    curve = curve_of(scene, result, settings, "Slider", "Far")
    is_gone = (curve.frames >= 3) & (curve.frames < 6)
    assert np.isnan(curve.values[is_gone]).all() and not np.isnan(curve.values[~is_gone]).any()


def test_deleted_object_is_reported(empty_file):
    scanned_scene.build()
    scene, result, settings = scanned()
    bpy.data.objects.remove(bpy.data.objects["Far"])
    with pytest.raises(SceneError, match="'Far' are not both there"):
        curve_of(scene, result, settings, "Slider", "Far")


def test_eased_bullet_is_at_zero_when_it_touches(empty_file):
    wall, bullet = add_box("Wall", (0.5, 0.5, 0.5)), add_box("Bullet", (0.4, 0.4, 0.4))
    for frame, x in ((50, -4), (51, 4)):
        bullet.location.x = x
        bullet.keyframe_insert("location", frame=frame)
    assert wall.animation_data is None
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 120
    scene, result, settings = scanned()
    curve, contact = curve_of(scene, result, settings, "Bullet", "Wall"), contact_of(result, "Bullet", "Wall")
    # Bezier keys with horizontal handles of a third: x = -4 + 8 s for s = 3 u^2 - 2 u^3, u = frame - 50.
    part = np.clip(curve.frames - 50, 0, 1)
    expected = np.abs(-4 + 8 * (3 * part**2 - 2 * part**3)) - 0.9
    assert curve.values == pytest.approx(expected, abs=2e-3)
    # Begins are up to 0.0002 frames early, at up to 12 units a frame.
    assert curve.values[curve.frames == contact.first.frame] == pytest.approx(0, abs=12 * 2e-4)
