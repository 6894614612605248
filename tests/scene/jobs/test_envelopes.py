"""Envelopes and tracks enclose every evaluated vertex at every 1/64 frame.

The reference is the scene evaluated between frames, with boxes and minimal spheres around the vertices.
"""

from __future__ import annotations

import json

import bpy
import numpy as np
import pytest

from addon.core import CollisionBoundsError
from addon.formats import dumps, parse_document, read_document
from addon.scene.blender.frames import playhead
from addon.scene.jobs.bounds import bounds_in_parts, compute_bounds
from addon.scene.jobs.result import Result
from addon.scene.settings import BoundsSettings, FitSettings
from tests.finished import finished
from tests.scene.building import CUBE, add_instance
from tests.scene.independent.geometry import minimal_sphere
from tests.scene.sampling import (
    add_box,
    add_object,
    add_points,
    ball_points,
    box_points,
    go_to,
    key,
    world_points,
)
from tests.tiers import times

pytestmark = pytest.mark.usefixtures("empty_file")

FIRST, LAST, PARTS = 1, 13, times(64, 16)
ROUNDING = 2e-6
"""Rounding error of vertices in single precision."""


def play(**settings: object) -> Result:
    """Compute bounds with envelopes by default."""
    all_settings = {"envelope": True, "frames": (FIRST, LAST, 1), **settings}
    return finished(bounds_in_parts(bpy.context.scene, BoundsSettings(**all_settings)))


def envelopes(result: Result) -> dict[str, tuple[object, object]]:
    """Return the box and the sphere of each envelope, by name."""
    return {entry.name: entry.envelope for entry in result.objects}


def sample_vertices(name: str) -> np.ndarray:
    """Evaluate all vertices of an object at all times."""
    found = []
    for time in np.linspace(FIRST, LAST, (LAST - FIRST) * PARTS + 1):
        go_to(time)
        found.append(world_points(name))
    return np.concatenate(found)


def add_linear() -> bpy.types.Object:
    item = add_points("Moving", CUBE * (1, 0.5, 0.25))
    key(item, "location", [(1, (0, 0, 0)), (7, (5, 3, 1)), (13, (-2, 4, 0))])
    return item


def add_eased() -> bpy.types.Object:
    item = add_points("Moving", ball_points(0.7))
    key(item, "location", [(1, (0, 0, 0)), (9.5, (8, 0, 3)), (13, (8, 0, 0))], "BEZIER")
    return item


def add_bouncing() -> bpy.types.Object:
    item = add_points("Moving", CUBE)
    key(item, "location", [(1, (0, 0, 9)), (13, (4, 0, 0))], "BOUNCE")
    return item


def add_rotating() -> bpy.types.Object:
    item = add_points("Moving", box_points((3, 0.2, 0.1)))
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (0.4, 0, 2 * np.pi))])
    return item


def add_rotating_90_degrees_per_frame() -> bpy.types.Object:
    item = add_points("Moving", CUBE)
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, 6 * np.pi))])
    return item


def add_rotating_360_degrees_per_frame() -> bpy.types.Object:
    item = add_points("Moving", CUBE * (1, 0.2, 0.2) + np.array([2, 0, 0]))
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, 24 * np.pi))])
    return item


def add_rotating_on_arm() -> bpy.types.Object:
    arm, item = add_object("Arm"), add_points("Moving", CUBE * (1, 0.3, 0.3))
    item.parent, item.location = arm, (4, 0, 1)
    arm.scale = (1, 1.5, 1)
    key(arm, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0.5, 3))], "BEZIER")
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (2, 0, 1))], "BEZIER")
    return item


def add_scaled() -> bpy.types.Object:
    item = add_points("Moving", ball_points(1.0))
    key(item, "scale", [(1, (1, 1, 1)), (6.5, (2, 1, 0.5)), (13, (1, 3, 1))], "BEZIER")
    return item


def add_deforming() -> bpy.types.Object:
    item = add_points("Moving", CUBE)
    item.shape_key_add(name="Basis")
    bulge = item.shape_key_add(name="Bulge")
    for point in bulge.data[:2]:
        point.co = (-3, -1.5, 2)
    key(bulge, "value", [(1, 0.0), (6.3, 1.0), (13, 0.2)], "BEZIER")
    return item


SCENES = [
    add_linear,
    add_eased,
    add_bouncing,
    add_rotating,
    add_rotating_on_arm,
    add_scaled,
    add_deforming,
]
FAST = [add_rotating_90_degrees_per_frame, add_rotating_360_degrees_per_frame]


@pytest.mark.parametrize("add_item", [*SCENES, *(pytest.param(add, marks=pytest.mark.long) for add in FAST)])
def test_envelope_encloses_every_vertex_between_frames(add_item):
    add_item()
    go_to(FIRST)
    box, ball = envelopes(play())["Moving"]
    points = sample_vertices("Moving")
    low, high = points.min(axis=0), points.max(axis=0)
    assert (box.min <= low + ROUNDING).all()
    assert (box.max >= high - ROUNDING).all()
    excess = max((low - box.min).max(), (box.max - high).max())
    assert excess <= 0.0025 * (high - low).max() / 2 + ROUNDING
    assert np.linalg.norm(points - ball.center, axis=1).max() <= ball.radius + ROUNDING
    # 2 or 3 percent because the sphere is fitted along a limited number of directions. The rest is for boxes
    # around rotated objects.
    assert ball.radius <= 1.12 * minimal_sphere(points)[1]


@pytest.mark.parametrize("tracks", [False, True])
def test_envelope_has_strokes_by_keys_within_a_frame(tracks):
    keys = [(1, 0.0), (4.90, 0.0), (4.93, 1.0), (4.96, 0.0), (9, 0.0)]
    mover = add_box("Mover", (1, 1, 1))
    key(mover, "location", [(frame, (5 * part, 0, 0)) for frame, part in keys], "LINEAR")
    pillar = add_box("Pillar", (1, 1, 1))
    pillar.shape_key_add(name="Basis")
    tall = pillar.shape_key_add(name="Tall")
    for point in tall.data:
        point.co.z = 4.0 if point.co.z > 0 else point.co.z
    key(tall, "value", keys, "LINEAR")
    go_to(4.93)
    reached = {name: world_points(name).max(axis=0) for name in ("Mover", "Pillar")}
    assert reached["Pillar"][2] == 4
    result = play(frames=(1, 9, 1), tracks=tracks)
    for name, (box, _) in envelopes(result).items():
        np.testing.assert_array_less(reached[name] - 1e-5, box.max)
        # At most 0.2 % of its size larger.
        assert (box.max - reached[name] <= 0.002 * (box.max - box.min) + 1e-5).all()
    if tracks:
        assert list(result.tracks[0].frames) == list(range(1, 10))


def test_envelope_of_static_object_is_its_bounds(add_mesh):
    add_mesh("Cube", location=(1, 2, 3), rotation_euler=(0.3, 0.2, 0.1))
    (entry,) = parse_document(dumps(play().document()))["objects"]
    assert entry["envelope"].pop("local") == entry["local"]
    assert entry["envelope"] == entry["world"]


def test_envelope_of_rotating_point_matches_closed_form(add_mesh):
    # A point at a distance of 3 from the axis rotates by 180 degrees in twelve frames.
    item = add_points("Dot", [(3, 0, 0)])
    key(item, "rotation_euler", [(1, (0, 0, 0)), (13, (0, 0, np.pi))])
    box, ball = envelopes(play())["Dot"]
    # The path is half a circle: its box is 6 by 3, and its minimal sphere is that of the circle.
    assert box.min == pytest.approx([-3, 0, 0], abs=0.0075)
    assert box.max == pytest.approx([3, 3, 0], abs=0.0075)
    assert 3 <= ball.radius <= 3 * 1.03
    assert (box.min <= (-3, 0, 0)).all()
    assert (box.max >= np.array([3, 3, 0]) - ROUNDING).all()


def test_bounds_are_those_of_reference_frame_with_any_frame_range():
    add_rotating()
    go_to(4.5)
    plain = compute_bounds(bpy.context.scene, BoundsSettings()).document()
    document = play(tracks=True).document()
    assert document["time"]["referenceFrame"] == 4.5
    assert playhead(bpy.context.scene) == 4.5
    objects = list(document["objects"])
    for entry in objects:
        del entry["envelope"]
    assert objects == plain["objects"]


def test_tracks_are_bounds_of_each_frame_and_evaluate_only_these_frames():
    add_rotating()
    frames = []

    def record_frame(scene: bpy.types.Scene, _depsgraph: object) -> None:
        frames.append(scene.frame_current_final)

    bpy.app.handlers.frame_change_post.append(record_frame)
    try:
        document = play(envelope=False, tracks=True, frames=(2, 8, 1.5)).document("gltf")
    finally:
        bpy.app.handlers.frame_change_post.remove(record_frame)
    assert frames[:5] == [2, 3.5, 5, 6.5, 8]
    assert len(frames) == 6  # the last one restores the frame
    (track,) = document["tracks"]
    assert track["frames"] == [2, 3.5, 5, 6.5, 8]
    assert "envelope" not in document["objects"][0]
    for k, frame in enumerate(track["frames"]):
        single = compute_bounds(bpy.context.scene, BoundsSettings(frame=frame)).document("gltf")
        box, ball = (single["objects"][0]["world"][kind] for kind in ("aabb", "sphere"))
        assert track["aabb"]["mins"][k] == pytest.approx(box["min"], abs=5e-6)
        assert track["aabb"]["maxs"][k] == pytest.approx(box["max"], abs=5e-6)
        assert track["sphere"]["centers"][k] == pytest.approx(ball["center"], abs=5e-6)
        assert track["sphere"]["radii"][k] == pytest.approx(ball["radius"], abs=5e-6)
    assert list(read_document(document).tracks[0].frames) == track["frames"]


def test_envelopes_and_tracks_have_requested_shapes_only():
    add_rotating()
    document = play(tracks=True, shapes=("sphere",)).document()
    assert document["objects"][0]["envelope"].keys() == {"sphere", "local"}
    assert document["objects"][0]["envelope"]["local"].keys() == {"sphere"}
    assert document["tracks"][0].keys() == {"object", "space", "frames", "sphere"}


def test_hidden_frames_are_not_in_tracks_and_always_hidden_object_has_no_envelope(add_mesh):
    hidden, never = add_mesh("Away", location=(5, 0, 0)), add_mesh("Never")
    key(hidden, "hide_viewport", [(1, False), (5, True), (9, False)], "CONSTANT")
    key(never, "hide_viewport", [(0, False), (1, True)], "CONSTANT")
    go_to(0)
    result = play(tracks=True)
    document = parse_document(dumps(result.document()))
    found = {entry["name"]: entry for entry in document["objects"]}
    assert "envelope" not in found["Never"]
    assert found["Away"]["envelope"]["aabb"] == {"min": [4, -1, -1], "max": [6, 1, 1]}
    (track,) = document["tracks"]
    assert track["frames"] == [1, 2, 3, 4, 9, 10, 11, 12, 13]
    skipped = {entry["name"]: entry["reason"] for entry in document["skipped"]}
    assert skipped == {
        "Away": "not present at frame 5: skipped while absent",
        "Never": "not present from frame 1 to 13: no envelope",
    }


def test_hidden_frames_are_not_swept_while_another_object_has_no_bounds_in_its_own_frame():
    ghost = add_points("Ghost", CUBE)
    key(ghost, "location", [(5, (0, 0, 0)), (9, (50, 0, 0))], "LINEAR")
    key(ghost, "hide_viewport", [(1, False), (5, True)], "CONSTANT")
    # Along its own axes the plate becomes thinner than its padding, along those of the world it does not.
    plate = add_points("Plate", [(2 * x, 2 * y, 2 * z) for x, y, z in CUBE])
    plate.rotation_euler.x = np.pi / 4
    key(plate, "scale", [(1, (1, 1, 1)), (9, (1, 1, 0.01))], "LINEAR")
    result = play(frames=(1, 9, 1), tracks=True, fit=FitSettings(padding=-0.2))
    box, _ = envelopes(result)["Ghost"]
    assert np.allclose([box.min, box.max], [[-0.8] * 3, [0.8] * 3])
    assert [list(track.frames) for track in result.tracks if track.id == "Ghost"] == [[1, 2, 3, 4]]


@pytest.mark.smoke
def test_simulated_objects_are_listed_and_not_evaluated_between_frames():
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 5))
    bpy.context.object.name = "Falling"
    bpy.ops.rigidbody.object_add()
    frames = []

    def record_frame(scene: bpy.types.Scene, _depsgraph: object) -> None:
        frames.append(scene.frame_current_final)

    bpy.context.scene.frame_set(1)
    bpy.app.handlers.frame_change_post.append(record_frame)
    try:
        result = play()
    finally:
        bpy.app.handlers.frame_change_post.remove(record_frame)
    assert all(frame == int(frame) for frame in frames)
    assert result.linear_only == ("Falling",)
    assert result.document()["extras"] == {"straightBetweenFrames": ["Falling"]}
    box, ball = envelopes(result)["Falling"]
    assert box.max[2] == pytest.approx(6, abs=1e-4)
    # 12 frames at 24 per second: the fall takes half a second, about 1.2 meters.
    assert 2 < box.min[2] < 3.5
    assert ball.radius > 1.8


def test_instances_object_settings_and_padding_apply_to_envelopes():
    collection = bpy.data.collections.new("Part")
    mesh = bpy.data.meshes.new("Dot")
    mesh.from_pydata([(1, 0, 0), (-1, 0, 0)], [], [])
    collection.objects.link(bpy.data.objects.new("Dot", mesh))
    holder = add_instance("Holder", collection)
    key(holder, "location", [(1, (0, 0, 0)), (13, (0, 0, 6))])
    (found,) = envelopes(play(fit=FitSettings(padding=0.5))).values()
    assert found[0].min == pytest.approx([-1.5, -0.5, -0.5], abs=1e-5)
    assert found[0].max == pytest.approx([1.5, 0.5, 6.5], abs=1e-5)


def test_closing_job_restores_playhead():
    add_rotating()
    go_to(3.25)
    job = bounds_in_parts(bpy.context.scene, BoundsSettings(envelope=True, frames=(1, 10, 1)))
    for _ in range(5):
        next(job)
    job.close()
    assert playhead(bpy.context.scene) == 3.25


@pytest.mark.parametrize("frames", [(5, 1, 1), (1, 5, 0), (1, 2e6, 1)])
def test_invalid_frame_ranges_are_rejected(frames):
    with pytest.raises(CollisionBoundsError, match="frame"):
        play(frames=frames)


def test_scene_without_subjects_gives_empty_document():
    assert json.loads(dumps(play(tracks=True).document()))["objects"] == []
