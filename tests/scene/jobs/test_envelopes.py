"""Envelopes and tracks of scenes: they enclose every vertex that Blender shows at every 1/64 frame.

The truth is Blender itself, evaluated between frames; boxes and smallest spheres around what it shows.
"""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document, read_document
from addon.scene.blender.timeline import playhead
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.envelopes import play_bounds
from addon.scene.jobs.result import Result
from addon.scene.settings import BoundsSettings
from tests.finished import finished
from tests.scene.building import CUBE
from tests.scene.independent import minimal_sphere
from tests.scene.sampled import add_object, add_points, ball_points, box_points, go_to, key, world_points
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

FIRST, LAST, PARTS = 1, 13, times(64, 16)
ROUNDING = 2e-6
"""Blender's numbers, and those that the tests compare with, are in single precision."""


def played(**settings: object) -> Result:
    given = {"envelope": True, "frames": (FIRST, LAST, 1), **settings}
    return finished(play_bounds(bpy.context.scene, BoundsSettings(**given)))


def envelopes(result: Result) -> dict[str, tuple[object, object]]:
    """Box and sphere by name."""
    return {entry.name: entry.envelope for entry in result.objects}


def everything(name: str) -> np.ndarray:
    """All vertices at all times."""
    found = []
    for time in np.linspace(FIRST, LAST, (LAST - FIRST) * PARTS + 1):
        go_to(time)
        found.append(world_points(name))
    return np.concatenate(found)


def keyed() -> bpy.types.Object:
    moved = add_points("It", CUBE * (1, 0.5, 0.25))
    key(moved, "location", [(1, (0, 0, 0)), (7, (5, 3, 1)), (13, (-2, 4, 0))])
    return moved


def eased() -> bpy.types.Object:
    moved = add_points("It", ball_points(0.7))
    key(moved, "location", [(1, (0, 0, 0)), (9.5, (8, 0, 3)), (13, (8, 0, 0))], "BEZIER")
    return moved


def bouncing() -> bpy.types.Object:
    moved = add_points("It", CUBE)
    key(moved, "location", [(1, (0, 0, 9)), (13, (4, 0, 0))], "BOUNCE")
    return moved


def turning() -> bpy.types.Object:
    moved = add_points("It", box_points((3, 0.2, 0.1)))
    key(moved, "rotation_euler", [(1, (0, 0, 0)), (13, (0.4, 0, 2 * np.pi))])
    return moved


def turning_a_quarter_each_frame() -> bpy.types.Object:
    moved = add_points("It", CUBE)
    key(moved, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, 6 * np.pi))])
    return moved


def turning_once_each_frame() -> bpy.types.Object:
    moved = add_points("It", CUBE * (1, 0.2, 0.2) + np.array([2, 0, 0]))
    key(moved, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, 24 * np.pi))])
    return moved


def on_an_arm() -> bpy.types.Object:
    arm, moved = add_object("Arm"), add_points("It", CUBE * (1, 0.3, 0.3))
    moved.parent, moved.location = arm, (4, 0, 1)
    arm.scale = (1, 1.5, 1)
    key(arm, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0.5, 3))], "BEZIER")
    key(moved, "rotation_euler", [(1, (0, 0, 0)), (13, (2, 0, 1))], "BEZIER")
    return moved


def growing() -> bpy.types.Object:
    moved = add_points("It", ball_points(1.0))
    key(moved, "scale", [(1, (1, 1, 1)), (6.5, (2, 1, 0.5)), (13, (1, 3, 1))], "BEZIER")
    return moved


def deforming() -> bpy.types.Object:
    moved = add_points("It", CUBE)
    moved.shape_key_add(name="Basis")
    bulge = moved.shape_key_add(name="Bulge")
    for point in bulge.data[:2]:
        point.co = (-3, -1.5, 2)
    key(bulge, "value", [(1, 0.0), (6.3, 1.0), (13, 0.2)], "BEZIER")
    return moved


SCENES = [keyed, eased, bouncing, turning, on_an_arm, growing, deforming]
FAST = [turning_a_quarter_each_frame, turning_once_each_frame]


@pytest.mark.parametrize("make", [*SCENES, *(pytest.param(make, marks=pytest.mark.long) for make in FAST)])
def test_envelope_encloses_every_vertex_between_frames(make):
    make()
    go_to(FIRST)
    box, ball = envelopes(played())["It"]
    points = everything("It")
    low, high = points.min(axis=0), points.max(axis=0)
    assert (box.min <= low + ROUNDING).all()
    assert (box.max >= high - ROUNDING).all()
    room = max((low - box.min).max(), (box.max - high).max())
    assert room <= 0.0025 * (high - low).max() / 2 + ROUNDING
    assert np.linalg.norm(points - ball.center, axis=1).max() <= ball.radius + ROUNDING
    # Two or three per cent for the sphere's directions; the rest is room in boxes around slanted things.
    assert ball.radius <= 1.12 * minimal_sphere(points)[1]


def test_envelope_of_static_object_is_its_bounds(add_mesh):
    add_mesh("Cube", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.1))
    (entry,) = parse_document(dumps(played().document()))["objects"]
    assert entry["envelope"] == entry["world"]


def test_envelope_of_eased_motion_is_closed_form(add_mesh):
    # A unit ball's worth of points on the end of an arm of 3: half a turn in twelve frames.
    moved = add_points("Dot", [(3, 0, 0)])
    key(moved, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, np.pi))])
    box, ball = envelopes(played())["Dot"]
    # Half a circle: its box is 6 by 3, its smallest sphere the circle's own.
    assert box.min == pytest.approx([-3, 0, 0], abs=0.0075)
    assert box.max == pytest.approx([3, 3, 0], abs=0.0075)
    assert 3 <= ball.radius <= 3 * 1.03
    assert (box.min <= (-3, 0, 0)).all()
    assert (box.max >= np.array([3, 3, 0]) - ROUNDING).all()


def test_bounds_are_those_of_reference_frame_with_any_frame_range():
    turning()
    go_to(4.5)
    alone = compute_bounds(bpy.context.scene, BoundsSettings()).document()
    document = played(tracks=True).document()
    assert document["time"]["referenceFrame"] == 4.5
    assert playhead(bpy.context.scene) == 4.5
    for entry in document["objects"]:
        del entry["envelope"]
    assert document["objects"] == alone["objects"]


def test_tracks_are_bounds_of_each_frame_and_evaluate_only_these_frames():
    turning()
    asked = []

    def note(scene: bpy.types.Scene, _depsgraph: object) -> None:
        asked.append(scene.frame_current_final)

    bpy.app.handlers.frame_change_post.append(note)
    try:
        document = played(envelope=False, tracks=True, frames=(2, 8, 1.5)).document("gltf")
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert asked[:5] == [2, 3.5, 5, 6.5, 8]
    assert len(asked) == 6  # and back
    (track,) = document["tracks"]
    assert track["frames"] == [2, 3.5, 5, 6.5, 8]
    assert "envelope" not in document["objects"][0]
    for k, frame in enumerate(track["frames"]):
        now = compute_bounds(bpy.context.scene, BoundsSettings(frame=frame)).document("gltf")
        box, ball = (now["objects"][0]["world"][kind] for kind in ("aabb", "sphere"))
        assert track["aabb"]["mins"][k] == pytest.approx(box["min"], abs=5e-6)
        assert track["aabb"]["maxs"][k] == pytest.approx(box["max"], abs=5e-6)
        assert track["sphere"]["centers"][k] == pytest.approx(ball["center"], abs=5e-6)
        assert track["sphere"]["radii"][k] == pytest.approx(ball["radius"], abs=5e-6)
    assert list(read_document(document).tracks[0].frames) == track["frames"]


def test_envelopes_and_tracks_have_requested_shapes_only():
    turning()
    document = played(tracks=True, shapes=("sphere",)).document()
    assert document["objects"][0]["envelope"].keys() == {"sphere"}
    assert document["tracks"][0].keys() == {"object", "space", "frames", "sphere"}


def test_absent_frames_are_missing_in_tracks_and_never_present_object_has_no_envelope(add_mesh):
    away, never = add_mesh("Away", location=(5, 0, 0)), add_mesh("Never")
    key(away, "hide_viewport", [(1, False), (5, True), (9, False)], "CONSTANT")
    key(never, "hide_viewport", [(0, False), (1, True)], "CONSTANT")
    go_to(0)
    result = played(tracks=True)
    document = parse_document(dumps(result.document()))
    found = {entry["name"]: entry for entry in document["objects"]}
    assert "envelope" not in found["Never"]
    assert found["Away"]["envelope"]["aabb"] == {"min": [4, -1, -1], "max": [6, 1, 1]}
    (track,) = document["tracks"]
    assert track["frames"] == [1, 2, 3, 4, 9, 10, 11, 12, 13]
    skipped = {entry["name"]: entry["reason"] for entry in document["skipped"]}
    assert skipped == {
        "Away": "not there at frame 5: left out while away",
        "Never": "not there from frame 1 to 13: no envelope",
    }


@pytest.mark.smoke
def test_simulated_objects_are_listed_and_not_evaluated_between_frames():
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 5))
    bpy.context.object.name = "Falling"
    bpy.ops.rigidbody.object_add()
    asked = []

    def note(scene: bpy.types.Scene, _depsgraph: object) -> None:
        asked.append(scene.frame_current_final)

    bpy.context.scene.frame_set(1)
    bpy.app.handlers.frame_change_post.append(note)
    try:
        result = played()
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert all(frame == int(frame) for frame in asked)
    assert result.linear_only == ("Falling",)
    assert result.document()["extras"] == {"straightBetweenFrames": ["Falling"]}
    box, ball = envelopes(result)["Falling"]
    assert box.max[2] == pytest.approx(6, abs=1e-4)
    # 12 frames at 24 a second: half a second of falling, 1.2 metres and a little.
    assert 2 < box.min[2] < 3.5
    assert ball.radius > 1.8


def test_instances_object_settings_and_padding_apply_to_envelopes():
    collection = bpy.data.collections.new("Part")
    mesh = bpy.data.meshes.new("Dot")
    mesh.from_pydata([(1, 0, 0), (-1, 0, 0)], [], [])
    collection.objects.link(bpy.data.objects.new("Dot", mesh))
    holder = add_object("Holder")
    holder.instance_type, holder.instance_collection = "COLLECTION", collection
    key(holder, "location", [(1, (0, 0, 0)), (13, (0, 0, 6))])
    from addon.scene.settings import FitSettings

    (found,) = envelopes(played(fit=FitSettings(padding=0.5))).values()
    assert found[0].min == pytest.approx([-1.5, -0.5, -0.5], abs=1e-5)
    assert found[0].max == pytest.approx([1.5, 0.5, 6.5], abs=1e-5)


def test_closing_job_restores_playhead():
    turning()
    go_to(3.25)
    job = play_bounds(bpy.context.scene, BoundsSettings(envelope=True, frames=(1, 10, 1)))
    for _ in range(5):
        next(job)
    job.close()
    assert playhead(bpy.context.scene) == 3.25


@pytest.mark.parametrize("frames", [(5, 1, 1), (1, 5, 0), (1, 2e6, 1)])
def test_invalid_frame_ranges_are_rejected(frames):
    with pytest.raises(CollisionBoundsError, match="frame"):
        played(frames=frames)


def test_scene_without_subjects_gives_empty_document():
    assert json.loads(dumps(played(tracks=True).document()))["objects"] == []
