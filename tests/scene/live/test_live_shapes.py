"""Shapes of LiveSubjects, compared with a new fit to all world vertices of each subject."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector

from addon import registration
from addon.core import aabbs_from_groups
from addon.scene.jobs.bounds import compute_bounds
from addon.scene.jobs.contacts import find_contacts
from addon.scene.live import live_shapes
from addon.scene.live.live_shapes import LiveSubjects
from addon.scene.settings import SCANNED_SHAPES, BoundsSettings, ContactSettings, FitSettings, Selection
from addon.scene.subjects.subject import identify_subjects
from tests.core.compound.meshes_with_notches import L_OUTLINE, L_TRIANGLES, prism
from tests.finished import finished
from tests.scene.blender.parts.rigs import add_rig, add_tube, rotate_bones
from tests.scene.building import CUBE, add_object, key_location, merged_collection
from tests.scene.sampling import add_faces, delete_faces_by_frame

pytestmark = pytest.mark.usefixtures("empty_file")

ALL = ("sphere", "aabb", "obb", "spheres", "capsule", "cylinder")


def make_updater(result=None, checked="aabb", fit=None, drawn=ALL, use_report=True):
    """Return a function that updates the live subjects of a result, with the uids of changed objects."""
    subjects = LiveSubjects(result, identify_subjects(result.subjects))

    def update(changed=None, **options):
        depsgraph = bpy.context.evaluated_depsgraph_get()
        return subjects.update(
            depsgraph, fit or FitSettings(), drawn, checked, use_report, changed, **options
        )

    return update


def bounds(**settings):
    return compute_bounds(bpy.context.scene, BoundsSettings(**settings))


def world_points(item):
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    matrix = np.array(item.matrix_world, dtype=float)
    points = np.array([vertex.co for vertex in mesh.vertices], dtype=float)
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def assert_encloses(shown, items):
    """Assert that every shape contains its object's vertices, and is hardly larger than a new fit."""
    for index, item in enumerate(items):
        points = world_points(item)
        box, owners = shown.shapes["aabb"]
        low, high = box.min[owners == index][0], box.max[owners == index][0]
        tight = aabbs_from_groups(points, np.array([0, len(points)]))
        np.testing.assert_allclose(low, tight.min[0], atol=1e-5)
        np.testing.assert_allclose(high, tight.max[0], atol=1e-5)
        for name in ("sphere", "obb", "spheres", "capsule", "cylinder"):
            shape, owners = shown.shapes[name]
            inside = shape[owners == index].padded(1e-5)
            assert np.array([part.contains(points) for part in inside.to_list()]).any(axis=0).all(), name
        sphere, owners = shown.shapes["sphere"]
        center, radius = sphere.center[owners == index][0], sphere.radius[owners == index][0]
        assert np.linalg.norm(points - center, axis=1).max() == pytest.approx(radius, rel=1e-5)


@pytest.mark.smoke
def test_moved_rotated_scaled_sheared_and_mirrored_objects_are_enclosed_tightly(add_mesh):
    rng = np.random.default_rng(5)
    items = [add_mesh(f"{k}", rng.normal(size=(30, 3))) for k in range(4)]
    parent = add_object("Parent")
    parent.scale = (1, 2, 0.5)
    items[3].parent = parent
    bpy.context.view_layer.update()
    update = make_updater(bounds())
    assert_encloses(update(), items)
    items[0].location, items[0].rotation_euler = (4, 5, 6), (1, 2, 3)
    items[1].scale = (2, 2, 2)
    items[2].scale = (-1, 1, 1)
    items[3].rotation_euler = (0.5, 0.5, 0.5)
    bpy.context.view_layer.update()
    assert_encloses(update(changed=()), items)


@pytest.mark.smoke
def test_only_vertices_of_changed_objects_are_read_again(add_mesh):
    item, other = add_mesh("Edited"), add_mesh("Other", location=(9, 0, 0))
    update = make_updater(bounds())
    update()
    for edited in (item, other):
        for vertex in edited.data.vertices:
            vertex.co.x += 5
        edited.data.update()
    bpy.context.view_layer.update()
    boxes = update(changed={item.session_uid}).shapes["aabb"].shape
    np.testing.assert_allclose(boxes.max[:, 0], [6, 10])
    np.testing.assert_allclose(update(changed=None).shapes["aabb"].shape.max[:, 0], [6, 15])


@pytest.mark.smoke
def test_new_topology_gets_new_tree(add_mesh):
    item = add_mesh("Grows")
    update = make_updater(bounds())
    update()
    item.data.clear_geometry()
    item.data.from_pydata([*CUBE.tolist(), (7, 0, 0)], [], [])
    bpy.context.view_layer.update()
    assert_encloses(update(changed={item.session_uid}), [item])
    item.data.clear_geometry()
    bpy.context.view_layer.update()
    assert not len(update(changed={item.session_uid}).shapes["aabb"].owners), (
        "the mesh has no vertices any more"
    )


@pytest.mark.smoke
def test_settings_and_modifiers_take_effect(add_mesh):
    item = add_mesh("Cube")
    result = bounds()
    padded = make_updater(result, fit=FitSettings(padding=0.5))().shapes
    np.testing.assert_allclose(padded["aabb"].shape.max, [[1.5] * 3])
    np.testing.assert_allclose(padded["sphere"].shape.radius, [np.sqrt(3) + 0.5])
    modifier = item.modifiers.new("Move", "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = "X", 0.0, 2.0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(make_updater(result)().shapes["aabb"].shape.max, [[3, 1, 1]])
    base = make_updater(result, fit=FitSettings(modifiers="base"))()
    np.testing.assert_allclose(base.shapes["aabb"].shape.max, [[1, 1, 1]])


@pytest.mark.smoke
def test_object_with_infinite_position_is_not_shown_until_it_returns(add_mesh):
    item = add_mesh("Lost")
    add_mesh("Wall", location=(5, 0, 0))
    update = make_updater(bounds())
    for x, there in ((0, [0, 1]), (np.inf, [1]), (np.nan, [1]), (2, [0, 1])):
        item.location.x = x
        bpy.context.view_layer.update()
        assert update(changed=()).shapes["aabb"].owners.tolist() == there, x


def test_current_contacts_depend_on_checked_shape(add_mesh):
    """Cubes side by side: their spheres of radius 1.73 meet, their boxes do not; then one turned."""
    add_mesh("A")
    other = add_mesh("B", location=(2.3, 0, 0))
    result = bounds()
    shapes = [name for name in SCANNED_SHAPES if name != "mesh"]
    in_contact = {name: make_updater(result, checked=name)().in_contact.all() for name in shapes}
    touching = {name for name, touches in in_contact.items() if touches}
    assert touching == {"sphere", "spheres", "capsule"}
    # At 45 degrees the box along the world's axes is 2.83 wide; the oriented one meets it with an edge.
    other.location = (2.3, 2.3, 0)
    other.rotation_euler.z = np.pi / 4
    bpy.context.view_layer.update()
    in_contact = {name: make_updater(result, checked=name)().in_contact.all() for name in ("aabb", "obb")}
    assert in_contact == {"aabb": True, "obb": False}


def test_spheres_of_one_tree_do_not_touch_each_other(add_mesh):
    bpy.ops.mesh.primitive_uv_sphere_add()
    update = make_updater(bounds(), checked="spheres")
    assert len(update().shapes["spheres"].owners) > 4 and not update().in_contact.any()


@pytest.mark.smoke
def test_contacts_come_from_report_unless_it_is_not_used(add_mesh):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 21: (20, 0, 0)})
    wall = add_mesh("Wall", location=(10, 0, 0))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 21
    result = finished(find_contacts(scene, ContactSettings(shape="aabb")))
    # Faces meet from x = 8, at frame 9, to x = 12, at frame 13.
    update, now = make_updater(result), make_updater(result, use_report=False)
    wall.location.y = 50
    for frame, touching in ((8, False), (9, True), (13, True), (14, False)):
        scene.frame_set(frame)
        assert update(changed=()).in_contact.all() == touching
        assert not now(changed=()).in_contact.any()


def test_outside_the_scanned_range_contacts_are_overlaps_of_now(add_mesh):
    key_location(add_mesh("Mover"), {1: (0, 0, 0), 21: (20, 0, 0)})
    add_mesh("Wall", location=(10, 0, 0))
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    update = make_updater(finished(find_contacts(scene, ContactSettings(shape="aabb"))))
    # Faces meet from x = 8, at frame 9, to x = 12, at frame 13.
    for frame, touching in ((8, False), (10, True), (12, True), (14, False)):
        scene.frame_set(frame)
        assert update(changed=()).in_contact.all() == touching


def test_result_without_subjects_has_no_shapes():
    result = bounds()
    shown = make_updater(result)()
    assert all(len(parts.owners) == 0 for parts in shown.shapes.values())


# ---- Per-object settings


@pytest.fixture
def registered():
    """Enable the extension in an empty file."""
    registration.register()
    yield
    registration.unregister()


@pytest.mark.smoke
def test_bones_and_loose_parts_of_one_object_do_not_touch_each_other(add_mesh, registered):
    tube, halves = add_tube(add_rig()), add_mesh("Halves", location=(9, 0, 0))
    halves.data.clear_geometry()
    points = np.concatenate([CUBE, CUBE + np.array([1.5, 0, 0])]).tolist()
    halves.data.from_pydata(points, [], [*cube_faces(0), *cube_faces(8)])
    for item, kind in ((tube, "bones"), (halves, "loose_parts")):
        item.collision_bounds.use_object_settings, item.collision_bounds.bounds_for = True, kind
    other = add_mesh("Other", location=(50, 0, 0))
    update = make_updater(bounds())
    assert len(update().in_contact) == 3 + 2 + 1 and not update().in_contact.any()
    other.location.x = 12.25  # overlaps the second half, from 9.5 to 11.5, and not the first
    bpy.context.view_layer.update()
    assert update().in_contact.sum() == 2


def shown_box(shown, index=0):
    box, owners = shown.shapes["aabb"]
    return np.concatenate([box.min[owners == index][0], box.max[owners == index][0]])


def test_per_object_settings_take_effect_when_changed(add_mesh, registered):
    plain, custom = add_mesh("A", CUBE), add_mesh("B", CUBE)
    custom.location.x = 5
    bpy.context.view_layer.update()
    update = make_updater(bounds())
    update()
    custom.collision_bounds.use_object_settings, custom.collision_bounds.padding = True, 0.5
    shown = update({custom.session_uid}, keep_flags=True)
    assert shown.moved and not update((), keep_flags=True).moved
    np.testing.assert_allclose(shown_box(shown, 0), [-1, -1, -1, 1, 1, 1])
    np.testing.assert_allclose(shown_box(shown, 1), [3.5, -1.5, -1.5, 6.5, 1.5, 1.5])
    custom.collision_bounds.padding = 0.25
    assert update(()).moved
    np.testing.assert_allclose(shown_box(update(()), 1), [3.75, -1.25, -1.25, 6.25, 1.25, 1.25])
    plain.name, custom.name = "Z", "Y"
    custom.location.x = 6
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(update(()), 1), [4.75, -1.25, -1.25, 7.25, 1.25, 1.25])
    custom.collision_bounds.use_object_settings = False
    np.testing.assert_allclose(shown_box(update(()), 1), [5, -1, -1, 7, 1, 1])


def test_boxes_along_object_axes_touch_as_in_scan(add_mesh, registered):
    """Side by side with equal rotation: boxes along world axes overlap, those along object axes do not."""
    rotation = (0, 0, np.pi / 4)
    items = [
        add_mesh(name, location=location, rotation_euler=rotation)
        for name, location in (("A", (0, 0, 0)), ("B", (1.6, 1.6, 0)))
    ]
    update = make_updater(bounds(), drawn=["aabb"])
    assert update().in_contact.all()
    for item in items:
        item.collision_bounds.use_object_settings, item.collision_bounds.axes = True, "object"
    bpy.context.view_layer.update()
    shown = update(())
    assert not shown.in_contact.any()
    box, _ = shown.shapes["aabb"]
    np.testing.assert_allclose(box.half_extents, 1, atol=1e-6)
    items[1].collision_bounds.axes = "world"
    assert update(()).in_contact.all()


def test_changed_tree_depth_is_shown(add_mesh, registered):
    item = add_mesh("A", CUBE)
    item.data.clear_geometry()
    item.data.from_pydata(CUBE.tolist(), [], cube_faces(0))
    item.collision_bounds.use_object_settings = True
    bpy.context.view_layer.update()
    update = make_updater(bounds(), drawn=["spheres"])
    deep = update().shapes["spheres"].shape.shape
    item.collision_bounds.depth = 1
    assert update(()).shapes["spheres"].shape.shape == (2,) < deep


def test_changed_tree_depth_of_the_scene_is_shown(add_mesh):
    item = add_mesh("A", CUBE)
    item.data.clear_geometry()
    item.data.from_pydata(CUBE.tolist(), [], cube_faces(0))
    bpy.context.view_layer.update()
    result = bounds()
    subjects = LiveSubjects(result, identify_subjects(result.subjects))

    def spheres(depth):
        depsgraph, fit = bpy.context.evaluated_depsgraph_get(), FitSettings(depth=depth)
        return subjects.update(depsgraph, fit, ["spheres"], "aabb", False, ()).shapes["spheres"].owners

    deep = len(spheres(4))
    assert len(spheres(1)) == 2 < deep == len(spheres(4))


def test_several_overrides_are_shown_while_they_are_dragged(add_mesh, registered):
    settings = add_mesh("A", CUBE).collision_bounds
    settings.override, settings.half_extents = "box", (2, 1, 1)
    second = settings.more_shapes.add()
    second.shape, second.center, second.radius = "sphere", (5, 0, 0), 1.5
    bpy.context.view_layer.update()
    update = make_updater(bounds())
    update()
    second.center = (6, 0, 0)
    spheres, _ = update(()).shapes["sphere"]
    order = np.argsort(spheres.center[:, 0])
    assert spheres.center[order, 0] == pytest.approx([0, 6])
    assert spheres.radius[order] == pytest.approx([6**0.5, 1.5], rel=1e-6)
    settings.center, second.radius = (-3, 0, 0), 2.5
    spheres, _ = update(()).shapes["sphere"]
    assert np.sort(spheres.center[:, 0]) == pytest.approx([-3, 6])
    assert np.sort(spheres.radius) == pytest.approx([6**0.5, 2.5], rel=1e-6)


def test_override_is_shown_while_it_is_dragged(add_mesh, registered):
    item = add_mesh("A", CUBE)
    update = make_updater(bounds())
    update()
    settings = item.collision_bounds
    settings.override, settings.center, settings.half_extents = "box", (1, 0, 0), (2, 1, 1)
    np.testing.assert_allclose(shown_box(update(())), [-1, -1, -1, 3, 1, 1])
    settings.half_extents = (3, 1, 1)
    np.testing.assert_allclose(shown_box(update(())), [-2, -1, -1, 4, 1, 1])
    settings.override, settings.radius = "sphere", 2.5
    shown = update(())
    np.testing.assert_allclose(shown_box(shown), [-1.5, -2.5, -2.5, 3.5, 2.5, 2.5])
    sphere, _ = shown.shapes["sphere"]
    np.testing.assert_allclose([*sphere.center[0], sphere.radius[0]], [1, 0, 0, 2.5])
    settings.override = "none"
    np.testing.assert_allclose(shown_box(update(())), [-1, -1, -1, 1, 1, 1])


@pytest.mark.parametrize("back", [False, True])
def test_override_replaces_sphere_tree_of_mesh_with_equal_number_of_vertices(add_mesh, registered, back):
    """The tree of a cube has spheres of its faces; points without faces have one sphere around all."""
    item = add_mesh("A", CUBE)
    item.data.clear_geometry()
    item.data.from_pydata(CUBE.tolist(), [], cube_faces(0))
    custom = item.collision_bounds
    custom.center, custom.half_extents = (5, 0, 0), (2, 1, 1)
    custom.use_object_settings, custom.override = True, "box" if back else "none"
    bpy.context.view_layer.update()
    result = bounds()
    update = make_updater(result, drawn=["spheres"])
    update()
    custom.override = "none" if back else "box"
    shown = update(())
    fresh = make_updater(result, drawn=["spheres"])().shapes["spheres"].shape
    np.testing.assert_allclose(shown.shapes["spheres"].shape.center, fresh.center, atol=1e-6)
    np.testing.assert_allclose(shown.shapes["spheres"].shape.radius, fresh.radius, atol=1e-6)


@pytest.mark.parametrize("individual", [False, True])
def test_sphere_tree_follows_faces_that_nodes_switch(registered, individual):
    """The vertices stay. Frame 11 has as many faces as frame 1, but others."""
    points = [(x, y, 0) for x in range(5) for y in (0, 1)]
    steps = [(x, x + 2, x + 3, x + 1) for x in range(0, 8, 2)]
    item = add_faces("Steps", points, [*steps, (0, 8, 9, 1), (2, 6, 7, 3), (0, 4, 5, 1), (4, 8, 9, 5)])
    delete_faces_by_frame(item, 10.3)
    if individual:
        item.collision_bounds.use_object_settings, item.collision_bounds.depth = True, 3
    result = bounds()
    update = make_updater(result, drawn=["spheres"])
    for frame in (1, 11, 1):
        bpy.context.scene.frame_set(frame)
        shown = update({item.session_uid}).shapes["spheres"].shape
        fresh = make_updater(result, drawn=["spheres"])().shapes["spheres"].shape
        np.testing.assert_allclose(shown.center, fresh.center, atol=1e-6)
        np.testing.assert_allclose(shown.radius, fresh.radius, atol=1e-6)
        # The longest face at frame 11 is 4 by 1.
        assert (shown.radius.max() >= np.hypot(2, 0.5) - 1e-6) == (frame == 11)


@pytest.mark.smoke
def test_loose_parts_and_merged_collections_follow(add_mesh, registered):
    two = add_mesh("Two")
    two.data.clear_geometry()
    two.data.from_pydata(
        [*CUBE.tolist(), *(CUBE + np.array([10, 0, 0])).tolist()], [], [*cube_faces(0), *cube_faces(8)]
    )
    two.collision_bounds.use_object_settings, two.collision_bounds.bounds_for = True, "loose_parts"
    members = [add_mesh(f"Member {k}", CUBE, location=(0, 10 + 4 * k, 0)) for k in range(2)]
    merged_collection("Together", *members)
    bpy.context.view_layer.update()
    result = bounds()
    names = [subject.name for subject in result.subjects]
    update = make_updater(result)
    update()
    two.location.z = 3
    members[-1].location.y = 20
    bpy.context.view_layer.update()
    shown = update(())
    np.testing.assert_allclose(shown_box(shown, names.index("Two/part.0")), [-1, -1, 2, 1, 1, 4])
    np.testing.assert_allclose(shown_box(shown, names.index("Two/part.1")), [9, -1, 2, 11, 1, 4])
    np.testing.assert_allclose(shown_box(shown, names.index("Together")), [-1, 9, -1, 1, 21, 1])


def test_per_object_settings_are_read_without_iterating_over_instances(add_mesh, registered, monkeypatch):
    custom, sphere_item = add_mesh("A", CUBE), add_mesh("B", CUBE, location=(9, 0, 0))
    custom.collision_bounds.use_object_settings, custom.collision_bounds.padding = True, 0.5
    sphere_item.collision_bounds.override, sphere_item.collision_bounds.radius = "sphere", 3
    update = make_updater(bounds())
    update()
    monkeypatch.setattr(live_shapes, "visible_instances", None)
    custom.location.x, custom.collision_bounds.padding = -9, 1
    custom.modifiers.new("Move", "DISPLACE").strength = 0
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(update(()), 0), [-11, -2, -2, -7, 2, 2])
    np.testing.assert_allclose(shown_box(update(()), 1), [6, -3, -3, 12, 3, 3])
    sphere_item.collision_bounds.override = "none"
    custom.hide_set(True)
    bpy.context.view_layer.update()
    shown = update(())
    assert shown.shapes["aabb"].owners.tolist() == [1]
    np.testing.assert_allclose(shown_box(shown, 1), [8, -1, -1, 10, 1, 1])


def test_members_of_merged_collection_are_followed_after_renaming(add_mesh, registered):
    members = [add_mesh(f"Member {k}", CUBE, location=(0, 10 * k, 0)) for k in range(3)]
    merged_collection("Together", *members)
    bpy.context.view_layer.update()
    update = make_updater(bounds())
    update()
    for number in (0, 2):
        bpy.data.objects[f"Member {number}"].name = f"Renamed {number}"
    other = add_mesh("Member 2", CUBE, location=(50, 0, 0))
    bpy.data.objects["Renamed 2"].location.y = 30
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(update(())), [-1, -1, -1, 1, 31, 1])
    bpy.data.objects["Renamed 0"].hide_set(True)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(update(())), [-1, 9, -1, 1, 31, 1])
    bpy.data.objects.remove(bpy.data.objects["Renamed 2"])
    other.name = "Renamed 2"
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown_box(update(())), [-1, 9, -1, 1, 11, 1])


def cube_faces(start):
    """Return the quads of a cube whose vertices begin at index `start`."""
    quads = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]
    return [tuple(start + corner for corner in quad) for quad in quads]


def test_bones_at_all_frames_are_shown_in_every_pose_as_they_were_computed():
    rig = add_rig()
    tube = add_tube(rig)
    tube.parent = rig
    for frame, angle in ((1, 0.0), (5, 1.2), (9, -0.9)):
        rotate_bones(rig, {1: angle}, frame)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 9
    scene.frame_set(1)
    selection, fit = Selection(split_by_bones=True), FitSettings(bone_frames="all")
    result = compute_bounds(scene, BoundsSettings(selection, ("sphere",), fit))
    subjects = LiveSubjects(result, identify_subjects(result.subjects))
    radii = [float(entry.world[0].radius) for entry in result.objects]
    for frame in (1, 4, 5, 7):
        scene.frame_set(frame)
        depsgraph = bpy.context.evaluated_depsgraph_get()
        shown = subjects.update(depsgraph, fit, ("sphere",), "sphere", False).shapes["sphere"]
        assert shown.shape.radius.tolist() == pytest.approx(radii, abs=1e-5)
        matrix = rig.matrix_world @ rig.pose.bones["Bone 1"].matrix
        center = matrix @ Vector(result.objects[1].local[0].center)
        assert shown.shape.center[1].tolist() == pytest.approx(list(center), abs=1e-5)


def test_boxes_of_convex_parts_are_shown_once_a_job_has_split_the_mesh(add_mesh):
    triangles = prism(L_OUTLINE, L_TRIANGLES)
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    item = add_mesh("L", points, index.reshape(-1, 3).tolist())
    fit = FitSettings(parts=3, parts_tolerance=0.125)  # with which no other test has split it
    update = make_updater(bounds(), fit=fit, checked="compound")
    assert update().shapes["compound"].owners.tolist() == [0]
    compute_bounds(bpy.context.scene, BoundsSettings(shapes=("compound",), fit=fit))
    update = make_updater(bounds(), fit=fit, checked="compound")
    shown = update().shapes["compound"]
    assert shown.owners.tolist() == [0, 0]
    # The L has a volume of 4, and the box around all of 6.
    assert 4.0 <= (8 * shown.shape.half_extents.prod(axis=1)).sum() <= 5.0
    item.location.x = 5
    bpy.context.view_layer.update()
    np.testing.assert_allclose(
        update(changed=()).shapes["compound"].shape.center - shown.shape.center, [(5, 0, 0)] * 2, atol=1e-6
    )
    # Views do not wait for a split: an edited mesh has one box.
    item.data.vertices[0].co.x -= 1
    item.data.update()
    bpy.context.view_layer.update()
    assert len(np.unique(update().shapes["compound"].shape.center, axis=0)) == 1


@pytest.mark.parametrize("part_shape", ["hull", "box", "sphere", "capsule"])
def test_parts_of_the_result_are_shown_in_their_shape_and_follow_their_object(add_mesh, part_shape):
    triangles = prism(L_OUTLINE, L_TRIANGLES)
    points, index = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
    item = add_mesh("L", points, index.reshape(-1, 3).tolist())
    item.location, item.rotation_euler, item.scale = (1, 2, 3), (0.3, 0.2, 0.1), (2, 1, 0.5)
    bpy.context.view_layer.update()
    fit = FitSettings(parts=2, part_shape=part_shape)
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("compound",), fit=fit))
    update = make_updater(result, fit=fit, drawn=("compound",), checked="aabb")

    def assert_parts_hold_corners(**options) -> None:
        shown = update(**options)
        assert not len(shown.shapes["compound"].owners)
        ((shape, owners),) = shown.parts
        corners = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
        if part_shape == "hull":
            # Two boxes have 24 edges; a split across the corner makes a prism of five sides.
            assert 24 <= shape.shape[0] <= 30 and set(owners.tolist()) == {0}
            # Each corner of the mesh is an end of edges.
            ends = np.concatenate([shape.start, shape.end])
            gaps = np.linalg.norm(corners[:, None] - ends, axis=-1).min(axis=1)
            assert gaps.max() < 1e-4
            return
        assert owners.tolist() == [0, 0]
        assert shape.padded(1e-5).contains(corners[:, None]).any(axis=1).all()

    assert_parts_hold_corners()
    item.location.x, item.rotation_euler.z = 5, 2.0
    bpy.context.view_layer.update()
    assert_parts_hold_corners(changed=())
    # Parts are not fitted again: with another scale, or another vertex, boxes stand for them.
    item.scale.x = 3
    bpy.context.view_layer.update()
    shown = update(changed=())
    assert shown.shapes["compound"].owners.tolist() == [0, 0] and not len(shown.parts[0].owners)
    item.scale.x = 2
    item.data.vertices[0].co.x -= 1
    item.data.update()
    bpy.context.view_layer.update()
    shown = update()
    assert set(shown.shapes["compound"].owners.tolist()) == {0} and not len(shown.parts[0].owners)


def test_parts_that_a_scan_tests_are_shown_as_boxes(add_mesh):
    add_mesh("Cube", CUBE)
    fit = FitSettings(parts=2)
    result = compute_bounds(bpy.context.scene, BoundsSettings(shapes=("compound",), fit=fit))
    assert make_updater(result, fit=fit, drawn=("compound",), checked="compound")().parts == ()
    assert make_updater(bounds(), fit=fit, drawn=("compound",), checked="aabb")().parts == ()
