"""Meshes that keyed bones bend, in scans of meshes: vertices, bounds and triangles, against Blender's own."""

from __future__ import annotations

import random
from itertools import permutations

import bpy
import numpy as np
import pytest

from addon.scene.motion.scene_motion import SceneMotion
from tests.scene.building import add_armature, add_vertices, curves, key_location
from tests.scene.mesh_truth.solids import bar
from tests.scene.motion.curves.test_bones import add_random_armature
from tests.scene.motion.test_scene_motion import create_motion
from tests.scene.sampling import add_box, contacts_by_names, go_to, scan_scene, world_points

pytestmark = pytest.mark.usefixtures("empty_file")

FIRST, LAST = 1, 33


def known_meshes() -> SceneMotion:
    """Motion of the meshes of all objects, read at whole frames."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    go_to(FIRST)
    motion = create_motion("mesh")
    for _ in motion.comparing([float(frame) for frame in range(FIRST, LAST + 1)]):
        pass
    return motion


def add_bent_mesh(seed, vertices=60, bones=8, loose=5):
    """Add triangles that bones of all kinds bend at random, and loose vertices that go farther."""
    generator = random.Random(seed)
    rig = add_random_armature(seed, bones)
    points = [[generator.uniform(-1, 1) for _ in range(3)] for _ in range(vertices)]
    faces = [generator.sample(range(vertices), 3) for _ in range(vertices)]
    item = add_vertices("Body", [*points, *([[3, 3, 3]] * loose)], faces)
    groups = [item.vertex_groups.new(name=bone.name) for bone in rig.data.bones]
    for vertex in range(vertices + loose):
        for group in generator.sample(groups, generator.randrange(5)):
            group.add([vertex], generator.choice((0, 1e-6, generator.random(), 1)), "REPLACE")
    item.parent = rig
    item.location, item.rotation_euler, item.scale = (0.5, 0, 1), (1, 0, 0.5), (1, 2, 0.5)
    item.modifiers.new("Armature", "ARMATURE").object = rig
    return item


def add_limb(angles, height=3.0, rings=13, connected=()):
    """Add a bar of quads along z with three bones, of which the second one turns about x by keyed angles."""
    item = add_vertices("Limb", *bar(0.15, height, rings))
    ends = [(0, 0, height * k / 3) for k in range(4)]
    rig = add_armature("Rig", {f"Bone {k}": (ends[k], ends[k + 1]) for k in range(3)}, connected)
    heights = np.array([vertex.co.z for vertex in item.data.vertices]) * 3 / height
    for number in range(3):
        group = item.vertex_groups.new(name=f"Bone {number}")
        weights = np.clip(1 - np.abs(np.clip(heights, 0.5, 2.5) - number - 0.5), 0, 1)
        for row in np.flatnonzero(weights).tolist():
            group.add([row], float(weights[row]), "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    turn(rig, angles)
    return item, rig


def turn(rig, angles, name="Bone 1"):
    """Key angles of a bone about x."""
    bone = rig.pose.bones[name]
    bone.rotation_mode = "XYZ"
    for frame, angle in angles.items():
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)


def posed(motion, times, is_before=False):
    """Meshes of the first subject at times."""
    return motion.certain.at(np.zeros(len(times), dtype=np.int64), np.asarray(times, float), is_before)


def corners_of(meshes, row):
    """Corners (t, 3, 3) in world space of the triangles of one mesh, as they were given."""
    nodes, matrix = meshes.nodes[row], meshes.matrix[row]
    return (nodes.points @ matrix[:3, :3].T + matrix[:3, 3])[nodes.given]


def blenders_corners(name, time):
    """Corners (t, 3, 3) of the triangles that Blender cuts the faces of an object into at a time."""
    go_to(float(time))
    item = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get())
    points, mesh = world_points(name), item.to_mesh()
    mesh.calc_loop_triangles()
    rows = np.array([triangle.vertices[:] for triangle in mesh.loop_triangles])
    item.to_mesh_clear()
    return points[rows]


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(4))
def test_triangles_are_those_that_blender_evaluates_at_any_time(seed):
    add_bent_mesh(seed)
    motion = known_meshes()
    assert motion.is_known
    times = np.random.default_rng(seed).uniform(FIRST, LAST, 12).astype(np.float32)
    meshes = posed(motion, times)
    for row, time in enumerate(times):
        expected = blenders_corners("Body", time)
        assert np.abs(corners_of(meshes, row) - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.smoke
def test_quads_are_cut_as_blender_cuts_them():
    add_limb({1: 0.0, 12: 1.1, 20: -1.2, 33: 0.4})
    motion = known_meshes()
    assert motion.is_known
    times = np.random.default_rng(1).uniform(FIRST, LAST, 20).astype(np.float32)
    meshes = posed(motion, times)
    for row, time in enumerate(times):
        assert np.abs(corners_of(meshes, row) - blenders_corners("Limb", time)).max() <= 1e-5


@pytest.mark.parametrize("seed", range(4))
def test_no_vertex_deviates_from_linear_motion_by_more_than_the_bound(seed):
    add_bent_mesh(seed)
    motion = known_meshes()
    # No key of the rig is between these times, so no bone jumps there.
    for begin, end in ((1.5, 2.0), (3.0, 7.0), (8.5, 20.0), (21.0, 21.25)):
        shares = np.linspace(0, 1, 49)
        corners = np.array([blenders_corners("Body", time) for time in begin + (end - begin) * shares])
        linear = corners[0] + (corners[-1] - corners[0]) * shares[:, None, None, None]
        found = np.linalg.norm(corners - linear, axis=-1).max()
        (bound,), _ = motion.certain.bound(np.array([0]), np.array([begin]), np.array([end]))
        assert found <= bound + 2e-6 * np.abs(corners).max()


def test_bound_falls_with_the_square_of_the_interval():
    add_limb({1: 0.0, 33: 1.2})
    motion, begin = known_meshes(), np.linspace(5, 25, 50)
    rows = np.zeros(len(begin), dtype=np.int64)
    long, short = (motion.certain.bound(rows, begin, begin + step)[0].mean() for step in (0.5, 0.125))
    assert short < long / 12


def test_mesh_before_a_jump_is_the_limit_of_earlier_times():
    _, rig = add_limb({1: 0.0, 8: 0.3, 20: 1.0})
    for curve in curves(rig.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    motion = known_meshes()
    assert motion.certain.breaks(np.array([0]), np.array([2.0]), np.array([12.0])) == [8]
    for is_before, time in ((True, 7.5), (False, 8.0)):
        found = corners_of(posed(motion, [8.0], is_before), 0)
        assert found == pytest.approx(blenders_corners("Limb", time), abs=1e-5)


def test_many_frames_of_a_mesh_hold_no_vertices_and_poses_at_rest_are_one():
    add_limb({1: 0.0, 10: 1.0, 20: 1.0})
    motion = known_meshes()
    meshes = posed(motion, range(FIRST, LAST + 1))
    assert not any("vertices" in nodes.__dict__ for nodes in meshes.nodes)
    assert len({id(nodes) for nodes in meshes.nodes[FIRST:9]}) == 8
    assert len({id(nodes) for nodes in meshes.nodes[20:]}) == 1


def scan_with_wall(**settings):
    """Return the contact of the limb and a wall, at y from 1 to 1.2."""
    wall = add_box("Wall", (2, 0.1, 3))
    wall.location = (0, 1.1, 1.5)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    return contacts_by_names(scan_scene(shape="mesh", **settings)).get(frozenset(("Limb", "Wall")))


def first_beyond(y):
    """Time at which the first vertex of the limb is beyond y, by bisection, in Blender."""
    begin, end = float(FIRST), 20.0
    for _ in range(40):
        middle = (begin + end) / 2
        go_to(middle)
        begin, end = (begin, middle) if world_points("Limb")[:, 1].max() >= y else (middle, end)
    return end


@pytest.mark.smoke
def test_contact_of_a_mesh_that_bones_bend_is_proven():
    add_limb({1: 0.0, 20: -1.3})
    contact = scan_with_wall()
    truth = first_beyond(1.0)
    assert contact.first.motion == "proven"
    assert contact.first.frame - 1e-5 <= truth <= contact.first.frame + contact.first.uncertainty + 1e-5
    assert contact.first.uncertainty < 1e-3


def test_contact_is_proven_too_where_the_scene_is_played():
    add_limb({1: 0.0, 20: -1.3})
    # Instances of a collection belong to the dependency graph of the scene.
    group = bpy.data.collections.new("Group")
    inside = add_box("Inside", (0.1, 0.1, 0.1))
    bpy.context.scene.collection.objects.unlink(inside)
    group.objects.link(inside)
    shown = add_vertices("Shown")
    shown = bpy.data.objects.new("Shown instances", None)
    shown.instance_type, shown.instance_collection = "COLLECTION", group
    bpy.context.scene.collection.objects.link(shown)
    key_location(shown, {1: (9, 9, 9), 33: (12, 9, 9)})
    contact = scan_with_wall()
    truth = first_beyond(1.0)
    assert contact.first.motion == "proven"
    assert abs(contact.first.frame - truth) <= contact.first.uncertainty + 1e-5


def add_leaf(fold):
    """Add a quad whose second corner a bone carries over its diagonal, and a post above where it then is."""
    item = add_vertices("Limb", [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0)], [(0, 1, 2, 3)])
    rig = add_armature("Rig", {"Still": ((0, 0, 0), (0, 0, 1)), "Moving": ((0, 0, 1), (0, 0, 2))})
    for name, rows in (("Still", [0, 2, 3]), ("Moving", [1])):
        item.vertex_groups.new(name=name).add(rows, 1, "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Moving"]
    for frame, part in ((1, 0.0), (33, 1.0)):
        # Bones along z have the x axis of the world, and its -y axis as z.
        bone.location = part * fold[0], part * fold[2], -part * fold[1]
        bone.keyframe_insert("location", frame=frame)
    return item


@pytest.mark.parametrize(("fold", "touches"), [((-1.6, 1.6, 2), True), ((-0.5, 0.5, 0.2), False)])
def test_quad_that_folds_is_tested_as_blender_cuts_it_and_proven(fold, touches):
    add_leaf(fold)
    assert known_meshes().is_known
    post = add_box("Post", (0.02, 0.02, 0.02))
    post.location = (0.32, 1.68, 0.85)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    found = contacts_by_names(scan_scene(shape="mesh"))
    assert len(found) == touches
    for contact in found.values():
        assert contact.first.motion == "proven"
        # The ridge between the second and the fourth corner rises to the lowest edge of the post.
        across, low = 2**0.5, 0.85 - 0.02
        u = across * (1 - 0.32) - across * 0.02
        value = 4 * low / (2 * across * (across - u) + 3.2 * low)
        begin, end = float(FIRST), float(LAST)
        for _ in range(30):
            middle = (begin + end) / 2
            go_to(middle)
            begin, end = (begin, middle) if world_points("Limb")[1, 2] >= 2 * value else (middle, end)
        assert contact.first.frame == pytest.approx(end, abs=1e-3)


def test_triangles_of_a_quad_that_folds_are_blenders_before_and_after():
    add_leaf((-1.6, 1.6, 2))
    motion = known_meshes()
    (change,) = motion.certain.breaks(np.array([0]), np.array([1.0]), np.array([33.0]))
    for time in (*np.random.default_rng(0).uniform(FIRST, LAST, 12), change - 2e-4, change + 2e-4):
        found, expected = corners_of(posed(motion, [time]), 0), blenders_corners("Limb", time)
        for triangle in expected:
            orders = [triangle[list(order)] for order in permutations(range(3))]
            assert min(np.abs(each - found).max(axis=(1, 2)).min() for each in orders) <= 1e-5
    before, after = (corners_of(posed(motion, [change], is_before), 0) for is_before in (True, False))
    assert not np.array_equal(before, after)
    assert motion.certain.bound(*(np.array([each]) for each in (0, change - 1, change + 1)))[0][0] > 1
    assert motion.certain.bound(*(np.array([each]) for each in (0, change, change + 1)))[0][0] < 0.1


@pytest.mark.parametrize(("rows", "is_known"), [((), True), ((4, 5, 6), False)])
def test_faces_of_more_than_four_corners_are_known_if_one_bone_carries_them(rows, is_known):
    angle = np.arange(8) * np.pi / 4
    points = [(np.cos(a), np.sin(a), 0) for a in angle]
    item = add_vertices("Limb", points, [tuple(range(8))])
    rig = add_armature("Rig", {"Bone 0": ((0, 0, 0), (0, 0, 1)), "Bone 1": ((0, 0, 1), (0, 0, 2))})
    first = [row for row in range(8) if row not in rows]
    for name, members in (("Bone 0", first), ("Bone 1", list(rows))):
        item.vertex_groups.new(name=name).add(members, 1, "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    turn(rig, {1: 0.0, 33: 1.0}, "Bone 0")
    assert known_meshes().is_known == is_known


def test_face_of_more_than_four_corners_that_is_not_flat_is_sampled():
    angle = np.arange(8) * np.pi / 4
    points = [(np.cos(a), np.sin(a), 0.1 * (k % 2)) for k, a in enumerate(angle)]
    item = add_vertices("Limb", points, [tuple(range(8))])
    rig = add_armature("Rig", {"Bone 0": ((0, 0, 0), (0, 0, 1))})
    item.vertex_groups.new(name="Bone 0").add(list(range(8)), 1, "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    turn(rig, {1: 0.0, 33: 1.0}, "Bone 0")
    assert not known_meshes().is_known
