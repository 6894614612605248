"""Boxes around meshes that armatures bend, from the curves of bones, against Blender's vertices."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from addon.core.progress import run_to_end
from addon.scene.blender.frames import go_to
from addon.scene.blender.private_scene import PrivateScene
from addon.scene.motion import skin_poses, skinned_meshes
from addon.scene.motion.known_motion import read_curve_poses
from addon.scene.settings import Selection
from tests.scene.building import add_armature, add_object, add_vertices, curves, key_location
from tests.scene.motion.curves.test_bones import add_random_armature
from tests.scene.sampling import contacts_by_names, scan_scene

pytestmark = pytest.mark.usefixtures("empty_file")

TIMES = np.array([-3.0, 1.0, 2.25, 7.9, 9.7, 20.0, 21.5, 32.0, 40.0])


def add_bent_mesh(seed, vertices=60, bones=8, is_child=True):
    """Add a mesh that an armature bends, with weights at random: of no bone, of one, and of several."""
    generator = random.Random(seed)
    rig = add_random_armature(seed, bones)
    points = [[generator.uniform(-1, 1) for _ in range(3)] for _ in range(vertices)]
    item = add_vertices("Body", points)
    groups = [item.vertex_groups.new(name=bone.name) for bone in rig.data.bones]
    groups.append(item.vertex_groups.new(name="of no bone"))
    for vertex in range(vertices):
        for group in generator.sample(groups, generator.randrange(5)):
            group.add([vertex], generator.choice((0, 1e-6, generator.random(), 1)), "REPLACE")
    rig.data.bones[2].use_deform = False
    item.modifiers.new("Armature", "ARMATURE").object = rig
    if is_child:
        item.parent = rig
        item.location, item.rotation_euler, item.scale = (0.5, 0, 1), (1, 0, 0.5), (1, 2, 0.5)
    else:
        # Nothing moves the armature's object, either.
        item.location = (1, 2, 0)
    return item, rig


def world_vertices(item, time):
    """Vertices (n, 3) as Blender evaluates them."""
    go_to(bpy.context.scene, time)
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    points = np.empty((len(evaluated.data.vertices), 3), dtype=np.float32)
    evaluated.data.vertices.foreach_get("co", points.reshape(-1))
    matrix = np.array(evaluated.matrix_world)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.fixture(params=["loop", "blocks"])
def reading(request, monkeypatch):
    """Read weights in a loop, and as blocks."""
    monkeypatch.setattr(skinned_meshes, "is_worth_a_scene", lambda _: request.param == "blocks")


def skins_of(item, times=(TIMES[0], TIMES[-1])):
    """Read the curves of a bent mesh, as if nothing was compared."""
    return read_skins_of([item], times)


def read_skins_of(items, times=(TIMES[0], TIMES[-1])):
    return poses_of(items, times).skins


def poses_of(items, times=(TIMES[0], TIMES[-1])):
    uids, every = np.array([item.session_uid for item in items]), np.ones(len(items), dtype=bool)
    return run_to_end(read_curve_poses(bpy.context.scene.session_uid, uids, ~every, times, every))


@pytest.mark.smoke
@pytest.mark.parametrize("is_child", [True, False])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.usefixtures("reading")
def test_boxes_are_those_of_blenders_vertices(seed, is_child):
    item, _ = add_bent_mesh(seed, is_child=is_child)
    skins = skins_of(item)
    boxes = skins.shapes(np.zeros(len(TIMES), dtype=np.int64), TIMES)
    for low, high, time in zip(boxes.low, boxes.high, TIMES, strict=True):
        points = world_vertices(item, time)
        tolerance = 1e-5 * np.abs(points).max()
        assert np.abs(low - points.min(axis=0)).max() <= tolerance
        assert np.abs(high - points.max(axis=0)).max() <= tolerance


@pytest.mark.parametrize("seed", range(4))
def test_sides_deviate_from_linear_motion_by_no_more_than_the_bound(seed):
    item, _ = add_bent_mesh(seed)
    skins = skins_of(item)
    # No key of the rig is between these times, so no bone jumps there.
    for begin, end in ((1.5, 2.0), (3.0, 7.0), (8.5, 20.0), (21.0, 21.25)):
        shares = np.linspace(0, 1, 65)
        times, zeros = begin + (end - begin) * shares, np.zeros(65, dtype=np.int64)
        boxes = skins.shapes(zeros, times)
        sides = np.concatenate([boxes.low, boxes.high], axis=1)
        linear = sides[0] + (sides[-1] - sides[0]) * shares[:, None]
        found = np.abs(sides - linear).max()
        bound = skins.deviations(zeros[:1], times[:1], times[-1:])[0]
        assert found <= bound + 1e-6 * np.abs(sides).max()


def add_seesaw():
    """Add two vertices at bones that take turns along x until one of them jumps far out at frame 8."""
    rig = add_object("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("Jumping", "Falling", "Rising"):
        rig.data.edit_bones.new(name).tail = (0, 1, 0)
    rig.data.edit_bones["Falling"].parent = rig.data.edit_bones["Jumping"]
    bpy.ops.object.mode_set(mode="OBJECT")
    item = add_vertices("Seesaw", [(0, 0, 0), (0, 0, 1)])
    item.vertex_groups.new(name="Falling").add([0], 1, "REPLACE")
    item.vertex_groups.new(name="Rising").add([1], 1, "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    for name, first, last in (("Jumping", 0, 5), ("Falling", 1, 0), ("Rising", 0, 1)):
        for frame, x in ((4, first), (8, last)):
            rig.pose.bones[name].location.x = x
            rig.pose.bones[name].keyframe_insert("location", index=0, frame=frame)
    for curve in curves(rig.animation_data.action):
        is_jumping = "Jumping" in curve.data_path
        curve.keyframe_points[0].interpolation = "CONSTANT" if is_jumping else "LINEAR"
    return item


def test_bound_of_sides_until_a_jump_does_not_rest_on_the_pose_after_it():
    skins, times = skins_of(add_seesaw()), np.array([4.0, 6.0, 8.0])
    zeros = np.zeros(3, dtype=np.int64)
    assert skins.shapes(zeros, times).high[:, 0] == pytest.approx([1, 0.5, 5])
    assert skins.shapes(zeros, times, is_before=True).high[:, 0] == pytest.approx([1, 0.5, 1])
    assert skins.deviations(zeros[:1], times[:1], times[2:])[0] >= 0.5


def test_bound_by_outermost_points_is_the_smaller_one():
    item, _ = add_bent_mesh(1)
    zero, begin, end = np.zeros(1, dtype=np.int64), np.array([3.0]), np.array([3.03125])
    without = skins_of(item).deviations(zero, begin, end)
    skins = skins_of(item)
    skins.shapes(np.zeros(2, dtype=np.int64), np.append(begin, end))
    assert skins.deviations(zero, begin, end) < without / 2


def test_box_before_a_jump_is_the_limit_of_earlier_times():
    item, rig = add_bent_mesh(0)
    for curve in curves(rig.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    skins, zero = skins_of(item), np.zeros(1, dtype=np.int64)
    assert skins.next_jumps(zero, np.array([2.0])) == [8]
    for is_before, time in ((True, 7.5), (False, 8.0)):
        boxes = skins.shapes(zero, np.array([8.0]), is_before)
        points = world_vertices(item, time)
        assert boxes.low[0] == pytest.approx(points.min(axis=0), abs=1e-4)
        assert boxes.high[0] == pytest.approx(points.max(axis=0), abs=1e-4)


@pytest.mark.parametrize("at_once", [1, 1 << 14])
def test_several_meshes_at_their_own_times_are_as_each_alone(at_once, monkeypatch):
    monkeypatch.setattr(skin_poses, "_MOST_BONES", at_once)
    rows, times = np.array([2, 0, 1, 0, 2, 1, 0]), np.array([9.7, 8.0, 2.25, 20.0, 9.7, 21.5, 8.0])
    first, rig = add_bent_mesh(0)
    second = first.copy()
    second.data = first.data.copy()
    second.vertex_groups.remove(second.vertex_groups[0])
    bpy.context.scene.collection.objects.link(second)
    third, _ = add_bent_mesh(7, is_child=False)
    for curve in curves(rig.animation_data.action):
        for key in curve.keyframe_points:
            key.interpolation = "CONSTANT"
    items = [first, second, third]
    together, alone = read_skins_of(items), [read_skins_of([item]) for item in items]
    for is_before in (False, True):
        boxes = together.shapes(rows, times, is_before)
        for place, row in enumerate(rows):
            expected = alone[row].shapes(np.zeros(1, dtype=np.int64), times[place : place + 1], is_before)
            assert boxes.low[place].tolist() == expected.low[0].tolist()
            assert boxes.high[place].tolist() == expected.high[0].tolist()
    found = together.deviations(rows, times, times + 0.5)
    expected = [
        alone[row].deviations(
            np.zeros(1, dtype=np.int64), times[place : place + 1], times[place : place + 1] + 0.5
        )[0]
        for place, row in enumerate(rows)
    ]
    assert found.tolist() == expected
    zero, grid = np.zeros(1, dtype=np.int64), np.array([2.0, 4.5, 8.0, 9.0])
    found = together.next_jumps(np.array([2, 1, 0]), grid[:3])
    expected = [skins.next_jumps(zero, grid[k : k + 1])[0] for k, skins in enumerate(reversed(alone))]
    assert found.tolist() == expected
    expected = np.column_stack([skins.moved(grid)[:, 0] for skins in alone])
    assert together.moved(grid).tolist() == expected.tolist()
    together.keep(np.array([False, True, True]))
    assert together.shapes(np.array([0]), grid[:1]) is None
    boxes = together.shapes(np.array([1, 0, 2]), grid[:3])
    assert boxes.rows.tolist() == [0, 2]
    assert boxes.low[1].tolist() == alone[2].shapes(zero, grid[2:3]).low[0].tolist()


def change_weights(item, rig):
    """Have a bone multiply weights by its envelope."""
    rig.data.bones[0].use_envelope_multiply = True
    item.vertex_groups[rig.data.bones[0].name].add(range(9), 1, "REPLACE")


OTHERS = {
    "dual quaternions": lambda item, _: setattr(item.modifiers[0], "use_deform_preserve_volume", True),
    "envelopes": lambda item, _: setattr(item.modifiers[0], "use_bone_envelopes", True),
    "previous modifier": lambda item, _: setattr(item.modifiers[0], "use_multi_modifier", True),
    "mask of the modifier": lambda item, _: setattr(item.modifiers[0], "vertex_group", "of no bone"),
    "second modifier": lambda item, _: item.modifiers.new("Cast", "CAST"),
    "shape keys": lambda item, _: item.shape_key_add(name="Basis"),
    "multiplied envelope": change_weights,
    "constraint": lambda _, rig: rig.pose.bones[0].constraints.new("LIMIT_ROTATION"),
    "mesh that moves relative to the armature": lambda item, _: item.keyframe_insert("location", frame=1),
    "flat armature at rest": lambda item, rig: (
        setattr(item, "parent", None),
        setattr(rig, "scale", (1, 1, 0)),
    ),
    "animated modifier": lambda item, _: item.modifiers[0].keyframe_insert("show_viewport", frame=1),
}


@pytest.mark.parametrize("name", OTHERS)
def test_meshes_that_more_than_curves_may_change_are_evaluated(name):
    item, rig = add_bent_mesh(1)
    OTHERS[name](item, rig)
    assert not poses_of([item]).is_skinned.any()


def test_mesh_with_a_group_whose_name_is_not_utf_8_is_evaluated(tmp_path):
    item, _ = add_bent_mesh(1)
    item.vertex_groups["of no bone"].name = "Group1"
    path = tmp_path / "bytes.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    path.write_bytes(path.read_bytes().replace(b"Group1\0", b"Group\xe9\0"))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert not poses_of([bpy.data.objects["Body"]]).is_skinned.any()


def test_armature_that_grows_from_nothing_is_known():
    item, rig = add_bent_mesh(2)
    for frame, size in ((0, 0), (1, 1e-5), (20, 1)):
        rig.scale = size, size, size
        rig.keyframe_insert("scale", frame=frame)
    skins = skins_of(item, (0, 20))
    boxes = skins.shapes(np.zeros(2, dtype=np.int64), np.array([12.0, 20.0]))
    for row, time in enumerate((12, 20)):
        points = world_vertices(item, time)
        assert boxes.low[row] == pytest.approx(points.min(axis=0), abs=1e-4)
        assert boxes.high[row] == pytest.approx(points.max(axis=0), abs=1e-4)


def test_weights_of_very_many_vertices_are_not_read(monkeypatch):
    item, _ = add_bent_mesh(1)
    monkeypatch.setattr(skinned_meshes, "MOST_VERTICES", len(item.data.vertices))
    assert poses_of([item]).is_skinned.all()
    monkeypatch.setattr(skinned_meshes, "MOST_VERTICES", len(item.data.vertices) - 1)
    assert not poses_of([item]).is_skinned.any()


def test_hidden_modifiers_and_groups_without_bone_do_not_matter():
    item, _ = add_bent_mesh(1)
    item.modifiers.new("Cast", "CAST").show_viewport = False
    assert poses_of([item]).is_skinned.all()


def add_waving_arm():
    """Add an arm of two bones along z whose upper one turns to the side and back within a frame."""
    bones = {"Lower": ((0, 0, 0), (0, 0, 1)), "Upper": ((0, 0, 1), (0, 0, 2))}
    rig = add_armature("Rig", bones, connected=["Upper"])
    points = [(x, y, z) for z in (0, 0.5, 1, 1.5, 2) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    item = add_vertices("Arm", points)
    for name, rows, weight in (("Lower", range(8), 1), ("Upper", range(12, 20), 1)):
        item.vertex_groups.new(name=name).add(rows, weight, "REPLACE")
    for group in item.vertex_groups:
        group.add(range(8, 12), 0.5, "REPLACE")
    item.parent = rig
    item.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0), (5, 0), (5.25, 1.2), (5.5, 0), (10, 0)):
        bone.rotation_euler.x = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    return item


@pytest.mark.smoke
def test_touch_of_a_bone_within_a_frame_is_proven_and_at_the_time_of_blenders_vertices():
    item = add_waving_arm()
    wall = add_vertices("Wall", [(x, y, z) for x in (-1, 1) for y in (0, 0.2) for z in (0, 3)])
    sampled = {time: world_vertices(item, time) for time in np.arange(5.0, 5.5, 1 / 256)}
    # The arm is above the wall's side of y at rest, and sweeps to y = -0.9: put the wall there.
    reach = min(points[:, 1].min() for points in sampled.values())
    wall.location.y = reach * 0.8 - 0.2
    touching = [time for time, points in sampled.items() if points[:, 1].min() <= reach * 0.8]
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    contact = contacts_by_names(scan_scene(shape="aabb", selection=Selection(("Arm", "Wall"))))
    first = contact[frozenset(("Arm", "Wall"))].first
    assert first.motion == "proven"
    assert touching[0] - 1 / 256 - 1e-3 <= first.frame <= touching[0] + 1e-3


def test_bent_mesh_at_rest_is_at_rest():
    # It touches the wall at all frames, and neither moves. So the pair is not tested.
    item = add_waving_arm()
    add_vertices("Wall", [(x, y, z) for x in (-1, 1) for y in (0, 0.2) for z in (0, 3)])
    mover = add_vertices("Mover", [(9, 9, 9), (9, 9, 10)])
    key_location(mover, {6: (0, 0, 0), 10: (0, 0, 5)})
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 6, 10
    assert not contacts_by_names(scan_scene(shape="aabb"))
    assert contacts_by_names(scan_scene(shape="aabb", static_pairs=True))
    # Within a box that never changes, the arm turns about itself.
    bone = item.parent.pose.bones["Lower"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((6, 0), (10, 2 * np.pi)):
        bone.rotation_euler.y = angle
        bone.keyframe_insert("rotation_euler", frame=frame)
    assert contacts_by_names(scan_scene(shape="aabb"))


def test_scan_of_a_bent_mesh_evaluates_it_at_few_frames(monkeypatch):
    add_waving_arm()
    add_vertices("Wall", [(x, y, z) for x in (-1, 1) for y in (3, 3.2) for z in (0, 3)])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 100
    monkeypatch.setattr(PrivateScene, "_open", lambda _: pytest.fail("a private scene evaluates the mesh"))
    evaluated = []
    bpy.app.handlers.frame_change_post.append(lambda scene, _: evaluated.append(scene.frame_current))
    assert not contacts_by_names(scan_scene(shape="aabb"))
    # The first frame, those at which the curves are compared, and back.
    assert len(evaluated) <= 8
