"""Static and moving obstacles in scenes: contacts with their faces, not with their bounds."""

from __future__ import annotations

import math

import bpy
import numpy as np
import pytest

from addon.cli.main import main
from tests.scene.building import add_instance, hidden_collection, open_empty_file
from tests.scene.sampling import (
    add_box,
    add_faces,
    add_object,
    add_points,
    ball_points,
    contacts_by_names,
    delete_faces_by_frame,
    key,
    scan_scene,
)
from tests.tiers import times

Array = np.ndarray


@pytest.fixture(autouse=True)
def empty_scene():
    open_empty_file()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 24
    return scene


def add_ball(name: str, radius: float) -> bpy.types.Object:
    return add_points(name, ball_points(radius))


def add_tunnel() -> bpy.types.Object:
    """Add four walls around the x axis, from x = -2 to 2, with a cross-section of 2 by 2."""
    ring = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    points = [(x, y, z) for x in (-2, 2) for y, z in ring]
    faces = [(k, 4 + k, 4 + (k + 1) % 4, (k + 1) % 4) for k in range(4)]
    return add_faces("Tunnel", points, faces)


@pytest.mark.parametrize("one_sided", [False, True])
def test_projectile_of_1_cm_at_400_m_s_hits_plate_of_2_mm(one_sided):
    scene = bpy.context.scene
    scene.render.fps = 24
    plate = add_box("Plate", (0.001, 0.5, 0.5))
    plate.rotation_euler = (0.3, 0.0, 0.0)
    speed = 400 / 24
    ball = add_ball("Projectile", 0.005)
    key(ball, "location", [(1, (-11.3 * speed, 0.1, 0.05)), (24, (11.7 * speed, 0.1, 0.05))])
    found = contacts_by_names(scan_scene(shape="sphere", obstacles=("Plate",), one_sided=one_sided))
    contact = found[frozenset(("Plate", "Projectile"))]
    assert contact.first.frame == pytest.approx(12.3 - 0.006 / speed, abs=1e-4)
    assert contact.first.tunnelling
    assert not scan_scene(
        shape="sphere", obstacles=("Plate",), one_sided=one_sided, frames=(1, 12, 1)
    ).report.contacts


def test_flight_through_tunnel_has_no_contact_and_drift_touches_wall():
    add_tunnel()
    through, drifting = add_ball("Through", 0.25), add_ball("Drifting", 0.25)
    key(through, "location", [(1, (-5, 0, 0)), (24, (5, 0, 0))])
    # It touches at z = 0.75, after 3/4 of its path, inside the tunnel.
    key(drifting, "location", [(1, (-1.5, 0, 0)), (17, (1.5, 0, 1.0))])
    result = scan_scene(shape="sphere", obstacles=("Tunnel",), ignored=("Through:Drifting",))
    found = contacts_by_names(result)
    assert set(found) == {frozenset(("Tunnel", "Drifting"))}
    contact = found[frozenset(("Tunnel", "Drifting"))]
    assert contact.first.frame == pytest.approx(13.0, abs=1e-4)
    names = [subject.name for subject in result.subjects]
    upward = 1.0 if names[contact.b] == "Tunnel" else -1.0
    assert contact.first.normal == pytest.approx([0, 0, upward], abs=1e-4)
    document = result.document()
    by_id = {entry["id"]: entry["name"] for entry in document["objects"]}
    assert [by_id[entry["obstacle"]] for entry in document["contacts"]] == ["Tunnel"]


def test_rotating_gate_under_scaled_parent_strikes_ball_at_closed_form_time():
    # The scale of the parent applies to the vertices. The gate rotates about its hinge at a constant speed.
    frame = add_object("Frame")
    frame.scale = (2, 2, 2)
    frame.location = (3, -1, 0)
    hinge = add_object("Hinge")
    hinge.parent = frame
    gate = add_box("Gate", (0.5, 0.025, 0.5))
    gate.parent = hinge
    gate.location = (0.5, 0, 0)
    key(hinge, "rotation_euler", [(1, (0, 0, 0)), (24, (0, 0, math.radians(115)))])
    ball = add_ball("Ball", 0.2)
    ball.location = (3, -1 + 1.4, 0)
    contact = contacts_by_names(scan_scene(shape="sphere", obstacles=("Gate",)))[frozenset(("Gate", "Ball"))]
    # The face of the gate is 0.05 from its center plane. The ball is 1.4 from the hinge.
    angle = math.pi / 2 - math.asin((0.2 + 0.05) / 1.4)
    assert contact.first.frame == pytest.approx(1 + 23 * angle / math.radians(115), abs=1e-3)
    assert contact.first.motion == "proven"


def test_contacts_with_uneven_ground_match_distances_to_all_faces():
    rng = np.random.default_rng(4)
    size = 9
    line = np.linspace(-2, 2, size)
    heights = rng.uniform(-0.3, 0.3, (size, size))
    points = [(line[i], line[j], heights[i, j]) for i in range(size) for j in range(size)]
    faces = [
        tri
        for i in range(size - 1)
        for j in range(size - 1)
        for a in [i * size + j]
        for tri in ((a, a + size, a + size + 1), (a, a + size + 1, a + 1))
    ]
    level = add_faces("Level", points, faces)
    level.location, level.rotation_euler, level.scale = (1, 2, 3), (0.2, -0.1, 0.7), (1.2, 0.9, 1.1)
    bpy.context.view_layer.update()
    matrix = np.array(level.matrix_world)
    corners = (np.array(points) @ matrix[:3, :3].T + matrix[:3, 3])[np.array(faces)]
    balls = {}
    for index in range(times(8, 4)):
        ball = add_ball(f"Ball.{index}", 0.2)
        high = np.array([1, 2, 4.0]) + rng.uniform(-1, 1, 3)
        low = high + rng.uniform(-1, 1, 3) - (0, 0, 2.2)
        key(ball, "location", [(1, high), (20, low)], "QUAD")
        balls[ball.name] = ball
    result = scan_scene(
        shape="sphere", obstacles=("Level",), group_a=("Ball*",), group_b=("Level",), frames=(1, 20, 1)
    )
    found = contacts_by_names(result)
    assert len(balls) == times(8, 4)
    sample_times = np.arange(1, 20, 1 / times(64, 32))
    paths = {name: [] for name in balls}
    for time in sample_times:
        bpy.context.scene.frame_set(int(time), subframe=time - int(time))
        for name, ball in balls.items():
            paths[name].append(ball.matrix_world.translation[:])
    hits = 0
    for name, path in paths.items():
        gap = distances_to_triangles(np.array(path), corners) - 0.2
        inside = np.flatnonzero(gap <= 0)
        contact = found.get(frozenset((name, "Level")))
        assert (contact is None) == (not len(inside)), name
        if contact is None:
            continue
        hits += 1
        index = int(inside[0])
        if index == 0:
            assert contact.first.at_start
            continue
        fraction = gap[index - 1] / (gap[index - 1] - gap[index])
        reference = sample_times[index - 1] + fraction * (sample_times[index] - sample_times[index - 1])
        assert abs(contact.first.frame - reference) < 2e-3, name
    assert hits >= times(4, 2)


def distances_to_triangles(points: Array, corners: Array) -> Array:
    """Distances (n,) of points (n, 3) to the nearest of triangles (t, 3, 3), by code of the test."""
    a, b, c = (corner[None] for corner in corners.transpose(1, 0, 2))
    p = points[:, None]
    normal = np.cross(b - a, c - a)
    height = ((p - a) * normal).sum(axis=2) / (normal**2).sum(axis=2)
    foot = p - normal * height[..., None]
    sides = [(np.cross(v - u, foot - u) * normal).sum(axis=2) for u, v in ((a, b), (b, c), (c, a))]
    found = np.where(np.min(sides, axis=0) >= 0, np.linalg.norm(p - foot, axis=2), np.inf)
    for u, v in ((a, b), (b, c), (c, a)):
        along = np.clip(((p - u) * (v - u)).sum(axis=2) / ((v - u) ** 2).sum(axis=2), 0, 1)
        found = np.minimum(found, np.linalg.norm(p - u - along[..., None] * (v - u), axis=2))
    return found.min(axis=1)


def test_sphere_tree_misses_post_that_single_sphere_hits():
    # A bar of forty pieces along x moves down next to a post. Its single sphere is as wide as the bar is
    # long.
    ends = [
        (x, y, z)
        for x in np.linspace(-2, 2, 41)
        for y, z in ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))
    ]
    sides = [
        (4 * k + s, 4 * k + 4 + s, 4 * k + 4 + (s + 1) % 4, 4 * k + (s + 1) % 4)
        for k in range(40)
        for s in range(4)
    ]
    bar = add_faces("Bar", ends, sides)
    key(bar, "location", [(1, (0, 0.6, 5)), (24, (0, 0.6, -5))])
    add_box("Post", (0.1, 0.1, 3.0))
    assert scan_scene(shape="sphere", obstacles=("Post",)).report.contacts
    assert not scan_scene(shape="spheres", obstacles=("Post",)).report.contacts


def test_instance_can_be_obstacle():
    plate = add_box("Plate", (1, 1, 0.1))
    collection = hidden_collection("Set", plate)
    holder = add_instance("Holder", collection)
    key(holder, "location", [(1, (0, 0, -5)), (24, (0, 0, 5))])
    ball = add_ball("Ball", 0.5)
    ball.location = (0, 0, 0.6)
    (contact,) = scan_scene(shape="sphere", obstacles=("Holder/*",)).report.contacts
    # Its upper face is at z = 0.1 when the holder is at z = 0, in the middle of the scan.
    assert contact.first.frame == pytest.approx(12.5, abs=1e-3)


def test_plate_that_grows_reaches_ball_next_to_it():
    for name, ball in (("Ball", add_ball("Ball", 0.5)), ("Box", add_box("Box", (0.5, 0.1, 0.1)))):
        ball.location = (4, len(name), 0)
    plate = add_box("Plate", (1, 9, 0.1))
    key(plate, "scale", [(1, (1, 1, 1)), (24, (5, 1, 1))])
    for name, shape in (("Ball", "sphere"), ("Box", "mesh")):
        found = contacts_by_names(scan_scene(shape=shape, obstacles=("Plate",)))
        first = found[frozenset((name, "Plate"))].first
        # The side is at x = 3.5 when the scale is that.
        assert first.frame == pytest.approx(1 + 23 * 2.5 / 4, abs=2e-3), shape
        assert first.motion == "proven"


def test_ground_that_rises_meets_ball_above_it():
    ball = add_ball("Ball", 0.5)
    ball.location = (0, 0, 1)
    ground = add_faces("Ground", [(-3, -3, 0), (3, -3, 0), (3, 3, 0), (-3, 3, 0)], [(0, 1, 2, 3)])
    ground.shape_key_add(name="Basis")
    raised = ground.shape_key_add(name="Raised")
    for point in raised.data:
        point.co.z = 1
    for frame, value in ((1, 0.0), (24, 1.0)):
        raised.value = value
        raised.keyframe_insert("value", frame=frame)
    # It rises to one half in half the time, because it is as slow at the begin as at the end.
    (contact,) = scan_scene(shape="sphere", obstacles=("Ground",)).report.contacts
    assert contact.first.frame == pytest.approx(12.5, abs=2e-3)


def test_plate_gets_the_half_below_the_ball():
    ball = add_ball("Ball", 0.4)
    ball.location = (1.5, 0.5, 0.3)
    points = [(x, y, 0) for x in range(3) for y in (0, 1)]
    delete_faces_by_frame(add_faces("Plate", points, [(0, 2, 3, 1), (2, 4, 5, 3)]), 10.3)
    (contact,) = scan_scene(shape="sphere", obstacles=("Plate",), static_pairs=True).report.contacts
    (interval,) = contact.intervals
    assert interval.start == pytest.approx(10.3, abs=1e-3) and interval.end == 24
    assert bpy.context.scene.frame_current == 1


@pytest.mark.parametrize("shape", ["sphere", "mesh"])
def test_ball_in_closed_hall_touches_its_walls_only(shape):
    add_box("Hall", (4, 4, 4))
    ball = add_box("Ball", (0.5, 0.1, 0.1)) if shape == "mesh" else add_ball("Ball", 0.5)
    key(ball, "location", [(1, (-2, 0, 0)), (24, (5, 0, 0))])
    (contact,) = scan_scene(shape=shape, obstacles=("Hall",)).report.contacts
    assert contact.first.frame == pytest.approx(1 + 23 * 5.5 / 7, abs=2e-3)
    # Without obstacles the hall is solid.
    if shape == "mesh":
        (contact,) = scan_scene(shape=shape).report.contacts
        assert contact.first.at_start


@pytest.mark.parametrize("scale", [1, -1])
def test_one_sided_floor_lets_pass_from_below_until_the_center_is_through(scale):
    floor = add_faces("Floor", [(-3, -3, 0), (3, -3, 0), (3, 3, 0), (-3, 3, 0)], [(0, 1, 2, 3)])
    # A mirrored face keeps its front.
    floor.scale = (scale, 1, 1)
    rising, sinking = add_ball("Rising", 0.5), add_ball("Sinking", 0.5)
    key(rising, "location", [(1, (1, 0, -2)), (24, (1, 0, 2))])
    key(sinking, "location", [(1, (-1, 0, 2)), (24, (-1, 0, -2))])
    found = contacts_by_names(scan_scene(shape="sphere", obstacles=("Floor",), one_sided=True))
    first = found[frozenset(("Floor", "Rising"))].first
    assert first.frame == pytest.approx(12.5, abs=1e-3)
    (interval,) = found[frozenset(("Floor", "Sinking"))].intervals
    assert interval.start == pytest.approx(1 + 23 * 1.5 / 4, abs=1e-3)
    assert interval.end == pytest.approx(12.5, abs=1e-2)


def test_obstacle_without_faces_is_skipped_with_that_reason():
    add_ball("Loose", 0.5)
    add_ball("Other", 0.5)
    result = scan_scene(shape="sphere", obstacles=("Loose",), static_pairs=True)
    assert not result.report.contacts
    assert [(entry.name, "no faces" in entry.reason) for entry in result.skipped] == [("Loose", True)]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--obstacles", "Nothing"], "obstacles 'Nothing': no object of this scan has this name"),
        (["--obstacles", "Loose", "--shape", "aabb"], "need meshes, spheres or sphere trees as the shape"),
        (["--one-sided"], "--one-sided: only valid with --obstacles"),
    ],
)
def test_invalid_obstacle_options_are_reported_in_one_line(options, problem, tmp_path, capsys):
    add_ball("Loose", 0.5)
    add_ball("Other", 0.5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    assert main(["contacts", *options], opens_file=False) == 2
    errors = capsys.readouterr().err
    assert problem in errors and errors.count("\n") == 1
